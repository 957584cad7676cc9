//===- LLIRKernels.cpp - Verifiers of kernels and schedules ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Body.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

//===----------------------------------------------------------------------===//
// kernel, alias, concat
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  if (getResults().empty())
    return emitOpError() << "expects a result";
  if (getInPlace() && (getInputs().empty() || getResults().size() != 1 ||
                       getInputs()[0].getType() != getResults()[0].getType()))
    return emitOpError() << "in place expects one result of the type of "
                         << "operand 0";
  if (auto overwrites = getOverwrites()) {
    if (getInPlace())
      return emitOpError() << "in place overwrites nothing else";
    if (overwrites->empty() || !llvm::is_sorted(*overwrites, std::less_equal()))
      return emitOpError() << "overwrites operands, each once and in order";
    for (int64_t number : *overwrites)
      if (number < 0 || number >= int64_t(getInputs().size()) ||
          !llvm::is_contained(getResultTypes(), getInputs()[number].getType()))
        return emitOpError() << "overwrites operand " << number
                             << ", and has no result of its type";
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(verifyBody(*this)))
    return failure();
  for (Operation &op : getOps())
    if (!isa<BodyOpInterface>(op))
      return op.emitOpError() << "is not allowed in a kernel";
  if (getInPlace() && getBody().front().getOps<UpdateOpInterface>().empty())
    return emitOpError() << "in place expects an update in its body";
  return success();
}

/// Returns whether the map has no dims and one result.
static bool isQuantity(hlir::MapAttr map) {
  return map.getNumDims() == 0 && map.getResults().size() == 1;
}

/// Reads the positions of the result's elements in the operand.
SmallVector<hlir::IndexRead> AliasOp::getIndexReads() {
  Expr place = Expr::dim(0) + getOffset().getResults()[0];
  return {{hlir::MapAttr::get(getContext(), 1, place),
           {countElements(getResult().getType())},
           {countElements(getOperand().getType())},
           "its place"}};
}

LogicalResult AliasOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (operand.getElementType() != result.getElementType())
    return emitOpError() << "changes the element type from "
                         << operand.getElementType() << " to "
                         << result.getElementType();
  if (!isQuantity(getOffset()))
    return emitOpError() << "its offset is one quantity, a map without dims";
  return hlir::verifyIndices(*this);
}

LogicalResult ConcatOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  if (getParts().empty())
    return emitOpError() << "expects a part";
  Expr elements(0);
  for (Value part : getParts()) {
    auto type = cast<RankedTensorType>(part.getType());
    if (type.getElementType() != result.getElementType())
      return emitOpError() << "has a part of " << type.getElementType()
                           << ", but its result is of "
                           << result.getElementType();
    elements = elements + countElements(type);
  }
  if (!hlir::mayBeEqual(*this, elements, countElements(result)))
    return emitOpError() << "has " << countElements(result).str()
                         << " elements, but its parts have " << elements.str();
  return success();
}

//===----------------------------------------------------------------------===//
// schedule
//===----------------------------------------------------------------------===//

/// Checks that the quantities of a schedule entry use its symbols only.
static LogicalResult verifySymbols(Operation *op, ArrayRef<Expr> exprs,
                                   StringRef what) {
  auto schedule = dyn_cast<ScheduleOp>(op);
  if (!schedule)
    schedule = op->getParentOfType<ScheduleOp>();
  std::vector<std::string> used;
  for (const Expr &e : exprs)
    e.collectSymbols(used);
  for (const std::string &name : used)
    if (llvm::none_of(
            schedule.getSymbols().getEntries(),
            [&](const hlir::SymbolEntry &entry) { return entry.name == name; }))
      return op->emitOpError() << what << " uses the symbol " << name
                               << ", which the schedule does not have";
  return success();
}

static LogicalResult verifyQuantity(Operation *op, hlir::MapAttr map,
                                    StringRef what) {
  if (!isQuantity(map))
    return op->emitOpError() << what << " is one quantity, a map without dims";
  return verifySymbols(op, map.getResults(), what);
}

LogicalResult ScheduleOp::verify() {
  return verifyQuantity(*this, getArena(), "arena");
}

ScheduleOp ScheduleOp::getPrepareSchedule() {
  if (!getPrepare() || !(*this)->getParentOp())
    return {};
  return dyn_cast_or_null<ScheduleOp>(SymbolTable::lookupSymbolIn(
      (*this)->getParentOp(), getPrepareAttr().getAttr()));
}

LogicalResult ArgumentOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !hlir::getDType(type.getElementType()))
    return emitOpError() << "expects a tensor type, found " << getType();
  return success();
}

/// The op's counterpart may follow later in the module; the artifact writer
/// checks that it exists.
LogicalResult PreparedOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !hlir::getDType(type.getElementType()) || !type.hasStaticShape())
    return emitOpError() << "expects a tensor type of constant shape, found "
                         << getType();
  return success();
}

LogicalResult SlotOp::verify() {
  if (failed(verifyQuantity(*this, getOffset(), "offset")))
    return failure();
  return verifyQuantity(*this, getBytes(), "bytes");
}

LogicalResult CountersOp::verify() {
  if (failed(verifyQuantity(*this, getBytes(), "bytes")))
    return failure();
  // Another step could see counters while they are not zero.
  for (OpOperand &use : getBuffer().getUses()) {
    auto step = dyn_cast<StepOp>(use.getOwner());
    bool isWorkspace =
        step && llvm::is_contained(step.getWorkspace(), getBuffer());
    if (!isWorkspace || !getBuffer().hasOneUse())
      return emitOpError() << "must be in the workspace of exactly one step";
  }
  return success();
}

LogicalResult PartOp::verify() {
  if (failed(verifyQuantity(*this, getOffset(), "offset")))
    return failure();
  return verifyQuantity(*this, getBytes(), "bytes");
}

LogicalResult StepOp::verify() {
  if (getOutputs().empty())
    return emitOpError() << "writes nothing";
  bool isLibrary = getLaunch() && !getLaunch()->getLibrary().empty();
  if (isLibrary == getCallee().has_value())
    return emitOpError() << (isLibrary ? "calls a function, its launch is that "
                                         "of a library"
                                       : "calls neither a function nor a "
                                         "library");
  // The workspace is a slot, and for a kernel also counters.
  ValueRange own = getWorkspace();
  if (!own.empty() &&
      !(own.size() == (isLibrary ? 1 : 2) && own[0].getDefiningOp<SlotOp>() &&
        (isLibrary || own[1].getDefiningOp<CountersOp>())))
    return emitOpError() << "has a workspace other than a slot"
                         << (isLibrary ? "" : " and counters");
  if (getCost().getNumDims() != 0 || getCost().getResults().size() != 2)
    return emitOpError() << "cost is bytes and scalar operations, two "
                         << "quantities of a map without dims";
  if (failed(verifySymbols(*this, getCost().getResults(), "cost")))
    return failure();
  if (std::optional<LaunchAttrInterface> launch = getLaunch())
    for (const LaunchField &field : launch->getFields())
      if (auto *e = std::get_if<Expr>(&field.value);
          e && failed(verifySymbols(
                   *this, *e, ("the " + field.name + " of launch").str())))
        return failure();
  return success();
}

/// Returns the callee of a step, a symbol of the schedule's module.
static Operation *lookUpCallee(StepOp step) {
  Operation *module = step->getParentOp()->getParentOp();
  return module && step.getCalleeAttr()
             ? SymbolTable::lookupSymbolIn(module,
                                           step.getCalleeAttr().getAttr())
             : nullptr;
}

/// Returns the kernel that a step calls, if it has no generated code yet.
static FunctionOpInterface getKernelFunction(Operation *callee) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
  bool isTensors = function && !function.isExternal() &&
                   llvm::all_of(function.getArgumentTypes(),
                                llvm::IsaPred<RankedTensorType>);
  return isTensors ? function : FunctionOpInterface();
}

Expr ArgumentOp::getSize() { return countBytes(getType()); }
Expr DataOp::getSize() { return countBytes(getValue().getType()); }
Expr SlotOp::getSize() { return getBytes().getResults()[0]; }
Expr CountersOp::getSize() { return getBytes().getResults()[0]; }
Expr PreparedOp::getSize() { return countBytes(getType()); }
Expr ResultOp::getSize() { return countBytes(getType()); }
Expr PartOp::getSize() { return getBytes().getResults()[0]; }

/// Reads the bytes that the kernel reads and writes, as positions in buffers.
SmallVector<hlir::IndexRead> StepOp::getIndexReads() {
  SmallVector<hlir::IndexRead> reads;
  FunctionOpInterface function = getKernelFunction(lookUpCallee(*this));
  if (!function)
    return reads;
  auto place = hlir::MapAttr::get(getContext(), 1, Expr::dim(0));
  auto add = [&](Value buffer, Type type, StringRef what, size_t i) {
    if (auto op = buffer.getDefiningOp<BufferOpInterface>())
      reads.push_back(
          {place, {countBytes(type)}, {op.getSize()}, (what + Twine(i)).str()});
  };
  for (auto [i, buffer] : llvm::enumerate(getInputs()))
    add(buffer, function.getArgumentTypes()[i], "the bytes of operand ", i);
  for (auto [i, buffer] : llvm::enumerate(getOutputs()))
    add(buffer, function.getResultTypes()[i], "the bytes of result ", i);
  return reads;
}

LogicalResult StepOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (!getCallee())
    return success();
  Operation *module = (*this)->getParentOp()->getParentOp();
  Operation *callee =
      symbolTable.lookupSymbolIn(module, getCalleeAttr().getAttr());
  if (!callee)
    return emitOpError() << "calls " << *getCallee()
                         << ", which is not defined beside the schedule";
  FunctionOpInterface function = getKernelFunction(callee);
  if (!function)
    return success();
  auto schedule = (*this)->getParentOfType<ScheduleOp>();
  Attribute symbols = function->getAttr(hlir::kSymbolsAttr);
  if (symbols && symbols != schedule.getSymbols())
    return emitOpError() << "calls " << *getCallee()
                         << ", whose symbols are not those of the schedule";
  if (function.getNumArguments() != getInputs().size() ||
      function.getNumResults() != getOutputs().size())
    return emitOpError() << "calls " << *getCallee() << " with "
                         << getInputs().size() << " operands and "
                         << getOutputs().size() << " results, it takes "
                         << function.getNumArguments() << " and "
                         << function.getNumResults();
  return success();
}

//===----------------------------------------------------------------------===//
// What programs depend on
//===----------------------------------------------------------------------===//

/// Searches the types and attributes of the op and of all ops inside it,
/// including the guards of schedules.
bool llir::usesSymbols(Operation *root) {
  std::vector<std::string> used;
  AttrTypeWalker walker;
  walker.addWalk([&](hlir::DimsAttr dims) {
    for (const Expr &e : dims.getExprs())
      e.collectSymbols(used);
  });
  walker.addWalk([&](hlir::MapAttr map) {
    for (const Expr &e : map.getResults())
      e.collectSymbols(used);
  });
  root->walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getOperandTypes())
      walker.walk(type);
    for (Type type : op->getResultTypes())
      walker.walk(type);
  });
  return !used.empty();
}

bool llir::isWeight(BlockArgument argument) {
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto kind = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    hlir::kKindAttr);
  return kind && kind.getValue() == stringifyArgumentKind(ArgumentKind::Weight);
}
