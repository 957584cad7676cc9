//===- ExpandRowFunctions.cpp - softmax and norms as the ops they are -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fusion.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

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

static Value expandSoftmax(RowBuilder &b) {
  Value x = b.input();
  Value largest = b.spread(b.reduce(ReduceKind::Max, x));
  // Within what softmax promises: terms are divided by their sum.
  Value e = b.apply(Fn::ExpFast, b.apply(Fn::Sub, {x, largest}));
  // One division per row: the sum is at least 1, or NaN.
  Value scale = b.apply(Fn::Recip, b.reduce(ReduceKind::Sum, e));
  return b.output(b.apply(Fn::Mul, {e, b.spread(scale)}));
}

/// `x` divided by its root mean square.
static Value normalize(RowBuilder &b, Value x, double eps) {
  Value square = b.mean(b.apply(Fn::Mul, {x, x}));
  Value scale = b.apply(Fn::Rsqrt, b.apply(Fn::Add, {square, b.constant(eps)}));
  return b.output(b.apply(Fn::Mul, {x, b.spread(scale)}));
}

static Value expand(Operation *op) {
  RowBuilder b(op);
  if (isa<SoftmaxOp>(op))
    return expandSoftmax(b);
  Value x = b.input();
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return normalize(b, x, norm.getEps().convertToDouble());
  auto norm = cast<LayerNormOp>(op);
  Value centered = b.apply(Fn::Sub, {x, b.spread(b.mean(x))});
  return normalize(b, centered, norm.getEps().convertToDouble());
}

void llir::expandRowFunctions(func::FuncOp func) {
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
    if (!isa<SoftmaxOp, LayerNormOp, RMSNormOp>(op))
      continue;
    op.getResult(0).replaceAllUsesWith(expand(&op));
    op.erase();
  }
}
