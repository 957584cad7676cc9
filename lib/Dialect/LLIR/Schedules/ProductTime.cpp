//===- ProductTime.cpp - Predicted times of products on a GPU -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The coefficients were fitted to chains of products on an H200 whose weights
// come from memory (utils/dev/product_times.py;
// test/unit/LLIR/ProductTimes.def). Tiles: 11 shapes in f16, 5 tiles and 1 to 4
// parts, with a median error of 4 percent, and of 7 on a third of the data that
// was held out; the chosen tile takes at most 1.15 of the best one's time. The
// library: 8 x 7 shapes in f16 (3 percent) and 3 x 3 in f32 (7). Kernels
// without tensor cores: the latter shapes (12).
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Schedules/ProductTime.h"
#include <algorithm>
#include <cmath>

using namespace luminal;
using namespace luminal::llir;

/// The elements of k in a step, and the largest tile (in sums) with which two
/// blocks are resident on an SM.
static constexpr double kDepth = 64, kSumsOfTwo = 128 * 128;
/// The sums of a tile up to which operands are prefetched six steps ahead
/// instead of four.
static constexpr int64_t kSumsAhead = 64 * 32;
/// The least steps of a part, and the most parts.
static constexpr double kLeastSteps = 4;
static constexpr int64_t kMostParts = 8;
/// Tiles within this factor of the best are equally good.
static constexpr double kSame = 1.01;

double llir::getReadTime(const ProductShape &shape,
                         const MachineModel &machine) {
  return shape.batch * (shape.rows + shape.columns) * shape.inner * shape.bits /
         8 / machine.sharedReadRate;
}

double llir::getTileTime(const ProductShape &shape, const PricedTile &tile,
                         const MachineModel &machine) {
  const auto &[batch, m, n, k, bits, across] = shape;
  // Nanoseconds: the begin and end of a kernel besides its launch; a step that
  // waits for nothing; the same for each 4096 sums of the tile; for each
  // operand that is not contiguous along k (16 to 128 rows took 1.15 to 1.4
  // times as long, 256 and 512 rows 1.01), less if operands are prefetched
  // further ahead; and merging split-k parts.
  constexpr double kEnds = 580, kStep = 192, kStepOfTile = 61,
                   kStepAcross = 170, kStepAhead = 15, kMeeting = 1240;
  // The fraction of the shorter of computing and reading memory that does not
  // overlap; and the fractions that are reached of the rates of caches, of
  // products in steady state, and of memory.
  constexpr double kHidden = 0.25, kCacheShare = 0.476, kProductShare = 1.18,
                   kMergeShare = 0.41;
  const double bytes = bits / 8.0, r = double(tile.rows),
               c = double(tile.columns), workers = machine.workers;
  const double tiles = batch * std::ceil(m / r) * std::ceil(n / c);
  const double steps = std::ceil(std::ceil(k / kDepth) / double(tile.parts));
  const double parts = std::ceil(std::ceil(k / kDepth) / steps),
               units = tiles * parts;
  const double room = workers * (r * c <= kSumsOfTwo ? 2 : 1);
  const double cacheRate = kCacheShare * machine.getCacheRate() * workers,
               productRate =
                   kProductShare * machine.products.staged.of(bits) / workers;
  const double ahead =
      !across && tile.rows * tile.columns <= kSumsAhead ? kStepAhead : 0;
  auto wave = [&](double blocks) {
    double step = std::max(
        {kStep + kStepOfTile * r * c / 4096 + kStepAcross * across - ahead,
         blocks * (r + c) * kDepth * bytes / cacheRate,
         std::ceil(blocks / workers) * r * c * kDepth / productRate});
    return steps * step;
  };
  double full = std::floor(units / room), rest = units - full * room;
  double time = full * wave(room) + (rest > 0 ? wave(rest) : 0);
  // Computing and reading memory overlap only in part.
  const double memory = getReadTime(shape, machine);
  time = std::max(time, memory) + kHidden * std::min(time, memory);
  // The sums of parts are f32.
  if (parts > 1)
    time +=
        kMeeting + units * r * c * 4 / (kMergeShare * machine.sharedReadRate);
  return machine.getKernelTime() + kEnds + time;
}

PricedTile llir::chooseTile(const ProductShape &shape,
                            const MachineModel &machine) {
  PricedTile best{0, 0};
  double least = 0;
  const double steps = std::ceil(shape.inner / kDepth);
  for (int64_t rows : {64, 128})
    for (int64_t columns : {32, 64, 128})
      for (int64_t parts = 1; parts <= kMostParts; ++parts) {
        if (parts > 1 && steps / double(parts) < kLeastSteps)
          break;
        PricedTile tile{rows, columns, parts};
        double time = getTileTime(shape, tile, machine);
        if (best.rows && time * kSame >= least)
          continue;
        best = tile;
        least = time;
      }
  return best;
}

namespace {
/// The terms of the time of other products: a constant, reading the operands
/// from memory, multiplying at the rate of the SMs that have work, and the
/// sequential steps along k.
struct ProductFit {
  /// Nanoseconds, and nanoseconds for each element of k.
  double beginning, step;
  /// Fractions of the rates at which all SMs read memory, and at which the code
  /// multiplies (MachineModel::Products).
  double readShare, rateShare;
  /// Rows and columns of a work item, and the most split-k parts.
  double rows, columns, mostParts;
};
} // namespace

static ProductFit getProductFit(ProductCode code, bool isNarrow,
                                const MachineModel &machine) {
  const double edge = machine.products.libraryEdge;
  if (code == ProductCode::Library)
    return isNarrow ? ProductFit{2840 + edge, 0.38, 2.53, 1.39, 128, 32, 1}
                    : ProductFit{6690 + edge, 0, 0.34, 1.12, 64, 32, 64};
  return isNarrow ? ProductFit{3280, 4.84, 2.82, 1.2, 64, 32, 4}
                  : ProductFit{6170, 0, 2.82, 0.7, 32, 32, 8};
}

double llir::getProductTime(const ProductShape &shape, ProductCode code,
                            const MachineModel &machine) {
  const auto &[batch, rows, columns, inner, bits, across] = shape;
  const bool isNarrow = bits <= 16;
  if (code == ProductCode::StagedKernel && isNarrow && machine.hasWarpGroups)
    return getTileTime(shape, chooseTile(shape, machine), machine);
  // The least extent of a split-k part.
  constexpr double kLeastInner = 128;
  const ProductFit fit = getProductFit(code, isNarrow, machine);
  const MachineModel::Rates &rates = code == ProductCode::Library
                                         ? machine.products.library
                                         : machine.products.kernels;
  double units = batch * std::ceil(std::min(rows, columns) / fit.rows) *
                 std::ceil(std::max(rows, columns) / fit.columns);
  double parts = std::clamp(inner / kLeastInner, 1.0, fit.mostParts);
  double read = batch * ((rows + columns) * inner + rows * columns) * bits / 8;
  double work = units * fit.rows * fit.columns * inner;
  double share = std::min(1.0, units * parts / machine.workers);
  return fit.beginning + read / (fit.readShare * machine.sharedReadRate) +
         work / (fit.rateShare * rates.of(bits) * share) +
         fit.step * inner / parts;
}
