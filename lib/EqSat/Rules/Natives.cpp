//===- Natives.cpp - Native functions of the rules ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rules.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/HLIR/Utils/CompositeConstants.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "luminal/Dialect/LLIR/Utils/UserKernels.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using hlir::MapAttr;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

RankedTensorType eqsat::tensorOf(const MatchContext &c, const NativeValue &v) {
  return dyn_cast<RankedTensorType>(v.getKind() == NativeValue::Kind::Type
                                        ? v.asType()
                                        : c.typeOf(v.asClass()));
}

static Type elementOf(const MatchContext &c, const NativeValue &v) {
  RankedTensorType type = tensorOf(c, v);
  return type ? type.getElementType() : Type();
}

static TypedAttr numberOf(const MatchContext &c, const NativeValue &v) {
  return cast_or_null<TypedAttr>(c.fact("number", v.asClass()));
}

MapAttr eqsat::mapOf(const NativeValue &v) { return cast<MapAttr>(v.asAttr()); }

/// The assumptions that hold for the index space of a tensor of this type.
static Assumptions assumptionsOf(const MatchContext &c, RankedTensorType type) {
  return hlir::getAssumptions(c.scope(), hlir::getExtents(type));
}

static MapAttr simplified(const MatchContext &c, ArrayRef<Expr> results,
                          RankedTensorType type) {
  return MapAttr::getSimplified(c.getContext(), results,
                                assumptionsOf(c, type));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Compares bits, so 0 differs from -0; all NaNs are equal.
static bool is(MatchContext &c, NativeArgs args, NativeResults &) {
  TypedAttr number = numberOf(c, args[0]);
  if (!number)
    return false;
  double literal = cast<FloatAttr>(args[1].asAttr()).getValueAsDouble();
  if (auto x = dyn_cast<FloatAttr>(number))
    if (x.getValue().isNaN())
      return std::isnan(literal);
  return number == numberOfType(literal, number.getType());
}

static bool isOrderedNumber(MatchContext &c, NativeArgs args, NativeResults &) {
  TypedAttr number = numberOf(c, args[0]);
  auto x = dyn_cast_or_null<FloatAttr>(number);
  return number && !(x && x.getValue().isNaN());
}

static bool isBelowHalf(MatchContext &c, NativeArgs args, NativeResults &) {
  auto x = dyn_cast_or_null<FloatAttr>(numberOf(c, args[0]));
  if (!x)
    return false;
  APFloat value = x.getValue();
  value.next(/*nextDown=*/false);
  return value.isExactlyValue(0.5);
}

static bool number(MatchContext &c, NativeArgs args, NativeResults &results) {
  auto x = dyn_cast_or_null<FloatAttr>(numberOf(c, args[0]));
  if (!x)
    return false;
  results.push_back(
      Builder(c.getContext()).getF64FloatAttr(x.getValueAsDouble()));
  return true;
}

ClassId luminal::eqsat::makeSplat(MatchContext &c, TypedAttr value,
                                  RankedTensorType shape) {
  Builder b(c.getContext());
  auto dictionary = [&](StringRef name, Attribute attr) {
    return b.getDictionaryAttr(b.getNamedAttr(name, attr));
  };
  auto scalarType = RankedTensorType::get({}, value.getType());
  ClassId scalar = c.create(
      "hlir.constant",
      dictionary("value", DenseElementsAttr::get(scalarType, Attribute(value))),
      scalarType, {});
  if (scalar == kNone || shape.getRank() == 0)
    return scalar;
  auto map = MapAttr::get(c.getContext(), shape.getRank(), ArrayRef<Expr>());
  return c.create("hlir.view", dictionary("map", map),
                  hlir::withElementType(shape, value.getType()), {scalar});
}

static bool fold(MatchContext &c, NativeArgs args, NativeResults &results) {
  auto type = cast<RankedTensorType>(args[1].asType());
  TypedAttr value = numberOf(c, args[0]);
  if (value.getType() != type.getElementType())
    return false;
  results.push_back(NativeValue::ofClass(makeSplat(c, value, type)));
  return true;
}

static bool one(MatchContext &c, NativeArgs args, NativeResults &results) {
  RankedTensorType type = tensorOf(c, args[0]);
  results.push_back(NativeValue::ofClass(
      makeSplat(c, numberOfType(1, type.getElementType()), type)));
  return true;
}

/// Whether the class has a known number but no node that is a constant or the
/// view of a scalar.
static bool isUnfoldedNumber(MatchContext &c, NativeArgs args,
                             NativeResults &) {
  ClassId cls = args[0].asClass();
  if (!c.fact("number", cls))
    return false;
  bool folded = false;
  c.forEachNode(cls, "hlir.constant", [&](const MatchedOp &) {
    folded = true;
    return false;
  });
  c.forEachNode(cls, "hlir.view", [&](const MatchedOp &view) {
    folded |= cast<MapAttr>(c.attrOf(view, "map")).getResults().empty();
    return !folded;
  });
  return !folded;
}

/// Holds if the class contains a constant with these elements.
static FastConstraint isTable(ArrayRef<double> values) {
  return [values](MatchContext &c, NativeArgs args, NativeResults &) {
    bool found = false;
    c.forEachNode(args[0].asClass(), "hlir.constant", [&](const MatchedOp &op) {
      auto table = dyn_cast_or_null<DenseFPElementsAttr>(c.attrOf(op, "value"));
      if (!table ||
          table.getNumElements() != static_cast<int64_t>(values.size()))
        return true;
      found = true;
      for (auto [attr, value] :
           llvm::zip_equal(table.getValues<FloatAttr>(), values))
        found &= attr == numberOfType(value, table.getElementType());
      return !found;
    });
    return found;
  };
}

/// Holds if the class contains a constant of an integer type with an element
/// for each bit, `isValue(element, bit)`.
template <typename F>
static FastConstraint isBitTable(F isValue) {
  return [=](MatchContext &c, NativeArgs args, NativeResults &) {
    bool found = false;
    c.forEachNode(args[0].asClass(), "hlir.constant", [&](const MatchedOp &op) {
      auto table =
          dyn_cast_or_null<DenseIntElementsAttr>(c.attrOf(op, "value"));
      if (!table || table.isSplat())
        return true;
      auto values = table.getValues<APInt>();
      found = table.getNumElements() == (*values.begin()).getBitWidth();
      for (auto [k, value] : llvm::enumerate(values))
        found &= found && isValue(value, unsigned(k));
      return !found;
    });
    return found;
  };
}

static bool isAscendingPower(const APInt &value, unsigned bit) {
  return value.isOneBitSet(bit);
}
static bool isDescendingPower(const APInt &value, unsigned bit) {
  return value.isOneBitSet(value.getBitWidth() - 1 - bit);
}
static bool isBitNumber(const APInt &value, unsigned bit) {
  return value == bit;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isFloat(MatchContext &c, NativeArgs args, NativeResults &) {
  return isa_and_nonnull<FloatType>(elementOf(c, args[0]));
}

static bool isInteger(MatchContext &c, NativeArgs args, NativeResults &) {
  Type type = elementOf(c, args[0]);
  return type && (type.isSignlessInteger(32) || type.isInteger(64));
}

static bool isIntegerOrBool(MatchContext &c, NativeArgs args,
                            NativeResults &r) {
  Type type = elementOf(c, args[0]);
  return type && (type.isInteger(1) || isInteger(c, args, r));
}

static bool isIntegerOf(MatchContext &c, NativeArgs args, NativeResults &) {
  Type type = elementOf(c, args[0]);
  return type && type.isInteger(cast<IntegerAttr>(args[1].asAttr()).getInt());
}

static bool isF64(MatchContext &c, NativeArgs args, NativeResults &) {
  Type type = elementOf(c, args[0]);
  return type && type.isF64();
}

/// Number of significand bits, including the implicit one, of a float type that
/// is not a storage type.
static unsigned precisionOf(Type type) {
  auto x = dyn_cast_or_null<FloatType>(type);
  return x && !hlir::isStorageType(type) ? x.getFPMantissaWidth() : 0;
}

/// f16 is not wider than bf16, because its range is smaller.
static bool isWiderFloat(Type wide, Type narrow) {
  unsigned p = precisionOf(wide), q = precisionOf(narrow);
  return q && p > q && p >= 24;
}

static bool isWider(Type wide, Type narrow) {
  if (!wide || !narrow)
    return false;
  if (auto p = precisionOf(wide)) {
    if (narrow.isInteger(1) || narrow.isSignlessInteger(32))
      return narrow.isInteger(1) || p >= 32;
    return isWiderFloat(wide, narrow);
  }
  if (wide.isInteger(64))
    return narrow.isSignlessInteger(32) || narrow.isInteger(1);
  return wide.isSignlessInteger(32) && narrow.isInteger(1);
}

using TypeTest = bool (*)(Type wide, Type narrow);
template <TypeTest test>
static bool compareElements(MatchContext &c, NativeArgs args, NativeResults &) {
  return test(elementOf(c, args[0]), elementOf(c, args[1]));
}

static bool isMuchWider(Type wide, Type narrow) {
  return isWiderFloat(wide, narrow) &&
         precisionOf(wide) >= 2 * precisionOf(narrow) + 2;
}

static bool isAccumulator(Type wide, Type narrow) {
  return wide && narrow && wide.isF32() && (narrow.isF16() || narrow.isBF16());
}

static bool sameElement(Type a, Type b) { return a && a == b; }

static bool sameType(MatchContext &c, NativeArgs args, NativeResults &) {
  return c.typeOf(args[0].asClass()) == c.typeOf(args[1].asClass());
}

static bool sourceType(MatchContext &c, NativeArgs args,
                       NativeResults &results) {
  results.push_back(
      Type(hlir::withElementType(tensorOf(c, args[0]), elementOf(c, args[1]))));
  return true;
}

/// Holds if the source has no more elements than the result. Fails for a known
/// number, which is folded in its own shape instead.
static bool dropsNothing(MatchContext &c, NativeArgs args, NativeResults &) {
  if (numberOf(c, args[0]))
    return false;
  auto elements = [&](const NativeValue &v) {
    return llir::countElements(tensorOf(c, v));
  };
  return hlir::getAssumptions(c.scope()).provablyLessEqual(elements(args[0]),
                                                           elements(args[1]));
}

/// Holds if the source has fewer elements, or equally many and a lower rank. An
/// op of two operands is moved only in this order. Otherwise moves among views
/// of equal size could follow each other for ever, each with a new op.
static bool shrinks(MatchContext &c, NativeArgs args, NativeResults &results) {
  if (!dropsNothing(c, args, results))
    return false;
  SmallVector<Expr> source = hlir::getExtents(tensorOf(c, args[0]));
  SmallVector<Expr> result = hlir::getExtents(tensorOf(c, args[1]));
  return source.size() < result.size() ||
         hlir::getAssumptions(c.scope()).provablyLess(
             product({source.begin(), source.end()}),
             product({result.begin(), result.end()}));
}

/// Holds if no node of the class reads a source of this shape through this map.
/// If there is one, moving the view would only spell its source again: for
/// ever, if an op leaves its operand unchanged (x * 1), and otherwise once for
/// each pair of spellings.
static bool lacksView(MatchContext &c, NativeArgs args, NativeResults &) {
  MatchedOp root = args[0].asOp();
  Type source = hlir::withElementType(
      tensorOf(c, args[2]),
      cast<RankedTensorType>(c.typeOf(root)).getElementType());
  bool lacks = true;
  c.forEachNode(root.cls, "hlir.view", [&](const MatchedOp &view) {
    lacks = c.attrOf(view, "map") != args[1].asAttr() ||
            c.typeOf(view.operands[0]) != source;
    return lacks;
  });
  return lacks;
}

//===----------------------------------------------------------------------===//
// Functions of LLIR
//===----------------------------------------------------------------------===//

static llir::Fn fnOf(const NativeValue &v) {
  return cast<llir::FnAttr>(v.asAttr()).getValue();
}

static bool isRounding(llir::Fn fn, MLIRContext *context) {
  return llir::getUlps(fn, Float64Type::get(context)) > 0.5;
}

SmallVector<llir::Fn> luminal::eqsat::roundingFunctions(MLIRContext *context,
                                                        unsigned arity) {
  SmallVector<llir::Fn> functions;
  for (unsigned i = 0; i <= llir::getMaxEnumValForFn(); ++i)
    if (std::optional<llir::Fn> fn = llir::symbolizeFn(i))
      if (isRounding(*fn, context) && llir::getArity(*fn) == arity)
        functions.push_back(*fn);
  return functions;
}

/// The promise of the rule is the accuracy of the function's code.
static bool isAdmitted(MatchContext &c, NativeArgs args, NativeResults &) {
  llir::Fn fn = fnOf(args[0]);
  return isRounding(fn, c.getContext()) &&
         llir::getUlps(fn, elementOf(c, args[1])) <= c.policy.maxUlps;
}

static bool isArithmetic(MatchContext &, NativeArgs args, NativeResults &) {
  using llir::Fn;
  static constexpr Fn list[] = {Fn::Add, Fn::Sub,  Fn::Mul,
                                Fn::Div, Fn::Sqrt, Fn::Recip};
  return llvm::is_contained(list, fnOf(args[0]));
}

static bool isCommutative(MatchContext &, NativeArgs args, NativeResults &) {
  return llir::isCommutative(fnOf(args[0]));
}

static bool isSelective(MatchContext &, NativeArgs args, NativeResults &) {
  using llir::Fn;
  static constexpr Fn list[] = {Fn::Neg,  Fn::Abs,   Fn::Floor,
                                Fn::Ceil, Fn::Round, Fn::Trunc,
                                Fn::Max,  Fn::Min,   Fn::Mod};
  return llvm::is_contained(list, fnOf(args[0]));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

static SmallVector<Expr> dims(unsigned begin, unsigned end) {
  SmallVector<Expr> result;
  for (unsigned i = begin; i < end; ++i)
    result.push_back(Expr::dim(i));
  return result;
}

static bool repeatsRows(MatchContext &c, NativeArgs args, NativeResults &) {
  RankedTensorType type = tensorOf(c, args[1]);
  return type.getRank() != 0 &&
         mapOf(args[0]) == simplified(c, dims(0, type.getRank() - 1), type);
}

/// Maps contain 0 for dims of extent 1, so any two such dims can correspond.
static bool rowsOfLines(MatchContext &c, NativeArgs args,
                        NativeResults &results) {
  RankedTensorType type = tensorOf(c, args[3]);
  SmallVector<Expr> lines = hlir::getExtents(tensorOf(c, args[2]));
  SmallVector<Expr> extents = hlir::getExtents(type);
  if (lines.empty() || lines.size() != extents.size())
    return false;
  Assumptions assumptions = hlir::getAssumptions(c.scope());
  SmallVector<std::optional<Expr>> inverse(lines.size());
  for (auto [i, e] : llvm::enumerate(mapOf(args[0]).getResults())) {
    std::optional<unsigned> dim = e.asDim();
    if (!dim && extents[i].isConstant(1))
      continue;
    // The dim must be read completely and only once.
    if (!dim || inverse[*dim] ||
        assumptions.equal(lines[*dim], extents[i]) != true)
      return false;
    inverse[*dim] = Expr::dim(i);
  }
  SmallVector<Expr> back;
  for (auto [extent, e] : llvm::zip_equal(lines, inverse)) {
    if (!e && !extent.isConstant(1))
      return false;
    back.push_back(e.value_or(Expr(0)));
  }
  if (mapOf(args[1]) != simplified(c, ArrayRef(back).drop_back(), type))
    return false;
  results.push_back(Attribute(simplified(c, back, type)));
  return true;
}

static bool repeatsVector(MatchContext &c, NativeArgs args, NativeResults &) {
  RankedTensorType type = tensorOf(c, args[1]);
  unsigned rank = type.getRank();
  return rank != 0 &&
         mapOf(args[0]) == simplified(c, dims(rank - 1, rank), type);
}

/// The map of the rows of a tensor of type `t`, along whose last dim it
/// repeats.
static bool rowMap(MatchContext &c, NativeArgs args, NativeResults &results) {
  RankedTensorType type = tensorOf(c, args[1]);
  MapAttr map = mapOf(args[0]);
  unsigned rank = type.getRank();
  if (rank == 0 || map.usesDim(rank - 1))
    return false;
  results.push_back(
      Attribute(simplified(c, map.getResults(), tensorOf(c, args[2]))));
  return true;
}

static bool repeatsScalar(MatchContext &, NativeArgs args, NativeResults &) {
  return mapOf(args[0]).getResults().empty();
}

static bool scalarMap(MatchContext &c, NativeArgs args,
                      NativeResults &results) {
  results.push_back(Attribute(MapAttr::get(
      c.getContext(), tensorOf(c, args[0]).getRank(), ArrayRef<Expr>())));
  return true;
}

static bool isIdentityMap(MatchContext &c, NativeArgs args, NativeResults &) {
  RankedTensorType type = tensorOf(c, args[2]);
  if (type != tensorOf(c, args[1]))
    return false;
  MapAttr map = mapOf(args[0]);
  return map.isIdentity() ||
         map == simplified(c, dims(0, type.getRank()), type);
}

static bool identityMap(MatchContext &c, NativeArgs args,
                        NativeResults &results) {
  results.push_back(Attribute(
      MapAttr::getIdentity(c.getContext(), tensorOf(c, args[0]).getRank())));
  return true;
}

static bool composeMaps(MatchContext &c, NativeArgs args,
                        NativeResults &results) {
  results.push_back(Attribute(simplified(
      c, mapOf(args[0]).composeResults(mapOf(args[1])), tensorOf(c, args[2]))));
  return true;
}

static bool contraction(MatchContext &c, NativeArgs args,
                        NativeResults &results) {
  MapAttr lhs = mapOf(args[0]), rhs = mapOf(args[1]);
  SmallVector<Expr> extents = hlir::getExtents(tensorOf(c, args[2]));
  unsigned last = extents.size() - 1;
  bool both = lhs.usesDim(last) && rhs.usesDim(last);
  bool again = false;
  for (unsigned i = 0; i < last; ++i)
    again |= !extents[i].isConstant(1) && !(lhs.usesDim(i) && rhs.usesDim(i));
  if (!again || !(both || extents[last].isConstant(1)))
    return false;
  results.push_back(
      Attribute(MapAttr::get(c.getContext(), 0, ArrayRef(extents[last]))));
  return true;
}

static bool isRowLength(MatchContext &c, NativeArgs args, NativeResults &) {
  Expr length = hlir::getExtents(tensorOf(c, args[1])).back();
  if (TypedAttr number = numberOf(c, args[0]))
    return length.asConstant() &&
           number == numberOfType(static_cast<double>(*length.asConstant()),
                                  number.getType());
  auto extent = cast_or_null<MapAttr>(c.fact("extent", args[0].asClass()));
  return extent && hlir::getAssumptions(c.scope()).equal(extent.getResults()[0],
                                                         length) == true;
}

/// An index without a known range, or an extent without a lower bound, proves
/// nothing.
static bool indexInside(MatchContext &c, NativeArgs args, NativeResults &) {
  auto range =
      cast_or_null<DenseI64ArrayAttr>(c.fact("range", args[0].asClass()));
  if (!range || range[0] < 0)
    return false;
  Expr extent = hlir::getExtents(tensorOf(c, args[1]))[0];
  std::optional<int64_t> least =
      hlir::getAssumptions(c.scope()).lowerBound(extent);
  return least && range[1] < *least;
}

/// Returns the cost and launch of a declared kernel for the values and result
/// types that follow it in `args`. Fails if the kernel does not accept them.
static bool useKernel(MatchContext &c, NativeArgs args,
                      NativeResults &results) {
  auto kernel = llir::UserKernelSpec::fromAttribute(
      cast<DictionaryAttr>(args[0].asAttr()));
  SmallVector<Type> operands, types;
  for (const NativeValue &arg : args.drop_front())
    if (arg.getKind() == NativeValue::Kind::Class)
      operands.push_back(c.typeOf(arg.asClass()));
    else
      types.push_back(arg.asType());
  std::string ignored;
  auto use =
      kernel.getUse(operands, types, hlir::getAssumptions(c.scope()), &ignored);
  if (!use)
    return false;
  results.push_back(Attribute(use->cost));
  results.push_back(Attribute(use->launch));
  return true;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void luminal::eqsat::addNatives(RuleSetBuilder &set) {
  set.constraint("Is", is);
  set.constraint("IsOrderedNumber", isOrderedNumber);
  set.constraint("IsBelowHalf", isBelowHalf);
  set.constraint("IsUnfoldedNumber", isUnfoldedNumber);
  set.constraint("IsErfExponents", isTable(hlir::kErfExponents));
  set.constraint("IsErfWeights", isTable(hlir::kErfWeights));
  set.constraint("IsAscendingPowers", isBitTable(isAscendingPower));
  set.constraint("IsDescendingPowers", isBitTable(isDescendingPower));
  set.constraint("IsBitNumbers", isBitTable(isBitNumber));
  set.constraint("Number", number);
  set.rewrite("Fold", fold);
  set.rewrite("One", one);

  set.constraint("IsFloat", isFloat);
  set.constraint("IsInteger", isInteger);
  set.constraint("IsIntegerOrBool", isIntegerOrBool);
  set.constraint("IsIntegerOf", isIntegerOf);
  set.constraint("IsF64", isF64);
  set.constraint("IsWider", compareElements<isWider>);
  set.constraint("IsWiderFloat", compareElements<isWiderFloat>);
  set.constraint("IsMuchWider", compareElements<isMuchWider>);
  set.constraint("IsAccumulator", compareElements<isAccumulator>);
  set.constraint("SameElement", compareElements<sameElement>);
  set.constraint("SameType", sameType);
  set.rewrite("SourceType", sourceType);
  set.constraint("DropsNothing", dropsNothing);
  set.constraint("Shrinks", shrinks);
  set.constraint("LacksView", lacksView);

  set.constraint("IsAdmitted", isAdmitted);
  set.constraint("IsArithmetic", isArithmetic);
  set.constraint("IsCommutative", isCommutative);
  set.constraint("IsSelective", isSelective);

  set.constraint("RepeatsRows", repeatsRows);
  set.constraint("RowsOfLines", rowsOfLines);
  set.constraint("RepeatsVector", repeatsVector);
  set.constraint("RowMap", rowMap);
  set.constraint("RepeatsScalar", repeatsScalar);
  set.rewrite("ScalarMap", scalarMap);
  set.constraint("IsIdentityMap", isIdentityMap);
  set.constraint("IdentityMap", identityMap);
  set.rewrite("ComposeMaps", composeMaps);
  set.constraint("Contraction", contraction);
  set.constraint("IsRowLength", isRowLength);
  set.constraint("IndexInside", indexInside);
  set.constraint("UseKernel", useKernel);
}
