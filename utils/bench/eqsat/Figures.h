//===- Figures.h - What was measured, beside what was wanted --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_UTILS_EQSAT_BENCH_FIGURES_H
#define LUMINAL_UTILS_EQSAT_BENCH_FIGURES_H

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>

namespace luminal::eqsat::bench {

/// What a figure is held to.
struct Goal {
  enum Kind { None, Exactly, AtMost, AtLeast } kind = None;
  double value = 0;
  /// Of time, as on a machine where the calibrator takes 8 ns a match.
  bool scaled = false;

  static Goal exactly(double v) { return {Exactly, v, false}; }
  static Goal atMost(double v) { return {AtMost, v, false}; }
  static Goal milliseconds(double v) { return {AtMost, v, true}; }
  static Goal rate(double v) { return {AtLeast, v, true}; }
};

/// Seconds of this process's time on the processor: everything here runs on one
/// thread, and the machine may be shared.
inline double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Prints one line a figure.
class Figures {
public:
  Figures();
  ~Figures();

  /// Measures how fast the machine is right now. Goals of time are scaled by
  /// the last answer.
  void calibrate();
  /// The figures that follow are of this workload.
  void workload(std::string name);
  void add(const std::string &what, double value, const char *unit,
           Goal goal = {});
  void addText(const std::string &what, const std::string &text);
  /// A workload that could not run at all.
  void fail(const std::string &why);
  bool allMet() const { return missed == 0; }
  unsigned numMissed() const { return missed; }

  /// Seconds of the best of up to three runs (one, where it is long).
  template <typename Fn>
  double time(Fn &&run) {
    calibrate();
    double best = 1e300;
    for (unsigned repeat = 0; repeat != 3 && best > 0; ++repeat) {
      double start = now();
      run();
      double took = now() - start;
      best = std::min(best, took);
      if (took > 1)
        break;
    }
    return best;
  }

private:
  void line(const std::string &what, const std::string &value,
            const std::string &goal, const std::string &verdict);

  class Calibrator;
  Calibrator *calibrator;
  double nanoseconds = 8;
  std::string name;
  unsigned missed = 0;
};

/// How much memory the process takes beyond what it had, at most.
class MemoryMeter {
public:
  MemoryMeter();
  double megabytes() const;

private:
  double before;
};

} // namespace luminal::eqsat::bench

#endif // LUMINAL_UTILS_EQSAT_BENCH_FIGURES_H
