//===- CublasLt.cpp - Which products cuBLASLt computes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatmulLayout.h"
#include "luminal/Dialect/LLIR/Libraries/Libraries.h"
#include "mlir/IR/Builders.h"

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

/// Nanoseconds by kernels and by the library.
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

/// Whether fusion would compute a value in the kernel of its only reader, so
/// that a library costs a pass over memory more.
static bool wouldFuse(Value value) {
  Operation *op = value.getDefiningOp();
  return op && value.hasOneUse() && isa<BodyOpInterface>(op) &&
         !isa<ReductionOpInterface, UpdateOpInterface, llir::ConstantOp>(op);
}

/// Whether a matrix, where there is one, begins its rows and batches at
/// multiples of 16 bytes: then the library's epilogues are exact, and narrow
/// types have its full rate.
static bool isAligned(const Matrix &matrix, const Assumptions &symbols) {
  return !matrix.map ||
         hasExactEpilogues(matrix.map, matrix.getType().getElementType(),
                           symbols);
}
static bool isAtFullRate(const Matrix &matrix, const Assumptions &symbols) {
  return widthOf(matrix.getType()) > 2 || isAligned(matrix, symbols);
}

/// The rooflines of both: products at the rate of the type, as far as tiles
/// fill the multiprocessors (the library also splits long sums among them), and
/// memory.
static Price getPrice(const FollowedProduct &end, const MatmulLayout &layout,
                      const Assumptions &symbols, const MachineModel &machine) {
  auto value = [&](const Expr &e) { return nominalValue(e, symbols); };
  auto bytes = [&](RankedTensorType type) { return value(countBytes(type)); };
  RankedTensorType resultType = layout.result.getType();
  const MachineModel::Products &rates = machine.products;
  // Both read what the program widens as it was.
  unsigned bits = layout.lhs.getType().getElementTypeBitWidth();
  constexpr double kTile = 128, kLeastInner = 512;
  // 4096 x 768 by 50257 in f16 took 3.1 to 3.6 ms on an H200 (kernels 1.8),
  // 0.44 by the rate.
  constexpr double kLossUnaligned = 7;
  double tiles = value(layout.batch) * std::ceil(value(layout.rows) / kTile) *
                 std::ceil(value(layout.columns) / kTile);
  auto share = [&](double parts) {
    return std::min(1.0, parts / machine.workers);
  };
  double work =
      value(layout.batch * layout.rows * layout.columns) * value(layout.inner);
  double splits = std::max(1.0, value(layout.inner) / kLeastInner);
  // A matrix that is a part of a tensor, or shared, is read once.
  auto read = [&](const Matrix &matrix, const Expr &a, const Expr &b) {
    return std::min(bytes(matrix.getType()),
                    value(layout.batch * a * b) * widthOf(matrix.getType()));
  };
  double moved = read(layout.lhs, layout.rows, layout.inner) +
                 read(layout.rhs, layout.inner, layout.columns) +
                 bytes(resultType);
  if (layout.addend.value)
    moved += bytes(layout.addend.getType());
  // What is computed on its way to a tile is not copied.
  auto isComputed = [](Value value) {
    while (auto view = value.getDefiningOp<ViewOp>())
      value = view.getOperand();
    return wouldFuse(value);
  };
  bool isStaged =
      !isComputed(layout.lhs.value) && !isComputed(layout.rhs.value);
  double kernelRate = (isStaged ? rates.staged : rates.kernels).of(bits);
  Price price;
  price.kernels = std::max(moved / machine.sharedReadRate,
                           work / (kernelRate * share(tiles)));
  // Few rows have kernels of another kind, bound by memory, or by multiplying
  // without tensor cores: 8 rows by 28672 x 4096 took 89 us on an H200, 57 by
  // the library, 4 rows 62.
  constexpr double kFewRows = 8, kPlainShare = 0.45;
  double rows = std::min(value(layout.rows), value(layout.columns));
  if (rows > kFewRows)
    price.kernels =
        std::max(price.kernels, value(layout.inner) * rates.step.of(bits));
  else if (rows > 1)
    price.kernels =
        std::max(price.kernels,
                 work / (rates.kernels.of(std::max(bits, 32u)) * kPlainShare));
  double libraryRate = rates.library.of(bits);
  if (!isAtFullRate(layout.lhs, symbols) ||
      !isAtFullRate(layout.rhs, symbols) ||
      !isAtFullRate(layout.result, symbols))
    libraryRate /= kLossUnaligned;
  price.library = std::max(moved / machine.sharedReadRate,
                           work / (libraryRate * share(tiles * splits)));
  // Rates and steps are of products in graphs, launches included.
  price.kernels = std::max(price.kernels, machine.getKernelTime());
  price.library = std::max(price.library, rates.libraryTime);
  auto addPass = [&](double passed) {
    price.library += passed / machine.sharedReadRate + machine.getKernelTime();
  };
  // A copy is written by what computes the value, where nothing else reads it.
  for (const Matrix &operand : {layout.lhs, layout.rhs})
    if (operand.copy
            ? !operand.value.getDefiningOp() || !operand.value.hasOneUse()
            : wouldFuse(operand.value))
      addPass(2 * bytes(operand.getType()));
  // What follows and is not the library's.
  if (end.value.hasOneUse()) {
    auto next = dyn_cast<BodyOpInterface>(*end.value.getUsers().begin());
    if (next && next.isPointwise())
      addPass(2 * bytes(resultType));
  }
  return price;
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

/// Whether the library's epilogue does what the ops do; f64 has none.
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

/// The memory of an operand.
static Value getMemory(const Matrix &matrix, OpBuilder &builder) {
  if (!matrix.copy)
    return matrix.value;
  return ViewOp::create(builder, matrix.value.getLoc(), matrix.copyType,
                        matrix.value, matrix.copy);
}

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
    return refuse("it is no product");
  Type type = elementOf(op->getResult(0));
  if (!isSupported(type) || elementOf(product.getLhs()) != type ||
      elementOf(product.getRhs()) != type)
    return refuse("the library has no product of its element type");
  SmallVector<FollowedProduct> ends =
      follow(product, symbols, precision == "exact");
  // As much as the library does at once.
  std::string reason;
  for (const FollowedProduct &end : llvm::reverse(ends)) {
    MatmulLayout layout;
    if (LayoutDecision found = findLayout(product, end, symbols, layout);
        !found) {
      reason = found.str();
      continue;
    }
    if (!isPrecise(end, layout, symbols)) {
      reason = "the library's epilogue is coarse here";
      continue;
    }
    Price price = getPrice(end, layout, symbols, machine);
    choice.why = {
        {"batch", layout.batch.str()},     {"rows", layout.rows.str()},
        {"columns", layout.columns.str()}, {"inner", layout.inner.str()},
        {"library ns", price.library},     {"kernels ns", price.kernels}};
    if (price.library >= price.kernels)
      return refuse("kernels take no longer");
    choice.call = build(op, end, layout);
    return choice;
  }
  return refuse(reason);
}

const Library &llir::getCublasLt() {
  static const CublasLtLibrary library;
  return library;
}
