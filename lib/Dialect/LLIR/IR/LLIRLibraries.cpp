//===- LLIRLibraries.cpp - Ops of libraries -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

namespace {
/// A matrix of the op: its value, its map, and the extents of (batch, row,
/// column).
struct Matrix {
  MapAttr map;
  SmallVector<Expr, 3> extents;
  Value value;
  StringRef what;
  /// Whether the column must be the dim of stride 1.
  bool isRowMajor = false;
};
} // namespace

/// Returns the matrices of a call: lhs, rhs, the result, and the addend if
/// there is one.
static SmallVector<Matrix, 4> getMatrices(CublasLtMatmulOp op) {
  Expr batch = op.getBatch(), rows = op.getRows(), columns = op.getColumns(),
       inner = op.getInner();
  SmallVector<Matrix, 4> all = {
      {op.getLhsMap(), {batch, rows, inner}, op.getLhs(), "the map of lhs"},
      {op.getRhsMap(), {batch, inner, columns}, op.getRhs(), "the map of rhs"},
      {op.getResultMap(),
       {batch, rows, columns},
       op.getResult(),
       "the map of the result",
       true}};
  if (op.getAddend())
    all.push_back({*op.getAddendMap(),
                   {batch, rows, columns},
                   op.getAddend(),
                   "the map of the addend",
                   true});
  return all;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Returns the offset and the strides of batch, row and column; std::nullopt if
/// the map is not linear.
static std::optional<SmallVector<Expr, 4>> getStrides(MapAttr map) {
  Expr rest = map.getResults()[0];
  SmallVector<Expr, 4> strides(4);
  for (unsigned i = 0; i < 3; ++i) {
    std::optional<Expr::Linear> linear = rest.linearIn(i);
    if (!linear || linear->stride.hasDims())
      return std::nullopt;
    strides[i + 1] = linear->stride;
    rest = linear->rest;
  }
  strides[0] = rest;
  return strides;
}

/// Checks that the map of a matrix is linear and has stride 1 along a column
/// (or, where allowed, a row).
static LogicalResult verifyMatrix(CublasLtMatmulOp op, const Matrix &matrix) {
  if (matrix.map.getNumDims() != 3 || matrix.map.getResults().size() != 1)
    return op.emitOpError() << matrix.what << " takes batch, row and column to "
                            << "one position";
  std::optional<SmallVector<Expr, 4>> strides = getStrides(matrix.map);
  if (!strides)
    return op.emitOpError() << matrix.what << " is not linear";
  auto isUnit = [&](unsigned i) {
    return (*strides)[i + 1].isConstant(1) || matrix.extents[i].isConstant(1);
  };
  if (!isUnit(2) && (matrix.isRowMajor || !isUnit(1)))
    return op.emitOpError()
           << matrix.what << " has no stride of 1 along "
           << (matrix.isRowMajor ? "the column" : "row or column");
  return success();
}

LogicalResult CublasLtMatmulOp::verify() {
  if (getSizes().getNumDims() != 0 || getSizes().getResults().size() != 4)
    return emitOpError() << "sizes are batch, rows, columns and inner, four "
                         << "quantities of a map without dims";
  if (getInner().isConstant(0))
    return emitOpError() << "sums over nothing";
  if (getAddend() ? !getAddendMap() : getAddendMap().has_value())
    return emitOpError() << "expects an addend with a map, or neither";
  Type type = elementOf(getLhs()), result = elementOf(getResult());
  bool isNarrow = type.isF16() || type.isBF16();
  if (!isNarrow && !type.isF32() && !type.isF64())
    return emitOpError() << "multiplies f16, bf16, f32 and f64, found " << type;
  if (elementOf(getRhs()) != type)
    return emitOpError() << "expects operands of one element type, found "
                         << type << " and " << elementOf(getRhs());
  if (result != type && !(isNarrow && result.isF32()))
    return emitOpError() << "of " << type << " cannot result in " << result;
  for (Value added : {getAddend(), getBias()})
    if (added && elementOf(added) != result)
      return emitOpError() << "adds " << elementOf(added) << " to a result of "
                           << result;
  if (getEpilogue() != Epilogue::None && type.isF64())
    return emitOpError() << "has no " << stringifyEpilogue(getEpilogue())
                         << " in f64";
  if (getBias() && type.isF64())
    return emitOpError() << "has no bias in f64";
  for (const Matrix &matrix : getMatrices(*this))
    if (failed(verifyMatrix(*this, matrix)))
      return failure();
  Assumptions symbols = hlir::getAssumptions(*this);
  if (symbols.equal(countElements(getResult().getType()),
                    getBatch() * getRows() * getColumns()) == false)
    return emitOpError() << "its sizes are not those of the result";
  if (getBias() &&
      symbols.equal(countElements(getBias().getType()), getColumns()) == false)
    return emitOpError() << "expects a bias for each column";
  return hlir::verifyIndices(*this);
}

SmallVector<hlir::IndexRead> CublasLtMatmulOp::getIndexReads() {
  SmallVector<hlir::IndexRead> reads;
  for (const Matrix &matrix : getMatrices(*this))
    reads.push_back({matrix.map,
                     {matrix.extents.begin(), matrix.extents.end()},
                     {countElements(matrix.value.getType())},
                     matrix.what.str()});
  if (getBias())
    reads.push_back({MapAttr::get(getContext(), 1, Expr::dim(0)),
                     {getColumns()},
                     {countElements(getBias().getType())},
                     "the columns of the bias"});
  return reads;
}

//===----------------------------------------------------------------------===//
// What the library does
//===----------------------------------------------------------------------===//

bool llir::hasExactEpilogues(MapAttr map, Type element,
                             const Assumptions &symbols) {
  constexpr int64_t kAligned = 16;
  SmallVector<Expr, 4> strides = *getStrides(map);
  // The elements of a row, or of a column, are contiguous.
  for (Expr &stride : llvm::drop_begin(strides, 2))
    if (stride.isConstant(1)) {
      stride = 0;
      break;
    }
  Expr width = dtypeSize(*hlir::getDType(element));
  return llvm::all_of(strides, [&](const Expr &stride) {
    return symbols.equal(Expr::mod(stride * width, kAligned), 0) == true;
  });
}

LogicalResult CublasLtMatmulOp::checkLibrary() {
  if (getEpilogue() == Epilogue::None)
    return success();
  Assumptions symbols = hlir::getAssumptions(*this);
  for (const Matrix &matrix : getMatrices(*this))
    if (!hasExactEpilogues(matrix.map, elementOf(matrix.value), symbols))
      return emitOpError() << "has the epilogue "
                           << stringifyEpilogue(getEpilogue())
                           << ", which cuBLASLt computes otherwise where rows "
                              "do not begin at multiples of 16 bytes, by "
                           << matrix.what;
  return success();
}

//===----------------------------------------------------------------------===//
// Price and launch
//===----------------------------------------------------------------------===//

Cost CublasLtMatmulOp::getCost() {
  Cost cost;
  for (Value operand : getOperands())
    cost.bytesRead = cost.bytesRead + countBytes(operand.getType());
  cost.bytesWritten = countBytes(getResult().getType());
  cost.flops = getBatch() * getRows() * getColumns() * getInner();
  cost.launches = 1;
  return cost;
}

/// The size that NVIDIA recommends for Hopper. A split-k product keeps its
/// partial sums there.
int64_t CublasLtMatmulOp::getWorkspaceBytes() { return int64_t(32) << 20; }

LaunchAttrInterface CublasLtMatmulOp::getLaunch() {
  SmallVector<Expr> quantities = {getBatch(), getRows(), getColumns(),
                                  getInner()};
  for (std::optional<MapAttr> map :
       {std::optional(getLhsMap()), std::optional(getRhsMap()), getAddendMap(),
        std::optional(getResultMap())}) {
    SmallVector<Expr, 4> strides(4, Expr(0));
    if (map)
      strides = *getStrides(*map);
    llvm::append_range(quantities, strides);
  }
  Builder b(getContext());
  NamedAttribute facts[] = {
      {"type", TypeAttr::get(elementOf(getLhs()))},
      {"result_type", TypeAttr::get(elementOf(getResult()))},
      {"alpha", b.getF64FloatAttr(getAlpha().convertToDouble())},
      {"addend", b.getBoolAttr(getAddend() != nullptr)},
      {"bias", b.getBoolAttr(getBias() != nullptr)},
      {"epilogue", b.getStringAttr(stringifyEpilogue(getEpilogue()))},
      {"workspace", b.getI64IntegerAttr(getWorkspaceBytes())}};
  return CublasLtLaunchAttr::get(getContext(),
                                 MapAttr::get(getContext(), 0, quantities),
                                 b.getDictionaryAttr(facts));
}
