//===- Resample.h - Shared parts of interpolation kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_RESAMPLE_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_RESAMPLE_H

#include "Helpers.h"

namespace luminal::pt2 {

/// One resampled dim.
struct Resampled {
  unsigned axis;
  Expr in, out;
  /// Stated by the caller; replaces out / in.
  std::optional<double> scale;
  bool alignCorners;
};

/// The distance of neighboring result elements in source elements, in f64.
Value stepOf(OpCall &o, const Resampled &r);

/// The weight at a non-negative distance: a triangle (linear), or Keys' cubic
/// kernel with the parameter `a`.
Value kernelAt(hlir::Composer &c, Value distance, bool isCubic, double a);

/// Resamples ui8 elements along one dim with 16-bit weights, rounded to bytes.
Value resampleBytes(OpCall &o, Value x, const Resampled &r, bool isCubic,
                    bool antialias);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_RESAMPLE_H
