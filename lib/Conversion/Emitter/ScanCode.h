//===- ScanCode.h - The code of a scan's states -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_SCANCODE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_SCANCODE_H

#include "luminal/Conversion/Emitter.h"

namespace luminal {

/// The code of one kind of scan. A state consists of the values that
/// llir::getScanStates lists, in their compute types.
class ScanCode {
public:
  using State = llvm::SmallVector<mlir::Value>;

  virtual ~ScanCode() = default;
  /// The state of no elements.
  virtual State getIdentity() const = 0;
  /// The state of one element: `x`, of the operand's type, at `place` (i64).
  virtual State getElement(mlir::Value x, mlir::Value place) const = 0;
  /// Merges two states; the elements of `a` precede those of `b`.
  virtual State merge(llvm::ArrayRef<mlir::Value> a,
                      llvm::ArrayRef<mlir::Value> b) const = 0;
  /// The element of each result for a state.
  virtual State getResults(llvm::ArrayRef<mlir::Value> state) const = 0;
};

/// The code of a scan from elements of type `from` to elements of type `to`.
std::unique_ptr<ScanCode> makeScanCode(mlir::ImplicitLocOpBuilder &b,
                                       llir::ScanKind kind, mlir::Type from,
                                       mlir::Type to, bool positions);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_SCANCODE_H
