//===- Rescaling.cpp - Rescaling of an online softmax ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/LLIR.h"

#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static bool areFixed(ArrayRef<Rescaling> operands) {
  return llvm::all_of(operands, [](const Rescaling &r) { return r.isFixed(); });
}

/// x * y.
static Rescaling multiply(const Rescaling &x, const Rescaling &y) {
  if (x.isScaled() && y.isFixed())
    return x;
  if (x.isFixed() && y.isScaled())
    return y;
  return Rescaling::other();
}

/// x + sign * y.
static Rescaling add(const Rescaling &x, const Rescaling &y, int64_t sign) {
  if (x.isScaled() && y.isScaled() && x.base == y.base)
    return x;
  // Zero is the same at any scale.
  if (x.isScaled() && y.is(0))
    return x;
  if (x.is(0) && y.isScaled())
    return y;
  // A difference in which the reference cancels is not rescaled: its rounding
  // errors would not match.
  int64_t slope = x.slope + sign * y.slope;
  bool isShift = x.isShifted() != y.isShifted() &&
                 (x.isShifted() ? y.isFixed() : x.isFixed());
  return isShift ? Rescaling::shifted(slope) : Rescaling::other();
}

/// Returns the rescaling of a select between x and y by a fixed condition.
static Rescaling choose(const Rescaling &x, const Rescaling &y) {
  // Zero is the same at any scale, and -inf is the same after any shift.
  if (x.isScaled() && (y.is(0) || (y.isScaled() && x.base == y.base)))
    return x;
  if (x.is(0) && y.isScaled())
    return y;
  if (x.isShifted() &&
      (y.is(-kInfinity) || (y.isShifted() && x.slope == y.slope)))
    return x;
  if (x.is(-kInfinity) && y.isShifted())
    return y;
  return Rescaling::other();
}

/// Returns the rescaling of base(x), where the reference is subtracted in x.
static Rescaling exponentiate(const Rescaling &x, Fn base) {
  bool isRelative = x.isShifted() && x.slope == -1;
  return isRelative ? Rescaling::scaled(base) : Rescaling::other();
}

Rescaling ElementwiseOp::getRescaling(ArrayRef<Rescaling> operands) {
  if (areFixed(operands)) {
    // A cast preserves the numbers that matter here (0 and infinities).
    bool isCast = getFn() == Fn::Cast;
    return {Rescaling::Kind::Fixed, 0, Fn(0),
            isCast ? operands[0].number : std::nullopt};
  }
  bool isFloat = isa<FloatType>(
      cast<RankedTensorType>(getResult().getType()).getElementType());
  if (!isFloat)
    return Rescaling::other();
  switch (getFn()) {
  case Fn::Cast:
    return operands[0];
  case Fn::Neg:
    return operands[0].isShifted() ? Rescaling::shifted(-operands[0].slope)
                                   : operands[0];
  case Fn::Add:
    return add(operands[0], operands[1], 1);
  case Fn::Sub:
    return add(operands[0], operands[1], -1);
  case Fn::Mul:
    return multiply(operands[0], operands[1]);
  case Fn::Div:
    return operands[1].isFixed() ? multiply(operands[0], operands[1])
                                 : Rescaling::other();
  case Fn::Select:
    return operands[0].isFixed() ? choose(operands[1], operands[2])
                                 : Rescaling::other();
  case Fn::Exp:
  case Fn::ExpApprox:
  case Fn::ExpFast:
  case Fn::Exp2:
  case Fn::Exp2Fast:
    return exponentiate(operands[0], getFn());
  default:
    return Rescaling::other();
  }
}

bool llir::ReduceOp::isMaximum() { return getKind() == ReduceKind::Max; }

Rescaling llir::ReduceOp::getRescaling(ArrayRef<Rescaling> operands) {
  if (areFixed(operands))
    return {};
  bool isSum = getKind() == ReduceKind::Sum && operands[0].isScaled();
  return isSum ? operands[0] : Rescaling::other();
}

Rescaling GemmOp::getRescaling(ArrayRef<Rescaling> operands) {
  if (areFixed(operands))
    return {};
  return multiply(operands[0], operands[1]);
}
