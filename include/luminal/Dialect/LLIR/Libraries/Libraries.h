//===- Libraries.h - The interface of libraries of ops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target may have libraries whose code is faster than generated code. Each
// implementation of Library stands for one of them: it knows what the library
// can compute, which op states a call (LibraryOpInterface), and what a call
// costs compared with kernels. This decision depends on sizes.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_LIBRARIES_LIBRARIES_H
#define LUMINAL_DIALECT_LLIR_LIBRARIES_LIBRARIES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Support/MachineModel.h"

namespace luminal::llir {

/// The decision about one op.
struct LibraryChoice {
  /// The op that replaced it; null if it stays.
  mlir::Operation *call = nullptr;
  /// The reasons, as arguments of a remark.
  llvm::SmallVector<Reporter::Arg> why;
};

/// A library that computes some flat ops.
class Library {
public:
  virtual ~Library();
  /// Returns the name that `--library` has for it.
  virtual llvm::StringRef getName() const = 0;
  /// Replaces `op`, and the ops after it as far as the library computes them
  /// too, with a call if `machine` computes it faster that way. `precision` is
  /// that of rules: unless it is "exact", results are rounded less often than
  /// the program says. Ops that become dead stay where they are.
  virtual LibraryChoice replace(mlir::Operation *op, const Assumptions &symbols,
                                const MachineModel &machine,
                                llvm::StringRef precision) const = 0;
};

/// Returns the library cuBLASLt, for matrix products.
const Library &getCublasLt();

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_LIBRARIES_LIBRARIES_H
