//===- Artifact.cpp - A loaded artifact -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Artifact.h"
#include "Plan.h"
#include "Prepared.h"
#include "luminal/Runtime/Weights.h"
#include "luminal/Support/SafeTensors.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace luminal;
using namespace luminal::runtime;

Artifact::Artifact() = default;

Artifact::~Artifact() = default;

Result<std::shared_ptr<Artifact>>
Artifact::create(Bytes bytes, std::string name, const LoadOptions &options) {
  LUMINAL_TRY(archive, ZipArchive::fromBytes(std::move(bytes), name));
  std::shared_ptr<Artifact> artifact(new Artifact);
  artifact->name = std::move(name);
  LUMINAL_CHECK(artifact->readMembers(archive, options));
  return artifact;
}

Result<std::shared_ptr<const Artifact>>
Artifact::load(const std::string &path, const LoadOptions &options) {
  LUMINAL_TRY(bytes, mapFile(path));
  LUMINAL_TRY(artifact, create(std::move(bytes), path, options));
  std::string weights = options.weightsPath;
  if (weights.empty() && options.findWeightsFile)
    weights = artifact->findWeightsFile();
  if (!weights.empty())
    LUMINAL_CHECK(artifact->mapWeights(weights));
  return std::shared_ptr<const Artifact>(std::move(artifact));
}

Result<std::shared_ptr<const Artifact>>
Artifact::fromBytes(Bytes bytes, std::string name, const LoadOptions &options) {
  LUMINAL_TRY(artifact, create(std::move(bytes), std::move(name), options));
  if (!options.weightsPath.empty())
    LUMINAL_CHECK(artifact->mapWeights(options.weightsPath));
  return std::shared_ptr<const Artifact>(std::move(artifact));
}

Status Artifact::readMembers(const ZipArchive &archive,
                             const LoadOptions &options) {
  auto read = [&](std::string_view member,
                  uint64_t limit = kMaxMemberBytes) -> Result<Bytes> {
    const ZipArchive::Member *found = archive.find(member);
    if (!found)
      return Error(name + ": is not a Luminal artifact: it has no member '" +
                   std::string(member) + "'");
    return archive.readChecked(*found, limit);
  };
  LUMINAL_TRY(text, read("manifest.json"));
  LUMINAL_TRY(parsed, Manifest::parse(text.text(), name + ": manifest.json"));
  manifest = std::move(parsed);
  if (archive.find(kModulesMember)) {
    LUMINAL_TRY(table, read(kModulesMember));
    LUMINAL_TRY(modules,
                parseModuleTable(table.text(),
                                 name + ": " + std::string(kModulesMember)));
    manifest.nameSteps(modules);
    manifest.modules = std::move(modules);
  }

  LUMINAL_CHECK(makePlans());
  uint64_t constantsEnd = 0;
  std::string lastConstant;
  LUMINAL_CHECK(checkConstants(constantsEnd, lastConstant));
  // Any bytes after the last constant are alignment padding.
  LUMINAL_TRY(data, read("constants.bin", constantsEnd + kAlignment));
  constants = std::move(data);
  if (reinterpret_cast<uintptr_t>(constants.data) % kAlignment != 0) {
    void *copy =
        std::aligned_alloc(kAlignment, (constants.size + kAlignment - 1) /
                                           kAlignment * kAlignment);
    if (!copy)
      return Error(name + ": out of memory");
    std::memcpy(copy, constants.data, constants.size);
    constants.data = static_cast<const uint8_t *>(copy);
    constants.owner =
        std::shared_ptr<const void>(copy, [](void *p) { std::free(p); });
  }
  if (constantsEnd > constants.size)
    return Error(name + ": manifest.json: " + lastConstant +
                 ": lies outside constants.bin or is misaligned");

  if (!options.deviceKind.empty() && options.deviceKind != manifest.target.kind)
    return Error(name + ": is compiled for '" + manifest.target.kind +
                 "', not for '" + options.deviceKind + "'");
  if (options.loadCode)
    LUMINAL_CHECK(loadCode(
        [&](std::string_view member) { return read(member); }, options.device));
  if (manifest.prepare)
    LUMINAL_CHECK(createPrepare());
  weights.assign(manifest.weights.size(), nullptr);
  weightsMemory.resize(manifest.weights.size());
  if (manifest.weightsEmbedded)
    return mapEmbeddedWeights(archive);
  return {};
}

/// Finds the end of the last constant of all programs, and the name of that
/// constant.
Status Artifact::checkConstants(uint64_t &end, std::string &last) const {
  auto check = [&](const Manifest &m, const std::string &whose) -> Status {
    for (size_t i = 0; i < m.buffers.size(); ++i) {
      const BufferSpec &buffer = m.buffers[i];
      if (buffer.kind != BufferSpec::Kind::Constant)
        continue;
      std::string where = whose + "buffers[" + std::to_string(i) + "]";
      // Offsets of constants are constant (Manifest::verify).
      int64_t offset = *buffer.offset.asConstant(),
              size = *buffer.bytes.asConstant();
      if (offset < 0 || size < 0 || offset % kBufferAlignment != 0)
        return Error(name + ": manifest.json: " + where +
                     ": lies outside constants.bin or is misaligned");
      uint64_t own =
          static_cast<uint64_t>(offset) + static_cast<uint64_t>(size);
      if (own >= end) {
        end = own;
        last = std::move(where);
      }
    }
    return {};
  };
  LUMINAL_CHECK(check(manifest, ""));
  if (manifest.prepare)
    LUMINAL_CHECK(check(*manifest.prepare, "prepare: "));
  for (size_t i = 0; i < manifest.variants.size(); ++i)
    LUMINAL_CHECK(
        check(*manifest.variants[i], "variants[" + std::to_string(i) + "]: "));
  return {};
}

Status Artifact::makePlans() {
  auto add = [&](const Manifest &m) -> Status {
    Result<Plan> built = Plan::build(m);
    if (!built)
      return built.takeError().within(name + ": manifest.json");
    programs.push_back({&m, std::make_unique<Plan>(std::move(*built)), {}});
    return {};
  };
  LUMINAL_CHECK(add(manifest));
  for (const std::shared_ptr<const Manifest> &variant : manifest.variants)
    LUMINAL_CHECK(add(*variant));
  for (uint32_t i = 0; i < manifest.inputs.size(); ++i)
    (manifest.inputs[i].initial ? states : userInputs).push_back(i);
  for (uint32_t i = 0; i < manifest.outputs.size(); ++i)
    if (manifest.outputs[i].isUsers())
      userOutputs.push_back(i);
  return {};
}

Status Artifact::findKernels(const Module &code, const std::string &where) {
  for (size_t i = 0; i < programs.size(); ++i)
    LUMINAL_CHECK(findKernels(
        code, programs[i],
        i == 0 ? where : "variants[" + std::to_string(i - 1) + "]: "));
  return {};
}

Status Artifact::findKernels(const Module &code, Program &program,
                             const std::string &where) {
  const std::vector<StepSpec> &steps = program.manifest->steps;
  for (size_t i = 0; i < steps.size(); ++i)
    if (std::string_view library = getLibraryName(steps[i].launch);
        !library.empty() && !getCustomCode(steps[i].launch))
      if (Status status = device->checkLibrary(library); !status)
        return status.takeError().within(name + ": " + where + "step " +
                                         std::to_string(i) + " (" +
                                         steps[i].name + ")");
  for (size_t i = 0; i < steps.size(); ++i) {
    const CustomCode *own = getCustomCode(steps[i].launch);
    if (!own && !getLibraryName(steps[i].launch).empty()) {
      program.kernels.push_back(nullptr);
      continue;
    }
    const std::string &kernel = own ? own->entry : steps[i].kernel;
    const Module &holder = own ? *custom->find(own->code)->second : code;
    program.kernels.push_back(holder.find(kernel));
    if (!program.kernels.back())
      return Error(name + ": manifest.json: " + where + "steps[" +
                   std::to_string(i) +
                   (own ? "].launch.entry: " : "].kernel: ") +
                   holder.getMember() + " has no symbol '" + kernel + "'");
  }
  return {};
}

Status Artifact::loadCustom(const Manifest &steps,
                            const Device::ReadMember &read,
                            CustomModules &modules) {
  for (const StepSpec &step : steps.steps) {
    const CustomCode *own = getCustomCode(step.launch);
    if (!own || modules.contains(own->code))
      continue;
    auto loaded = device->loadCustom(own->code, read);
    if (!loaded)
      return loaded.takeError().within(name);
    modules.emplace(own->code, std::move(*loaded));
  }
  return {};
}

/// Creates an artifact for Manifest::prepare that shares this one's code and
/// constants.
Status Artifact::createPrepare() {
  std::shared_ptr<Artifact> made(new Artifact);
  made->name = name;
  made->manifest = *manifest.prepare;
  LUMINAL_CHECK(made->makePlans());
  made->constants = constants;
  made->device = device;
  made->constantsOnDevice = constantsOnDevice;
  made->custom = custom;
  if (module)
    LUMINAL_CHECK(made->findKernels(*module, "prepare: "));
  made->weights.assign(made->manifest.weights.size(), nullptr);
  made->weightsMemory.resize(made->manifest.weights.size());
  prepare = std::move(made);
  return {};
}

Status Artifact::loadCode(const Device::ReadMember &read, unsigned index) {
  auto opened = openDevice(manifest.target.kind, index);
  if (!opened)
    return opened.takeError().within(name + ": is compiled for '" +
                                     manifest.target.kind + "'");
  device = *opened;
  if (Status status = device->check(manifest.target); !status)
    return status.takeError().within(name);
  auto loaded = device->load(manifest.target, read);
  if (!loaded)
    return loaded.takeError().within(name);
  module = std::move(*loaded);
  auto modules = std::make_shared<CustomModules>();
  LUMINAL_CHECK(loadCustom(manifest, read, *modules));
  if (manifest.prepare)
    LUMINAL_CHECK(loadCustom(*manifest.prepare, read, *modules));
  for (const std::shared_ptr<const Manifest> &variant : manifest.variants)
    LUMINAL_CHECK(loadCustom(*variant, read, *modules));
  custom = std::move(modules);
  LUMINAL_CHECK(findKernels(*module, ""));
  constantsOnDevice = constants.data;
  if (constants.size == 0 || device->reaches(constants.data))
    return {};
  if (!constantsMemory.reserve(*device, constants.size))
    return Error(name + ": out of memory for constants");
  constantsOnDevice = constantsMemory.data();
  return device->copy(
      {constants.data, constantsMemory.data(), constants.size, Copy::Kind::In});
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Status Artifact::setWeight(uint32_t index, const Bytes &bytes) {
  const uint8_t *data = bytes.data;
  std::shared_ptr<const void> owner = bytes.owner;
  static const char empty alignas(kAlignment) = 0;
  if (bytes.size == 0) {
    data = reinterpret_cast<const uint8_t *>(&empty);
  } else if (reinterpret_cast<uintptr_t>(data) % kBufferAlignment != 0) {
    void *copy = std::aligned_alloc(kAlignment, (bytes.size + kAlignment - 1) /
                                                    kAlignment * kAlignment);
    if (!copy)
      return Error(name + ": out of memory for weight '" +
                   manifest.weights[index].name + "'");
    std::memcpy(copy, data, bytes.size);
    data = static_cast<const uint8_t *>(copy);
    owner = std::shared_ptr<const void>(copy, [](void *p) { std::free(p); });
  }
  weights[index] = data;
  if (owner && (owners.empty() || owners.back() != owner))
    owners.push_back(std::move(owner));
  return {};
}

Result<const void *> Artifact::getDeviceWeight(uint32_t index) const {
  const void *weight = weights[index];
  const uint64_t bytes = manifest.weights[index].bytes;
  if (!weight || bytes == 0 || device->reaches(weight))
    return weight;
  std::lock_guard<std::mutex> lock(weightsMutex);
  Memory &memory = weightsMemory[index];
  if (!memory.data()) {
    if (!memory.reserve(*device, bytes))
      return Error(name + ": out of memory for weight '" +
                   manifest.weights[index].name + "'");
    LUMINAL_CHECK(device->copy({weight, memory.data(), bytes, Copy::Kind::In}));
  }
  return static_cast<const void *>(memory.data());
}

Result<std::shared_ptr<const PreparedValues>>
Artifact::getPrepared(std::span<const void *const> places,
                      unsigned threads) const {
  std::lock_guard<std::mutex> lock(preparedMutex);
  if (prepared)
    return prepared;
  LUMINAL_TRY(values, prepareValues(prepare, places, threads, preparedBytes));
  prepared = std::move(values);
  return prepared;
}

Result<std::shared_ptr<const PreparedValues>>
Artifact::getPreparedOf(uint64_t version, std::span<const void *const> places,
                        unsigned threads) const {
  std::lock_guard<std::mutex> lock(preparedMutex);
  if (preparedOfCaller && preparedVersion == version)
    return preparedOfCaller;
  preparedOfCaller.reset();
  LUMINAL_TRY(values, prepareValues(prepare, places, threads, preparedBytes));
  preparedOfCaller = std::move(values);
  preparedVersion = version;
  return preparedOfCaller;
}

Status Artifact::mapEmbeddedWeights(const ZipArchive &archive) {
  const ZipArchive::Member *member = archive.find("weights.bin");
  if (!member)
    return Error(name + ": has no member 'weights.bin'");
  uint64_t end = 0;
  for (const WeightSpec &weight : manifest.weights)
    end = std::max(end, weight.offset + weight.bytes);
  // The checksum is not verified: the weights may be gigabytes.
  LUMINAL_TRY(bytes, archive.read(*member, end + kAlignment));
  for (uint32_t i = 0; i < manifest.weights.size(); ++i) {
    const WeightSpec &weight = manifest.weights[i];
    if (weight.offset > bytes.size || weight.bytes > bytes.size - weight.offset)
      return Error(name + ": manifest.json: weights[" + std::to_string(i) +
                   "]: '" + weight.name + "' lies outside weights.bin");
    Bytes part = bytes;
    part.data += weight.offset;
    part.size = weight.bytes;
    LUMINAL_CHECK(setWeight(i, part));
  }
  return {};
}

/// The path of the weights file that the artifact was compiled with, if that
/// file still exists; else empty.
std::string Artifact::findWeightsFile() const {
  if (manifest.weightsFile.empty() || manifest.weightsEmbedded)
    return {};
  std::string path = name.substr(0, name.rfind('/') + 1) + manifest.weightsFile;
  return ::access(path.c_str(), F_OK) == 0 ? path : std::string();
}

Status Artifact::mapWeights(const std::string &path) {
  LUMINAL_TRY(file, mapFile(path));
  auto wrongModel = [&](const std::string &why) {
    return Error(path + ": holds the weights of another model than " + name +
                 ": " + why);
  };
  if (file.text().substr(0, 2) != "PK") {
    LUMINAL_TRY(tensors, SafeTensors::fromBytes(std::move(file), path));
    for (uint32_t i = 0; i < manifest.weights.size(); ++i) {
      const WeightSpec &weight = manifest.weights[i];
      const HostTensor *tensor = tensors.find(weight.name);
      if (!tensor)
        return wrongModel("it has no tensor '" + weight.name + "'");
      if (!fits(*tensor, weight))
        return wrongModel("'" + weight.name + "' is " +
                          luminal::typeText(*tensor) + ", expected " +
                          runtime::typeText(weight));
      LUMINAL_CHECK(setWeight(i, tensor->bytes));
    }
    return {};
  }
  LUMINAL_TRY(archive, ZipArchive::fromBytes(std::move(file), path));
  if (!manifest.weightsDigest.empty() &&
      archive.getWeightsDigest() != manifest.weightsDigest)
    return wrongModel("its digest is " + archive.getWeightsDigest() +
                      ", expected " + manifest.weightsDigest);
  LUMINAL_TRY(found, runtime::findWeights(archive, manifest.weights));
  for (uint32_t i = 0; i < found.size(); ++i)
    LUMINAL_CHECK(setWeight(i, found[i]));
  return {};
}
