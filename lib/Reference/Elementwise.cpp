//===- Elementwise.cpp - Scalar functions by definition -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluator.h"
#include "luminal/Support/Scalar.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// An array of one dtype, read and written as Value. F64 and F32 are read as
/// double (exact); writing rounds once. Narrower floats are read from a table.
template <typename T>
struct Plain {
  template <typename V>
  static V load(const char *p, int64_t i) {
    T value;
    std::memcpy(&value, p + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    return static_cast<V>(value);
  }
  template <typename V>
  static void store(V value, char *p, int64_t i) {
    auto element = static_cast<T>(value);
    std::memcpy(p + static_cast<size_t>(i) * sizeof(T), &element, sizeof(T));
  }
};
struct Half {
  static double load(const char *p, int64_t i) {
    return decodeSmallFloat(kF16Format, Plain<uint16_t>::load<uint16_t>(p, i));
  }
  static void store(double value, char *p, int64_t i) {
    Plain<uint16_t>::store(doubleToF16(value), p, i);
  }
};
struct BrainFloat {
  static double load(const char *p, int64_t i) {
    return bf16ToFloat(Plain<uint16_t>::load<uint16_t>(p, i));
  }
  static void store(double value, char *p, int64_t i) {
    Plain<uint16_t>::store(doubleToBF16(value), p, i);
  }
};
struct Single {
  static double load(const char *p, int64_t i) {
    return Plain<float>::load<double>(p, i);
  }
  static void store(double value, char *p, int64_t i) {
    Plain<float>::store(value, p, i);
  }
};
struct Double {
  static double load(const char *p, int64_t i) {
    return Plain<double>::load<double>(p, i);
  }
  static void store(double value, char *p, int64_t i) {
    Plain<double>::store(value, p, i);
  }
};
} // namespace

/// Calls fn with the accessor of a float dtype.
template <typename Fn>
static ChunkFn forFloat(DType t, Fn fn) {
  switch (t) {
  case DType::F32:
    return fn(Single());
  case DType::F64:
    return fn(Double());
  case DType::F16:
    return fn(Half());
  case DType::BF16:
    return fn(BrainFloat());
  default:
    return {};
  }
}

/// out = f(x), computed in double and rounded once.
template <typename F>
static ChunkFn floatUnary(DType t, F f) {
  return forFloat(t, [&](auto access) -> ChunkFn {
    using A = decltype(access);
    return [f](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        A::store(f(A::load(in[0], i)), out, i);
    };
  });
}

/// out = f(x, y). In double, + - * / and fmod of f32 and narrower values round
/// to what rounding the exact result once gives.
template <typename F>
static ChunkFn floatBinary(DType t, F f) {
  return forFloat(t, [&](auto access) -> ChunkFn {
    using A = decltype(access);
    return [f](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        A::store(f(A::load(in[0], i), A::load(in[1], i)), out, i);
    };
  });
}

/// Integers in 64 bits (u64 so that they wrap), stored in their own width.
template <typename F>
static ChunkFn intBinary(DType t, F f) {
  auto with = [&](auto access) -> ChunkFn {
    using A = decltype(access);
    return [f](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        A::store(f(A::template load<int64_t>(in[0], i),
                   A::template load<int64_t>(in[1], i)),
                 out, i);
    };
  };
  switch (t) {
  case DType::I32:
    return with(Plain<int32_t>());
  case DType::I64:
    return with(Plain<int64_t>());
  case DType::I1:
    return with(Plain<uint8_t>());
  default:
    return {};
  }
}

/// A comparison: out is i1.
template <typename F>
static ChunkFn compare(DType t, F f) {
  auto with = [&](auto load) -> ChunkFn {
    return [f, load](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        out[i] = f(load(in[0], i), load(in[1], i)) ? 1 : 0;
    };
  };
  if (isFloatDType(t))
    return forFloat(t, [&](auto access) {
      using A = decltype(access);
      return with([](const char *p, int64_t i) { return A::load(p, i); });
    });
  return with([t](const char *p, int64_t i) {
    return loadInt(t, p + static_cast<size_t>(i) * dtypeSize(t));
  });
}

static ChunkFn cast(DType from, DType to) {
  // The pairs that matrix products are made of, without a call an element.
  if (from == DType::F32 && to == DType::F64)
    return [](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        Double::store(Single::load(in[0], i), out, i);
    };
  if (from == DType::F64 && to == DType::F32)
    return [](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        Single::store(Double::load(in[0], i), out, i);
    };
  return [from, to](ArrayRef<const char *> in, int64_t n, char *out) {
    for (int64_t i = 0; i < n; ++i)
      castElement(from, in[0] + static_cast<size_t>(i) * dtypeSize(from), to,
                  out + static_cast<size_t>(i) * dtypeSize(to));
  };
}

static ChunkFn select(DType t) {
  size_t size = dtypeSize(t);
  return [size](ArrayRef<const char *> in, int64_t n, char *out) {
    for (int64_t i = 0; i < n; ++i) {
      size_t at = static_cast<size_t>(i) * size;
      std::memcpy(out + at, in[in[0][i] ? 1 : 2] + at, size);
    }
  };
}

static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

static ChunkFn add(DType t) {
  if (isFloatDType(t))
    return floatBinary(t, [](double a, double b) { return a + b; });
  return intBinary(
      t, [](int64_t a, int64_t b) { return wrap(uint64_t(a) + uint64_t(b)); });
}
static ChunkFn mul(DType t) {
  if (isFloatDType(t))
    return floatBinary(t, [](double a, double b) { return a * b; });
  return intBinary(
      t, [](int64_t a, int64_t b) { return wrap(uint64_t(a) * uint64_t(b)); });
}
static ChunkFn mod(DType t) {
  if (isFloatDType(t))
    return floatBinary(t, [](double a, double b) { return std::fmod(a, b); });
  return intBinary(t, remainderOf);
}
static ChunkFn lessThan(DType t) {
  return compare(t, [](auto a, auto b) { return a < b; });
}

//===----------------------------------------------------------------------===//
// HLIR
//===----------------------------------------------------------------------===//

static DType dtypeOf(Value value) {
  return *hlir::getDType(
      mlir::cast<RankedTensorType>(value.getType()).getElementType());
}

ChunkFn reference::getElementwise(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1)
    return {};
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !hlir::getDType(tensor.getElementType()))
      return {};
  }
  DType t = dtypeOf(op->getOperand(0));
  return llvm::TypeSwitch<Operation *, ChunkFn>(op)
      .Case<hlir::Log2Op>([&](auto) {
        return floatUnary(t, [](double x) { return std::log2(x); });
      })
      .Case<hlir::Exp2Op>([&](auto) {
        return floatUnary(t, [](double x) { return std::exp2(x); });
      })
      .Case<hlir::SinOp>([&](auto) {
        return floatUnary(t, [](double x) { return std::sin(x); });
      })
      .Case<hlir::SqrtOp>([&](auto) {
        return floatUnary(t, [](double x) { return std::sqrt(x); });
      })
      .Case<hlir::RecipOp>(
          [&](auto) { return floatUnary(t, [](double x) { return 1.0 / x; }); })
      .Case<hlir::AddOp>([&](auto) { return add(t); })
      .Case<hlir::MulOp>([&](auto) { return mul(t); })
      .Case<hlir::ModOp>([&](auto) { return mod(t); })
      .Case<hlir::LessThanOp>([&](auto) { return lessThan(t); })
      .Case<hlir::CastOp>(
          [&](hlir::CastOp) { return ::cast(t, dtypeOf(op->getResult(0))); })
      .Case<hlir::SelectOp>(
          [&](auto) { return select(dtypeOf(op->getResult(0))); })
      .Default([](Operation *) { return ChunkFn(); });
}

//===----------------------------------------------------------------------===//
// LLIR
//===----------------------------------------------------------------------===//

/// x * Phi(x), by erfc so that the lower tail keeps its digits.
static double gelu(double x) {
  return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

static double geluTanh(double x) {
  double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  // (1 + tanh u) / 2 is the sigmoid of 2 u.
  return x / (1 + std::exp(-2 * u));
}

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Python's floor division of floats: the quotient that a - a mod b has.
static double floorDivide(double a, double b) {
  if (b == 0)
    return a / b;
  double r = std::fmod(a, b);
  double q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0))
    q -= 1;
  return q == 0 ? std::copysign(0.0, a / b) : std::nearbyint(q);
}

static double floorModulo(double a, double b) {
  double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t truncDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? wrap(0 - uint64_t(a)) : a / b;
}

static int64_t floorModulo(int64_t a, int64_t b) {
  int64_t r = remainderOf(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t r = remainderOf(a, b);
  return truncDivide(a, b) - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
}

static ChunkFn unaryFunction(llir::Fn fn, DType t) {
  using llir::Fn;
  if (!isFloatDType(t)) {
    auto with = [&](auto f) {
      return intBinary(t, [f](int64_t a, int64_t) { return f(a); });
    };
    // The second operand is not there: read the first one twice.
    auto once = [](ChunkFn f) -> ChunkFn {
      return [f](ArrayRef<const char *> in, int64_t n, char *out) {
        f({in[0], in[0]}, n, out);
      };
    };
    switch (fn) {
    case Fn::Neg:
      return once(with([](int64_t a) { return wrap(0 - uint64_t(a)); }));
    case Fn::Abs:
      return once(
          with([](int64_t a) { return a < 0 ? wrap(0 - uint64_t(a)) : a; }));
    case Fn::Not:
      return once(with([](int64_t a) { return int64_t(a == 0); }));
    default:
      return {};
    }
  }
  auto f = [&](auto body) { return floatUnary(t, body); };
  switch (fn) {
  case Fn::Neg:
    return f([](double x) { return -x; });
  case Fn::Abs:
    return f([](double x) { return std::fabs(x); });
  case Fn::Exp:
    return f([](double x) { return std::exp(x); });
  case Fn::Exp2:
    return f([](double x) { return std::exp2(x); });
  case Fn::Expm1:
    return f([](double x) { return std::expm1(x); });
  case Fn::Log:
    return f([](double x) { return std::log(x); });
  case Fn::Log2:
    return f([](double x) { return std::log2(x); });
  case Fn::Log1p:
    return f([](double x) { return std::log1p(x); });
  case Fn::Sin:
    return f([](double x) { return std::sin(x); });
  case Fn::Cos:
    return f([](double x) { return std::cos(x); });
  case Fn::Tanh:
    return f([](double x) { return std::tanh(x); });
  case Fn::Erf:
    return f([](double x) { return std::erf(x); });
  case Fn::Sqrt:
    return f([](double x) { return std::sqrt(x); });
  case Fn::Rsqrt:
    return f([](double x) { return 1 / std::sqrt(x); });
  case Fn::Recip:
    return f([](double x) { return 1 / x; });
  case Fn::Sigmoid:
    return f(sigmoid);
  case Fn::Silu:
    return f([](double x) { return x / (1 + std::exp(-x)); });
  case Fn::Gelu:
    return f(gelu);
  case Fn::GeluTanh:
    return f(geluTanh);
  case Fn::Floor:
    return f([](double x) { return std::floor(x); });
  case Fn::Ceil:
    return f([](double x) { return std::ceil(x); });
  case Fn::Round:
    return f([](double x) { return std::nearbyint(x); });
  case Fn::Trunc:
    return f([](double x) { return std::trunc(x); });
  case Fn::IsNan:
    return forFloat(t, [](auto access) -> ChunkFn {
      using A = decltype(access);
      return [](ArrayRef<const char *> in, int64_t n, char *out) {
        for (int64_t i = 0; i < n; ++i)
          out[i] = std::isnan(A::load(in[0], i)) ? 1 : 0;
      };
    });
  default:
    return {};
  }
}

static ChunkFn binaryFunction(llir::Fn fn, DType t) {
  using llir::Fn;
  bool isFloat = isFloatDType(t);
  auto f = [&](auto onFloat, auto onInt) {
    return isFloat ? floatBinary(t, onFloat) : intBinary(t, onInt);
  };
  switch (fn) {
  case Fn::Add:
    return add(t);
  case Fn::Sub:
    return f(
        [](double a, double b) { return a - b; },
        [](int64_t a, int64_t b) { return wrap(uint64_t(a) - uint64_t(b)); });
  case Fn::Mul:
    return mul(t);
  case Fn::Div:
    return f([](double a, double b) { return a / b; }, truncDivide);
  case Fn::Mod:
    return mod(t);
  case Fn::Max:
    return f(
        [](double a, double b) {
          return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
        },
        [](int64_t a, int64_t b) { return std::max(a, b); });
  case Fn::Min:
    return f(
        [](double a, double b) {
          return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
        },
        [](int64_t a, int64_t b) { return std::min(a, b); });
  case Fn::Pow:
    return isFloat ? floatBinary(
                         t, [](double a, double b) { return std::pow(a, b); })
                   : ChunkFn();
  case Fn::LessThan:
    return lessThan(t);
  case Fn::LessEqual:
    return compare(t, [](auto a, auto b) { return a <= b; });
  case Fn::Equal:
    return compare(t, [](auto a, auto b) { return a == b; });
  case Fn::Or:
    return compare(t, [](auto a, auto b) { return a != 0 || b != 0; });
  case Fn::FloorDiv:
    return f([](double a, double b) { return floorDivide(a, b); },
             [](int64_t a, int64_t b) { return floorDivide(a, b); });
  case Fn::FloorMod:
    return f([](double a, double b) { return floorModulo(a, b); },
             [](int64_t a, int64_t b) { return floorModulo(a, b); });
  default:
    return {};
  }
}

ChunkFn reference::getScalarFunction(llir::Fn fn, ArrayRef<DType> inputs,
                                     DType result) {
  if (inputs.size() != llir::getArity(fn))
    return {};
  if (fn == llir::Fn::Cast)
    return ::cast(inputs[0], result);
  if (fn == llir::Fn::Select)
    return inputs[0] == DType::I1 && inputs[1] == inputs[2] ? select(result)
                                                            : ChunkFn();
  if (inputs.size() == 1)
    return unaryFunction(fn, inputs[0]);
  return inputs[0] == inputs[1] ? binaryFunction(fn, inputs[0]) : ChunkFn();
}
