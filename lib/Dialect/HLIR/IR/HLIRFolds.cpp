//===- HLIRFolds.cpp - Folds and canonicalizations ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds that always shrink the program. Everything with two useful directions
// is a rule of the e-graph. A folded constant equals the op's definition bit
// for bit.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Support/Scalar.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Larger constants are not folded, to bound compile time and memory.
static constexpr int64_t kMaxFoldedElements = 1024;

namespace {
/// The elements of a constant, one for a splat. Each is stored in its dtype at
/// the front of eight bytes.
struct Elements {
  DType dtype;
  SmallVector<std::array<char, 8>> values;
  bool splat;
};
} // namespace

static std::optional<Elements> getElements(Attribute attribute) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense)
    return std::nullopt;
  std::optional<DType> dtype = getDType(dense.getElementType());
  if (!dtype ||
      (!dense.isSplat() && dense.getNumElements() > kMaxFoldedElements))
    return std::nullopt;
  Elements result{*dtype, {}, dense.isSplat()};
  auto push = [&](const APInt &bits) {
    std::array<char, 8> bytes{};
    storeInt(DType::I64, static_cast<int64_t>(bits.getZExtValue()),
             bytes.data());
    result.values.push_back(bytes);
  };
  bool isFloat = isa<FloatType>(dense.getElementType());
  auto pushAll = [&](auto &&range) {
    for (const auto &value : range) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, APFloat>)
        push(value.bitcastToAPInt());
      else
        push(value);
      if (result.splat)
        break;
    }
  };
  if (isFloat)
    pushAll(dense.getValues<APFloat>());
  else
    pushAll(dense.getValues<APInt>());
  return result;
}

static Attribute getAttribute(const Elements &elements, Type type) {
  auto shaped = cast<ShapedType>(type);
  unsigned width = shaped.getElementType().getIntOrFloatBitWidth();
  auto bitsOf = [&](const std::array<char, 8> &bytes) {
    return APInt(width,
                 static_cast<uint64_t>(loadInt(DType::I64, bytes.data())),
                 /*isSigned=*/false, /*implicitTrunc=*/true);
  };
  if (auto floatType = dyn_cast<FloatType>(shaped.getElementType())) {
    SmallVector<APFloat> values;
    for (const std::array<char, 8> &bytes : elements.values)
      values.emplace_back(floatType.getFloatSemantics(), bitsOf(bytes));
    return DenseElementsAttr::get(shaped, values);
  }
  SmallVector<APInt> values;
  for (const std::array<char, 8> &bytes : elements.values)
    values.push_back(bitsOf(bytes));
  return DenseElementsAttr::get(shaped, values);
}

/// fn(element, result) for each element; the result has the dtype of `type`.
static Attribute foldUnary(Attribute operand, Type type,
                           function_ref<void(DType, const void *, void *)> fn) {
  std::optional<Elements> x = getElements(operand);
  if (!x || !cast<ShapedType>(type).hasStaticShape())
    return {};
  Elements result{*getDType(getElementTypeOrSelf(type)), {}, x->splat};
  for (const std::array<char, 8> &value : x->values) {
    std::array<char, 8> bytes{};
    fn(x->dtype, value.data(), bytes.data());
    result.values.push_back(bytes);
  }
  return getAttribute(result, type);
}

/// Which NaN a function returns differs between machines, so constants use one
/// NaN.
static void storeFolded(DType t, double value, void *result) {
  storeFloat(
      t, std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value,
      result);
}

static Attribute foldFloat(Attribute operand, Type type, double (*fn)(double)) {
  return foldUnary(operand, type, [&](DType t, const void *x, void *result) {
    storeFolded(t, fn(loadFloat(t, x)), result);
  });
}

static Attribute
foldBinary(Attribute lhs, Attribute rhs, Type type,
           function_ref<void(DType, const void *, const void *, void *)> fn) {
  std::optional<Elements> a = getElements(lhs), b = getElements(rhs);
  if (!a || !b || !cast<ShapedType>(type).hasStaticShape())
    return {};
  Elements result{
      *getDType(getElementTypeOrSelf(type)), {}, a->splat && b->splat};
  size_t count = std::max(a->values.size(), b->values.size());
  // Without this a splat would give an empty tensor an element.
  if (cast<ShapedType>(type).getNumElements() == 0)
    return {};
  for (size_t i = 0; i < count; ++i) {
    std::array<char, 8> bytes{};
    fn(a->dtype, a->values[a->splat ? 0 : i].data(),
       b->values[b->splat ? 0 : i].data(), bytes.data());
    result.values.push_back(bytes);
  }
  return getAttribute(result, type);
}

/// Floats in double (which is exact enough to round once), integers in 64 bits.
static Attribute foldArithmetic(Attribute lhs, Attribute rhs, Type type,
                                double (*onFloat)(double, double),
                                int64_t (*onInt)(int64_t, int64_t)) {
  return foldBinary(
      lhs, rhs, type, [&](DType t, const void *a, const void *b, void *r) {
        if (isFloatDType(t))
          storeFolded(t, onFloat(loadFloat(t, a), loadFloat(t, b)), r);
        else
          storeInt(t, onInt(loadInt(t, a), loadInt(t, b)), r);
      });
}

static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

using Operands = ArrayRef<Attribute>;

template <double (*fn)(double)>
static Attribute foldFunction(Operands x, Type type) {
  return foldFloat(x[0], type, fn);
}
static double reciprocal(double x) { return 1.0 / x; }

static Attribute foldAdd(Operands x, Type type) {
  return foldArithmetic(
      x[0], x[1], type, [](double a, double b) { return a + b; },
      [](int64_t a, int64_t b) { return wrap(uint64_t(a) + uint64_t(b)); });
}
static Attribute foldMul(Operands x, Type type) {
  return foldArithmetic(
      x[0], x[1], type, [](double a, double b) { return a * b; },
      [](int64_t a, int64_t b) { return wrap(uint64_t(a) * uint64_t(b)); });
}
static Attribute foldMod(Operands x, Type type) {
  return foldArithmetic(
      x[0], x[1], type, [](double a, double b) { return std::fmod(a, b); },
      remainderOf);
}
static Attribute foldLessThan(Operands x, Type type) {
  return foldBinary(
      x[0], x[1], type, [](DType t, const void *a, const void *b, void *r) {
        bool less = isFloatDType(t) ? loadFloat(t, a) < loadFloat(t, b)
                                    : loadInt(t, a) < loadInt(t, b);
        storeInt(DType::I1, less, r);
      });
}
static Attribute foldCast(Operands x, Type type) {
  DType to = *getDType(getElementTypeOrSelf(type));
  return foldUnary(x[0], type, [&](DType from, const void *x, void *result) {
    castElement(from, x, to, result);
  });
}

static Attribute foldBitcast(Operands x, Type type) {
  return foldUnary(x[0], type, [](DType from, const void *x, void *result) {
    std::memcpy(result, x, dtypeSize(from));
  });
}

Attribute hlir::foldConstants(OperationName name, ArrayRef<Attribute> operands,
                              Type type) {
  using Folder = Attribute (*)(Operands, Type);
  static const llvm::DenseMap<TypeID, Folder> folders = {
      {TypeID::get<Log2Op>(), foldFunction<std::log2>},
      {TypeID::get<Exp2Op>(), foldFunction<std::exp2>},
      {TypeID::get<SinOp>(), foldFunction<std::sin>},
      {TypeID::get<SqrtOp>(), foldFunction<std::sqrt>},
      {TypeID::get<RecipOp>(), foldFunction<reciprocal>},
      {TypeID::get<AddOp>(), foldAdd},
      {TypeID::get<MulOp>(), foldMul},
      {TypeID::get<ModOp>(), foldMod},
      {TypeID::get<LessThanOp>(), foldLessThan},
      {TypeID::get<CastOp>(), foldCast},
      {TypeID::get<BitcastOp>(), foldBitcast}};
  Folder folder = folders.lookup(name.getTypeID());
  return folder ? folder(operands, type) : Attribute();
}

template <typename Op>
static OpFoldResult foldOp(Op op, typename Op::FoldAdaptor adaptor) {
  return foldConstants(op->getName(), adaptor.getOperands(), op.getType());
}

OpFoldResult Log2Op::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult Exp2Op::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult SinOp::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult SqrtOp::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult RecipOp::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult AddOp::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult MulOp::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult ModOp::fold(FoldAdaptor a) { return foldOp(*this, a); }
OpFoldResult LessThanOp::fold(FoldAdaptor a) { return foldOp(*this, a); }

/// Whether `to` holds every value of `from`, so that a cast there and back
/// changes nothing.
static bool isLossless(DType from, DType to) {
  // Bits of the significand (for integers, of the magnitude) and of the
  // exponent.
  struct Size {
    unsigned significand, exponent;
    bool isSigned;
  };
  auto sizeOf = [](DType t) -> Size {
    switch (t) {
    case DType::F64:
      return {53, 11, true};
    case DType::F32:
      return {24, 8, true};
    case DType::BF16:
      return {8, 8, true};
    case DType::F16:
      return {11, 5, true};
    case DType::F8E4M3:
      return {4, 4, true};
    case DType::F8E5M2:
      return {3, 5, true};
    case DType::I64:
      return {63, 0, true};
    case DType::I32:
      return {31, 0, true};
    case DType::I8:
      return {7, 0, true};
    case DType::U8:
      return {8, 0, false};
    case DType::I16:
      return {15, 0, true};
    case DType::U16:
      return {16, 0, false};
    case DType::U32:
      return {32, 0, false};
    case DType::I1:
      return {1, 0, false};
    }
    llvm_unreachable("covered switch");
  };
  Size a = sizeOf(from), b = sizeOf(to);
  if (to == DType::I1 || to == DType::F8E4M3 || to == DType::F8E5M2)
    return from == to;
  if (isFloatDType(from))
    return isFloatDType(to) && a.significand <= b.significand &&
           a.exponent <= b.exponent;
  // The least value of a signed integer type is a power of two. A float with
  // enough exponent bits holds it exactly, and every float that holds the other
  // values has enough.
  return a.significand <= b.significand && (!a.isSigned || b.isSigned);
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<CastOp>()) {
    if (inner.getOperand().getType() == getType() &&
        isLossless(*getDType(getElementTypeOrSelf(getType())),
                   *getDType(getElementTypeOrSelf(inner.getType()))))
      return inner.getOperand();
  }
  return foldOp(*this, adaptor);
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<BitcastOp>();
  if (inner && inner.getOperand().getType() == getType())
    return inner.getOperand();
  return foldOp(*this, adaptor);
}

/// The value of all elements, if `value` is a splat constant or a view of one.
static std::optional<bool> getUniformBool(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getOperand();
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat() || !dense.getElementType().isInteger(1))
    return std::nullopt;
  return dense.getSplatValue<bool>();
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  if (std::optional<bool> condition = getUniformBool(getCondition()))
    return *condition ? getOnTrue() : getOnFalse();
  return {};
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Number of floordiv, mod, max and min nodes: the run-time cost of a map.
static unsigned complexity(const Expr &e) {
  unsigned result = e.operands().empty() || e.kind() == Expr::Kind::Add ||
                            e.kind() == Expr::Kind::Mul
                        ? 0
                        : 1;
  for (const Expr &operand : e.operands())
    result += complexity(operand);
  return result;
}

static unsigned complexity(MapAttr map) {
  unsigned result = 0;
  for (const Expr &e : map.getResults())
    result += complexity(e);
  return result;
}

/// The composition of `outer` and `inner` in normal form; null if it would cost
/// more than both maps.
static MapAttr compose(Operation *op, ArrayRef<Expr> extents, MapAttr outer,
                       MapAttr inner) {
  SmallVector<Expr> results = outer.composeResults(inner);
  for (const Expr &e : results)
    if (e.isUndefined())
      return {};
  MapAttr map = MapAttr::getSimplified(op->getContext(), results,
                                       getAssumptions(op, extents));
  return complexity(map) <= complexity(outer) + complexity(inner) ? map
                                                                  : MapAttr();
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getMap().isIdentity() && getType() == getOperand().getType())
    return getOperand();
  SmallVector<Expr> extents = getExtents(getResult());
  MapAttr simplified = MapAttr::getSimplified(
      getContext(), getMap().getResults(), getAssumptions(*this, extents));
  if (simplified != getMap()) {
    setMapAttr(simplified);
    return getResult();
  }
  auto inner = getOperand().getDefiningOp<ViewOp>();
  if (!inner)
    return {};
  MapAttr map = compose(*this, extents, getMap(), inner.getMap());
  if (!map)
    return {};
  setMapAttr(map);
  setOperand(inner.getOperand());
  return getResult();
}

namespace {
/// A view of an iota is an iota.
struct ViewOfIota : OpRewritePattern<ViewOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ViewOp op,
                                PatternRewriter &rewriter) const override {
    auto iota = op.getOperand().getDefiningOp<IotaOp>();
    if (!iota)
      return failure();
    MapAttr map =
        compose(op, getExtents(op.getResult()), op.getMap(), iota.getMap());
    if (!map)
      return failure();
    rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), map);
    return success();
  }
};
} // namespace

void ViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<ViewOfIota>(context);
}

OpFoldResult IotaOp::fold(FoldAdaptor) {
  SmallVector<Expr> extents = getExtents(getResult());
  auto type = cast<RankedTensorType>(getType());
  std::optional<int64_t> value = getMap().getResults()[0].asConstant();
  if (type.getRank() == 0 && value) {
    unsigned width = type.getElementType().getIntOrFloatBitWidth();
    return DenseElementsAttr::get(type,
                                  APInt(width, static_cast<uint64_t>(*value),
                                        /*isSigned=*/true,
                                        /*implicitTrunc=*/true));
  }
  Expr e = getMap().getResults()[0];
  Expr simplified = getAssumptions(*this, extents).simplify(e);
  if (simplified == e)
    return {};
  setMapAttr(MapAttr::get(getContext(), getMap().getNumDims(), simplified));
  return getResult();
}
