//===- FakeCublasLt.cpp - cuBLASLt without a GPU --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies column-major matrices in the memory of the fake driver, when the
// stream or graph of the product runs. Stricter than the library: it checks the
// size of every attribute and that the workspace is allocated. It proposes
// three algorithms, of which the first is slow and the second is invalid.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/CUDA/CublasLtTypes.h"
#include "FakeDriver.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

using namespace luminal::runtime::cuda::lt;
using luminal::runtime::cuda::fakeMemory;
using luminal::runtime::cuda::fakeWork;
using luminal::runtime::cuda::kIllegalAddress;
using luminal::runtime::cuda::StreamHandle;

static constexpr uint64_t kMark = 0x6c756d696e616cull;

namespace luminal::runtime::cuda::lt {
struct LibraryStruct {};
struct MatmulStruct {
  int compute, scale;
  int32_t transposeA = kNoTranspose, transposeB = kNoTranspose;
  uint32_t epilogue = kEpilogueNone;
  const void *bias = nullptr;
};
struct LayoutStruct {
  int type;
  uint64_t rows, columns;
  int64_t leading, batchStride = 0;
  int32_t batch = 1;
};
struct PreferenceStruct {
  uint64_t workspace = 0;
  uint32_t reductions = ~0u, alignment[4] = {};
};
} // namespace luminal::runtime::cuda::lt

namespace {
size_t sizeOf(int type) { return type == kR64F ? 8 : type == kR32F ? 4 : 2; }

/// A matrix in device memory.
struct View {
  LayoutStruct layout;
  uint8_t *data = nullptr;

  bool open(const void *memory) {
    auto last = static_cast<uint64_t>((layout.batch - 1) * layout.batchStride +
                                      static_cast<int64_t>(layout.columns - 1) *
                                          layout.leading);
    data = fakeMemory(reinterpret_cast<uintptr_t>(memory),
                      (last + layout.rows) * sizeOf(layout.type));
    return data != nullptr;
  }
  uint8_t *at(int64_t b, uint64_t i, uint64_t j) const {
    auto column = static_cast<int64_t>(j);
    return data +
           static_cast<size_t>(b * layout.batchStride +
                               column * layout.leading) *
               sizeOf(layout.type) +
           i * sizeOf(layout.type);
  }
  double load(int64_t b, uint64_t i, uint64_t j, bool transposed) const {
    return read(layout.type, transposed ? at(b, j, i) : at(b, i, j));
  }
  static double read(int type, const uint8_t *from) {
    if (type == kR64F) {
      double value;
      std::memcpy(&value, from, sizeof value);
      return value;
    }
    // bf16 is the upper half of f32.
    uint32_t bits = 0;
    std::memcpy(type == kR32F ? reinterpret_cast<uint8_t *>(&bits)
                              : reinterpret_cast<uint8_t *>(&bits) + 2,
                from, sizeOf(type));
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  void store(int64_t b, uint64_t i, uint64_t j, double value) const {
    if (layout.type == kR64F) {
      std::memcpy(at(b, i, j), &value, sizeof value);
      return;
    }
    auto narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    if (layout.type == kR32F) {
      std::memcpy(at(b, i, j), &bits, sizeof bits);
      return;
    }
    bits += 0x7fff + (bits >> 16 & 1);
    const auto half = static_cast<uint16_t>(bits >> 16);
    std::memcpy(at(b, i, j), &half, sizeof half);
  }
};

struct Product {
  MatmulStruct matmul;
  View a, b, c, d;
  const void *memory[4];
  double alpha, beta;
  int64_t algorithm;

  int run() {
    FakeCounts &counts = *luminalFakeCounts();
    ++counts.products;
    counts.algorithm = algorithm;
    if (algorithm == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (algorithm == 2 && counts.slowProducts > 0) {
      --counts.slowProducts;
      std::this_thread::sleep_for(std::chrono::milliseconds(12));
    }
    View *views[] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; ++i)
      if ((i != 2 || beta != 0) && !views[i]->open(memory[i]))
        return kIllegalAddress;
    const bool ta = matmul.transposeA == kTranspose,
               tb = matmul.transposeB == kTranspose;
    const uint64_t inner = ta ? a.layout.rows : a.layout.columns;
    const uint32_t epilogue = matmul.epilogue;
    const size_t biasSize = sizeOf(d.layout.type);
    const uint8_t *bias =
        epilogue & kEpilogueBias
            ? fakeMemory(reinterpret_cast<uintptr_t>(matmul.bias),
                         d.layout.rows * biasSize)
            : nullptr;
    if ((epilogue & kEpilogueBias) && !bias)
      return kIllegalAddress;
    for (int64_t n = 0; n < d.layout.batch; ++n)
      for (uint64_t j = 0; j < d.layout.columns; ++j)
        for (uint64_t i = 0; i < d.layout.rows; ++i) {
          double sum = 0;
          for (uint64_t k = 0; k < inner; ++k)
            sum += a.load(n, i, k, ta) * b.load(n, k, j, tb);
          sum *= alpha;
          if (beta != 0)
            sum += beta * c.load(n, i, j, false);
          if (bias)
            sum += View::read(d.layout.type, bias + i * biasSize);
          if (epilogue & kEpilogueRelu)
            sum = sum < 0 ? 0 : sum;
          if (epilogue & kEpilogueGelu)
            sum = 0.5 * sum *
                  (1 + std::tanh(std::sqrt(2 / M_PI) *
                                 (sum + 0.044715 * sum * sum * sum)));
          d.store(n, i, j, sum);
        }
    return kSuccess;
  }
};

template <typename T, typename... Args>
int make(T **made, Args... args) {
  ++luminalFakeCounts()->descriptors;
  *made = new T{args...};
  return kSuccess;
}
template <typename T>
int destroy(T *made) {
  if (!made)
    return kInvalidValue;
  --luminalFakeCounts()->descriptors;
  delete made;
  return kSuccess;
}
template <typename T>
int set(T &field, const void *value, size_t bytes) {
  if (bytes != sizeof field)
    return kInvalidValue;
  std::memcpy(&field, value, bytes);
  return kSuccess;
}

/// Whether the shapes fit a product.
bool fit(const MatmulStruct &m, const LayoutStruct &a, const LayoutStruct &b,
         const LayoutStruct &c, const LayoutStruct &d) {
  const bool ta = m.transposeA == kTranspose, tb = m.transposeB == kTranspose;
  return (ta ? a.columns : a.rows) == d.rows &&
         (tb ? b.rows : b.columns) == d.columns &&
         (ta ? a.rows : a.columns) == (tb ? b.columns : b.rows) &&
         c.rows == d.rows && c.columns == d.columns && c.type == d.type &&
         a.type == b.type && a.batch == d.batch && b.batch == d.batch &&
         c.batch == d.batch;
}
} // namespace

extern "C" {
int cublasLtCreate(Handle *handle) {
  static LibraryStruct only;
  *handle = &only;
  return kSuccess;
}
int cublasLtMatmulDescCreate(Matmul *matmul, int compute, int scale) {
  const bool isF64 = compute == kCompute64F && scale == kR64F;
  if (!isF64 && !(compute == kCompute32F && scale == kR32F))
    return kInvalidValue;
  return make(matmul, compute, scale);
}
int cublasLtMatmulDescDestroy(Matmul matmul) { return destroy(matmul); }
int cublasLtMatmulDescSetAttribute(Matmul matmul, int what, const void *value,
                                   size_t bytes) {
  switch (what) {
  case kMatmulTransposeA:
    return set(matmul->transposeA, value, bytes);
  case kMatmulTransposeB:
    return set(matmul->transposeB, value, bytes);
  case kMatmulEpilogue:
    return set(matmul->epilogue, value, bytes);
  case kMatmulBiasPointer:
    return set(matmul->bias, value, bytes);
  default:
    return kInvalidValue;
  }
}
int cublasLtMatrixLayoutCreate(Layout *layout, int type, uint64_t rows,
                               uint64_t columns, int64_t leading) {
  if (rows == 0 || columns == 0 || leading < static_cast<int64_t>(rows))
    return kInvalidValue;
  return make(layout, type, rows, columns, leading);
}
int cublasLtMatrixLayoutDestroy(Layout layout) { return destroy(layout); }
int cublasLtMatrixLayoutSetAttribute(Layout layout, int what, const void *value,
                                     size_t bytes) {
  if (what == kLayoutBatchCount)
    return set(layout->batch, value, bytes);
  if (what == kLayoutBatchStride)
    return set(layout->batchStride, value, bytes);
  return kInvalidValue;
}
int cublasLtMatmulPreferenceCreate(Preference *preference) {
  return make(preference);
}
int cublasLtMatmulPreferenceDestroy(Preference preference) {
  return destroy(preference);
}
int cublasLtMatmulPreferenceSetAttribute(Preference preference, int what,
                                         const void *value, size_t bytes) {
  if (what == kPreferenceWorkspace)
    return set(preference->workspace, value, bytes);
  if (what == kPreferenceReductions)
    return set(preference->reductions, value, bytes);
  if (what >= kPreferenceAlignment && what < kPreferenceAlignment + 4)
    return set(preference->alignment[what - kPreferenceAlignment], value,
               bytes);
  return kInvalidValue;
}
int cublasLtMatmulAlgoGetHeuristic(Handle, Matmul matmul, Layout a, Layout b,
                                   Layout c, Layout d, Preference preference,
                                   int most, Heuristic *proposed, int *count) {
  if (!fit(*matmul, *a, *b, *c, *d) ||
      preference->reductions != kReductionCompute)
    return kInvalidValue;
  for (uint32_t alignment : preference->alignment)
    if (alignment == 0)
      return kInvalidValue;
  *count = most < 3 ? most : 3;
  for (int i = 0; i < *count; ++i) {
    proposed[i] = {};
    proposed[i].algorithm.data[0] = kMark;
    proposed[i].algorithm.data[1] = static_cast<uint64_t>(i);
    proposed[i].workspace = preference->workspace;
    proposed[i].state = i == 1 ? kNotSupported : kSuccess;
  }
  return kSuccess;
}
int cublasLtMatmul(Handle, Matmul matmul, const void *alpha, const void *a,
                   Layout layoutA, const void *b, Layout layoutB,
                   const void *beta, const void *c, Layout layoutC, void *d,
                   Layout layoutD, const Algorithm *algorithm, void *workspace,
                   size_t workspaceBytes, StreamHandle stream) {
  if (!algorithm || algorithm->data[0] != kMark || algorithm->data[1] == 1)
    return kNotSupported;
  if (!fit(*matmul, *layoutA, *layoutB, *layoutC, *layoutD) ||
      (workspaceBytes > 0 &&
       !fakeMemory(reinterpret_cast<uintptr_t>(workspace), workspaceBytes)))
    return kInvalidValue;
  const size_t width = matmul->scale == kR64F ? 8 : 4;
  auto scale = [&](const void *at) {
    return View::read(width == 8 ? kR64F : kR32F,
                      static_cast<const uint8_t *>(at));
  };
  Product product{
      *matmul,      {*layoutA},  {*layoutB},
      {*layoutC},   {*layoutD},  {a, b, c, d},
      scale(alpha), scale(beta), static_cast<int64_t>(algorithm->data[1])};
  return fakeWork(stream, [product]() mutable { return product.run(); });
}
} // extern "C"
