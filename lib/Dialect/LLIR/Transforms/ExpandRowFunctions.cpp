//===- ExpandRowFunctions.cpp - softmax and norms as the ops they are -----===//
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
/// Builds flat ops over the domain of one row function and its rows.
class RowBuilder {
public:
  explicit RowBuilder(Operation *op) : RowBuilder(op, op->getOperand(0)) {}
  /// The same function of the rows of another value.
  RowBuilder(Operation *op, Value operand)
      : b(op->getLoc(), op), operand(operand),
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
  /// `then` where `condition`, an i1, holds.
  Value select(Value condition, Value then, Value otherwise) {
    return ElementwiseOp::create(b, then.getType(), Fn::Select,
                                 ValueRange{condition, then, otherwise});
  }
  Value reduce(ReduceKind kind, Value value) {
    return llir::ReduceOp::create(b, rowType, kind, value);
  }
  /// One value per row, broadcast to its elements.
  Value spread(Value row) {
    SmallVector<Expr> dims;
    for (unsigned i = 0; i + 1 < domain.size(); ++i)
      dims.push_back(Expr::dim(i));
    return ViewOp::create(b, domainType, row,
                          MapAttr::get(b.getContext(), domain.size(), dims));
  }
  /// A scalar broadcast to all rows.
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
  /// The number of elements of a row.
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

/// The operands of an elementwise op of that function; none for other values.
static OperandRange getOperandsOf(Value v, Fn fn) {
  auto op = v.getDefiningOp<ElementwiseOp>();
  return op && op.getFn() == fn ? op.getInputs() : OperandRange({}, 0);
}

/// Whether every element of `v` is that number.
static bool isNumber(Value v, double number) {
  while (auto view = v.getDefiningOp<llir::ViewOp>())
    v = view.getOperand();
  return getFloatSplat(v) == number;
}

/// What `v`, an i1, compares with -inf; null where it is something else.
static Value getComparedWithLowest(Value v) {
  OperandRange operands = getOperandsOf(v, Fn::Equal);
  if (operands.size() != 2)
    return {};
  double lowest = -std::numeric_limits<double>::infinity();
  if (isNumber(operands[1], lowest))
    return operands[0];
  return isNumber(operands[0], lowest) ? operands[1] : Value();
}

/// What a maximum over the last dim is of; null where `v` is none.
static Value getMaximized(Value v) {
  auto reduce = v.getDefiningOp<llir::ReduceOp>();
  return reduce && reduce.getKind() == ReduceKind::Max ? reduce.getOperand()
                                                       : Value();
}

/// The value of which `mask`, an i1 for each row, says that the row is nothing
/// but -inf: by its maximum, or by no element being another. Null where it says
/// something else.
static Value getEmptyRowsOf(Value mask) {
  if (Value largest = getComparedWithLowest(mask))
    return getMaximized(largest);
  OperandRange none = getOperandsOf(mask, Fn::Not);
  Value any = none.empty() ? Value() : getMaximized(none[0]);
  OperandRange isOther = any ? getOperandsOf(any, Fn::Not) : none;
  return any && !isOther.empty() ? getComparedWithLowest(isOther[0]) : Value();
}

/// The value that takes the place of a softmax where it is zero in the rows
/// that are nothing but -inf, and otherwise the same; null where there is none.
static Value getSafeSoftmax(SoftmaxOp op) {
  if (!op->hasOneUse())
    return {};
  Operation *user = *op->user_begin();
  auto select = dyn_cast<ElementwiseOp>(user);
  if (!select || select.getFn() != Fn::Select ||
      select.getInputs()[2] != op.getResult() ||
      !isNumber(select.getInputs()[1], 0))
    return {};
  auto spread = select.getInputs()[0].getDefiningOp<llir::ViewOp>();
  if (!spread)
    return {};
  SmallVector<Expr> domain = hlir::getExtents(op.getResult()),
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

/// Factors change places, so that products have weights on the left.
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

/// Whether the products that read `weights` have its rows as their own.
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

/// The view that the operand of a softmax is, if it only renames whole rows;
/// else null.
static llir::ViewOp getRowView(SoftmaxOp op) {
  auto view = op.getOperand().getDefiningOp<llir::ViewOp>();
  if (!view)
    return {};
  SmallVector<Expr> domain = hlir::getExtents(view.getResult()),
                    source = hlir::getExtents(view.getOperand());
  unsigned last = domain.size() - 1;
  ArrayRef<Expr> read = view.getMap().getResults();
  if (read.empty() || read.back() != Expr::dim(last) ||
      source.back() != domain.back() ||
      llvm::any_of(read.drop_back(),
                   [&](const Expr &e) { return e.usesDim(last); }))
    return {};
  return view;
}

/// Has the products that read the weights over the result of `view` read them
/// over its operand. Whether they can.
static bool skipView(llir::ViewOp view, Value weights) {
  if (llvm::any_of(weights.getUsers(),
                   [](Operation *user) { return !isa<GemmOp>(user); }))
    return false;
  Assumptions sizes = hlir::getAssumptions(view);
  for (Operation *user : weights.getUsers()) {
    auto product = cast<GemmOp>(user);
    SmallVector<Expr> space = hlir::getExtents(product.getResult());
    space.push_back(product.getKExtent());
    product.setLhsMapAttr(
        compose(product.getLhsMap(), view.getMap(), space, sizes));
  }
  return true;
}

/// Whether all that reads a softmax are products that sum over its rows and may
/// end a stream.
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

/// A product of a softmax: that of its terms, which their sum divides behind
/// it.
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
  // Terms are of the type that the product reads.
  Value lhs = cast(cast(terms, type.getElementType()), row.getComputeType());
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
  // The factor first: a kernel's body has it before the product, whose stage
  // then finds the terms where the sum kept them.
  Value scaled = ElementwiseOp::create(
      b, wide, Fn::Mul, ValueRange{factor, product->getResult(0)});
  op->getResult(0).replaceAllUsesWith(cast(scaled, type.getElementType()));
  op.erase();
}

/// Null where products take the place of all that read it.
static Value expandSoftmax(SoftmaxOp op, CanEndStream canEndStream) {
  Value weights = op.getResult(), safe = getSafeSoftmax(op);
  for (Value read : {weights, safe})
    if (read)
      turnProducts(read);
  // Else the rows of -inf are better left where they are.
  llir::ViewOp view = getRowView(op);
  bool isSafe =
      safe && feedsProducts(safe, canEndStream) && (view || haveRows(safe));
  if (isSafe)
    weights = safe;
  bool isJoint = isSafe || feedsProducts(weights, canEndStream);
  bool skipsView = isJoint && view && skipView(view, weights);
  RowBuilder b(op, skipsView ? view.getOperand() : op.getOperand());
  Value x = b.input();
  Value largest = b.reduce(ReduceKind::Max, x), reference = largest, isEmpty;
  if (isSafe) {
    // Terms of a row of -inf are 0 as they stand, which is what is multiplied.
    double lowest = -std::numeric_limits<double>::infinity();
    isEmpty = b.isEqual(largest, b.constant(lowest));
    reference = b.select(isEmpty, b.constant(0), largest);
  }
  // Within what softmax promises: terms are divided by their sum.
  Value e = b.apply(Fn::ExpFast, b.apply(Fn::Sub, {x, b.spread(reference)}));
  // One division per row: the sum is at least 1, or NaN.
  Value scale = b.apply(Fn::Recip, b.reduce(ReduceKind::Sum, e));
  if (!isJoint)
    return b.output(b.apply(Fn::Mul, {e, b.spread(scale)}));
  if (isSafe)
    scale = b.select(isEmpty, b.constant(1), scale);
  SmallVector<ProductOpInterface> products;
  for (Operation *user : weights.getUsers())
    products.push_back(cast<ProductOpInterface>(user));
  for (ProductOpInterface product : products)
    divideBehind(b, product, e, scale);
  if (isSafe)
    weights.getDefiningOp()->erase();
  return {};
}

/// `x` divided by its root mean square.
static Value normalize(RowBuilder &b, Value x, double eps) {
  Value square = b.mean(b.apply(Fn::Mul, {x, x}));
  Value scale = b.apply(Fn::Rsqrt, b.apply(Fn::Add, {square, b.constant(eps)}));
  return b.output(b.apply(Fn::Mul, {x, b.spread(scale)}));
}

static Value expand(Operation *op, CanEndStream canEndStream) {
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return expandSoftmax(softmax, canEndStream);
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
    if (Value value = expand(op, canEnd))
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
