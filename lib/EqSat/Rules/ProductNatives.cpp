//===- ProductNatives.cpp - Running products of floats --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running product of floats that overflows exactly where the product from the
// left does is not a short formula. So candidates for its operand are read from
// the graph, and each is confirmed by composing its running product again: the
// composition must lead to the same classes.
//
//===----------------------------------------------------------------------===//

#include "Reads.h"
#include "Rules.h"
#include "luminal/Dialect/HLIR/Utils/RunningProduct.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using hlir::MapAttr;

using Classes = SmallVector<ClassId>;

/// Sorts and removes duplicates.
static Classes unique(Classes classes) {
  llvm::sort(classes);
  classes.erase(llvm::unique(classes), classes.end());
  return classes;
}

/// The operands of each node with that name in the classes.
static SmallVector<Classes>
getNodes(const MatchContext &c, ArrayRef<ClassId> classes, StringRef name) {
  SmallVector<Classes> nodes;
  for (ClassId cls : classes)
    c.forEachNode(cls, name, [&](const MatchedOp &op) {
      nodes.emplace_back(op.operands);
      return true;
    });
  return nodes;
}
static Classes getOperands(const MatchContext &c, ArrayRef<ClassId> classes,
                           StringRef name, unsigned operand) {
  Classes found;
  for (const Classes &node : getNodes(c, classes, name))
    found.push_back(node[operand]);
  return unique(std::move(found));
}
/// All factors of multiplications in the classes.
static Classes getMultiplied(const MatchContext &c, ArrayRef<ClassId> classes) {
  Classes found;
  for (const Classes &node : getNodes(c, classes, "hlir.mul"))
    found.append(node.begin(), node.end());
  return unique(std::move(found));
}

namespace {
/// A candidate for the operand, and the number of doubling steps.
struct Factors {
  ClassId of;
  unsigned steps;
};
} // namespace

/// Finds candidates in select(condition, mantissa * 2^... * 2^... * 2^... *
/// 2^..., _).
static SmallVector<Factors> findFactors(const MatchContext &c, ClassId result) {
  Classes mantissas = getOperands(c, result, "hlir.select", 1);
  for (unsigned i = 0; i < 4; ++i)
    mantissas = getMultiplied(c, mantissas);
  // Among the factors, only the mantissa is a select: between the product and
  // half of it.
  constexpr unsigned kMostSteps = 63;
  unsigned steps = 0;
  Classes at = mantissas, next;
  auto getDoubled = [&](ArrayRef<ClassId> classes) {
    Classes found;
    for (const Classes &node :
         getNodes(c, getOperands(c, classes, "hlir.select", 2), "hlir.mul"))
      for (unsigned i : {0, 1})
        if (!getNodes(c, getOperands(c, node[1 - i], "hlir.select", 1),
                      "hlir.view")
                 .empty())
          found.push_back(node[i]);
    return unique(std::move(found));
  };
  while (steps < kMostSteps && !(next = getDoubled(at)).empty()) {
    ++steps;
    at = next;
  }
  SmallVector<Factors> found;
  // The first factor is an element, or its sign, without its exponent.
  Classes elements =
      getOperands(c, getMultiplied(c, getMultiplied(c, at)), "hlir.select", 2);
  for (ClassId of : elements)
    found.push_back({of, steps});
  return found;
}

/// The dim whose index the first operand of a comparison holds.
static std::optional<unsigned> findAxis(const MatchContext &c, ClassId less) {
  for (ClassId at : getOperands(c, less, "hlir.less_than", 0)) {
    SmallVector<Expr> extents =
        hlir::getExtents(cast<RankedTensorType>(c.typeOf(at)));
    std::optional<Expr> index = ViewReader(c).getIndex(
        {at, MapAttr::getIdentity(c.getContext(), extents.size())},
        hlir::getAssumptions(c.scope(), extents));
    for (unsigned d = 0; index && d < extents.size(); ++d)
      if (*index == Expr::dim(d))
        return d;
  }
  return std::nullopt;
}

/// The operand classes of the last op of the composed running product of
/// `factors`.
static Classes compose(MatchContext &c, const Factors &factors, unsigned axis,
                       Type rounded) {
  Location loc = UnknownLoc::get(c.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto element = UnrealizedConversionCastOp::create(
      b, loc, c.typeOf(factors.of), ValueRange());
  Assumptions symbols = hlir::getAssumptions(c.scope());
  hlir::Composer composer(b, loc, symbols);
  Value product = hlir::runningProduct(composer, element.getResult(0), axis,
                                       factors.steps, rounded);
  if (!composer.checkShapes())
    return {};
  DenseMap<Value, ClassId> classes = {{element.getResult(0), factors.of}};
  Classes operands;
  for (Operation &op : llvm::drop_begin(*module->getBody())) {
    operands.clear();
    for (Value operand : op.getOperands())
      operands.push_back(classes.lookup(operand));
    if (&op == product.getDefiningOp())
      return operands;
    ClassId cls = c.create(&op, operands);
    if (cls == kNone)
      return {};
    classes[op.getResult(0)] = cls;
  }
  return {};
}

/// The value of type `type` from which a class was cast.
static std::optional<ClassId> findNarrow(const MatchContext &c, ClassId wide,
                                         Type type) {
  Classes at = {wide};
  for (unsigned casts = 0; casts < 2; ++casts) {
    at = getOperands(c, at, "hlir.cast", 0);
    for (ClassId cls : at)
      if (cast<RankedTensorType>(c.typeOf(cls)).getElementType() == type)
        return cls;
  }
  return std::nullopt;
}

/// (is defined, result, undefined, type): a running product of f64, or one
/// rounded to a narrower type
static bool scanFloats(MatchContext &c, NativeArgs args,
                       NativeResults &results) {
  const Classes given = {args[0].asClass(), args[1].asClass(),
                         args[2].asClass()};
  auto type = cast<RankedTensorType>(args[3].asType());
  Type element = type.getElementType();
  Builder b(c.getContext());
  std::optional<unsigned> axis = findAxis(c, given[0]);
  if (!axis || !isa<FloatType>(element) ||
      !cast<RankedTensorType>(c.typeOf(given[1])).getElementType().isF64())
    return false;
  // Products of 16-bit types accumulate in f32.
  Type rounded = element.isF16() || element.isBF16() ? Type(b.getF32Type())
                                                     : Type(b.getF64Type());
  for (const Factors &factors : findFactors(c, given[1])) {
    std::optional<ClassId> from =
        element.isF64() ? factors.of : findNarrow(c, factors.of, element);
    if (!from || *axis >= type.getRank() ||
        !cast<RankedTensorType>(c.typeOf(factors.of))
             .getElementType()
             .isF64() ||
        compose(c, factors, *axis, rounded) != given)
      continue;
    const int64_t covered = int64_t(1) << std::min(factors.steps, 62U);
    if (!hlir::getAssumptions(c.scope()).provablyLessEqual(
            hlir::getExtents(type)[*axis], covered))
      continue;
    NamedAttribute how[] = {
        b.getNamedAttr("kind", llir::ScanKindAttr::get(
                                   c.getContext(), llir::ScanKind::Product)),
        b.getNamedAttr("axis", b.getI64IntegerAttr(*axis)),
        b.getNamedAttr("reverse", b.getBoolAttr(false)),
        b.getNamedAttr("exclusive", b.getBoolAttr(false)),
        b.getNamedAttr("positions", b.getBoolAttr(false))};
    ClassId scan = c.create("llir.scan", b.getDictionaryAttr(how), type, *from);
    if (scan == kNone)
      return false;
    results.push_back(NativeValue::ofClass(scan));
    return true;
  }
  return false;
}

void luminal::eqsat::addProductNatives(RuleSetBuilder &set) {
  set.rewrite("ScanRunningFloats", scanFloats);
}
