//===- ErrorBounds.cpp - How far compiled code may be off -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ErrorBounds.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace luminal;
using namespace luminal::test;
using llir::Fn;

/// The distance between neighbouring floats, relative to a number of that type.
static double unitOf(DType t) {
  switch (t) {
  case DType::F16:
    return std::ldexp(1, -10);
  case DType::BF16:
    return std::ldexp(1, -7);
  case DType::F64:
    return std::ldexp(1, -52);
  default:
    return std::ldexp(1, -23);
  }
}

/// The smallest positive number.
static double leastOf(DType t) {
  switch (t) {
  case DType::F16:
    return std::ldexp(1, -24);
  case DType::BF16:
    return std::ldexp(1, -133);
  case DType::F64:
    return std::ldexp(1, -1074);
  default:
    return std::ldexp(1, -149);
  }
}

/// Twice the rounding error of the type in which sums accumulate, because both
/// sides round in f64.
static double sumUnit(DType t) {
  return t == DType::F64 ? std::ldexp(1, -51) : std::ldexp(1, -23);
}

static double ulpsOf(Fn fn, DType t) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return llir::getUlps(fn, hlir::getElementType(&context, t));
}

bool BoundWriter::isExact(Fn fn, DType t) { return ulpsOf(fn, t) <= 0.5; }

//===----------------------------------------------------------------------===//
// Ops in f64
//===----------------------------------------------------------------------===//

static std::string number(double value) {
  char buffer[40];
  std::snprintf(
      buffer, sizeof(buffer), "0x%016llX",
      static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
  return buffer;
}

static std::string identity(size_t rank, size_t most) {
  Shape results;
  for (unsigned i = 0; i < most; ++i)
    results.push_back(Expr::dim(i));
  return mapText(rank, results);
}

static Shape rowsOf(Shape shape) {
  shape.pop_back();
  return shape;
}

std::string BoundWriter::make(const Shape &, const std::string &op) {
  std::string name = "%b" + std::to_string(self) + "_" + std::to_string(next++);
  text += "  " + name + " = " + op + "\n";
  return name;
}

std::string BoundWriter::apply(const char *fn,
                               std::vector<std::string> operands,
                               const Shape &shape) {
  std::string type = typeText(shape, "f64"), names, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    bool isCondition = i == 0 && operands.size() == 3;
    names += (i ? ", " : "") + operands[i];
    types += (i ? ", " : "") + (isCondition ? typeText(shape, "i1") : type);
  }
  bool isPredicate = std::string_view(fn) == "equal";
  return make(shape, std::string("llir.elementwise ") + fn + "(" + names +
                         ") : (" + types + ") -> " +
                         (isPredicate ? typeText(shape, "i1") : type));
}

std::string BoundWriter::constant(double value, const Shape &shape) {
  std::string scalar =
      make({}, "llir.constant dense<" + number(value) + "> : tensor<f64>");
  return make(shape, "llir.view " + scalar + " " + mapText(shape.size(), {}) +
                         " : tensor<f64> -> " + typeText(shape, "f64"));
}

std::string BoundWriter::extent(const Expr &value, const Shape &shape) {
  std::string n = make(shape, "llir.iota " + mapText(shape.size(), {value}) +
                                  " : " + typeText(shape, "i64"));
  return make(shape, "llir.elementwise cast(" + n + ") : (" +
                         typeText(shape, "i64") + ") -> " +
                         typeText(shape, "f64"));
}

std::string BoundWriter::sum(const std::string &value) {
  return make(rowsOf(inner()), "llir.reduce sum " + value + " : " +
                                   typeText(inner(), "f64") + " -> " +
                                   typeText(rowsOf(inner()), "f64"));
}

std::string BoundWriter::largest(const std::string &value) {
  return make(rowsOf(inner()), "llir.reduce max " + value + " : " +
                                   typeText(inner(), "f64") + " -> " +
                                   typeText(rowsOf(inner()), "f64"));
}

std::string BoundWriter::spread(const std::string &row) {
  size_t rank = inner().size();
  return make(inner(), "llir.view " + row + " " + identity(rank, rank - 1) +
                           " : " + typeText(rowsOf(inner()), "f64") + " -> " +
                           typeText(inner(), "f64"));
}

Tracked BoundWriter::operand(unsigned i) {
  unsigned n = node().operands[i];
  Tracked result{"%f" + std::to_string(n), "%e" + std::to_string(n)};
  if (nodes[n].isExact)
    result.error = constant(0, nodes[n].shape);
  return result;
}

void BoundWriter::finish(const std::string &error, double ulps) {
  const Shape &s = node().shape;
  std::string r = apply("abs", {"%f" + std::to_string(self)}, s);
  std::string ulp =
      apply("add",
            {apply("mul", {r, constant(unitOf(node().dtype), s)}, s),
             constant(leastOf(node().dtype), s)},
            s);
  std::string total =
      apply("add", {error, apply("mul", {ulp, constant(ulps, s)}, s)}, s);
  std::string isInfinite = apply(
      "equal", {r, constant(std::numeric_limits<double>::infinity(), s)}, s);
  std::string bound = apply("select", {isInfinite, constant(0, s), total}, s);
  text += "  %e" + std::to_string(self) + " = llir.view " + bound + " " +
          identity(s.size(), s.size()) + " : " + typeText(s, "f64") + " -> " +
          typeText(s, "f64") + "\n";
}

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

/// The largest slope of a function whose error bound is a multiple of its
/// operand's; 0 for any other function.
static double slopeOf(Fn fn) {
  switch (fn) {
  case Fn::Neg:
  case Fn::Abs:
  case Fn::Sin:
  case Fn::Cos:
  case Fn::Tanh:
  case Fn::Atan:
  case Fn::Cast:
    return 1;
  case Fn::Sigmoid:
    return 0.25;
  case Fn::Erf:
  case Fn::Gelu:
  case Fn::GeluTanh:
  case Fn::Silu:
    return 1.13;
  default:
    return 0;
  }
}

std::string BoundWriter::propagated(Fn fn, const Shape &s) {
  Tracked a = operand(0);
  if (double slope = slopeOf(fn))
    return apply("mul", {a.error, constant(slope, s)}, s);
  std::string r = apply("abs", {"%f" + std::to_string(self)}, s);
  // A positive operand can be as small as this.
  auto low = [&] {
    return apply("max", {apply("sub", {a.value, a.error}, s), constant(0, s)},
                 s);
  };
  auto quotient = [&](const std::string &x, const std::string &y) {
    return apply("div", {x, y}, s);
  };
  switch (fn) {
  case Fn::Exp:
  case Fn::ExpApprox:
  case Fn::ExpFast:
    return apply("mul", {r, apply("expm1", {a.error}, s)}, s);
  case Fn::Exp2:
  case Fn::Exp2Fast:
    // 2^e - 1 <= e^e - 1.
    return apply("mul", {r, apply("expm1", {a.error}, s)}, s);
  case Fn::Expm1:
    return apply("mul",
                 {apply("exp", {a.value}, s), apply("expm1", {a.error}, s)}, s);
  case Fn::Log:
    return quotient(a.error, low());
  case Fn::Log2:
    return apply("mul", {quotient(a.error, low()), constant(1.4427, s)}, s);
  case Fn::Log1p:
    return quotient(a.error, apply("add", {low(), constant(1, s)}, s));
  case Fn::Sqrt:
    return quotient(a.error, apply("sqrt", {low()}, s));
  case Fn::Rsqrt:
    return quotient(a.error,
                    apply("mul", {low(), apply("sqrt", {low()}, s)}, s));
  case Fn::Recip:
    return apply("mul", {quotient(a.error, low()), r}, s);
  default:
    break;
  }
  Tracked b = operand(1);
  switch (fn) {
  case Fn::Add:
  case Fn::Sub:
    return apply("add", {a.error, b.error}, s);
  case Fn::Max:
  case Fn::Min:
    return apply("max", {a.error, b.error}, s);
  case Fn::Mul:
    return product(a, b, 0).error;
  case Fn::Div: {
    std::string divisor =
        apply("max", {apply("sub", {b.value, b.error}, s), constant(0, s)}, s);
    return quotient(apply("add", {a.error, apply("mul", {r, b.error}, s)}, s),
                    divisor);
  }
  case Fn::Select: {
    Tracked c = operand(2);
    return apply("select",
                 {"%v" + std::to_string(node().operands[0]), b.error, c.error},
                 s);
  }
  default:
    ADD_FAILURE() << "no bound of " << llir::stringifyFn(fn).str()
                  << " on operands that are not exact";
    return constant(0, s);
  }
}

void BoundWriter::elementwise(Fn fn, DType from) {
  bool isExactInput = true;
  for (unsigned n : node().operands)
    isExactInput &= nodes[n].isExact;
  const Shape &s = node().shape;
  // One unit for each side's rounding of the operands, plus the error that the
  // function promises.
  double ulps = fn == Fn::Cast ? 0.5 : ulpsOf(fn, from);
  if (ulps > 0.5)
    ulps += 0.5;
  else
    ulps = 0;
  bool isMove = fn == Fn::Select || fn == Fn::Max || fn == Fn::Min ||
                fn == Fn::Neg || fn == Fn::Abs ||
                (fn == Fn::Cast && unitOf(node().dtype) <= unitOf(from));
  if (isExactInput)
    return finish(constant(0, s), ulps);
  finish(propagated(fn, s), ulps + (isMove ? 0 : 2));
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

Tracked BoundWriter::product(const Tracked &x, const Tracked &y, double unit) {
  const Shape &s = node().shape;
  Tracked result;
  result.value = apply("mul", {x.value, y.value}, s);
  std::string parts[] = {
      apply("mul", {apply("abs", {x.value}, s), y.error}, s),
      apply("mul", {x.error, apply("abs", {y.value}, s)}, s),
      apply("mul", {x.error, y.error}, s),
      apply("mul", {apply("abs", {result.value}, s), constant(unit, s)}, s)};
  result.error = parts[0];
  for (unsigned i = 1; i < 4; ++i)
    result.error = apply("add", {result.error, parts[i]}, s);
  return result;
}

/// Over the last dim of the operand's shape.
Tracked BoundWriter::sumOf(const Tracked &x, double unit) {
  Shape rows = rowsOf(inner());
  std::string absolute = sum(apply("abs", {x.value}, inner()));
  std::string roundings = apply(
      "mul", {extent(inner().back() + Expr(2), rows), constant(unit, rows)},
      rows);
  return {sum(x.value),
          apply("add",
                {sum(x.error), apply("mul", {absolute, roundings}, rows)},
                rows)};
}

void BoundWriter::reduceSum() {
  finish(sumOf(operand(0), sumUnit(node().dtype)).error, 2);
}

void BoundWriter::reduceMax() { finish(largest(operand(0).error), 0); }

/// A change of all elements by at most E changes the logarithm of a softmax by
/// at most 2 E.
void BoundWriter::softmax() {
  Tracked x = operand(0);
  const Shape &s = node().shape;
  std::string size = spread(largest(apply("abs", {x.value}, s)));
  std::string own = apply("mul",
                          {apply("add",
                                 {apply("mul", {size, constant(4, s)}, s),
                                  extent(s.back() + Expr(10), s)},
                                 s),
                           constant(sumUnit(node().dtype), s)},
                          s);
  std::string shift =
      apply("mul", {spread(largest(x.error)), constant(2, s)}, s);
  std::string relative = apply("expm1", {apply("add", {shift, own}, s)}, s);
  finish(apply("mul", {"%f" + std::to_string(self), relative}, s), 2);
}

Tracked BoundWriter::scaled(const Tracked &x, const std::string &divisor,
                            double unit) {
  Shape rows = rowsOf(inner());
  std::string value = apply("div", {x.value, divisor}, rows);
  return {
      value,
      apply("add",
            {apply("div", {x.error, divisor}, rows),
             apply("mul", {apply("abs", {value}, rows), constant(unit, rows)},
                   rows)},
            rows)};
}

/// The norm as it is spelled out: x - mean(x), then times rsqrt(mean(x^2) +
/// eps).
void BoundWriter::norm(bool isCentered, double eps) {
  Tracked x = operand(0);
  const Shape &s = node().shape;
  Shape rows = rowsOf(s);
  double unit = sumUnit(node().dtype);
  std::string n = extent(s.back(), rows);
  if (isCentered) {
    Tracked mean = scaled(sumOf(x, unit), n, unit);
    std::string value = apply("sub", {x.value, spread(mean.value)}, s);
    std::string error = apply("add", {x.error, spread(mean.error)}, s);
    x = {value,
         apply("add",
               {error,
                apply("mul", {apply("abs", {value}, s), constant(unit, s)}, s)},
               s)};
  }
  Tracked square = scaled(sumOf(product(x, x, unit), unit), n, unit);
  std::string shifted = apply("add", {square.value, constant(eps, rows)}, rows);
  std::string low = apply(
      "max", {apply("sub", {shifted, square.error}, rows), constant(0, rows)},
      rows);
  std::string slope = apply("mul", {low, apply("sqrt", {low}, rows)}, rows);
  std::string scale = apply("rsqrt", {shifted}, rows);
  std::string error =
      apply("add",
            {apply("div", {square.error, slope}, rows),
             apply("mul", {scale, constant(4 * unit, rows)}, rows)},
            rows);
  finish(product(x, {spread(scale), spread(error)}, unit).error, 2);
}

void BoundWriter::gemm(const Expr &terms, const std::string &lhsMap,
                       const std::string &rhsMap) {
  Tracked x = operand(0), y = operand(1);
  const Shape &s = node().shape, &left = nodes[node().operands[0]].shape,
              &right = nodes[node().operands[1]].shape;
  auto multiply = [&](const std::string &a, const std::string &b) {
    return make(s, "llir.gemm " + a + ", " + b + " k(" + terms.str() + ") " +
                       lhsMap + ", " + rhsMap + " : " + typeText(left, "f64") +
                       ", " + typeText(right, "f64") + " -> " +
                       typeText(s, "f64"));
  };
  std::string a = apply("abs", {x.value}, left),
              b = apply("abs", {y.value}, right);
  // (|a| + ea) (|b| + eb) - |a| |b|, in two products.
  std::string first = multiply(apply("add", {a, x.error}, left), y.error),
              second = multiply(x.error, b);
  std::string roundings = apply(
      "mul", {extent(terms + Expr(2), s), constant(sumUnit(node().dtype), s)},
      s);
  std::string own = apply("mul", {multiply(a, b), roundings}, s);
  finish(apply("add", {apply("add", {first, second}, s), own}, s), 2);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

void BoundWriter::moved(const std::string &map) {
  finish(make(node().shape, "llir.view " + operand(0).error + " " + map +
                                " : " + typeText(inner(), "f64") + " -> " +
                                typeText(node().shape, "f64")),
         0);
}

void BoundWriter::gather() {
  const Node &indices = nodes[node().operands[1]];
  finish(
      make(node().shape, "llir.gather " + operand(0).error + ", %v" +
                             std::to_string(node().operands[1]) +
                             " {checked} : " + typeText(inner(), "f64") + ", " +
                             typeText(indices.shape, dtypeName(indices.dtype)) +
                             " -> " + typeText(node().shape, "f64")),
      0);
}

void BoundWriter::scatter(const std::string &combine, int64_t updates) {
  const Shape &s = node().shape;
  const Node &indices = nodes[node().operands[1]],
             &rows = nodes[node().operands[2]];
  auto scatter = [&](const std::string &to, const std::string &from) {
    return make(s, "llir.scatter " + combine + " " + to + ", %v" +
                       std::to_string(node().operands[1]) + ", " + from +
                       " {checked} : " + typeText(s, "f64") + ", " +
                       typeText(indices.shape, dtypeName(indices.dtype)) +
                       ", " + typeText(rows.shape, "f64"));
  };
  Tracked to = operand(0), from = operand(2);
  std::string error = scatter(to.error, from.error);
  if (combine != "add")
    return finish(error, 0);
  // Each update rounds to the type of the elements.
  std::string absolute = scatter(apply("abs", {to.value}, s),
                                 apply("abs", {from.value}, rows.shape));
  double unit = unitOf(node().dtype) * static_cast<double>(updates + 1);
  finish(
      apply("add", {error, apply("mul", {absolute, constant(unit, s)}, s)}, s),
      2);
}
