//===- Recurrence.cpp - Recurrences ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

hlir::MapAttr RecurrenceOp::getInputMap(unsigned number) {
  return cast<hlir::MapAttr>(getMaps()[number]);
}

OperandRange RecurrenceOp::getYielded() {
  return cast<YieldOp>(getBody().front().getTerminator()).getValues();
}

Index RecurrenceOp::getInputIndex(unsigned number, const Expr &trip,
                                  const Index &index) {
  Index from = {trip}, to;
  llvm::append_range(from, index);
  for (const Expr &e : getInputMap(number).getResults())
    to.push_back(e.substituteDims(from));
  return to;
}

/// Returns the shape of the carried tensors.
static SmallVector<Expr> getShape(RecurrenceOp op) {
  return hlir::getExtents(op.getCarried()[0]);
}

/// Returns the domain of an input's map: the trips, then the index of its
/// argument.
static SmallVector<Expr> getDomain(RecurrenceOp op, unsigned input) {
  SmallVector<Expr> domain = {op.getTripsExpr()};
  llvm::append_range(domain, hlir::getExtents(op.getInputArguments()[input]));
  return domain;
}

SmallVector<hlir::IndexRead> RecurrenceOp::getIndexReads() {
  SmallVector<hlir::IndexRead> reads;
  for (auto [i, operand] : llvm::enumerate(getInputs()))
    reads.push_back({getInputMap(i), getDomain(*this, i),
                     hlir::getExtents(operand), "the map of an input"});
  return reads;
}

void RecurrenceOp::walkArguments(
    const Index &index, function_ref<Expr(const Expr &)> simplify,
    function_ref<void(BlockArgument, const Index &)> visit) {
  SmallVector<std::pair<Value, Index>> work;
  for (Value v : getYielded())
    work.push_back({v, index});
  DenseMap<Value, SmallVector<Index, 1>> seen;
  while (!work.empty()) {
    auto [v, at] = work.pop_back_val();
    if (llvm::is_contained(seen[v], at))
      continue;
    seen[v].push_back(at);
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      visit(argument, at);
      continue;
    }
    auto read = cast<BodyOpInterface>(v.getDefiningOp());
    if (read.getElementExpr(at))
      continue;
    read.getReads(
        at, [](const Expr &) { return Expr(0); },
        [&](OpOperand &operand, Index inner) {
          for (Expr &e : inner)
            e = simplify(e);
          work.push_back({operand.get(), std::move(inner)});
        });
  }
}

std::string RecurrenceOp::findWrongRead() {
  for (Operation &inner : getBody().front().without_terminator()) {
    auto read = dyn_cast<BodyOpInterface>(inner);
    if (!read || !(read.isFree() || read.isPointwise()))
      return "has " + inner.getName().getStringRef().str() +
             ", which is not of one element at a time";
  }
  SmallVector<Expr> extents = getShape(*this);
  Assumptions symbols(hlir::getAssumptions(*this).getSymbols(),
                      {extents.begin(), extents.end()});
  Index own;
  for (unsigned i = 0; i < extents.size(); ++i)
    own.push_back(symbols.simplify(Expr::dim(i)));
  std::string wrong;
  walkArguments(
      own, [&](const Expr &e) { return symbols.simplify(e); },
      [&](BlockArgument argument, const Index &at) {
        if (argument.getArgNumber() < getCarried().size() && at != own)
          wrong = "reads what number " +
                  std::to_string(argument.getArgNumber()) +
                  " carries at another index than its own";
      });
  return wrong;
}

LogicalResult RecurrenceOp::verifyRegions() {
  if (getTrips().getNumDims() != 0 || getTrips().getResults().size() != 1)
    return emitOpError() << "its trips are one quantity, a map without dims";
  if (getCarried().empty())
    return emitOpError() << "carries nothing";
  if (getMaps().size() != getInputs().size())
    return emitOpError() << "has " << getMaps().size() << " maps of "
                         << getInputs().size() << " inputs";
  Block &body = getBody().front();
  if (body.getNumArguments() != getNumOperands() ||
      !llvm::equal(
          TypeRange(body.getArguments().take_front(getCarried().size())),
          getCarried().getTypes()))
    return emitOpError() << "expects an argument of the region for each "
                         << "operand, those carried of their types";
  for (auto [i, argument] : llvm::enumerate(getInputArguments()))
    if (cast<RankedTensorType>(argument.getType()).getElementType() !=
        cast<RankedTensorType>(getInputs()[i].getType()).getElementType())
      return emitOpError() << "reads input " << i << " as another type";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError() << "expects its body to end in llir.yield";
  const size_t numCarried = getCarried().size();
  if (getResults().size() != yield.getValues().size() ||
      yield.getValues().size() < numCarried)
    return emitOpError() << "yields " << yield.getValues().size()
                         << " values for " << getResults().size() << " results";
  SmallVector<Expr> shape = getShape(*this), stacked = {getTripsExpr()};
  llvm::append_range(stacked, shape);
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    const bool isCarried = i < numCarried;
    auto type = cast<RankedTensorType>(value.getType());
    auto result = cast<RankedTensorType>(getResults()[i].getType());
    if ((isCarried && type != getCarried()[i].getType()) ||
        type.getElementType() != result.getElementType() ||
        !hlir::mayBeEqual(*this, hlir::getExtents(type), shape) ||
        !hlir::mayBeEqual(*this, hlir::getExtents(result),
                          isCarried ? shape : stacked))
      return emitOpError() << "yields " << type << " as number " << i
                           << ", which does not fit what it carries and "
                           << result;
  }
  if (failed(hlir::verifyIndices(*this)))
    return failure();
  std::string wrong = findWrongRead();
  return wrong.empty() ? success() : LogicalResult(emitOpError() << wrong);
}

/// Reads carried elements at their own index, and any element of the inputs.
void RecurrenceOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  const size_t rank = getShape(*this).size();
  Index own(index.end() - static_cast<int64_t>(rank), index.end());
  for (OpOperand &operand : getCarriedMutable())
    read(operand, own);
  for (auto [i, operand] : llvm::enumerate(getInputsMutable())) {
    SmallVector<Expr> domain = getDomain(*this, i);
    Expr trip = addDim(domain[0]);
    Index at;
    for (const Expr &extent : ArrayRef(domain).drop_front())
      at.push_back(addDim(extent));
    read(operand, getInputIndex(i, trip, at));
  }
}

int64_t RecurrenceOp::countStep() {
  int64_t size = 1;
  for (Operation &inner : getBody().front().without_terminator())
    if (auto code = dyn_cast<CodeOpInterface>(inner))
      size += code.getCodeSize();
  return size;
}

Cost RecurrenceOp::getCost() {
  Cost cost;
  cost.launches = 1;
  cost.flops = countElements(getCarried()[0].getType()) * getTripsExpr() *
               Expr(countStep());
  for (Type type : getOperandTypes())
    cost.bytesRead = cost.bytesRead + countBytes(type);
  for (Type type : getResultTypes())
    cost.bytesWritten = cost.bytesWritten + countBytes(type);
  return cost;
}

int64_t RecurrenceOp::getCodeSize() { return countStep(); }
int64_t RecurrenceOp::getLoopCopies() { return 2; }

SmallVector<Value> RecurrenceOp::expand(ImplicitLocOpBuilder &b,
                                        const Assumptions &,
                                        const MachineModel &) {
  // The kernel writes only results that are read.
  SmallVector<Type> types;
  SmallVector<unsigned> read;
  for (OpResult result : getResults())
    if (!result.use_empty()) {
      types.push_back(result.getType());
      read.push_back(result.getResultNumber());
    }
  auto kernel = KernelOp::create(b, types, getOperands(), /*in_place=*/false,
                                 /*loops=*/nullptr);
  Block &block = kernel.getBody().emplaceBlock();
  for (Value operand : getOperands())
    block.addArgument(operand.getType(), b.getLoc());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  Operation *own = b.clone(*getOperation());
  own->setOperands(block.getArguments());
  SmallVector<Value> yielded, values(getNumResults(), Value());
  for (auto [i, number] : llvm::enumerate(read)) {
    yielded.push_back(own->getResult(number));
    values[number] = kernel.getResults()[i];
  }
  YieldOp::create(b, yielded);
  return values;
}
