//===- Libraries.h - Which ops a library computes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target may have libraries whose code is better than what is generated. One
// implementation of Library is one of them: it knows what the library can do,
// how that is stated as an op (LibraryOpInterface), and what it costs beside
// kernels. Sizes are looked at here.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_LIBRARIES_LIBRARIES_H
#define LUMINAL_DIALECT_LLIR_LIBRARIES_LIBRARIES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Support/MachineModel.h"

namespace luminal::llir {

/// What was decided about one op.
struct LibraryChoice {
  /// The op that replaced it; null where it stays.
  mlir::Operation *call = nullptr;
  /// Why, as arguments of a remark.
  llvm::SmallVector<Reporter::Arg> why;
};

class Library {
public:
  virtual ~Library();
  /// As `--library` has it.
  virtual llvm::StringRef getName() const = 0;
  /// Replaces `op`, with what follows it as far as the library does that too,
  /// by a call where `machine` computes it faster so. `precision` is that of
  /// rules: results are rounded less often than the program says unless it is
  /// "exact". What is dead then stays where it is.
  virtual LibraryChoice replace(mlir::Operation *op, const Assumptions &symbols,
                                const MachineModel &machine,
                                llvm::StringRef precision) const = 0;
};

/// Matrix products by cuBLASLt.
const Library &getCublasLt();

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_LIBRARIES_LIBRARIES_H
