//===- Windows.h - Columns of a product that are windows of an image ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The columns of a convolution overlap: each element of the image is in as many
// as the window is large. Where the image is copied once, with its lines side
// by side, the columns need no packing: those of one step of k are consecutive
// elements of the copy, from a place that k alone tells. A line has a few
// places after its last column, which belong to no column; a stride parts the
// image into phases, each of which is read without a stride.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_WINDOWS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_WINDOWS_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

namespace luminal {

struct Windows {
  /// One dim of the image, read at `begin + stride * column + offset`.
  struct Axis {
    /// Over batch dims.
    Expr begin;
    /// Which part of the columns steps along it, if any does.
    std::optional<unsigned> digit;
    int64_t stride = 1;
    /// Over k, from 0 to `reach`.
    Expr offset;
    int64_t reach = 0;
    /// By how much `offset floordiv stride` grows with each outer step of k.
    int64_t outerStep = 0;

    /// Indices that have a copy each of what is read at a distance of `stride`.
    int64_t countPhases() const { return std::min(stride, reach + 1); }
    /// Places that windows need beyond the columns.
    int64_t countMore() const { return reach / stride; }
  };
  /// A part of the columns' dim: `dim floordiv divisor mod extent`.
  struct Digit {
    int64_t divisor = 1, extent = 1;
    unsigned axis = 0;
  };

  mlir::Value image;
  llvm::SmallVector<Axis> axes;
  /// Fastest first; only the last is cut among units.
  llvm::SmallVector<Digit> digits;
  /// The steps of k are `outer` times `period`: with each of the outer ones all
  /// that is read is at a fixed distance.
  int64_t outer = 1, period = 1;

  const Digit &getLast() const { return digits.back(); }
  int64_t countColumns() const { return getLast().divisor * getLast().extent; }
  /// The copy for a unit of `columns`, a multiple of the last digit's divisor.
  struct Layout {
    /// Places from one index of an axis to the next, and from one phase to the
    /// next.
    llvm::SmallVector<int64_t> steps, phaseSteps;
    /// Places of a line: from one index of the second digit to the next.
    int64_t line = 0;
    /// Places that the columns of one index of the last digit span, those that
    /// a unit's columns span, and those of the whole copy.
    int64_t lower = 1, span = 0, size = 0;
    /// The places from one outer step of k to the next.
    int64_t outerStep = 0;
  };
  Layout getLayout(int64_t columns) const;
  /// How many places the columns of a tile are behind its first one, if that is
  /// the same for each tile that begins at a multiple of `columns`; empty where
  /// lines end within tiles, not at the same column of each.
  llvm::SmallVector<int64_t> getDistances(int64_t columns,
                                          const Layout &layout) const;
  /// The places from a column to what it reads at k.
  Expr getOffset(const Layout &layout) const;

  /// Over this dim of the analysis.
  unsigned kDim = 0;
};

/// The windows that `operand` is at `index`, over the dims `column` and `k` and
/// others; refused where no element of an image is read more than once or at a
/// distance, or a size is not known.
Decision findWindows(KernelAnalysis &a, mlir::Value operand, Index index,
                     unsigned column, unsigned k, Windows &windows);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_WINDOWS_H
