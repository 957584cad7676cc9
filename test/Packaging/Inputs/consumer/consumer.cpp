//===- consumer.cpp - A program outside the tree that uses the package ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/InitAll.h"
#include "luminal/Support/Version.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdio>

int main() {
  mlir::DialectRegistry registry;
  luminal::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  bool loaded = context.getOrLoadDialect<luminal::hlir::HLIRDialect>();
  std::printf("Luminal %s, HLIR %s\n", LUMINAL_VERSION,
              loaded ? "loaded" : "missing");
  return loaded ? 0 : 1;
}
