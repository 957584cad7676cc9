//===- Functions.cpp - Properties of the scalar functions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/Functions.h"

using namespace luminal;
using namespace luminal::llir;

namespace {
/// A row of Functions.def.
struct Row {
  unsigned numOperands;
  OperandTypes types;
  unsigned work;
  double f64, f32, narrow;
};
} // namespace

static Row getRow(Fn fn) {
  switch (fn) {
#define LUMINAL_FN(FN, OPERANDS, TYPES, WORK, F64, F32, NARROW)                \
  case Fn::FN:                                                                 \
    return {OPERANDS, OperandTypes::TYPES, WORK, F64, F32, NARROW};
#include "luminal/Dialect/LLIR/IR/Functions.def"
  }
  llvm_unreachable("every function is in the table");
}

unsigned llir::getArity(Fn fn) { return getRow(fn).numOperands; }

OperandTypes llir::getOperandTypes(Fn fn) { return getRow(fn).types; }

unsigned llir::getFlops(Fn fn) { return getRow(fn).work; }

double llir::getUlps(Fn fn, mlir::Type element) {
  if (!mlir::isa<mlir::FloatType>(element))
    return 0;
  Row row = getRow(fn);
  return element.isF64() ? row.f64 : element.isF32() ? row.f32 : row.narrow;
}

std::optional<double> llir::evaluate(Fn fn, llvm::ArrayRef<double> operands) {
  const double x = operands[0], y = operands.back();
  switch (fn) {
#define LUMINAL_FN_OF_1(FN, TYPES, WORK, F64, F32, NARROW, VALUE)              \
  case Fn::FN:                                                                 \
    return VALUE;
#define LUMINAL_FN_OF_2(FN, TYPES, WORK, F64, F32, NARROW, VALUE)              \
  case Fn::FN:                                                                 \
    return VALUE;
#include "luminal/Dialect/LLIR/IR/Functions.def"
  default:
    return std::nullopt;
  }
}

bool llir::isCommutative(Fn fn) {
  switch (fn) {
  case Fn::Add:
  case Fn::Mul:
  case Fn::Equal:
  case Fn::Or:
  case Fn::BitAnd:
  case Fn::BitOr:
  case Fn::BitXor:
    return true;
  default:
    return false;
  }
}
