//===- ScanKernels.cpp - Scans as kernels ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WholeKernel.h"
#include "luminal/Support/MachineModel.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static Type elementOf(Value value) { return typeOf(value).getElementType(); }

SmallVector<Type> llir::getScanStates(ScanKind kind, Type from, Type to,
                                      bool positions) {
  if (kind == ScanKind::Max || kind == ScanKind::Min) {
    SmallVector<Type> types = {getAccumulatorType(from)};
    if (positions)
      types.push_back(IntegerType::get(from.getContext(), 64));
    return types;
  }
  if (!isa<FloatType>(from))
    return {from};
  // A result of another type than the operand is rounded from the wide type.
  Type wide = from.isF64() || to.isF64()
                  ? Type(Float64Type::get(from.getContext()))
                  : Type(Float32Type::get(from.getContext()));
  if (kind == ScanKind::LogSumExp)
    return {wide, wide};
  // Products overflow f32 sooner than sums.
  if (kind == ScanKind::Product && !from.isF16() && !from.isBF16())
    wide = Float64Type::get(from.getContext());
  return {wide};
}

namespace {
/// A scanned tensor as [outer, length, inner], and the length of its parts.
struct Scanned {
  Scanned(Value operand, uint64_t axis, const Expr &part)
      : extents(hlir::getExtents(operand)), part(part) {
    auto at = extents.begin() + static_cast<int64_t>(axis);
    outer = product({extents.begin(), at});
    length = *at;
    inner = product({at + 1, extents.end()});
  }
  Expr countParts() const { return Expr::ceilDiv(length, part); }

  SmallVector<Expr> extents;
  Expr part, outer, length, inner;
};
} // namespace

/// Chooses the threads for work items of `part` elements each: a thread group
/// if these are contiguous in memory.
static WholeThreads chooseScanThreads(const Scanned &of, const Expr &units,
                                      const Assumptions &symbols,
                                      const MachineModel &machine) {
  constexpr unsigned kBlock = 256, kFewThreads = 64;
  constexpr int64_t kShort = 2048, kVeryShort = 256, kThreadsEach = 2;
  if (!machine.blockThreads)
    return {};
  if (!of.inner.isConstant(1))
    return {kFewThreads, 1};
  const bool isShort = symbols.provablyLessEqual(of.part, kShort) &&
                       nominalValue(units, symbols) * machine.warpThreads >=
                           double(kThreadsEach * machine.getBusyThreads());
  if (isShort || symbols.provablyLessEqual(of.part, kVeryShort))
    return {kBlock, machine.warpThreads};
  return {kBlock, kBlock};
}

static std::string checkScanTeam(const Scanned &of, unsigned threads,
                                 unsigned team, const MachineModel &machine) {
  if (team == 1)
    return {};
  if (!of.inner.isConstant(1))
    return "is of a dim other than the last, whose elements a thread group "
           "cannot "
           "share";
  return team == machine.warpThreads || team == threads
             ? std::string()
             : "is shared by " + std::to_string(team) +
                   " threads, expected a warp or a block";
}

static int64_t getStep(ScanKind kind) {
  constexpr int64_t kStep = 4, kExp = 40;
  return kind == ScanKind::LogSumExp ? kExp : kStep;
}

static LogicalResult verifyPart(Operation *op, Value operand, uint64_t axis,
                                hlir::MapAttr part) {
  if (axis >= hlir::getExtents(operand).size())
    return op->emitOpError() << "has no dim " << axis;
  if (part.getNumDims() != 0 || part.getResults().size() != 1)
    return op->emitOpError() << "has parts of one quantity of a map without "
                             << "dims";
  if (hlir::getAssumptions(op).provablyLess(part.getResults()[0], 1))
    return op->emitOpError() << "has empty parts";
  return success();
}

/// Checks that `states` are the states of the parts.
static LogicalResult verifyStates(Operation *op, const Scanned &of,
                                  uint64_t axis, ValueRange states,
                                  ArrayRef<Type> types) {
  if (states.size() != types.size())
    return op->emitOpError() << "has states of " << types.size()
                             << " tensors, found " << states.size();
  SmallVector<Expr> extents = of.extents;
  extents[axis] = of.countParts();
  for (auto [state, type] : llvm::zip_equal(states, types)) {
    if (elementOf(state) != type)
      return op->emitOpError()
             << "carries " << type << ", found a state of " << elementOf(state);
    if (!hlir::mayBeEqual(op, extents, hlir::getExtents(state)))
      return op->emitOpError() << "expects a state for each part";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// scan_parts
//===----------------------------------------------------------------------===//

LogicalResult ScanPartsOp::verify() {
  if (failed(verifyPart(*this, getOperand(), getAxis(), getPart())))
    return failure();
  Type from = elementOf(getOperand());
  // A sum may be kept in a wider type than the elements have.
  Type to = getStates().empty() ? from : elementOf(getStates()[0]);
  return verifyStates(*this, {getOperand(), getAxis(), getPartExtent()},
                      getAxis(), getStates(),
                      getScanStates(getKind(), from, to, getPositions()));
}

void ScanPartsOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  Index at = index;
  at[getAxis()] = addDim(hlir::getExtents(getOperand())[getAxis()]);
  read(getOperandMutable(), at);
}

std::optional<Cost> ScanPartsOp::getCostOf(TypeRange operands,
                                           TypeRange results, DictionaryAttr) {
  Expr written = 0;
  for (Type result : results)
    written = written + countBytes(result);
  return Cost{countBytes(operands[0]), written, countElements(operands[0]), 1};
}

int64_t ScanPartsOp::getCodeSize() { return getStep(getKind()); }
int64_t ScanPartsOp::getLoopCopies() { return 2; }

Expr ScanPartsOp::countUnits() {
  return countElements(getStates()[0].getType());
}
Expr ScanPartsOp::countOperations() {
  return countElements(getOperand().getType()) * Expr(getStep(getKind()));
}
WholeThreads ScanPartsOp::chooseThreads(const Assumptions &symbols,
                                        const MachineModel &machine) {
  return chooseScanThreads({getOperand(), getAxis(), getPartExtent()},
                           countUnits(), symbols, machine);
}
std::string ScanPartsOp::checkTeam(unsigned threads, unsigned team,
                                   const MachineModel &machine) {
  return checkScanTeam({getOperand(), getAxis(), getPartExtent()}, threads,
                       team, machine);
}

//===----------------------------------------------------------------------===//
// scan_rows
//===----------------------------------------------------------------------===//

LogicalResult ScanRowsOp::verify() {
  if (failed(verifyPart(*this, getOperand(), getAxis(), getPart())))
    return failure();
  if (getScanned().empty() || getScanned().size() > (getPositions() ? 2 : 1))
    return emitOpError() << "has " << getScanned().size() << " results, "
                         << "expected one, or places and extrema";
  Type from = elementOf(getOperand()), to = elementOf(getScanned()[0]);
  Scanned of(getOperand(), getAxis(), getPartExtent());
  for (Value result : getScanned())
    if (!hlir::mayBeEqual(*this, of.extents, hlir::getExtents(result)))
      return emitOpError() << "expects a result of the operand's shape";
  if (getPositions() && !to.isInteger(64))
    return emitOpError() << "has places of i64, found " << to;
  if (getScanned().size() == 2 && elementOf(getScanned()[1]) != from)
    return emitOpError() << "has extrema of " << from << ", found "
                         << elementOf(getScanned()[1]);
  SmallVector<Type> types = getScanStates(getKind(), from, to, getPositions());
  if (getStates().empty()) {
    if (hlir::getAssumptions(*this).provablyLess(of.part, of.length))
      return emitOpError() << "has parts, but not what those before come to";
    return success();
  }
  return verifyStates(*this, of, getAxis(), getStates(), types);
}

void ScanRowsOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  Index at = index;
  at[getAxis()] = addDim(hlir::getExtents(getOperand())[getAxis()]);
  read(getOperandMutable(), at);
  for (OpOperand &state : getStatesMutable()) {
    at[getAxis()] = addDim(hlir::getExtents(state.get())[getAxis()]);
    read(state, at);
  }
}

std::optional<Cost> ScanRowsOp::getCostOf(TypeRange operands, TypeRange results,
                                          DictionaryAttr) {
  Expr bytes = 0;
  for (Type operand : operands)
    bytes = bytes + countBytes(operand);
  Expr written = 0;
  for (Type result : results)
    written = written + countBytes(result);
  return Cost{bytes, written, countElements(results[0]), 1};
}

int64_t ScanRowsOp::getCodeSize() { return getStep(getKind()); }
int64_t ScanRowsOp::getLoopCopies() { return 4; }

Expr ScanRowsOp::countUnits() {
  if (!getStates().empty())
    return countElements(getStates()[0].getType());
  Scanned of(getOperand(), getAxis(), getPartExtent());
  return of.outer * of.inner;
}
Expr ScanRowsOp::countOperations() {
  return countElements(getOperand().getType()) * Expr(2 * getStep(getKind()));
}
WholeThreads ScanRowsOp::chooseThreads(const Assumptions &symbols,
                                       const MachineModel &machine) {
  return chooseScanThreads({getOperand(), getAxis(), getPartExtent()},
                           countUnits(), symbols, machine);
}
std::string ScanRowsOp::checkTeam(unsigned threads, unsigned team,
                                  const MachineModel &machine) {
  return checkScanTeam({getOperand(), getAxis(), getPartExtent()}, threads,
                       team, machine);
}

//===----------------------------------------------------------------------===//
// scan as kernels
//===----------------------------------------------------------------------===//

/// Returns the elements of a part; std::nullopt if a work item takes a whole
/// row, because rows are many or short.
static std::optional<Expr> choosePart(ScanOp op, const Scanned &of,
                                      const Assumptions &symbols,
                                      const MachineModel &machine) {
  // The least elements of a part, for a thread group and for one thread. The
  // most parts of a row: each part reads the totals of all parts before it. And
  // the number of rows that keeps an SM busy, for a thread group and for one
  // thread.
  constexpr int64_t kTeamPart = 1024, kOwnPart = 64, kMostParts = 1024;
  constexpr double kTeamRows = 2, kOwnRows = 512;
  constexpr int64_t kFewest = 8;
  const bool isTeam = of.inner.isConstant(1);
  const int64_t least = isTeam ? kTeamPart : kOwnPart;
  if (symbols.provablyLessEqual(of.length, least * kFewest) ||
      nominalValue(of.outer * of.inner, symbols) >=
          (isTeam ? kTeamRows : kOwnRows) * machine.workers)
    return std::nullopt;
  return symbols.simplify(
      Expr(least) * Expr::max(1, Expr::ceilDiv(of.length, least * kMostParts)));
}

/// Returns the scan that gives the positions of the extrema that `op` gives, or
/// vice versa; null if there is none.
static ScanOp findOther(ScanOp op) {
  auto isPlain = [](ScanOp scan) {
    return (scan.getKind() == ScanKind::Max ||
            scan.getKind() == ScanKind::Min) &&
           !scan.getReverse() && !scan.getExclusive();
  };
  if (!isPlain(op))
    return {};
  for (Operation *user : op.getOperand().getUsers()) {
    auto other = dyn_cast<ScanOp>(user);
    if (other && other->getBlock() == op->getBlock() && isPlain(other) &&
        other.getKind() == op.getKind() && other.getAxis() == op.getAxis() &&
        other.getPositions() != op.getPositions() && !other->use_empty())
      return other;
  }
  return {};
}

SmallVector<Value> ScanOp::expand(ImplicitLocOpBuilder &b,
                                  const Assumptions &symbols,
                                  const MachineModel &machine) {
  Scanned of(getOperand(), getAxis(),
             hlir::getExtents(getOperand())[getAxis()]);
  std::optional<Expr> part = choosePart(*this, of, symbols, machine);
  NamedAttrList attributes;
  attributes.set("kind", getKindAttr());
  attributes.set("axis", getAxisAttr());
  attributes.set("reverse", getReverseAttr());
  // One kernel computes both.
  ScanOp other = findOther(*this);
  const bool positions = getPositions() || other;
  attributes.set("positions", b.getBoolAttr(positions));
  attributes.set("part",
                 hlir::MapAttr::get(getContext(), 0,
                                    part.value_or(Expr::max(1, of.length))));
  SmallVector<Value> operands = {getOperand()};
  if (part) {
    of.part = *part;
    SmallVector<Expr> extents = of.extents;
    extents[getAxis()] = symbols.simplify(of.countParts());
    SmallVector<Type> types;
    for (Type type : getScanStates(getKind(), elementOf(getOperand()),
                                   elementOf(getResult()), positions))
      types.push_back(hlir::getTensorType(extents, type));
    auto states = makeWholeKernel<ScanPartsOp>(b, types, operands, attributes);
    operands.append(states.getResults().begin(), states.getResults().end());
  }
  attributes.set("exclusive", getExclusiveAttr());
  SmallVector<Type> results = {getResult().getType()};
  if (other)
    results.insert(getPositions() ? results.end() : results.begin(),
                   other.getResult().getType());
  auto kernel = makeWholeKernel<ScanRowsOp>(b, results, operands, attributes);
  if (!other)
    return {kernel.getResults()[0]};
  // Positions are the first result.
  const unsigned own = getPositions() ? 0 : 1;
  other.getResult().replaceAllUsesWith(kernel.getResults()[1 - own]);
  return {kernel.getResults()[own]};
}
