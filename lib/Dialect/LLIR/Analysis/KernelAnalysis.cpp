//===- KernelAnalysis.cpp - The reads of a kernel and their addresses -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"

#include <unordered_map>

using namespace luminal;
using namespace mlir;

ValueRange luminal::getYielded(llir::KernelOp kernel) {
  return cast<llir::YieldOp>(kernel.getBody().front().getTerminator())
      .getValues();
}

SmallVector<Expr> luminal::getResultExtents(llir::KernelOp kernel,
                                            unsigned number) {
  return hlir::getExtents(kernel.getResults()[number]);
}

unsigned luminal::getRank(Value v) {
  return cast<RankedTensorType>(v.getType()).getRank();
}

Type luminal::getElementType(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}

Index luminal::getExtentsOf(Value v) {
  SmallVector<Expr> extents = hlir::getExtents(v);
  return {extents.begin(), extents.end()};
}

unsigned KernelAnalysis::addDim(const Expr &extent) {
  extents.push_back(extent);
  assumptions = Assumptions(getRanges(), extents);
  return extents.size() - 1;
}

Index KernelAnalysis::mapIndex(hlir::MapAttr map, const Index &index) const {
  Index result;
  for (const Expr &e : map.getResults())
    result.push_back(simplify(e.substituteDims(index)));
  return result;
}

Expr KernelAnalysis::getResultAddress(unsigned number,
                                      const Index &index) const {
  return simplify(linearize(
      index, getExtentsOf(llir::KernelOp(kernel).getResults()[number])));
}

namespace {
struct Visited {
  Value v;
  Index index;
};

/// A cache of simplified expressions: most values read their operands at their
/// own index.
class Simplifier {
public:
  explicit Simplifier(const KernelAnalysis &a) : a(a) {}

  Expr operator()(const Expr &e);

private:
  struct Hash {
    size_t operator()(const Expr &e) const { return e.hash(); }
  };

  const KernelAnalysis &a;
  /// The number of dims when `known` was filled.
  size_t numDims = 0;
  std::unordered_map<Expr, Expr, Hash> known;
};
} // namespace

Expr Simplifier::operator()(const Expr &e) {
  // A new dim affects the simplification of others only if its extent has
  // symbols.
  ArrayRef<Expr> added = ArrayRef(a.getExtents()).drop_front(numDims);
  if (!llvm::all_of(added, [](const Expr &x) { return x.asConstant(); }))
    known.clear();
  numDims += added.size();
  if (auto it = known.find(e); it != known.end())
    return it->second;
  Expr result = a.simplify(e);
  known.emplace(e, result);
  known.emplace(result, result);
  return result;
}

void KernelAnalysis::walk(Value root, const Index &rootIndex,
                          function_ref<void(const Leaf &)> visit,
                          function_ref<void(Value, const Index &)> visitValue) {
  DenseMap<Value, SmallVector<Index, 1>> seen;
  Simplifier simplified(*this);
  SmallVector<Visited> work{{root, rootIndex}};
  while (!work.empty()) {
    Visited at = std::move(work.back());
    work.pop_back();
    SmallVector<Index, 1> &indices = seen[at.v];
    if (llvm::is_contained(indices, at.index))
      continue;
    indices.push_back(at.index);
    auto argument = dyn_cast<BlockArgument>(at.v);
    if (argument && !isPlaced(argument)) {
      if (visit)
        visit({argument, simplified(linearize(at.index, getExtentsOf(at.v)))});
      continue;
    }
    if (isPlaced(at.v)) {
      // The function that gives the place may inspect the value.
      Expr place = places.find(at.v)->second(at.index);
      if (visit)
        visit({nullptr, simplified(place)});
      continue;
    }
    if (visitValue)
      visitValue(at.v, at.index);
    auto op = cast<llir::BodyOpInterface>(at.v.getDefiningOp());
    if (std::optional<Expr> element = op.getElementExpr(at.index)) {
      if (visit)
        visit({nullptr, simplified(*element)});
      continue;
    }
    SmallVector<Visited> reads;
    op.getReads(
        at.index, [&](const Expr &extent) { return Expr::dim(addDim(extent)); },
        [&](OpOperand &operand, Index index) {
          reads.push_back({operand.get(), std::move(index)});
        });
    // Simplify after all dims are known.
    for (Visited &read : llvm::reverse(reads)) {
      for (Expr &e : read.index)
        e = simplified(e);
      work.push_back(std::move(read));
    }
  }
}

bool KernelAnalysis::variesOver(Value v, const Index &index, unsigned dim) {
  bool varies = false;
  walk(v, index,
       [&](const Leaf &leaf) { varies |= leaf.address.usesDim(dim); });
  return varies;
}

Index MovedResult::getIndex(const KernelAnalysis &a, const Index &at) const {
  return toResult ? a.mapIndex(toResult, at) : at;
}

Decision luminal::findSource(const KernelAnalysis &a, Value yielded,
                             MovedResult &result) {
  Assumptions sizes(a.getRanges());
  SmallVector<Expr> domain = hlir::getExtents(yielded);
  hlir::MapAttr map;
  result = {yielded, {}};
  while (auto view = result.source.getDefiningOp<llir::ViewOp>()) {
    map =
        map ? llir::compose(map, view.getMap(), domain, sizes) : view.getMap();
    result.source = view.getOperand();
  }
  if (!map)
    return Decision::accept();
  std::optional<hlir::MapAttr> inverse =
      llir::invert(map, domain, hlir::getExtents(result.source), sizes);
  if (!inverse)
    return Decision::refuse(
        "the last view does not move each element to a separate position",
        yielded.getDefiningOp());
  result.toResult = *inverse;
  return Decision::accept();
}

Decision luminal::findRowResults(const KernelAnalysis &a, ArrayRef<Expr> domain,
                                 SmallVectorImpl<MovedResult> &results) {
  auto fits = [&](Value v) {
    SmallVector<Expr> found = hlir::getExtents(v);
    return ArrayRef(found) == domain || ArrayRef(found) == domain.drop_back();
  };
  for (Value yielded : getYielded(a.kernel)) {
    MovedResult &result = results.emplace_back(MovedResult{yielded, {}});
    if (fits(yielded))
      continue;
    if (Decision found = findSource(a, yielded, result); !found)
      return found;
    if (!fits(result.source))
      return Decision::refuse("a result is neither over the rows nor over "
                              "their elements");
  }
  return Decision::accept();
}
