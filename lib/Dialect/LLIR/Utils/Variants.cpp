//===- Variants.cpp - Programs for narrower ranges of symbols -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/LLIR/plan-memory-variants.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Utils/Variants.h"

using namespace mlir;
using namespace luminal;

FailureOr<SmallVector<Operation *>> llir::getVariants(Operation *program) {
  SmallVector<Operation *> variants;
  Attribute given = program->getAttr(kVariantsAttr);
  if (!given)
    return variants;
  auto names = dyn_cast<ArrayAttr>(given);
  if (!names)
    return program->emitError() << "expects an array as " << kVariantsAttr;
  for (Attribute name : names) {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
    Operation *variant = symbol && program->getParentOp()
                             ? SymbolTable::lookupSymbolIn(
                                   program->getParentOp(), symbol.getAttr())
                             : nullptr;
    if (!variant || variant == program ||
        variant->getName() != program->getName() ||
        variant->getRegion(0).empty() || variant->hasAttr(kVariantsAttr) ||
        llvm::is_contained(variants, variant))
      return program->emitError()
             << "has " << name << " as a variant, which is not another program";
    variants.push_back(variant);
  }
  return variants;
}
