//===- InitAll.h - Registers every dialect and pass -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_INITALL_H
#define LUMINAL_INITALL_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace luminal {

void registerAllDialects(mlir::DialectRegistry &registry);
/// Passes and pipelines, Luminal's and the upstream ones that Luminal's
/// pipelines use.
void registerAllPasses();
/// Hides from --help every option registered so far: called first in main, what
/// LLVM's libraries registered when they were loaded. --help-hidden lists it.
void hideLibraryOptions();
/// Parses the options of a tool, --version among them. Bad usage gives false,
/// after one line on standard error; the tool then ends with exit code 2.
bool parseCommandLine(int argc, char **argv, llvm::StringRef overview);

} // namespace luminal

#endif // LUMINAL_INITALL_H
