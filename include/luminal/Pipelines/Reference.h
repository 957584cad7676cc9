//===- Reference.h - Programs run by the interpreter ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_PIPELINES_REFERENCE_H
#define LUMINAL_PIPELINES_REFERENCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace luminal {

/// What `luminal-run --reference` does: `arguments` are luminal-run's, without
/// `--reference`. Returns the exit code, after one error on stderr where that
/// is 2.
int runReference(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace luminal

#endif // LUMINAL_PIPELINES_REFERENCE_H
