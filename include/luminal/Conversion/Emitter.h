//===- Emitter.h - A kernel's body, element by element --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns "the element of this value at this index" into scalar or vector code by
// walking the body of a kernel (KernelAnalysis is the same walk without code).
// Expressions stay symbolic until an address is needed, so that views cost what
// their composed map costs; an address that is linear in the vectorised dim
// becomes one scalar load, one vector load or a strided one. The code of each
// op is an interface of the op (Emission.td).
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

/// The type a kernel computes an element in: storage types are their bits.
mlir::Type getComputeType(mlir::Type element);
/// The type of an element in memory.
mlir::Type getStorageType(mlir::Type element);

class Emitter : public KernelAnalysis {
public:
  /// `b` stands in the function's entry block; `buffers` are the base addresses
  /// of operands, then results; `symbols` the values of symbols (i64).
  Emitter(mlir::ImplicitLocOpBuilder &b, llir::KernelOp kernel,
          SymbolRanges ranges, const MachineModel &machine,
          llvm::ArrayRef<mlir::Value> buffers,
          std::map<std::string, mlir::Value> symbols);

  /// The same of a kernel that a function has among others, whose memory others
  /// write before it: with the symbols and the status of `outer`.
  Emitter(Emitter &outer, llir::KernelOp kernel,
          llvm::ArrayRef<mlir::Value> buffers);
  /// Takes what the code of such a kernel needs of the function.
  void addNeeds(const Emitter &inner);

  mlir::ImplicitLocOpBuilder &b;
  /// What the kernel runs on.
  const MachineModel machine;
  /// The case of the kernel's schedule that is being emitted.
  llir::LoopCaseAttr loopCase;

  //===--------------------------------------------------------------------===//
  // Dims and symbols
  //===--------------------------------------------------------------------===//

  /// The value (i64) of a dim from here on.
  void setDim(unsigned dim, mlir::Value value);
  /// The same where each lane may have a value of its own (a vector of i64).
  void setDimByLane(unsigned dim, mlir::Value value);

  /// The value of an expression that is the same in all lanes, as an i64.
  mlir::Value value(const Expr &e);
  /// The value in each lane.
  mlir::Value laneValues(const Expr &e);
  /// Whether it may differ between lanes.
  bool usesLanes(const Expr &e);
  mlir::Value constant(int64_t v);

  //===--------------------------------------------------------------------===//
  // Lanes
  //===--------------------------------------------------------------------===//

  /// The dim whose consecutive values are the lanes of vectors. Its value is
  /// that of lane 0. With `count`, only the first `count` lanes (1 <= count)
  /// are there: others read and write nothing.
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
  /// `v` in every lane (as it is where lanes are off or it is a vector).
  mlir::Value spread(mlir::Value v);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// The element of `v`, a value of the kernel's body, at `index`. A scalar
  /// where it is the same in all lanes.
  mlir::Value emit(mlir::Value v, const Index &index);
  /// From here to the end of the memo scope, the element of `v` at `index` is
  /// `element`.
  void remember(mlir::Value v, const Index &index, mlir::Value element);
  bool isRemembered(mlir::Value v, const Index &index) const {
    return bool(lookUp(v, index));
  }
  /// The memory of the element of `v` at `index`, an operand or placed value or
  /// a view of one: where that value's begins, and the position there.
  std::pair<mlir::Value, Expr> findMemory(mlir::Value v, Index index) const;
  /// Where the memory of `v` begins once the analysis has placed it.
  void setBase(mlir::Value v, mlir::Value base) { bases[v] = base; }
  /// That memory has room for whole vectors, whose lanes that are not there may
  /// be written as well.
  bool keepsVectors = false;
  /// Writes an element of `v` to that memory.
  void keep(mlir::Value v, const Expr &place, mlir::Value element);
  /// Writes `element` to result `number` at `index`.
  void store(unsigned number, const Index &index, mlir::Value element);
  /// The same of several elements: vectors of neighbours that take turns in
  /// memory are joined to such as are written at once.
  void storeBeside(unsigned number, llvm::ArrayRef<Index> places,
                   mlir::ValueRange elements);
  /// Reads an element of argument `number` at a row-major position.
  mlir::Value load(unsigned number, const Expr &address);
  /// Where the kernel's operand that `v` moves, or takes elements of at places
  /// that others tell, has the element at `index`.
  mlir::Value getOperandAddress(mlir::Value v, Index index);
  /// The index in a gather's data of its element at `index`: reads the row.
  Index lookUpRow(llir::GatherOp gather, const Index &index);
  /// Where an operand begins, or a result, which come after them.
  mlir::Value getBuffer(unsigned number) const { return buffers[number]; }
  /// Writes and reads at a position of result `number`.
  void storeAt(unsigned number, const Expr &address, mlir::Value element);
  mlir::Value loadResult(unsigned number, const Expr &address);

  /// Lets the cache bring the line of memory of the element of `v` at `index`,
  /// where it is one that the kernel does not write.
  void prefetch(mlir::Value v, const Index &index);
  /// Lets the nearest cache of a CPU bring the line at `address`.
  void prefetchLine(mlir::Value address);

  /// Whether the element differs between lanes (true also where that cannot be
  /// told).
  bool variesOverLanes(mlir::Value v, const Index &index);

  /// `index` within [0, extent); where it is not, the kernel's status becomes 1
  /// and the index 0. `guarded`: the caller uses no index that was outside.
  mlir::Value emitRangeCheck(mlir::Value index, const Expr &extent,
                             bool guarded = false);
  /// The kernel's status becomes 1 where `outside` (i1) is true in a lane.
  void refuseWhere(mlir::Value outside);
  /// Status of the kernel so far, an i32.
  mlir::Value getStatus();
  /// Whether (i1) the kernel, given work, would take rows of a tensor that has
  /// none: it must not run then, and its status is 1. Nothing where that cannot
  /// be. To be called once all code is there, at the end of the entry.
  std::optional<mlir::Value> emitRefusal();
  /// Code made while one of these lives runs once for each index of a space of
  /// these extents: not at all if one of them is 0.
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
  /// The value of an expression that was written before, if any.
  mlir::Value findNumber(const Expr &e) const;

  struct ExprHash {
    size_t operator()(const Expr &e) const { return e.hash(); }
  };
  struct Memo {
    llvm::DenseMap<mlir::Value, llvm::SmallVector<Remembered, 1>> elements;
    /// What `value` has written: addresses of neighbours share most of it.
    std::unordered_map<Expr, mlir::Value, ExprHash> numbers;
  };

public:
  /// What is remembered inside ends with it. One for each region.
  class MemoScope {
  public:
    explicit MemoScope(Emitter &e) : e(e) { e.memo.emplace_back(); }
    ~MemoScope() { e.memo.pop_back(); }

  private:
    Emitter &e;
  };

  /// The same, and nothing that was remembered outside is known inside.
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
  /// a loop of whole vectors, then the rest under a mask.
  void laneLoop(unsigned dim, mlir::Value lo, mlir::Value hi, unsigned width,
                llvm::function_ref<void()> body);

  /// The indices of a loop, [lo, lo + length).
  struct Span {
    mlir::Value lo, length;
    /// `length` is a multiple of all that these are multiples of, and so is
    /// `lo`.
    llvm::SmallVector<Expr, 2> multiples;
  };
  /// [0, extent)
  Span getWhole(const Expr &extent);
  /// Whether a span is proved to be a multiple of `step` long.
  bool isWhole(const Span &span, int64_t step) const;

  /// Threads of a GPU that take a unit of work together; one elsewhere. All of
  /// them emit the same code.
  struct Team {
    unsigned count = 1;
    /// The number of this thread in its team; threads of a warp, and those of
    /// the team as a mask of them (i32).
    mlir::Value member;
    unsigned warp = 1;
    mlir::Value mask;
    /// The number of the team in its block.
    mlir::Value number = {};
  };
  Team team;
  /// Runs `body` for every index of `dim` in `span`, members of the team in
  /// turn, `width` lanes at a time, `unroll` times in a row; values carried are
  /// each member's own. With `load`, that runs for each of the times in a row,
  /// with a dim of its own, before the first of them: so all that they read is
  /// on its way.
  llvm::SmallVector<mlir::Value> teamLoop(
      unsigned dim, const Span &span, unsigned width, unsigned unroll,
      mlir::ValueRange init,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
      llvm::function_ref<void(unsigned dim)> load = nullptr);
  /// Calls `compute` in each of `parts` equal parts of the team, which is a
  /// block: with the number of the part, and it as the team. The values that it
  /// returns of all parts, in order, are known in each member then.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> computeInParts(
      int64_t parts,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> compute);
  /// Memory of `count` elements that all threads of a block share: of
  /// `sharedMemory`, where that is given, else a variable of its own.
  mlir::Value makeShared(mlir::Type element, int64_t count);
  mlir::Value sharedMemory;
  /// Bytes of it that are taken.
  int64_t sharedTaken = 0;
  /// Bytes that a kernel of one op asks for when it is launched.
  int64_t launchShared = 0;
  /// The beginning of the shared memory that a block asks for when it is
  /// launched (SharedMemory.h); once a function.
  mlir::Value makeLaunchShared();
  /// So many blocks of threads are to find room on a multiprocessor of a GPU.
  void setResidents(int64_t blocks);
  /// The state of all members of the team, in each of them.
  llvm::SmallVector<mlir::Value>
  mergeTeam(ReductionEmissionOpInterface op,
            llvm::SmallVector<mlir::Value> state);
  /// The same of several states, one for each of `ops`, which meet together.
  void mergeTeam(llvm::ArrayRef<ReductionEmissionOpInterface> ops,
                 llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> states);
  /// `v` of the thread of the warp whose number differs in the bits of
  /// `distance`, for all of the warp.
  mlir::Value getOfNeighbour(mlir::Value v, unsigned distance);
  /// What members before a member have together, and what all have.
  struct TeamScan {
    llvm::SmallVector<mlir::Value> before, all;
  };
  /// A state that has what both have, of which the first comes before.
  using MergeFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      llvm::ArrayRef<mlir::Value>, llvm::ArrayRef<mlir::Value>)>;
  /// The states of members in their order, merged in one order; `identity` has
  /// nothing. A team has whole warps, or one member.
  TeamScan scanTeam(llvm::SmallVector<mlir::Value> state,
                    llvm::ArrayRef<mlir::Value> identity, MergeFn merge);
  /// `flag` (i1) of the first member, in each of them; what it wrote before and
  /// has seen of others is there for all.
  mlir::Value shareFlag(mlir::Value flag);
  /// How many members of a warp have `flag` (i1), from its first member on to
  /// the first that has not; of a team of one thread, 0 or 1.
  mlir::Value countLeading(mlir::Value flag, const Team &team);
  /// Runs `body` in one member of the team.
  void byOneMember(llvm::function_ref<void()> body);
  /// A select between operands in memory reads only the one that it takes,
  /// where a condition for all lanes tells which: its address is chosen.
  bool choosesAddresses = false;
  /// Bytes of which every buffer is known to begin at a multiple.
  unsigned bufferAlignment = 1;
  /// Whether nothing writes the operands while the function runs.
  bool haveConstantOperands = true;
  /// Memory in this module that belongs to the function.
  llvm::SmallVector<mlir::Operation *> globals;

  /// Rounds of a loop whose terms a sum takes one after the other. The sums of
  /// more of them are added up: n rounds are rounded at most 256 + n / 256
  /// times, not n times (Higham, "The accuracy of floating point summation",
  /// 1993).
  static constexpr int64_t kSumRounds = 256;
  using MergeStates = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange, mlir::ValueRange)>;
  /// A loop over [lo, hi) in steps of `step` that carries states of `size`
  /// values each, from states that have taken nothing on. With `merge`, which
  /// merges two of them, it is one over kSumRounds steps at a time, whose
  /// states are merged.
  llvm::SmallVector<mlir::Value>
  stateLoop(mlir::Value lo, mlir::Value hi, int64_t step, mlir::ValueRange init,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                              mlir::ValueRange)>
                body,
            MergeStates merge, size_t size);

  /// The results of a reduction at `index`, in a loop at this point, as `form`
  /// says. `varies`: they differ between the lanes around it, so that its own
  /// stay off. `before` runs before the terms at each index.
  llvm::SmallVector<mlir::Value>
  emitReduction(llir::ReductionOpInterface op, const Index &index, bool varies,
                llir::LoopFormAttr form,
                llvm::function_ref<void(const Index &)> before = nullptr);

  /// The same before the results are made of it: the state of the elements in
  /// `span` of the reduced dim, in each member of the team.
  llvm::SmallVector<mlir::Value>
  emitState(llir::ReductionOpInterface op, const Index &index, bool varies,
            llir::LoopFormAttr form, const Span &span,
            llvm::function_ref<void(const Index &)> before = nullptr);

  /// The states of several reductions of one extent, in one loop: what their
  /// terms read of the same is read once. None needs the result of another.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  emitStates(llvm::ArrayRef<llir::ReductionOpInterface> ops, const Index &index,
             bool varies, llir::LoopFormAttr form, const Span &span,
             llvm::function_ref<void(const Index &)> before = nullptr);

  /// A reduction and the index of its results.
  struct ReductionAt {
    llir::ReductionOpInterface op;
    Index index;
  };
  /// The same of reductions that may be at different indices.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  emitStates(llvm::ArrayRef<ReductionAt> reductions, bool varies,
             llir::LoopFormAttr form, const Span &span,
             llvm::function_ref<void(const Index &)> before = nullptr);

  /// The memory of parts of reductions (llir::Workspace), and the scope in
  /// which those that share it synchronise, as LLVM names it. Null where no
  /// case has parts.
  mlir::Value states, counters;
  llvm::StringRef syncScope;

  /// Integer arithmetic on i64.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value divU(mlir::Value x, mlir::Value y);
  mlir::Value remU(mlir::Value x, mlir::Value y);
  /// The same where both are below 2^32, by the arithmetic of i32, which is
  /// faster on all targets.
  mlir::Value divNarrow(mlir::Value x, mlir::Value y);
  mlir::Value remNarrow(mlir::Value x, mlir::Value y);
  /// Whether `e`, which is not negative, is proved to be below 2^32.
  bool isNarrow(const Expr &e) const;
  mlir::Value minS(mlir::Value x, mlir::Value y);
  mlir::Value maxS(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);

  /// Address of element `index` (i64) of elements of `type` after `base`.
  mlir::Value address(mlir::Value base, mlir::Value index, mlir::Type type);

  /// Between an element as memory holds it and as it is computed with.
  mlir::Value fromStorage(mlir::Value v, mlir::Type element);
  mlir::Value toStorage(mlir::Value v, mlir::Type element);

  /// What must hold of the symbols for the arithmetic of indices to stay in 64
  /// bits.
  llvm::SmallVector<Requirement> requirements;

  /// Reports an error at `op`, once.
  void fail(mlir::Operation *op, const llvm::Twine &what);
  /// The same, and a stand-in that keeps the function well formed.
  mlir::Value failValue(mlir::Operation *op, const llvm::Twine &what,
                        mlir::Type element);
  /// True once an error was reported: the function must be thrown away.
  bool failed = false;

  /// Vector (or scalar) of `element` in the lanes that are set.
  mlir::Type laneType(mlir::Type element) const;

  /// Reads and writes an element of memory that begins at `base`. `invariant`:
  /// no one writes it while the kernel runs.
  mlir::Value loadFrom(mlir::Value base, mlir::Type element,
                       const Expr &address, bool invariant);
  /// `nontemporal`: whole vectors are written past the caches, where they are
  /// proved to be aligned.
  void storeTo(mlir::Value base, mlir::Type element, const Expr &address,
               mlir::Value v, bool nontemporal = false);

private:
  mlir::Value loadKept(mlir::Value v, const Index &index);
  unsigned alignmentOfVector(mlir::Value index, mlir::Type storage,
                             unsigned ofBuffer);
  unsigned alignmentOfVector(mlir::Value index, mlir::Type storage) {
    return alignmentOfVector(index, storage, bufferAlignment);
  }
  /// The element of a select whose address is chosen; null where it is not.
  mlir::Value emitChosen(mlir::Value v, const Index &index);
  /// Whether it can be: an element of memory, or of one of several operands.
  /// `isVector`: whether lanes read neighbours, in all of them or in none.
  bool isChosen(mlir::Value v, Index index, std::optional<bool> &isVector);
  mlir::Value chooseAddress(mlir::Value v, Index index, unsigned &alignment);

  struct Dim {
    mlir::Value value;
    /// Set where the lanes differ in another way than lane + i.
    mlir::Value lanes;
  };
  /// The element that is remembered, or null.
  mlir::Value lookUp(mlir::Value v, const Index &index) const;
  /// Emits and remembers what defines `v`; what a pointwise or free op reads is
  /// remembered, and in `operands`.
  void emitNew(mlir::Value v, const Index &index, mlir::ValueRange operands);
  /// The analysis adds dims, which have no values yet.
  Dim &getDim(unsigned dim) {
    if (dims.size() <= dim)
      dims.resize(getExtents().size());
    return dims[dim];
  }
  /// Fails where the code of `e` may overflow or divide by zero.
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
  /// Lane l's index, or that of the last lane there is.
  mlir::Value clampLane(unsigned l);

  std::vector<Dim> dims;
  std::map<std::string, mlir::Value> symbols;
  llvm::SmallVector<mlir::Value> buffers;
  mlir::Value status;
  /// Extents of the loops around the point of emission, and where they are not
  /// 0, extents that must not be 0 either.
  std::vector<Expr> repeats;
  llvm::SmallVector<std::pair<Expr, Expr>> demands;
  Lane lane;
  std::vector<Memo> memo;
  llvm::DenseMap<mlir::Value, mlir::Value> bases;
  /// Calls of `emit` inside of each other.
  unsigned nesting = 0;
  /// Expressions that checkArithmetic has seen, and how often their code runs.
  std::set<std::pair<Expr, Expr>> checkedExprs;
};

} // namespace luminal

#endif // LUMINAL_CONVERSION_EMITTER_H
