//===- HLIRIndices.cpp - Proofs about the indices of a program ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies IndexChecker to every index that ops of any dialect compute, and to
// every extent of a type.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

#include "luminal/Dialect/HLIR/IR/HLIRInterfaces.cpp.inc"

/// "the map of lhs, dim 0 of extent n".
static std::string describeIndex(const IndexRead &read, size_t k) {
  if (read.limits.empty())
    return read.what;
  return read.what + ", dim " + std::to_string(k) + " of extent " +
         read.limits[k].str();
}

static bool isIdentityOver(const IndexRead &read) {
  return read.map.isIdentity() && read.space == read.limits;
}

LogicalResult hlir::verifyIndices(IndexOpInterface op) {
  for (const IndexRead &read : op.getIndexReads()) {
    if (read.limits.empty() || isIdentityOver(read))
      continue;
    IndexChecker checker(getAssumptions(op),
                         {read.space.begin(), read.space.end()});
    for (auto [k, e] : llvm::enumerate(read.map.getResults()))
      if (std::optional<std::string> error =
              checker.refuteInside(e, read.limits[k]))
        return op->emitOpError() << describeIndex(read, k) << ": " << *error;
  }
  return success();
}

std::string hlir::describePlace(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "at an unknown place";
  StringRef name = file.getFilename().getValue();
  return (name.substr(name.find_last_of('/') + 1) + ":" +
          Twine(file.getLine()) + ":" + Twine(file.getColumn()))
      .str();
}

void hlir::addRequirements(SmallVectorImpl<Requirement> &to,
                           ArrayRef<Requirement> from) {
  for (const Requirement &requirement : from)
    if (llvm::none_of(to, [&](const Requirement &known) {
          return known.isSameCondition(requirement);
        }))
      to.push_back(requirement);
}

namespace {
/// Checks each distinct map once per walk: ops often repeat each other's maps.
class Checks {
public:
  Checks(const Assumptions &symbols, SmallVectorImpl<Requirement> &requirements)
      : symbols(symbols), requirements(requirements) {}

  /// Uses the extents of the arguments as known facts.
  void assumeExtents(TypeRange types) {
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (const Expr &extent : getExtents(tensor))
          extents.insert(extent);
  }

  LogicalResult check(Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (const Expr &extent : getExtents(tensor))
          if (failed(checkExtent(op, extent)))
            return failure();
    auto index = dyn_cast<IndexOpInterface>(op);
    if (!index)
      return success();
    for (const IndexRead &read : index.getIndexReads())
      if (failed(checkRead(op, read)))
        return failure();
    return success();
  }

private:
  LogicalResult checkExtent(Operation *op, const Expr &extent) {
    if (extent.asConstant() || !extents.insert(extent).second)
      return success();
    IndexChecker checker(symbols, {});
    return finish(op, checker, "extent " + extent.str(),
                  checker.checkAtLeast(extent, 0));
  }

  LogicalResult checkRead(Operation *op, const IndexRead &read) {
    if (isIdentityOver(read))
      return success();
    std::vector<Expr> key(read.space.begin(), read.space.end());
    llvm::append_range(key, read.limits);
    if (!reads[read.map].insert(std::move(key)).second)
      return success();
    for (const Expr &extent : read.space)
      if (failed(checkExtent(op, extent)))
        return failure();
    IndexChecker checker(symbols, {read.space.begin(), read.space.end()});
    for (auto [k, e] : llvm::enumerate(read.map.getResults())) {
      std::optional<std::string> error =
          read.limits.empty() ? checker.checkValue(e)
                              : checker.checkInside(e, read.limits[k]);
      if (failed(finish(op, checker, describeIndex(read, k), error)))
        return failure();
    }
    return success();
  }

  LogicalResult finish(Operation *op, IndexChecker &checker,
                       const std::string &what,
                       const std::optional<std::string> &error) {
    if (error)
      return op->emitOpError() << what << ": " << *error;
    for (Requirement &requirement : checker.requirements) {
      requirement.what = describePlace(op->getLoc()) + ": '" +
                         op->getName().getStringRef().str() + "' op " + what;
      addRequirements(requirements, requirement);
    }
    checker.requirements.clear();
    return success();
  }

  const Assumptions &symbols;
  SmallVectorImpl<Requirement> &requirements;
  std::set<Expr> extents;
  /// The spaces and limits under which each map was checked.
  DenseMap<MapAttr, std::set<std::vector<Expr>>> reads;
};
} // namespace

LogicalResult hlir::checkIndices(Operation *root, const Assumptions &symbols,
                                 SmallVectorImpl<Requirement> &requirements) {
  Checks checks(symbols, requirements);
  if (auto function = dyn_cast<FunctionOpInterface>(root))
    checks.assumeExtents(function.getArgumentTypes());
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isScope = op == root && op->getNumRegions();
    return WalkResult(isScope ? success() : checks.check(op));
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// hlir.requires
//===----------------------------------------------------------------------===//

SmallVector<Requirement> hlir::getRequirements(Operation *op) {
  SmallVector<Requirement> requirements;
  if (auto array = op->getAttrOfType<ArrayAttr>(kRequiresAttr))
    for (auto attribute : array.getAsRange<RequirementAttr>())
      requirements.push_back(attribute.getRequirement());
  return requirements;
}

void hlir::setRequirements(Operation *op, ArrayRef<Requirement> requirements) {
  if (requirements.empty()) {
    op->removeAttr(kRequiresAttr);
    return;
  }
  SmallVector<Attribute> attributes;
  for (const Requirement &requirement : requirements)
    attributes.push_back(RequirementAttr::get(op->getContext(), requirement));
  op->setAttr(kRequiresAttr, ArrayAttr::get(op->getContext(), attributes));
}

//===----------------------------------------------------------------------===//
// hlir.integers
//===----------------------------------------------------------------------===//

SmallVector<IntegerInput> hlir::getIntegers(Operation *op) {
  SmallVector<IntegerInput> integers;
  if (auto array = op->getAttrOfType<ArrayAttr>(kIntegersAttr))
    for (auto integer : array.getAsRange<DictionaryAttr>())
      integers.push_back({integer.getAs<StringAttr>("name").str(),
                          integer.getAs<MapAttr>("value").getResults()[0]});
  return integers;
}

void hlir::setIntegers(Operation *op, ArrayRef<IntegerInput> integers) {
  if (integers.empty()) {
    op->removeAttr(kIntegersAttr);
    return;
  }
  Builder builder(op->getContext());
  SmallVector<Attribute> attributes;
  for (const IntegerInput &integer : integers)
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(integer.name)),
         builder.getNamedAttr(
             "value", MapAttr::get(op->getContext(), 0, integer.value))}));
  op->setAttr(kIntegersAttr, builder.getArrayAttr(attributes));
}
