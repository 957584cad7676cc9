//===- IndexMaps.h - Composition and inversion of index maps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map takes the indices of one space (its domain, given by extents) to those
// of another (its range). A positive answer here is always proved; without a
// proof the answer is "no".
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_INDEXMAPS_H
#define LUMINAL_DIALECT_LLIR_UTILS_INDEXMAPS_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"

namespace luminal::llir {

/// Returns the ranges of symbols, extended by the extents of an index space.
Assumptions withExtents(const Assumptions &symbols,
                        llvm::ArrayRef<Expr> extents);

/// Returns the composition of `map` and then `next`, simplified over the domain
/// of `map`.
hlir::MapAttr compose(hlir::MapAttr map, hlir::MapAttr next,
                      llvm::ArrayRef<Expr> domain, const Assumptions &symbols);

/// Returns the inverse of `map` if it is proved to be a bijection of `domain`
/// onto `range`; otherwise std::nullopt. Inverts reshapes, permutations, splits
/// and merges of dims, and their compositions.
std::optional<hlir::MapAttr> invert(hlir::MapAttr map,
                                    llvm::ArrayRef<Expr> domain,
                                    llvm::ArrayRef<Expr> range,
                                    const Assumptions &symbols);

/// Returns the position of the first element that `map` reads, if the elements
/// of `domain`, in row-major order, are proved to be contiguous in row-major
/// memory of extents `range`; otherwise std::nullopt.
std::optional<Expr> getContiguousOffset(hlir::MapAttr map,
                                        llvm::ArrayRef<Expr> domain,
                                        llvm::ArrayRef<Expr> range,
                                        const Assumptions &symbols);

/// Returns whether the elements of `domain`, in row-major order, are proved to
/// be all of `range` in the same order, so that both may share memory.
bool isAllInOrder(hlir::MapAttr map, llvm::ArrayRef<Expr> domain,
                  llvm::ArrayRef<Expr> range, const Assumptions &symbols);

/// Returns the dim that counts a tensor's rows, which follow each other in
/// memory: the first dim whose extent is not 1; std::nullopt if there is none.
std::optional<unsigned> getRowDim(llvm::ArrayRef<Expr> extents);
/// Returns the position of the first element of `row` in row-major memory.
Expr getRowPosition(const Expr &row, llvm::ArrayRef<Expr> extents);

/// Returns the row-major reshape of `domain` to `range`, a bijection if both
/// have the same number of elements.
hlir::MapAttr getReshape(mlir::MLIRContext *context,
                         llvm::ArrayRef<Expr> domain,
                         llvm::ArrayRef<Expr> range,
                         const Assumptions &symbols);

/// The rows are the leading `rows` dims of `domain`. Returns how many leading
/// dims of `source` `map` reads at the row's index, all rows in the same order,
/// if nothing else that `map` reads depends on the row; 0 if nothing depends on
/// the row at all. std::nullopt for any other way to read rows.
std::optional<unsigned> countDimsOfRows(hlir::MapAttr map,
                                        llvm::ArrayRef<Expr> domain,
                                        llvm::ArrayRef<Expr> source,
                                        unsigned rows,
                                        const Assumptions &symbols);

/// Renumbers the dims of `e` for a space in which the leading `rows` dims, none
/// of which `e` uses, are joined into one.
Expr joinDimsOfRows(const Expr &e, unsigned rows);

/// Returns whether both are proved to have the same number of elements.
bool haveSameSize(llvm::ArrayRef<Expr> a, llvm::ArrayRef<Expr> b,
                  const Assumptions &symbols);

/// Returns whether the extents are proved equal, one by one.
bool areEqual(llvm::ArrayRef<Expr> a, llvm::ArrayRef<Expr> b,
              const Assumptions &symbols);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_INDEXMAPS_H
