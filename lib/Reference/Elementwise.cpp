//===- Elementwise.cpp - Scalar functions by definition -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "Evaluator.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

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

/// out = f(x, y). For + - * / and fmod of f32 or narrower values, computing in
/// double and rounding again gives the correctly rounded result.
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

/// Computes integers in 64 bits (as unsigned, so that they wrap) and stores
/// them in their own width.
template <typename F>
static ChunkFn intBinary(DType t, F f) {
  return forInt(t, [&](auto access) -> ChunkFn {
    using A = decltype(access);
    return [f](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        A::store(f(A::load(in[0], i), A::load(in[1], i)), out, i);
    };
  });
}

/// A comparison: out is i1.
template <typename F>
static ChunkFn compare(DType t, F f) {
  auto with = [&](auto access) -> ChunkFn {
    using A = decltype(access);
    return [f](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        out[i] = f(A::load(in[0], i), A::load(in[1], i)) ? 1 : 0;
    };
  };
  return isFloatDType(t) ? forFloat(t, with) : forInt(t, with);
}

static ChunkFn cast(DType from, DType to) {
  auto copy = [](auto source, auto target) -> ChunkFn {
    using From = decltype(source);
    using To = decltype(target);
    return [](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i)
        To::store(From::load(in[0], i), out, i);
    };
  };
  // Between f32 and f64, and between integers, load and store convert exactly
  // as needed. With random rounding, narrow floats take this path too, so that
  // the store rounds at random.
  auto isWide = [](DType t) {
    bool isNarrow = t == DType::F16 || t == DType::BF16;
    return t == DType::F32 || t == DType::F64 || (isNarrow && Chance::get());
  };
  ChunkFn fn;
  if (isWide(from) && isWide(to))
    fn = forFloat(from, [&](auto source) {
      return forFloat(to, [&](auto target) { return copy(source, target); });
    });
  else if (!isFloatDType(from) && !isFloatDType(to) && to != DType::I1)
    fn = forInt(from, [&](auto source) {
      return forInt(to, [&](auto target) { return copy(source, target); });
    });
  if (fn)
    return fn;
  return [from, to](ArrayRef<const char *> in, int64_t n, char *out) {
    for (int64_t i = 0; i < n; ++i)
      castElement(from, in[0] + static_cast<size_t>(i) * dtypeSize(from), to,
                  out + static_cast<size_t>(i) * dtypeSize(to));
  };
}

static ChunkFn bitcast(DType from, DType to) {
  unsigned size = dtypeSize(from);
  if (size != dtypeSize(to))
    return {};
  return [size](ArrayRef<const char *> in, int64_t n, char *out) {
    std::memcpy(out, in[0], static_cast<size_t>(n) * size);
  };
}

static ChunkFn select(DType t) {
  auto ofSize = [](auto zero) -> ChunkFn {
    using T = decltype(zero);
    return [](ArrayRef<const char *> in, int64_t n, char *out) {
      for (int64_t i = 0; i < n; ++i) {
        T a = Plain<T>::template load<T>(in[1], i);
        T b = Plain<T>::template load<T>(in[2], i);
        Plain<T>::store(in[0][i] ? a : b, out, i);
      }
    };
  };
  switch (dtypeSize(t)) {
  case 1:
    return ofSize(uint8_t());
  case 2:
    return ofSize(uint16_t());
  case 4:
    return ofSize(uint32_t());
  default:
    return ofSize(uint64_t());
  }
}

static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

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

/// The function as an expression of Functions.def.
static ChunkFn floatFunction(llir::Fn fn, DType t) {
  using llir::Fn;
  switch (fn) {
#define LUMINAL_FN_OF_1(FN, TYPES, WORK, F64, F32, NARROW, VALUE)              \
  case Fn::FN:                                                                 \
    return floatUnary(t, [](double x) -> double { return VALUE; });
#define LUMINAL_FN_OF_2(FN, TYPES, WORK, F64, F32, NARROW, VALUE)              \
  case Fn::FN:                                                                 \
    return floatBinary(t, [](double x, double y) -> double { return VALUE; });
#include "luminal/Dialect/LLIR/IR/Functions.def"
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

static ChunkFn intFunction(llir::Fn fn, DType t) {
  using llir::Fn;
  // A unary function passes its operand twice.
  auto unary = [&](auto f) -> ChunkFn {
    ChunkFn binary = intBinary(t, [f](int64_t a, int64_t) { return f(a); });
    return [binary](ArrayRef<const char *> in, int64_t n, char *out) {
      binary({in[0], in[0]}, n, out);
    };
  };
  int64_t width = 8 * dtypeSize(t);
  switch (fn) {
  case Fn::Neg:
    return unary([](int64_t a) { return wrap(0 - uint64_t(a)); });
  case Fn::Abs:
    return unary([](int64_t a) { return a < 0 ? wrap(0 - uint64_t(a)) : a; });
  case Fn::Not:
    return unary([](int64_t a) { return int64_t(a == 0); });
  case Fn::Add:
    return intBinary(t, [](int64_t a, int64_t b) {
      return wrap(uint64_t(a) + uint64_t(b));
    });
  case Fn::Sub:
    return intBinary(t, [](int64_t a, int64_t b) {
      return wrap(uint64_t(a) - uint64_t(b));
    });
  case Fn::Mul:
    return intBinary(t, [](int64_t a, int64_t b) {
      return wrap(uint64_t(a) * uint64_t(b));
    });
  case Fn::Div:
    return intBinary(t, truncDivide);
  case Fn::Mod:
    return intBinary(t, remainderOf);
  case Fn::Max:
    return intBinary(t, [](int64_t a, int64_t b) { return std::max(a, b); });
  case Fn::Min:
    return intBinary(t, [](int64_t a, int64_t b) { return std::min(a, b); });
  case Fn::FloorDiv:
    return intBinary(t, floorDivide);
  case Fn::FloorMod:
    return intBinary(t, floorModulo);
  case Fn::BitAnd:
    return intBinary(t, [](int64_t a, int64_t b) { return a & b; });
  case Fn::BitOr:
    return intBinary(t, [](int64_t a, int64_t b) { return a | b; });
  case Fn::BitXor:
    return intBinary(t, [](int64_t a, int64_t b) { return a ^ b; });
  case Fn::ShiftLeft:
    return intBinary(t, [width](int64_t a, int64_t b) {
      return b < 0 || b >= width ? 0 : wrap(uint64_t(a) << b);
    });
  case Fn::ShiftRight:
    return intBinary(t, [](int64_t a, int64_t b) {
      return a >> (b < 0 ? 63 : std::min<int64_t>(b, 63));
    });
  default:
    return {};
  }
}

/// The function for operands of one type.
static ChunkFn functionOf(llir::Fn fn, DType t) {
  using llir::Fn;
  switch (fn) {
  case Fn::LessThan:
    return compare(t, [](auto a, auto b) { return a < b; });
  case Fn::LessEqual:
    return compare(t, [](auto a, auto b) { return a <= b; });
  case Fn::Equal:
    return compare(t, [](auto a, auto b) { return a == b; });
  case Fn::Or:
    return compare(t, [](auto a, auto b) { return a != 0 || b != 0; });
  default:
    return isFloatDType(t) ? floatFunction(fn, t) : intFunction(fn, t);
  }
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
  using llir::Fn;
  DType t = dtypeOf(op->getOperand(0));
  return llvm::TypeSwitch<Operation *, ChunkFn>(op)
      .Case<hlir::Log2Op>([&](auto) { return functionOf(Fn::Log2, t); })
      .Case<hlir::Exp2Op>([&](auto) { return functionOf(Fn::Exp2, t); })
      .Case<hlir::SinOp>([&](auto) { return functionOf(Fn::Sin, t); })
      .Case<hlir::SqrtOp>([&](auto) { return functionOf(Fn::Sqrt, t); })
      .Case<hlir::RecipOp>([&](auto) { return functionOf(Fn::Recip, t); })
      .Case<hlir::AddOp>([&](auto) { return functionOf(Fn::Add, t); })
      .Case<hlir::MulOp>([&](auto) { return functionOf(Fn::Mul, t); })
      .Case<hlir::ModOp>([&](auto) { return functionOf(Fn::Mod, t); })
      .Case<hlir::LessThanOp>([&](auto) { return functionOf(Fn::LessThan, t); })
      .Case<hlir::CastOp>(
          [&](hlir::CastOp) { return ::cast(t, dtypeOf(op->getResult(0))); })
      .Case<hlir::BitcastOp>(
          [&](auto) { return bitcast(t, dtypeOf(op->getResult(0))); })
      .Case<hlir::SelectOp>(
          [&](auto) { return select(dtypeOf(op->getResult(0))); })
      .Default([](Operation *) { return ChunkFn(); });
}

//===----------------------------------------------------------------------===//
// LLIR
//===----------------------------------------------------------------------===//

ChunkFn reference::getScalarFunction(llir::Fn fn, ArrayRef<DType> inputs,
                                     DType result) {
  if (inputs.size() != llir::getArity(fn))
    return {};
  if (fn == llir::Fn::Cast)
    return ::cast(inputs[0], result);
  if (fn == llir::Fn::Bitcast)
    return bitcast(inputs[0], result);
  if (fn == llir::Fn::Select)
    return inputs[0] == DType::I1 && inputs[1] == inputs[2] ? select(result)
                                                            : ChunkFn();
  return llvm::all_equal(inputs) ? functionOf(fn, inputs[0]) : ChunkFn();
}
