//===- Scan.h - Scans -----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements steps of the library `scan`. Long rows are cut into parts of a
// fixed length, so neither the number of threads nor the number of rows changes
// a result.
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
/// The kind by its name in a launch; std::nullopt if unknown.
std::optional<ScanKind> getScanKind(std::string_view name);

/// [outer, length, inner] elements, row-major, scanned along `length`.
struct ScanShape {
  ScanKind kind = ScanKind::Sum;
  DType type = DType::F32, resultType = DType::F32;
  bool reverse = false, exclusive = false, positions = false;
  int64_t outer = 0, length = 0, inner = 0;
  /// Whether several threads may share a row, for kinds whose result does not
  /// depend on the parts. Rows of the other kinds are always cut.
  bool isShared = true;
};

/// A scan is one pass over its work items, in any order or concurrently. If
/// there are parts, it takes two passes: the first stores the reduction of each
/// part in `states` (getScanStates bytes, aligned to 64), then `scanJoin` turns
/// these into the state before each part, and the second pass writes the
/// result.
bool hasScanParts(const ScanShape &shape);
size_t getScanStates(const ScanShape &shape);
int64_t getScanUnits(const ScanShape &shape);
/// Estimated time of one work item, in units of about a nanosecond.
double estimateScanUnit(const ScanShape &shape);

void scanParts(const ScanShape &shape, const void *data, int64_t begin,
               int64_t end, void *states);
void scanJoin(const ScanShape &shape, void *states);
/// One pass over the work items [begin, end). `states` is null if there are no
/// parts.
void scan(const ScanShape &shape, const void *data, void *result, int64_t begin,
          int64_t end, const void *states);

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CPU_SCAN_H
