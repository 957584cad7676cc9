//===- RenameSymbol.cpp - Renames a symbol of an object file --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/RenameSymbol.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace luminal;

std::unique_ptr<llvm::MemoryBuffer>
luminal::renameSymbol(llvm::StringRef object, llvm::StringRef from,
                      llvm::StringRef to, std::string *error) {
  auto fail = [&](llvm::Error reason) {
    *error = "naming a kernel: " + llvm::toString(std::move(reason));
    return nullptr;
  };
  auto binary =
      llvm::object::createBinary(llvm::MemoryBufferRef(object, "kernels.o"));
  if (!binary)
    return fail(binary.takeError());
  llvm::objcopy::ConfigManager config;
  config.Common.SymbolsToRename[from] = to;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error failed =
          llvm::objcopy::executeObjcopyOnBinary(config, **binary, stream))
    return fail(std::move(failed));
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(bytes), "kernels.o", /*RequiresNullTerminator=*/false);
}
