//===- SortKernels.cpp - Sort kernels -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block sorts runs in shared memory, and passes merge several runs each. If
// only the first elements of a row are wanted, runs are cut to that number, and
// little is left to merge.
//
//===----------------------------------------------------------------------===//

#include "WholeKernel.h"
#include "luminal/Support/MachineModel.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// Returns how many elements are kept of a row that is cut into pieces of
/// `piece` elements: at most `keep` of each piece, from `begin` on.
static Expr countTaken(const Expr &row, const Expr &piece, const Expr &keep,
                       const Expr &begin) {
  auto ofPiece = [&](const Expr &extent) {
    return Expr::min(keep, begin.isConstant(0) ? extent
                                               : Expr::max(0, extent - begin));
  };
  return Expr::floorDiv(row, piece) * ofPiece(piece) +
         ofPiece(Expr::mod(row, piece));
}

static LogicalResult verifyQuantity(Operation *op, hlir::MapAttr map,
                                    StringRef name) {
  if (map && (map.getNumDims() != 0 || map.getResults().size() != 1))
    return op->emitOpError() << "has a '" << name << "' other than one "
                             << "quantity of a map without dims";
  return success();
}

/// Checks the results: positions, or positions and keys of type `key`, in rows
/// like those of `operand` with `taken` elements.
static LogicalResult verifyResults(Operation *op, Value operand,
                                   const Expr &taken, Type key) {
  ResultRange results = op->getResults();
  if (results.empty() || results.size() > 2)
    return op->emitOpError() << "returns positions, and possibly keys";
  SmallVector<Expr> extents = hlir::getExtents(operand);
  extents.back() = taken;
  const bool hasKeys = results.size() == 2;
  if (!elementOf(results[0]).isSignlessInteger(hasKeys ? 32 : 64))
    return op->emitOpError() << "has positions of " << (hasKeys ? "i32" : "i64")
                             << ", found " << elementOf(results[0]);
  if (hasKeys && elementOf(results[1]) != key)
    return op->emitOpError()
           << "has keys of " << key << ", found " << elementOf(results[1]);
  for (Value result : results)
    if (!hlir::mayBeEqual(op, extents, hlir::getExtents(result)))
      return op->emitOpError()
             << "expects rows of " << taken.str() << " elements";
  return success();
}

static Type getKeyType(Type element) {
  const bool isWide = element.getIntOrFloatBitWidth() == 64;
  return IntegerType::get(element.getContext(), isWide ? 64 : 32);
}

static Expr countBytesOf(TypeRange types) {
  Expr bytes = 0;
  for (Type type : types)
    bytes = bytes + countBytes(type);
  return bytes;
}

/// Returns an arbitrary position in the row at `index`.
static Index atAnyPlace(const Index &index, Value operand, AddDim addDim) {
  Index at = index;
  at.back() = addDim(hlir::getExtents(operand).back());
  return at;
}

//===----------------------------------------------------------------------===//
// sort_runs
//===----------------------------------------------------------------------===//

/// The least and the most elements of a run that a block sorts.
static constexpr int64_t kLeastRun = 64, kMostRun = 2048;
/// The longest run that is sorted by counting, for each element, the elements
/// before it. That is faster than a bitonic network, whose exchanges wait for
/// each other.
static constexpr int64_t kMostCounted = 256;

LogicalResult SortRunsOp::verify() {
  Type type = elementOf(getOperand());
  if (!type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64() &&
      !type.isSignlessInteger(32) && !type.isInteger(64))
    return emitOpError() << "orders f16, bf16, f32, f64, i32 and i64, found "
                         << type;
  const auto run = static_cast<int64_t>(getRun());
  if (!llvm::isPowerOf2_64(getRun()) || run < kLeastRun || run > kMostRun)
    return emitOpError() << "has runs of " << run << " elements, expected a "
                         << "power of two from " << kLeastRun << " to "
                         << kMostRun;
  if (typeOf(getOperand()).getRank() == 0)
    return emitOpError() << "expects rows";
  if (failed(verifyQuantity(*this, getKeep(), "keep")) ||
      failed(verifyQuantity(*this, getBegin().value_or(nullptr), "begin")))
    return failure();
  return verifyResults(*this, getOperand(),
                       countTaken(hlir::getExtents(getOperand()).back(), run,
                                  getKept(), getFirst()),
                       getKeyType(type));
}

void SortRunsOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  read(getOperandMutable(), atAnyPlace(index, getOperand(), addDim));
}

std::optional<Cost> SortRunsOp::getCostOf(TypeRange operands, TypeRange results,
                                          DictionaryAttr) {
  return Cost{countBytes(operands[0]), countBytesOf(results),
              countElements(operands[0]) * Expr(64), 1};
}

int64_t SortRunsOp::getCodeSize() { return 32; }
int64_t SortRunsOp::getLoopCopies() { return 2; }

Expr SortRunsOp::countUnits() {
  SmallVector<Expr> extents = hlir::getExtents(getOperand());
  extents.back() =
      Expr::ceilDiv(extents.back(), static_cast<int64_t>(getRun()));
  return product({extents.begin(), extents.end()});
}
Expr SortRunsOp::countOperations() {
  constexpr int64_t kComparison = 3;
  if (getCounted())
    return countElements(getOperand().getType()) *
           Expr(kComparison * static_cast<int64_t>(getRun()));
  const int64_t steps = llvm::Log2_64(getRun());
  return countElements(getOperand().getType()) * Expr(steps * (steps + 1));
}
/// Returns the threads of a block: one for each pair of exchanged elements. For
/// counting there are more, so that each warp has fewer elements (of 128
/// elements, each warp of 256 threads has 16).
static unsigned countThreads(SortRunsOp op) {
  const auto run = static_cast<unsigned>(op.getRun());
  return op.getCounted() ? 2 * run : run / 2;
}
WholeThreads SortRunsOp::chooseThreads(const Assumptions &,
                                       const MachineModel &machine) {
  const unsigned threads = countThreads(*this);
  return machine.blockThreads ? WholeThreads{threads, threads} : WholeThreads{};
}
std::string SortRunsOp::checkTeam(unsigned threads, unsigned team,
                                  const MachineModel &) {
  const unsigned expected = countThreads(*this);
  return !threads || (team == expected && threads == expected)
             ? std::string()
             : "is shared by " + std::to_string(team) + " threads of " +
                   std::to_string(threads) + ", expected blocks of " +
                   std::to_string(expected) +
                   (getCounted() ? ", two for each element"
                                 : ", one for each pair");
}

//===----------------------------------------------------------------------===//
// merge_runs
//===----------------------------------------------------------------------===//

LogicalResult MergeRunsOp::verify() {
  Type key = elementOf(getKeys());
  if (!elementOf(getPositions()).isSignlessInteger(32) ||
      (!key.isSignlessInteger(32) && !key.isInteger(64)))
    return emitOpError() << "merges positions of i32 by keys of i32 or i64";
  if (typeOf(getKeys()).getRank() == 0 ||
      !hlir::mayBeEqual(*this, hlir::getExtents(getPositions()),
                        hlir::getExtents(getKeys())))
    return emitOpError() << "expects rows of positions, and a key for each";
  if (failed(verifyQuantity(*this, getRun(), "run")) ||
      failed(verifyQuantity(*this, getKeep(), "keep")) ||
      failed(verifyQuantity(*this, getBegin().value_or(nullptr), "begin")))
    return failure();
  constexpr uint64_t kMostWays = 1 << 16;
  if (getWays() < 2 || getWays() > kMostWays)
    return emitOpError() << "merges from 2 to " << kMostWays << " runs, found "
                         << getWays();
  if (hlir::getAssumptions(*this).provablyLess(getRunExtent(), 1))
    return emitOpError() << "has empty runs";
  Expr group = getRunExtent() * Expr(static_cast<int64_t>(getWays()));
  return verifyResults(*this, getKeys(),
                       countTaken(hlir::getExtents(getKeys()).back(), group,
                                  getKept(), getFirst()),
                       key);
}

void MergeRunsOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  read(getPositionsMutable(), atAnyPlace(index, getPositions(), addDim));
  read(getKeysMutable(), atAnyPlace(index, getKeys(), addDim));
}

std::optional<Cost> MergeRunsOp::getCostOf(TypeRange operands,
                                           TypeRange results, DictionaryAttr) {
  return Cost{countBytesOf(operands), countBytesOf(results),
              countElements(operands[1]) * Expr(128), 1};
}

int64_t MergeRunsOp::getCodeSize() { return 32; }
int64_t MergeRunsOp::getLoopCopies() { return 2; }

Expr MergeRunsOp::countUnits() { return countElements(getKeys().getType()); }
Expr MergeRunsOp::countOperations() {
  // One search in each run.
  return countUnits() * Expr(static_cast<int64_t>(16 * getWays()));
}
WholeThreads MergeRunsOp::chooseThreads(const Assumptions &,
                                        const MachineModel &machine) {
  constexpr unsigned kThreads = 128;
  return machine.blockThreads ? WholeThreads{kThreads, 1} : WholeThreads{};
}
std::string MergeRunsOp::checkTeam(unsigned, unsigned team,
                                   const MachineModel &) {
  return team == 1 ? std::string()
                   : "takes element by element, which a thread group of " +
                         std::to_string(team) + " threads cannot share";
}

//===----------------------------------------------------------------------===//
// argsort as kernels
//===----------------------------------------------------------------------===//

/// Returns whether one row of integers is ordered faster by counting, for each
/// element, the elements before it on all SMs, than by a sort in one block. The
/// constants are the operations to exchange two elements with their positions,
/// and to compare two elements.
static bool isBetterCounted(ArgsortOp op, const MachineModel &machine) {
  constexpr double kExchange = 48, kComparison = 8;
  std::optional<int64_t> n =
      hlir::getExtents(op.getOperand()).back().asConstant();
  if (!isa<IntegerType>(elementOf(op.getOperand())) || !n ||
      *n <= kMostCounted || *n > kMostRun ||
      op.getOperand().getType() != op.getResult().getType() ||
      !countElements(op.getOperand().getType()).isConstant(*n))
    return false;
  const auto steps = double(llvm::Log2_64_Ceil(static_cast<uint64_t>(*n)));
  const double rate = machine.operationRate, length = double(*n);
  // The count, and two kernels that write the order.
  const double counted =
      length * length * kComparison / (rate * std::max(1u, machine.workers)) +
      2 * machine.getKernelTime();
  return counted <
         std::exp2(steps) / 2 * steps * (steps + 1) / 2 * kExchange / rate;
}

/// Orders one row: each element goes to the position given by the number of
/// elements before it.
static Value expandByCounts(ArgsortOp op, ImplicitLocOpBuilder &b) {
  using hlir::MapAttr;
  MLIRContext *context = b.getContext();
  Value keys = op.getOperand();
  SmallVector<Expr> extents = hlir::getExtents(keys);
  const Expr n = extents.back();
  auto typeOf = [&](ArrayRef<Expr> shape, Type element) {
    return hlir::getTensorType(shape, element);
  };
  auto addKernel = [&](Type result, Value operand,
                       function_ref<Value(Value)> emit) {
    auto kernel = KernelOp::create(b, TypeRange(result), operand,
                                   /*in_place=*/false, /*loops=*/nullptr);
    Block &block = kernel.getBody().emplaceBlock();
    block.addArgument(operand.getType(), b.getLoc());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&block);
    YieldOp::create(b, emit(block.getArgument(0)));
    return kernel.getResult(0);
  };
  const SmallVector<Expr> pair = {n, n};
  Type i1 = b.getI1Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  Value ranks = addKernel(typeOf(n, i32), keys, [&](Value row) -> Value {
    auto keyAt = [&](unsigned dim) -> Value {
      SmallVector<Expr> index(extents.size(), Expr(0));
      index.back() = Expr::dim(dim);
      return ViewOp::create(b, typeOf(pair, elementOf(keys)), row,
                            MapAttr::get(context, 2, index));
    };
    auto placeAt = [&](unsigned dim) -> Value {
      return IotaOp::create(b, typeOf(pair, i32),
                            MapAttr::get(context, 2, Expr::dim(dim)));
    };
    auto apply = [&](Fn fn, Type element, ValueRange of) -> Value {
      return ElementwiseOp::create(b, typeOf(pair, element), fn, of);
    };
    Value own = keyAt(0), other = keyAt(1);
    Value before = op.getDescending() ? apply(Fn::LessThan, i1, {own, other})
                                      : apply(Fn::LessThan, i1, {other, own});
    Value isEarlier = apply(Fn::LessThan, i1, {placeAt(1), placeAt(0)});
    Value same = apply(Fn::Equal, i1, {own, other});
    before = apply(Fn::Or, i1, {before, apply(Fn::Mul, i1, {same, isEarlier})});
    return llir::ReduceOp::create(b, typeOf(n, i32), ReduceKind::Sum,
                                  apply(Fn::Cast, i32, before));
  });
  Value order = addKernel(typeOf(n, i64), ranks, [&](Value rank) -> Value {
    auto scalar = RankedTensorType::get({}, i64);
    Value zero = llir::ConstantOp::create(
        b, scalar,
        DenseElementsAttr::get(scalar, Attribute(b.getI64IntegerAttr(0))));
    Value none =
        ViewOp::create(b, typeOf(n, i64), zero, MapAttr::get(context, 1, {}));
    Value place = IotaOp::create(b, typeOf(n, i64),
                                 MapAttr::get(context, 1, Expr::dim(0)));
    // Integer sums need no order.
    return ScatterOp::create(b, none.getType(), hlir::Combine::Add, none, rank,
                             place, /*checked=*/false);
  });
  if (extents.size() == 1)
    return order;
  return AliasOp::create(b, op.getResult().getType(), order,
                         MapAttr::get(context, 0, Expr(0)));
}

SmallVector<Value> ArgsortOp::expand(ImplicitLocOpBuilder &b,
                                     const Assumptions &symbols,
                                     const MachineModel &machine) {
  if (isBetterCounted(*this, machine))
    return {expandByCounts(*this, b)};
  // How many runs a pass merges. Whole rows need one long search for each
  // element and run, so merging two at a time is fastest, unless the length is
  // unbounded and most passes would be empty. If only the first elements of
  // each run are kept, searches are few and short.
  constexpr int64_t kWays = 2, kWaysOfAny = 8, kWaysOfFirst = 32;
  // Positions of i32 (unsigned) limit the elements of a row.
  constexpr int64_t kMostElements = int64_t(1) << 32;
  SmallVector<Expr> extents = hlir::getExtents(getOperand());
  Expr n = extents.back(), count = hlir::getExtents(getResult()).back(),
       first = getFirst(), wanted = symbols.simplify(first + count);
  const bool isWhole = symbols.equal(wanted, n) == true;
  int64_t covered = kLeastRun;
  while (covered < kMostRun && !symbols.provablyLessEqual(n, covered))
    covered *= 2;
  auto isLast = [&] {
    return covered >= kMostElements || symbols.provablyLessEqual(n, covered);
  };
  auto quantity = [&](const Expr &e) {
    return hlir::MapAttr::get(getContext(), 0, symbols.simplify(e));
  };
  Type key = getKeyType(elementOf(getOperand())), i32 = b.getI32Type();
  // States what to keep of pieces of `piece` elements, which cover `covered`
  // elements of the operand each: of the last piece, the elements that are
  // wanted.
  Expr kept;
  auto take = [&](NamedAttrList &attributes, const Expr &piece,
                  SmallVectorImpl<Type> &types) {
    if (isLast()) {
      attributes.set("keep", quantity(count));
      if (!first.isConstant(0))
        attributes.set("begin", quantity(first));
      types.push_back(getResult().getType());
      return;
    }
    kept = isWhole ? piece : symbols.simplify(Expr::min(piece, wanted));
    attributes.set("keep", quantity(kept));
    SmallVector<Expr> taken = extents;
    if (!isWhole)
      taken.back() = symbols.simplify(countTaken(n, covered, kept, 0));
    types.push_back(hlir::getTensorType(taken, i32));
    types.push_back(hlir::getTensorType(taken, key));
  };
  NamedAttrList attributes;
  attributes.set("run", b.getI64IntegerAttr(covered));
  attributes.set("descending", getDescendingAttr());
  attributes.set("nan_first", getNanFirstAttr());
  if (covered <= kMostCounted)
    attributes.set("counted", b.getUnitAttr());
  SmallVector<Type> types;
  take(attributes, covered, types);
  auto kernel = makeWholeKernel<SortRunsOp>(b, types, getOperand(), attributes);
  const int64_t ways = !isWhole ? kWaysOfFirst
                       : symbols.upperBound(n).has_value() &&
                               symbols.provablyLess(n, kMostElements)
                           ? kWays
                           : kWaysOfAny;
  while (!isLast()) {
    // An empty run has nothing to merge.
    Expr run = symbols.simplify(Expr::max(1, kept));
    covered *= ways;
    NamedAttrList merging;
    merging.set("run", quantity(run));
    merging.set("ways", b.getI64IntegerAttr(ways));
    types.clear();
    take(merging, run * Expr(ways), types);
    kernel =
        makeWholeKernel<MergeRunsOp>(b, types, kernel.getResults(), merging);
  }
  return {kernel.getResults()[0]};
}
