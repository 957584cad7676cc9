//===- StreamAnalysis.cpp - Anchors computed jointly over one dim ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/StreamAnalysis.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "llvm/ADT/SetVector.h"

using namespace luminal;
using namespace mlir;
using luminal::llir::Rescaling;

using Decision = DecisionAbout<Operation *>;

/// The deepest chain of ops without loops that the recursion follows.
static constexpr unsigned kMostNested = 200;
/// The most ops that the search for the anchors of one product visits.
static constexpr unsigned kMostOps = 1000;

StreamedSpace::StreamedSpace(ArrayRef<Expr> rows, const Expr &extent)
    : rows(rows), domain(rows) {
  domain.push_back(extent);
}

bool StreamedSpace::isOverRows(Value v) const {
  return hlir::getExtents(v) == rows;
}

bool StreamedSpace::isOverDomain(Value v) const {
  return hlir::getExtents(v) == domain;
}

bool StreamedSpace::isLeading(hlir::MapAttr map, unsigned count) const {
  ArrayRef<Expr> results = map.getResults();
  if (results.size() != count)
    return false;
  for (auto [i, result] : llvm::enumerate(results))
    if (result != Expr::dim(i) &&
        !(domain[i].isConstant(1) && result.isConstant(0)))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// What values read
//===----------------------------------------------------------------------===//

StreamedSpace::Trace StreamedSpace::trace(Value v) {
  if (auto it = traces.find(v); it != traces.end())
    return it->second;
  if (depth == kMostNested)
    return {nullptr, true};
  ++depth;
  Trace found = findTrace(v);
  --depth;
  traces[v] = found;
  return found;
}

StreamedSpace::Trace StreamedSpace::findTrace(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return {};
  if (auto it = numbers.find(op); it != numbers.end()) {
    const Anchor &anchor = anchors[it->second];
    auto rescale = dyn_cast<llir::RescaleOpInterface>(op);
    bool isMaximum = anchor.role == Role::Reduction && !anchor.reference &&
                     rescale && rescale.isMaximum();
    return isMaximum ? Trace{op, false} : Trace{nullptr, true};
  }
  // An anchor outside this space is complete before the loop begins.
  if (llir::hasLoops(op))
    return {};
  Trace joined;
  for (Value operand : op->getOperands()) {
    Trace t = trace(operand);
    joined.isOther |= t.isOther || (t.maximum && joined.maximum &&
                                    t.maximum != joined.maximum);
    joined.maximum = joined.maximum ? joined.maximum : t.maximum;
  }
  // A function of the maximum is fine if it has one value for each row.
  joined.isOther |= joined.maximum && !isOverRows(v);
  return joined;
}

Dependence StreamedSpace::getDependence(Value v) {
  if (auto it = dependences.find(v); it != dependences.end())
    return it->second;
  if (depth == kMostNested)
    return {Rescaling::other(), {}, {}};
  ++depth;
  Dependence found = findDependence(v);
  --depth;
  dependences[v] = found;
  return found;
}

Dependence StreamedSpace::findDependence(Value v) {
  const Dependence other{Rescaling::other(), {}, {}};
  Operation *op = v.getDefiningOp();
  if (!op)
    return {};
  if (auto it = numbers.find(op); it != numbers.end())
    return anchors[it->second].role == Role::Scores ? Dependence() : other;
  if (llir::hasLoops(op))
    return {};
  if (isa<llir::ConstantOp>(op)) {
    Dependence found;
    found.rescaling.number = llir::getFloatSplat(v);
    return found;
  }
  if (auto view = dyn_cast<llir::ViewOp>(op)) {
    Value source = view.getOperand();
    Trace read = trace(source);
    if (read.isFree()) {
      // A fixed number is the same at every index.
      Dependence found = getDependence(source);
      return found.rescaling.isFixed() ? found : Dependence();
    }
    if (!read.isOther && isOverRows(source) && isOverDomain(v) &&
        isLeading(view.getMap(), rows.size()))
      return {Rescaling::shifted(1), source, {}};
    bool isSame = isOverDomain(source) && isOverDomain(v) &&
                  isLeading(view.getMap(), domain.size());
    return isSame ? getDependence(source) : other;
  }
  auto body = dyn_cast<llir::BodyOpInterface>(op);
  SmallVector<Dependence> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getDependence(operand));
  auto rescale = dyn_cast<llir::RescaleOpInterface>(op);
  bool areFixed = llvm::all_of(
      operands, [](const Dependence &d) { return d.rescaling.isFixed(); });
  if (!rescale)
    return areFixed ? Dependence() : other;
  Dependence found;
  SmallVector<Rescaling> rescalings;
  for (const Dependence &operand : operands) {
    rescalings.push_back(operand.rescaling);
    if (operand.rescaling.isFixed())
      continue;
    if (!body.isPointwise() ||
        (found.reference && found.reference != operand.reference) ||
        (found.minuend && operand.minuend && found.minuend != operand.minuend))
      return other;
    found.reference = operand.reference;
    found.minuend = operand.minuend ? operand.minuend : found.minuend;
  }
  found.rescaling = rescale.getRescaling(rescalings);
  // If an operand is the reference, the value it is subtracted from is the
  // other one.
  if (found.rescaling.isShifted() && op->getNumOperands() == 2)
    for (auto [operand, dependence] :
         llvm::zip_equal(op->getOperands(), operands))
      if (dependence.rescaling.isFixed())
        found.minuend = found.minuend ? Value() : operand;
  return found.rescaling.kind == Rescaling::Kind::Other ? other : found;
}

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

StreamedSpace::Role StreamedSpace::getRole(Operation *op) {
  if (isa<llir::RowReductionOpInterface>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value v) { return isOverDomain(v); })
               ? Role::Reduction
               : Role::None;
  auto product = dyn_cast<llir::ProductOpInterface>(op);
  if (!product)
    return Role::None;
  Value result = product->getResult(0);
  SmallVector<Expr> extents = hlir::getExtents(result);
  unsigned local = rows.size();
  if (extents.size() < local ||
      ArrayRef<Expr>(extents).take_front(local) != ArrayRef<Expr>(rows))
    return Role::None;
  // Each row must read its own terms.
  Value terms = getTerms(product);
  SmallVector<Expr> dims;
  for (unsigned i = 0; i < local; ++i)
    dims.push_back(domain[i].isConstant(1) ? Expr(0) : Expr::dim(i));
  dims.push_back(Expr::dim(extents.size()));
  SmallVector<Expr> read(product.getLhsMap().getResults());
  for (auto [i, e] : llvm::enumerate(read))
    if (i < local && domain[i].isConstant(1) && e == Expr::dim(i))
      e = Expr(0);
  bool isSum = product.getReducedExtent() == domain.back() &&
               isOverDomain(terms) && read == dims;
  bool isScores = extents == domain && !product.getLhsMap().usesDim(local) &&
                  product.getRhsMap().usesDim(local);
  if (isSum && isScores) {
    Operation *def = terms.getDefiningOp();
    bool isOfAnchors = !trace(terms).isFree() || (def && numbers.contains(def));
    return isOfAnchors ? Role::Sum : Role::Scores;
  }
  return isSum ? Role::Sum : isScores ? Role::Scores : Role::None;
}

Decision StreamedSpace::add(Operation *op) {
  Anchor anchor{op, getRole(op), {}};
  auto take = [&]() -> Decision {
    numbers[op] = anchors.size();
    anchors.push_back(anchor);
    return Decision::accept();
  };
  if (anchor.role == Role::None)
    return Decision::refuse("it is not over the streamed dim", op);
  if (anchor.role == Role::Scores) {
    for (Value operand : op->getOperands())
      if (!trace(operand).isFree())
        return Decision::refuse(
            "it needs the final result of an anchor before it", op);
    return take();
  }
  auto rescale = dyn_cast<llir::RescaleOpInterface>(op);
  if (!rescale)
    return Decision::refuse("it does not say how it changes with the maximum",
                            op);
  SmallVector<Rescaling> rescalings;
  Value minuend;
  for (Value operand : op->getOperands()) {
    bool isWhole = anchor.role == Role::Sum &&
                   operand != getTerms(cast<llir::ProductOpInterface>(op));
    // This operand is read by all rows.
    Dependence d;
    if (isWhole && !trace(operand).isFree())
      d.rescaling = Rescaling::other();
    if (!isWhole)
      d = getDependence(operand);
    if (!d.rescaling.isFixed() && anchor.reference &&
        anchor.reference != d.reference)
      d.rescaling = Rescaling::other();
    anchor.reference = d.reference ? d.reference : anchor.reference;
    minuend = d.minuend ? d.minuend : minuend;
    rescalings.push_back(d.rescaling);
  }
  Rescaling rescaling = rescale.getRescaling(rescalings);
  if (rescaling.isFixed()) {
    anchor.reference = {};
    return take();
  }
  if (!rescaling.isScaled())
    return Decision::refuse("it needs the final result of an anchor before it",
                            op);
  // This bounds every exponential by 1, and makes all terms zero while the
  // maximum is -inf.
  if (minuend != getMaximum(anchor.reference)->getOperand(0))
    return Decision::refuse("its terms are relative to the maximum of other "
                            "values",
                            op);
  anchor.base = rescaling.base;
  return take();
}

SmallVector<Operation *>
luminal::findStreamedAnchors(llir::ProductOpInterface last) {
  SmallVector<Expr> extents = hlir::getExtents(last->getResult(0));
  if (extents.empty())
    return {};
  ArrayRef<Expr> rows = ArrayRef<Expr>(extents).drop_back();
  StreamedSpace roles(rows, last.getReducedExtent());
  SmallVector<Operation *> found, pending{last};
  llvm::SetVector<Operation *> seen;
  seen.insert(last);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    // The value is in memory, whichever op wrote it.
    if (!isa<llir::BodyOpInterface>(op))
      continue;
    if (llir::hasLoops(op)) {
      auto role = op == last ? StreamedSpace::Role::Sum : roles.getRole(op);
      if (role == StreamedSpace::Role::None)
        continue;
      found.push_back(op);
      if (op != last && isa<llir::ProductOpInterface>(op))
        continue;
    }
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (seen.insert(def))
          pending.push_back(def);
    if (seen.size() > kMostOps)
      return {};
  }
  // No anchor before the product uses the streamed dim.
  if (found.size() == 1)
    return {};
  auto sort = [](SmallVectorImpl<Operation *> &ops) {
    llvm::sort(
        ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  };
  sort(found);
  StreamedSpace space(rows, last.getReducedExtent());
  for (Operation *op : found)
    if (!space.add(op))
      return {};
  // Add further reductions of the same values: the sum of the terms.
  SmallVector<Operation *> more;
  for (Operation *op : seen)
    for (Operation *user : op->getUsers())
      if (!seen.contains(user) && !llvm::is_contained(more, user) &&
          space.getRole(user) == StreamedSpace::Role::Reduction)
        more.push_back(user);
  sort(more);
  for (Operation *op : more)
    if (space.add(op))
      found.push_back(op);
  return found;
}
