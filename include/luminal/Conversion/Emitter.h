//===- Emitter.h - Code for the elements of a kernel's values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits scalar or vector code for one element of a value of a kernel's body at
// a given index, by recursing through the ops that define it. KernelAnalysis
// makes the same traversal without emitting code. Index expressions stay
// symbolic until an address is needed, so a chain of views costs no more than
// its composed map. An address that is linear in the vectorised dim becomes a
// scalar load, a contiguous vector load or a strided one. The code of each op
// is an interface of the op (Emission.td).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_EMITTER_H
#define LUMINAL_CONVERSION_EMITTER_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"
#include "luminal/Support/MachineModel.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <unordered_map>

namespace luminal {
class Emitter;
} // namespace luminal

#include "luminal/Conversion/Emission.h.inc"

namespace luminal {

/// The type in which a kernel computes an element of type `element`. Storage
/// types are computed with as the signless integer of their bits.
mlir::Type getComputeType(mlir::Type element);
/// The type of an element in memory.
mlir::Type getStorageType(mlir::Type element);

class Emitter : public KernelAnalysis {
public:
  /// `b` must be in the entry block of the function. `buffers` are the base
  /// addresses of the operands, then of the results. `symbols` maps each symbol
  /// to its value (i64).
  Emitter(mlir::ImplicitLocOpBuilder &b, llir::KernelOp kernel,
          SymbolRanges ranges, const MachineModel &machine,
          llvm::ArrayRef<mlir::Value> buffers,
          std::map<std::string, mlir::Value> symbols);

  /// An emitter for one kernel of a sequence, inside the function of `outer`.
  /// It shares the symbols and the status of `outer`. Earlier kernels of the
  /// function may have written the memory that this kernel reads.
  Emitter(Emitter &outer, llir::KernelOp kernel,
          llvm::ArrayRef<mlir::Value> buffers);
  /// Takes over what the code of `inner` requires: its globals and requirements
  /// on symbols, and whether it failed.
  void addNeeds(const Emitter &inner);

  mlir::ImplicitLocOpBuilder &b;
  /// The machine that the kernel is compiled for.
  const MachineModel machine;
  /// The case of the kernel's schedule that is being emitted.
  llir::LoopCaseAttr loopCase;

  //===--------------------------------------------------------------------===//
  // Dims and symbols
  //===--------------------------------------------------------------------===//

  /// From here on, dim `dim` has this value (i64).
  void setDim(unsigned dim, mlir::Value value);
  /// The same where lanes may have different values (a vector of i64).
  void setDimByLane(unsigned dim, mlir::Value value);

  /// The value (i64) of an expression that is the same in all lanes.
  mlir::Value value(const Expr &e);
  /// The value of an expression in each lane (a vector of i64).
  mlir::Value laneValues(const Expr &e);
  /// Whether the value of `e` may differ between lanes.
  bool usesLanes(const Expr &e);
  mlir::Value constant(int64_t v);

  //===--------------------------------------------------------------------===//
  // Lanes
  //===--------------------------------------------------------------------===//

  /// The dim whose consecutive values are the lanes of vectors; the value of
  /// the dim is that of lane 0. If `count` is set, only the first `count` lanes
  /// are active (1 <= count): the others read and write nothing.
  struct Lane {
    unsigned dim = 0;
    unsigned width = 1;
    mlir::Value count;
    mlir::Value mask;
  };
  void setLane(unsigned dim, unsigned width, mlir::Value count = {});
  void clearLane() { lane = Lane(); }
  const Lane &getLane() const { return lane; }
  bool isVector() const { return lane.width > 1; }
  /// `v` broadcast to all lanes; `v` itself if it is a vector or lanes are off.
  mlir::Value spread(mlir::Value v);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// The element at `index` of `v`, a value of the kernel's body. The result is
  /// a scalar if it is the same in all lanes.
  mlir::Value emit(mlir::Value v, const Index &index);
  /// Until the end of the current memo scope, `element` is used as the element
  /// of `v` at `index`.
  void remember(mlir::Value v, const Index &index, mlir::Value element);
  bool isRemembered(mlir::Value v, const Index &index) const {
    return bool(lookUp(v, index));
  }
  /// The base address of the memory that holds `v`, and the position in it of
  /// the element at `index`. `v` is an operand, a value that the analysis
  /// placed in memory, or a view of one of these.
  std::pair<mlir::Value, Expr> findMemory(mlir::Value v, Index index) const;
  /// Sets the base address of `v`, a value that the analysis placed in memory.
  void setBase(mlir::Value v, mlir::Value base) { bases[v] = base; }
  /// Whether that memory is padded to whole vectors, so that inactive lanes may
  /// be written too.
  bool keepsVectors = false;
  /// Writes an element of `v` to the memory of `v` at `place`.
  void keep(mlir::Value v, const Expr &place, mlir::Value element);
  /// Writes `element` to result `number` at `index`.
  void store(unsigned number, const Index &index, mlir::Value element);
  /// Stores several elements. Vectors that interleave in memory are shuffled so
  /// that each store is contiguous.
  void storeBeside(unsigned number, llvm::ArrayRef<Index> places,
                   mlir::ValueRange elements);
  /// Loads the element of argument `number` at a row-major position.
  mlir::Value load(unsigned number, const Expr &address);
  /// The address of the element that `v` has at `index`. `v` moves elements of
  /// a kernel operand, or gathers them at indices read from another.
  mlir::Value getOperandAddress(mlir::Value v, Index index);
  /// The index into the data of `gather` for its element at `index`; loads the
  /// row number.
  Index lookUpRow(llir::GatherOp gather, const Index &index);
  /// Base address of argument `number`. Operands come first, then results.
  mlir::Value getBuffer(unsigned number) const { return buffers[number]; }
  /// Store and load an element of result `number` at a position.
  void storeAt(unsigned number, const Expr &address, mlir::Value element);
  mlir::Value loadResult(unsigned number, const Expr &address);

  /// Prefetches the cache line of the element of `v` at `index`, if that is
  /// memory which the kernel does not write.
  void prefetch(mlir::Value v, const Index &index);
  /// Prefetches the line at `address` into the L1 cache of a CPU.
  void prefetchLine(mlir::Value address);

  /// Whether the element may differ between lanes; true if that is unknown.
  bool variesOverLanes(mlir::Value v, const Index &index);

  /// Returns `index` if it is within [0, extent); otherwise returns 0 and sets
  /// the kernel's status to 1. `guarded`: the caller does not use an index that
  /// was out of range.
  mlir::Value emitRangeCheck(mlir::Value index, const Expr &extent,
                             bool guarded = false);
  /// Sets the kernel's status to 1 if `outside` (i1) is true in any lane.
  void refuseWhere(mlir::Value outside);
  /// The status of the kernel so far, an i32.
  mlir::Value getStatus();
  /// The condition (i1) under which the kernel must not run and returns status
  /// 1: it has work, but a tensor whose rows it takes has none. std::nullopt if
  /// that cannot happen. Call it at the end of the entry, after all code is
  /// emitted.
  std::optional<mlir::Value> emitRefusal();
  /// While an object of this class lives, emitted code is inside a loop over
  /// `extents`: it does not run if one of them is 0.
  class Repeated {
  public:
    Repeated(Emitter &e, std::vector<Expr> extents) : e(e) {
      e.repeats.push_back(product(extents));
    }
    ~Repeated() { e.repeats.pop_back(); }

  private:
    Emitter &e;
  };

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

private:
  struct Remembered {
    Index index;
    mlir::Value element;
  };
  /// The value of `e` if code for it was emitted in this scope, else null.
  mlir::Value findNumber(const Expr &e) const;

  struct ExprHash {
    size_t operator()(const Expr &e) const { return e.hash(); }
  };
  struct Memo {
    llvm::DenseMap<mlir::Value, llvm::SmallVector<Remembered, 1>> elements;
    /// Values emitted for index expressions; addresses of neighbouring elements
    /// share most of their terms.
    std::unordered_map<Expr, mlir::Value, ExprHash> numbers;
  };

public:
  /// What is remembered inside this scope is forgotten at its end. Each region
  /// needs one.
  class MemoScope {
  public:
    explicit MemoScope(Emitter &e) : e(e) { e.memo.emplace_back(); }
    ~MemoScope() { e.memo.pop_back(); }

  private:
    Emitter &e;
  };

  /// A MemoScope in which nothing from outside is known.
  class FreshScope {
  public:
    explicit FreshScope(Emitter &e) : e(e), outer(std::move(e.memo)) {
      e.memo.clear();
      e.memo.emplace_back();
    }
    ~FreshScope() { e.memo = std::move(outer); }

  private:
    Emitter &e;
    std::vector<Memo> outer;
  };

  /// for (iv = lo; iv < hi; iv += step), values carried.
  llvm::SmallVector<mlir::Value>
  forLoop(mlir::Value lo, mlir::Value hi, mlir::Value step,
          mlir::ValueRange init,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                            mlir::ValueRange)>
              body);
  void forLoop(mlir::Value lo, mlir::Value hi, mlir::Value step,
               llvm::function_ref<void(mlir::Value)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  llvm::SmallVector<mlir::Value>
  ifElse(mlir::Value condition, mlir::TypeRange types,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise);

  /// Runs `body` for every index of `dim` in [lo, hi), `width` lanes at a time:
  /// a loop over whole vectors, then the remainder under a mask.
  void laneLoop(unsigned dim, mlir::Value lo, mlir::Value hi, unsigned width,
                llvm::function_ref<void()> body);

  /// The index range [lo, lo + length) of a loop.
  struct Span {
    mlir::Value lo, length;
    /// Every number that divides all of these divides `lo` and `length`. Empty:
    /// nothing is known.
    llvm::SmallVector<Expr, 2> multiples;
  };
  /// [0, extent)
  Span getWhole(const Expr &extent);
  /// Whether the length of `span` is provably a multiple of `step`.
  bool isWhole(const Span &span, int64_t step) const;

  /// The GPU threads that compute a work item together; one thread on a CPU.
  /// All of them run the same code.
  struct Team {
    unsigned count = 1;
    /// `member`: number of this thread in the group. `warp`: threads of a warp.
    /// `mask`: the group's threads as a mask of their warp (i32).
    mlir::Value member;
    unsigned warp = 1;
    mlir::Value mask;
    /// The number of the group in its block.
    mlir::Value number = {};
  };
  Team team;
  /// Runs `body` for every index of `dim` in `span`, `width` lanes at a time.
  /// The threads of the group take vectors round-robin, and the loop is
  /// unrolled `unroll` times. Carried values are private to each thread. If
  /// `load` is given, it is called for each unrolled iteration, with a dim of
  /// its own, before the first `body`, so that all their loads are in flight
  /// together.
  llvm::SmallVector<mlir::Value> teamLoop(
      unsigned dim, const Span &span, unsigned width, unsigned unroll,
      mlir::ValueRange init,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
      llvm::function_ref<void(unsigned dim)> load = nullptr);
  /// Splits the group, which must be a whole block, into `parts` groups of
  /// equal size. Each calls `compute` with its number while `team` describes
  /// it. Afterwards every thread of the block has the values of all groups, in
  /// their order.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> computeInParts(
      int64_t parts,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> compute);
  /// Shared memory for `count` elements: a part of `sharedMemory` if that is
  /// set, else a global variable.
  mlir::Value makeShared(mlir::Type element, int64_t count);
  mlir::Value sharedMemory;
  /// Bytes of `sharedMemory` that are in use.
  int64_t sharedTaken = 0;
  /// Bytes of dynamic shared memory that a kernel of one op requests at launch.
  int64_t launchShared = 0;
  /// The base of the dynamic shared memory of the block (SharedMemory.h). Call
  /// it at most once per function.
  mlir::Value makeLaunchShared();
  /// Limits the registers of a thread so that this many blocks fit on a
  /// multiprocessor.
  void setResidents(int64_t blocks);
  /// Merges the states of all threads of the group; every thread gets the
  /// result.
  llvm::SmallVector<mlir::Value>
  mergeTeam(ReductionEmissionOpInterface op,
            llvm::SmallVector<mlir::Value> state);
  /// The same for several states, one for each of `ops`, in one exchange.
  void mergeTeam(llvm::ArrayRef<ReductionEmissionOpInterface> ops,
                 llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> states);
  /// `v` of the thread whose number in the warp is this thread's XOR
  /// `distance`. All threads of the warp must call it.
  mlir::Value getOfNeighbour(mlir::Value v, unsigned distance);
  /// The merged states of the threads before this one, and of all threads.
  struct TeamScan {
    llvm::SmallVector<mlir::Value> before, all;
  };
  /// Merges two states, of which the first comes earlier in order.
  using MergeFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      llvm::ArrayRef<mlir::Value>, llvm::ArrayRef<mlir::Value>)>;
  /// Scans the states of the threads in their order, with a fixed association;
  /// `identity` is the neutral state. The group must be whole warps or one
  /// thread.
  TeamScan scanTeam(llvm::SmallVector<mlir::Value> state,
                    llvm::ArrayRef<mlir::Value> identity, MergeFn merge);
  /// `flag` (i1) of the group's first thread, in every thread. What that thread
  /// wrote or observed before is visible to all afterwards.
  mlir::Value shareFlag(mlir::Value flag);
  /// The number of leading threads of a warp whose `flag` (i1) is set; 0 or 1
  /// for a group of one thread.
  mlir::Value countLeading(mlir::Value flag, const Team &team);
  /// Runs `body` in one thread of the group.
  void byOneMember(llvm::function_ref<void()> body);
  /// Whether a select between operands in memory, whose condition is the same
  /// in all lanes, selects the address and loads one operand, instead of
  /// loading both.
  bool choosesAddresses = false;
  /// Alignment, in bytes, that every buffer is known to have.
  unsigned bufferAlignment = 1;
  /// Whether no one writes the operands while the function runs.
  bool haveConstantOperands = true;
  /// Global variables of the module that belong to the function.
  llvm::SmallVector<mlir::Operation *> globals;

  /// The most terms that a sum accumulates one after the other. Longer loops
  /// add up the sums of blocks of this many, so that n terms are rounded at
  /// most 256 + n / 256 times, not n times (Higham, "The accuracy of floating
  /// point summation", 1993).
  static constexpr int64_t kSumRounds = 256;
  using MergeStates = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange, mlir::ValueRange)>;
  /// A loop over [lo, hi) in steps of `step` that carries states of `size`
  /// values each and starts from neutral states, `init`. With `merge`, which
  /// merges two states, each block of kSumRounds steps starts from neutral
  /// states, and the blocks' states are merged.
  llvm::SmallVector<mlir::Value>
  stateLoop(mlir::Value lo, mlir::Value hi, int64_t step, mlir::ValueRange init,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                              mlir::ValueRange)>
                body,
            MergeStates merge, size_t size);

  /// Emits a reduction at `index` as a loop at the insertion point, as `form`
  /// says, and returns its results. `varies`: the results differ between the
  /// lanes of the surrounding loop, so the reduction is not vectorised itself.
  /// `before` runs ahead of the terms at each index.
  llvm::SmallVector<mlir::Value>
  emitReduction(llir::ReductionOpInterface op, const Index &index, bool varies,
                llir::LoopFormAttr form,
                llvm::function_ref<void(const Index &)> before = nullptr);

  /// The same without the step from state to results: each thread of the group
  /// gets the state that has taken the elements in `span` of the reduced dim.
  llvm::SmallVector<mlir::Value>
  emitState(llir::ReductionOpInterface op, const Index &index, bool varies,
            llir::LoopFormAttr form, const Span &span,
            llvm::function_ref<void(const Index &)> before = nullptr);

  /// The states of several reductions of the same extent, in one loop, so that
  /// a term that several of them read is loaded once. No reduction may read the
  /// result of another.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  emitStates(llvm::ArrayRef<llir::ReductionOpInterface> ops, const Index &index,
             bool varies, llir::LoopFormAttr form, const Span &span,
             llvm::function_ref<void(const Index &)> before = nullptr);

  /// A reduction and the index of its results.
  struct ReductionAt {
    llir::ReductionOpInterface op;
    Index index;
  };
  /// The same for reductions at different indices.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  emitStates(llvm::ArrayRef<ReductionAt> reductions, bool varies,
             llir::LoopFormAttr form, const Span &span,
             llvm::function_ref<void(const Index &)> before = nullptr);

  /// The memory of reductions that are split between work items
  /// (llir::Workspace), and the LLVM synchronisation scope of the threads that
  /// share it. Null if no case is split.
  mlir::Value states, counters;
  llvm::StringRef syncScope;

  /// Integer arithmetic on i64.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value divU(mlir::Value x, mlir::Value y);
  mlir::Value remU(mlir::Value x, mlir::Value y);
  /// The same in i32 arithmetic, which is faster on all targets; both operands
  /// must be below 2^32.
  mlir::Value divNarrow(mlir::Value x, mlir::Value y);
  mlir::Value remNarrow(mlir::Value x, mlir::Value y);
  /// Whether `e`, which must not be negative, is provably below 2^32.
  bool isNarrow(const Expr &e) const;
  mlir::Value minS(mlir::Value x, mlir::Value y);
  mlir::Value maxS(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);

  /// Address of element `index` (i64) of elements of `type` after `base`.
  mlir::Value address(mlir::Value base, mlir::Value index, mlir::Type type);

  /// Convert an element between its storage type and its compute type.
  mlir::Value fromStorage(mlir::Value v, mlir::Type element);
  mlir::Value toStorage(mlir::Value v, mlir::Type element);

  /// Conditions on the symbols under which index arithmetic stays within 64
  /// bits.
  llvm::SmallVector<Requirement> requirements;

  /// Reports an error at `op`, once.
  void fail(mlir::Operation *op, const llvm::Twine &what);
  /// The same, and returns a value that keeps the function well formed.
  mlir::Value failValue(mlir::Operation *op, const llvm::Twine &what,
                        mlir::Type element);
  /// True once an error was reported: the function must be discarded.
  bool failed = false;

  /// The type of `element` in the current lanes: a vector, or a scalar if lanes
  /// are off.
  mlir::Type laneType(mlir::Type element) const;

  /// Load and store an element of the memory at `base`. `invariant`: no one
  /// writes that memory while the kernel runs.
  mlir::Value loadFrom(mlir::Value base, mlir::Type element,
                       const Expr &address, bool invariant);
  /// `nontemporal`: whole vectors are written with non-temporal stores if they
  /// are provably aligned.
  void storeTo(mlir::Value base, mlir::Type element, const Expr &address,
               mlir::Value v, bool nontemporal = false);

private:
  mlir::Value loadKept(mlir::Value v, const Index &index);
  unsigned alignmentOfVector(mlir::Value index, mlir::Type storage,
                             unsigned ofBuffer);
  unsigned alignmentOfVector(mlir::Value index, mlir::Type storage) {
    return alignmentOfVector(index, storage, bufferAlignment);
  }
  /// The element of a select whose address is selected (choosesAddresses); null
  /// if that does not apply.
  mlir::Value emitChosen(mlir::Value v, const Index &index);
  /// Whether it applies to `v`: an element of memory, or of one of several
  /// operands. `isVector` is set to whether lanes read neighbours, on which all
  /// operands must agree.
  bool isChosen(mlir::Value v, Index index, std::optional<bool> &isVector);
  mlir::Value chooseAddress(mlir::Value v, Index index, unsigned &alignment);
  /// The element of such a select by branches, on a CPU, if the lanes of an
  /// operand are loaded one by one; null if that does not apply.
  mlir::Value emitBranches(mlir::Value v, const Index &index);
  /// Whether `v` is an element of memory, or one of several that conditions
  /// select which are the same in all lanes. `isApart` is set if the lanes of
  /// one are neither the same element nor neighbours.
  bool isLoaded(mlir::Value v, Index index, bool &isApart);

  struct Dim {
    mlir::Value value;
    /// Set if the value in lane i is not the value of lane 0 plus i.
    mlir::Value lanes;
  };
  /// The remembered element, or null.
  mlir::Value lookUp(mlir::Value v, const Index &index) const;
  /// Emits and remembers the results of the op that defines `v`. `operands` are
  /// the elements that a pointwise or free op reads, which were remembered
  /// before.
  void emitNew(mlir::Value v, const Index &index, mlir::ValueRange operands);
  /// Grows the table first: the analysis may have added dims.
  Dim &getDim(unsigned dim) {
    if (dims.size() <= dim)
      dims.resize(getExtents().size());
    return dims[dim];
  }
  /// Fails if the code of `e` may overflow or divide by zero.
  void checkArithmetic(const Expr &e);

  bool isLaneDim(unsigned dim);
  mlir::Value loadScalar(mlir::Value base, mlir::Value index,
                         mlir::Type storage, bool invariant);
  mlir::Value loadApart(mlir::Value base, mlir::Type storage, mlir::Value start,
                        int64_t stride, bool invariant);
  void storeVector(mlir::Value base, mlir::Type storage, mlir::Value start,
                   mlir::Value v, bool nontemporal);
  mlir::Value loadClamped(mlir::Value base, mlir::Type storage, const Expr &e,
                          bool invariant);
  mlir::Value laneIndices();
  /// The index of lane `l`, clamped to the last active lane.
  mlir::Value clampLane(unsigned l);

  std::vector<Dim> dims;
  std::map<std::string, mlir::Value> symbols;
  llvm::SmallVector<mlir::Value> buffers;
  mlir::Value status;
  /// Trip counts of the loops around the insertion point; and pairs of a trip
  /// count and the extent of a tensor that must not be 0 unless that trip count
  /// is.
  std::vector<Expr> repeats;
  llvm::SmallVector<std::pair<Expr, Expr>> demands;
  Lane lane;
  std::vector<Memo> memo;
  llvm::DenseMap<mlir::Value, mlir::Value> bases;
  /// Depth of recursion of `emit`.
  unsigned nesting = 0;
  /// Expressions that checkArithmetic has checked, each with the trip count
  /// there.
  std::set<std::pair<Expr, Expr>> checkedExprs;
};

} // namespace luminal

#endif // LUMINAL_CONVERSION_EMITTER_H
