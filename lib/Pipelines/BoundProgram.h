//===- BoundProgram.h - A loaded artifact and its operands ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_BOUNDPROGRAM_H
#define LUMINAL_LIB_PIPELINES_BOUNDPROGRAM_H

#include "SampleInputs.h"
#include "luminal/Runtime/Context.h"

#include <map>
#include <string>
#include <vector>

namespace luminal {

/// Memory for operands, allocated and filled once and shared by programs that
/// compute the same function.
class Operands {
public:
  enum class Values {
    /// Floats from 1 to 2 (approximately, for narrow types), for which all
    /// functions are well defined.
    Positive,
    /// Floats around 0. Weights are scaled by the length of their rows so that
    /// values of a whole program stay finite; vectors of weights are around 1.
    Centred,
  };
  /// 64 bytes, with the alignment of the runtime's own memory.
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  /// An input for which `samples` has a tensor of the same type gets its
  /// elements.
  explicit Operands(Values values, const SampleInputs *samples = nullptr)
      : values(values), samples(samples) {}

  /// The operand at `position`. Integers are 0, a valid index of any tensor;
  /// booleans are random.
  const void *get(size_t position, const runtime::TensorSpec &spec,
                  std::span<const int64_t> shape, bool isWeight);

private:
  Values values;
  const SampleInputs *samples;
  std::map<size_t, std::vector<Line>> memory;
};

class BoundProgram {
public:
  /// Symbols missing in `sizes` get the value of getTimedSize. `operands` must
  /// outlive the program, as must `weightsOf`, a program whose weights are
  /// shared.
  static Result<std::unique_ptr<BoundProgram>>
  create(std::shared_ptr<const runtime::Artifact> artifact, unsigned threads,
         const TimedSizes &sizes, Operands &operands,
         const BoundProgram *weightsOf = nullptr);

  /// Seconds of one run by the device's clock: the mean over `repeats` runs.
  Result<double> time(unsigned repeats);
  /// Makes one call with the states at their initial values, and returns the
  /// outputs.
  Result<std::vector<HostTensor>>
  compute(runtime::StepListener *listener = nullptr);
  /// Determines the sizes of a call, and which program of the artifact runs it.
  Status prepare() { return context->prepare(); }
  const runtime::Context &getContext() const { return *context; }
  /// The inputs and weights of calls, in the order of the manifest. Their
  /// memory belongs to the operands and the artifact.
  const std::vector<HostTensor> &getInputs() const { return inputs; }
  const std::vector<HostTensor> &getWeights() const { return weights; }
  /// Bytes moved and operations executed by all steps; valid after a call.
  int64_t getTraffic() const { return traffic; }
  int64_t getFlops() const { return flops; }

private:
  BoundProgram(std::shared_ptr<const runtime::Artifact> artifact)
      : artifact(std::move(artifact)) {}
  Status bind(const TimedSizes &sizes, Operands &operands,
              const BoundProgram *weightsOf);

  /// The program's own copy of a state, which calls overwrite.
  struct State {
    const void *initial;
    size_t bytes;
    std::vector<Operands::Line> memory;
    void reset();
  };

  std::shared_ptr<const runtime::Artifact> artifact;
  std::unique_ptr<runtime::Context> context;
  std::vector<State> states;
  std::vector<HostTensor> inputs, weights;
  int64_t traffic = 0, flops = 0;
};

/// How much the results of equal programs may differ.
struct Closeness {
  /// Total number of terms of sums that depend on each other; each addition may
  /// round differently.
  double terms = 0;
  /// Length of the chain of kernels through which rounding errors propagate.
  double depth = 1;
  /// For each output, the observed effect of rounding: the largest change of a
  /// float, and the elements whose value is undetermined because rounding
  /// decides it.
  struct Rounding {
    double most = 0;
    std::vector<bool> isOpen;
  };
  std::vector<Rounding> rounding = {};

  /// Adds the differences between results and results with another rounding.
  void addRounding(const std::vector<HostTensor> &expected,
                   const std::vector<HostTensor> &rounded);
};
/// Compares results. Floats may differ by a few units in the last place of
/// their type, plus the rounding of sums of `terms` terms, both relative to the
/// largest element, plus four times the observed effect of rounding. One
/// integer in 256 may differ, because it may follow from a comparison of
/// floats. Returns a description of the difference if there is more, otherwise
/// an empty string.
std::string describeDifference(const std::vector<HostTensor> &expected,
                               const std::vector<HostTensor> &found,
                               const Closeness &closeness);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_BOUNDPROGRAM_H
