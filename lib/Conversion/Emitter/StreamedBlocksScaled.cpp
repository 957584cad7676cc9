//===- StreamedBlocksScaled.cpp - Folds factors into exponents ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Terms are often powers of `c x - r`, where r is the maximum of c x over the
// row. If c is positive, max(c x) equals c max(x) bit for bit. So the factor is
// applied once per row to the maximum, and once per element in one fma that
// computes the exponent. The fma rounds once where a product and a difference
// round twice; therefore this is done only for approximate powers.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

using luminal::llir::Fn;

/// The number that all elements of `v` are equal to, possibly read through
/// views.
static std::optional<double> getNumber(Value v) {
  while (auto view = v.getDefiningOp<llir::ViewOp>())
    v = view.getOperand();
  return llir::getFloatSplat(v);
}

/// The positive constant factor of an f32 product, and the other operand.
static std::optional<std::pair<double, Value>>
findFactor(llir::ElementwiseOp op) {
  if (!op || op.getFn() != Fn::Mul || !getElementType(op.getResult()).isF32())
    return std::nullopt;
  for (unsigned i = 0; i < 2; ++i) {
    std::optional<double> c = getNumber(op.getInputs()[i]);
    if (c && *c > 0 && std::isfinite(*c))
      return std::pair(*c, op.getInputs()[1 - i]);
  }
  return std::nullopt;
}

static bool isLowest(Value v) {
  return getNumber(v) == -std::numeric_limits<double>::infinity();
}

void StreamedBlocks::findScaled() {
  for (Reference &r : references) {
    if (!llvm::is_contained({Fn::Exp2Fast, Fn::ExpFast, Fn::ExpApprox}, r.base))
      continue;
    Operation *maximum = r.maximum;
    Value terms = maximum->getOperand(0);
    ScaledTerms scaled;
    scaled.maximum = maximum;
    // Masked elements are -inf with or without the factor.
    auto op = terms.getDefiningOp<llir::ElementwiseOp>();
    auto isOnlyReader = [&] {
      return op.getResult() == terms || op->hasOneUse();
    };
    while (op && op.getFn() == Fn::Select && isLowest(op.getInputs()[2]) &&
           isOnlyReader())
      op = op.getInputs()[1].getDefiningOp<llir::ElementwiseOp>();
    std::optional<std::pair<double, Value>> factor = findFactor(op);
    if (!factor || !isOnlyReader())
      continue;
    scaled.product = op.getResult();
    std::tie(scaled.factor, scaled.unscaled) = *factor;
    // All other readers must subtract the reference.
    bool areKnown = llvm::all_of(terms.getUsers(), [&](Operation *user) {
      if (user == maximum)
        return true;
      if (!r.isDifference(user, terms))
        return false;
      scaled.differences.push_back(user->getResult(0));
      return true;
    });
    if (!areKnown)
      continue;
    scaled.terms = terms;
    scaled.reference = &r - references.data();
    scaledTerms.push_back(std::move(scaled));
  }
}

/// Until the end of the memo scope, reads of the terms at the current position
/// get them without the factor.
void StreamedBlocks::rememberUnscaled() {
  for (const ScaledTerms &scaled : scaledTerms)
    e.remember(scaled.product, at, e.emit(scaled.unscaled, at));
}

/// Remembers the exponents at the current position, for the thread's row
/// `number`.
void StreamedBlocks::rememberExponents(unsigned number) {
  for (const ScaledTerms &scaled : scaledTerms) {
    Type type = e.b.getF32Type();
    Value factor =
        arith::ConstantOp::create(e.b, FloatAttr::get(type, scaled.factor));
    const Reference &r = references[scaled.reference];
    Value used = emitCast(e.b, r.used[number], r.type, type);
    Value exponent = math::FmaOp::create(e.b, e.emit(scaled.terms, at), factor,
                                         arith::NegFOp::create(e.b, used));
    for (Value difference : scaled.differences)
      e.remember(difference, at, exponent);
  }
}

/// Applies the factor to the state of a maximum over terms.
void StreamedBlocks::scaleMaximum(const RowState &state,
                                  SmallVectorImpl<Value> &values) {
  for (const ScaledTerms &scaled : scaledTerms)
    if (scaled.maximum == state.anchor->op)
      for (Value &v : values)
        v = emitFn(e.b, Fn::Mul,
                   {v, arith::ConstantOp::create(
                           e.b, FloatAttr::get(v.getType(), scaled.factor))},
                   v.getType());
}
