//===- IndexMap.h - Maps of views as arithmetic on integers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map with its symbols bound: the position in a source tensor for each
// element of an index space. Every index is bounds-checked.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_REFERENCE_INDEXMAP_H
#define LUMINAL_LIB_REFERENCE_INDEXMAP_H

#include "luminal/Reference/Interpreter.h"
#include "luminal/Support/Expr.h"

namespace luminal::reference {

/// An expression over dims, compiled to postfix code.
class IndexProgram {
public:
  explicit IndexProgram(const Expr &e) : e(e) { compile(e); }
  /// nullopt on overflow or division by zero.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> dims,
                                  llvm::SmallVectorImpl<int64_t> &stack) const;

private:
  void compile(const Expr &e);
  /// Like evaluate, but also nullopt if a partial result overflows.
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
  /// The index of an element, given by its row-major number.
  Index at(int64_t element) const;
  /// Advances an index by a number of elements.
  void advance(Index &index, int64_t steps) const;
  /// Splits elements [begin, begin + count) into pieces of rows and calls
  /// fn(done, n, index) for each: n elements that start at `index`, after
  /// `done` earlier ones.
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
  /// The values of elements [begin, begin + count); false if one has no value.
  bool fill(int64_t begin, int64_t count, int64_t *values) const;

private:
  IndexSpace space;
  IndexProgram program;
  /// Set if the expression is affine and cannot overflow.
  std::optional<Affine> affine;
};

/// `e` with the symbols replaced by their values.
Expr bindExpr(const Expr &e, const SymbolValues &symbols);

class IndexMap {
public:
  /// `results` maps an index of `shape` to one of `sourceShape`. nullopt if an
  /// index is known to be outside the source; `error` then names it.
  static std::optional<IndexMap> get(llvm::ArrayRef<Expr> results,
                                     const SymbolValues &symbols,
                                     llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<int64_t> sourceShape,
                                     std::string &error);

  /// positions[i] = the position of element begin + i of the index space, i <
  /// count.
  bool fill(int64_t begin, int64_t count, int64_t *positions,
            std::string &error) const;

  /// Whether positions are an affine function of the index, with all of them
  /// inside the source.
  bool isLinear() const { return linear; }
  /// For a linear map: calls fn(done, position, stride, n) for each run of
  /// elements; element begin + done + j is at position + j * stride, j < n.
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
