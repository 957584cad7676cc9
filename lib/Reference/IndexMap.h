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
  explicit IndexProgram(const Expr &e) : e(e) { compile(e); }
  /// std::nullopt on overflow and division by zero.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> dims,
                                  llvm::SmallVectorImpl<int64_t> &stack) const;

private:
  void compile(const Expr &e);
  /// As evaluate, but std::nullopt where a partial result overflows.
  std::optional<int64_t>
  evaluateFast(llvm::ArrayRef<int64_t> dims,
               llvm::SmallVectorImpl<int64_t> &stack) const;
  Expr e;
  struct Instruction {
    Expr::Kind kind;
    int64_t value;
  };
  llvm::SmallVector<Instruction> code;
};

/// The indices of a shape in row-major order.
class IndexSpace {
public:
  explicit IndexSpace(llvm::ArrayRef<int64_t> shape) : shape(shape) {}
  using Index = llvm::SmallVector<int64_t>;
  /// The index of an element.
  Index at(int64_t element) const;
  /// Advances an index by some elements.
  void advance(Index &index, int64_t steps) const;
  /// fn(done, n, index) for pieces of rows that make up elements [begin, begin
  /// + count): each piece has n elements, from `index` on.
  template <typename Fn>
  void forEachPiece(int64_t begin, int64_t count, Fn fn) const {
    Index index = at(begin);
    for (int64_t done = 0; done < count;) {
      int64_t n = shape.empty()
                      ? 1
                      : std::min(count - done, shape.back() - index.back());
      fn(done, n, index);
      done += n;
      advance(index, n);
    }
  }

private:
  llvm::SmallVector<int64_t> shape;
};

/// base + sum of strides[i] * d_i.
struct Affine {
  int64_t base = 0;
  llvm::SmallVector<int64_t> strides;
  int64_t at(llvm::ArrayRef<int64_t> index) const {
    int64_t value = base;
    for (auto [stride, i] : llvm::zip_equal(strides, index))
      value += stride * i;
    return value;
  }
  int64_t lastStride() const { return strides.empty() ? 0 : strides.back(); }
};

/// The values of an expression over an index space.
class IndexValues {
public:
  IndexValues(const Expr &e, llvm::ArrayRef<int64_t> shape);
  /// Those of elements [begin, begin + count); false where one has none.
  bool fill(int64_t begin, int64_t count, int64_t *values) const;

private:
  IndexSpace space;
  IndexProgram program;
  /// Set where the expression is affine, and nothing overflows.
  std::optional<Affine> affine;
};

/// `e` with the symbols replaced by their values.
Expr bindExpr(const Expr &e, const SymbolValues &symbols);

class IndexMap {
public:
  /// `results` maps an index of `shape` to one of `sourceShape`. If an index is
  /// outside the source, std::nullopt, and `error` names it.
  static std::optional<IndexMap> get(llvm::ArrayRef<Expr> results,
                                     const SymbolValues &symbols,
                                     llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<int64_t> sourceShape,
                                     std::string &error);

  /// positions[i] = that of element begin + i of the index space, i < count.
  bool fill(int64_t begin, int64_t count, int64_t *positions,
            std::string &error) const;

  /// Set where positions are an affine function of the index, and all of them
  /// are inside.
  bool isLinear() const { return linear; }
  /// Of a linear map: fn(done, position, stride, n) for each run of elements,
  /// where element begin + done + j is at position + j * stride, j < n.
  template <typename Fn>
  void forEachRun(int64_t begin, int64_t count, Fn fn) const {
    space.forEachPiece(
        begin, count,
        [&](int64_t done, int64_t n, llvm::ArrayRef<int64_t> index) {
          fn(done, position.at(index), position.lastStride(), n);
        });
  }

private:
  IndexMap(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sourceShape)
      : space(shape), sourceShape(sourceShape) {}

  IndexSpace space;
  llvm::SmallVector<int64_t> sourceShape;
  bool linear = true;
  Affine position;
  llvm::SmallVector<IndexProgram> programs;
};

} // namespace luminal::reference

#endif // LUMINAL_LIB_REFERENCE_INDEXMAP_H
