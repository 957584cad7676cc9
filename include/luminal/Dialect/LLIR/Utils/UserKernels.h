//===- UserKernels.h - User kernels for given operands --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_USERKERNELS_H
#define LUMINAL_DIALECT_LLIR_UTILS_USERKERNELS_H

#include "luminal/Dialect/LLIR/IR/UserKernels.h"

namespace luminal::llir {

/// What `llir.user_kernel` states about a kernel for one target.
struct UserKernelSpec {
  mlir::FunctionType type;
  /// Bytes read, bytes written, scalar operations.
  hlir::MapAttr cost;
  CustomLaunchAttrInterface launch;

  /// Convert to one attribute, for patterns, and back.
  mlir::DictionaryAttr toAttribute() const;
  static UserKernelSpec fromAttribute(mlir::DictionaryAttr attribute);

  /// Cost and launch of the kernel over the symbols of a program.
  struct Use {
    hlir::MapAttr cost;
    CustomLaunchAttrInterface launch;
  };
  /// Returns cost and launch for operands and results of these types.
  /// std::nullopt, with the reason in *why, if the kernel does not accept them:
  /// `symbols` must prove the types equal to the kernel's.
  std::optional<Use> getUse(mlir::TypeRange operands, mlir::TypeRange results,
                            const Assumptions &symbols, std::string *why) const;
};

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_USERKERNELS_H
