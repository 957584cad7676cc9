//===- CublasLt.cpp - The library cuBLASLt --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatmulLayout.h"
#include "luminal/Dialect/LLIR/Libraries/Libraries.h"
#include "luminal/Dialect/LLIR/Schedules/ProductTime.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

Library::~Library() = default;

namespace {
class CublasLtLibrary : public Library {
public:
  StringRef getName() const override { return "cublaslt"; }
  LibraryChoice replace(Operation *op, const Assumptions &symbols,
                        const MachineModel &machine,
                        StringRef precision) const override;
};

/// Nanoseconds with kernels and with the library.
struct Price {
  double kernels = 0, library = 0;
};
} // namespace

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

static bool isSupported(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

//===----------------------------------------------------------------------===//
// Price
//===----------------------------------------------------------------------===//

static int64_t widthOf(RankedTensorType type) {
  return dtypeSize(*hlir::getDType(type.getElementType()));
}

/// Returns whether a value depends on the result of a reduction, such as the
/// scaled rows of a norm; fusion leaves it in the kernel of the reduction.
static bool followsReduction(Value value) {
  SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    Operation *op = seen[i].getDefiningOp();
    if (op && isa<ReductionOpInterface>(op) && !isa<ProductOpInterface>(op))
      return true;
    if (op && isa<BodyOpInterface>(op) && !isa<ReductionOpInterface>(op))
      seen.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Returns whether fusion would compute a value in the kernel of its only
/// reader, so that a library call costs an additional pass over memory.
static bool wouldFuse(Value value) {
  Operation *op = value.getDefiningOp();
  return op && value.hasOneUse() && isa<BodyOpInterface>(op) &&
         !isa<ReductionOpInterface, UpdateOpInterface, llir::ConstantOp>(op) &&
         !followsReduction(value);
}

/// Returns whether the matrix is absent, or its rows and batches begin at
/// multiples of 16 bytes. The library's epilogues are then exact, and 16-bit
/// types run at full rate.
static bool isAligned(const Matrix &matrix, const Assumptions &symbols) {
  return !matrix.map ||
         hasExactEpilogues(matrix.map, matrix.getType().getElementType(),
                           symbols);
}
static bool isAtFullRate(const Matrix &matrix, const Assumptions &symbols) {
  return widthOf(matrix.getType()) > 2 || isAligned(matrix, symbols);
}

/// Returns whether the matrix is contiguous along a dim of its map.
static bool isAlong(const Matrix &matrix, unsigned dim) {
  if (!matrix.map)
    return true;
  std::vector<Expr> next;
  for (unsigned d = 0; d < matrix.map.getNumDims(); ++d)
    next.push_back(d == dim ? Expr::dim(d) + Expr(1) : Expr::dim(d));
  Expr at = matrix.map.getResults()[0];
  return (at.substituteDims(next) - at).isConstant(1);
}

/// Returns the prices of both (getProductTime), including the passes that a
/// library call adds because fusion cannot handle operands and result.
static Price getPrice(const FollowedProduct &end, const MatmulLayout &layout,
                      const Assumptions &symbols, const MachineModel &machine) {
  auto value = [&](const Expr &e) { return nominalValue(e, symbols); };
  auto bytes = [&](RankedTensorType type) { return value(countBytes(type)); };
  RankedTensorType resultType = layout.result.getType();
  const MachineModel::Products &rates = machine.products;
  // Both read an operand that the program widens in its narrow type.
  unsigned bits = layout.lhs.getType().getElementTypeBitWidth();
  const ProductShape shape = {value(layout.batch),
                              value(layout.rows),
                              value(layout.columns),
                              value(layout.inner),
                              bits,
                              unsigned(!isAlong(layout.lhs, 2)) +
                                  unsigned(!isAlong(layout.rhs, 1))};
  const double work = shape.batch * shape.rows * shape.columns * shape.inner,
               least = std::min(shape.rows, shape.columns);
  // A matrix that is a slice of a tensor, or shared by a batch, is read once.
  auto read = [&](const Matrix &matrix, const Expr &a, const Expr &b) {
    return std::min(bytes(matrix.getType()),
                    value(layout.batch * a * b) * widthOf(matrix.getType()));
  };
  double moved = read(layout.lhs, layout.rows, layout.inner) +
                 read(layout.rhs, layout.inner, layout.columns) +
                 bytes(resultType);
  if (layout.addend.value)
    moved += bytes(layout.addend.getType());
  // An operand that is computed on the way to a tile is not copied.
  auto isComputed = [](Value value) {
    while (auto view = value.getDefiningOp<ViewOp>())
      value = view.getOperand();
    return wouldFuse(value);
  };
  bool isStaged =
      !isComputed(layout.lhs.value) && !isComputed(layout.rhs.value);
  Price price;
  // A few rows and small products use other kernels, which are limited by
  // memory or by FMA instructions: 8 rows by 28672 x 4096 took 89 us on an
  // H200, 57 us with the library, and 4 rows 62 us.
  constexpr double kFewRows = 8, kSmall = 1 << 21, kPlainShare = 0.45;
  if (least > kFewRows && work >= kSmall)
    price.kernels = getProductTime(
        shape, isStaged ? ProductCode::StagedKernel : ProductCode::Kernel,
        machine);
  else if (least > 1)
    price.kernels =
        work / (rates.kernels.of(std::max(bits, 32u)) * kPlainShare);
  price.library = getProductTime(shape, ProductCode::Library, machine);
  // Unaligned operands: 4096 x 768 by 50257 in f16 took 3.1 to 3.6 ms on an
  // H200 (with kernels 1.8), although the rate predicts 0.44.
  constexpr double kLossUnaligned = 7;
  if (!isAtFullRate(layout.lhs, symbols) ||
      !isAtFullRate(layout.rhs, symbols) ||
      !isAtFullRate(layout.result, symbols))
    price.library =
        std::max(price.library, kLossUnaligned * work / rates.library.of(bits));
  // Neither is faster than memory traffic, nor than a launch.
  price.kernels = std::max(
      {price.kernels, moved / machine.sharedReadRate, machine.getKernelTime()});
  price.library = std::max(
      {price.library, moved / machine.sharedReadRate, rates.libraryTime});
  auto addPass = [&](double passed) {
    price.library += passed / machine.sharedReadRate + rates.betweenCalls;
  };
  // If nothing else reads the value, its producer writes the copy.
  for (const Matrix &operand : {layout.lhs, layout.rhs})
    if (operand.copy
            ? !operand.value.getDefiningOp() || !operand.value.hasOneUse()
            : wouldFuse(operand.value))
      addPass(2 * bytes(operand.getType()));
  // Ops after the product that the library does not compute, and that are not
  // free at their readers.
  Value last = end.value;
  auto isFree = [&](Operation *op) {
    return isa<ViewOp>(op) ||
           (op->getNumResults() == 1 &&
            skipWidening(op->getResult(0)) != op->getResult(0));
  };
  while (last.hasOneUse() && isFree(*last.getUsers().begin()))
    last = (*last.getUsers().begin())->getResult(0);
  if (!last.use_empty() && llvm::all_of(last.getUsers(), [&](Operation *op) {
        return isa<ElementwiseOp>(op) && !isFree(op);
      }))
    addPass(2 * bytes(resultType));
  return price;
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

/// Returns whether the library's epilogue computes exactly what the ops say; it
/// has none for f64.
static bool isPrecise(const FollowedProduct &end, const MatmulLayout &layout,
                      const Assumptions &symbols) {
  if (elementOf(end.value).isF64())
    return !end.bias && end.epilogue == Epilogue::None;
  if (end.epilogue == Epilogue::None)
    return true;
  return llvm::all_of(
      std::array{&layout.lhs, &layout.rhs, &layout.result, &layout.addend},
      [&](const Matrix *matrix) { return isAligned(*matrix, symbols); });
}

/// Returns an operand in memory, copied if necessary.
static Value getMemory(const Matrix &matrix, OpBuilder &builder) {
  if (!matrix.copy)
    return matrix.value;
  return ViewOp::create(builder, matrix.value.getLoc(), matrix.copyType,
                        matrix.value, matrix.copy);
}

/// Builds the call that replaces a product and its epilogue.
static Operation *build(Operation *product, const FollowedProduct &end,
                        const MatmulLayout &layout) {
  Operation *last = end.value.getDefiningOp();
  OpBuilder builder(last);
  MLIRContext *context = builder.getContext();
  auto sizes = MapAttr::get(
      context, 0, {layout.batch, layout.rows, layout.columns, layout.inner});
  auto call = CublasLtMatmulOp::create(
      builder, FusedLoc::get(context, {product->getLoc(), last->getLoc()}),
      end.value.getType(), getMemory(layout.lhs, builder),
      getMemory(layout.rhs, builder), layout.addend.value, layout.bias, sizes,
      layout.lhs.map, layout.rhs.map, layout.addend.map, layout.result.map,
      builder.getF64FloatAttr(end.alpha),
      EpilogueAttr::get(context, end.epilogue));
  Value(end.value).replaceAllUsesWith(call.getResult());
  return call;
}

LibraryChoice CublasLtLibrary::replace(Operation *op,
                                       const Assumptions &symbols,
                                       const MachineModel &machine,
                                       StringRef precision) const {
  LibraryChoice choice;
  auto product = dyn_cast<ProductOpInterface>(op);
  auto refuse = [&](StringRef reason) {
    choice.why.push_back({"reason", reason});
    return choice;
  };
  if (!product)
    return refuse("it is not a product");
  Type type = elementOf(op->getResult(0));
  if (!isSupported(type) || elementOf(product.getLhs()) != type ||
      elementOf(product.getRhs()) != type)
    return refuse("the library has no product of its element type");
  SmallVector<FollowedProduct> ends =
      follow(product, symbols, precision == "exact");
  // Try the longest chain of ops that the library computes at once.
  std::string reason;
  for (const FollowedProduct &end : llvm::reverse(ends)) {
    MatmulLayout layout;
    if (LayoutDecision found = findLayout(product, end, symbols, layout);
        !found) {
      reason = found.str();
      continue;
    }
    if (!isPrecise(end, layout, symbols)) {
      reason = "the library's epilogue is not exact here";
      continue;
    }
    Price price = getPrice(end, layout, symbols, machine);
    choice.why = {
        {"batch", layout.batch.str()},     {"rows", layout.rows.str()},
        {"columns", layout.columns.str()}, {"inner", layout.inner.str()},
        {"library ns", price.library},     {"kernels ns", price.kernels}};
    if (price.library >= price.kernels)
      return refuse("kernels are as fast");
    choice.call = build(op, end, layout);
    return choice;
  }
  return refuse(reason);
}

const Library &llir::getCublasLt() {
  static const CublasLtLibrary library;
  return library;
}
