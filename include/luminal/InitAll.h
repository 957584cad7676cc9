//===- InitAll.h - Registers every dialect and pass -----------------------===//

#ifndef LUMINAL_INITALL_H
#define LUMINAL_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace luminal {

void registerAllDialects(mlir::DialectRegistry &registry);
/// Passes and pipelines, Luminal's and the upstream ones that Luminal's
/// pipelines use.
void registerAllPasses();
/// --version of a tool that parses its options with LLVM's command line.
void setVersionPrinter();

} // namespace luminal

#endif // LUMINAL_INITALL_H
