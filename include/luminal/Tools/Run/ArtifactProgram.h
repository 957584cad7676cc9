//===- ArtifactProgram.h - Runs an artifact by the runtime ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_RUN_ARTIFACTPROGRAM_H
#define LUMINAL_TOOLS_RUN_ARTIFACTPROGRAM_H

#include "luminal/Runtime/Context.h"
#include "luminal/Tools/Run/RunDriver.h"
#include <map>

namespace luminal::tools {

/// Runs an artifact as a program of the run driver.
class ArtifactProgram : public Runnable {
public:
  static Result<std::unique_ptr<ArtifactProgram>>
  create(std::shared_ptr<const runtime::Artifact> artifact,
         const runtime::ContextOptions &options);

  const std::vector<Port> &getInputs() const override { return inputs; }
  const std::vector<Port> &getOutputs() const override { return outputPorts; }
  Status bind(std::vector<HostTensor> tensors) override;
  Status call() override { return context->run(listener); }
  Result<std::optional<double>> timeSteps(unsigned repeats) override;
  Result<std::vector<HostTensor>> outputs() override;

  runtime::Context &getContext() { return *context; }
  /// Sets the listener that is notified of the steps of every call; may be
  /// null.
  void setListener(runtime::StepListener *newListener) {
    listener = newListener;
  }

private:
  ArtifactProgram() = default;

  std::shared_ptr<const runtime::Artifact> artifact;
  std::unique_ptr<runtime::Context> context;
  std::vector<Port> inputs, outputPorts;
  std::vector<HostTensor> bound;
  runtime::StepListener *listener = nullptr;
};

/// A description of the artifact's inputs and outputs, as text or as JSON.
std::string describeArtifact(const runtime::Artifact &artifact, bool json);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_ARTIFACTPROGRAM_H
