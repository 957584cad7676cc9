//===- Sorting.cpp - Sorted runs, and what they merge to ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "Evaluator.h"
#include "luminal/Support/Scalar.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

/// The integer key whose order is the order of the elements (see
/// llir.sort_runs).
static int64_t getKey(DType t, const char *element, bool descending,
                      bool nanFirst) {
  const bool isWide = dtypeSize(t) == sizeof(int64_t);
  int64_t key;
  if (!isFloatDType(t)) {
    key = loadInt(t, element);
  } else {
    const double x = loadFloat(t, element);
    if (std::isnan(x))
      return isWide ? (nanFirst ? INT64_MIN : INT64_MAX)
                    : (nanFirst ? INT32_MIN : INT32_MAX);
    if (isWide) {
      key = std::bit_cast<int64_t>(x);
      key = key < 0 ? key ^ INT64_MAX : key;
    } else {
      key = std::bit_cast<int32_t>(static_cast<float>(x));
      key = key < 0 ? key ^ INT32_MAX : key;
    }
    key = x == 0 ? 0 : key;
  }
  return descending ? ~key : key;
}

namespace {
/// The position of an element and its key.
struct Element {
  int64_t position, key;
};
} // namespace

/// Stores elements [first, first + keep) of each piece of each row, one piece
/// after the other.
static LogicalResult storePieces(Operation *op,
                                 const std::vector<std::vector<Element>> &rows,
                                 const std::vector<std::vector<size_t>> &ends,
                                 int64_t first, int64_t keep,
                                 MutableArrayRef<Tensor> results) {
  const int64_t length = results[0].getShape().back();
  for (auto [r, row] : llvm::enumerate(rows)) {
    int64_t at = 0;
    size_t begin = 0;
    for (size_t end : ends[r]) {
      for (int64_t i = first;
           i < first + keep && begin + static_cast<size_t>(i) < end;
           ++i, ++at) {
        if (at >= length)
          return op->emitError() << "expected rows of more elements";
        const Element &e = row[begin + static_cast<size_t>(i)];
        const auto target =
            static_cast<size_t>(static_cast<int64_t>(r) * length + at);
        auto store = [&](Tensor &result, int64_t v) {
          const DType t = result.getDType();
          storeInt(t, v, result.mutableData() + target * dtypeSize(t));
        };
        store(results[0], e.position);
        if (results.size() == 2)
          store(results[1], e.key);
      }
      begin = end;
    }
    if (at != length)
      return op->emitError() << "expected rows of " << at << " elements";
  }
  return success();
}

template <typename OpTy>
static SmallVector<std::optional<int64_t>>
bindKept(OpTy op, const SymbolValues &symbols) {
  return {bindExpr(op.getFirst(), symbols).asConstant(),
          bindExpr(op.getKept(), symbols).asConstant()};
}

static bool comesBefore(const Element &a, const Element &b) {
  return a.key < b.key;
}

/// Sorts each piece of `piece` elements of a row (the last piece may be
/// shorter) and returns the ends of the pieces. The sort is stable, so for a
/// piece of sorted runs it gives the same result as merging them.
static std::vector<size_t> sortPieces(std::vector<Element> &row, size_t piece) {
  std::vector<size_t> ends;
  for (size_t begin = 0; begin < row.size(); begin += piece) {
    const size_t end = std::min(row.size(), begin + piece);
    std::stable_sort(row.begin() + static_cast<int64_t>(begin),
                     row.begin() + static_cast<int64_t>(end), comesBefore);
    ends.push_back(end);
  }
  return ends;
}

LogicalResult Evaluator::sortRuns(llir::SortRunsOp op) {
  FailureOr<Tensor> data = getTensor(op, 0);
  if (failed(data))
    return failure();
  SmallVector<Tensor> results;
  for (Value v : op->getResults()) {
    FailureOr<Tensor> result = allocate(op, v);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  auto kept = bindKept(op, symbols);
  if (data->getShape().empty() || !kept[0] || !kept[1])
    return op.emitError() << "expected rows";
  const DType t = data->getDType();
  const int64_t n = data->getShape().back();
  const int64_t count = n ? data->getNumElements() / n : 0;
  std::vector<std::vector<Element>> rows(static_cast<size_t>(count));
  std::vector<std::vector<size_t>> ends(rows.size());
  for (int64_t r = 0; r < count; ++r) {
    std::vector<Element> &row = rows[static_cast<size_t>(r)];
    for (int64_t i = 0; i < n; ++i)
      row.push_back({i, getKey(t,
                               data->data() + static_cast<size_t>(r * n + i) *
                                                  dtypeSize(t),
                               op.getDescending(), op.getNanFirst())});
    ends[static_cast<size_t>(r)] = sortPieces(row, op.getRun());
  }
  if (failed(storePieces(op, rows, ends, *kept[0], *kept[1], results)))
    return failure();
  for (auto [v, result] : llvm::zip_equal(op->getResults(), results))
    define(v, result);
  return success();
}

LogicalResult Evaluator::mergeRuns(llir::MergeRunsOp op) {
  FailureOr<Tensor> positions = getTensor(op, 0), keys = getTensor(op, 1);
  if (failed(positions) || failed(keys))
    return failure();
  SmallVector<Tensor> results;
  for (Value v : op->getResults()) {
    FailureOr<Tensor> result = allocate(op, v);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  auto kept = bindKept(op, symbols);
  std::optional<int64_t> run =
      bindExpr(op.getRunExtent(), symbols).asConstant();
  if (keys->getShape().empty() || positions->getShape() != keys->getShape() ||
      !kept[0] || !kept[1] || !run || *run < 1)
    return op.emitError() << "expected runs of rows";
  const DType t = keys->getDType();
  const int64_t n = keys->getShape().back();
  const int64_t count = n ? keys->getNumElements() / n : 0;
  const size_t group = static_cast<size_t>(*run) * op.getWays();
  std::vector<std::vector<Element>> rows(static_cast<size_t>(count));
  std::vector<std::vector<size_t>> ends(rows.size());
  for (int64_t r = 0; r < count; ++r) {
    std::vector<Element> &row = rows[static_cast<size_t>(r)];
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(r * n + i);
      const int64_t position =
          loadInt(DType::I32, positions->data() + at * sizeof(int32_t));
      row.push_back({static_cast<uint32_t>(position),
                     loadInt(t, keys->data() + at * dtypeSize(t))});
    }
    ends[static_cast<size_t>(r)] = sortPieces(row, group);
  }
  if (failed(storePieces(op, rows, ends, *kept[0], *kept[1], results)))
    return failure();
  for (auto [v, result] : llvm::zip_equal(op->getResults(), results))
    define(v, result);
  return success();
}
