//===- Scan.h - Running sums, products and extrema ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a step of the library `scan` does. Long rows are cut into parts whose
// length depends on nothing, so that neither the number of threads nor that of
// rows changes a result.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CPU_SCAN_H
#define LUMINAL_LIB_RUNTIME_CPU_SCAN_H

#include "luminal/Support/DType.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace luminal::runtime {

enum class ScanKind : uint8_t { Sum, Product, Max, Min, LogSumExp };
/// By the name that it has in a launch; std::nullopt where there is none.
std::optional<ScanKind> getScanKind(std::string_view name);

/// [outer, length, inner] elements, row-major, scanned along `length`.
struct ScanShape {
  ScanKind kind = ScanKind::Sum;
  DType type = DType::F32, resultType = DType::F32;
  bool reverse = false, exclusive = false, positions = false;
  int64_t outer = 0, length = 0, inner = 0;
  /// Whether threads share a row, where its parts do not change the result:
  /// that of others is always cut.
  bool isShared = true;
};

/// A scan is a pass over units, in any order or at once; of long rows two, and
/// between them `scanJoin`: the first passes' units leave what each part of a
/// row comes to in `states`, of getScanStates bytes, aligned to 64.
bool hasScanParts(const ScanShape &shape);
size_t getScanStates(const ScanShape &shape);
int64_t getScanUnits(const ScanShape &shape);
/// A number that grows with the time that a unit takes, about one for a
/// nanosecond.
double estimateScanUnit(const ScanShape &shape);

void scanParts(const ScanShape &shape, const void *data, int64_t begin,
               int64_t end, void *states);
void scanJoin(const ScanShape &shape, void *states);
/// `states` is null where there are no parts.
void scan(const ScanShape &shape, const void *data, void *result, int64_t begin,
          int64_t end, const void *states);

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CPU_SCAN_H
