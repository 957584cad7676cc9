//===- Workloads.h - Inputs whose results are known exactly ---------------===//

#ifndef LUMINAL_UTILS_EQSAT_BENCH_WORKLOADS_H
#define LUMINAL_UTILS_EQSAT_BENCH_WORKLOADS_H

#include "luminal/EqSat/EGraph.h"
#include "luminal/EqSat/Runner.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace luminal::eqsat::bench {

/// One line of the table.
struct Row {
  std::string name;
  double milliseconds = 0; ///< 0: not a time
  double goal = 0;         ///< milliseconds where a match takes 8 ns; 0: none
  double megabytes = 0;
  double goalMegabytes = 0;
  /// What else is to be said; begins with "WRONG" where a count is wrong.
  std::string note = {};
};

/// Seconds of this process's time on the processor: everything here runs on one
/// thread, and the machine may be shared.
inline double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

RunnerOptions unlimited();
double megabytesOf(const RunReport &report);

/// Nanoseconds a match of a + (b + c) on the saturated sum of ten leaves, by a
/// plain loop over flat arrays: what times are measured against.
double calibrate();

/// The core alone.
Row runMath();
Row runSum(unsigned leaves, double goal);
Row runChain(unsigned matrices, double goal, double goalMegabytes);

/// Through PDL.
Row runMatchRate();
Row runChainFromText(unsigned matrices, double goal);

/// A program as HLIR, with all compiled-in rule sets.
std::vector<Row> runModel(const std::string &path);

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
