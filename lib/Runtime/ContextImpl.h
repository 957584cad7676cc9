//===- ContextImpl.h - What a context holds -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CONTEXTIMPL_H
#define LUMINAL_LIB_RUNTIME_CONTEXTIMPL_H

#include "Plan.h"
#include "Prepared.h"
#include "luminal/Runtime/Context.h"
#include "luminal/Runtime/Device.h"
#include <array>
#include <vector>

namespace luminal::runtime {

/// Sizes are below this, so that sums of two never overflow.
constexpr int64_t kLargestSize = int64_t(1) << 56;

struct Context::Impl {
  using Slot = SizeProgram::Slot;

  explicit Impl(std::shared_ptr<const Artifact> artifact)
      : artifact(std::move(artifact)), m(this->artifact->getManifest()),
        plan(*this->artifact->getPrograms().front().plan),
        device(*this->artifact->getDevice()) {}

  struct Range {
    int64_t offset = 0, bytes = 0;
  };
  /// One of the artifact's programs, with sizes and memory of its own.
  struct Program {
    Program(const Manifest &m, const Plan &plan) : m(m), plan(plan) {}

    const Manifest &m;
    const Plan &plan;
    std::vector<SizeProgram::Value> values;
    /// By buffer; bytes of all, offset where it has one.
    std::vector<Range> ranges;
    /// By buffer: the input, output or weight it belongs to.
    std::vector<uint32_t> owners;
    std::vector<uint8_t *> pointers;     ///< By buffer.
    std::vector<void *> arguments;       ///< Of all steps, in a row.
    std::vector<uint32_t> firstArgument; ///< By step.
    std::vector<int64_t> launchValues;   ///< As Plan::launches.
    std::vector<bool> inPlace;           ///< By input: steps write to it.
    /// Where something stands, and what is added to an address there.
    struct Place {
      uint32_t at;
      int64_t offset;
    };
    /// The places of all inputs, behind them those of all outputs.
    struct Places {
      std::vector<uint32_t> first; ///< By tensor, and behind the last one.
      std::vector<Place> all;
    };
    Places argumentPlaces, bufferPlaces;
    /// By buffer: the tensor that it is part of, and where in it.
    std::vector<std::optional<Place>> bufferParts;
    /// Counters of all steps, one after the other. Steps leave them zero,
    /// unless a call fails.
    Memory counters;
    bool countersClean = true;
    /// Destroyed before the counters.
    std::unique_ptr<LaunchPlan> launches;

    /// Reads a slot as a size in [least, kLargestSize]; false if it is not one.
    bool size(Slot slot, int64_t &value, int64_t least = 0) const {
      value = values[slot].value;
      return values[slot].valid && value >= least && value <= kLargestSize;
    }
  };

  class Reporter;

  Status initialize(const ContextOptions &options);
  Status initialize(Program &program, const Artifact::Program &from);

  //===--- Binding (Context.cpp) ------------------------------------------===//
  template <typename Spec>
  Status checkBinding(const char *what, const Spec &spec, const void *data,
                      DType dtype, std::span<const int64_t> shape) const;

  //===--- Preparing (ContextPrepare.cpp) ---------------------------------===//
  Status prepareDims();
  Status solveSymbols();
  Status chooseProgram();
  Status checkInputExtents();
  Status checkRequirements();
  /// ", n is 3 by dim 0 of input 'x'" for each symbol that occurs.
  std::string describeSymbols(const std::vector<Expr> &exprs) const;
  std::optional<int64_t> symbolValue(std::string_view name) const;
  Status evaluateSizes();
  Status evaluateBuffers();
  Status evaluateSteps();
  Error launchError() const;
  Status checkLibrarySteps() const;
  Status preparePointers();
  Status placeInputs();
  Status placeOutputs();
  Status checkOverlap() const;
  Error overlapError() const;
  Status planCopies();

  //===--- Moving (ContextMove.cpp) ---------------------------------------===//
  /// What `preparePointers` does, where only some inputs and outputs lie
  /// elsewhere: `moved`.
  Status movePointers();
  /// Whether what moved lies where kernels reach it.
  bool canMove();
  /// Whether an output that moved shares memory with another tensor; for few
  /// outputs, where nothing else moved.
  bool movedOutputsOverlap();
  void findPlaces();
  void aimCopies();

  Status placeWeight(uint32_t weight);
  /// The weights that values are prepared from, by index.
  struct PreparedWeights {
    std::vector<const void *> places;
    bool areOfArtifact = true;
  };
  Result<PreparedWeights> findPreparedWeights();
  Status prepareWeights();
  void sortWeightRanges();
  std::string extentPlace(uint32_t input, uint32_t axis) const;
  /// Of Plan::extents: also "integer 'n'".
  std::string extentPlace(uint32_t extent) const;

  //===--- Running (ContextRun.cpp) ---------------------------------------===//
  /// Everything before the steps of a call.
  Status getReady();
  /// Does the steps of a call.
  Status call(StepListener *listener);
  /// Notes in outputs and states how a call ended.
  Status end(Status status);
  /// The error of the first assertion that the call found false.
  Status checkAssertions();
  Status checkCaptured();
  Status refreshPrepared();
  /// Waits for what the stream was given, before work that is not in its order.
  Status settle();
  /// Makes memory large enough: where it has to be another, calls that use it
  /// end first. The error: "out of memory: WHAT BYTES bytes".
  Status grow(Memory &memory, uint64_t bytes, const char *what,
              Device::Place place = Device::Place::Device);
  /// Whether a copy of the call is between host and device.
  bool crosses() const;
  /// States that the device may have changed when it tells of an error;
  /// `updated`: those too that are copied at the end of a call.
  void breakStates(bool updated);
  Status startStates();
  Status clearCounters();
  Status copyInitialValue(uint32_t state);
  Status checkStates();
  Error brokenState(uint32_t input) const;

  std::shared_ptr<const Artifact> artifact;
  /// What all programs have in common: tensors by index, and where symbols come
  /// from.
  const Manifest &m;
  const Plan &plan;
  Device &device;
  /// That of the current sizes.
  Program *program = nullptr;
  unsigned threads = 1;

  /// Whether kernels can use this memory as it is.
  bool isDirect(const void *memory) const {
    return reinterpret_cast<uintptr_t>(memory) % kBufferAlignment == 0 &&
           device.reaches(memory);
  }

  /// What `isDirect` said of the addresses that a tensor lay at last: to ask
  /// the driver takes as long as to bind, and callers take turns among few.
  struct DirectMemory {
    static constexpr size_t kMost = 4;
    std::array<std::pair<const void *, bool>, kMost> known = {};
    size_t next = 0;

    bool get(const Impl &context, const void *memory) {
      for (const auto &[address, isDirect] : known)
        if (address == memory && memory)
          return isDirect;
      const bool isDirect = context.isDirect(memory);
      known[next] = {memory, isDirect};
      next = (next + 1) % kMost;
      return isDirect;
    }
  };

  struct Input {
    const void *data = nullptr; ///< What the caller bound.
    bool bound = false;
    int64_t bytes = 0;
    const void *place = nullptr; ///< Where kernels find it.
    Memory own;                  ///< For a state with an initial value.
    DirectMemory direct;
    Memory read;          ///< Of the host: what the caller reads of `own`.
    bool staged = false;  ///< Its place is in stagedInputs.
    bool start = false;   ///< Copy the initial value to `own`.
    bool updated = false; ///< An output is its new value.
    bool broken = false;  ///< A call that wrote to it failed.
  };
  struct Output {
    void *data = nullptr;
    bool bound = false;
    int64_t bytes = 0;
    bool staged = false;         ///< Its place is in stagedOutputs.
    uint64_t changed = 0;        ///< Calls that ended before it was bound.
    Memory own;                  ///< Of the host, if unbound.
    const void *place = nullptr; ///< Where kernels write it.
    DirectMemory direct;
  };
  struct Weight {
    /// What the caller bound, or the artifact's.
    const void *data = nullptr;
    /// Where kernels reach it; null: not known yet.
    const void *place = nullptr;
    Memory staging;
  };

  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Weight> weights;
  /// Calls that ended, and whether the last one computed its outputs. No call
  /// writes to each output for that: there may be hundreds.
  uint64_t numCalls = 0;
  bool lastIsDone = false;
  /// Whether it holds the last call's value.
  bool isCurrent(const Output &output) const {
    return lastIsDone && output.changed < numCalls;
  }
  /// What is prepared from them; null where that is to be done. Of the
  /// artifact, which shares it, or the context's own where some weight is the
  /// caller's and may change.
  std::shared_ptr<const PreparedValues> prepared;
  /// The values before, which a call that goes on may still read.
  std::shared_ptr<const PreparedValues> retired;
  bool preparedIsOwn = false;
  /// Of the weights bound now; 0: they may change.
  uint64_t weightsVersion = 0;
  /// They hold what they held when this context last prepared values.
  bool weightsAreKnown = false;
  bool preparesFrom(uint32_t weight) const {
    return m.prepare && m.prepare->weights[weight].buffer;
  }
  /// A weight was bound anew: its contents may differ.
  void noteWeight(uint32_t weight) {
    if (!preparesFrom(weight))
      return;
    if (prepared)
      retired = std::move(prepared);
    prepared = nullptr;
    pointersChanged = true;
  }
  /// Extents and integers as bound, in the order of Plan::extents; of outputs
  /// as bound (checked) and as evaluated.
  std::vector<int64_t> inputExtents, boundOutputExtents, outputExtents;

  /// By integer: whether it is bound.
  std::vector<bool> integersBound;
  bool dimsChanged = true, pointersChanged = true;
  uint64_t numPlacings = 0;
  /// Inputs, and outputs behind them, of which only where they lie has changed.
  std::vector<uint32_t> moved;
  /// `tensor` moved; may be noted twice.
  void noteMove(size_t tensor) {
    if (moved.size() < inputs.size() + outputs.size())
      moved.push_back(static_cast<uint32_t>(tensor));
    else
      pointersChanged = true;
  }
  bool statesToStart = false, weightsChanged = true;
  /// Some input may have `broken` set.
  bool statesBroken = false;
  /// By output: those that are assertions; and whether the last error is one's.
  std::vector<uint32_t> assertions;
  bool assertionFailed = false;
  /// Calls are on a stream of the caller's; one of them may go on.
  bool onCallersStream = false, inFlight = false;
  std::vector<int64_t> symbols;
  /// The input extent each symbol was solved from, for messages.
  std::vector<uint32_t> solvedBy;
  /// Whatever the program, in the same place.
  Memory arena, temporary;
  /// Gives the arena of the caller, if there is one.
  std::function<void *(uint64_t)> allocateArena;
  uint8_t *callersArena = nullptr;
  uint64_t callersArenaBytes = 0;
  uint8_t *getArena() const {
    return callersArena ? callersArena : arena.data();
  }
  /// Inputs and outputs whose memory is not direct, one after the other.
  Memory stagedInputs, stagedOutputs;
  std::vector<Copy> copiesIn, copiesOut;
  /// Of each of copiesOut, the buffers that it is between, and the output that
  /// it is for, where it is for one.
  struct CopyEnds {
    std::optional<uint32_t> from, to, output;
  };
  std::vector<CopyEnds> copyEnds;
  /// Memory of the caller, for the overlap check; ranges of weights are merged
  /// and sorted.
  struct Extent {
    uintptr_t begin, end;
    bool written;
  };
  mutable std::vector<Extent> callerExtents;
  std::vector<Extent> weightExtents;
  /// The context is part of a capture.
  bool isCaptured = false;
  bool haveOverlap(size_t numWritten) const;
  bool meetsWeight(const Extent &extent) const;
  /// Inputs and states of the caller, sorted and merged; whether they are those
  /// of now.
  std::vector<Extent> boundInputExtents;
  bool boundInputsAreKnown = false;
  static void sortAndMerge(std::vector<Extent> &extents);
  static bool meets(const std::vector<Extent> &sorted, const Extent &extent);

  /// As the artifact's; their addresses stay. They are destroyed first, and
  /// wait for what still uses the memory above.
  std::vector<Program> programs;
};

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CONTEXTIMPL_H
