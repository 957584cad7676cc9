//===- HLIROps.cpp - The ops of HLIR by definition ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluator.h"
#include "luminal/Support/Scalar.h"
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
      .Case<hlir::CustomOp>([&](hlir::CustomOp c) { return custom(c); })
      .Default([](Operation *other) {
        return other->emitError() << "cannot be evaluated on its operands";
      });
}

//===----------------------------------------------------------------------===//
// Constants and indices
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::constant(Operation *op, Attribute value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  std::optional<Tensor> tensor = dense ? fromAttribute(dense) : std::nullopt;
  if (!tensor)
    return op->emitError() << "expected a dense constant";
  define(op->getResult(0), *tensor);
  return success();
}

LogicalResult Evaluator::iota(Operation *op, hlir::MapAttr map) {
  FailureOr<Tensor> result = allocate(op, op->getResult(0));
  if (failed(result))
    return failure();
  ArrayRef<int64_t> shape = result->getShape();
  if (map.getNumDims() != shape.size() || map.getResults().size() != 1)
    return op->emitError() << "expected a map from the result's index to one "
                              "integer";
  IndexProgram program(bindExpr(map.getResults()[0], symbols));
  SmallVector<int64_t> dims(shape.size(), 0), stack;
  size_t size = dtypeSize(result->getDType());
  for (int64_t i = 0; i < result->getNumElements(); ++i) {
    std::optional<int64_t> value = program.evaluate(dims, stack);
    if (!value)
      return op->emitError()
             << "an element has no value: an overflow or a division by zero";
    storeInt(result->getDType(), *value,
             result->mutableData() + static_cast<size_t>(i) * size);
    for (size_t k = shape.size(); k-- > 0;) {
      if (++dims[k] < shape[k])
        break;
      dims[k] = 0;
    }
  }
  define(op->getResult(0), *result);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// Reads a node in order, an element at a time, with the row it is in.
class RowReader {
public:
  RowReader(Node &node, int64_t length) : node(node), length(length) {}
  /// fn(row, element) for each element.
  template <typename Fn>
  LogicalResult forEach(Fn fn) {
    std::vector<char> chunk(kChunk * 8);
    size_t size = dtypeSize(node.dtype);
    int64_t row = 0, inRow = 0;
    for (int64_t begin = 0; begin < node.count; begin += kChunk) {
      int64_t n = std::min(kChunk, node.count - begin);
      if (failed(node.fill(begin, n, chunk.data())))
        return failure();
      for (int64_t i = 0; i < n; ++i) {
        fn(row, chunk.data() + static_cast<size_t>(i) * size);
        if (++inRow == length) {
          inRow = 0;
          ++row;
        }
      }
    }
    return success();
  }

private:
  Node &node;
  int64_t length;
};
} // namespace

/// Sums rows of floats in double; the readers of f32 and f64 are inlined.
template <typename Load>
static LogicalResult sumRows(Node &node, int64_t length,
                             std::vector<double> &sums, Load load) {
  return RowReader(node, length).forEach([&](int64_t row, const char *element) {
    sums[static_cast<size_t>(row)] += load(element);
  });
}

LogicalResult Evaluator::reduceSum(Operation *op) {
  Node &node = *get(op->getOperand(0));
  FailureOr<Tensor> result = allocate(op, op->getResult(0));
  if (failed(result))
    return failure();
  if (node.shape.empty() ||
      result->getShape() != ArrayRef<int64_t>(node.shape).drop_back())
    return op->emitError() << "the result does not have the rows of the "
                              "operand";
  int64_t length = node.shape.back();
  DType t = node.dtype;
  auto rows = static_cast<size_t>(result->getNumElements());
  size_t size = dtypeSize(t);
  if (isFloatDType(t)) {
    std::vector<double> sums(rows, 0.0);
    LogicalResult done = t == DType::F32
                             ? sumRows(node, length, sums,
                                       [](const char *p) {
                                         float value;
                                         std::memcpy(&value, p, sizeof(value));
                                         return static_cast<double>(value);
                                       })
                             : sumRows(node, length, sums, [t](const char *p) {
                                 return loadFloat(t, p);
                               });
    if (failed(done))
      return failure();
    for (size_t row = 0; row < rows; ++row)
      storeFloat(t, sums[row], result->mutableData() + row * size);
  } else {
    std::vector<uint64_t> sums(rows, 0);
    if (failed(RowReader(node, length)
                   .forEach([&](int64_t row, const char *element) {
                     sums[static_cast<size_t>(row)] +=
                         static_cast<uint64_t>(loadInt(t, element));
                   })))
      return failure();
    for (size_t row = 0; row < rows; ++row)
      storeInt(t, static_cast<int64_t>(sums[row]),
               result->mutableData() + row * size);
  }
  define(op->getResult(0), *result);
  return success();
}

LogicalResult Evaluator::reduceMax(Operation *op) {
  Node &node = *get(op->getOperand(0));
  FailureOr<Tensor> result = allocate(op, op->getResult(0));
  if (failed(result))
    return failure();
  if (node.shape.empty() ||
      result->getShape() != ArrayRef<int64_t>(node.shape).drop_back())
    return op->emitError() << "the result does not have the rows of the "
                              "operand";
  int64_t length = node.shape.back();
  DType t = node.dtype;
  auto rows = static_cast<size_t>(result->getNumElements());
  size_t size = dtypeSize(t);
  if (isFloatDType(t)) {
    std::vector<double> best(rows, -std::numeric_limits<double>::infinity());
    if (failed(RowReader(node, length)
                   .forEach([&](int64_t row, const char *element) {
                     double value = loadFloat(t, element);
                     double &most = best[static_cast<size_t>(row)];
                     // NaN wins, and stays.
                     if (value > most || std::isnan(value))
                       most = value;
                   })))
      return failure();
    for (size_t row = 0; row < rows; ++row)
      storeFloat(t, best[row], result->mutableData() + row * size);
  } else {
    int64_t least = t == DType::I64   ? INT64_MIN
                    : t == DType::I32 ? INT32_MIN
                                      : 0;
    std::vector<int64_t> best(rows, least);
    if (failed(RowReader(node, length)
                   .forEach([&](int64_t row, const char *element) {
                     int64_t &most = best[static_cast<size_t>(row)];
                     most = std::max(most, loadInt(t, element));
                   })))
      return failure();
    for (size_t row = 0; row < rows; ++row)
      storeInt(t, best[row], result->mutableData() + row * size);
  }
  define(op->getResult(0), *result);
  return success();
}

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

/// Index i of `indices`, if it is inside [0, extent).
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
    storeFloat(t, add ? a + b : most, target);
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

LogicalResult Evaluator::repeat(hlir::RepeatOp op) {
  SmallVector<NodePtr> carried;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (failed(getTensor(op, i)))
      return failure();
  for (Value value : op.getCarried())
    carried.push_back(get(value));
  auto trips = static_cast<size_t>(op.getTrips());
  for (size_t trip = 0; trip < trips; ++trip) {
    SmallVector<NodePtr> arguments = carried;
    for (size_t at = trip; at < op.getEach().size(); at += trips)
      arguments.push_back(get(op.getEach()[at]));
    FailureOr<SmallVector<NodePtr>> next = run(op.getBody().front(), arguments);
    if (failed(next))
      return failure();
    carried = std::move(*next);
  }
  for (auto [result, node] : llvm::zip_equal(op.getResults(), carried))
    nodes[result] = node;
  return success();
}

LogicalResult Evaluator::custom(hlir::CustomOp op) {
  SmallVector<Tensor> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    FailureOr<Tensor> tensor = getTensor(op, i);
    if (failed(tensor))
      return failure();
    inputs.push_back(*tensor);
  }
  std::optional<SmallVector<Tensor>> results;
  if (options.custom)
    results = options.custom(op.getName(), inputs, op->getAttrDictionary());
  if (!results)
    return op->emitError() << "no kernel '" << op.getName()
                           << "' is registered";
  if (results->size() != op->getNumResults())
    return op->emitError() << "expected " << op->getNumResults()
                           << " results of kernel '" << op.getName()
                           << "', found " << results->size();
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), *results)) {
    FailureOr<SmallVector<int64_t>> shape = getShape(op, value);
    if (failed(shape))
      return failure();
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    if (tensor.getShape() != ArrayRef<int64_t>(*shape) ||
        hlir::getDType(element) != tensor.getDType())
      return op->emitError() << "expected a result of type " << value.getType()
                             << " of kernel '" << op.getName() << "'";
    define(value, tensor);
  }
  return success();
}
