//===- Artifact.cpp - A loaded artifact -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Artifact.h"
#include "Plan.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Runtime/Weights.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Support/SafeTensors.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace luminal;
using namespace luminal::runtime;

Artifact::Artifact() = default;

Artifact::~Artifact() {
  if (object)
    ::dlclose(object);
}

Result<std::shared_ptr<Artifact>> Artifact::create(Bytes bytes,
                                                   std::string name) {
  LUMINAL_TRY(archive, ZipArchive::fromBytes(std::move(bytes), name));
  std::shared_ptr<Artifact> artifact(new Artifact);
  artifact->name = std::move(name);
  LUMINAL_CHECK(artifact->readMembers(archive));
  return artifact;
}

Result<std::shared_ptr<const Artifact>>
Artifact::load(const std::string &path, const LoadOptions &options) {
  LUMINAL_TRY(bytes, mapFile(path));
  LUMINAL_TRY(artifact, create(std::move(bytes), path));
  std::string weights = options.weightsPath;
  if (weights.empty() && options.findWeightsFile)
    weights = artifact->findWeightsFile();
  if (!weights.empty())
    LUMINAL_CHECK(artifact->mapWeights(weights));
  return std::shared_ptr<const Artifact>(std::move(artifact));
}

Result<std::shared_ptr<const Artifact>>
Artifact::fromBytes(Bytes bytes, std::string name, const LoadOptions &options) {
  LUMINAL_TRY(artifact, create(std::move(bytes), std::move(name)));
  if (!options.weightsPath.empty())
    LUMINAL_CHECK(artifact->mapWeights(options.weightsPath));
  return std::shared_ptr<const Artifact>(std::move(artifact));
}

Status Artifact::readMembers(const ZipArchive &archive) {
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

  const TargetSpec &target = manifest.target;
  if (target.kind != "cpu")
    return Error(name + ": is compiled for '" + target.kind +
                 "', this runtime runs 'cpu'");
  if (target.arch != hostArch())
    return Error(name + ": is compiled for '" + target.arch +
                 "', this machine is '" + std::string(hostArch()) + "'");
  if (Status status = checkCpuFeatures(target.features); !status)
    return status.takeError().within(name);

  Result<Plan> built = Plan::build(manifest);
  if (!built)
    return built.takeError().within(name + ": manifest.json");
  plan = std::make_unique<Plan>(std::move(*built));
  for (uint32_t i = 0; i < manifest.inputs.size(); ++i)
    (manifest.inputs[i].initial ? states : userInputs).push_back(i);
  for (uint32_t i = 0; i < manifest.outputs.size(); ++i)
    if (!manifest.outputs[i].updates)
      userOutputs.push_back(i);

  // Offsets of constants are constant (Manifest::verify).
  uint64_t constantsEnd = 0;
  size_t lastConstant = 0;
  for (size_t i = 0; i < manifest.buffers.size(); ++i) {
    const BufferSpec &buffer = manifest.buffers[i];
    if (buffer.kind != BufferSpec::Kind::Constant)
      continue;
    int64_t offset = *buffer.offset.asConstant(),
            size = *buffer.bytes.asConstant();
    if (offset < 0 || size < 0 || offset % kBufferAlignment != 0)
      return Error(name + ": manifest.json: buffers[" + std::to_string(i) +
                   "]: lies outside constants.bin or is misaligned");
    uint64_t end = static_cast<uint64_t>(offset) + static_cast<uint64_t>(size);
    if (end >= constantsEnd) {
      constantsEnd = end;
      lastConstant = i;
    }
  }
  // Bytes after the last constant are padding.
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
    return Error(name + ": manifest.json: buffers[" +
                 std::to_string(lastConstant) +
                 "]: lies outside constants.bin or is misaligned");

  LUMINAL_TRY(code, read("host.so"));
  LUMINAL_CHECK(openHostObject(code));
  weights.assign(manifest.weights.size(), nullptr);
  if (manifest.weightsEmbedded)
    return mapEmbeddedWeights(archive);
  return {};
}

/// Whether the loader has loaded a library by this path.
static bool isLoaded(const std::string &path) {
  void *known = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (known)
    ::dlclose(known);
  return known != nullptr;
}

Status Artifact::openHostObject(const Bytes &code) {
  kernels.assign(manifest.steps.size(), nullptr);
  if (manifest.steps.empty())
    return {};
  auto fileMade = MemoryFile::create();
  if (!fileMade)
    return fileMade.takeError().within(name + ": host.so");
  // The file stays open as long as the library: the loader identifies libraries
  // by path, and would confuse one with another if the descriptor's number were
  // reused. Libraries that cannot be unloaded, or are not ours, may still be
  // registered under the path of a reused number.
  codeFile.emplace(std::move(*fileMade));
  while (isLoaded(codeFile->getPath()))
    if (Status status = codeFile->renumber(); !status)
      return status.takeError().within(name + ": host.so");
  const std::string &path = codeFile->getPath();
  if (Status status = writeFileAtomically(path, {code.text()}); !status)
    return status.takeError().within(name + ": host.so");
  object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object)
    return Error(name + ": host.so: cannot be loaded: " + ::dlerror());
  for (size_t i = 0; i < manifest.steps.size(); ++i) {
    const std::string &kernel = manifest.steps[i].kernel;
    void *symbol = ::dlsym(object, kernel.c_str());
    // The search also covers libraries that the object depends on; a kernel
    // must be code of the object itself.
    Dl_info found;
    if (symbol && ::dladdr(symbol, &found) && found.dli_fname != path)
      symbol = nullptr;
    if (!symbol)
      return Error(name + ": manifest.json: steps[" + std::to_string(i) +
                   "].kernel: host.so has no symbol '" + kernel + "'");
    kernels[i] = reinterpret_cast<KernelFn>(symbol);
  }
  return {};
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

Status Artifact::mapEmbeddedWeights(const ZipArchive &archive) {
  const ZipArchive::Member *member = archive.find("weights.bin");
  if (!member)
    return Error(name + ": has no member 'weights.bin'");
  uint64_t end = 0;
  for (const WeightSpec &weight : manifest.weights)
    end = std::max(end, weight.offset + weight.bytes);
  // Not checked against its checksum: it may be gigabytes.
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

/// The weights file that the artifact was compiled with, if it is still beside
/// it; else empty.
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
