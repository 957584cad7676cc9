//===- FakeKernels.cpp - What kernels of the fake driver do ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeState.h"
#include <cstring>

using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

/// The address of `bytes` bytes of a buffer, or null.
template <typename T>
static T *access(const Launch &launch, unsigned buffer, int64_t elements,
                 bool mayBePinned = false) {
  auto *table = fake().translate(launch.buffers + 8 * buffer, 8);
  if (!table)
    return nullptr;
  DevicePointer memory;
  std::memcpy(&memory, table, 8);
  const size_t bytes = static_cast<size_t>(elements) * sizeof(T);
  if (auto *pinned = reinterpret_cast<T *>(memory);
      mayBePinned && fake().isPinned(pinned, bytes))
    return pinned;
  return reinterpret_cast<T *>(fake().translate(memory, bytes));
}

int cuda::runUserFunction(const UserLaunch &launch) {
  Fake &f = fake();
  ++f.counts.kernelsRun;
  const size_t bytes = static_cast<size_t>(launch.n) * sizeof(float);
  const auto *x = reinterpret_cast<const float *>(f.translate(launch.x, bytes));
  auto *y = reinterpret_cast<float *>(f.translate(launch.y, bytes));
  if (!x || !y)
    return kIllegalAddress;
  for (int64_t i = 0; i < launch.n; ++i)
    y[i] = static_cast<float>(launch.factor) * x[i];
  return kSuccess;
}

int cuda::runKernel(const Launch &launch) {
  Fake &f = fake();
  ++f.counts.kernelsRun;
  const Function &fn = *launch.function;
  auto symbol = [&](size_t i, int64_t &value) {
    auto *at = f.translate(launch.symbols + 8 * i, 8);
    if (at)
      std::memcpy(&value, at, 8);
    return at != nullptr;
  };
  int64_t work = fn.constant, value = 0;
  if (fn.factor != 0) {
    if (!symbol(fn.symbol, value))
      return kIllegalAddress;
    work += fn.factor * value;
  }
  if (!f.isPinned(launch.status, sizeof(int32_t)))
    return kIllegalAddress;
  if (work <= 0)
    return kSuccess;
  auto map = [&](unsigned result, auto element) {
    auto *a = access<const float>(launch, 0, work);
    auto *b = access<const float>(launch, 1, work);
    auto *to = access<float>(launch, result, work);
    if (!a || !b || !to)
      return static_cast<int>(kIllegalAddress);
    for (int64_t i = 0; i < work; ++i)
      to[i] = element(a[i], b[i]);
    return static_cast<int>(kSuccess);
  };
  if (fn.op == "add_f32")
    return map(2, [](float a, float b) { return a + b; });
  if (fn.op == "increment_f32")
    return map(1, [](float a, float) { return a + 1; });
  if (fn.op == "copy_f32")
    return map(1, [](float a, float) { return a; });
  if (fn.op == "accumulate_f32")
    return map(1, [](float a, float b) { return a + b; });
  if (fn.op == "is_positive_f32") {
    auto *a = access<const float>(launch, 0, work);
    // Assertions write their result to host memory.
    auto *b = access<uint8_t>(launch, 1, work, /*mayBePinned=*/true);
    if (!a || !b)
      return kIllegalAddress;
    for (int64_t i = 0; i < work; ++i)
      b[i] = a[i] > 0;
    return kSuccess;
  }
  if (fn.op == "sum_parts_f32") {
    auto *x = access<const float>(launch, 0, work);
    auto *y = access<float>(launch, 1, 1);
    auto *states = access<float>(launch, 2, work);
    auto *counter = access<int32_t>(launch, 3, 1);
    if (!x || !y || !states || !counter)
      return kIllegalAddress;
    for (int64_t i = 0; i < work; ++i) {
      if (x[i] < 0) {
        *launch.status = 1;
        continue;
      }
      states[i] = x[i];
      if (++*counter != work)
        continue;
      *counter = 0;
      *y = 0;
      for (int64_t k = 0; k < work; ++k)
        *y += states[k];
    }
    return kSuccess;
  }
  int64_t first = 0;
  if (!symbol(0, first))
    return kIllegalAddress;
  if (fn.op == "scale_rows_f32") {
    auto *a = access<const float>(launch, 0, work * first);
    auto *b = access<const float>(launch, 1, first);
    auto *c = access<float>(launch, 2, work * first);
    if (!a || !b || !c)
      return kIllegalAddress;
    for (int64_t i = 0; i < work * first; ++i)
      c[i] = a[i] * b[i % first];
    return kSuccess;
  }
  if (fn.op == "gather_f32") {
    auto *a = access<const float>(launch, 0, first);
    auto *b = access<const int64_t>(launch, 1, work);
    auto *c = access<float>(launch, 2, work);
    if (!a || !b || !c)
      return kIllegalAddress;
    for (int64_t i = 0; i < work; ++i) {
      if (b[i] < 0 || b[i] >= first)
        *launch.status = 1;
      else
        c[i] = a[b[i]];
    }
    return kSuccess;
  }
  return kIllegalAddress;
}
