//===- ProductAnalysis.cpp - A matrix product over three dims -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Analysis/AlignedRuns.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

#include <utility>

using namespace luminal;
using namespace mlir;

Type luminal::getSumType(llir::ProductOpInterface op) {
  Type element = getElementType(op->getResult(0));
  return llir::isNarrowFloat(element) ? Type(Float32Type::get(op.getContext()))
                                      : element;
}

/// Substitutes expressions for dims in `e`.
static Expr replaceDims(const Expr &e, ArrayRef<std::pair<unsigned, Expr>> by) {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    for (const auto &[dim, value] : by)
      if (leaf.asDim() == dim)
        return value;
    return std::nullopt;
  });
}

/// Returns the value that a side reads: memory in its stored type.
static Value getRead(const KernelAnalysis &a, Value operand) {
  return a.isPlaced(operand) ? operand : llir::skipWidening(operand);
}

ProductAnalysis::ProductAnalysis(KernelAnalysis &a, llir::ProductOpInterface op)
    : a(a), op(op), extents(hlir::getExtents(op->getResult(0))) {
  accumulator = factor = getSumType(op);
  bytes = accumulator.getIntOrFloatBitWidth() / 8;
  rows.operand = getRead(a, op.getLhs()), rows.map = op.getLhsMap();
  columns.operand = getRead(a, op.getRhs()), columns.map = op.getRhsMap();
  SmallVector<unsigned> both;
  for (unsigned i = 0; i < extents.size(); ++i) {
    if (extents[i].isConstant(1))
      continue;
    bool inLeft = rows.map.usesDim(i), inRight = columns.map.usesDim(i);
    (inLeft == inRight ? both
     : inLeft          ? rows.group
                       : columns.group)
        .push_back(i);
  }
  if (!both.empty())
    batch.push_back(both);
  kExtent = kRoom = op.getReducedExtent();
  kDim = a.addDim(kExtent);
}

void ProductAnalysis::setSteps(const Expr &begin, const Expr &count,
                               int64_t most) {
  kBegin = begin;
  kExtent = count;
  kRoom = most;
  kDim = a.addDim(most);
  joinDims();
}

Decision ProductAnalysis::findResults() {
  for (Value yielded : getYielded(a.kernel)) {
    MovedResult &result = results.emplace_back();
    if (Decision found = findSource(a, yielded, result); !found)
      return found;
    if (hlir::getExtents(result.source) != extents)
      return Decision::refuse("the ops after the product have another index "
                              "space",
                              result.source.getDefiningOp());
  }
  return Decision::accept();
}

bool ProductAnalysis::isLookedUp(const ProductSide &side) const {
  bool found = false;
  a.walk(side.operand, getOperandIndex(side), nullptr,
         [&](Value v, const Index &) {
           found |= bool(v.getDefiningOp<llir::GatherOp>());
         });
  return found;
}

Decision ProductAnalysis::takeGroups() {
  joinDims();
  bool isOther = columns.group.empty() && !rows.group.empty();
  if (!(isOther ? columns : rows).group.empty() ||
      (isOther ? rows : columns).group.empty() || batch.size() != 1)
    return Decision::refuse("it is not a batch of vectors times matrices");
  if (!isLookedUp(isOther ? rows : columns))
    return Decision::refuse("no matrix is looked up");
  if (isOther)
    swapSides();
  SmallVector<unsigned> before = batch.front(), whole = columns.group;
  SmallVector<unsigned> none = std::exchange(rows.group, takeKeyDims());
  batch.clear();
  isGrouped = true;
  joinDims();
  Decision found = findKeys();
  if (found && columns.group.empty())
    found = Decision::refuse("no matrix is looked up");
  if (!found) {
    isGrouped = false;
    columns.group = whole, rows.group = none;
    batch.push_back(before);
    if (isOther)
      swapSides();
    joinDims();
  }
  return found;
}

/// Returns the batch dims, and removes from the columns the dims by which their
/// matrix is looked up: each index of such a dim becomes another row with the
/// same left operand.
SmallVector<unsigned> ProductAnalysis::takeKeyDims() {
  SmallVector<unsigned> found = batch.front(), free;
  Index each = index;
  for (unsigned i : columns.group)
    each[i] = Expr::dim(a.addDim(extents[i]));
  for (unsigned i : columns.group) {
    SmallVector<Key, 1> read;
    (void)bool(collectKeys(each, *each[i].asDim(), read));
    (read.empty() ? free : found).push_back(i);
  }
  columns.group = free;
  llvm::sort(found);
  return found;
}

/// Collects the elements that serve as indices and depend on `dim`, where the
/// columns are read at `at` of the product; refuses if anything else depends on
/// `dim`.
Decision ProductAnalysis::collectKeys(const Index &at, unsigned dim,
                                      SmallVectorImpl<Key> &found) {
  Decision result = Decision::accept();
  DenseMap<Value, SmallVector<Index, 1>> seen;
  SmallVector<std::pair<Value, Index>> work{
      {columns.operand, getOperandIndex(columns, at)}};
  auto depends = [&](const Index &index) {
    return llvm::any_of(index, [&](const Expr &x) { return x.usesDim(dim); });
  };
  auto refuse = [&](Operation *op) {
    if (result)
      result = Decision::refuse(
          "the matrix depends on the row other than by a lookup", op);
  };
  while (!work.empty()) {
    auto [v, index] = work.pop_back_val();
    SmallVector<Index, 1> &indices = seen[v];
    if (!depends(index) || llvm::is_contained(indices, index))
      continue;
    indices.push_back(index);
    auto body = v.getDefiningOp<llir::BodyOpInterface>();
    if (!body || a.isPlaced(v)) {
      refuse(nullptr);
      continue;
    }
    if (std::optional<Expr> element = body.getElementExpr(index)) {
      if (a.simplify(*element).usesDim(dim))
        refuse(body);
      continue;
    }
    auto gather = dyn_cast<llir::GatherOp>(*body);
    body.getReads(
        index, [&](const Expr &extent) { return Expr::dim(a.addDim(extent)); },
        [&](OpOperand &operand, Index read) {
          for (Expr &x : read)
            x = a.simplify(x);
          bool isKey = gather && &operand == &gather.getIndicesMutable();
          if (!isKey)
            work.push_back({operand.get(), std::move(read)});
          else if (depends(read))
            found.push_back({operand.get(), std::move(read),
                             hlir::getExtents(gather.getData())[0]});
        });
  }
  return result;
}

/// Finds the elements that decide which columns a row has.
Decision ProductAnalysis::findKeys() {
  keys.clear();
  if (Decision found = collectKeys(index, groupDim, keys); !found)
    return found;
  if (keys.empty())
    return Decision::refuse("all rows read the same matrix");
  for (const Key &key : keys)
    for (const Expr &x : key.index)
      if (x.usesDim(columns.dim) || x.usesDim(kDim))
        return Decision::refuse("a row reads parts of many matrices");
  return Decision::accept();
}

Decision ProductAnalysis::applyGrid(llir::LoopCaseAttr loopCase,
                                    StringRef columnsName,
                                    SmallVectorImpl<Role> &roles) {
  if (columnsName == "lhs")
    swapSides();
  if (llir::LoopFormAttr form = loopCase.getForm(llir::getPosition(op));
      form && form.getWord("groups") == "rows") {
    bool isOther = columns.group.empty() && !rows.group.empty();
    if (Decision found = takeGroups(); !found)
      return found;
    if (isOther)
      return Decision::refuse("the columns are the other operand's");
  }
  size_t listed = 0, known = rows.group.size() + columns.group.size();
  for (ArrayRef<unsigned> group : batch)
    known += group.size();
  ArrayRef<llir::LoopAxisAttr> grid = loopCase.getGrid();
  for (llir::LoopAxisAttr axis : grid) {
    listed += axis.getDims().size();
    for (unsigned dim : axis.getDims())
      if (dim >= extents.size() || extents[dim].isConstant(1))
        return Decision::refuse("an axis is not over dims of the product");
  }
  // Each dim must be listed exactly once.
  if (listed != known)
    return Decision::refuse("the axes are not all dims of the product");
  roles.assign(grid.size(), Role::Batch);
  auto take = [&](ProductSide &side, Role role) {
    for (size_t i = grid.size(); i-- > 0;)
      if (llvm::all_of(grid[i].getDims(), [&](unsigned dim) {
            return llvm::is_contained(side.group, dim);
          })) {
        roles[i] = role;
        side.group.assign(grid[i].getDims().begin(), grid[i].getDims().end());
        return;
      }
    side.group.clear();
  };
  take(rows, Role::Rows);
  take(columns, Role::Columns);
  batch.clear();
  for (auto [axis, role] : llvm::zip(grid, roles)) {
    if (role != Role::Batch)
      continue;
    batch.emplace_back(axis.getDims());
    if (axis.getBlock() != 1)
      return Decision::refuse("a batch axis takes one index at a time");
  }
  return Decision::accept();
}

/// Finds how the operand of `side` is read along its own dim and along k.
static void examine(ProductAnalysis &p, ProductSide &side) {
  side.alongOwn = side.alongK = side.linear = side.stepsK = true;
  side.stepsOwn = false;
  p.a.walk(side.operand, p.getOperandIndex(side), [&](const Leaf &leaf) {
    auto own = leaf.address.linearIn(side.dim);
    auto k = leaf.address.linearIn(p.kDim);
    auto unit = [](const std::optional<Expr::Linear> &x) {
      return x && (x->stride.isConstant(0) || x->stride.isConstant(1));
    };
    side.linear &= own.has_value() && k.has_value();
    side.alongOwn &= unit(own);
    side.alongK &= unit(k);
    side.stepsOwn |= own && own->stride.isConstant(1);
    side.stepsK &= k && k->stride.isConstant(1);
  });
}

void ProductAnalysis::joinDims() {
  index.assign(extents.size(), Expr(0));
  auto join = [&](ArrayRef<unsigned> group, Expr &extent) {
    std::vector<Expr> sizes;
    for (unsigned i : group)
      sizes.push_back(extents[i]);
    extent = a.simplify(product(sizes));
    unsigned dim = a.addDim(extent);
    std::vector<Expr> parts = delinearize(Expr::dim(dim), sizes);
    for (auto [i, part] : llvm::zip(group, parts))
      index[i] = a.simplify(part);
    return dim;
  };
  batchDims.clear();
  batchExtents.clear();
  for (ArrayRef<unsigned> group : batch)
    batchDims.push_back(join(group, batchExtents.emplace_back()));
  rows.dim = join(rows.group, rows.extent);
  columns.dim = join(columns.group, columns.extent);
  groupIndex.clear();
  if (isGrouped) {
    groupDim = a.addDim(rows.extent);
    std::vector<Expr> sizes;
    for (unsigned i : rows.group)
      sizes.push_back(extents[i]);
    for (auto [i, part] :
         llvm::zip(rows.group, delinearize(Expr::dim(groupDim), sizes)))
      groupIndex.push_back({i, a.simplify(part)});
    (void)bool(findKeys());
  }
  examine(*this, rows);
  examine(*this, columns);
}

void ProductAnalysis::findRuns() {
  runs.reset();
  std::vector<Expr> sizes;
  for (unsigned i : columns.group)
    sizes.push_back(extents[i]);
  auto at = [&](const Index &group) {
    Index result = index;
    for (auto [i, x] : llvm::zip(columns.group, group))
      result[i] = x;
    return getOperandIndex(columns, result);
  };
  Domain domain = findDomain(
      a, sizes,
      [&](const Index &group, function_ref<void(const Leaf &)> visit) {
        a.walk(columns.operand, at(group), visit);
      });
  if (domain.dims.size() < 2)
    return;
  runIndex = at(domain.index);
  runs = std::move(domain);
}

Decision ProductAnalysis::findWindows() {
  windows.reset();
  Windows found;
  Decision decision = luminal::findWindows(
      a, columns.operand, getOperandIndex(columns), columns.dim, kDim, found);
  if (decision)
    windows = std::move(found);
  return decision;
}

Decision ProductAnalysis::findRowWindows() {
  rowWindows.reset();
  if (hasGroups() || hasPairs())
    return Decision::refuse("rows are converted before they are multiplied");
  Windows found;
  Decision decision = luminal::findWindows(
      a, rows.operand, getOperandIndex(rows), rows.dim, kDim, found);
  if (decision)
    rowWindows = std::move(found);
  return decision;
}

Windows::Layout ProductAnalysis::getRowLayout(int64_t count) const {
  const Windows::Digit &last = rowWindows->getLast();
  int64_t lines = last.extent;
  if (count)
    lines =
        std::min<int64_t>(lines, llvm::divideCeil(count - 1, last.divisor) + 1);
  return rowWindows->getLayout(lines * last.divisor);
}

Decision ProductAnalysis::findPanels(int64_t width) {
  panels.reset();
  std::optional<int64_t> n = columns.extent.asConstant(),
                         steps = kExtent.asConstant();
  if (!n || !steps || *n < 1 || *steps < 1)
    return Decision::refuse("a size is not known");
  if (hasGroups() || hasPairs() || !kBegin.isConstant(0) ||
      getElementType(columns.operand) != factor)
    return Decision::refuse("they are converted before they are multiplied");
  // A column is a position in a panel; the last panel is padded.
  int64_t count = llvm::divideCeil(*n, width);
  unsigned panel = a.addDim(count), place = a.addDim(width);
  Expr column = Expr(width) * Expr::dim(panel) + Expr::dim(place);
  Index at = index;
  for (Expr &x : at)
    x = a.simplify(replaceDims(x, {{columns.dim, column}}));
  at = getOperandIndex(columns, at);
  Value v = columns.operand;
  while (auto view = v.getDefiningOp<llir::ViewOp>()) {
    if (a.isPlaced(v))
      break;
    at = a.mapIndex(view.getMap(), at);
    v = view.getOperand();
  }
  auto memory = dyn_cast<BlockArgument>(v);
  if (!memory || a.isPlaced(v))
    return Decision::refuse("they are computed", v.getDefiningOp());
  std::vector<Expr> room = getExtentsOf(v);
  Expr address = a.simplify(linearize(at, room));
  auto isStep = [&](unsigned dim, int64_t by, int64_t extent) {
    std::optional<Expr::Linear> linear = address.linearIn(dim);
    return linear && (extent == 1 || linear->stride.isConstant(by));
  };
  if (!isStep(place, 1, width) || !isStep(kDim, width, *steps) ||
      !isStep(panel, width * *steps, count) || address.usesDim(rows.dim) ||
      !a.getAssumptions().provablyLess(address, product(room)))
    return Decision::refuse("memory does not hold them as a tile reads them");
  panels = {
      memory,
      a.simplify(replaceDims(address, {{place, 0}, {kDim, 0}, {panel, 0}})),
      width};
  return Decision::accept();
}

size_t ProductAnalysis::countStoredAlong(const ProductSide &side) {
  for (size_t count = side.group.size(); count > 0; --count) {
    ArrayRef<unsigned> last = ArrayRef(side.group).take_back(count);
    std::vector<Expr> sizes;
    for (unsigned i : last)
      sizes.push_back(extents[i]);
    unsigned dim = a.addDim(a.simplify(product(sizes)));
    Index at = index;
    for (auto [i, part] : llvm::zip(last, delinearize(Expr::dim(dim), sizes)))
      at[i] = part;
    bool isAlong = true;
    for (auto [number, result] : llvm::enumerate(getResultIndices(at))) {
      auto linear = a.getResultAddress(number, result).linearIn(dim);
      isAlong &= linear && linear->stride.isConstant(1);
    }
    if (isAlong)
      return count;
  }
  return 0;
}

Decision ProductAnalysis::setMultiply(Multiply kind) {
  if (kind == Multiply::Elements) {
    multiply = kind;
    factor = accumulator;
    return Decision::accept();
  }
  for (const ProductSide *side : {&rows, &columns})
    if (!getElementType(side->operand).isBF16() || !accumulator.isF32())
      return Decision::refuse("a side is not of bf16");
  multiply = kind;
  factor = getElementType(rows.operand);
  return Decision::accept();
}

Decision ProductAnalysis::applyForm(llir::LoopFormAttr form) {
  StringRef word = form.getWord("multiply");
  if (Decision fits = setMultiply(word == "tiles"   ? Multiply::Tiles
                                  : word == "pairs" ? Multiply::Pairs
                                                    : Multiply::Elements);
      !fits)
    return fits;
  finishesRows = form.getWord("finish") == "rows";
  if (form.getWord("copy") == "windows")
    if (Decision found = findRowWindows(); !found)
      return found;
  if (form.getWord("pack") != "panels")
    return Decision::accept();
  return findPanels(form.getNumber("vectors", 1) * form.getNumber("lanes", 1));
}

Decision ProductAnalysis::isPlain(const ProductSide &side) const {
  Value v = side.operand;
  while (auto view = v.getDefiningOp<llir::ViewOp>())
    v = view.getOperand();
  if (!isa<BlockArgument>(v) && !a.isPlaced(v))
    return Decision::refuse("they are computed", v.getDefiningOp());
  if (getElementType(v) != factor)
    return Decision::refuse("they are of another type than what is multiplied");
  if (!side.linear)
    return Decision::refuse("their index is divided");
  return Decision::accept();
}

Decision ProductAnalysis::isRun(const ProductSide &side, bool isAlongK,
                                int64_t lanes) const {
  Value v = side.operand;
  Index index = getOperandIndex(side);
  unsigned dim = isAlongK ? kDim : side.dim;
  while (!isa<BlockArgument>(v)) {
    if (auto view = v.getDefiningOp<llir::ViewOp>()) {
      index = a.mapIndex(view.getMap(), index);
      v = view.getOperand();
      continue;
    }
    auto gather = v.getDefiningOp<llir::GatherOp>();
    if (!gather)
      return Decision::refuse("they are computed", v.getDefiningOp());
    size_t rank = getRank(gather.getIndices());
    for (const Expr &x : ArrayRef(index).take_front(rank))
      if (x.usesDim(dim))
        return Decision::refuse("each is looked up by itself", gather);
    Index row{Expr::dim(a.addDim(hlir::getExtents(gather.getData())[0]))};
    row.insert(row.end(), index.begin() + rank, index.end());
    index = std::move(row);
    v = gather.getData();
  }
  Expr address = a.simplify(linearize(index, getExtentsOf(v)));
  if (!isAlignedRun(address, dim, lanes, a.getAssumptions()) ||
      !beginsAtMultiple(address, dim, lanes, a.getAssumptions()))
    return Decision::refuse("they are not next to each other, or not aligned");
  return Decision::accept();
}

Index ProductAnalysis::getOperandIndex(const ProductSide &side,
                                       Index at) const {
  if (&side == &columns)
    for (const auto &[dim, ofGroup] : groupIndex)
      at[dim] = ofGroup;
  at.push_back(kBegin + Expr::dim(kDim));
  return a.mapIndex(side.map, at);
}

SmallVector<Index> ProductAnalysis::getResultIndices(const Index &at) const {
  SmallVector<Index> indices;
  for (const MovedResult &result : results)
    indices.push_back(result.getIndex(a, at));
  return indices;
}
