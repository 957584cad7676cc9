//===- ReferenceMain.h - luminal-run --reference --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_REFERENCE_REFERENCEMAIN_H
#define LUMINAL_TOOLS_REFERENCE_REFERENCEMAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace luminal::tools {

/// What `luminal-run --reference` does: `arguments` are luminal-run's, without
/// `--reference`. Returns the exit code, after one error on stderr where that
/// is 2.
int runReference(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_REFERENCE_REFERENCEMAIN_H
