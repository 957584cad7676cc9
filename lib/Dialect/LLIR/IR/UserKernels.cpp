//===- UserKernels.cpp - Code supplied by a user --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/UserKernels.h"
#include "Quantities.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

static LogicalResult verifyCost(Operation *op, MapAttr cost) {
  if (cost.getNumDims() == 0 && cost.getResults().size() == 3)
    return success();
  return op->emitOpError() << "its cost is bytes read, bytes written and "
                              "scalar operations";
}

static bool isTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && hlir::getDType(tensor.getElementType()) &&
         llvm::none_of(hlir::getExtents(tensor),
                       [](const Expr &e) { return e.isUndefined(); });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

LogicalResult CallOp::verify() {
  if (getNumResults() == 0)
    return emitOpError() << "has no result";
  if (cast<CustomLaunchAttrInterface>(getCustomLaunchAttr()).getCode().empty())
    return emitOpError() << "names no code";
  return verifyCost(*this, getCosts());
}

LaunchAttrInterface CallOp::getLaunch() {
  return cast<LaunchAttrInterface>(Attribute(getCustomLaunchAttr()));
}

std::optional<Cost> CallOp::getCostOf(TypeRange, TypeRange,
                                      DictionaryAttr attributes) {
  auto cost = attributes.getAs<MapAttr>("costs");
  if (!cost || cost.getResults().size() != 3)
    return std::nullopt;
  ArrayRef<Expr> q = cost.getResults();
  return Cost{q[0], q[1], q[2], 1};
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

LogicalResult UserCodeOp::verify() {
  if (getFile().has_value() == getText().has_value())
    return emitOpError() << "expects a file or a text";
  if (getEntry().empty() || getEntry().contains('\0'))
    return emitOpError() << "expects the name of a function as its entry";
  auto launch = cast<CustomLaunchAttrInterface>(getLaunchAttr());
  if (!launch.getCode().empty())
    return emitOpError() << "its launch names code, which is not known yet";
  return success();
}

/// Returns the symbols that the sizes of a kernel may use: those whose value
/// follows from the type of an operand.
static llvm::StringSet<> getBoundSymbols(FunctionType type) {
  llvm::StringSet<> bound;
  for (Type operand : type.getInputs())
    for (const Expr &extent : hlir::getExtents(cast<RankedTensorType>(operand)))
      if (std::optional<std::string_view> name = extent.asSymbol())
        bound.insert(StringRef(*name));
  return bound;
}

LogicalResult UserKernelOp::verifyRegions() {
  FunctionType type = getType();
  for (Type one : llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!isTensor(one))
      return emitOpError() << "takes and gives tensors of HLIR, not " << one;
  if (type.getNumResults() == 0)
    return emitOpError() << "has no result";
  if (failed(verifyCost(*this, getCost())))
    return failure();
  llvm::StringSet<> targets;
  for (Operation &op : getBody().front()) {
    auto code = dyn_cast<UserCodeOp>(op);
    if (!code)
      return op.emitOpError() << "is not code of a kernel";
    StringRef target =
        cast<LaunchAttrInterface>(code.getLaunchAttr()).getTargetName();
    if (!targets.insert(target).second)
      return code.emitOpError() << "is a second code for " << target;
  }
  if (targets.empty())
    return emitOpError() << "has no code";

  llvm::StringSet<> bound = getBoundSymbols(type);
  std::string unknown;
  AttrTypeWalker walker;
  auto check = [&](ArrayRef<Expr> exprs) {
    std::vector<std::string> used;
    for (const Expr &e : exprs)
      e.collectSymbols(used);
    for (const std::string &name : used)
      if (unknown.empty() && !bound.contains(name))
        unknown = name;
  };
  walker.addWalk([&](hlir::DimsAttr dims) { check(dims.getExprs()); });
  walker.addWalk([&](MapAttr map) { check(map.getResults()); });
  walker.walk(getTypeAttr());
  walker.walk(getCostAttr());
  for (auto code : getBody().getOps<UserCodeOp>())
    walker.walk(Attribute(code.getLaunchAttr()));
  if (!unknown.empty())
    return emitOpError() << "uses the symbol '" << unknown
                         << "', which is no dim of an operand";
  return success();
}

#define GET_OP_CLASSES
#include "luminal/Dialect/LLIR/IR/UserKernels.cpp.inc"
