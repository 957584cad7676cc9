//===- ReadInput.cpp - Archives and .mlir files ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/Target.h"
#include "luminal/Conversion/UserKernels.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Support/ZipArchive.h"
#include "luminal/Target/PT2.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace luminal;

OwningOpRef<ModuleOp> luminal::readInput(MLIRContext &context,
                                         const CompileOptions &options) {
  Location loc = FileLineColLoc::get(&context, options.input, 0, 0);
  Result<Bytes> bytes = options.inputBytes ? Result<Bytes>(*options.inputBytes)
                                           : mapFile(options.input);
  if (!bytes) {
    emitError(loc) << bytes.error().message;
    return {};
  }
  // A zip file starts with a member or with the end of its directory. A file
  // with the extension of an archive must be one.
  StringRef text(bytes->text());
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06") ||
      StringRef(options.input).ends_with(".pt2")) {
    PT2ImportOptions import;
    import.allowMissingWeights =
        options.allowMissingWeights || !options.weights.empty();
    import.refuseCostly = options.refuseCostly;
    // Rows are scanned by rules that round differently, so not with precision
    // "exact".
    import.scansRows = options.precision != "exact";
    FailureOr<UserKernels> kernels =
        UserKernels::load(&context, options.kernels, /*target=*/nullptr);
    if (failed(kernels))
      return {};
    for (const UserKernel &kernel : kernels->get())
      import.kernels.push_back(kernel.name);
    return importPT2(&context, std::move(*bytes), options.input, import);
  }
  if (text.contains('\0') || text.trim().empty()) {
    emitError(loc) << "neither a torch.export archive (a zip file) nor the "
                   << "text of a module";
    return {};
  }
  return parseSourceString<ModuleOp>(text, ParserConfig(&context),
                                     options.input);
}
