//===- Context.h - One thread's calls of an artifact ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_CONTEXT_H
#define LUMINAL_RUNTIME_CONTEXT_H

#include "luminal/Runtime/Artifact.h"
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace luminal::runtime {

struct ContextOptions {
  /// Threads that one call may use, the caller's among them; 0: as many as the
  /// process may run at once.
  unsigned threads = 0;
};

/// What a step did, for a StepListener.
struct StepReport {
  /// Counted within its program (Artifact::getPrograms).
  uint32_t step = 0, program = 0;
  int64_t work = 0, traffic = 0, flops = 0;
  unsigned threads = 1;
  /// Operands, then results, as the kernel gets them; Context::readMemory reads
  /// what is in them.
  std::span<void *const> buffers;
  /// How long the step took by the clock of the device; absent before the step,
  /// and where the device has none.
  std::optional<double> microseconds;
};

/// Notified of every step of a call, in order, on the calling thread.
class StepListener {
public:
  virtual ~StepListener() = default;
  virtual void before(const StepReport &report) = 0;
  /// An error ends the call.
  virtual Status after(const StepReport &report) = 0;
};

/// Bindings, memory and states of one caller: bind, run, read, repeatedly. A
/// call with the same dims as the previous one allocates nothing and evaluates
/// no expression. Not thread-safe.
///
/// Indices are those of the manifest. Bound memory must stay valid until it is
/// rebound or the context is destroyed. It is row-major and contiguous; where
/// it is not 16-byte aligned it is copied at each call (weights: once, when
/// bound). Elements of i1 are bytes 0 or 1.
class Context {
public:
  static Result<std::unique_ptr<Context>>
  create(std::shared_ptr<const Artifact> artifact,
         const ContextOptions &options = {});
  ~Context();

  const Artifact &getArtifact() const;

  /// Dtype, rank and constant extents are checked here, symbolic ones when the
  /// call is prepared. A state's memory is written by the calls; a state with
  /// an initial value that is bound takes the memory as it is.
  Status bindInput(uint32_t input, const void *data, DType dtype,
                   std::span<const int64_t> shape);
  /// An integer of the manifest. What it must be is checked when the call is
  /// prepared.
  Status bindInteger(uint32_t integer, int64_t value);
  /// Removes the binding of a state with an initial value: it lives in the
  /// context again and is reset. An input is unbound.
  void unbindInput(uint32_t input);
  /// The shape must be the one that follows from the inputs. An unbound output
  /// lies in memory of the context.
  Status bindOutput(uint32_t output, void *data, DType dtype,
                    std::span<const int64_t> shape);
  void unbindOutput(uint32_t output);
  Status bindWeight(uint32_t weight, const void *data, DType dtype,
                    std::span<const int64_t> shape);
  /// Whether to bind the weight again, of the same type, would change nothing.
  bool isWeightBound(uint32_t weight, const void *data) const;
  /// A number that stands for what the weights hold that are bound next, 0
  /// where that is not known: what was prepared from weights at the same
  /// addresses is kept where their number is that of the last ones, and shared
  /// with contexts whose weights have the same number.
  void setWeightsVersion(uint64_t version);
  /// Uses the artifact's weight again.
  void unbindWeight(uint32_t weight);

  /// Finds the values of the symbols and checks all shapes; what `run` does
  /// first. After it, shapes are known.
  Status prepare();
  /// Valid after `prepare`, until an input is bound.
  std::span<const int64_t> getOutputShape(uint32_t output) const;
  std::span<const int64_t> getInputShape(uint32_t input) const;
  /// Memory of an output (bound or the context's own) as the last call left it:
  /// an error if no call was made with the current dims and bindings.
  Result<const void *> getOutputData(uint32_t output) const;
  /// Memory of a state with an initial value: what the next call starts from.
  Result<const void *> getStateData(uint32_t input);
  /// The program that the sizes call for, by its number in
  /// Artifact::getPrograms. Valid after `prepare`.
  uint32_t getProgram() const;
  /// Size of a buffer of that program. Valid after `prepare`.
  int64_t getBufferBytes(uint32_t buffer) const;
  /// Values of the manifest's symbols. Valid after `prepare`.
  std::span<const int64_t> getSymbolValues() const;
  /// Bytes of the arena and of all other memory that the context allocated for
  /// itself. What is prepared from weights and shared with other contexts is
  /// the artifact's (Artifact::getPreparedBytes).
  uint64_t getMemoryBytes() const;

  /// Copies what is in memory that a step was given to memory of the caller.
  Status readMemory(const void *memory, void *to, uint64_t bytes) const;
  /// How often the device put the steps together anew, for tests.
  uint64_t getNumCaptures() const;
  /// How often the place of every tensor was found anew, for tests: in place of
  /// the few that lie elsewhere than in the last call.
  uint64_t getNumPlacings() const;
  /// Makes a call, then runs its steps `repeats` times more on the memory as it
  /// is: nanoseconds of one time, without copies, by the device's clock. States
  /// that steps change in place change as often. Assertions may be false.
  Result<double> timeSteps(unsigned repeats);

  /// Runs the steps. No output may share memory with any other buffer of the
  /// call, nor a state. After an error inside a step, outputs are undefined,
  /// and states that are updated in place must be reset or rebound.
  Status run(StepListener *listener = nullptr);
  /// From here on calls are work of a stream of the caller's, after what it was
  /// given before and after the context's calls on other streams; absent: of
  /// the context's own, and each call waits for its end. A call on the caller's
  /// waits only where it has a listener or copies between host and device: not
  /// where all bound memory is the device's. An index out of range that is
  /// found later is an error of a later call or of `synchronize`. The stream
  /// may not be captured: that is what `capture` is for. `isFree`: the caller
  /// has asked the device for that.
  Status setStream(std::optional<CallerStream> stream, bool isFree = false);
  /// Adds a call to what a stream of the caller's is captured into
  /// (Device::isCapturing), as that stream's next work: nothing is run before
  /// the caller launches the graph, and each launch is one call, with the same
  /// sizes, on the same memory. All bound memory must be the device's. The
  /// context makes no other calls, and must live for as long as the graph can
  /// be launched (Device::keepWithCapture). What launches find wrong is an
  /// error of `synchronize`.
  Status capture(CallerStream stream);
  /// The caller gives the memory for what lies between steps, in place of the
  /// context's own arena: of the device, aligned to kCopyAlignment, valid for
  /// as long as calls use it; null if there is none. `prepare` calls it where
  /// sizes need more than it gave before.
  void setArenaAllocator(std::function<void *(uint64_t bytes)> allocate);
  /// Computes again what was prepared from weights, in the same memory, so that
  /// launches of a capture find it. The weights are read where they lay.
  Status refreshPrepared();
  /// Waits for calls on a stream of the caller's; of a context that was
  /// captured, tells what the launches that are done have found.
  Status synchronize();
  /// Whether the last error of `run` or `synchronize` was that of an assertion:
  /// the call was done, and what it wrote to states stays.
  bool failedAssertion() const;

  /// States with an initial value start from it at the next call, except those
  /// that are bound.
  void resetStates();

private:
  struct Impl;
  explicit Context(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_CONTEXT_H
