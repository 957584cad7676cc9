//===- StreamedBlocksCut.cpp - Masks the end of the stream ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last chunk may extend past the end of the stream. Testing each position
// wherever it is read would cost a comparison and selects in every chunk. If
// only a softmax reads the scores, it is equivalent to set the scores at those
// positions to -inf: the maximum does not change, and the terms are 0. So the
// operand of the maximum is masked once, in the last chunk only, and the rest
// of the code has no bounds checks.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

using luminal::llir::Fn;

/// Whether `v` is a function of `terms` minus the reference, possibly cast.
static bool isTermOf(Value v, Value terms, const StreamReference &reference) {
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  while (op && op.getFn() == Fn::Cast)
    op = op.getInputs()[0].getDefiningOp<llir::ElementwiseOp>();
  return op && op->getNumOperands() == 1 &&
         reference.isDifference(op.getInputs()[0].getDefiningOp(), terms);
}

void StreamedBlocks::findCut() {
  if (isWhole(t.extent, t.chunk))
    return;
  SmallVector<CutTerms> found;
  for (const Reference &r : references) {
    Operation *maximum = r.maximum;
    found.push_back({maximum->getOperand(0), {}});
    if (!isa<FloatType>(getElementType(found.back().value)))
      return;
  }
  // That function is the exponential: Rescaling.cpp accepts no other function
  // for an anchor with a reference.
  auto isCut = [&](Value v, const StreamedSpace::Anchor &anchor) {
    for (auto [r, terms] : llvm::zip_equal(references, found))
      if (anchor.op == r.maximum.getOperation() ||
          (anchor.reference == r.value && isTermOf(v, terms.value, r)))
        return true;
    return false;
  };
  for (const RowState &state : states)
    if (state.anchor->op->getNumOperands() != 1 ||
        !isCut(state.anchor->op->getOperand(0), *state.anchor))
      return;
  for (const auto &sum : sums)
    if (!isCut(StreamedSpace::getTerms(sum->p.op), sum->anchor))
      return;
  cut = std::move(found);
}

/// Masks the elements of the chunk that begins at `lo`.
void StreamedBlocks::cutTerms(Value lo) {
  if (cut.empty())
    return;
  SmallVector<Type> types;
  for (const CutTerms &terms : cut)
    types.append(layout->countSums(), getElementType(terms.value));
  auto emitAll = [&](bool areInside) {
    SmallVector<Value> elements;
    for (const CutTerms &terms : cut) {
      auto type = cast<FloatType>(getElementType(terms.value));
      Value lowest = arith::ConstantOp::create(
          e.b, FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(),
                                                    /*Negative=*/true)));
      llvm::append_range(
          elements,
          emitPlaces(type, lo, areInside, [&](size_t, Value isInside) {
            Value v = e.emit(terms.value, at);
            return isInside ? Value(arith::SelectOp::create(e.b, isInside, v,
                                                            lowest))
                            : v;
          }));
    }
    return elements;
  };
  Value isBefore =
      e.less(e.add(lo, e.constant(t.chunk - 1)), e.value(t.extent));
  SmallVector<Value> all = e.ifElse(
      isBefore, types, [&] { return emitAll(true); },
      [&] { return emitAll(false); });
  ArrayRef<Value> rest = all;
  for (CutTerms &terms : cut) {
    terms.elements = llvm::to_vector(rest.take_front(layout->countSums()));
    rest = rest.drop_front(layout->countSums());
  }
}

void StreamedBlocks::rememberCut(size_t place) {
  for (const CutTerms &terms : cut)
    e.remember(terms.value, at, terms.elements[place]);
}
