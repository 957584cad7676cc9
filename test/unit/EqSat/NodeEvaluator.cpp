//===- NodeEvaluator.cpp - The value of one node, by its definition -------===//

#include "NodeEvaluator.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::pair<int, int> formatOf(Type type) {
  auto floatType = cast<FloatType>(type);
  int precision = floatType.getFPMantissaWidth();
  int minExponent =
      APFloat::semanticsMinExponent(floatType.getFloatSemantics());
  return {precision, minExponent};
}

/// Exponent of the last bit of numbers of x's size.
static int lastBit(long double x, Type type) {
  auto [precision, minExponent] = formatOf(type);
  int exponent = minExponent;
  if (x != 0) {
    std::frexp(x, &exponent);
    exponent = std::max(exponent - 1, minExponent);
  }
  return exponent - (precision - 1);
}

long double luminal::test::roundTo(long double x, Type type) {
  if (!std::isfinite(x) || x == 0)
    return x;
  int bit = lastBit(x, type);
  long double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -bit)), bit);
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  int maxExponent = APFloat::semanticsMaxExponent(semantics);
  if (std::fabs(rounded) >= std::ldexp(1.0L, maxExponent + 1))
    return std::copysign(std::numeric_limits<long double>::infinity(), x);
  return std::copysign(rounded, x);
}

long double luminal::test::ulpOf(long double x, Type type) {
  return std::ldexp(1.0L, lastBit(x, type));
}

static int64_t wrap(int64_t x, Type type) {
  if (type.isInteger(1))
    return x & 1;
  return type.isInteger(32) ? static_cast<int32_t>(x) : x;
}

static long double toLongDouble(const APFloat &value) {
  APFloat x = value;
  bool loses;
  x.convert(APFloat::x87DoubleExtended(), APFloat::rmNearestTiesToEven, &loses);
  APInt bits = x.bitcastToAPInt();
  long double result = 0;
  std::memcpy(&result, bits.getRawData(), 10);
  return result;
}

//===----------------------------------------------------------------------===//
// Index spaces
//===----------------------------------------------------------------------===//

static Expr::SymbolValues lookup(const Symbols &symbols) {
  return [&](std::string_view name) -> std::optional<int64_t> {
    auto it = symbols.find(std::string(name));
    if (it == symbols.end())
      return std::nullopt;
    return it->second;
  };
}

std::vector<int64_t> luminal::test::shapeOf(Type type, const Symbols &symbols) {
  std::vector<int64_t> shape;
  for (const Expr &e : hlir::getExtents(cast<RankedTensorType>(type)))
    shape.push_back(e.evaluate(lookup(symbols)).value());
  return shape;
}

static int64_t count(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

/// Calls `f` with every index, in row-major order.
static void
forEachIndex(ArrayRef<int64_t> shape,
             llvm::function_ref<void(const std::vector<int64_t> &)> f) {
  int64_t n = count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i != n; ++i) {
    f(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

static int64_t offsetOf(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t offset = 0;
  for (auto [i, extent] : llvm::zip_equal(index, shape)) {
    if (i < 0 || i >= extent)
      llvm::report_fatal_error("an index leaves its tensor");
    offset = offset * extent + i;
  }
  return offset;
}

static std::vector<int64_t> apply(hlir::MapAttr map,
                                  const std::vector<int64_t> &index,
                                  const Symbols &symbols) {
  std::vector<int64_t> result;
  for (const Expr &e : map.getResults())
    result.push_back(e.evaluate(lookup(symbols), index).value());
  return result;
}

namespace {
class Evaluation {
public:
  Evaluation(OperationName name, DictionaryAttr attributes, Type resultType,
             ArrayRef<const Tensor *> operands, const Symbols &symbols)
      : name(name), attributes(attributes), operands(operands),
        symbols(symbols) {
    result.element = cast<RankedTensorType>(resultType).getElementType();
    result.shape = shapeOf(resultType, symbols);
  }

  bool run();
  Tensor result;

private:
  template <typename Op>
  bool is() const {
    return name.getTypeID() == TypeID::get<Op>();
  }
  hlir::MapAttr map(StringRef attr) const {
    return attributes.getAs<hlir::MapAttr>(attr);
  }
  void push(long double x) { result.f.push_back(roundTo(x, result.element)); }
  void push(int64_t x) { result.i.push_back(wrap(x, result.element)); }
  void copy(const Tensor &from, int64_t offset) {
    if (from.isFloat())
      result.f.push_back(from.f[offset]);
    else
      result.i.push_back(from.i[offset]);
  }

  void constant();
  void cast_();
  bool elementwise(llir::Fn fn);
  void reduce(bool isSum);
  void gemm();
  void gather();
  void scatter();
  void rows(llvm::function_ref<void(std::vector<long double> &)> f);

  OperationName name;
  DictionaryAttr attributes;
  ArrayRef<const Tensor *> operands;
  const Symbols &symbols;
};
} // namespace

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Evaluation::constant() {
  auto elements = attributes.getAs<DenseElementsAttr>("value");
  if (result.isFloat())
    for (const APFloat &x : elements.getValues<APFloat>())
      result.f.push_back(toLongDouble(x));
  else
    for (const APInt &x : elements.getValues<APInt>())
      result.i.push_back(result.element.isInteger(1) ? x.getZExtValue()
                                                     : x.getSExtValue());
}

void Evaluation::cast_() {
  const Tensor &x = *operands[0];
  for (size_t k = 0; k != x.size(); ++k) {
    if (x.isFloat() && result.isFloat()) {
      push(x.f[k]);
    } else if (result.isFloat()) {
      push(static_cast<long double>(x.i[k]));
    } else if (result.element.isInteger(1)) {
      push(int64_t(x.isFloat() ? x.f[k] != 0 : x.i[k] != 0));
    } else if (x.isFloat()) {
      long double limit =
          std::ldexp(1.0L, result.element.isInteger(32) ? 31 : 63);
      long double v = std::trunc(x.f[k]);
      if (std::isnan(v))
        push(int64_t(0));
      else if (v >= limit)
        push(result.element.isInteger(32) ? int64_t(INT32_MAX) : INT64_MAX);
      else if (v < -limit)
        push(result.element.isInteger(32) ? int64_t(INT32_MIN) : INT64_MIN);
      else
        push(static_cast<int64_t>(v));
    } else {
      push(x.i[k]);
    }
  }
}

static long double gelu(long double x) {
  return x / 2 * std::erfc(-x / std::sqrt(2.0L));
}
static long double geluTanh(long double x) {
  long double k = std::sqrt(2 / 3.14159265358979323846264338327950288L);
  // (1 + tanh u) / 2 without the difference.
  return x / (1 + std::exp(-2 * k * (x + 0.044715L * x * x * x)));
}
/// Ties to even, whatever the rounding mode.
static long double nearest(long double x) { return std::nearbyint(x); }

static std::optional<long double> unaryFloat(llir::Fn fn, long double x) {
  using llir::Fn;
  switch (fn) {
  case Fn::Neg:
    return -x;
  case Fn::Abs:
    return std::fabs(x);
  case Fn::Exp:
    return std::exp(x);
  case Fn::Exp2:
    return std::exp2(x);
  case Fn::Expm1:
    return std::expm1(x);
  case Fn::Log:
    return std::log(x);
  case Fn::Log2:
    return std::log2(x);
  case Fn::Log1p:
    return std::log1p(x);
  case Fn::Sin:
    return std::sin(x);
  case Fn::Cos:
    return std::cos(x);
  case Fn::Tanh:
    return std::tanh(x);
  case Fn::Erf:
    return std::erf(x);
  case Fn::Sqrt:
    return std::sqrt(x);
  case Fn::Rsqrt:
    return 1 / std::sqrt(x);
  case Fn::Recip:
    return 1 / x;
  case Fn::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case Fn::Silu:
    return x / (1 + std::exp(-x));
  case Fn::Gelu:
    return gelu(x);
  case Fn::GeluTanh:
    return geluTanh(x);
  case Fn::Floor:
    return std::floor(x);
  case Fn::Ceil:
    return std::ceil(x);
  case Fn::Round:
    return nearest(x);
  case Fn::Trunc:
    return std::trunc(x);
  default:
    return std::nullopt;
  }
}

static std::optional<long double> binaryFloat(llir::Fn fn, long double a,
                                              long double b, Type type) {
  using llir::Fn;
  bool isDouble = type.isF64();
  switch (fn) {
  case Fn::Add:
    return isDouble ? double(a) + double(b) : a + b;
  case Fn::Sub:
    return isDouble ? double(a) - double(b) : a - b;
  case Fn::Mul:
    return isDouble ? double(a) * double(b) : a * b;
  case Fn::Div:
    return isDouble ? double(a) / double(b) : a / b;
  case Fn::Mod:
    return std::fmod(a, b);
  case Fn::Max:
    return std::isnan(a) || std::isnan(b) ? a + b : a < b ? b : a;
  case Fn::Min:
    return std::isnan(a) || std::isnan(b) ? a + b : b < a ? b : a;
  case Fn::Pow:
    return std::pow(a, b);
  case Fn::FloorDiv: {
    if (b == 0)
      return a / b;
    long double r = std::fmod(a, b), q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0))
      q -= 1;
    return nearest(q);
  }
  case Fn::FloorMod: {
    long double r = std::fmod(a, b);
    if (r == 0 || (r < 0) == (b < 0))
      return r;
    return isDouble ? double(r) + double(b) : r + b;
  }
  default:
    return std::nullopt;
  }
}

/// Integers as unsigned, so that they wrap.
static std::optional<int64_t> binaryInteger(llir::Fn fn, int64_t a, int64_t b) {
  using llir::Fn;
  uint64_t x = a, y = b;
  auto remainder = [&] { return b == 0 || b == -1 ? 0 : a % b; };
  auto quotient = [&]() -> int64_t {
    return b == 0 ? 0 : b == -1 ? int64_t(-x) : a / b;
  };
  bool adjust = remainder() != 0 && (remainder() < 0) != (b < 0);
  switch (fn) {
  case Fn::Add:
    return int64_t(x + y);
  case Fn::Sub:
    return int64_t(x - y);
  case Fn::Mul:
    return int64_t(x * y);
  case Fn::Div:
    return quotient();
  case Fn::Mod:
    return remainder();
  case Fn::Max:
    return std::max(a, b);
  case Fn::Min:
    return std::min(a, b);
  case Fn::FloorDiv:
    return quotient() - adjust;
  case Fn::FloorMod:
    return remainder() + (adjust ? b : 0);
  case Fn::Or:
    return a | b;
  default:
    return std::nullopt;
  }
}

template <typename T>
static std::optional<bool> predicate(llir::Fn fn, T a, T b) {
  using llir::Fn;
  switch (fn) {
  case Fn::LessThan:
    return a < b;
  case Fn::LessEqual:
    return a <= b;
  case Fn::Equal:
    return a == b;
  case Fn::IsNan:
    return a != a;
  default:
    return std::nullopt;
  }
}

bool Evaluation::elementwise(llir::Fn fn) {
  using llir::Fn;
  if (fn == Fn::Cast) {
    cast_();
    return true;
  }
  if (fn == Fn::Select) {
    for (size_t k = 0; k != operands[0]->size(); ++k)
      copy(operands[0]->i[k] ? *operands[1] : *operands[2], k);
    return true;
  }
  const Tensor &a = *operands[0], &b = *operands.back();
  for (size_t k = 0; k != a.size(); ++k) {
    std::optional<bool> truth = a.isFloat() ? predicate(fn, a.f[k], b.f[k])
                                            : predicate(fn, a.i[k], b.i[k]);
    if (truth) {
      push(int64_t(*truth));
    } else if (a.isFloat()) {
      std::optional<long double> value =
          operands.size() == 1 ? unaryFloat(fn, a.f[k])
                               : binaryFloat(fn, a.f[k], b.f[k], a.element);
      if (!value)
        return false;
      push(*value);
    } else if (fn == Fn::Not) {
      push(1 - a.i[k]);
    } else if (fn == Fn::Neg || fn == Fn::Abs) {
      bool flip = fn == Fn::Neg || a.i[k] < 0;
      push(flip ? int64_t(-uint64_t(a.i[k])) : a.i[k]);
    } else {
      std::optional<int64_t> value = binaryInteger(fn, a.i[k], b.i[k]);
      if (!value)
        return false;
      push(*value);
    }
  }
  return true;
}

void Evaluation::reduce(bool isSum) {
  const Tensor &x = *operands[0];
  int64_t n = x.shape.back(), total = count(result.shape);
  for (int64_t row = 0; row != total; ++row) {
    if (x.isFloat()) {
      long double value =
          isSum ? 0.0L : -std::numeric_limits<long double>::infinity();
      for (int64_t k = 0; k != n; ++k) {
        long double e = x.f[row * n + k];
        value = isSum                                ? value + e
                : std::isnan(e) || std::isnan(value) ? value + e
                                                     : std::max(value, e);
      }
      push(value);
      continue;
    }
    bool isBool = x.element.isInteger(1);
    int64_t value = isSum || isBool           ? 0
                    : x.element.isInteger(32) ? int64_t(INT32_MIN)
                                              : INT64_MIN;
    for (int64_t k = 0; k != n; ++k) {
      int64_t e = x.i[row * n + k];
      value =
          isSum ? int64_t(uint64_t(value) + uint64_t(e)) : std::max(value, e);
    }
    push(value);
  }
}

void Evaluation::gemm() {
  const Tensor &a = *operands[0], &b = *operands[1];
  int64_t k = map("k").getResults()[0].evaluate(lookup(symbols)).value();
  forEachIndex(result.shape, [&](const std::vector<int64_t> &at) {
    long double sum = 0;
    uint64_t isum = 0;
    std::vector<int64_t> index = at;
    index.push_back(0);
    for (; index.back() != k; ++index.back()) {
      int64_t p = offsetOf(apply(map("lhsMap"), index, symbols), a.shape);
      int64_t q = offsetOf(apply(map("rhsMap"), index, symbols), b.shape);
      if (a.isFloat())
        sum += a.f[p] * b.f[q];
      else
        isum += uint64_t(a.i[p]) * uint64_t(b.i[q]);
    }
    if (a.isFloat())
      push(sum);
    else
      push(int64_t(isum));
  });
}

void Evaluation::gather() {
  const Tensor &data = *operands[0], &indices = *operands[1];
  int64_t row = data.shape[0] ? data.size() / data.shape[0] : 0;
  for (int64_t index : indices.i) {
    if (index < 0 || index >= data.shape[0])
      llvm::report_fatal_error("an index leaves its tensor");
    for (int64_t k = 0; k != row; ++k)
      copy(data, index * row + k);
  }
}

void Evaluation::scatter() {
  const Tensor &dest = *operands[0], &indices = *operands[1],
               &updates = *operands[2];
  hlir::Combine combine =
      attributes.getAs<hlir::CombineAttr>("combine").getValue();
  result.f = dest.f;
  result.i = dest.i;
  int64_t row = dest.shape[0] ? dest.size() / dest.shape[0] : 0, from = 0;
  for (int64_t index : indices.i)
    for (int64_t k = 0; k != row; ++k, ++from) {
      int64_t to = index * row + k;
      if (dest.isFloat()) {
        long double x = result.f[to], y = updates.f[from];
        result.f[to] = combine == hlir::Combine::Set ? y
                       : combine == hlir::Combine::Add
                           ? roundTo(x + y, dest.element)
                           : (x < y ? y : x);
      } else {
        int64_t x = result.i[to], y = updates.i[from];
        result.i[to] = combine == hlir::Combine::Set ? y
                       : combine == hlir::Combine::Add
                           ? wrap(uint64_t(x) + uint64_t(y), dest.element)
                           : std::max(x, y);
      }
    }
}

void Evaluation::rows(llvm::function_ref<void(std::vector<long double> &)> f) {
  const Tensor &x = *operands[0];
  int64_t n = x.shape.back();
  for (size_t row = 0; n && row != x.size() / n; ++row) {
    std::vector<long double> values(x.f.begin() + row * n,
                                    x.f.begin() + (row + 1) * n);
    f(values);
    for (long double v : values)
      push(v);
  }
}

static void normalise(std::vector<long double> &x, double eps, bool center) {
  long double mean = 0, square = 0, n = x.size();
  if (center)
    for (long double v : x)
      mean += v / n;
  for (long double &v : x) {
    v -= mean;
    square += v * v / n;
  }
  for (long double &v : x)
    v /= std::sqrt(square + eps);
}

static void softmax(std::vector<long double> &x) {
  long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
  for (long double v : x)
    top = std::isnan(v) || std::isnan(top) ? v + top : std::max(top, v);
  for (long double &v : x) {
    v = std::exp(v - top);
    sum += v;
  }
  for (long double &v : x)
    v /= sum;
}

bool Evaluation::run() {
  using llir::Fn;
  if (is<hlir::ConstantOp>() || is<llir::ConstantOp>()) {
    constant();
  } else if (is<hlir::ViewOp>() || is<llir::ViewOp>()) {
    forEachIndex(result.shape, [&](const std::vector<int64_t> &at) {
      copy(*operands[0],
           offsetOf(apply(map("map"), at, symbols), operands[0]->shape));
    });
  } else if (is<hlir::IotaOp>() || is<llir::IotaOp>()) {
    forEachIndex(result.shape, [&](const std::vector<int64_t> &at) {
      push(apply(map("map"), at, symbols)[0]);
    });
  } else if (is<llir::ElementwiseOp>()) {
    return elementwise(attributes.getAs<llir::FnAttr>("fn").getValue());
  } else if (is<hlir::Log2Op>()) {
    return elementwise(Fn::Log2);
  } else if (is<hlir::Exp2Op>()) {
    return elementwise(Fn::Exp2);
  } else if (is<hlir::SinOp>()) {
    return elementwise(Fn::Sin);
  } else if (is<hlir::SqrtOp>()) {
    return elementwise(Fn::Sqrt);
  } else if (is<hlir::RecipOp>()) {
    return elementwise(Fn::Recip);
  } else if (is<hlir::AddOp>()) {
    return elementwise(Fn::Add);
  } else if (is<hlir::MulOp>()) {
    return elementwise(Fn::Mul);
  } else if (is<hlir::ModOp>()) {
    return elementwise(Fn::Mod);
  } else if (is<hlir::LessThanOp>()) {
    return elementwise(Fn::LessThan);
  } else if (is<hlir::SelectOp>()) {
    return elementwise(Fn::Select);
  } else if (is<hlir::CastOp>()) {
    cast_();
  } else if (is<hlir::ReduceSumOp>()) {
    reduce(/*isSum=*/true);
  } else if (is<hlir::ReduceMaxOp>()) {
    reduce(/*isSum=*/false);
  } else if (is<llir::ReduceOp>()) {
    reduce(attributes.getAs<llir::ReduceKindAttr>("kind").getValue() ==
           llir::ReduceKind::Sum);
  } else if (is<llir::GemmOp>()) {
    gemm();
  } else if (is<hlir::GatherOp>() || is<llir::GatherOp>()) {
    gather();
  } else if (is<hlir::ScatterOp>() || is<llir::ScatterOp>()) {
    scatter();
  } else if (is<llir::SoftmaxOp>()) {
    rows(softmax);
  } else if (is<llir::LayerNormOp>() || is<llir::RMSNormOp>()) {
    double eps = attributes.getAs<FloatAttr>("eps").getValueAsDouble();
    bool center = is<llir::LayerNormOp>();
    rows([&](std::vector<long double> &x) { normalise(x, eps, center); });
  } else {
    return false;
  }
  return true;
}

std::optional<Tensor> luminal::test::evaluate(OperationName name,
                                              DictionaryAttr attributes,
                                              Type resultType,
                                              ArrayRef<const Tensor *> operands,
                                              const Symbols &symbols) {
  Evaluation evaluation(name, attributes, resultType, operands, symbols);
  if (!evaluation.run())
    return std::nullopt;
  return std::move(evaluation.result);
}
