//===- LLIROps.cpp - The ops of LLIR by definition ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "Evaluator.h"
#include "luminal/Dialect/LLIR/IR/UserKernels.h"
#include "luminal/Support/Scalar.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

static DType dtypeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? hlir::getDType(type.getElementType()).value_or(DType::F32)
              : DType::F32;
}

static ChunkFn getFunction(llir::ElementwiseOp op) {
  SmallVector<DType> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(dtypeOf(input));
  return getScalarFunction(op.getFn(), inputs, dtypeOf(op.getResult()));
}

static double mean(const double *row, int64_t n, const Sums &sums) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum = sums.add(sum, row[i]);
  return sum / static_cast<double>(n);
}

static void softmax(const double *row, int64_t n, const Sums &sums,
                    double *result) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < n; ++i)
    if (row[i] > most || std::isnan(row[i]))
      most = row[i];
  for (int64_t i = 0; i < n; ++i) {
    result[i] = std::exp(sums.step(row[i] - most));
    sum = sums.add(sum, result[i]);
  }
  for (int64_t i = 0; i < n; ++i)
    result[i] /= sum;
}

static void layerNorm(const double *row, int64_t n, double eps,
                      const Sums &sums, double *result) {
  double average = sums.step(mean(row, n, sums)), variance = 0;
  for (int64_t i = 0; i < n; ++i)
    variance = sums.add(variance, (row[i] - average) * (row[i] - average));
  variance /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    result[i] = (row[i] - average) / std::sqrt(variance + eps);
}

static void rmsNorm(const double *row, int64_t n, double eps, const Sums &sums,
                    double *result) {
  double square = 0;
  for (int64_t i = 0; i < n; ++i)
    square = sums.add(square, row[i] * row[i]);
  square /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    result[i] = row[i] / std::sqrt(square + eps);
}

LogicalResult Evaluator::runLLIR(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<llir::ElementwiseOp>([&](llir::ElementwiseOp e) -> LogicalResult {
        ChunkFn fn = getFunction(e);
        if (!fn)
          return op->emitError() << "cannot be evaluated on its operands";
        return elementwise(op, std::move(fn));
      })
      .Case<llir::ViewOp>([&](llir::ViewOp v) { return view(op, v.getMap()); })
      .Case<llir::ConstantOp>(
          [&](llir::ConstantOp c) { return constant(op, c.getValue()); })
      .Case<llir::IotaOp>([&](llir::IotaOp i) { return iota(op, i.getMap()); })
      .Case<llir::ReduceOp>([&](llir::ReduceOp r) {
        return r.getKind() == llir::ReduceKind::Sum ? reduceSum(op)
                                                    : reduceMax(op);
      })
      .Case<llir::SoftmaxOp>([&](auto) { return rows(op, softmax); })
      .Case<llir::LayerNormOp>([&](llir::LayerNormOp norm) {
        double eps = norm.getEps().convertToDouble();
        return rows(
            op, [&](const double *row, int64_t n, const Sums &sums,
                    double *result) { layerNorm(row, n, eps, sums, result); });
      })
      .Case<llir::RMSNormOp>([&](llir::RMSNormOp norm) {
        double eps = norm.getEps().convertToDouble();
        return rows(
            op, [&](const double *row, int64_t n, const Sums &sums,
                    double *result) { rmsNorm(row, n, eps, sums, result); });
      })
      .Case<llir::GemmOp>([&](llir::GemmOp g) { return gemm(g); })
      .Case<llir::CublasLtMatmulOp>(
          [&](llir::CublasLtMatmulOp m) { return matmul(m); })
      .Case<llir::ArgsortOp>([&](llir::ArgsortOp a) { return argsort(a); })
      .Case<llir::ScanOp, llir::ScanRowsOp>([&](auto s) { return scan(s); })
      .Case<llir::ScanPartsOp>(
          [&](llir::ScanPartsOp s) { return scanParts(s); })
      .Case<llir::SortRunsOp>([&](llir::SortRunsOp s) { return sortRuns(s); })
      .Case<llir::RecurrenceOp>(
          [&](llir::RecurrenceOp r) { return recurrence(r); })
      .Case<llir::MergeRunsOp>(
          [&](llir::MergeRunsOp m) { return mergeRuns(m); })
      .Case<llir::CallOp>(
          [&](llir::CallOp c) { return custom(c, c.getName()); })
      .Case<llir::GatherOp>([&](auto) { return gather(op); })
      .Case<llir::SegmentReduceOp>(
          [&](llir::SegmentReduceOp s) { return segments(s); })
      .Case<llir::ScatterOp>(
          [&](llir::ScatterOp s) { return scatter(op, s.getCombine()); })
      .Case<llir::KernelOp, llir::SequenceOp>(
          [&](auto k) { return kernel(k, k.getBody()); })
      .Case<llir::AliasOp>([&](llir::AliasOp a) { return alias(a); })
      .Case<llir::ConcatOp>([&](llir::ConcatOp c) { return concat(c); })
      .Case<llir::PrepareOp>([&](llir::PrepareOp p) {
        // Copy first: inserting the new entry may move the operand's entry.
        NodePtr node = get(p.getOperand());
        nodes[p.getResult()] = std::move(node);
        return success();
      })
      .Default([](Operation *other) {
        return other->emitError()
               << "expected an op over tensors, found " << other->getName();
      });
}

LogicalResult Evaluator::rows(
    Operation *op,
    function_ref<void(const double *, int64_t, const Sums &, double *)> fn) {
  FailureOr<Tensor> operand = getTensor(op, 0);
  FailureOr<Tensor> result = allocate(op, op->getResult(0));
  if (failed(operand) || failed(result) || failed(checkSameShapes(op)))
    return failure();
  DType t = operand->getDType();
  if (!isFloatDType(t) || t != result->getDType() ||
      operand->getShape().empty())
    return op->emitError() << "expected rows of floats";
  int64_t n = operand->getShape().back();
  size_t size = dtypeSize(t);
  std::vector<double> in(static_cast<size_t>(n)), out(static_cast<size_t>(n));
  for (int64_t begin = 0; begin < operand->getNumElements(); begin += n) {
    size_t at = static_cast<size_t>(begin) * size;
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = loadFloat(t, operand->data() + at + i * size);
    fn(in.data(), n, Sums(t), out.data());
    for (size_t i = 0; i < out.size(); ++i)
      store(t, out[i], result->mutableData() + at + i * size);
  }
  define(op->getResult(0), *result);
  return success();
}

/// Folds segments of rows from the left; floats are folded in double.
LogicalResult Evaluator::segments(llir::SegmentReduceOp op) {
  FailureOr<Tensor> data = getTensor(op, 0), begins = getTensor(op, 1);
  FailureOr<Tensor> result = allocate(op, op.getResult());
  if (failed(data) || failed(begins) || failed(result))
    return failure();
  DType t = data->getDType();
  size_t size = dtypeSize(t);
  int64_t rows = data->getShape().front(), count = begins->getNumElements();
  bool isMax = op.getKind() == llir::ReduceKind::Max, isFloat = isFloatDType(t);
  const Sums sums(t);
  int64_t width = count ? result->getNumElements() / count : 0;
  auto getBegin = [&](int64_t i) {
    return i < count
               ? loadInt(begins->getDType(),
                         begins->data() + static_cast<size_t>(i) *
                                              dtypeSize(begins->getDType()))
               : rows;
  };
  int64_t least = t == DType::I64 ? INT64_MIN : t == DType::I32 ? INT32_MIN : 0;
  for (int64_t b = 0; b < count; ++b) {
    int64_t begin = getBegin(b), end = getBegin(b + 1);
    if (begin < 0 || begin > end || end > rows || (b == 0 && begin != 0))
      return op.emitError()
             << "segment " << b << " is [" << begin << ", " << end << ") of "
             << rows << " rows, expected sorted begins from 0";
    for (int64_t at = 0; at < width; ++at) {
      double folded = isMax ? -std::numeric_limits<double>::infinity() : 0;
      int64_t foldedInt = isMax ? least : 0;
      for (int64_t i = begin; i < end; ++i) {
        const char *from =
            data->data() + static_cast<size_t>(i * width + at) * size;
        if (isFloat) {
          double x = loadFloat(t, from);
          bool isMore = x > folded || std::isnan(x);
          folded = !isMax ? sums.add(folded, x) : isMore ? x : folded;
        } else {
          int64_t x = loadInt(t, from);
          foldedInt =
              isMax ? std::max(foldedInt, x)
                    : static_cast<int64_t>(static_cast<uint64_t>(foldedInt) +
                                           static_cast<uint64_t>(x));
        }
      }
      char *to =
          result->mutableData() + static_cast<size_t>(b * width + at) * size;
      if (isFloat)
        store(t, folded, to);
      else
        storeInt(t, foldedInt, to);
    }
  }
  define(op.getResult(), *result);
  return success();
}

LogicalResult Evaluator::argsort(llir::ArgsortOp op) {
  FailureOr<Tensor> keys = getTensor(op, 0);
  FailureOr<Tensor> result = allocate(op, op.getResult());
  if (failed(keys) || failed(result))
    return failure();
  DType t = keys->getDType();
  if (result->getDType() != DType::I64 || keys->getShape().empty() ||
      result->getShape().size() != keys->getShape().size())
    return op.emitError() << "expected rows and positions";
  const int64_t n = keys->getShape().back(), count = result->getShape().back();
  const int64_t first =
      bindExpr(op.getFirst(), symbols).asConstant().value_or(-1);
  if (first < 0 || count > n || first > n - count)
    return op.emitError() << "expected at most " << n << " positions, found "
                          << count << " from " << first << " on";
  const size_t size = dtypeSize(t);
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t row = 0; count && row < result->getNumElements() / count;
       ++row) {
    auto at = [&](int64_t i) {
      return keys->data() + static_cast<size_t>(row * n + i) * size;
    };
    // Whether a comes before b; stable_sort keeps the order of equal elements.
    auto before = [&](int64_t a, int64_t b) {
      if (!isFloatDType(t)) {
        int64_t x = loadInt(t, at(a)), y = loadInt(t, at(b));
        return op.getDescending() ? y < x : x < y;
      }
      double x = loadFloat(t, at(a)), y = loadFloat(t, at(b));
      if (std::isnan(x) || std::isnan(y))
        return op.getNanFirst() ? std::isnan(x) && !std::isnan(y)
                                : !std::isnan(x) && std::isnan(y);
      return op.getDescending() ? y < x : x < y;
    };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    for (int64_t i = 0; i < count; ++i)
      storeInt(DType::I64, order[static_cast<size_t>(first + i)],
               result->mutableData() +
                   static_cast<size_t>(row * count + i) * sizeof(int64_t));
  }
  define(op.getResult(), *result);
  return success();
}

namespace {
/// The running value of a scan, a float or an integer, and the position it came
/// from.
struct Carried {
  double number;
  int64_t integer, place;
};
} // namespace

static Carried startOf(llir::ScanKind kind, DType type) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const bool isNarrow = type == DType::I32;
  switch (kind) {
  case llir::ScanKind::Sum:
    return {0, 0, 0};
  case llir::ScanKind::Product:
    return {1, 1, 0};
  case llir::ScanKind::Min:
    return {kInf, isNarrow ? INT32_MAX : INT64_MAX, 0};
  case llir::ScanKind::Max:
  case llir::ScanKind::LogSumExp:
    break;
  }
  return {-kInf, isNarrow ? INT32_MIN : INT64_MIN, 0};
}

static double logAddExp(double a, double b) {
  const double most = std::max(a, b), difference = std::abs(a - b);
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  // The difference of two infinities of one sign is NaN.
  return std::isnan(difference) ? most
                                : most + std::log1p(std::exp(-difference));
}

static void take(llir::ScanKind kind, bool isFloat, bool isHalf,
                 const Sums &sums, const Carried &next, Carried &all) {
  const auto x = static_cast<uint64_t>(all.integer),
             y = static_cast<uint64_t>(next.integer);
  const bool isMax = kind == llir::ScanKind::Max;
  const double a = all.number, b = next.number;
  bool replaces;
  switch (kind) {
  case llir::ScanKind::Sum:
    all = {sums.add(a, b), static_cast<int64_t>(x + y), 0};
    return;
  case llir::ScanKind::Product:
    all = {isHalf ? static_cast<double>(static_cast<float>(a * b)) : a * b,
           static_cast<int64_t>(x * y), 0};
    return;
  case llir::ScanKind::LogSumExp:
    all.number = logAddExp(a, b);
    return;
  case llir::ScanKind::Max:
  case llir::ScanKind::Min:
    if (isFloat)
      replaces = std::isnan(b) || (isMax ? a <= b : b <= a);
    else
      replaces =
          isMax ? all.integer <= next.integer : next.integer <= all.integer;
    if (replaces)
      all = next;
  }
}

/// Computes the whole scan from its operand. For llir.scan_rows the results of
/// earlier parts (`states`) are therefore not needed.
template <typename OpTy>
LogicalResult Evaluator::scan(OpTy op) {
  FailureOr<Tensor> data = getTensor(op, 0);
  if (failed(data))
    return failure();
  ArrayRef<int64_t> shape = data->getShape();
  SmallVector<Tensor> results;
  for (Value v : op->getResults()) {
    FailureOr<Tensor> result = allocate(op, v);
    if (failed(result))
      return failure();
    if (op.getAxis() >= shape.size() || result->getShape() != shape)
      return op.emitError() << "expected a result of the operand's shape";
    results.push_back(*result);
  }
  const DType from = data->getDType(), to = results[0].getDType();
  const bool isFloat = isFloatDType(from),
             isHalf = (from == DType::F16 || from == DType::BF16) &&
                      to != DType::F64;
  const Sums sums(from == DType::F64 || to == DType::F64 ? DType::F64
                                                         : DType::F32);
  int64_t inner = 1;
  for (int64_t extent : shape.drop_front(op.getAxis() + 1))
    inner *= extent;
  const int64_t n = shape[op.getAxis()], all = data->getNumElements();
  auto store = [&](const Carried &value, int64_t at) {
    for (auto [i, result] : llvm::enumerate(results)) {
      const DType t = result.getDType();
      char *target =
          result.mutableData() + static_cast<size_t>(at) * dtypeSize(t);
      if (op.getPositions() && i == 0)
        storeInt(t, value.place, target);
      else if (isFloat)
        storeFloat(t, value.number, target);
      else
        storeInt(t, value.integer, target);
    }
  };
  for (int64_t row = 0; n && row < all / n; ++row) {
    const int64_t base = row / inner * n * inner + row % inner;
    Carried carried = startOf(op.getKind(), from);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = op.getReverse() ? n - 1 - i : i,
                    at = base + place * inner;
      const char *element =
          data->data() + static_cast<size_t>(at) * dtypeSize(from);
      if (op.getExclusive())
        store(carried, at);
      take(op.getKind(), isFloat, isHalf, sums,
           {isFloat ? loadFloat(from, element) : 0,
            isFloat ? 0 : loadInt(from, element), place},
           carried);
      if (!op.getExclusive())
        store(carried, at);
    }
  }
  for (auto [v, result] : llvm::zip_equal(op->getResults(), results))
    define(v, result);
  return success();
}

LogicalResult Evaluator::scanParts(llir::ScanPartsOp op) {
  FailureOr<Tensor> data = getTensor(op, 0);
  if (failed(data))
    return failure();
  SmallVector<Tensor> states;
  for (Value result : op.getStates()) {
    FailureOr<Tensor> state = allocate(op, result);
    if (failed(state))
      return failure();
    states.push_back(*state);
  }
  ArrayRef<int64_t> shape = data->getShape();
  std::optional<int64_t> part =
      bindExpr(op.getPartExtent(), symbols).asConstant();
  if (op.getAxis() >= shape.size() || !part || *part < 1)
    return op.emitError() << "expected parts of a dim of the operand";
  const DType from = data->getDType(), to = states[0].getDType();
  const bool isFloat = isFloatDType(from);
  const Sums sums(to);
  int64_t inner = 1;
  for (int64_t extent : shape.drop_front(op.getAxis() + 1))
    inner *= extent;
  const int64_t n = shape[op.getAxis()], parts = (n + *part - 1) / *part;
  auto getElement = [&](int64_t row, int64_t i) {
    const int64_t place = op.getReverse() ? n - 1 - i : i,
                  at = row / inner * n * inner + row % inner + place * inner;
    const char *element =
        data->data() + static_cast<size_t>(at) * dtypeSize(from);
    return Carried{isFloat ? loadFloat(from, element) : 0,
                   isFloat ? 0 : loadInt(from, element), place};
  };
  auto getTarget = [&](Tensor &state, int64_t at) {
    return state.mutableData() +
           static_cast<size_t>(at) * dtypeSize(state.getDType());
  };
  const bool isLog = op.getKind() == llir::ScanKind::LogSumExp;
  for (int64_t row = 0; n && row < data->getNumElements() / n; ++row)
    for (int64_t p = 0; p < parts; ++p) {
      const int64_t first = p * *part, last = std::min(n, first + *part),
                    at = row / inner * parts * inner + row % inner + p * inner;
      const llir::ScanKind kind = isLog ? llir::ScanKind::Max : op.getKind();
      Carried carried = startOf(kind, from);
      for (int64_t i = first; i < last; ++i)
        take(kind, isFloat, false, sums, getElement(row, i), carried);
      if (isFloat)
        storeFloat(to, carried.number, getTarget(states[0], at));
      else
        storeInt(to, carried.integer, getTarget(states[0], at));
      if (op.getPositions())
        storeInt(DType::I64, carried.place, getTarget(states[1], at));
      if (!isLog)
        continue;
      double sum = 0;
      for (int64_t i = first; i < last; ++i) {
        const double x = getElement(row, i).number;
        sum += x == carried.number ? 1 : std::exp(x - carried.number);
      }
      storeFloat(to, sum, getTarget(states[1], at));
    }
  for (auto [result, state] : llvm::zip_equal(op.getStates(), states))
    define(result, state);
  return success();
}

LogicalResult Evaluator::gemm(llir::GemmOp op) {
  FailureOr<Tensor> lhs = getTensor(op, 0), rhs = getTensor(op, 1);
  FailureOr<Tensor> result = allocate(op, op.getResult());
  if (failed(lhs) || failed(rhs) || failed(result))
    return failure();
  DType t = lhs->getDType();
  if (rhs->getDType() != t || result->getDType() != t ||
      op.getK().getResults().size() != 1)
    return op.emitError() << "expected operands and result of one element type";
  std::optional<int64_t> k = bindExpr(op.getKExtent(), symbols).asConstant();
  if (!k || *k < 0)
    return op.emitError() << "the extent of the contracted dim has no value";
  // The index space: the result's dims, then the contracted dim.
  SmallVector<int64_t> space(result->getShape());
  space.push_back(*k);
  std::string error;
  std::optional<IndexMap> lhsMap = IndexMap::get(
      op.getLhsMap().getResults(), symbols, space, lhs->getShape(), error);
  std::optional<IndexMap> rhsMap =
      lhsMap ? IndexMap::get(op.getRhsMap().getResults(), symbols, space,
                             rhs->getShape(), error)
             : std::nullopt;
  if (failed(checkRequired(op)))
    return failure();
  if (!rhsMap)
    return op.emitError() << error;
  size_t size = dtypeSize(t);
  std::vector<int64_t> left(kChunk), right(kChunk);
  const Sums sums(t);
  for (int64_t i = 0; i < result->getNumElements(); ++i) {
    double sum = 0;
    uint64_t wrapped = 0;
    for (int64_t done = 0; done < *k; done += kChunk) {
      int64_t n = std::min(kChunk, *k - done);
      if (!lhsMap->fill(i * *k + done, n, left.data(), error) ||
          !rhsMap->fill(i * *k + done, n, right.data(), error))
        return op.emitError() << error;
      for (size_t j = 0; j < static_cast<size_t>(n); ++j) {
        const char *a = lhs->data() + static_cast<size_t>(left[j]) * size;
        const char *b = rhs->data() + static_cast<size_t>(right[j]) * size;
        if (isFloatDType(t))
          sum = sums.add(sum, loadFloat(t, a) * loadFloat(t, b));
        else
          wrapped += static_cast<uint64_t>(loadInt(t, a)) *
                     static_cast<uint64_t>(loadInt(t, b));
      }
    }
    char *out = result->mutableData() + static_cast<size_t>(i) * size;
    if (isFloatDType(t))
      store(t, sum, out);
    else
      storeInt(t, static_cast<int64_t>(wrapped), out);
  }
  define(op.getResult(), *result);
  return success();
}

/// Computes the elements one by one in f64, rounded once at the end.
LogicalResult Evaluator::matmul(llir::CublasLtMatmulOp op) {
  FailureOr<Tensor> result = allocate(op, op.getResult());
  if (failed(result) || failed(checkRequired(op)))
    return failure();
  SmallVector<int64_t, 4> sizes;
  for (const Expr &e : op.getSizes().getResults())
    sizes.push_back(bindExpr(e, symbols).asConstant().value_or(-1));
  if (sizes.size() != 4 || llvm::any_of(sizes, [](int64_t n) { return n < 0; }))
    return op.emitOpError() << "has sizes without a value";
  auto [batch, rows, columns, inner] =
      std::array{sizes[0], sizes[1], sizes[2], sizes[3]};
  // The operands in order, each with the map from (batch, row, column) to its
  // positions.
  struct Matrix {
    std::optional<Tensor> tensor;
    std::optional<IndexMap> map;
  };
  std::string error;
  unsigned next = 0;
  auto take = [&](hlir::MapAttr map, int64_t m, int64_t n) -> Matrix {
    FailureOr<Tensor> tensor = getTensor(op, next++);
    if (failed(tensor))
      return {};
    return {*tensor, IndexMap::get(map.getResults(), symbols, {batch, m, n},
                                   {tensor->getNumElements()}, error)};
  };
  Matrix lhs = take(op.getLhsMap(), rows, inner),
         rhs = take(op.getRhsMap(), inner, columns), addend, bias;
  if (op.getAddend())
    addend = take(*op.getAddendMap(), rows, columns);
  if (op.getBias())
    bias = take(hlir::MapAttr::get(op.getContext(), 3, Expr::dim(2)), rows,
                columns);
  std::optional<IndexMap> to =
      IndexMap::get(op.getResultMap().getResults(), symbols,
                    {batch, rows, columns}, {result->getNumElements()}, error);
  if (!lhs.map || !rhs.map || (op.getAddend() && !addend.map) ||
      (op.getBias() && !bias.map) || !to)
    return error.empty() ? failure() : op.emitOpError() << error;
  auto load = [&](Matrix &matrix, int64_t at) {
    int64_t position = 0;
    if (!matrix.map->fill(at, 1, &position, error))
      return 0.0;
    DType t = matrix.tensor->getDType();
    return loadFloat(t, matrix.tensor->data() +
                            static_cast<size_t>(position) * dtypeSize(t));
  };
  double alpha = op.getAlpha().convertToDouble();
  DType type = result->getDType();
  const Sums sums(type);
  ChunkFn epilogue;
  if (op.getEpilogue() == llir::Epilogue::GeluTanh)
    epilogue = getScalarFunction(llir::Fn::GeluTanh, {DType::F64}, DType::F64);
  for (int64_t i = 0; i < batch * rows * columns; ++i) {
    int64_t column = i % columns, row = i / columns, b = row / rows;
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum = sums.add(sum, load(lhs, row * inner + k) *
                              load(rhs, (b * inner + k) * columns + column));
    sum *= alpha;
    if (addend.tensor)
      sum += load(addend, i);
    if (bias.tensor)
      sum += load(bias, i);
    if (op.getEpilogue() == llir::Epilogue::Relu)
      sum = sum > 0 || std::isnan(sum) ? sum : 0;
    if (epilogue) {
      double in = sum;
      epilogue({reinterpret_cast<const char *>(&in)}, 1,
               reinterpret_cast<char *>(&sum));
    }
    int64_t position = 0;
    if (!to->fill(i, 1, &position, error) || !error.empty())
      return op.emitOpError() << error;
    store(type, sum,
          result->mutableData() +
              static_cast<size_t>(position) * dtypeSize(type));
  }
  define(op.getResult(), *result);
  return success();
}

LogicalResult Evaluator::alias(llir::AliasOp op) {
  FailureOr<Tensor> operand = getTensor(op, 0);
  FailureOr<Tensor> result = allocate(op, op.getResult());
  if (failed(operand) || failed(result))
    return failure();
  std::optional<int64_t> offset =
      op.getOffset().getResults().size() == 1
          ? bindExpr(op.getOffset().getResults()[0], symbols).asConstant()
          : std::nullopt;
  if (!offset || *offset < 0 || operand->getDType() != result->getDType() ||
      *offset > operand->getNumElements() ||
      result->getNumElements() > operand->getNumElements() - *offset)
    return op.emitError() << "expected memory inside the operand's";
  std::memcpy(result->mutableData(),
              operand->data() +
                  static_cast<size_t>(*offset) * dtypeSize(operand->getDType()),
              result->getNumBytes());
  define(op.getResult(), *result);
  return success();
}

LogicalResult Evaluator::concat(llir::ConcatOp op) {
  FailureOr<Tensor> result = allocate(op, op.getResult());
  if (failed(result))
    return failure();
  size_t at = 0;
  for (unsigned i = 0; i < op.getParts().size(); ++i) {
    FailureOr<Tensor> part = getTensor(op, i);
    if (failed(part))
      return failure();
    if (part->getNumBytes() > result->getNumBytes() - at)
      return op.emitError() << "has fewer elements than its parts";
    std::memcpy(result->mutableData() + at, part->data(), part->getNumBytes());
    at += part->getNumBytes();
  }
  if (at != result->getNumBytes())
    return op.emitError() << "has more elements than its parts";
  define(op.getResult(), *result);
  return success();
}

LogicalResult Evaluator::kernel(Operation *op, Region &body) {
  SmallVector<NodePtr> arguments;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (failed(getTensor(op, i)))
      return failure();
    arguments.push_back(get(op->getOperand(i)));
  }
  if (!body.hasOneBlock() || body.getNumArguments() != arguments.size())
    return op->emitError() << "expected a block argument for each operand";
  FailureOr<SmallVector<NodePtr>> results = run(body.front(), arguments);
  if (failed(results))
    return failure();
  if (results->size() != op->getNumResults())
    return op->emitError() << "expected a yielded value for each result";
  for (auto [value, node] : llvm::zip_equal(op->getResults(), *results))
    nodes[value] = node;
  return success();
}
