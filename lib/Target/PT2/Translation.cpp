//===- Translation.cpp - luminal-translate --import-pt2 -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Tools/mlir-translate/Translation.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Target/PT2.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

void luminal::registerImportPT2Translation() {
  static TranslateToMLIRRegistration registration(
      "import-pt2", "import a torch.export archive",
      [](const std::shared_ptr<llvm::SourceMgr> &sources,
         MLIRContext *context) -> OwningOpRef<Operation *> {
        const llvm::MemoryBuffer *buffer =
            sources->getMemoryBuffer(sources->getMainFileID());
        Bytes bytes;
        bytes.data =
            reinterpret_cast<const uint8_t *>(buffer->getBufferStart());
        bytes.size = buffer->getBufferSize();
        bytes.owner = sources;
        return importPT2(context, bytes, buffer->getBufferIdentifier().str());
      },
      [](DialectRegistry &registry) {
        registry.insert<func::FuncDialect, hlir::HLIRDialect>();
      });
}
