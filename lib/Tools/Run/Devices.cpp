//===- Devices.cpp - Devices as options and as text -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/Devices.h"
#include "luminal/Runtime/Device.h"
#include "luminal/Runtime/Machine.h"
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::tools;

Result<DeviceChoice> DeviceChoice::parse(std::string_view text) {
  DeviceChoice choice;
  size_t colon = text.find(':');
  choice.kind = text.substr(0, colon);
  if (!makeLaunch(choice.kind))
    return Error("--device: there is no device '" + std::string(text) +
                 "'; see --list-devices");
  if (colon == std::string_view::npos)
    return choice;
  std::string_view number = text.substr(colon + 1);
  auto [end, code] = std::from_chars(
      number.data(), number.data() + number.size(), choice.index);
  if (code != std::errc() || end != number.data() + number.size())
    return Error("--device: '" + std::string(number) +
                 "' is not the number of a device");
  return choice;
}

/// Formats a property: "2 threads", "139.8 GiB memory", "4917 GB/s memory".
static std::string describe(std::string name, uint64_t value) {
  auto hasUnit = [&](std::string_view unit) {
    if (!name.ends_with(unit))
      return false;
    name.resize(name.size() - unit.size());
    return true;
  };
  if (hasUnit("_bytes")) {
    bool isLarge = value >= 1 << 30;
    char number[32];
    std::snprintf(number, sizeof number, isLarge ? "%.1f GiB " : "%.1f MiB ",
                  double(value) / (isLarge ? 1 << 30 : 1 << 20));
    return number + name;
  }
  for (auto [suffix, unit] :
       {std::pair("_mhz", " MHz "), std::pair("_gb_s", " GB/s ")})
    if (hasUnit(suffix))
      return std::to_string(value) + unit + name;
  return std::to_string(value) + " " + name;
}

/// The processor's model as text, for --list-devices.
static std::string describeModel(const MachineModel &model) {
  char line[160];
  auto rate = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return std::string(text);
  };
  std::snprintf(
      line, sizeof line,
      "  %u workers, vectors of %u bits (%u registers), caches of %lld "
      "and %lld KiB\n",
      model.workers, model.vectorBits, model.vectorRegisters,
      static_cast<long long>(model.l1Bytes >> 10),
      static_cast<long long>(model.l2Bytes >> 10));
  std::string text = line;
  text += "  a worker reads " + rate(model.readRate) + " and copies " +
          rate(model.copyRate) + " GB/s, all workers read " +
          rate(model.sharedReadRate) + "; a worker does " +
          rate(model.operationRate) + " f32 operations/ns\n  multiply-adds:";
  for (auto [bits, value] :
       {std::pair(128, model.fmaRate128), std::pair(256, model.fmaRate256),
        std::pair(512, model.fmaRate512)})
    if (value > 0)
      text += " " + rate(value) + "/ns with " + std::to_string(bits) + " bits";
  if (model.pairRate > 0)
    text += ", bf16 pairs " + rate(model.pairRate) + "/ns";
  if (model.tileRate > 0)
    text += ", bf16 tiles " + rate(model.tileRate) + "/ns";
  return text + "\n  a launch takes " + rate(model.launchTime) +
         " ns, work distribution " + rate(model.handOverTime) +
         " ns, worthwhile from " + std::to_string(model.grain) +
         " operations on\n";
}

std::string tools::describeDevices(const std::string &planCache, bool json) {
  auto machine = readMachineModel(getMachineFile(planCache));
  using Json = nlohmann::ordered_json;
  std::vector<std::string> problems;
  Json list = Json::array();
  std::string text;
  for (const DeviceInfo &info : listDevices(&problems)) {
    Json entry{{"kind", info.kind}};
    text += info.kind;
    if (info.index > 0) {
      entry["index"] = info.index;
      text += ":" + std::to_string(info.index);
    }
    std::string separator = ": ";
    auto addText = [&](const char *name, const std::string &value) {
      if (value.empty())
        return;
      entry[name] = value;
      text += std::exchange(separator, ", ") + value;
    };
    addText("name", info.name);
    addText("arch", info.arch);
    for (const auto &[name, value] : info.properties) {
      entry[name] = value;
      text += ", " + describe(name, value);
    }
    addText("driver", info.driver);
    text += "\n";
    // The stored model is that of the processor.
    if (info.kind == "cpu") {
      entry["machine"] = nullptr;
      if (!machine)
        text += "  not measured: " + machine.error().message + "\n";
      else if (!*machine)
        text += "  not measured (luminal-compile --calibrate)\n";
      else
        text += describeModel(**machine);
      if (machine && *machine)
        entry["machine"] = Json::parse((*machine)->str());
    }
    list.push_back(std::move(entry));
  }
  for (const std::string &problem : problems)
    std::fprintf(stderr, "luminal-run: warning: %s\n", problem.c_str());
  return json ? list.dump(-1, ' ', false,
                          nlohmann::ordered_json::error_handler_t::replace) +
                    "\n"
              : text;
}
