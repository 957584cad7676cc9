//===- Workloads.h - Inputs whose results are known exactly ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_UTILS_EQSAT_BENCH_WORKLOADS_H
#define LUMINAL_UTILS_EQSAT_BENCH_WORKLOADS_H

#include "Figures.h"
#include "luminal/EqSat/Core/Runner.h"

#include <memory>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace luminal::eqsat::bench {

/// Runs to the end, whatever it takes.
RunnerOptions unlimited();

/// The core alone: the microbenchmark of symbolic differentiation, sums of
/// distinct leaves, chains of matrix products, and drawing programs of one.
void runMath(Figures &figures);
void runSums(Figures &figures);
void runChains(Figures &figures);
void runCandidates(Figures &figures);

/// Through PDL: matches a second, and a chain from MLIR text to MLIR text.
void runMatchRate(Figures &figures);
void runChainFromText(Figures &figures);

/// With every dialect, on one thread.
std::unique_ptr<mlir::MLIRContext> makeContext();
/// A program (an archive or a `.mlir` file) with all compiled-in rule sets.
void runModel(Figures &figures, const std::string &path);

/// Extents of 161 matrices; shorter chains are the first of them.
inline constexpr unsigned kDims[162] = {
    73, 77, 99, 39, 20, 76, 70, 75,  41, 84, 93,  79, 61, 82, 84, 46, 36, 78,
    44, 42, 12, 77, 90, 74, 72, 29,  98, 65, 75,  60, 33, 19, 22, 34, 44, 71,
    41, 93, 29, 86, 32, 99, 95, 24,  85, 85, 46,  54, 18, 85, 73, 37, 21, 51,
    71, 88, 62, 93, 16, 41, 94, 91,  16, 35, 100, 70, 32, 78, 22, 58, 76, 100,
    20, 68, 10, 88, 93, 96, 35, 37,  21, 78, 76,  99, 86, 97, 92, 33, 44, 46,
    62, 71, 79, 44, 91, 89, 58, 33,  88, 15, 82,  16, 11, 83, 83, 63, 62, 82,
    87, 71, 53, 54, 50, 96, 33, 100, 14, 83, 75,  53, 17, 39, 41, 65, 51, 43,
    86, 40, 47, 89, 90, 58, 12, 15,  10, 13, 53,  53, 94, 84, 56, 75, 95, 25,
    62, 93, 84, 79, 65, 98, 15, 72,  48, 85, 10,  50, 87, 88, 20, 22, 58, 71};

struct Chain {
  unsigned matrices;
  uint64_t bestCost;
};
inline constexpr Chain kChains[] = {
    {11, 1102400}, {21, 1051092}, {41, 1860216}, {81, 2909500}, {161, 5838340}};

} // namespace luminal::eqsat::bench

#endif // LUMINAL_UTILS_EQSAT_BENCH_WORKLOADS_H
