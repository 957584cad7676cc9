//===- Kernels.c - Kernels that the runtime's tests put into artifacts ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by hand to the contract of docs/Architecture.md.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>
#include <string.h>

#define KERNEL(name)                                                           \
  __attribute__((visibility("default"))) int32_t name(                         \
      void *const *buffers, const int64_t *symbols, int64_t begin,             \
      int64_t end, void *scratch)
#define UNUSED (void)symbols, (void)scratch

/// Distinguishes builds of these kernels.
#ifndef ADDEND
#define ADDEND 0
#endif

/// c[i] = a[i] + b[i] + ADDEND, f32.
KERNEL(add_f32) {
  UNUSED;
  const float *a = buffers[0], *b = buffers[1];
  float *c = buffers[2];
  for (int64_t i = begin; i < end; ++i)
    c[i] = a[i] + b[i] + ADDEND;
  return 0;
}

/// c[i, j] = a[i, j] * b[j], f32, work = rows, columns = symbols[0].
KERNEL(scale_rows_f32) {
  (void)scratch;
  const float *a = buffers[0], *b = buffers[1];
  float *c = buffers[2];
  int64_t columns = symbols[0];
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < columns; ++j)
      c[i * columns + j] = a[i * columns + j] * b[j];
  return 0;
}

/// b[i] = a[i] + 1, f32; goes through scratch memory of one float.
KERNEL(increment_f32) {
  (void)symbols;
  const float *a = buffers[0];
  float *b = buffers[1];
  volatile float *one = scratch;
  for (int64_t i = begin; i < end; ++i) {
    *one = 1.0f;
    b[i] = a[i] + *one;
  }
  return 0;
}

/// b[i] = a[i] * symbols[1], f32.
KERNEL(scale_f32) {
  (void)scratch;
  const float *a = buffers[0];
  float *b = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    b[i] = a[i] * (float)symbols[1];
  return 0;
}

/// b[i] = a[i], f32.
KERNEL(copy_f32) {
  UNUSED;
  memcpy((float *)buffers[1] + begin, (const float *)buffers[0] + begin,
         (size_t)(end - begin) * sizeof(float));
  return 0;
}

/// b[i] = a[i] > 0, a f32, b i1.
KERNEL(is_positive_f32) {
  UNUSED;
  const float *a = buffers[0];
  unsigned char *b = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    b[i] = a[i] > 0;
  return 0;
}

/// c[i] = a[b[i]], b i64, a has symbols[0] elements.
KERNEL(gather_f32) {
  (void)scratch;
  const float *a = buffers[0];
  const int64_t *b = buffers[1];
  float *c = buffers[2];
  for (int64_t i = begin; i < end; ++i) {
    if (b[i] < 0 || b[i] >= symbols[0])
      return 1;
    c[i] = a[b[i]];
  }
  return 0;
}

/// a[i] += b[i], f32, in place: operands b, result a.
KERNEL(accumulate_f32) {
  UNUSED;
  const float *b = buffers[0];
  float *a = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    a[i] += b[i];
  return 0;
}

/// y[0] = the sum of x, f32, a unit for each element: operand x, result y, and
/// a workspace of states and of a counter. The last unit to arrive adds up what
/// all have left, in order. A negative element fails its unit.
KERNEL(sum_parts_f32) {
  (void)scratch;
  const float *x = buffers[0];
  float *y = buffers[1], *states = buffers[2];
  int32_t *counter = buffers[3];
  for (int64_t i = begin; i < end; ++i) {
    if (x[i] < 0)
      return 1;
    states[i] = x[i];
    if (__atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL) != symbols[0] - 1)
      continue;
    *counter = 0;
    y[0] = 0;
    for (int64_t k = 0; k < symbols[0]; ++k)
      y[0] += states[k];
  }
  return 0;
}
