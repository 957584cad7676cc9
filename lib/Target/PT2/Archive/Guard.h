//===- Guard.h - Parses guards into conditions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_GUARD_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_GUARD_H

#include "luminal/Support/Expr.h"
#include "luminal/Support/Result.h"
#include <functional>

namespace luminal::pt2 {

/// A value that a guard reads: `L['x'][0].size()[1]`, or `L['n']` for an int.
struct GuardSource {
  std::string path;     ///< of the argument, as written: L['x'][0]
  std::string name;     ///< of the graph's input that torch makes of it: x_0
  std::string property; ///< "size", "stride", "storage_offset"; "" for an int
  int64_t dim = 0;      ///< of a size or stride
};

/// Parses one line of an archive's `guards_code`, for instance
/// `(L['x'].size()[0] % 2) == 0`, into an expression that is not negative iff
/// the guard holds. `lookup` returns the value of a source.
Result<Expr>
parseGuard(std::string_view text,
           const std::function<Result<Expr>(const GuardSource &)> &lookup);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_GUARD_H
