//===- Artifact.h - A loaded artifact -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading checks everything a file can get wrong (docs/Runtime.md), but running
// an artifact runs its native code: load only artifacts you would execute.
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

struct LoadOptions {
  /// A .pt2 or .safetensors file that holds the weights; empty if they are in
  /// the artifact, lie beside it or will be bound. Mapped; only misaligned
  /// tensors are copied.
  std::string weightsPath;
  /// Where no file is named, use the one that the artifact's manifest names as
  /// the one it was compiled with, if it is still there.
  bool findWeightsFile = true;
  /// The kind of device that the artifact must be for; empty: any.
  std::string deviceKind = {};
  /// Which device of the artifact's kind runs it.
  unsigned device = 0;
  /// False: only what the artifact says of itself; no device is opened, and no
  /// context can be made.
  bool loadCode = true;
};

/// Immutable once loaded: any number of threads may run it, each with a
/// separate Context.
class Artifact {
public:
  static Result<std::shared_ptr<const Artifact>>
  load(const std::string &path, const LoadOptions &options = {});
  /// `name` appears in error messages.
  static Result<std::shared_ptr<const Artifact>>
  fromBytes(Bytes bytes, std::string name, const LoadOptions &options = {});
  ~Artifact();

  const std::string &getName() const { return name; }
  const Manifest &getManifest() const { return manifest; }

  /// Indices in the manifest: inputs the caller must bind, states with an
  /// initial value (which live in the context unless bound), outputs the caller
  /// gets.
  const std::vector<uint32_t> &getUserInputs() const { return userInputs; }
  const std::vector<uint32_t> &getStates() const { return states; }
  const std::vector<uint32_t> &getUserOutputs() const { return userOutputs; }

  /// The device that runs it; null without its code.
  Device *getDevice() const { return device; }
  /// Memory of a weight (16-byte aligned, of the host), or null if it must be
  /// bound.
  const void *getWeight(uint32_t index) const { return weights[index]; }
  /// The same where kernels reach it, or null; brought there once, when first
  /// asked for.
  Result<const void *> getDeviceWeight(uint32_t index) const;
  /// Where kernels reach them.
  const uint8_t *getConstants() const { return constantsOnDevice; }
  /// What runs when weights are bound, without weights; null if nothing does.
  const std::shared_ptr<const Artifact> &getPrepare() const { return prepare; }
  /// What it makes of the artifact's weights, made when first asked for, by at
  /// most `threads` threads: `places` are the weights that it reads, by index,
  /// of the host or where kernels reach them.
  Result<std::shared_ptr<const PreparedValues>>
  getPrepared(std::span<const void *const> places, unsigned threads) const;
  /// The same of weights of the caller, kept for contexts whose weights have
  /// the same number (Context::setWeightsVersion) until another number comes.
  Result<std::shared_ptr<const PreparedValues>>
  getPreparedOf(uint64_t version, std::span<const void *const> places,
                unsigned threads) const;
  /// Bytes of what these two made, for as long as the artifact keeps it or a
  /// context uses it. No context counts them.
  uint64_t getPreparedBytes() const { return *preparedBytes; }
  /// The program of the manifest, then its variants: whatever runs a call does
  /// the steps of one of them.
  struct Program {
    const Manifest *manifest;
    std::unique_ptr<const Plan> plan;
    /// By step; empty without code.
    std::vector<KernelHandle> kernels;
  };
  const std::vector<Program> &getPrograms() const { return programs; }

private:
  Artifact();
  static Result<std::shared_ptr<Artifact>> create(Bytes bytes, std::string name,
                                                  const LoadOptions &options);
  std::string findWeightsFile() const;
  Status readMembers(const ZipArchive &archive, const LoadOptions &options);
  Status makePlans();
  Status checkConstants(uint64_t &end, std::string &last) const;
  Status loadCode(const Device::ReadMember &read, unsigned index);
  /// Code of users by the member that holds it.
  using CustomModules =
      std::map<std::string, std::unique_ptr<Module>, std::less<>>;
  Status loadCustom(const Manifest &steps, const Device::ReadMember &read,
                    CustomModules &modules);
  Status findKernels(const Module &code, const std::string &where);
  Status findKernels(const Module &code, Program &program,
                     const std::string &where);
  Status createPrepare();
  Status mapEmbeddedWeights(const ZipArchive &archive);
  Status mapWeights(const std::string &path);
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
  /// What is prepared may outlive the artifact.
  std::shared_ptr<std::atomic<uint64_t>> preparedBytes =
      std::make_shared<std::atomic<uint64_t>>(0);
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_ARTIFACT_H
