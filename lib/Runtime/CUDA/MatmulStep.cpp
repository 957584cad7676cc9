//===- MatmulStep.cpp - A matrix product by cuBLASLt ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuBLASLt's matrices are column-major. A row-major matrix is the transpose of
// a column-major one, so the library computes the transposed product: its A is
// our rhs, its B is our lhs, and its rows are our columns.
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "LibraryStep.h"
#include <algorithm>
#include <bit>
#include <limits>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

/// Number of algorithms requested from the heuristic; the fastest is used.
static constexpr int kMostProposed = 8;
/// Each algorithm is timed for kTimedRuns runs after a warm-up run, in kRounds
/// rounds that interleave the algorithms, so that a rising clock or other load
/// affects all alike. Its minimum time counts.
static constexpr int kTimedRuns = 3, kRounds = 4;
/// Algorithms slower than this ratio to the fastest are not timed again.
static constexpr double kMostTimes = 1.5;
/// Maximum alignment in bytes that the library is told.
static constexpr uint64_t kMostAlignment = 256;

namespace {
/// A matrix in the library's terms; `transposed` if memory holds the transpose.
struct Shape {
  uint64_t rows = 1, columns = 1;
  int64_t leading = 1, batchStride = 0;
  bool transposed = false;
};

/// The descriptors of one product, destroyed with it.
class Descriptors {
public:
  explicit Descriptors(const CublasLt &lt) : lt(lt) {}
  Descriptors(const Descriptors &) = delete;
  ~Descriptors();

  const CublasLt &lt;
  lt::Matmul matmul = nullptr;
  /// Of A, B, C and D.
  lt::Layout layouts[4] = {};
  lt::Preference preference = nullptr;
};

class MatmulStep : public LibraryStep {
public:
  MatmulStep(CUDADevice &device, const CublasLt &lt, lt::Handle handle,
             const CublasLtLaunch &launch)
      : device(device), lt(lt), handle(handle), launch(launch) {}

  Status prepare(std::span<const int64_t> sizes,
                 std::span<void *const> newBuffers,
                 StreamHandle stream) override;
  Status start(StreamHandle stream) override;

private:
  Status describe(std::span<const int64_t> sizes);
  Status setLayout(unsigned which, const Shape &shape, DType type,
                   int64_t batch);
  Result<lt::Algorithm> choose(StreamHandle stream, uint64_t resultBytes);
  Result<double> time(const lt::Algorithm &algorithm, void *result,
                      StreamHandle stream, const EventHandle *events);
  Status multiply(const lt::Algorithm &algorithm, void *result,
                  StreamHandle stream);

  CUDADevice &device;
  const CublasLt &lt;
  lt::Handle handle;
  const CublasLtLaunch &launch;
  std::unique_ptr<Descriptors> descriptors;
  /// Addresses of A, B, C and D, the bias and the workspace, set by `prepare`.
  const void *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  void *d = nullptr, *workspace = nullptr;
  bool isEmpty = true;
  lt::Algorithm algorithm{};
};
} // namespace

Descriptors::~Descriptors() {
  if (preference)
    lt.preferenceDestroy(preference);
  for (lt::Layout layout : layouts)
    if (layout)
      lt.layoutDestroy(layout);
  if (matmul)
    lt.matmulDestroy(matmul);
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static int getType(DType type) {
  switch (type) {
  case DType::F16:
    return lt::kR16F;
  case DType::BF16:
    return lt::kR16BF;
  case DType::F64:
    return lt::kR64F;
  default:
    return lt::kR32F;
  }
}

/// The Shape of a matrix with row stride place[2] and column stride place[3],
/// one of which is 1. The transpose of a row-major matrix is column-major.
static Result<Shape> getShape(const int64_t *place, int64_t rows,
                              int64_t columns) {
  const int64_t row = place[2], column = place[3];
  Shape shape;
  shape.batchStride = place[1];
  // The stride of a dim of extent 1 is irrelevant.
  if (column == 1 || columns == 1) {
    shape.rows = static_cast<uint64_t>(columns);
    shape.columns = static_cast<uint64_t>(rows);
    shape.leading = rows == 1 ? columns : row;
    if (shape.leading >= columns)
      return shape;
  }
  if (row == 1 || rows == 1) {
    shape.rows = static_cast<uint64_t>(rows);
    shape.columns = static_cast<uint64_t>(columns);
    shape.leading = columns == 1 ? rows : column;
    shape.transposed = true;
    if (shape.leading >= rows)
      return shape;
  }
  return Error("a matrix has strides that cuBLASLt does not support");
}

Status MatmulStep::setLayout(unsigned which, const Shape &shape, DType type,
                             int64_t batch) {
  lt::Layout &layout = descriptors->layouts[which];
  int code = lt.layoutCreate(&layout, getType(type), shape.rows, shape.columns,
                             shape.leading);
  const auto count = static_cast<int32_t>(batch);
  if (code == lt::kSuccess && batch > 1)
    code = lt.layoutSet(layout, lt::kLayoutBatchCount, &count, sizeof count);
  if (code == lt::kSuccess && batch > 1)
    code = lt.layoutSet(layout, lt::kLayoutBatchStride, &shape.batchStride,
                        sizeof shape.batchStride);
  return lt.check(code, "a matrix cannot be described");
}

static uint32_t getEpilogue(const CublasLtLaunch &launch) {
  const uint32_t function = launch.epilogue == "relu"        ? lt::kEpilogueRelu
                            : launch.epilogue == "gelu_tanh" ? lt::kEpilogueGelu
                                                             : 0;
  return launch.bias ? function | lt::kEpilogueBias : function;
}

Status MatmulStep::describe(std::span<const int64_t> sizes) {
  const int64_t batch = sizes[1], rows = sizes[2], columns = sizes[3],
                inner = sizes[4];
  if (batch > std::numeric_limits<int32_t>::max())
    return Error("a batch of " + std::to_string(batch) + " is too large");
  LUMINAL_TRY(lhs, getShape(&sizes[5], rows, inner));
  LUMINAL_TRY(rhs, getShape(&sizes[9], inner, columns));
  LUMINAL_TRY(result, getShape(&sizes[17], rows, columns));
  Shape addend = result;
  if (launch.addend) {
    LUMINAL_TRY(found, getShape(&sizes[13], rows, columns));
    addend = found;
  }
  if (result.transposed || addend.transposed)
    return Error(
        "the result of a product has strides that cuBLASLt does not support");
  descriptors = std::make_unique<Descriptors>(lt);
  const bool isF64 = launch.type == DType::F64;
  int code = lt.matmulCreate(&descriptors->matmul,
                             isF64 ? lt::kCompute64F : lt::kCompute32F,
                             isF64 ? lt::kR64F : lt::kR32F);
  auto set = [&](int what, const auto &value) {
    if (code == lt::kSuccess)
      code = lt.matmulSet(descriptors->matmul, what, &value, sizeof value);
  };
  // In the column-major view, which is transposed.
  set(lt::kMatmulTransposeA,
      rhs.transposed ? int32_t(lt::kTranspose) : int32_t(lt::kNoTranspose));
  set(lt::kMatmulTransposeB,
      lhs.transposed ? int32_t(lt::kTranspose) : int32_t(lt::kNoTranspose));
  const uint32_t epilogue = getEpilogue(launch);
  if (epilogue != 0)
    set(lt::kMatmulEpilogue, epilogue);
  if (launch.bias)
    set(lt::kMatmulBiasPointer, bias);
  LUMINAL_CHECK(lt.check(code, "a product cannot be described"));
  LUMINAL_CHECK(setLayout(0, rhs, launch.type, batch));
  LUMINAL_CHECK(setLayout(1, lhs, launch.type, batch));
  LUMINAL_CHECK(setLayout(2, addend, launch.resultType, batch));
  return setLayout(3, result, launch.resultType, batch);
}

//===----------------------------------------------------------------------===//
// Choice of the algorithm
//===----------------------------------------------------------------------===//

Status MatmulStep::multiply(const lt::Algorithm &with, void *result,
                            StreamHandle stream) {
  const double scale64[] = {launch.alpha, launch.addend ? 1.0 : 0.0};
  const float scale32[] = {static_cast<float>(launch.alpha),
                           launch.addend ? 1.0f : 0.0f};
  const bool isF64 = launch.type == DType::F64;
  const void *alpha = isF64 ? static_cast<const void *>(&scale64[0])
                            : static_cast<const void *>(&scale32[0]);
  const void *beta = isF64 ? static_cast<const void *>(&scale64[1])
                           : static_cast<const void *>(&scale32[1]);
  const Descriptors &of = *descriptors;
  return lt.check(lt.multiply(handle, of.matmul, alpha, a, of.layouts[0], b,
                              of.layouts[1], beta, launch.addend ? c : result,
                              of.layouts[2], result, of.layouts[3], &with,
                              workspace, static_cast<size_t>(launch.workspace),
                              stream),
                  "a product cannot be started");
}

/// Milliseconds of one run.
Result<double> MatmulStep::time(const lt::Algorithm &with, void *result,
                                StreamHandle stream,
                                const EventHandle *events) {
  const Driver &driver = device.getDriver();
  for (int run = 0; run <= kTimedRuns; ++run) {
    if (run == 1)
      driver.eventRecord(events[0], stream);
    LUMINAL_CHECK(multiply(with, result, stream));
  }
  driver.eventRecord(events[1], stream);
  LUMINAL_CHECK(driver.check(driver.streamSynchronize(stream),
                             "a product cannot be timed"));
  float milliseconds = 0;
  LUMINAL_CHECK(
      driver.check(driver.eventElapsedTime(&milliseconds, events[0], events[1]),
                   "a product cannot be timed"));
  return static_cast<double>(milliseconds) / kTimedRuns;
}

static uint32_t getAlignment(const void *memory) {
  const uint64_t address = toDevice(memory) | kMostAlignment;
  return static_cast<uint32_t>(uint64_t(1) << std::countr_zero(address));
}

/// Returns the fastest of the proposed algorithms, or the first if they cannot
/// be timed.
Result<lt::Algorithm> MatmulStep::choose(StreamHandle stream,
                                         uint64_t resultBytes) {
  const Driver &driver = device.getDriver();
  int code = lt.preferenceCreate(&descriptors->preference);
  auto set = [&](int what, const auto &value) {
    if (code == lt::kSuccess)
      code =
          lt.preferenceSet(descriptors->preference, what, &value, sizeof value);
  };
  set(lt::kPreferenceWorkspace, static_cast<uint64_t>(launch.workspace));
  // Reductions in the compute type only: deterministic, and without partial
  // sums in the narrower result type.
  set(lt::kPreferenceReductions, uint32_t(lt::kReductionCompute));
  const void *matrices[] = {a, b, launch.addend ? c : d, d};
  for (int i = 0; i < 4; ++i)
    set(lt::kPreferenceAlignment + i, getAlignment(matrices[i]));
  lt::Heuristic proposed[kMostProposed];
  int count = 0;
  const Descriptors &of = *descriptors;
  if (code == lt::kSuccess)
    code = lt.propose(handle, of.matmul, of.layouts[0], of.layouts[1],
                      of.layouts[2], of.layouts[3], of.preference,
                      kMostProposed, proposed, &count);
  LUMINAL_CHECK(lt.check(code, "no algorithm is known for a product"));
  if (count < 1)
    return Error("no algorithm is known for a product");
  // Timing writes to a separate result: the memory of D may hold data that is
  // still needed.
  Memory result;
  EventHandle events[2] = {};
  bool canTime = count > 1 && result.reserve(device, resultBytes);
  for (EventHandle &event : events)
    canTime = canTime && driver.eventCreate(&event, 0) == kSuccess;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  double times[kMostProposed], least = kNever;
  std::fill(std::begin(times), std::end(times), kNever);
  for (int round = 0; round < kRounds && canTime; ++round)
    for (int i = 0; i < count; ++i) {
      if (proposed[i].state != lt::kSuccess ||
          (round > 0 && !(times[i] < kMostTimes * least)))
        continue;
      // A proposed algorithm may fail.
      if (Result<double> taken =
              time(proposed[i].algorithm, result.data(), stream, events))
        times[i] = std::min(times[i], *taken);
      least = std::min(least, times[i]);
    }
  const auto best = std::min_element(times, times + count) - times;
  for (EventHandle event : events)
    if (event)
      driver.eventDestroy(event);
  return proposed[best].algorithm;
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

Status MatmulStep::prepare(std::span<const int64_t> sizes,
                           std::span<void *const> buffers,
                           StreamHandle stream) {
  isEmpty = sizes[0] == 0;
  if (isEmpty)
    return {};
  size_t next = 0;
  auto take = [&](int64_t offset, DType type) {
    return static_cast<uint8_t *>(buffers[next++]) +
           static_cast<uint64_t>(offset) * dtypeSize(type);
  };
  b = take(sizes[5], launch.type);
  a = take(sizes[9], launch.type);
  if (launch.addend)
    c = take(sizes[13], launch.resultType);
  if (launch.bias)
    bias = take(0, launch.resultType);
  d = take(sizes[17], launch.resultType);
  workspace = launch.workspace > 0 ? buffers[next++] : nullptr;
  LUMINAL_CHECK(describe(sizes));

  std::vector<int64_t> key(sizes.begin(), sizes.end());
  for (int64_t fact :
       {static_cast<int64_t>(launch.type),
        static_cast<int64_t>(launch.resultType), int64_t(launch.addend),
        int64_t(launch.bias), int64_t(getEpilogue(launch)), launch.workspace})
    key.push_back(fact);
  for (const void *matrix : {a, b, c, static_cast<const void *>(d), bias})
    key.push_back(getAlignment(matrix));
  std::optional<lt::Algorithm> known = device.findAlgorithm(key);
  if (!known) {
    int64_t last = 0;
    for (int i = 0; i < 3; ++i)
      last += (sizes[1 + i] - 1) * sizes[18 + i];
    LUMINAL_TRY(best, choose(stream, static_cast<uint64_t>(last + 1) *
                                         dtypeSize(launch.resultType)));
    known = device.keepAlgorithm(std::move(key), best);
  }
  algorithm = *known;
  return {};
}

Status MatmulStep::start(StreamHandle stream) {
  return isEmpty ? Status() : multiply(algorithm, d, stream);
}

Result<std::unique_ptr<LibraryStep>>
cuda::createMatmulStep(CUDADevice &device, const CublasLtLaunch &launch) {
  const Result<CublasLt> &lt = CublasLt::get();
  if (!lt)
    return lt.error();
  LUMINAL_TRY(handle, device.getCublasLt());
  return std::unique_ptr<LibraryStep>(
      std::make_unique<MatmulStep>(device, *lt, handle, launch));
}
