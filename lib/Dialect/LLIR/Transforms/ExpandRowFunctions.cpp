//===- ExpandRowFunctions.cpp - softmax and norms as the ops they are -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
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

/// Whether all that reads a softmax are products that sum over its rows and may
/// end a stream.
static bool feedsProducts(SoftmaxOp op, CanEndStream canEndStream) {
  Value value = op.getResult();
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
static Value expandSoftmax(RowBuilder &b, SoftmaxOp op,
                           CanEndStream canEndStream) {
  Value x = b.input();
  Value largest = b.spread(b.reduce(ReduceKind::Max, x));
  // Within what softmax promises: terms are divided by their sum.
  Value e = b.apply(Fn::ExpFast, b.apply(Fn::Sub, {x, largest}));
  // One division per row: the sum is at least 1, or NaN.
  Value scale = b.apply(Fn::Recip, b.reduce(ReduceKind::Sum, e));
  if (!feedsProducts(op, canEndStream))
    return b.output(b.apply(Fn::Mul, {e, b.spread(scale)}));
  SmallVector<ProductOpInterface> products;
  for (Operation *user : op.getResult().getUsers())
    products.push_back(cast<ProductOpInterface>(user));
  for (ProductOpInterface product : products)
    divideBehind(b, product, e, scale);
  return {};
}

/// `x` divided by its root mean square.
static Value normalize(RowBuilder &b, Value x, double eps) {
  Value square = b.mean(b.apply(Fn::Mul, {x, x}));
  Value scale = b.apply(Fn::Rsqrt, b.apply(Fn::Add, {square, b.constant(eps)}));
  return b.output(b.apply(Fn::Mul, {x, b.spread(scale)}));
}

static Value expand(Operation *op, CanEndStream canEndStream) {
  RowBuilder b(op);
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return expandSoftmax(b, softmax, canEndStream);
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
