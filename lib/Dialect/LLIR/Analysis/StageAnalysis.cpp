//===- StageAnalysis.cpp - Kernels of several anchors as stages -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"

using namespace luminal;
using namespace mlir;

static constexpr int64_t kAlignment = 64;

/// Returns how many leading dims of `v` are read at the index of `other` and
/// have the same extent.
static unsigned countCommon(Value v, const Index &index, Value other,
                            const Index &at) {
  SmallVector<Expr> x = hlir::getExtents(v), y = hlir::getExtents(other);
  size_t i = 0;
  while (i < std::min(index.size(), at.size()) && index[i] == at[i] &&
         x[i] == y[i])
    ++i;
  return i;
}

//===----------------------------------------------------------------------===//
// The parallel space
//===----------------------------------------------------------------------===//

Decision StageAnalysis::findParallel() {
  std::optional<unsigned> common;
  auto limit = [&](unsigned count) {
    common = std::min(common.value_or(count), count);
  };
  // Follow each op with loops to the next ones only; all paths through a kernel
  // would be too many.
  auto walkFrom = [&](Value root) {
    Index at;
    for (const Expr &extent : hlir::getExtents(root))
      at.push_back(extent.isConstant(1) ? Expr(0)
                                        : Expr::dim(a.addDim(extent)));
    a.clearPlaces();
    for (Operation &op : a.kernel.getOps())
      for (Value v : op.getResults())
        if (llir::hasLoops(&op) && &op != root.getDefiningOp())
          a.place(v, [&limit, &at, v, root](const Index &index) -> Expr {
            limit(countCommon(v, index, root, at));
            return 0;
          });
    a.walk(root, at, /*visit=*/nullptr);
    a.clearPlaces();
  };
  for (Operation &op : a.kernel.getOps())
    if (llir::hasLoops(&op))
      walkFrom(op.getResult(0));
  for (Value yielded : getYielded(a.kernel)) {
    MovedResult &result = results.emplace_back();
    if (!findSource(a, yielded, result))
      result = {yielded, {}};
    // All results share their leading dims.
    SmallVector<Expr> own = hlir::getExtents(result.source),
                      others = hlir::getExtents(results.front().source);
    size_t equal = 0;
    while (equal < std::min(own.size(), others.size()) &&
           own[equal] == others[equal])
      ++equal;
    limit(equal);
    if (Operation *def = result.source.getDefiningOp()) {
      walkFrom(result.source);
      if (llir::hasLoops(def))
        limit(getRank(result.source));
    }
  }
  Value first = results.front().source;
  SmallVector<Expr> all = hlir::getExtents(first);
  extents.assign(all.begin(), all.begin() + *common);
  return Decision::accept();
}

void StageAnalysis::setAxes(ArrayRef<SmallVector<unsigned>> groups,
                            ArrayRef<int64_t> blocks) {
  axes.clear();
  index.assign(extents.size(), Expr(0));
  for (auto [group, block] : llvm::zip_equal(groups, blocks)) {
    StageAxis &axis = axes.emplace_back();
    axis.positions = group;
    axis.block = block;
    std::vector<Expr> sizes;
    for (unsigned i : group)
      sizes.push_back(extents[i]);
    axis.extent = a.simplify(product(sizes));
    axis.dim = a.addDim(axis.extent);
    axis.begin = a.addDim(axis.extent);
    for (auto [i, part] :
         llvm::zip_equal(group, delinearize(Expr::dim(axis.dim), sizes)))
      index[i] = a.simplify(part);
  }
}

const StageAxis *StageAnalysis::getAxis(unsigned position) const {
  for (const StageAxis &axis : axes)
    if (llvm::is_contained(axis.positions, position))
      return &axis;
  return nullptr;
}

bool StageAnalysis::isUniform(const StageAxis &axis,
                              llir::ProductOpInterface op) const {
  unsigned first = axis.positions.front();
  return llvm::all_of(axis.positions, [&](unsigned i) {
    return op.getLhsMap().usesDim(i) == op.getLhsMap().usesDim(first) &&
           op.getRhsMap().usesDim(i) == op.getRhsMap().usesDim(first);
  });
}

Decision StageAnalysis::find() {
  if (Decision found = findParallel(); !found)
    return found;
  for (Operation &op : a.kernel.getOps()) {
    if (!llir::hasLoops(&op))
      continue;
    if (auto product = dyn_cast<llir::ProductOpInterface>(op)) {
      stages.push_back({product, {}});
      continue;
    }
    auto reduction = dyn_cast<llir::RowReductionOpInterface>(op);
    if (!reduction)
      return Decision::refuse("it is neither a product nor a reduction", &op);
    if (getRank(op.getResult(0)) != extents.size())
      return Decision::refuse("its rows are not the kernel's parallel space",
                              &op);
    if (stages.empty() || stages.back().product)
      stages.push_back({});
    stages.back().reductions.push_back(reduction);
  }
  if (stages.empty())
    return Decision::refuse("the kernel has no anchor");
  productEnds = stages.back().product != nullptr;
  if (productEnds) {
    // Ops after the product have its index space and read it at their own
    // index.
    Value last = stages.back().product->getResult(0);
    for (const MovedResult &result : results) {
      Index at;
      for (const Expr &extent : hlir::getExtents(last))
        at.push_back(Expr::dim(a.addDim(extent)));
      if (hlir::getExtents(result.source) != hlir::getExtents(last)) {
        productEnds = false;
        break;
      }
      a.walk(result.source, at, /*visit=*/nullptr,
             [&](Value v, const Index &index) {
               productEnds &= v != last || index == at;
             });
    }
    if (!productEnds)
      stages.push_back({});
  }
  if (!productEnds)
    for (const MovedResult &result : results)
      if (getRank(result.source) > extents.size() + 1)
        return Decision::refuse("a result has more than one dim beyond the "
                                "kernel's parallel space",
                                result.source.getDefiningOp());
  return Decision::accept();
}

//===----------------------------------------------------------------------===//
// Kept values
//===----------------------------------------------------------------------===//

/// Returns the most indices of an axis that a work item has.
static Expr countInBlock(const StageAxis &axis) {
  return axis.block ? Expr(axis.block) : axis.extent;
}

Expr StageAnalysis::countRows() const {
  Expr rows = 1;
  for (const StageAxis &axis : axes)
    rows = rows * countInBlock(axis);
  return rows;
}

void StageAnalysis::keep(size_t stage, Value v) {
  Expr elements = countRows();
  SmallVector<Expr> own = hlir::getExtents(v);
  for (const Expr &extent : ArrayRef(own).drop_front(extents.size()))
    elements = elements * extent;
  Type type = getElementType(v);
  // In memory, types narrower than a byte take a byte.
  int64_t size = std::max(1u, type.getIntOrFloatBitWidth() / 8);
  Expr bytes = Expr::ceilDiv(elements * size, kAlignment) * kAlignment;
  kept[stage].push_back({v, keptBytes, bytes});
  keptBytes = keptBytes + bytes;
}

SmallVector<unsigned> StageAnalysis::findOwnDims(bool ofLeft) const {
  SmallVector<unsigned> found;
  // Without a product all dims are rows.
  if (!ofLeft && llvm::none_of(stages, [](const Stage &stage) {
        return bool(stage.product);
      }))
    return found;
  for (unsigned i = extents.size(); i-- > 0;) {
    if (extents[i].isConstant(1))
      continue;
    bool isOfAll = llvm::all_of(stages, [&](const Stage &stage) {
      if (!stage.product)
        return true;
      llir::ProductOpInterface product = stage.product;
      hlir::MapAttr own = product.getLhsMap(), other = product.getRhsMap();
      if (!ofLeft)
        std::swap(own, other);
      return own.usesDim(i) && !other.usesDim(i);
    });
    if (isOfAll)
      found.insert(found.begin(), i);
    else if (!found.empty())
      break;
  }
  return found;
}

Decision StageAnalysis::applyGrid(llir::LoopCaseAttr loopCase) {
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<int64_t> counts;
  SmallVector<unsigned> taken, expected;
  for (llir::LoopAxisAttr axis : loopCase.getGrid()) {
    if (axis.getLanes() > 1)
      return Decision::refuse("an axis has lanes, which stages do not take");
    groups.emplace_back(axis.getDims());
    counts.push_back(axis.getBlock());
    llvm::append_range(taken, axis.getDims());
  }
  for (auto [i, extent] : llvm::enumerate(extents))
    if (!extent.isConstant(1))
      expected.push_back(i);
  llvm::sort(taken);
  if (taken != expected)
    return Decision::refuse("the axes are not the dims of the parallel space");
  setAxes(groups, counts);
  for (const StageAxis &axis : axes)
    for (const Stage &stage : stages)
      if (stage.product && axis.block != 1 && !isUniform(axis, stage.product))
        return Decision::refuse("an axis joins dims that a product tells "
                                "apart");
  return Decision::accept();
}

Decision StageAnalysis::apply(llir::LoopCaseAttr loopCase) {
  if (Decision fits = applyGrid(loopCase); !fits)
    return fits;
  if (!loopCase.getStream().empty())
    return Decision::refuse("it has a stream, which stages do not take");
  kept.assign(stages.size(), {});
  keptBytes = 0;
  for (auto [i, stage] : llvm::enumerate(stages)) {
    if (i + 1 == stages.size())
      break;
    if (stage.product)
      keep(i, stage.product->getResult(0));
    for (llir::RowReductionOpInterface op : stage.reductions)
      for (Value result : op->getResults())
        keep(i, result);
  }
  for (llir::LoopFormAttr form : loopCase.getForms()) {
    Operation *op =
        &*std::next(a.kernel.getBody().front().begin(), form.getOp());
    if (llir::hasLoops(op))
      continue;
    if (!cast<llir::BodyOpInterface>(op).isPointwise() ||
        getRank(op->getResult(0)) != extents.size() + 1)
      return Decision::refuse("what it keeps is not a row of elementwise "
                              "values",
                              op);
    // Find the first reduction that reads it.
    std::optional<size_t> at;
    for (auto [i, stage] : llvm::enumerate(stages))
      for (llir::RowReductionOpInterface reduction : stage.reductions)
        if (!at &&
            llvm::is_contained(reduction->getOperands(), op->getResult(0)))
          at = i;
    if (!at)
      return Decision::refuse("no reduction reads what it keeps", op);
    keptOnTheWay.push_back(op->getResult(0));
    keep(*at, op->getResult(0));
  }
  return Decision::accept();
}

bool StageAnalysis::isKeptOnTheWay(Value v) const {
  return llvm::is_contained(keptOnTheWay, v);
}

KernelAnalysis::Place StageAnalysis::getRowPlace() const {
  SmallVector<std::pair<StageAxis, Expr>> ofAxes;
  Expr stride = 1;
  for (const StageAxis &axis : llvm::reverse(axes)) {
    if (axis.block == 1)
      continue;
    ofAxes.push_back({axis, stride});
    stride = stride * countInBlock(axis);
  }
  return [ofAxes, extents = extents](const Index &at) {
    Expr place = 0;
    for (const auto &[axis, stride] : ofAxes) {
      Index part;
      std::vector<Expr> sizes;
      for (unsigned i : axis.positions) {
        part.push_back(at[i]);
        sizes.push_back(extents[i]);
      }
      place = place + stride * (linearize(part, sizes) - Expr::dim(axis.begin));
    }
    return place;
  };
}

KernelAnalysis::Place StageAnalysis::getPlace(Value v) const {
  // Row-major over the block, then over the local dims.
  SmallVector<std::pair<unsigned, Expr>> ofDims;
  SmallVector<Expr> own = hlir::getExtents(v);
  Expr stride = 1;
  for (size_t i = own.size(); i-- > extents.size();) {
    ofDims.push_back({i, stride});
    stride = stride * own[i];
  }
  return [row = getRowPlace(), ofDims, stride](const Index &at) {
    Expr place = stride * row(at);
    for (const auto &[i, stride] : ofDims)
      place = place + stride * at[i];
    return place;
  };
}

void StageAnalysis::placeKept(size_t i) {
  for (const KeptValue &value : kept[i])
    if (!a.isPlaced(value.v))
      place(value.v);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

ProductAnalysis StageAnalysis::analyze(llir::ProductOpInterface op) const {
  ProductAnalysis p(a, op);
  p.rows.group.clear(), p.columns.group.clear(), p.batch.clear();
  SmallVector<unsigned> local;
  for (auto [i, extent] : llvm::enumerate(p.extents)) {
    if (extent.isConstant(1))
      continue;
    bool inLeft = p.rows.map.usesDim(i), inRight = p.columns.map.usesDim(i);
    bool isLocal = i >= extents.size();
    const StageAxis *axis = isLocal ? nullptr : getAxis(i);
    bool isBlocked = axis && axis->block != 1;
    auto isTaken = [&](const ProductSide &side) {
      return side.group.empty() || side.group == axis->positions;
    };
    if (isBlocked && inLeft && !inRight && isTaken(p.rows))
      p.rows.group = axis->positions;
    else if (isBlocked && inRight && !inLeft && isTaken(p.columns))
      p.columns.group = axis->positions;
    else if (isLocal && inRight && !inLeft)
      local.push_back(i);
    else
      p.batch.push_back({unsigned(i)});
  }
  if (p.columns.group.empty())
    p.columns.group = local;
  else
    for (unsigned i : local)
      p.batch.push_back({i});
  p.joinDims();
  return p;
}
