//===- Windows.h - Columns of a product that are windows of an image ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The windows of a convolution overlap: each element of the image is in as many
// columns as the window has elements. If the image is copied once, with its
// lines side by side, the columns need no packing: the columns of one step of k
// are consecutive elements of the copy, at an offset that depends on k alone. A
// line of the copy is padded after its last column; these places belong to no
// column. A stride splits the copy into phases, each of which is read with
// stride one.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_WINDOWS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_WINDOWS_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

namespace luminal {

/// The columns of a product as windows of an image.
struct Windows {
  /// One dim of the image, read at `begin + stride * column + offset`.
  struct Axis {
    /// An expression over batch dims.
    Expr begin;
    /// The digit of the columns' index that steps along this axis, if any does.
    std::optional<unsigned> digit;
    int64_t stride = 1;
    /// An expression over k, from 0 to `reach`.
    Expr offset;
    int64_t reach = 0;
    /// The growth of `offset floordiv stride` with each outer step of k.
    int64_t outerStep = 0;

    /// The image's own index, as a function of dim `place`, where that is not
    /// the index above: at the ends of a line that is continued, reflected or
    /// repeated beyond them.
    std::optional<Expr> turned;
    unsigned place = 0;

    /// Returns the image's own index of the index `at`.
    Expr getIndex(const Expr &at) const;
    /// Returns the number of phases: indices that differ by less than `stride`
    /// and have a copy each.
    int64_t countPhases() const { return std::min(stride, reach + 1); }
    /// Returns the padding of the axis: the places that windows reach beyond
    /// the last column.
    int64_t countMore() const { return reach / stride; }
  };
  /// A digit of the columns' index: `dim floordiv divisor mod extent`.
  struct Digit {
    int64_t divisor = 1, extent = 1;
    unsigned axis = 0;
  };

  mlir::Value image;
  llvm::SmallVector<Axis> axes;
  /// The fastest digit first; only the last digit is cut into work items.
  llvm::SmallVector<Digit> digits;
  /// The steps of k are `outer` times `period`: one outer step moves all reads
  /// by a constant distance.
  int64_t outer = 1, period = 1;

  const Digit &getLast() const { return digits.back(); }
  int64_t countColumns() const { return getLast().divisor * getLast().extent; }
  /// The copy for a work item of `columns`, a multiple of the last digit's
  /// divisor.
  struct Layout {
    /// The distance between neighbouring indices of each axis, and between its
    /// phases.
    llvm::SmallVector<int64_t> steps, phaseSteps;
    /// The length of a line: the distance between neighbouring indices of the
    /// second digit.
    int64_t line = 0;
    /// The number of places that the columns of one index of the last digit
    /// span, that the columns of a work item span, and that the whole copy has.
    int64_t lower = 1, span = 0, size = 0;
    /// The distance between two outer steps of k.
    int64_t outerStep = 0;
  };
  Layout getLayout(int64_t columns) const;
  /// Returns the distance of each column of a tile from the tile's first
  /// column, if it is the same for every tile that begins at a multiple of
  /// `columns`; empty if lines end inside tiles at different columns.
  llvm::SmallVector<int64_t> getDistances(int64_t columns,
                                          const Layout &layout) const;
  /// Returns the distance from a column to the element that it reads at k.
  Expr getOffset(const Layout &layout) const;

  /// The dim of the analysis that is k in `offset`.
  unsigned kDim = 0;
};

/// Matches `operand` at `index`, over the dims `column`, `k` and others, as
/// windows. Refuses if no element of the image is read more than once or at a
/// distance, or if a size is not known.
Decision findWindows(KernelAnalysis &a, mlir::Value operand, Index index,
                     unsigned column, unsigned k, Windows &windows);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_WINDOWS_H
