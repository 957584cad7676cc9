//===- Resample.h - What kernels of interpolation share -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_RESAMPLE_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_RESAMPLE_H

#include "Helpers.h"

namespace luminal::pt2 {

/// One resampled dim.
struct Resampled {
  unsigned axis;
  Expr in, out;
  /// What the caller states instead of out / in.
  std::optional<double> scale;
  bool alignCorners;
};

/// How many source elements one result's element is wide, in f64.
Value stepOf(OpCall &o, const Resampled &r);

/// The weight at a distance that is not negative: a triangle, or Keys' kernel
/// with the slope `a`.
Value kernelAt(hlir::Composer &c, Value distance, bool isCubic, double a);

/// Elements of type ui8 along one dim, by weights of 16 bits, rounded to bytes.
Value resampleBytes(OpCall &o, Value x, const Resampled &r, bool isCubic,
                    bool antialias);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_RESAMPLE_H
