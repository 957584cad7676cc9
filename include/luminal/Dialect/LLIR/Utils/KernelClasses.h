//===- KernelClasses.h - Classes of equal kernels -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_KERNELCLASSES_H
#define LUMINAL_DIALECT_LLIR_UTILS_KERNELCLASSES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace luminal::llir {

/// Returns the text that identifies a function holding a kernel: all of it,
/// without locations, independent of printing options on the command line.
std::string getKernelText(mlir::func::FuncOp holder);

/// Numbers kernels. Two kernels have the same number if they have equal types,
/// attributes and bodies, whatever their operands: they compute alike and run
/// alike. So a decision for a kernel of one layer holds for the equal kernels
/// of all repeated layers. A kernel must not change after it was added.
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
