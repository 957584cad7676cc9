//===- UserKernels.h - A declared kernel for given operands ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_USERKERNELS_H
#define LUMINAL_DIALECT_LLIR_UTILS_USERKERNELS_H

#include "luminal/Dialect/LLIR/IR/UserKernels.h"

namespace luminal::llir {

/// What `llir.user_kernel` states of a kernel for one target.
struct UserKernelSpec {
  mlir::FunctionType type;
  /// Bytes read, bytes written, scalar operations.
  hlir::MapAttr cost;
  CustomLaunchAttrInterface launch;

  /// As one attribute, for patterns, and back.
  mlir::DictionaryAttr toAttribute() const;
  static UserKernelSpec fromAttribute(mlir::DictionaryAttr attribute);

  /// Cost and launch over the symbols of a program, where the kernel is given
  /// operands and results of these types. std::nullopt with the reason in *why
  /// where it does not take them: as far as `symbols` prove, their types are
  /// those of the kernel.
  struct Use {
    hlir::MapAttr cost;
    CustomLaunchAttrInterface launch;
  };
  std::optional<Use> getUse(mlir::TypeRange operands, mlir::TypeRange results,
                            const Assumptions &symbols, std::string *why) const;
};

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_USERKERNELS_H
