//===- ReferenceMain.h - luminal-run --reference --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_REFERENCE_REFERENCEMAIN_H
#define LUMINAL_TOOLS_REFERENCE_REFERENCEMAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace luminal::tools {

/// Implements `luminal-run --reference`. `arguments` are those of luminal-run
/// without `--reference`. Returns the exit code; if that is 2, one error was
/// printed to stderr.
int runReference(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_REFERENCE_REFERENCEMAIN_H
