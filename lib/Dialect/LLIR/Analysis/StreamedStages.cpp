//===- StreamedStages.cpp - Stages of a streamed kernel -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/StreamedStages.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace luminal;
using namespace mlir;

using Anchor = StreamedSpace::Anchor;

Decision StreamedStages::find() {
  if (Decision found = s.find(); !found)
    return found;
  Block &body = a.kernel.getBody().front();
  auto reductions = body.getOps<llir::RowReductionOpInterface>();
  auto products = body.getOps<llir::ProductOpInterface>();
  if (!reductions.empty())
    extent = (*reductions.begin()).getReducedExtent();
  else if (llvm::hasNItemsOrMore(products, 2))
    // The last product sums over the results of others.
    for (llir::ProductOpInterface product : products)
      extent = product.getReducedExtent();
  else
    return Decision::refuse("no reduction iterates over a dim");
  space.emplace(s.extents, extent);
  for (Operation &op : a.kernel.getOps())
    if (llir::hasLoops(&op))
      if (Decision added = space->add(&op); !added)
        return added;
  if (reductions.empty() &&
      !(space->hasRole(Role::Scores) && space->hasRole(Role::Sum)))
    return Decision::refuse(
        "no product sums over the results of another product");
  // At the end, each row has one value or one line.
  for (const MovedResult &result : s.results)
    if (getRank(result.source) > getPosition() + 1)
      return Decision::refuse("a result has more than one dim beyond the "
                              "kernel's parallel space",
                              result.source.getDefiningOp());
  a.clearPlaces();
  DenseSet<Value> scores;
  for (const Anchor &anchor : getAnchors()) {
    for (Value result : anchor.op->getResults()) {
      if (getRank(result) > getPosition() + 1)
        return Decision::refuse("it has more than one dim beyond the kernel's "
                                "parallel space",
                                anchor.op);
      if (anchor.role == Role::Scores)
        scores.insert(result);
      else
        a.place(result, [](const Index &) { return Expr(0); });
    }
  }
  Operation *reader = nullptr;
  for (const MovedResult &result : s.results) {
    Index at;
    for (const Expr &e : hlir::getExtents(result.source))
      at.push_back(Expr::dim(a.addDim(e)));
    a.walk(result.source, at, /*visit=*/nullptr, [&](Value v, const Index &) {
      if (scores.contains(v))
        reader = v.getDefiningOp();
    });
  }
  a.clearPlaces();
  if (reader)
    return Decision::refuse("a result reads all of its elements", reader);
  return Decision::accept();
}

void StreamedStages::setChunk(int64_t count) {
  chunk = count;
  begin = a.addDim(extent);
}

Decision StreamedStages::apply(llir::LoopCaseAttr loopCase) {
  if (Decision fits = s.applyGrid(loopCase); !fits)
    return fits;
  ArrayRef<llir::LoopAxisAttr> stream = loopCase.getStream();
  if (stream.size() != 1 ||
      stream[0].getDims() != ArrayRef<unsigned>(getPosition()))
    return Decision::refuse("its stream is not the dim after those of the "
                            "parallel space");
  if (stream[0].getBlock() == 0 || stream[0].getLanes() != 1)
    return Decision::refuse("its stream has no chunk, or lanes, which are the "
                            "forms' own");
  setChunk(stream[0].getBlock());
  return Decision::accept();
}

Index StreamedStages::getAnyRow() const {
  Index row;
  for (const Expr &extent : s.extents)
    row.push_back(extent.isConstant(1) ? Expr(0) : Expr::dim(a.addDim(extent)));
  return row;
}

Value StreamedStages::getComputedTerms(const Anchor &anchor) const {
  // ProductAnalysis reads the value before a cast that only widens it.
  Value terms = llir::skipWidening(
      StreamedSpace::getTerms(cast<llir::ProductOpInterface>(anchor.op)));
  Value source = terms;
  while (auto view = source.getDefiningOp<llir::ViewOp>())
    source = view.getOperand();
  Operation *def = source.getDefiningOp();
  return !def || llir::hasLoops(def) ? Value() : terms;
}

KernelAnalysis::Place StreamedStages::getChunkPlace() const {
  return [row = s.getRowPlace(), chunk = chunk, position = getPosition(),
          begin = begin](const Index &at) {
    return row(at) * chunk + (at[position] - Expr::dim(begin));
  };
}

ProductAnalysis StreamedStages::analyze(const Anchor &anchor) const {
  ProductAnalysis p = s.analyze(cast<llir::ProductOpInterface>(anchor.op));
  if (anchor.role != Role::Sum)
    return p;
  Expr first = Expr::dim(begin), count = chunk;
  if (end)
    count = Expr::dim(*end) - first;
  else if (!a.simplify(Expr::mod(extent, chunk)).isConstant(0))
    count = Expr::min(chunk, extent - first);
  p.setSteps(first, count, chunk);
  return p;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Bytes of padding after a line: vectors are read past its end.
static constexpr int64_t kPadding = 64;

Expr StreamedStages::countRoom(Type type, const Expr &count) {
  int64_t size = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8u);
  return Expr::ceilDiv(count * size + kPadding, kPadding) * kPadding;
}

SmallVector<const Anchor *> StreamedStages::getReferences() const {
  SmallVector<const Anchor *> found;
  for (const Anchor &anchor : getAnchors())
    if (anchor.reference && llvm::none_of(found, [&](const Anchor *other) {
          return other->reference == anchor.reference;
        }))
      found.push_back(&anchor);
  return found;
}

Type StreamedStages::getWideType(Value reference) {
  Type element = getElementType(reference);
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

Expr StreamedStages::countStateBytes() const {
  Expr rows = s.countRows(), bytes = 0;
  for (const Anchor *anchor : getReferences())
    bytes = bytes + countRoom(getWideType(anchor->reference), rows);
  for (const Anchor &anchor : getAnchors())
    if (anchor.role == Role::Reduction)
      for (Type type :
           cast<llir::ReductionOpInterface>(anchor.op).getStateTypes())
        bytes = bytes + countRoom(type, rows);
  for (const Anchor &anchor : getAnchors())
    if (anchor.role == Role::Sum) {
      ProductAnalysis p = analyze(anchor);
      bytes = bytes + countRoom(p.accumulator, rows * p.columns.extent);
    }
  return bytes;
}
