//===- ScanCode.h - What a scan carries, as code ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_SCANCODE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_SCANCODE_H

#include "luminal/Conversion/Emitter.h"

namespace luminal {

/// A state has the values that llir::getScanStates says, as kernels compute
/// with them.
class ScanCode {
public:
  using State = llvm::SmallVector<mlir::Value>;

  virtual ~ScanCode() = default;
  /// Of no elements.
  virtual State getIdentity() const = 0;
  /// Of one, `x` of the operand's type at `place` (an i64).
  virtual State getElement(mlir::Value x, mlir::Value place) const = 0;
  /// Of both; those of `a` come before those of `b`.
  virtual State merge(llvm::ArrayRef<mlir::Value> a,
                      llvm::ArrayRef<mlir::Value> b) const = 0;
  /// The element of each result that there may be.
  virtual State getResults(llvm::ArrayRef<mlir::Value> state) const = 0;
};

/// For a scan from elements of the type `from` to those of `to`.
std::unique_ptr<ScanCode> makeScanCode(mlir::ImplicitLocOpBuilder &b,
                                       llir::ScanKind kind, mlir::Type from,
                                       mlir::Type to, bool positions);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_SCANCODE_H
