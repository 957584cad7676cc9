//===- ExpandRowFunctions.cpp - Expands softmax and norms -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal::llir {
#define GEN_PASS_DEF_EXPANDROWFUNCTIONSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
/// Builds flat ops over the domain of one row function, and over its rows.
class RowBuilder {
public:
  explicit RowBuilder(Operation *op)
      : b(op->getLoc(), op), operand(op->getOperand(0)),
        type(cast<RankedTensorType>(operand.getType())),
        domain(hlir::getExtents(type)) {
    // f16 and bf16 are computed in f32 and rounded once.
    compute = type.getElementType();
    if (compute.getIntOrFloatBitWidth() < 32)
      compute = b.getF32Type();
    ArrayRef<Expr> rows = ArrayRef(domain).drop_back();
    rowType = hlir::getTensorType(rows, compute);
    domainType = hlir::getTensorType(domain, compute);
  }

  Type getComputeType() const { return compute; }
  Value input() { return cast(operand, domainType); }
  Value output(Value value) { return cast(value, type); }

  Value apply(Fn fn, ValueRange args) {
    return ElementwiseOp::create(b, args[0].getType(), fn, args);
  }
  Value isEqual(Value x, Value y) {
    auto type = cast<RankedTensorType>(x.getType());
    return ElementwiseOp::create(b, hlir::withElementType(type, b.getI1Type()),
                                 Fn::Equal, ValueRange{x, y});
  }
  /// Selects `then` where `condition`, an i1, holds.
  Value select(Value condition, Value then, Value otherwise) {
    return ElementwiseOp::create(b, then.getType(), Fn::Select,
                                 ValueRange{condition, then, otherwise});
  }
  Value reduce(ReduceKind kind, Value value) {
    return llir::ReduceOp::create(b, rowType, kind, value);
  }
  /// Broadcasts one value per row to the elements of the row.
  Value spread(Value row) {
    SmallVector<Expr> dims;
    for (unsigned i = 0; i + 1 < domain.size(); ++i)
      dims.push_back(Expr::dim(i));
    return ViewOp::create(b, domainType, row,
                          MapAttr::get(b.getContext(), domain.size(), dims));
  }
  /// Broadcasts a scalar to all rows.
  Value perRow(Value scalar) {
    return ViewOp::create(b, rowType, scalar,
                          MapAttr::get(b.getContext(), domain.size() - 1, {}));
  }
  Value constant(double value) {
    auto scalar = RankedTensorType::get({}, compute);
    return perRow(llir::ConstantOp::create(
        b, scalar,
        DenseElementsAttr::get(scalar, b.getFloatAttr(compute, value))));
  }
  /// Returns the number of elements of a row.
  Value count() {
    if (std::optional<int64_t> n = domain.back().asConstant())
      return constant(static_cast<double>(*n));
    auto scalar = RankedTensorType::get({}, b.getI64Type());
    Value n = IotaOp::create(b, scalar,
                             MapAttr::get(b.getContext(), 0, domain.back()));
    return perRow(cast(n, RankedTensorType::get({}, compute)));
  }
  Value mean(Value value) {
    return apply(Fn::Div, {reduce(ReduceKind::Sum, value), count()});
  }

private:
  Value cast(Value value, RankedTensorType to) {
    if (value.getType() == to)
      return value;
    return ElementwiseOp::create(b, to, Fn::Cast, value);
  }

  ImplicitLocOpBuilder b;
  Value operand;
  RankedTensorType type;
  SmallVector<Expr> domain;
  Type compute;
  RankedTensorType rowType, domainType;
};
} // namespace

using CanEndStream = function_ref<bool(ProductOpInterface)>;

/// Returns the operands of an elementwise op with function `fn`; empty for any
/// other value.
static OperandRange getOperandsOf(Value v, Fn fn) {
  auto op = v.getDefiningOp<ElementwiseOp>();
  return op && op.getFn() == fn ? op.getInputs() : OperandRange({}, 0);
}

/// Returns whether every element of `v` is `number`.
static bool isNumber(Value v, double number) {
  while (auto view = v.getDefiningOp<llir::ViewOp>())
    v = view.getOperand();
  return getFloatSplat(v) == number;
}

/// Returns the value that `v`, an i1, compares with -inf; null for other ops.
static Value getComparedWithLowest(Value v) {
  OperandRange operands = getOperandsOf(v, Fn::Equal);
  if (operands.size() != 2)
    return {};
  double lowest = -std::numeric_limits<double>::infinity();
  if (isNumber(operands[1], lowest))
    return operands[0];
  return isNumber(operands[0], lowest) ? operands[1] : Value();
}

/// Returns the operand of a maximum over the last dim; null if `v` is none.
static Value getMaximized(Value v) {
  auto reduce = v.getDefiningOp<llir::ReduceOp>();
  return reduce && reduce.getKind() == ReduceKind::Max ? reduce.getOperand()
                                                       : Value();
}

/// If `mask`, an i1 for each row, says that all elements of the row are -inf,
/// returns the value with these rows. The mask may test the maximum of the row,
/// or that no element differs from -inf. Otherwise null.
static Value getEmptyRowsOf(Value mask) {
  if (Value largest = getComparedWithLowest(mask))
    return getMaximized(largest);
  OperandRange none = getOperandsOf(mask, Fn::Not);
  Value any = none.empty() ? Value() : getMaximized(none[0]);
  OperandRange isOther = any ? getOperandsOf(any, Fn::Not) : none;
  return any && !isOther.empty() ? getComparedWithLowest(isOther[0]) : Value();
}

/// Returns the value that replaces `v`, a softmax or a cast of one, by zero in
/// rows that are entirely -inf; null if there is none.
static Value getSafeSoftmax(SoftmaxOp op, Value v) {
  if (!v.hasOneUse())
    return {};
  auto select = dyn_cast<ElementwiseOp>(*v.user_begin());
  if (!select || select.getFn() != Fn::Select || select.getInputs()[2] != v ||
      !isNumber(select.getInputs()[1], 0))
    return {};
  auto spread = select.getInputs()[0].getDefiningOp<llir::ViewOp>();
  if (!spread)
    return {};
  SmallVector<Expr> domain = hlir::getExtents(v),
                    rows = hlir::getExtents(spread.getOperand());
  if (rows != ArrayRef<Expr>(domain).drop_back())
    return {};
  for (auto [i, e] : llvm::enumerate(spread.getMap().getResults()))
    if (e != Expr::dim(i) && !(rows[i].isConstant(1) && e.isConstant(0)))
      return {};
  Value of = getEmptyRowsOf(spread.getOperand());
  bool isSame = of && skipWidening(of) == skipWidening(op.getOperand());
  return isSame ? select->getResult(0) : Value();
}

/// Returns the f16 or bf16 value that all readers of the f32 value `v` use
/// instead of it; null if there is none. Products of such values accumulate in
/// f32.
static Value getNarrowed(Value v) {
  if (!v.hasOneUse() || !getElementTypeOrSelf(v).isF32())
    return {};
  auto cast = dyn_cast<ElementwiseOp>(*v.user_begin());
  bool isNarrow = cast && cast.getFn() == Fn::Cast &&
                  isNarrowFloat(getElementTypeOrSelf(cast->getResult(0)));
  return isNarrow ? cast->getResult(0) : Value();
}

namespace {
/// The softmax weights as other ops read them.
struct Weights {
  Value value;
  /// Whether rows that are entirely -inf become zero.
  bool isSafe = false;
  /// The ops in between; they are erased if products read the softmax directly.
  SmallVector<Operation *, 2> between;
};
} // namespace

static Weights findWeights(SoftmaxOp op) {
  Weights weights{op.getResult()};
  while (true) {
    Value next = weights.isSafe ? Value() : getSafeSoftmax(op, weights.value);
    weights.isSafe |= bool(next);
    if (!next)
      next = getNarrowed(weights.value);
    if (!next)
      return weights;
    weights.between.push_back(next.getDefiningOp());
    weights.value = next;
  }
}

/// Swaps the factors of products so that the weights are the left operand.
static void turnProducts(Value weights) {
  for (Operation *user : weights.getUsers())
    if (auto product = dyn_cast<GemmOp>(user);
        product && product.getRhs() == weights && product.getLhs() != weights) {
      Value left = product.getLhs();
      MapAttr leftMap = product.getLhsMap();
      product.getLhsMutable().assign(weights);
      product.setLhsMapAttr(product.getRhsMap());
      product.getRhsMutable().assign(left);
      product.setRhsMapAttr(leftMap);
    }
}

/// Returns whether the products that read `weights` have its rows as their
/// rows.
static bool haveRows(Value weights) {
  SmallVector<Expr> domain = hlir::getExtents(weights);
  unsigned count = domain.size() - 1;
  return llvm::all_of(weights.getUsers(), [&](Operation *user) {
    auto product = cast<ProductOpInterface>(user);
    SmallVector<Expr> extents = hlir::getExtents(user->getResult(0));
    if (extents.size() < count ||
        ArrayRef(extents).take_front(count) != ArrayRef(domain).drop_back())
      return false;
    for (auto [i, e] :
         llvm::enumerate(product.getLhsMap().getResults().drop_back()))
      if (e != Expr::dim(i) && !(domain[i].isConstant(1) && e.isConstant(0)))
        return false;
    return true;
  });
}

/// Moves a product to the index space `space`: `to` maps an index of it, and of
/// k, to the old index.
static GemmOp moveProduct(GemmOp op, ArrayRef<Expr> to, ArrayRef<Expr> space,
                          const Assumptions &sizes) {
  OpBuilder b(op);
  MapAttr map = MapAttr::get(b.getContext(), space.size(), to);
  auto moved = cast<GemmOp>(b.clone(*op));
  moved.setLhsMapAttr(compose(map, op.getLhsMap(), space, sizes));
  moved.setRhsMapAttr(compose(map, op.getRhsMap(), space, sizes));
  moved.getResult().setType(hlir::getTensorType(
      space.drop_back(), getElementTypeOrSelf(op.getResult())));
  return moved;
}

namespace {
/// A product that reads softmax weights, and how to give it their rows.
struct RowMove {
  GemmOp op;
  /// The arguments of moveProduct, and the map from an index of the product to
  /// that of the moved one.
  SmallVector<Expr> to, space, back;
};
} // namespace

/// Returns std::nullopt if the rows of the product, in another shape, are not
/// those of the weights.
static std::optional<RowMove> findMove(Operation *user, ArrayRef<Expr> rows,
                                       const Assumptions &sizes) {
  auto op = dyn_cast<GemmOp>(user);
  if (!op)
    return std::nullopt;
  SmallVector<Expr> extents = hlir::getExtents(op.getResult());
  RowMove move{op, {}, SmallVector<Expr>(rows), {}};
  llvm::append_range(move.back, op.getLhsMap().getResults().drop_back());
  SmallVector<Expr> shared;
  SmallVector<unsigned> places;
  auto isOfRows = [&](unsigned dim) {
    return llvm::any_of(ArrayRef(move.back).take_front(rows.size()),
                        [&](const Expr &e) { return e.usesDim(dim); });
  };
  for (unsigned i = 0; i < extents.size(); ++i) {
    places.push_back(shared.size());
    if (isOfRows(i))
      shared.push_back(extents[i]);
  }
  SmallVector<Expr> renamed;
  for (const Expr &e : move.back)
    renamed.push_back(e.substitute([&](const Expr &leaf) {
      std::optional<unsigned> dim = leaf.asDim();
      return dim ? std::optional(Expr::dim(places[*dim])) : std::nullopt;
    }));
  std::optional<MapAttr> inverse =
      invert(MapAttr::get(op.getContext(), shared.size(), renamed), shared,
             rows, sizes);
  if (!inverse)
    return std::nullopt;
  for (unsigned i = 0; i < extents.size(); ++i) {
    if (isOfRows(i)) {
      move.to.push_back(inverse->getResults()[places[i]]);
      continue;
    }
    move.to.push_back(Expr::dim(move.space.size()));
    move.space.push_back(extents[i]);
    move.back.push_back(Expr::dim(i));
  }
  move.to.push_back(Expr::dim(move.space.size()));
  move.space.push_back(op.getKExtent());
  return move;
}

/// Moves products that are read through a view which only renames their
/// elements to the index space of the view, for all products that `v` depends
/// on.
static void moveScores(Value v, const Assumptions &sizes) {
  SmallVector<Value> pending{v};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<ElementwiseOp>(op)) {
      llvm::append_range(pending, op->getOperands());
      continue;
    }
    auto view = dyn_cast<llir::ViewOp>(op);
    auto product = view ? view.getOperand().getDefiningOp<GemmOp>() : GemmOp();
    if (!product || !product->hasOneUse())
      continue;
    SmallVector<Expr> space = hlir::getExtents(view.getResult());
    if (!invert(view.getMap(), space, hlir::getExtents(product.getResult()),
                sizes))
      continue;
    SmallVector<Expr> to(view.getMap().getResults());
    to.push_back(Expr::dim(space.size()));
    space.push_back(product.getKExtent());
    view.getResult().replaceAllUsesWith(
        moveProduct(product, to, space, sizes).getResult());
    view.erase();
    product.erase();
  }
}

/// Gives the products around a softmax its rows, if they have them in another
/// shape. Returns whether the products that read the weights then have these
/// rows.
static bool shareRows(SoftmaxOp op, Value weights) {
  if (haveRows(weights))
    return true;
  Assumptions sizes = hlir::getAssumptions(op);
  SmallVector<Expr> domain = hlir::getExtents(weights);
  SmallVector<RowMove> moves;
  for (Operation *user : weights.getUsers()) {
    auto move = findMove(user, ArrayRef(domain).drop_back(), sizes);
    if (!move)
      return false;
    moves.push_back(std::move(*move));
  }
  for (RowMove &move : moves) {
    GemmOp moved = moveProduct(move.op, move.to, move.space, sizes);
    OpBuilder b(move.op);
    Value back = ViewOp::create(
        b, move.op.getLoc(), move.op.getResult().getType(), moved.getResult(),
        MapAttr::get(b.getContext(),
                     hlir::getExtents(move.op.getResult()).size(), move.back));
    move.op.getResult().replaceAllUsesWith(back);
    move.op.erase();
  }
  moveScores(op.getOperand(), sizes);
  return true;
}

//===----------------------------------------------------------------------===//
// Rows that share columns
//===----------------------------------------------------------------------===//

/// Returns the divisor of the dim in all its uses in `e`; 1 if `e` does not use
/// the dim, std::nullopt if it uses it in another way.
static std::optional<int64_t> getDivisor(const Expr &e, unsigned dim) {
  if (!e.usesDim(dim))
    return 1;
  if (e.kind() == Expr::Kind::Dim)
    return std::nullopt;
  std::vector<Expr> operands(e.operands());
  if (e.kind() == Expr::Kind::FloorDiv && operands[0] == Expr::dim(dim))
    return operands[1].asConstant();
  int64_t found = 1;
  for (const Expr &operand : operands) {
    std::optional<int64_t> by = getDivisor(operand, dim);
    if (!by || (found != 1 && *by != 1 && *by != found))
      return std::nullopt;
    found = std::max(found, *by);
  }
  return found;
}

namespace {
/// Values over the rows and columns of a softmax, with one dim of the rows
/// split into two: runs of `count` indices.
class RowSplit {
public:
  RowSplit(Value weights, unsigned dim, int64_t count)
      : domain(hlir::getExtents(weights)), dim(dim), count(count),
        sizes(hlir::getAssumptions(weights.getDefiningOp())) {
    std::tie(space, to) = split(domain);
  }

  /// Returns `v`, a value over the domain, over the split domain.
  Value apply(Value v);
  /// Returns the product with `weights` as its weights, in its own shape.
  Value apply(GemmOp product, Value weights);

private:
  /// Returns the split extents of an index space whose first dims are the rows,
  /// and the map from a split index to the old one.
  std::pair<SmallVector<Expr>, SmallVector<Expr>>
  split(ArrayRef<Expr> extents) const {
    SmallVector<Expr> found, was;
    for (auto [i, extent] : llvm::enumerate(extents)) {
      Expr here = Expr::dim(found.size());
      if (i != dim) {
        found.push_back(extent);
        was.push_back(here);
        continue;
      }
      found.append({Expr::floorDiv(extent, count), Expr(count)});
      was.push_back(here * count + Expr::dim(found.size() - 1));
    }
    found[dim] = sizes.simplify(found[dim]);
    return {found, was};
  }

  SmallVector<Expr> domain;
  unsigned dim;
  int64_t count;
  Assumptions sizes;
  SmallVector<Expr> space, to;
  DenseMap<Value, Value> known;
};
} // namespace

Value RowSplit::apply(Value v) {
  if (Value found = known.lookup(v))
    return found;
  Operation *op = v.getDefiningOp();
  auto type = hlir::getTensorType(space, getElementTypeOrSelf(v));
  OpBuilder b(v.getContext());
  if (op)
    b.setInsertionPoint(op);
  else
    b.setInsertionPointToStart(v.getParentBlock());
  MapAttr map = MapAttr::get(b.getContext(), space.size(), to);
  Value result;
  if (auto elementwise = dyn_cast_or_null<ElementwiseOp>(op)) {
    SmallVector<Value> inputs;
    for (Value input : elementwise.getInputs())
      inputs.push_back(apply(input));
    b.setInsertionPoint(op);
    result =
        ElementwiseOp::create(b, v.getLoc(), type, elementwise.getFn(), inputs);
  } else if (auto view = dyn_cast_or_null<llir::ViewOp>(op)) {
    result = ViewOp::create(b, v.getLoc(), type, view.getOperand(),
                            compose(map, view.getMap(), space, sizes));
  } else if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    result = IotaOp::create(b, v.getLoc(), type,
                            compose(map, iota.getMap(), space, sizes));
  } else if (auto product = dyn_cast_or_null<GemmOp>(op)) {
    SmallVector<Expr> all(to), extents(space);
    all.push_back(Expr::dim(extents.size()));
    extents.push_back(product.getKExtent());
    result = moveProduct(product, all, extents, sizes).getResult();
  } else {
    b.setInsertionPointAfterValue(v);
    result = ViewOp::create(b, v.getLoc(), type, v, map);
  }
  return known[v] = result;
}

Value RowSplit::apply(GemmOp product, Value weights) {
  SmallVector<Expr> extents = hlir::getExtents(product.getResult());
  auto [moved, was] = split(extents);
  unsigned rank = moved.size();
  was.push_back(Expr::dim(rank));
  moved.push_back(product.getKExtent());
  GemmOp result = moveProduct(product, was, moved, sizes);
  SmallVector<Expr> read;
  for (unsigned i = 0; i + 1 < space.size(); ++i)
    read.push_back(space[i].isConstant(1) ? Expr(0) : Expr::dim(i));
  read.push_back(Expr::dim(rank));
  result.getLhsMutable().assign(weights);
  OpBuilder b(product);
  result.setLhsMapAttr(MapAttr::get(b.getContext(), rank + 1, read));
  SmallVector<Expr> back;
  for (unsigned i = 0; i < extents.size(); ++i) {
    back.push_back(i == dim ? Expr::floorDiv(Expr::dim(i), count)
                            : Expr::dim(i));
    if (i == dim)
      back.push_back(Expr::mod(Expr::dim(i), count));
  }
  return ViewOp::create(b, product.getLoc(), product.getResult().getType(),
                        result.getResult(),
                        MapAttr::get(b.getContext(), extents.size(), back));
}

/// Collects the products that the elements of `v` depend on, one to one.
static void findScores(Value v, SmallVectorImpl<GemmOp> &scores) {
  if (auto product = v.getDefiningOp<GemmOp>()) {
    if (!llvm::is_contained(scores, product))
      scores.push_back(product);
  } else if (auto op = v.getDefiningOp<ElementwiseOp>()) {
    for (Value input : op.getInputs())
      findScores(input, scores);
  }
}

/// If few rows read the same columns, as heads that share keys do, gives them a
/// dim of their own, so that one tile may hold them: the products then read a
/// row by its number in the run alone. Returns the new softmax.
static SoftmaxOp joinRows(SoftmaxOp op, Weights &weights, int64_t tileRows) {
  SmallVector<Expr> domain = hlir::getExtents(weights.value);
  unsigned count = domain.size() - 1;
  if (!haveRows(weights.value))
    return op;
  SmallVector<GemmOp> scores, products;
  findScores(op.getOperand(), scores);
  for (Operation *user : weights.value.getUsers())
    if (auto product = dyn_cast<GemmOp>(user))
      products.push_back(product);
    else
      return op;
  // Dims that the columns do not depend on are rows of a tile already.
  std::optional<unsigned> found;
  int64_t by = 1, rows = 1;
  for (unsigned dim = 0; dim < count; ++dim) {
    std::optional<int64_t> divisor = 1;
    bool isShared = true;
    auto read = [&](MapAttr map) {
      for (const Expr &e : map.getResults()) {
        isShared &= !e.usesDim(dim);
        std::optional<int64_t> here = getDivisor(e, dim);
        bool fits = here && divisor &&
                    (*here == 1 || *divisor == 1 || *here == *divisor);
        divisor =
            fits ? std::optional(std::max(*here, *divisor)) : std::nullopt;
      }
    };
    for (GemmOp product : products)
      read(product.getRhsMap());
    for (GemmOp product : scores)
      read(product.getRhsMap().usesDim(count) ? product.getRhsMap()
                                              : product.getLhsMap());
    std::optional<int64_t> extent = domain[dim].asConstant();
    if (isShared) {
      if (!extent)
        return op;
      rows *= *extent;
    } else if (divisor && *divisor > 1 && extent && *extent % *divisor == 0) {
      found = dim;
      by = *divisor;
    }
  }
  if (!found || rows >= tileRows)
    return op;
  RowSplit split(weights.value, *found, by);
  Value x = split.apply(op.getOperand());
  OpBuilder b(op);
  auto joined = SoftmaxOp::create(b, op.getLoc(), x.getType(), x);
  Weights now{joined.getResult(), weights.isSafe, {}};
  Type narrow = getElementTypeOrSelf(weights.value);
  if (narrow != getElementTypeOrSelf(x)) {
    auto type =
        hlir::withElementType(cast<RankedTensorType>(x.getType()), narrow);
    now.value =
        ElementwiseOp::create(b, op.getLoc(), type, Fn::Cast, now.value);
    now.between.push_back(now.value.getDefiningOp());
  }
  for (GemmOp product : products) {
    product.getResult().replaceAllUsesWith(split.apply(product, now.value));
    product.erase();
  }
  for (Operation *between : llvm::reverse(weights.between))
    between->erase();
  weights = now;
  return joined;
}

/// Returns whether all readers of a softmax are products that sum over its rows
/// and may be the last product of a streamed loop.
static bool feedsProducts(Value value, CanEndStream canEndStream) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           auto product = dyn_cast<ProductOpInterface>(user);
           if (!product || product.getLhs() != value ||
               product.getRhs() == value || !canEndStream(product))
             return false;
           unsigned k =
               cast<RankedTensorType>(user->getResult(0).getType()).getRank();
           ArrayRef<Expr> read = product.getLhsMap().getResults();
           return read.back() == Expr::dim(k) &&
                  llvm::none_of(read.drop_back(),
                                [&](const Expr &e) { return e.usesDim(k); });
         });
}

/// Rewrites a product of softmax weights as a product of the terms, divided by
/// their sum afterwards.
static void divideBehind(RowBuilder &row, ProductOpInterface op, Value terms,
                         Value scale) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto wide = hlir::withElementType(type, row.getComputeType());
  auto cast = [&](Value v, Type element) -> Value {
    auto to = hlir::withElementType(mlir::cast<RankedTensorType>(v.getType()),
                                    element);
    if (to == v.getType())
      return v;
    return ElementwiseOp::create(b, to, Fn::Cast, v);
  };
  // The terms have the type that the product reads.
  Value lhs = cast(cast(terms, getElementTypeOrSelf(op.getLhs())),
                   row.getComputeType());
  Value rhs = cast(op.getRhs(), row.getComputeType());
  Operation *product = b.clone(*op);
  product->setOperand(0, lhs);
  product->setOperand(1, rhs);
  product->getResult(0).setType(wide);
  ArrayRef<Expr> read = op.getLhsMap().getResults();
  Value factor =
      ViewOp::create(b, wide, scale,
                     MapAttr::get(b.getContext(), type.getRank(),
                                  SmallVector<Expr>(read.drop_back())));
  // The factor comes first: it is then before the product in the kernel's body,
  // and the product's stage finds the terms where the sum kept them.
  Value scaled = ElementwiseOp::create(
      b, wide, Fn::Mul, ValueRange{factor, product->getResult(0)});
  op->getResult(0).replaceAllUsesWith(cast(scaled, type.getElementType()));
  op.erase();
}

/// Returns `x` times a positive number if that adds no operation: `x` is a
/// multiple already, or is one wherever no mask makes it -inf. Otherwise null.
/// (Finite numbers used as masks might become -inf.)
static Value scaleFor(RowBuilder &b, Value x, double by) {
  auto op = x.getDefiningOp<ElementwiseOp>();
  if (!op)
    return {};
  OperandRange inputs = op.getInputs();
  if (op.getFn() == Fn::Mul)
    for (unsigned i : {0, 1}) {
      Value source = inputs[i];
      while (auto view = source.getDefiningOp<llir::ViewOp>())
        source = view.getOperand();
      std::optional<double> number = getFloatSplat(source);
      if (number && std::abs(*number * by) < std::numeric_limits<float>::max())
        return b.apply(Fn::Mul,
                       {inputs[1 - i], b.spread(b.constant(*number * by))});
    }
  double lowest = -std::numeric_limits<double>::infinity();
  if (op.getFn() == Fn::Add)
    for (unsigned i : {0, 1}) {
      Value mask = inputs[i];
      while (auto view = mask.getDefiningOp<llir::ViewOp>())
        mask = view.getOperand();
      OperandRange parts = getOperandsOf(mask, Fn::Select);
      auto isSame = [&](Value v) {
        return isNumber(v, 0) || isNumber(v, lowest);
      };
      if (parts.empty() || !isSame(parts[1]) || !isSame(parts[2]))
        continue;
      Value scaled = scaleFor(b, inputs[1 - i], by);
      return scaled ? b.apply(Fn::Add, {scaled, inputs[i]}) : Value();
    }
  if (op.getFn() == Fn::Select)
    for (unsigned i : {1, 2}) {
      if (!isNumber(inputs[i], lowest))
        continue;
      Value scaled = scaleFor(b, inputs[3 - i], by);
      if (!scaled)
        return {};
      return i == 2 ? b.select(inputs[0], scaled, inputs[2])
                    : b.select(inputs[0], inputs[1], scaled);
    }
  return {};
}

/// Returns null if products replace all readers of the softmax.
static Value expandSoftmax(SoftmaxOp op, CanEndStream canEndStream,
                           bool hasTiles) {
  Weights weights = findWeights(op);
  turnProducts(weights.value);
  // If the products do not have the softmax's rows, rows of -inf are left as
  // they are.
  bool isJoint = feedsProducts(weights.value, canEndStream) &&
                 (shareRows(op, weights.value) || !weights.isSafe);
  bool isSafe = isJoint && weights.isSafe;
  SoftmaxOp given = op;
  if (isJoint && hasTiles)
    op = joinRows(op, weights, StreamTile::kGroupRows);
  RowBuilder b(op);
  Value x = b.input();
  // Terms that are rounded anyway may be approximate. They are powers of 2 if
  // the scores have a factor that absorbs log2(e).
  bool isRounded =
      isJoint && isNarrowFloat(getElementTypeOrSelf(weights.value));
  constexpr double kLog2E = 1.4426950408889634;
  Value multiple = isRounded ? scaleFor(b, x, kLog2E) : Value();
  if (multiple)
    x = multiple;
  Value largest = b.reduce(ReduceKind::Max, x), reference = largest, isEmpty;
  if (isSafe) {
    // With reference 0, the terms of a row of -inf are 0, and the product is
    // too.
    double lowest = -std::numeric_limits<double>::infinity();
    isEmpty = b.isEqual(largest, b.constant(lowest));
    reference = b.select(isEmpty, b.constant(0), largest);
  }
  // softmax allows this error: terms are divided by their sum.
  Fn exponential = multiple    ? Fn::Exp2Fast
                   : isRounded ? Fn::ExpApprox
                               : Fn::ExpFast;
  Value e = b.apply(exponential, b.apply(Fn::Sub, {x, b.spread(reference)}));
  // One division for each row: the sum is at least 1, or NaN.
  Value scale = b.apply(Fn::Recip, b.reduce(ReduceKind::Sum, e));
  if (!isJoint)
    return b.output(b.apply(Fn::Mul, {e, b.spread(scale)}));
  if (isSafe)
    scale = b.select(isEmpty, b.constant(1), scale);
  SmallVector<ProductOpInterface> products;
  for (Operation *user : weights.value.getUsers())
    products.push_back(cast<ProductOpInterface>(user));
  for (ProductOpInterface product : products)
    divideBehind(b, product, e, scale);
  for (Operation *op : llvm::reverse(weights.between))
    op->erase();
  if (op != given)
    op.erase();
  return {};
}

/// Divides `x` by its root mean square.
static Value normalize(RowBuilder &b, Value x, double eps) {
  Value square = b.mean(b.apply(Fn::Mul, {x, x}));
  Value scale = b.apply(Fn::Rsqrt, b.apply(Fn::Add, {square, b.constant(eps)}));
  return b.output(b.apply(Fn::Mul, {x, b.spread(scale)}));
}

static Value expand(Operation *op, CanEndStream canEndStream, bool hasTiles) {
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return expandSoftmax(softmax, canEndStream, hasTiles);
  RowBuilder b(op);
  Value x = b.input();
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return normalize(b, x, norm.getEps().convertToDouble());
  auto norm = cast<LayerNormOp>(op);
  Value centered = b.apply(Fn::Sub, {x, b.spread(b.mean(x))});
  return normalize(b, centered, norm.getEps().convertToDouble());
}

void llir::expandRowFunctions(func::FuncOp func, int64_t chipBytes,
                              int64_t sharedBytes) {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front())
    if (isa<SoftmaxOp, LayerNormOp, RMSNormOp>(op))
      ops.push_back(&op);
  if (ops.empty())
    return;
  Assumptions symbols =
      hlir::getAssumptions(func.getBody().front().getTerminator());
  auto canEnd = [&](ProductOpInterface op) {
    return chipBytes > 0 ||
           (sharedBytes > 0 && bool(canEndStream(op, symbols, sharedBytes)));
  };
  for (Operation *op : ops) {
    if (Value value = expand(op, canEnd, sharedBytes > 0))
      op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

namespace {
struct ExpandRowFunctions
    : llir::impl::ExpandRowFunctionsPassBase<ExpandRowFunctions> {
  using ExpandRowFunctionsPassBase::ExpandRowFunctionsPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func.isDeclaration() && llvm::hasSingleElement(func.getBody()))
      expandRowFunctions(func, chipBytes, sharedBytes);
  }
};
} // namespace
