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

/// Memory for operands, each made once: programs that compute the same share
/// it.
class Operands {
public:
  enum class Values {
    /// Floats from 1 to 2 (of narrow types: about that), which no function has
    /// trouble with.
    Positive,
    /// Floats around 0, the smaller the longer the rows of a weight, so that
    /// what a whole program computes stays finite; vectors around 1.
    Centred,
  };
  /// Rows of 64 bytes, which are as aligned as the runtime's own memory.
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  /// Inputs that `samples` has, of the same type, hold what it says.
  explicit Operands(Values values, const SampleInputs *samples = nullptr)
      : values(values), samples(samples) {}

  /// Integers are 0, an index of any tensor; booleans are random.
  const void *get(size_t position, const runtime::TensorSpec &spec,
                  std::span<const int64_t> shape, bool isWeight);

private:
  Values values;
  const SampleInputs *samples;
  std::map<size_t, std::vector<Line>> memory;
};

class BoundProgram {
public:
  /// A symbol that `sizes` does not have is as getTimedSize says. `operands`
  /// lives as long, as does a program whose weights this one has.
  static Result<std::unique_ptr<BoundProgram>>
  create(std::shared_ptr<const runtime::Artifact> artifact, unsigned threads,
         const TimedSizes &sizes, Operands &operands,
         const BoundProgram *weightsOf = nullptr);

  /// Seconds of one run by the device's clock: the mean of `repeats`.
  Result<double> time(unsigned repeats);
  /// Makes a call, with states as they were at first, and reads what the caller
  /// gets.
  Result<std::vector<HostTensor>>
  compute(runtime::StepListener *listener = nullptr);
  /// Finds the sizes of a call, and which program of the artifact makes it.
  Status prepare() { return context->prepare(); }
  const runtime::Context &getContext() const { return *context; }
  /// What calls begin with, as the manifest lists it; the memory is that of the
  /// operands and of the artifact.
  const std::vector<HostTensor> &getInputs() const { return inputs; }
  const std::vector<HostTensor> &getWeights() const { return weights; }
  /// Bytes moved and operations done by all steps; valid after a call.
  int64_t getTraffic() const { return traffic; }
  int64_t getFlops() const { return flops; }

private:
  BoundProgram(std::shared_ptr<const runtime::Artifact> artifact)
      : artifact(std::move(artifact)) {}
  Status bind(const TimedSizes &sizes, Operands &operands,
              const BoundProgram *weightsOf);

  /// Memory of the caller that calls write to: each program has a copy.
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

/// How far results of programs that are equal may be apart.
struct Closeness {
  /// Terms that sums have, one after the other: each may be rounded otherwise.
  double terms = 0;
  /// Kernels that results go through.
  double depth = 1;
  /// By output, what rounding was seen to do: the most that it moves a float,
  /// and elements of which it decides what they are.
  struct Rounding {
    double most = 0;
    std::vector<bool> isOpen;
  };
  std::vector<Rounding> rounding = {};

  /// Adds what results differ by that were rounded otherwise.
  void addRounding(const std::vector<HostTensor> &expected,
                   const std::vector<HostTensor> &rounded);
};
/// Empty where they are as close as that: floats within a few units in the last
/// place of their type, and of a sum of so many terms, of the greatest element,
/// and four times what rounding was seen to do; integers equal but for one in
/// 256, which may follow from a comparison of floats. Else what is not.
std::string describeDifference(const std::vector<HostTensor> &expected,
                               const std::vector<HostTensor> &found,
                               const Closeness &closeness);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_BOUNDPROGRAM_H
