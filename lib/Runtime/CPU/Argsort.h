//===- Argsort.h - Sorts the elements of rows -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements steps of the library `argsort`: the positions of the elements of
// each row in sorted order. Equal elements are ordered by position, so the
// result does not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CPU_ARGSORT_H
#define LUMINAL_LIB_RUNTIME_CPU_ARGSORT_H

#include "luminal/Support/DType.h"
#include <cstddef>
#include <cstdint>

namespace luminal::runtime {

/// Rows of `length` elements. The result holds the positions of `count`
/// elements of the sorted row, from rank `begin` on. `length` is below 2^32 and
/// at least `begin` + `count`.
struct ArgsortShape {
  DType type = DType::F32;
  bool descending = false, nanFirst = false;
  int64_t rows = 0, length = 0, begin = 0, count = 0;
  int64_t getEnd() const { return begin + count; }
};

/// Estimated time of one row, in units of about a nanosecond.
double estimateRow(const ArgsortShape &shape);

/// Scratch bytes per thread.
size_t getArgsortScratch(const ArgsortShape &shape);

/// Sorts the rows [begin, end). `scratch` is aligned to 64 bytes.
void argsort(const ArgsortShape &shape, const void *keys, int64_t *positions,
             int64_t begin, int64_t end, void *scratch);

/// Sorts a long row with several threads; `begin` must be 0. `argsortPart`
/// sorts each of `parts` parts of the row, in any order or concurrently, into
/// `scratch` of getPartsScratch bytes; then `argsortJoin` merges them.
size_t getPartsScratch(const ArgsortShape &shape, int64_t parts);
void argsortPart(const ArgsortShape &shape, const void *row, int64_t part,
                 int64_t parts, void *scratch);
/// Writes the positions [begin, end) of the result by merging all parts.
void argsortJoin(const ArgsortShape &shape, int64_t *positions, int64_t parts,
                 int64_t begin, int64_t end, void *scratch);

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CPU_ARGSORT_H
