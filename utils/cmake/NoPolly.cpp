//===- NoPolly.cpp - What LLVM's LTO asks of Polly, without Polly ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The package's archives name Polly as an extension and do not hold it. Only
// the self-contained build links this.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "none", [](llvm::PassBuilder &) {},
          nullptr};
}
