//===- MatmulLayout.cpp - A product as strided matrices -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatmulLayout.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Returns the positions in memory of `value` read through `map`, if they are
/// linear in the dims of `domain`.
static std::optional<Strided> getStrided(Value value, MapAttr map,
                                         ArrayRef<Expr> domain,
                                         const Assumptions &symbols) {
  SmallVector<Expr> extents = hlir::getExtents(value);
  Expr rest = withExtents(symbols, domain)
                  .simplify(linearize(map.getResults().vec(),
                                      {extents.begin(), extents.end()}));
  Strided strided{value, 0, {}};
  for (unsigned i = 0; i < domain.size(); ++i) {
    std::optional<Expr::Linear> linear = rest.linearIn(i);
    if (!linear || linear->stride.hasDims())
      return std::nullopt;
    // The stride of a dim of extent 1 does not matter.
    strided.strides.push_back(domain[i].isConstant(1) ? Expr(0)
                                                      : linear->stride);
    rest = linear->rest;
  }
  strided.offset = rest;
  return strided;
}

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// Does the same for the memory furthest behind views and widening casts whose
/// elements have the given type.
static std::optional<Strided> findStrided(Value value, MapAttr map,
                                          ArrayRef<Expr> domain, Type element,
                                          const Assumptions &symbols) {
  std::optional<Strided> best;
  while (true) {
    if (elementOf(value) == element)
      if (std::optional<Strided> found =
              getStrided(value, map, domain, symbols))
        best = std::move(found);
    if (auto view = value.getDefiningOp<ViewOp>()) {
      map = compose(map, view.getMap(), domain, symbols);
      value = view.getOperand();
    } else if (Value from = skipWidening(value); from != value) {
      value = from;
    } else {
      return best;
    }
  }
}

//===----------------------------------------------------------------------===//
// What follows a product
//===----------------------------------------------------------------------===//

/// Returns the number that all elements of a float tensor are.
static std::optional<double> getSplat(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getOperand();
  return getFloatSplat(value);
}

/// Adds a tensor to a product's epilogue, as its addend or its bias.
static bool addOperand(FollowedProduct &end, Value operand,
                       ArrayRef<Expr> extents, const Assumptions &symbols) {
  if (getSplat(operand))
    return false;
  std::optional<Strided> found =
      findStrided(operand, end.toIndex, extents, elementOf(operand), symbols);
  if (!found)
    return false;
  bool isWhole = llvm::all_of(llvm::zip_equal(found->strides, extents),
                              [](const auto &both) {
                                return !std::get<0>(both).isConstant(0) ||
                                       std::get<1>(both).isConstant(1);
                              });
  std::optional<Added> &place = isWhole ? end.addend : end.bias;
  if (place)
    return false;
  place = {operand, end.toIndex};
  return true;
}

/// Adds one elementwise op to the epilogue; false if the library has no such
/// op.
static bool addElementwise(FollowedProduct &end, ElementwiseOp op,
                           ArrayRef<Expr> extents, const Assumptions &symbols,
                           bool isExact) {
  Type element = elementOf(end.value);
  // The library computes in f32 and rounds at the end.
  if (op.getFn() == Fn::Cast) {
    Type to = elementOf(op.getResult());
    return element.isF32() && (to.isF16() || to.isBF16());
  }
  // The library rounds once in place of several times, and the order of its
  // sums is unspecified. A maximum changes no rounding.
  bool isFirst = !end.addend && !end.bias && end.alpha == 1;
  bool isSum = op.getFn() == Fn::Mul || op.getFn() == Fn::Add;
  if (isExact && op.getFn() != Fn::Max &&
      (!element.isF32() || (isSum && !isFirst)))
    return false;
  if (end.epilogue != Epilogue::None || elementOf(op.getResult()) != element)
    return false;
  auto other = [&] {
    return op.getInputs()[op.getInputs()[0] == end.value ? 1 : 0];
  };
  switch (op.getFn()) {
  case Fn::Mul: {
    std::optional<double> factor = getSplat(other());
    if (!factor || end.addend || end.bias)
      return false;
    end.alpha *= *factor;
    return true;
  }
  case Fn::Add:
    return addOperand(end, other(), extents, symbols);
  case Fn::Max:
    end.epilogue = Epilogue::Relu;
    return getSplat(other()) == 0.0;
  case Fn::GeluTanh:
    end.epilogue = Epilogue::GeluTanh;
    return true;
  default:
    return false;
  }
}

SmallVector<FollowedProduct>
llir::follow(ProductOpInterface op, const Assumptions &symbols, bool isExact) {
  Value value = op->getResult(0);
  SmallVector<Expr> extents = hlir::getExtents(value);
  SmallVector<FollowedProduct> ends;
  FollowedProduct end;
  end.value = value;
  end.toIndex = MapAttr::getIdentity(op.getContext(), extents.size());
  ends.push_back(end);
  while (end.value.hasOneUse()) {
    Operation *user = *end.value.getUsers().begin();
    if (auto view = dyn_cast<ViewOp>(user)) {
      std::optional<MapAttr> back =
          invert(view.getMap(), hlir::getExtents(view.getResult()),
                 hlir::getExtents(end.value), symbols);
      if (!back)
        break;
      end.toIndex = compose(end.toIndex, *back, extents, symbols);
    } else if (auto elementwise = dyn_cast<ElementwiseOp>(user)) {
      if (!addElementwise(end, elementwise, extents, symbols, isExact))
        break;
    } else {
      break;
    }
    end.value = user->getResult(0);
    ends.push_back(end);
  }
  return ends;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

namespace {
/// Dims of the product joined into one.
struct Group {
  Expr extent;
  /// The strides in lhs, rhs, the result, the addend and the bias.
  SmallVector<Expr, 5> strides;
};
enum Tensor : unsigned { kLhs, kRhs, kResult, kAddend, kBias };

class LayoutFinder {
public:
  LayoutFinder(ProductOpInterface op, const FollowedProduct &end,
               const Assumptions &symbols)
      : op(op), end(end), symbols(symbols) {}

  LayoutDecision run(MatmulLayout &layout);

private:
  LayoutDecision findTensors();
  std::optional<Strided> findOperand(Value value, MapAttr map,
                                     ArrayRef<Expr> domain, Type type,
                                     Matrix &copy);
  LayoutDecision sortDims();
  void join(SmallVectorImpl<Group> &groups) const;
  bool mayJoin(const Group &outer, const Group &inner) const;
  LayoutDecision checkLeading(Tensor tensor, const Expr &row,
                              const Expr &rowExtent, const Expr &column,
                              const Expr &columnExtent) const;
  bool isAtMost(const Expr &a, const Expr &b) const {
    return symbols.provablyLessEqual(a, b);
  }
  bool isUnit(const Expr &e) const { return e.isConstant(1); }
  MapAttr getMap(Tensor tensor, const Expr &batch, const Expr &row,
                 const Expr &column) const {
    return MapAttr::get(end.toIndex.getContext(), 3,
                        tensors[tensor].offset + batch * Expr::dim(0) +
                            row * Expr::dim(1) + column * Expr::dim(2));
  }

  ProductOpInterface op;
  const FollowedProduct &end;
  const Assumptions &symbols;
  SmallVector<Strided, 5> tensors;
  /// The copies of lhs and rhs, if they are copied.
  Matrix copies[2];
  SmallVector<Group> rows, columns, batch;
};
} // namespace

/// Finds the positions of lhs, rhs, the result, and what is added.
LayoutDecision LayoutFinder::findTensors() {
  SmallVector<Expr> extents = hlir::getExtents(op->getResult(0)),
                    domain = extents;
  domain.push_back(op.getReducedExtent());
  std::optional<Strided> result =
      getStrided(end.value, end.toIndex, extents, symbols);
  if (!result || !result->offset.isConstant(0))
    return LayoutDecision::refuse(
        "the elements of the result are not at linear positions");
  Type resultType = elementOf(end.value), own = elementOf(op.getLhs());
  Builder b(op.getContext());
  std::optional<Strided> lhs, rhs;
  // Prefer narrow operands, if the result type allows them.
  for (Type type : {Type(b.getF16Type()), Type(b.getBF16Type()), own}) {
    if (resultType != type && !resultType.isF32())
      continue;
    lhs = findOperand(op.getLhs(), op.getLhsMap(), domain, type, copies[kLhs]);
    rhs = findOperand(op.getRhs(), op.getRhsMap(), domain, type, copies[kRhs]);
    if (lhs && rhs)
      break;
  }
  if (!lhs || !rhs)
    return LayoutDecision::refuse(
        "the elements of an operand are not at linear positions");
  tensors = {*lhs, *rhs, *result};
  for (const std::optional<Added> &added : {end.addend, end.bias}) {
    std::optional<Strided> found = Strided{};
    if (added)
      found =
          findStrided(added->value, added->map, extents, resultType, symbols);
    if (!found)
      return LayoutDecision::refuse("the addend has another type than the "
                                    "result");
    tensors.push_back(*found);
    tensors.back().strides.resize(extents.size(), Expr(0));
  }
  for (Strided &tensor : tensors) {
    tensor.strides.resize(domain.size(), Expr(0));
    for (const Expr &stride : tensor.strides)
      if (!symbols.provablyNonNegative(stride))
        return LayoutDecision::refuse("an operand is read backwards");
  }
  return LayoutDecision::accept();
}

/// Finds an operand of this element type. If its elements are not at linear
/// positions and each is read once, it becomes a copy in the order of the
/// product.
std::optional<Strided> LayoutFinder::findOperand(Value value, MapAttr map,
                                                 ArrayRef<Expr> domain,
                                                 Type type, Matrix &copy) {
  copy = {};
  if (std::optional<Strided> found =
          findStrided(value, map, domain, type, symbols))
    return found;
  while (elementOf(value) != type) {
    if (auto view = value.getDefiningOp<ViewOp>()) {
      map = compose(map, view.getMap(), domain, symbols);
      value = view.getOperand();
    } else if (Value from = skipWidening(value); from != value) {
      value = from;
    } else {
      return std::nullopt;
    }
  }
  SmallVector<Expr> extents;
  std::vector<Expr> dims(domain.size(), Expr(0));
  for (unsigned i = 0; i < domain.size(); ++i)
    if (map.usesDim(i)) {
      dims[i] = Expr::dim(extents.size());
      extents.push_back(domain[i]);
    }
  if (!haveSameSize(extents, hlir::getExtents(value), symbols))
    return std::nullopt;
  SmallVector<Expr> results;
  for (const Expr &e : map.getResults())
    results.push_back(e.substituteDims(dims));
  copy.value = value;
  copy.copyType = hlir::getTensorType(extents, type);
  copy.copy = MapAttr::getSimplified(map.getContext(), results,
                                     withExtents(symbols, extents));
  Strided strided{value, 0, SmallVector<Expr>(domain.size(), Expr(0))};
  Expr stride = 1;
  for (unsigned i = domain.size(); i-- > 0;)
    if (map.usesDim(i)) {
      strided.strides[i] = domain[i].isConstant(1) ? Expr(0) : stride;
      stride = stride * domain[i];
    }
  return strided;
}

bool LayoutFinder::mayJoin(const Group &outer, const Group &inner) const {
  return llvm::all_of(
      llvm::zip_equal(outer.strides, inner.strides), [&](const auto &both) {
        auto &[far, near] = both;
        Expr wanted = inner.extent * near;
        return far == wanted || symbols.equal(far, wanted) == true;
      });
}

/// Joins dims whose strides fit together in all tensors.
void LayoutFinder::join(SmallVectorImpl<Group> &groups) const {
  for (bool again = true; again;) {
    again = false;
    for (unsigned i = 0; i < groups.size() && !again; ++i)
      for (unsigned k = 0; k < groups.size() && !again; ++k)
        if (i != k && mayJoin(groups[i], groups[k])) {
          groups[k].extent = groups[k].extent * groups[i].extent;
          groups.erase(groups.begin() + i);
          again = true;
        }
  }
}

LayoutDecision LayoutFinder::sortDims() {
  SmallVector<Expr> extents = hlir::getExtents(op->getResult(0));
  for (unsigned i = 0; i < extents.size(); ++i) {
    if (extents[i].isConstant(1))
      continue;
    Group group{extents[i], {}};
    for (const Strided &tensor : tensors)
      group.strides.push_back(tensor.strides[i]);
    bool inLhs = !group.strides[kLhs].isConstant(0),
         inRhs = !group.strides[kRhs].isConstant(0);
    if (!inLhs && !inRhs)
      return LayoutDecision::refuse("a dim of the result is in no operand");
    (inLhs && inRhs ? batch : inLhs ? rows : columns).push_back(group);
  }
  for (SmallVector<Group> *groups : {&rows, &columns, &batch})
    join(*groups);
  return LayoutDecision::accept();
}

/// Checks that rows or columns of a matrix are contiguous and do not overlap.
LayoutDecision LayoutFinder::checkLeading(Tensor tensor, const Expr &row,
                                          const Expr &rowExtent,
                                          const Expr &column,
                                          const Expr &columnExtent) const {
  bool oneRow = isUnit(rowExtent), oneColumn = isUnit(columnExtent);
  bool rowMajor =
      (isUnit(column) || oneColumn) && (oneRow || isAtMost(columnExtent, row));
  bool columnMajor =
      (isUnit(row) || oneRow) && (oneColumn || isAtMost(rowExtent, column));
  if (rowMajor || (columnMajor && (tensor == kLhs || tensor == kRhs)))
    return LayoutDecision::accept();
  return LayoutDecision::refuse(
      "neither the rows nor the columns of a matrix are contiguous",
      tensors[tensor].value.getDefiningOp());
}

/// Removes and returns the group of the largest weight.
static std::optional<Group>
takeGroup(SmallVectorImpl<Group> &groups,
          function_ref<double(const Group &)> getWeight) {
  if (groups.empty())
    return std::nullopt;
  auto *best = llvm::max_element(groups, [&](const Group &a, const Group &b) {
    return getWeight(a) < getWeight(b);
  });
  Group taken = *best;
  groups.erase(best);
  return taken;
}

LayoutDecision LayoutFinder::run(MatmulLayout &layout) {
  if (!isAtMost(1, op.getReducedExtent()))
    return LayoutDecision::refuse("the contracted dim may be empty");
  if (LayoutDecision found = findTensors(); !found)
    return found;
  if (LayoutDecision sorted = sortDims(); !sorted)
    return sorted;
  // The columns are the dim along which the result is contiguous.
  auto isDense = [&](const Group &group) {
    return isUnit(group.strides[kResult]);
  };
  bool isSwapped = llvm::none_of(columns, isDense);
  if (isSwapped) {
    std::swap(rows, columns);
    std::swap(tensors[kLhs], tensors[kRhs]);
    std::swap(copies[kLhs], copies[kRhs]);
    for (SmallVector<Group> *groups : {&rows, &columns, &batch})
      for (Group &group : *groups)
        std::swap(group.strides[kLhs], group.strides[kRhs]);
  }
  if (llvm::none_of(columns, isDense))
    return LayoutDecision::refuse(
        "neither the rows nor the columns of the result are contiguous");
  Group column = *takeGroup(
      columns, [&](const Group &group) { return isDense(group) ? 1.0 : 0.0; });
  Group row = takeGroup(rows, [&](const Group &group) {
                return nominalValue(group.extent, symbols);
              }).value_or(Group{1, SmallVector<Expr, 5>(5, Expr(0))});
  llvm::append_range(batch, rows);
  llvm::append_range(batch, columns);
  join(batch);
  if (batch.size() > 1)
    return LayoutDecision::refuse("its batch has no constant stride");
  Group all = batch.empty() ? Group{1, SmallVector<Expr, 5>(5, Expr(0))}
                            : batch.front();

  unsigned k = tensors[kLhs].strides.size() - 1;
  Expr inner = op.getReducedExtent(), lhsInner = tensors[kLhs].strides[k],
       rhsInner = tensors[kRhs].strides[k];
  layout.batch = all.extent;
  layout.rows = row.extent;
  layout.columns = column.extent;
  layout.inner = inner;
  // The stride of a dim of extent 1 does not matter.
  auto orOne = [](const Expr &stride, const Expr &extent) {
    return extent.isConstant(1) ? Expr(1) : stride;
  };
  auto take = [&](Tensor tensor, const Expr &rowStride, const Expr &rowExtent,
                  const Expr &columnStride, const Expr &columnExtent,
                  Matrix &matrix) {
    Expr r = orOne(rowStride, rowExtent), c = orOne(columnStride, columnExtent);
    // An operand may be copied first.
    if (tensor == kLhs || tensor == kRhs)
      matrix = copies[tensor];
    matrix.value = tensors[tensor].value;
    matrix.map = getMap(tensor, all.strides[tensor], r, c);
    return checkLeading(tensor, r, rowExtent, c, columnExtent);
  };
  auto takeOuter = [&](Tensor tensor, Matrix &matrix) {
    return take(tensor, row.strides[tensor], row.extent, column.strides[tensor],
                column.extent, matrix);
  };
  if (LayoutDecision fits = take(kLhs, row.strides[kLhs], row.extent, lhsInner,
                                 inner, layout.lhs);
      !fits)
    return fits;
  if (LayoutDecision fits = take(kRhs, rhsInner, inner, column.strides[kRhs],
                                 column.extent, layout.rhs);
      !fits)
    return fits;
  if (LayoutDecision fits = takeOuter(kResult, layout.result); !fits)
    return fits;
  if (end.addend)
    if (LayoutDecision fits = takeOuter(kAddend, layout.addend); !fits)
      return fits;
  if (!end.bias)
    return LayoutDecision::accept();
  SmallVector<Expr> biasExtents = hlir::getExtents(tensors[kBias].value);
  if (!isUnit(column.strides[kBias]) || !row.strides[kBias].isConstant(0) ||
      !all.strides[kBias].isConstant(0) ||
      !tensors[kBias].offset.isConstant(0) ||
      !haveSameSize(biasExtents, column.extent, symbols))
    return LayoutDecision::refuse("the bias is not one row");
  layout.bias = tensors[kBias].value;
  return LayoutDecision::accept();
}

LayoutDecision llir::findLayout(ProductOpInterface op,
                                const FollowedProduct &end,
                                const Assumptions &symbols,
                                MatmulLayout &layout) {
  return LayoutFinder(op, end, symbols).run(layout);
}
