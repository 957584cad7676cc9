//===- ContextImpl.h - Implementation of Context --------------------------===//
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

/// Upper limit of every size, so that the sum of two sizes never overflows.
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
  /// One of the artifact's programs, with this context's sizes and addresses.
  struct Program {
    Program(const Manifest &m, const Plan &plan) : m(m), plan(plan) {}

    const Manifest &m;
    const Plan &plan;
    std::vector<SizeProgram::Value> values;
    /// Sizes of the buffers, and their offsets if they have one.
    std::vector<Range> ranges;
    /// For each buffer, the index of its input, output or weight.
    std::vector<uint32_t> owners;
    std::vector<uint8_t *> pointers;     ///< Address of each buffer.
    std::vector<void *> arguments;       ///< Buffers of all steps.
    std::vector<uint32_t> firstArgument; ///< For each step.
    std::vector<int64_t> launchValues;   ///< Of Plan::launches.
    std::vector<bool> inPlace;           ///< Inputs that steps write.
    /// A position in the tables that hold addresses, and the offset that is
    /// added to the tensor's address there.
    struct Place {
      uint32_t at;
      int64_t offset;
    };
    /// The places of all inputs, followed by those of all outputs.
    struct Places {
      std::vector<uint32_t> first; ///< Index in `all` by tensor; then its size.
      std::vector<Place> all;
    };
    Places argumentPlaces, bufferPlaces;
    /// For each buffer, the tensor that contains it and the offset in it.
    std::vector<std::optional<Place>> bufferParts;
    /// Counters of all steps, contiguous. Steps reset them to zero, except when
    /// a call fails.
    Memory counters;
    bool countersClean = true;
    /// Declared after `counters`, so destroyed before them.
    std::unique_ptr<LaunchPlan> launches;

    /// Reads a slot as a size in [least, kLargestSize]; returns false if its
    /// value is outside.
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
  /// Computes the symbols' values from extents and integers.
  Status solveSymbols();
  Status chooseProgram();
  /// Checks every bound extent against its expression.
  Status checkInputExtents();
  /// Checks the manifest's conditions on the symbols.
  Status checkRequirements();
  /// The text ", n is 3 by dim 0 of input 'x'" for each symbol in `exprs`.
  std::string describeSymbols(const std::vector<Expr> &exprs) const;
  std::optional<int64_t> symbolValue(std::string_view name) const;
  /// Computes the extents and sizes of the outputs, and checks them.
  Status evaluateSizes();
  /// Checks sizes and offsets of the buffers; sizes arena and counters.
  Status evaluateBuffers();
  /// Evaluates and checks the launches, and passes them to the plan.
  Status evaluateSteps();
  /// The error of the first launch with an invalid size.
  Error launchError() const;
  Status checkLibrarySteps() const;
  /// Resolves the addresses of all tensors, and passes them to the plan.
  Status preparePointers();
  Status placeInputs();
  /// Selects each output's memory: bound, the context's own, or staging.
  Status placeOutputs();
  /// Checks that no written memory of the caller overlaps other tensors.
  Status checkOverlap() const;
  /// The error that names two overlapping tensors.
  Error overlapError() const;
  /// Lists the copies before and after the steps.
  Status planCopies();

  //===--- Moving (ContextMove.cpp) ---------------------------------------===//
  /// A fast path of `preparePointers` for calls in which only the addresses of
  /// some inputs and outputs (`moved`) changed.
  Status movePointers();
  /// Whether kernels can access the memory of every moved tensor directly.
  bool canMove();
  /// Whether a moved output shares memory with another tensor. Only for a few
  /// outputs and no moved inputs.
  bool movedOutputsOverlap();
  /// Finds where the tables hold the address of each tensor.
  void findPlaces();
  void aimCopies();

  Status placeWeight(uint32_t weight);
  /// The weights that the prepared values are computed from, by index.
  struct PreparedWeights {
    std::vector<const void *> places;
    bool areOfArtifact = true;
  };
  Result<PreparedWeights> findPreparedWeights();
  /// Ensures that the values prepared from weights are up to date.
  Status prepareWeights();
  /// Sorts and merges the address ranges of weights.
  void sortWeightRanges();
  std::string extentPlace(uint32_t input, uint32_t axis) const;
  /// Describes an entry of Plan::extents for messages; also "integer 'n'".
  std::string extentPlace(uint32_t extent) const;

  //===--- Running (ContextRun.cpp) ---------------------------------------===//
  /// Everything that a call does before its steps.
  Status getReady();
  /// Runs the steps of a call.
  Status call(StepListener *listener);
  /// Records in outputs and states how a call ended.
  Status end(Status status);
  /// The error of the first assertion that failed in the call.
  Status checkAssertions();
  Status checkCaptured();
  Status refreshPrepared();
  /// Waits for the stream's work, before operations that are not ordered with
  /// it.
  Status settle();
  /// Ensures the size of `memory`. If it must be reallocated, waits first for
  /// the calls that use it. The error: "out of memory: WHAT BYTES bytes".
  Status grow(Memory &memory, uint64_t bytes, const char *what,
              Device::Place place = Device::Place::Device);
  /// Whether a copy of the call crosses between host and device.
  bool crosses() const;
  /// Marks states as broken that a failed call may have changed; with
  /// `updated`, also those that are copied at the end of a call.
  void breakStates(bool updated);
  /// Writes initial values to the states that start with this call.
  Status startStates();
  /// Zeroes the counters after a failed call.
  Status clearCounters();
  Status copyInitialValue(uint32_t state);
  /// Fails if a state is broken and was not reset or rebound.
  Status checkStates();
  Error brokenState(uint32_t input) const;

  std::shared_ptr<const Artifact> artifact;
  /// Shared by all programs: tensors by index, and how symbols are solved.
  const Manifest &m;
  const Plan &plan;
  Device &device;
  /// The program for the current sizes.
  Program *program = nullptr;
  unsigned threads = 1;

  /// Whether kernels can use this memory in place.
  bool isDirect(const void *memory) const {
    return reinterpret_cast<uintptr_t>(memory) % kBufferAlignment == 0 &&
           device.reaches(memory);
  }

  /// Caches `isDirect` for the last few addresses of a tensor: asking the
  /// driver takes as long as binding, and callers alternate between few
  /// addresses.
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
    const void *data = nullptr; ///< Memory that the caller bound.
    bool bound = false;
    int64_t bytes = 0;
    const void *place = nullptr; ///< Memory that kernels read.
    Memory own;                  ///< For a state with an initial value.
    DirectMemory direct;
    Memory read;          ///< Host copy of `own`, for the caller to read.
    bool staged = false;  ///< `place` is in stagedInputs.
    bool start = false;   ///< Copy the initial value to `own`.
    bool updated = false; ///< An output is its new value.
    bool broken = false;  ///< A call that wrote to it failed.
  };
  struct Output {
    void *data = nullptr;
    bool bound = false;
    int64_t bytes = 0;
    bool staged = false;         ///< `place` is in stagedOutputs.
    uint64_t changed = 0;        ///< Value of `numCalls` when it was bound.
    Memory own;                  ///< Host memory, if unbound.
    const void *place = nullptr; ///< Memory that kernels write.
    DirectMemory direct;
  };
  struct Weight {
    /// Memory of the caller, or of the artifact.
    const void *data = nullptr;
    /// Memory that kernels read; null until it is needed.
    const void *place = nullptr;
    Memory staging;
  };

  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Weight> weights;
  /// Number of completed calls, and whether the last one computed its outputs.
  /// Outputs are not updated individually, since there may be hundreds.
  uint64_t numCalls = 0;
  bool lastIsDone = false;
  /// Whether the output holds the last call's value.
  bool isCurrent(const Output &output) const {
    return lastIsDone && output.changed < numCalls;
  }
  /// The values prepared from the weights; null if not computed yet. Shared by
  /// the artifact, or owned by this context (`preparedIsOwn`) if the caller
  /// bound a weight, whose contents may change.
  std::shared_ptr<const PreparedValues> prepared;
  /// The previous values, which a call in flight may still read.
  std::shared_ptr<const PreparedValues> retired;
  bool preparedIsOwn = false;
  /// Version of the weights that are bound; 0: unknown.
  uint64_t weightsVersion = 0;
  /// The weights are unchanged since this context last prepared values.
  bool weightsAreKnown = false;
  bool preparesFrom(uint32_t weight) const {
    return m.prepare && m.prepare->weights[weight].buffer;
  }
  /// Records that a weight was bound: its contents may differ.
  void noteWeight(uint32_t weight) {
    if (!preparesFrom(weight))
      return;
    if (prepared)
      retired = std::move(prepared);
    prepared = nullptr;
    pointersChanged = true;
  }
  /// Extents and integers as bound, in the order of Plan::extents; extents of
  /// outputs as bound and as evaluated.
  std::vector<int64_t> inputExtents, boundOutputExtents, outputExtents;

  /// For each integer, whether it is bound.
  std::vector<bool> integersBound;
  bool dimsChanged = true, pointersChanged = true;
  uint64_t numPlacings = 0;
  /// Inputs, then outputs (counted behind the inputs), of which only the
  /// address has changed.
  std::vector<uint32_t> moved;
  /// Records that a tensor moved; may be called twice for one.
  void noteMove(size_t tensor) {
    if (moved.size() < inputs.size() + outputs.size())
      moved.push_back(static_cast<uint32_t>(tensor));
    else
      pointersChanged = true;
  }
  bool statesToStart = false, weightsChanged = true;
  /// Whether any input may have `broken` set.
  bool statesBroken = false;
  /// The outputs that are assertions; whether the last error was a failed one.
  std::vector<uint32_t> assertions;
  bool assertionFailed = false;
  /// Whether calls are on a stream of the caller; whether one may be in flight.
  bool onCallersStream = false, inFlight = false;
  std::vector<int64_t> symbols;
  /// For each symbol, the input extent that it was solved from, for messages.
  std::vector<uint32_t> solvedBy;
  /// Shared by all programs.
  Memory arena, temporary;
  /// Allocates the arena in memory of the caller; may be null.
  std::function<void *(uint64_t)> allocateArena;
  uint8_t *callersArena = nullptr;
  uint64_t callersArenaBytes = 0;
  uint8_t *getArena() const {
    return callersArena ? callersArena : arena.data();
  }
  /// Staging memory of inputs and outputs that are not direct, contiguous.
  Memory stagedInputs, stagedOutputs;
  std::vector<Copy> copiesIn, copiesOut;
  /// For each of copiesOut, the buffers at its ends and the output it writes,
  /// as far as there are any.
  struct CopyEnds {
    std::optional<uint32_t> from, to, output;
  };
  std::vector<CopyEnds> copyEnds;
  /// Address ranges of caller memory, for the overlap check. Ranges of weights
  /// are merged and sorted.
  struct Extent {
    uintptr_t begin, end;
    bool written;
  };
  mutable std::vector<Extent> callerExtents;
  std::vector<Extent> weightExtents;
  /// Whether the context is part of a captured graph.
  bool isCaptured = false;
  bool haveOverlap(size_t numWritten) const;
  bool meetsWeight(const Extent &extent) const;
  /// Address ranges of inputs and states that the caller bound, sorted and
  /// merged; whether they are up to date.
  std::vector<Extent> boundInputExtents;
  bool boundInputsAreKnown = false;
  static void sortAndMerge(std::vector<Extent> &extents);
  static bool meets(const std::vector<Extent> &sorted, const Extent &extent);

  /// In the order of the artifact's programs; addresses are stable. Declared
  /// last, so destroyed first: the destructors wait for work that uses the
  /// memory above.
  std::vector<Program> programs;
};

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CONTEXTIMPL_H
