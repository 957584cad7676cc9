//===- Context.h - The calls that one thread makes of an artifact ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_CONTEXT_H
#define LUMINAL_RUNTIME_CONTEXT_H

#include "luminal/Runtime/Artifact.h"
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace luminal::runtime {

/// Options of Context::create.
struct ContextOptions {
  /// Threads that one call may use, including the calling thread; 0 uses as
  /// many as the process may run at once.
  unsigned threads = 0;
};

/// What one step did; passed to a StepListener.
struct StepReport {
  /// `step` counts within its program; `program` indexes Artifact::getPrograms.
  uint32_t step = 0, program = 0;
  int64_t work = 0, traffic = 0, flops = 0;
  unsigned threads = 1;
  /// Addresses of the operands, then of the results, as passed to the kernel.
  /// Context::readMemory copies their contents to the host.
  std::span<void *const> buffers;
  /// Duration of the step by the device's clock. Absent before the step, and on
  /// devices without a clock.
  std::optional<double> microseconds;
};

/// Notified of every step of a call, in order, on the calling thread.
class StepListener {
public:
  virtual ~StepListener() = default;
  virtual void before(const StepReport &report) = 0;
  /// Returning an error ends the call.
  virtual Status after(const StepReport &report) = 0;
};

/// The bindings, memory and states of one caller, which binds, runs and reads
/// repeatedly. A call with the same dims as the previous one allocates nothing
/// and evaluates no expression. Not thread-safe.
///
/// Indices are those of the manifest. Bound memory must stay valid until it is
/// rebound or the context is destroyed. It must be row-major and contiguous.
/// Memory that is not 16-byte aligned is copied: inputs and outputs at each
/// call, weights once, when bound. Elements of i1 are bytes 0 or 1.
class Context {
public:
  static Result<std::unique_ptr<Context>>
  create(std::shared_ptr<const Artifact> artifact,
         const ContextOptions &options = {});
  ~Context();

  const Artifact &getArtifact() const;

  /// Binds an input or a state. Dtype, rank and constant extents are checked
  /// here, symbolic extents in `prepare`. Calls write the memory of a bound
  /// state. Binding a state that has an initial value keeps the contents of
  /// `data`: the initial value is not written to it.
  Status bindInput(uint32_t input, const void *data, DType dtype,
                   std::span<const int64_t> shape);
  /// Binds an integer input of the manifest. Its value is checked in `prepare`.
  Status bindInteger(uint32_t integer, int64_t value);
  /// Removes the binding of an input. A state with an initial value lives in
  /// the context again and is reset.
  void unbindInput(uint32_t input);
  /// Binds memory for an output. `shape` must equal the shape that follows from
  /// the inputs. An unbound output is written to memory of the context.
  Status bindOutput(uint32_t output, void *data, DType dtype,
                    std::span<const int64_t> shape);
  void unbindOutput(uint32_t output);
  /// Binds memory for a weight, instead of the artifact's. Types and shapes
  /// must be those of the manifest. Memory that kernels cannot use in place is
  /// copied now.
  Status bindWeight(uint32_t weight, const void *data, DType dtype,
                    std::span<const int64_t> shape);
  /// Whether binding this weight to `data` again, with the same dtype, would
  /// change nothing.
  bool isWeightBound(uint32_t weight, const void *data) const;
  /// A number that identifies the contents of the weights that are bound next;
  /// 0 if unknown. Prepared values of weights at the same addresses are reused
  /// if the number equals the previous one, and shared with contexts whose
  /// weights have the same number.
  void setWeightsVersion(uint64_t version);
  /// Removes the binding of a weight: the artifact's own is used again.
  void unbindWeight(uint32_t weight);

  /// Solves for the values of the symbols and checks all shapes. `run` does
  /// this first. Shapes are valid afterwards.
  Status prepare();
  /// Valid after `prepare`, until an input is bound.
  std::span<const int64_t> getOutputShape(uint32_t output) const;
  std::span<const int64_t> getInputShape(uint32_t input) const;
  /// Memory of an output (bound or the context's own) with the last call's
  /// result. An error if no call was made with the current dims and bindings.
  Result<const void *> getOutputData(uint32_t output) const;
  /// Memory of a state with an initial value, as the next call will read it.
  Result<const void *> getStateData(uint32_t input);
  /// The program that the current sizes select, as an index into
  /// Artifact::getPrograms. Valid after `prepare`.
  uint32_t getProgram() const;
  /// Bytes of a buffer of that program. Valid after `prepare`.
  int64_t getBufferBytes(uint32_t buffer) const;
  /// Values of the manifest's symbols. Valid after `prepare`.
  std::span<const int64_t> getSymbolValues() const;
  /// Bytes of the arena and of all other memory that the context allocated.
  /// Prepared values that are shared with other contexts count as the
  /// artifact's (Artifact::getPreparedBytes).
  uint64_t getMemoryBytes() const;

  /// Copies from memory that a step used (StepReport::buffers) to host memory
  /// of the caller.
  Status readMemory(const void *memory, void *to, uint64_t bytes) const;
  /// How often the device rebuilt its launch plan (on CUDA, captured a graph).
  /// For tests.
  uint64_t getNumCaptures() const;
  /// How often the addresses of all tensors were resolved again, instead of
  /// only those that moved since the last call. For tests.
  uint64_t getNumPlacings() const;
  /// Makes a call, then runs its steps `repeats` more times on the memory as it
  /// is. Returns the mean nanoseconds of one repetition by the device's clock,
  /// without copies. States that steps update in place are updated each time.
  /// Failed assertions are ignored.
  Result<double> timeSteps(unsigned repeats);

  /// Runs the steps. An output or a state must share no memory with any other
  /// buffer of the call. After an error inside a step, outputs are undefined,
  /// and states that are updated in place must be reset or rebound.
  Status run(StepListener *listener = nullptr);
  /// Makes the following calls part of a stream of the caller, ordered after
  /// the work already on it and after the context's calls on other streams.
  /// With no stream, calls use the context's own and each call waits for its
  /// end. A call on the caller's stream waits only if it has a listener or
  /// copies between host and device, which is not the case if all bound memory
  /// is on the device. An index out of range is then reported by a later call
  /// or by `synchronize`. The stream must not be capturing (see `capture`).
  /// `isFree`: the caller has already checked that it is not.
  Status setStream(std::optional<CallerStream> stream, bool isFree = false);
  /// Adds a call to the graph that a stream of the caller is being captured
  /// into (Device::isCapturing), as that stream's next work. Nothing runs until
  /// the caller launches the graph; each launch is one call with the same sizes
  /// on the same memory. All bound memory must be on the device. The context
  /// can make no other calls, and must live for as long as the graph can be
  /// launched (Device::keepWithCapture). Errors of launches are reported by
  /// `synchronize`.
  Status capture(CallerStream stream);
  /// Replaces the context's own arena by memory that the caller provides. The
  /// memory must be on the device, aligned to kCopyAlignment, and valid for as
  /// long as calls use it; null means that the allocation failed. `prepare`
  /// calls `allocate` when the sizes need more memory than it returned last.
  void setArenaAllocator(std::function<void *(uint64_t bytes)> allocate);
  /// Recomputes the prepared values in place, so that launches of a captured
  /// graph read the new ones. Reads the weights at the addresses of the
  /// capture.
  Status refreshPrepared();
  /// Waits for calls on a stream of the caller. For a captured context, returns
  /// errors that completed launches have found.
  Status synchronize();
  /// Whether the last error of `run` or `synchronize` was a failed assertion.
  /// The call then ran to its end, and its updates of states are kept.
  bool failedAssertion() const;

  /// Resets states with an initial value to it at the next call, except those
  /// that are bound.
  void resetStates();

private:
  struct Impl;
  explicit Context(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_CONTEXT_H
