//===- HLIROps.cpp - The ops of HLIR by definition ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

LogicalResult Evaluator::runHLIR(Operation *op) {
  if (ChunkFn fn = getElementwise(op))
    return elementwise(op, std::move(fn));
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<hlir::ConstantOp>(
          [&](hlir::ConstantOp c) { return constant(op, c.getValue()); })
      .Case<hlir::ViewOp>([&](hlir::ViewOp v) { return view(op, v.getMap()); })
      .Case<hlir::IotaOp>([&](hlir::IotaOp i) { return iota(op, i.getMap()); })
      .Case<hlir::ReduceSumOp>([&](auto) { return reduceSum(op); })
      .Case<hlir::ReduceMaxOp>([&](auto) { return reduceMax(op); })
      .Case<hlir::GatherOp>([&](auto) { return gather(op); })
      .Case<hlir::ScatterOp>(
          [&](hlir::ScatterOp s) { return scatter(op, s.getCombine()); })
      .Case<hlir::RepeatOp>([&](hlir::RepeatOp r) { return repeat(r); })
      .Case<hlir::CustomOp>(
          [&](hlir::CustomOp c) { return custom(c, c.getName()); })
      .Default([](Operation *other) {
        return other->emitError() << "cannot be evaluated on its operands";
      });
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::constant(Operation *op, Attribute value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  std::optional<Tensor> tensor = dense ? fromAttribute(dense) : std::nullopt;
  if (!tensor)
    return op->emitError() << "expected a dense constant";
  define(op->getResult(0), *tensor);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Reads a node in order and calls fn(row, elements, n) for each piece of a
/// row.
static LogicalResult
forEachPiece(Node &node, function_ref<void(size_t, const char *, int64_t)> fn) {
  int64_t length = node.shape.back(), row = 0, inRow = 0;
  size_t size = dtypeSize(node.dtype);
  for (int64_t begin = 0; begin < node.count; begin += kChunk) {
    int64_t n = std::min(kChunk, node.count - begin);
    FailureOr<const char *> chunk = node.read(begin, n);
    if (failed(chunk))
      return failure();
    for (int64_t done = 0; done < n;) {
      int64_t piece = std::min(length - inRow, n - done);
      fn(static_cast<size_t>(row), *chunk + static_cast<size_t>(done) * size,
         piece);
      done += piece;
      inRow += piece;
      if (inRow == length) {
        inRow = 0;
        ++row;
      }
    }
  }
  return success();
}

/// Folds each row from the left: result = step(result, element).
template <typename V, typename Access, typename Step>
static LogicalResult foldRows(Node &node, Access, Step step,
                              std::vector<V> &results) {
  return forEachPiece(node, [&](size_t row, const char *elements, int64_t n) {
    V result = results[row];
    for (int64_t i = 0; i < n; ++i)
      result = step(result, Access::load(elements, i));
    results[row] = result;
  });
}

/// Folds the rows of a float tensor in double, those of an integer tensor in 64
/// bits.
template <typename FloatStep, typename IntStep>
static LogicalResult reduceRows(Node &node, Tensor &result, double floatStart,
                                FloatStep floatStep, int64_t intStart,
                                IntStep intStep) {
  DType t = node.dtype;
  auto rows = static_cast<size_t>(result.getNumElements());
  size_t size = dtypeSize(t);
  if (isFloatDType(t)) {
    std::vector<double> folded(rows, floatStart);
    if (!forFloat(t, [&](auto access) {
          return succeeded(foldRows(node, access, floatStep, folded));
        }))
      return failure();
    for (size_t row = 0; row < rows; ++row)
      store(t, folded[row], result.mutableData() + row * size);
    return success();
  }
  std::vector<int64_t> folded(rows, intStart);
  if (!forInt(t, [&](auto access) {
        return succeeded(foldRows(node, access, intStep, folded));
      }))
    return failure();
  for (size_t row = 0; row < rows; ++row)
    storeInt(t, folded[row], result.mutableData() + row * size);
  return success();
}

static bool hasRowsOf(const Tensor &result, const Node &node) {
  return !node.shape.empty() && result.getDType() == node.dtype &&
         node.dtype != DType::F8E4M3 && node.dtype != DType::F8E5M2 &&
         result.getShape() == ArrayRef<int64_t>(node.shape).drop_back();
}

LogicalResult Evaluator::reduceSum(Operation *op) {
  Node &node = *get(op->getOperand(0));
  FailureOr<Tensor> result = allocate(op, op->getResult(0));
  if (failed(result))
    return failure();
  if (!hasRowsOf(*result, node))
    return op->emitError() << "the result does not have the rows of the "
                              "operand";
  const Sums sums(node.dtype);
  auto addFloats = [sums](double a, double b) { return sums.add(a, b); };
  auto addInts = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                static_cast<uint64_t>(b));
  };
  if (failed(reduceRows(node, *result, 0.0, addFloats, 0, addInts)))
    return failure();
  define(op->getResult(0), *result);
  return success();
}

LogicalResult Evaluator::reduceMax(Operation *op) {
  Node &node = *get(op->getOperand(0));
  FailureOr<Tensor> result = allocate(op, op->getResult(0));
  if (failed(result))
    return failure();
  if (!hasRowsOf(*result, node))
    return op->emitError() << "the result does not have the rows of the "
                              "operand";
  // NaN propagates.
  auto maxFloat = [](double most, double value) {
    return value > most || std::isnan(value) ? value : most;
  };
  auto maxInt = [](int64_t a, int64_t b) { return std::max(a, b); };
  int64_t least = node.dtype == DType::I64   ? INT64_MIN
                  : node.dtype == DType::I32 ? INT32_MIN
                                             : 0;
  if (failed(reduceRows(node, *result, -std::numeric_limits<double>::infinity(),
                        maxFloat, least, maxInt)))
    return failure();
  define(op->getResult(0), *result);
  return success();
}

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

/// Index i of `indices`, or an error if it is outside [0, extent).
static FailureOr<int64_t> getIndex(Operation *op, const Tensor &indices,
                                   int64_t i, int64_t extent) {
  int64_t index = loadInt(indices.getDType(),
                          indices.data() + static_cast<size_t>(i) *
                                               dtypeSize(indices.getDType()));
  if (index < 0 || index >= extent)
    return op->emitError() << "index " << index << " at position " << i
                           << " is outside [0, " << extent << ")";
  return index;
}

LogicalResult Evaluator::gather(Operation *op) {
  FailureOr<Tensor> data = getTensor(op, 0), indices = getTensor(op, 1);
  if (failed(data) || failed(indices))
    return failure();
  FailureOr<Tensor> result = allocate(op, op->getResult(0));
  if (failed(result))
    return failure();
  SmallVector<int64_t> expected(indices->getShape());
  llvm::append_range(expected, data->getShape().drop_front());
  if (result->getShape() != ArrayRef<int64_t>(expected))
    return op->emitError() << "the result does not have the shape of the "
                              "indices and the rows";
  int64_t extent = data->getShape().front();
  size_t row = extent ? data->getNumBytes() / static_cast<size_t>(extent) : 0;
  for (int64_t i = 0; i < indices->getNumElements(); ++i) {
    FailureOr<int64_t> index = getIndex(op, *indices, i, extent);
    if (failed(index))
      return failure();
    std::memcpy(result->mutableData() + static_cast<size_t>(i) * row,
                data->data() + static_cast<size_t>(*index) * row, row);
  }
  define(op->getResult(0), *result);
  return success();
}

/// target = combine(target, update) for one element.
static void combineElement(hlir::Combine combine, DType t, char *target,
                           const char *update) {
  if (combine == hlir::Combine::Set) {
    std::memcpy(target, update, dtypeSize(t));
    return;
  }
  bool add = combine == hlir::Combine::Add;
  if (isFloatDType(t)) {
    double a = loadFloat(t, target), b = loadFloat(t, update);
    double most = std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    store(t, add ? a + b : most, target);
    return;
  }
  int64_t a = loadInt(t, target), b = loadInt(t, update);
  auto sum =
      static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  storeInt(t, add ? sum : std::max(a, b), target);
}

LogicalResult Evaluator::scatter(Operation *op, hlir::Combine combine) {
  FailureOr<Tensor> dest = getTensor(op, 0), indices = getTensor(op, 1),
                    updates = getTensor(op, 2);
  if (failed(dest) || failed(indices) || failed(updates))
    return failure();
  SmallVector<int64_t> expected(indices->getShape());
  llvm::append_range(expected, dest->getShape().drop_front());
  if (updates->getShape() != ArrayRef<int64_t>(expected))
    return op->emitError() << "the updates do not have the shape of the "
                              "indices and the rows";
  std::optional<Tensor> result =
      Tensor::allocate(dest->getDType(), dest->getShape());
  if (!result)
    return op->emitError() << "not enough memory";
  std::memcpy(result->mutableData(), dest->data(), dest->getNumBytes());
  int64_t extent = dest->getShape().front();
  size_t size = dtypeSize(dest->getDType());
  size_t row = extent ? dest->getNumBytes() / static_cast<size_t>(extent) : 0;
  for (int64_t i = 0; i < indices->getNumElements(); ++i) {
    FailureOr<int64_t> index = getIndex(op, *indices, i, extent);
    if (failed(index))
      return failure();
    for (size_t at = 0; at < row; at += size)
      combineElement(combine, dest->getDType(),
                     result->mutableData() + static_cast<size_t>(*index) * row +
                         at,
                     updates->data() + static_cast<size_t>(i) * row + at);
  }
  define(op->getResult(0), *result);
  return success();
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::custom(Operation *op, StringRef name) {
  SmallVector<Tensor> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    FailureOr<Tensor> tensor = getTensor(op, i);
    if (failed(tensor))
      return failure();
    inputs.push_back(*tensor);
  }
  std::optional<SmallVector<Tensor>> results;
  if (options.custom)
    results = options.custom(name, inputs, op->getAttrDictionary());
  if (!results)
    return op->emitError() << "no kernel '" << name << "' is registered";
  if (results->size() != op->getNumResults())
    return op->emitError() << "expected " << op->getNumResults()
                           << " results of kernel '" << name << "', found "
                           << results->size();
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), *results)) {
    FailureOr<SmallVector<int64_t>> shape = getShape(op, value);
    if (failed(shape))
      return failure();
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    if (tensor.getShape() != ArrayRef<int64_t>(*shape) ||
        hlir::getDType(element) != tensor.getDType())
      return op->emitError() << "expected a result of type " << value.getType()
                             << " of kernel '" << name << "'";
    define(value, tensor);
  }
  return success();
}
