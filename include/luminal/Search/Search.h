//===- Search.h - Which program and which schedules are the fastest -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search loop, written against two small interfaces: a space of programs
// and a clock. It depends on neither MLIR nor a device, so tests run it on
// recorded times.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SEARCH_SEARCH_H
#define LUMINAL_SEARCH_SEARCH_H

#include "luminal/Support/Result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace luminal::search {

/// One way to run a kernel.
struct Option {
  /// Identifies the kernel, its schedule and the device that it is timed on
  /// (KernelKey.h). Options with equal keys take equal time.
  std::string key;
  /// The schedule, as text for reports.
  std::string title;
  /// Seconds, by the static price.
  double predicted = 0;
  /// The terms of the predicted time, in seconds by name, for reports.
  std::vector<std::pair<std::string, double>> terms = {};
};

/// Kernels of a program that are equal.
struct KernelClass {
  /// A name for reports.
  std::string name;
  /// Number of these kernels in one call.
  uint64_t count = 1;
  /// The ways to run each of these kernels. The first is the choice of the
  /// static price; the others are those known so far. `Space::refine` finds
  /// more.
  std::vector<Option> options;
};

/// A program of the space, lowered to kernels.
struct Program {
  /// Equal for equal programs.
  std::string digest;
  /// How the program was found, for reports.
  std::string title;
  std::vector<KernelClass> classes;
  /// Programs with the same name here are similar in what runs between kernels,
  /// so their sums of kernel times can be compared; sums of different families
  /// are less comparable.
  std::string family = {};
};

/// Seconds of one run by `Option::key`; infinite if the kernel cannot be timed.
using Times = std::map<std::string, double>;

/// A program with one option chosen for each class.
struct Choice {
  const Program *program = nullptr;
  std::vector<size_t> options;
  /// Sum over all kernels of the measured time or, if it is unknown, the
  /// predicted one.
  double seconds = 0;
};

/// The set of programs that are equal to the given one.
class Space {
public:
  virtual ~Space();
  /// The best program by static prices.
  virtual Result<Program> best() = 0;
  /// Draws random program number `number` (from 1); nullopt if the space has no
  /// more. The same number gives the same program, provided that the same times
  /// were passed to `learn` before.
  virtual Result<std::optional<Program>> draw(uint64_t number) = 0;
  /// Returns further options of a class: neighbours of the given option and, if
  /// that is the first option, options of other forms too. Never returns an
  /// option that the class already has.
  virtual Result<std::vector<Option>> refine(const Program &program,
                                             size_t kernelClass, size_t option);
  /// Passes measured times to the space, which uses them as prices for later
  /// draws.
  virtual void learn(const Program &program, const Times &times);
};

class Clock {
public:
  virtual ~Clock();
  /// Times all options of these classes that are missing in `times`. An option
  /// that is still missing afterwards is unknown (a frozen cache).
  virtual Status time(const Program &program,
                      std::span<const size_t> kernelClasses, Times &times) = 0;
  /// Seconds of one call of each whole program, timed in interleaved runs;
  /// nullopt if they are unknown. All programs must compute the same results as
  /// the first one; otherwise returns an error that names the program.
  virtual Result<std::optional<std::vector<double>>>
  timePrograms(std::span<const Choice> choices) = 0;
};

/// State of the search, for progress reports.
struct Progress {
  /// Seconds of the static choice and of the best choice so far, as sums of
  /// kernels.
  double first = 0, best = 0;
  uint64_t candidates = 0;
  /// Absent if there is no time budget.
  std::optional<double> secondsLeft;
};

struct SearchOptions {
  /// Time budget; 0: no limit.
  double seconds = 0;
  /// Maximum number of programs to try; 0: no limit.
  uint64_t candidates = 0;
  /// Maximum number of programs that are timed as a whole, besides the static
  /// choice: first the best of each family, then others.
  unsigned finalists = 4;
  /// A schedule or program replaces the static choice only if its time is below
  /// this share of the static choice's time. This keeps the static choice among
  /// equals.
  double worth = 0.98;
  /// Number of consecutive draws without a new program after which the space
  /// counts as exhausted.
  unsigned patience = 8;
  /// Asked during the search; when true, the search ends with the best choice
  /// so far.
  std::function<bool()> isStopped;
  /// Seconds since an arbitrary point in time.
  std::function<double()> now;
  std::function<void(const Progress &)> progress;
};

/// A program that the search tried.
struct Tried {
  std::string digest, title;
  /// Sum of the times of its kernels.
  double seconds = 0;
  /// Time of the whole program, if it was measured. The first program was timed
  /// with the static schedules if the static choice won, otherwise with the
  /// best schedules found.
  std::optional<double> whole;
  /// Whether the search tried other schedules of its kernels, and whether it is
  /// the program found.
  bool kept = false, won = false;
};

/// A point of the curve of the best sum of kernel times over time.
struct Point {
  /// Seconds since the search began.
  double at = 0;
  double best = 0;
};

/// Where the search spent its time, in seconds.
struct Spent {
  /// Drawing and lowering programs; proposing schedules; timing kernels; timing
  /// whole programs.
  double programs = 0, schedules = 0, kernels = 0, wholes = 0;
};

struct Outcome {
  /// The program found, with the option chosen for each class. If the static
  /// choice won, these are its options.
  Program program;
  std::vector<size_t> options;
  Times times;
  /// Sums of kernel times of the static choice and of the choice found.
  double staticSeconds = 0, seconds = 0;
  /// Times of the whole programs of the same two choices, if they were
  /// measured.
  std::optional<double> staticWhole, whole;
  std::vector<Tried> tried;
  /// All options of each kernel class that any program had, by the key of the
  /// class's first option.
  std::map<std::string, std::vector<Option>> ways;
  /// Each improvement of the best sum.
  std::vector<Point> curve;
  Spent spent;
  /// Why the search ended: "budget", "candidates", "nothing new" or "stopped".
  std::string reason;
};

/// Searches for the fastest program. Deterministic if the space and the clock
/// are and no time budget ends the search.
Result<Outcome> search(Space &space, Clock &clock,
                       const SearchOptions &options);

/// Chooses the fastest option of each class. An option of unknown time is
/// chosen only if it is the first.
Choice chooseOptions(const Program &program, const Times &times, double worth);

} // namespace luminal::search

#endif // LUMINAL_SEARCH_SEARCH_H
