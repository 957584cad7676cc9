//===- IndexMap.h - Maps of views as arithmetic on integers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map with the symbols bound: for each element of an index space, the
// position of an element of a source tensor. Every index is checked.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_REFERENCE_INDEXMAP_H
#define LUMINAL_LIB_REFERENCE_INDEXMAP_H

#include "luminal/Reference/Interpreter.h"
#include "luminal/Support/Expr.h"

namespace luminal::reference {

/// One expression over dims as postfix code.
class IndexProgram {
public:
  explicit IndexProgram(const Expr &e) { compile(e); }
  /// Nothing on overflow and division by zero.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> dims,
                                  llvm::SmallVectorImpl<int64_t> &stack) const;

private:
  void compile(const Expr &e);
  struct Instruction {
    Expr::Kind kind;
    int64_t value;
  };
  llvm::SmallVector<Instruction> code;
};

/// `e` with the symbols replaced by their values.
Expr bindExpr(const Expr &e, const SymbolValues &symbols);

class IndexMap {
public:
  /// `results` maps an index of `shape` to one of `sourceShape`. Where an index
  /// leaves the source, nothing, and `error` says which.
  static std::optional<IndexMap> get(llvm::ArrayRef<Expr> results,
                                     const SymbolValues &symbols,
                                     llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<int64_t> sourceShape,
                                     std::string &error);

  /// positions[i] = that of element begin + i of the index space, i < count.
  bool fill(int64_t begin, int64_t count, int64_t *positions,
            std::string &error) const;

  /// Set where positions are an affine function of the index: then
  /// position = base + sum of strides[i] * d_i, and all of them are inside.
  bool isLinear() const { return linear; }

private:
  llvm::SmallVector<int64_t> shape, sourceShape;
  bool linear = false;
  int64_t base = 0;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<IndexProgram> programs;
};

} // namespace luminal::reference

#endif // LUMINAL_LIB_REFERENCE_INDEXMAP_H
