//===- Accuracy.cpp - How far each scalar function may be off -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/Accuracy.h"

using namespace luminal;

double llir::getUlps(Fn fn, mlir::Type element) {
  if (!mlir::isa<mlir::FloatType>(element))
    return 0;
  auto choose = [&](double f64, double f32, double narrow) {
    return element.isF64() ? f64 : element.isF32() ? f32 : narrow;
  };
  switch (fn) {
#define LUMINAL_FN_ULPS(FN, F64, F32, NARROW)                                  \
  case Fn::FN:                                                                 \
    return choose(F64, F32, NARROW);
#include "luminal/Dialect/LLIR/IR/Accuracy.def"
  }
  llvm_unreachable("every function is in the table");
}

bool llir::isCommutative(Fn fn) {
  return fn == Fn::Add || fn == Fn::Mul || fn == Fn::Equal || fn == Fn::Or;
}
