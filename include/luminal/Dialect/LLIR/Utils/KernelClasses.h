//===- KernelClasses.h - Which kernels are equal --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_KERNELCLASSES_H
#define LUMINAL_DIALECT_LLIR_UTILS_KERNELCLASSES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace luminal::llir {

/// The text by which a function that holds a kernel is known: all of it,
/// without locations, whatever the command line says of printing.
std::string getKernelText(mlir::func::FuncOp holder);

/// Numbers kernels, those with one that compute and run alike whatever they
/// read: equal types, attributes and bodies. What is decided for a kernel of a
/// repeated layer holds for those of all layers. Kernels that were added must
/// not change meanwhile.
class KernelClasses {
public:
  unsigned add(KernelOp kernel);
  unsigned size() const { return count; }

private:
  unsigned count = 0;
  llvm::DenseMap<uint64_t, llvm::SmallVector<std::pair<KernelOp, unsigned>, 1>>
      known;
};

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_KERNELCLASSES_H
