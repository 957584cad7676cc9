//===- Artifact.h - A loaded artifact -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading validates the whole file (docs/Runtime.md), but running an artifact
// executes its native code: load only artifacts that you would execute.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_ARTIFACT_H
#define LUMINAL_RUNTIME_ARTIFACT_H

#include "luminal/Runtime/Device.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace luminal::runtime {

struct Plan;
struct PreparedValues;

/// How Artifact::load finds the weights and the device.
struct LoadOptions {
  /// A .pt2 or .safetensors file that holds the weights. Empty if the weights
  /// are in the artifact, in the file that the manifest names, or will be
  /// bound. The file is mapped; only misaligned or compressed tensors are
  /// copied.
  std::string weightsPath;
  /// If `weightsPath` is empty, use the weights file that the manifest records
  /// from compilation, if it still exists.
  bool findWeightsFile = true;
  /// The device kind that the artifact must be compiled for; empty accepts any.
  std::string deviceKind = {};
  /// Index of the device, among those of the artifact's kind, that runs it.
  unsigned device = 0;
  /// If false, reads only the manifest and the data: no device is opened, and
  /// no context can be created.
  bool loadCode = true;
};

/// A loaded artifact. Immutable: any number of threads may run it, each with a
/// Context of its own.
class Artifact {
public:
  /// Loads the .lum file at `path`.
  static Result<std::shared_ptr<const Artifact>>
  load(const std::string &path, const LoadOptions &options = {});
  /// Loads an artifact from memory; `name` stands for the file in error
  /// messages.
  static Result<std::shared_ptr<const Artifact>>
  fromBytes(Bytes bytes, std::string name, const LoadOptions &options = {});
  ~Artifact();

  const std::string &getName() const { return name; }
  const Manifest &getManifest() const { return manifest; }

  /// Manifest indices of the inputs that the caller must bind; of the states
  /// with an initial value, which live in the context unless they are bound; of
  /// the outputs that the caller receives.
  const std::vector<uint32_t> &getUserInputs() const { return userInputs; }
  const std::vector<uint32_t> &getStates() const { return states; }
  const std::vector<uint32_t> &getUserOutputs() const { return userOutputs; }

  /// The device that runs the artifact; null if its code was not loaded.
  Device *getDevice() const { return device; }
  /// Host memory of a weight, 16-byte aligned; null if the caller must bind it.
  const void *getWeight(uint32_t index) const { return weights[index]; }
  /// Memory of a weight that kernels can access; null if the caller must bind
  /// it. The first request copies the weight to the device.
  Result<const void *> getDeviceWeight(uint32_t index) const;
  /// constants.bin in memory that kernels can access.
  const uint8_t *getConstants() const { return constantsOnDevice; }
  /// The artifact of `Manifest::prepare`, which runs when weights are bound and
  /// holds no weights of its own; null if there is nothing to prepare.
  const std::shared_ptr<const Artifact> &getPrepare() const { return prepare; }
  /// The result of running `getPrepare` on the artifact's own weights. The
  /// first request computes it with at most `threads` threads. `places` are the
  /// weights that it reads, by index, in host or device memory.
  Result<std::shared_ptr<const PreparedValues>>
  getPrepared(std::span<const void *const> places, unsigned threads) const;
  /// The same for weights that the caller binds. The result of the last
  /// `version` (Context::setWeightsVersion) is cached and shared by all
  /// contexts with that version.
  Result<std::shared_ptr<const PreparedValues>>
  getPreparedOf(uint64_t version, std::span<const void *const> places,
                unsigned threads) const;
  /// Bytes that the results of the two functions above occupy, until neither
  /// the artifact nor a context refers to them. Not included in
  /// Context::getMemoryBytes.
  uint64_t getPreparedBytes() const { return *preparedBytes; }
  /// A program that calls can run: the manifest's own or one of its variants.
  /// Each call runs the steps of one program.
  struct Program {
    const Manifest *manifest;
    std::unique_ptr<const Plan> plan;
    /// Kernel handles by step; empty if the code was not loaded.
    std::vector<KernelHandle> kernels;
  };
  /// The manifest's program, followed by its variants in order.
  const std::vector<Program> &getPrograms() const { return programs; }

private:
  Artifact();
  static Result<std::shared_ptr<Artifact>> create(Bytes bytes, std::string name,
                                                  const LoadOptions &options);
  std::string findWeightsFile() const;
  /// Reads and checks the manifest, the code and the constants.
  Status readMembers(const ZipArchive &archive, const LoadOptions &options);
  /// Compiles the size expressions of all programs.
  Status makePlans();
  Status checkConstants(uint64_t &end, std::string &last) const;
  /// Loads the code and the constants on device `index`.
  Status loadCode(const Device::ReadMember &read, unsigned index);
  /// Modules of user code, by the name of the artifact's member that holds
  /// them.
  using CustomModules =
      std::map<std::string, std::unique_ptr<Module>, std::less<>>;
  /// Loads the user code that `steps` start, once per member.
  Status loadCustom(const Manifest &steps, const Device::ReadMember &read,
                    CustomModules &modules);
  /// Looks up the kernels of all programs.
  Status findKernels(const Module &code, const std::string &where);
  Status findKernels(const Module &code, Program &program,
                     const std::string &where);
  Status createPrepare();
  /// Maps weights.bin of the artifact.
  Status mapEmbeddedWeights(const ZipArchive &archive);
  /// Maps a weights file (.pt2 or .safetensors) and checks that it fits.
  Status mapWeights(const std::string &path);
  /// Sets the memory of a weight; copies it if it is misaligned.
  Status setWeight(uint32_t index, const Bytes &bytes);

  std::string name;
  Manifest manifest;
  std::vector<Program> programs;
  std::vector<uint32_t> userInputs, states, userOutputs;
  Bytes constants;
  std::vector<const void *> weights;
  std::vector<std::shared_ptr<const void>> owners;
  Device *device = nullptr;
  std::unique_ptr<Module> module;
  std::shared_ptr<const CustomModules> custom;
  const uint8_t *constantsOnDevice = nullptr;
  Memory constantsMemory;
  mutable std::mutex weightsMutex;
  mutable std::vector<Memory> weightsMemory;
  std::shared_ptr<const Artifact> prepare;
  mutable std::mutex preparedMutex;
  mutable std::shared_ptr<const PreparedValues> prepared, preparedOfCaller;
  mutable uint64_t preparedVersion = 0;
  /// Shared because prepared values may outlive the artifact.
  std::shared_ptr<std::atomic<uint64_t>> preparedBytes =
      std::make_shared<std::atomic<uint64_t>>(0);
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_ARTIFACT_H
