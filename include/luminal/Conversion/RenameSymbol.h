//===- RenameSymbol.h - Renames a symbol of an object file ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_CONVERSION_RENAMESYMBOL_H
#define LUMINAL_CONVERSION_RENAMESYMBOL_H

#include "llvm/Support/MemoryBuffer.h"

namespace luminal {

/// A copy of `object` in which the symbol `from` is named `to`. On failure
/// null, with the reason in *error.
std::unique_ptr<llvm::MemoryBuffer> renameSymbol(llvm::StringRef object,
                                                 llvm::StringRef from,
                                                 llvm::StringRef to,
                                                 std::string *error);

} // namespace luminal

#endif // LUMINAL_CONVERSION_RENAMESYMBOL_H
