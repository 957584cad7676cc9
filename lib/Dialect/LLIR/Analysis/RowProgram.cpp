//===- RowProgram.cpp - Kernels that compute rows step by step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/RowProgram.h"
#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "luminal/Support/MachineModel.h"
#include "llvm/ADT/SetVector.h"

using namespace luminal;
using namespace mlir;

/// The code size from which a value that several ops read is worth keeping.
static constexpr int64_t kWorthKeeping = 8;

/// The most pieces of a dim; with more, selects stay in the code.
static constexpr size_t kMostPieces = 64;

/// The most values of a kernel times ways of reading them that are analysed:
/// each may have another index.
static constexpr size_t kMostReads = 1024;

/// Returns whether values are read in few ways. Each level of a scan by
/// doubling reads the previous level through two maps, so the number of ways
/// doubles.
static bool hasFewReads(llir::KernelOp kernel) {
  // A way is a list of views: a shorter way plus one op.
  llvm::DenseMap<std::pair<unsigned, Operation *>, unsigned> ways;
  auto extend = [&](unsigned way, Operation *op) {
    return ways.try_emplace({way, op}, ways.size() + 1).first->second;
  };
  llvm::SetVector<std::pair<Value, unsigned>> seen;
  auto addOperands = [&](Operation &op, unsigned way) {
    for (Value operand : op.getOperands())
      seen.insert({operand, way});
  };
  for (Operation &op : kernel.getBody().front())
    if (op.hasTrait<OpTrait::IsTerminator>() || llir::hasLoops(&op))
      addOperands(op, extend(0, &op));
  for (size_t i = 0; i < seen.size(); ++i) {
    if (i == kMostReads)
      return false;
    auto [v, way] = seen[i];
    Operation *op = v.getDefiningOp();
    if (!op || llir::hasLoops(op))
      continue;
    bool moves = isa<llir::ViewOp, llir::LookupOpInterface>(op);
    addOperands(*op, moves ? extend(way, op) : way);
  }
  return true;
}

/// Returns the value behind the views through which an op reads `v`.
static Value skipViews(Value v) {
  while (auto view = v.getDefiningOp<llir::ViewOp>())
    v = view.getOperand();
  return v;
}

SmallVector<Operation *> RowProgram::findWished(llir::KernelOp kernel) {
  llvm::SetVector<Operation *> wished;
  auto add = [&](Value v) {
    auto op = v.getDefiningOp<llir::BodyOpInterface>();
    if (op && !op.isFree() && !llir::hasLoops(op))
      wished.insert(op);
  };
  for (Operation &op : kernel.getOps()) {
    // Each element of a reduction's operand is read for many result elements.
    if (isa<llir::ReductionOpInterface>(op))
      for (Value operand : op.getOperands()) {
        add(skipViews(operand));
        // A view that loads from memory.
        auto view = operand.getDefiningOp<llir::ViewOp>();
        if (view && isa<BlockArgument>(view.getOperand()) &&
            view.getMap().isIdentity())
          wished.insert(view);
      }
    bool isShared =
        !op.use_empty() && !op.hasOneUse() &&
        cast<llir::CodeOpInterface>(op).getCodeSize() >= kWorthKeeping;
    if (isShared || isa<llir::LookupOpInterface>(op))
      add(op.getResult(0));
  }
  return wished.takeVector();
}

namespace {
/// A value that a step reads at another row's index.
struct OtherRow {
  Operation *reader;
  Value read;
};
} // namespace

Decision RowProgram::check(unsigned rank, SmallVectorImpl<Operation *> &kept) {
  a.clearPlaces();
  SmallVector<Expr> first = hlir::getExtents(results.front().source);
  ArrayRef<Expr> rows = ArrayRef(first).take_front(rank);
  auto hasRows = [&](Value v) {
    SmallVector<Expr> own = hlir::getExtents(v);
    return own.size() >= rank && ArrayRef(own).take_front(rank) == rows;
  };
  llvm::erase_if(kept,
                 [&](Operation *op) { return !hasRows(op->getResult(0)); });
  Index row;
  for (const Expr &extent : rows)
    row.push_back(extent.isConstant(1) ? Expr(0) : Expr::dim(a.addDim(extent)));
  auto indexOf = [&](Value v) {
    Index at = row;
    SmallVector<Expr> own = hlir::getExtents(v);
    for (const Expr &extent : ArrayRef(own).drop_front(rank))
      at.push_back(extent.isConstant(1) ? Expr(0)
                                        : Expr::dim(a.addDim(extent)));
    return at;
  };
  std::optional<Value> other;
  auto readsRow = [&](Value v) {
    a.walk(v, indexOf(v), /*visit=*/nullptr);
    return !other;
  };
  auto remember = [&](Value v) {
    a.place(v, [&, v](const Index &at) -> Expr {
      if (!std::equal(row.begin(), row.end(), at.begin()) && !other)
        other = v;
      return 0;
    });
  };
  auto refuse = [&](Operation *reader) {
    // An op without loops need not be kept: its readers recompute it.
    Operation *def = other->getDefiningOp();
    if (!llir::hasLoops(def)) {
      llvm::erase(kept, def);
      return Decision::refuse("other rows of a kept value are read", def);
    }
    return Decision::refuse("another row of it is read", def);
  };
  for (Operation &op : a.kernel.getOps()) {
    bool hasLoops = llir::hasLoops(&op);
    if (!hasLoops && !llvm::is_contained(kept, &op))
      continue;
    for (Value result : op.getResults())
      if (!hasRows(result))
        return Decision::refuse("its rows are not those of the results", &op);
    if (!readsRow(op.getResult(0)))
      return refuse(&op);
    for (Value result : op.getResults())
      remember(result);
  }
  for (const MovedResult &result : results)
    if (!readsRow(result.source))
      return refuse(nullptr);
  extents.assign(rows.begin(), rows.end());
  steps.clear();
  for (Operation &op : a.kernel.getOps())
    if (llir::hasLoops(&op) || llvm::is_contained(kept, &op))
      steps.push_back(&op);
  return Decision::accept();
}

Decision RowProgram::find(ArrayRef<Operation *> wished) {
  for (Operation &op : a.kernel.getOps())
    if (llir::hasLoops(&op) && !isa<llir::ReductionOpInterface>(op))
      return Decision::refuse("it is not a reduction of each row", &op);
  if (!hasFewReads(a.kernel))
    return Decision::refuse("its values are read in too many ways");
  results.clear();
  for (Value yielded : getYielded(a.kernel)) {
    MovedResult &result = results.emplace_back();
    if (!findSource(a, yielded, result))
      result = {yielded, {}};
  }
  // The rows are leading dims that all results share.
  SmallVector<Expr> first = hlir::getExtents(results.front().source);
  size_t most = first.size();
  for (const MovedResult &result : results) {
    SmallVector<Expr> own = hlir::getExtents(result.source);
    most = std::min(most, own.size());
    most =
        std::mismatch(first.begin(), first.begin() + most, own.begin()).first -
        first.begin();
  }
  Decision found = Decision::refuse("its results have no rows in common");
  for (size_t rank = most; rank > 0 && !found; --rank) {
    SmallVector<Operation *> kept(wished);
    size_t before;
    // Repeat without the values that turned out not to be keepable.
    do {
      before = kept.size();
      found = check(rank, kept);
    } while (!found && kept.size() < before);
  }
  a.clearPlaces();
  return found;
}

Decision RowProgram::apply(llir::LoopCaseAttr loopCase) {
  setTeam(loopCase.getThreads() ? loopCase.getTeam() : 0);
  SmallVector<Operation *> kept;
  for (llir::LoopFormAttr form : loopCase.getForms()) {
    Operation *op =
        &*std::next(a.kernel.getBody().front().begin(), form.getOp());
    if (!llir::hasLoops(op))
      kept.push_back(op);
  }
  if (Decision found = find(kept); !found)
    return found;
  for (Operation *op : kept)
    if (!llvm::is_contained(steps, op))
      return Decision::refuse("other rows of what it keeps are read", op);
  return Decision::accept();
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

SmallVector<RowProgram::Level>
RowProgram::findLevels(llir::LoopCaseAttr loopCase) {
  a.clearPlaces();
  readLater.clear();
  Index row;
  for (const Expr &extent : extents)
    row.push_back(extent.isConstant(1) ? Expr(0) : Expr::dim(a.addDim(extent)));
  auto indexOf = [&](Value v) {
    Index at = row;
    SmallVector<Expr> own = hlir::getExtents(v);
    for (const Expr &extent : ArrayRef(own).drop_front(extents.size()))
      at.push_back(extent.isConstant(1) ? Expr(0)
                                        : Expr::dim(a.addDim(extent)));
    return at;
  };
  // Ops whose elements are shared among threads, and how many each thread takes
  // at once.
  llvm::DenseMap<Operation *, int64_t> shares;
  for (llir::LoopFormAttr form : loopCase.getForms())
    if (form.getForm().getValue() != "along")
      shares[&*std::next(a.kernel.getBody().front().begin(), form.getOp())] =
          form.getNumber("columns", 1);
  // Whether each thread has the same elements of both ops.
  auto areAlike = [&](Operation *x, Operation *y) {
    return shares.contains(x) && shares.contains(y) && shares[x] == shares[y] &&
           hlir::getExtents(x->getResult(0)) ==
               hlir::getExtents(y->getResult(0));
  };
  SmallVector<std::pair<Operation *, Index>> reads;
  llvm::DenseMap<Operation *, size_t> levelOf;
  SmallVector<Level> levels;
  for (Operation *op : steps) {
    Value v = op->getResult(0);
    Index own = indexOf(v);
    reads.clear();
    a.walk(v, own, /*visit=*/nullptr);
    size_t level = 0;
    for (auto &[before, at] : reads) {
      bool isOwn = at == own && areAlike(op, before);
      level = std::max(level, levelOf[before] + !isOwn);
    }
    for (auto &[before, at] : reads)
      if (levelOf[before] < level)
        readLater.insert(before);
    levelOf[op] = level;
    if (levels.size() <= level)
      levels.resize(level + 1);
    SmallVector<Run> &runs = levels[level].runs;
    auto run = llvm::find_if(
        runs, [&](const Run &run) { return areAlike(run.front(), op); });
    if (run == runs.end())
      runs.push_back({op});
    else
      run->push_back(op);
    for (Value result : op->getResults())
      a.place(result, [&reads, op](const Index &at) -> Expr {
        reads.push_back({op, at});
        return 0;
      });
  }
  reads.clear();
  for (const MovedResult &result : results)
    a.walk(result.source, indexOf(result.source), /*visit=*/nullptr);
  for (auto &[op, at] : reads)
    readLater.insert(op);
  a.clearPlaces();
  return levels;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

RowProgram::Pieces RowProgram::findPieces(ArrayRef<Value> values,
                                          const Index &row) const {
  SmallVector<Expr> own = hlir::getExtents(values.front());
  std::optional<int64_t> extent = own.back().asConstant();
  if (own.size() == extents.size() || !extent)
    return {std::nullopt};
  Index at = row;
  for (const Expr &local : ArrayRef(own).drop_front(extents.size()))
    at.push_back(Expr::dim(a.addDim(local)));
  std::set<int64_t> edges;
  for (Value v : values)
    if (Operation *op = v.getDefiningOp(); op && !llir::hasLoops(op))
      edges.merge(findEdges(a, v, at, *at.back().asDim()));
  SmallVector<int64_t> begins = {0};
  for (int64_t edge : edges)
    if (edge > 0 && edge < *extent)
      begins.push_back(edge);
  if (begins.size() == 1 || begins.size() > kMostPieces)
    return {std::nullopt};
  begins.push_back(*extent);
  Pieces pieces;
  for (auto [lo, hi] : llvm::zip(begins, ArrayRef(begins).drop_front()))
    pieces.push_back(Piece{lo, hi});
  return pieces;
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

bool RowProgram::hasRows(Value v) const {
  return llvm::any_of(extents, [&](const Expr &extent) {
    return !extent.isConstant(1) &&
           llvm::is_contained(hlir::getExtents(v), extent);
  });
}

bool RowProgram::isShared(BlockArgument argument) const {
  return !hasRows(argument) &&
         llvm::any_of(argument.getUsers(), [](Operation *user) {
           return !isa<llir::LookupOpInterface>(user);
         });
}

Expr RowProgram::countLocal(Value v) const {
  Expr count = 1;
  SmallVector<Expr> own = hlir::getExtents(v);
  for (const Expr &extent : ArrayRef(own).drop_front(extents.size()))
    count = count * extent;
  return count;
}

Expr RowProgram::countBytes(int64_t lanes) const {
  return getOffset(nullptr, lanes);
}

Expr RowProgram::countTeamBytes(const MachineModel &machine) const {
  const int64_t row = machine.bankBytes;
  int64_t ofMembers = std::max<int64_t>(alignment, 4 * team) % row;
  return Expr::ceilDiv(countBytes(1), row) * row + ofMembers;
}

Expr RowProgram::getOffset(Value v, int64_t lanes) const {
  Expr offset = 0;
  for (Operation *op : steps)
    for (Value result : op->getResults()) {
      if (result == v)
        return offset;
      // In memory, types narrower than a byte take a byte.
      int64_t size =
          std::max(1u, getElementType(result).getIntOrFloatBitWidth() / 8);
      offset = offset +
               Expr::ceilDiv(countLocal(result) * (size * lanes), alignment) *
                   alignment;
    }
  return offset;
}

Expr RowProgram::getPlace(Value v, const Index &at, int64_t lanes,
                          const Expr &row) const {
  SmallVector<Expr> own = hlir::getExtents(v);
  size_t rank = extents.size();
  std::vector<Expr> local(own.begin() + rank, own.end()),
      index(at.begin() + rank, at.end());
  return linearize(index, local) * lanes + row;
}

void RowProgram::place(Value v, int64_t lanes, const Expr &row) {
  a.place(v,
          [=, this](const Index &at) { return getPlace(v, at, lanes, row); });
}
