//===- ArtifactProgram.h - An artifact as a program of the driver ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_ARTIFACTPROGRAM_H
#define LUMINAL_RUNTIME_ARTIFACTPROGRAM_H

#include "luminal/Runtime/Context.h"
#include "luminal/Runtime/RunDriver.h"
#include <map>

namespace luminal::runtime {

class ArtifactProgram : public Runnable {
public:
  static Result<std::unique_ptr<ArtifactProgram>>
  create(std::shared_ptr<const Artifact> artifact,
         const ContextOptions &options);

  const std::vector<Port> &getInputs() const override { return inputs; }
  const std::vector<Port> &getOutputs() const override { return outputPorts; }
  Status bind(std::vector<HostTensor> tensors) override;
  Status call() override { return context->run(listener); }
  Result<std::vector<HostTensor>> outputs() override;

  Context &getContext() { return *context; }
  /// Is told about the steps of every call; null for none.
  void setListener(StepListener *newListener) { listener = newListener; }

private:
  ArtifactProgram() = default;

  std::shared_ptr<const Artifact> artifact;
  std::unique_ptr<Context> context;
  std::vector<Port> inputs, outputPorts;
  std::vector<HostTensor> bound;
  StepListener *listener = nullptr;
};

/// What an artifact takes and gives, for people or (`json`) for programs.
std::string describeArtifact(const Artifact &artifact, bool json);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_ARTIFACTPROGRAM_H
