//===- KernelClasses.cpp - Classes of equal kernels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace luminal::llir;

std::string luminal::llir::getKernelText(func::FuncOp holder) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  holder.print(stream, OpPrintingFlags()
                           .enableDebugInfo(false)
                           .elideLargeElementsAttrs(unlimited)
                           .elideLargeResourceString(unlimited)
                           .skipRegions(false)
                           .useLocalScope()
                           .assumeVerified());
  return text;
}

/// Hashes everything of an op except its operands.
static llvm::hash_code hashAlone(Operation *op) {
  return llvm::hash_combine(op->getName(), op->hashProperties(),
                            op->getDiscardableAttrDictionary(),
                            llvm::hash_combine_range(op->getResultTypes()),
                            llvm::hash_combine_range(op->getOperandTypes()));
}

static bool areEqual(KernelOp a, KernelOp b) {
  return a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         a->getName().compareOpProperties(a->getPropertiesStorage(),
                                          b->getPropertiesStorage()) &&
         a->getResultTypes() == b->getResultTypes() &&
         llvm::equal(a->getOperandTypes(), b->getOperandTypes()) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(),
             OperationEquivalence::Flags::IgnoreLocations);
}

unsigned KernelClasses::add(KernelOp kernel) {
  llvm::hash_code hash = hashAlone(kernel);
  for (Operation &op : kernel.getBody().front())
    hash = llvm::hash_combine(hash, hashAlone(&op));
  // DenseMap reserves the two greatest keys.
  auto &same = known[uint64_t(size_t(hash)) >> 1];
  for (auto &[other, number] : same)
    if (areEqual(other, kernel))
      return number;
  same.push_back({kernel, count});
  return count++;
}
