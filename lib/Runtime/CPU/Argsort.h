//===- Argsort.h - The order of the elements of rows ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a step of the library `argsort` does. The order is total, so that its
// result does not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CPU_ARGSORT_H
#define LUMINAL_LIB_RUNTIME_CPU_ARGSORT_H

#include "luminal/Support/DType.h"
#include <cstddef>
#include <cstdint>

namespace luminal::runtime {

/// Rows of `length` elements, of which the positions of `count` in order are
/// wanted, from the place `begin` on. `length` is below 2^32 and not below
/// `begin` + `count`.
struct ArgsortShape {
  DType type = DType::F32;
  bool descending = false, nanFirst = false;
  int64_t rows = 0, length = 0, begin = 0, count = 0;
  int64_t getEnd() const { return begin + count; }
};

/// A number that grows with the time that a row takes, about one for a
/// nanosecond.
double estimateRow(const ArgsortShape &shape);

/// Bytes that a thread needs besides.
size_t getArgsortScratch(const ArgsortShape &shape);

/// Does the rows [begin, end). `scratch` is aligned to 64 bytes.
void argsort(const ArgsortShape &shape, const void *keys, int64_t *positions,
             int64_t begin, int64_t end, void *scratch);

/// Long rows by several threads, where `begin` is 0. `parts` parts of a row are
/// sorted apart, each by `argsortPart`, in any order or at once, to `scratch`
/// of getPartsScratch bytes; then `argsortJoin` merges them.
size_t getPartsScratch(const ArgsortShape &shape, int64_t parts);
void argsortPart(const ArgsortShape &shape, const void *row, int64_t part,
                 int64_t parts, void *scratch);
/// The positions [begin, end) of the result, from all parts.
void argsortJoin(const ArgsortShape &shape, int64_t *positions, int64_t parts,
                 int64_t begin, int64_t end, void *scratch);

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CPU_ARGSORT_H
