//===- Machine.cpp - Reads and writes machine models ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Machine.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Support/ZipArchive.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace luminal;
using namespace luminal::runtime;

static constexpr int64_t kFormat = 6;

Processor Processor::getHost() {
  Processor result;
  const std::pair<const char *, std::string *> fields[] = {
      {"vendor_id", &result.vendor},     {"model name", &result.name},
      {"cpu family", &result.family},    {"model", &result.model},
      {"stepping", &result.stepping},    {"microcode", &result.microcode},
      {"CPU part", &result.model},       {"CPU implementer", &result.vendor},
      {"CPU revision", &result.stepping}};
  std::ifstream file("/proc/cpuinfo");
  // Reads the first processor only, and assumes that all are equal.
  for (std::string line; std::getline(file, line) && !line.empty();) {
    size_t colon = line.find(':');
    if (colon == std::string::npos)
      continue;
    std::string key =
        line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    size_t value = line.find_first_not_of(" \t", colon + 1);
    for (const auto &[name, field] : fields)
      if (key == name && value != std::string::npos)
        *field = line.substr(value);
  }
  result.features = getCpuFeatures();
  if (long cores = ::sysconf(_SC_NPROCESSORS_ONLN); cores > 0)
    result.cores = cores;
  return result;
}

/// Calls fn(name, field) for every string field of a Processor.
template <typename P, typename Fn>
static void visitTexts(P &self, Fn fn) {
  fn("vendor", self.vendor);
  fn("name", self.name);
  fn("family", self.family);
  fn("model", self.model);
  fn("stepping", self.stepping);
  fn("microcode", self.microcode);
}

std::string MachineFile::str() const {
  using Json = nlohmann::ordered_json;
  Json root, json;
  visitTexts(processor, [&](const char *name, const std::string &field) {
    json[name] = field;
  });
  json["features"] = processor.features;
  json["cores"] = processor.cores;
  root["format"] = kFormat;
  root["processor"] = std::move(json);
  root["machine"] = Json::parse(model.str());
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<MachineFile> MachineFile::parse(std::string_view text,
                                       std::string name) {
  LUMINAL_TRY(document, JsonDocument::parse(text, std::move(name)));
  JsonRef root = document.root();
  LUMINAL_TRY(format, root.at("format"));
  LUMINAL_TRY(version, format.asInt());
  if (version != kFormat)
    return format.error("is " + std::to_string(version) + ", expected " +
                        std::to_string(kFormat));
  MachineFile result;
  LUMINAL_TRY(processor, root.at("processor"));
  Status read;
  visitTexts(result.processor, [&](const char *key, std::string &field) {
    auto one = [&]() -> Status {
      LUMINAL_TRY(value, processor.at(key));
      LUMINAL_TRY(text, value.asString());
      field = std::move(text);
      return {};
    };
    if (read)
      read = one();
  });
  LUMINAL_CHECK(std::move(read));
  LUMINAL_TRY(features, processor.at("features"));
  LUMINAL_TRY(list, features.asArray());
  for (const JsonRef &feature : list) {
    LUMINAL_TRY(text, feature.asString());
    result.processor.features.push_back(std::move(text));
  }
  LUMINAL_TRY(cores, processor.at("cores"));
  LUMINAL_TRY(number, cores.asInt());
  result.processor.cores = number;
  LUMINAL_TRY(machine, root.at("machine"));
  LUMINAL_TRY(model, MachineModel::parse(machine));
  result.model = model;
  return result;
}

std::string runtime::getMachineFile(const std::string &folder) {
  if (!folder.empty())
    return folder + "/machine.json";
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  // The XDG specification says to ignore relative paths.
  if (std::string cache = variable("XDG_CACHE_HOME");
      !cache.empty() && cache[0] == '/')
    return cache + "/luminal/machine.json";
  std::string home = variable("HOME");
  return home.empty() ? home : home + "/.cache/luminal/machine.json";
}

Result<std::optional<MachineModel>>
runtime::readMachineModel(const std::string &path) {
  constexpr uintmax_t kMostBytes = 1 << 20;
  std::error_code code;
  if (path.empty() || !std::filesystem::exists(path, code))
    return std::optional<MachineModel>();
  if (!std::filesystem::is_regular_file(path, code) ||
      std::filesystem::file_size(path, code) > kMostBytes)
    return Error(path + ": is not a model of a machine");
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file)
    return Error(path + ": cannot be read");
  LUMINAL_TRY(found, MachineFile::parse(text, path));
  if (found.processor != Processor::getHost())
    return Error(path + ": is the model of another processor");
  return std::optional<MachineModel>(found.model);
}

Result<MachineModel> runtime::calibrate(const std::string &path) {
  std::filesystem::path file(path);
  std::error_code code;
  if (file.has_parent_path())
    std::filesystem::create_directories(file.parent_path(), code);
  if (code)
    return Error(path + ": " + code.message());
  MachineFile result{Processor::getHost(), measureMachine()};
  LUMINAL_CHECK(writeFileAtomically(path, {result.str()}));
  return result.model;
}
