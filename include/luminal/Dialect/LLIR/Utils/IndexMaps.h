//===- IndexMaps.h - Composition and inversion of index maps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map takes the indices of one space (its domain, given by extents) to those
// of another (its range). Every positive answer here is proved: where no proof
// is found the answer is "no", never a guess.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_INDEXMAPS_H
#define LUMINAL_DIALECT_LLIR_UTILS_INDEXMAPS_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"

namespace luminal::llir {

/// Ranges of symbols, with the extents of an index space.
Assumptions withExtents(const Assumptions &symbols,
                        llvm::ArrayRef<Expr> extents);

/// `map` first, then `next`: simplified over the domain of `map`.
hlir::MapAttr compose(hlir::MapAttr map, hlir::MapAttr next,
                      llvm::ArrayRef<Expr> domain, const Assumptions &symbols);

/// The inverse of a map that is proved to be a bijection of `domain` onto
/// `range`; std::nullopt otherwise. Inverts reshapes, permutations, splits and
/// merges of dims, and their compositions.
std::optional<hlir::MapAttr> invert(hlir::MapAttr map,
                                    llvm::ArrayRef<Expr> domain,
                                    llvm::ArrayRef<Expr> range,
                                    const Assumptions &symbols);

/// Where the elements of `domain`, in row-major order, are proved to be
/// neighbours in row-major memory of extents `range`: the position of the
/// first.
std::optional<Expr> getContiguousOffset(hlir::MapAttr map,
                                        llvm::ArrayRef<Expr> domain,
                                        llvm::ArrayRef<Expr> range,
                                        const Assumptions &symbols);

/// Whether the elements of `domain`, in row-major order, are proved to be all
/// of `range` in that order: the same memory.
bool isAllInOrder(hlir::MapAttr map, llvm::ArrayRef<Expr> domain,
                  llvm::ArrayRef<Expr> range, const Assumptions &symbols);

/// The dim of a tensor's rows, which are one behind the other in memory: the
/// first dim whose extent is not 1; std::nullopt where there is none.
std::optional<unsigned> getRowDim(llvm::ArrayRef<Expr> extents);
/// The position of the first element of `row` in row-major memory.
Expr getRowPosition(const Expr &row, llvm::ArrayRef<Expr> extents);

/// The row-major reshape of `domain` to `range`: a bijection where both have
/// the same number of elements.
hlir::MapAttr getReshape(mlir::MLIRContext *context,
                         llvm::ArrayRef<Expr> domain,
                         llvm::ArrayRef<Expr> range,
                         const Assumptions &symbols);

/// How many leading dims of `source` are the rows of `domain`, its leading
/// `rows` dims, all of them in the same order, where nothing else that `map`
/// reads depends on those; 0 where nothing at all does. std::nullopt where rows
/// are read in any other way.
std::optional<unsigned> countDimsOfRows(hlir::MapAttr map,
                                        llvm::ArrayRef<Expr> domain,
                                        llvm::ArrayRef<Expr> source,
                                        unsigned rows,
                                        const Assumptions &symbols);

/// `e`, which uses none of the leading `rows` dims, where these are one.
Expr joinDimsOfRows(const Expr &e, unsigned rows);

/// Whether both have proved-equal numbers of elements.
bool haveSameSize(llvm::ArrayRef<Expr> a, llvm::ArrayRef<Expr> b,
                  const Assumptions &symbols);

/// Whether the extents are proved equal, one by one.
bool areEqual(llvm::ArrayRef<Expr> a, llvm::ArrayRef<Expr> b,
              const Assumptions &symbols);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_INDEXMAPS_H
