//===- Search.h - Which program and which schedules are the fastest -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop of the search, over two small interfaces: a space of programs and a
// clock. It knows neither MLIR nor a device, so that tests run it on recorded
// times.
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

/// A way to run a kernel.
struct Option {
  /// Identifies the kernel, how it runs and what it is timed on (KernelKey.h):
  /// equal keys take equal time.
  std::string key;
  /// How it runs, for the reader.
  std::string title;
  /// Seconds, by the static price.
  double predicted = 0;
  /// What the price is made of, in seconds by name, for the reader.
  std::vector<std::pair<std::string, double>> terms = {};
};

/// Equal kernels of a program.
struct KernelClass {
  /// For the reader.
  std::string name;
  /// How many of them a call runs.
  uint64_t count = 1;
  /// Ways to run each; the first is the one that static prices choose. Others
  /// are there where they are known already; `Space::refine` gives more.
  std::vector<Option> options;
};

/// A member of the space, lowered to kernels.
struct Program {
  /// Equal for equal programs.
  std::string digest;
  /// How it was found, for the reader.
  std::string title;
  std::vector<KernelClass> classes;
  /// Sums of kernels say more about programs of one family than of others: what
  /// lies between kernels differs.
  std::string family = {};
};

/// Seconds of one run by key; infinite where the kernel cannot be timed.
using Times = std::map<std::string, double>;

/// A program with one option of each class.
struct Choice {
  const Program *program = nullptr;
  std::vector<size_t> options;
  /// The sum over all kernels, measured where it could be, else predicted.
  double seconds = 0;
};

/// The programs that are equal to the given one.
class Space {
public:
  virtual ~Space();
  /// The best program by static prices.
  virtual Result<Program> best() = 0;
  /// The program number `number` (from 1) of those drawn at random; nothing
  /// where the space has no more. The same number gives the same program as
  /// long as the space was told the same times.
  virtual Result<std::optional<Program>> draw(uint64_t number) = 0;
  /// More ways to run the class, like that option or, for the first, in other
  /// forms too; none that the class has.
  virtual Result<std::vector<Option>> refine(const Program &program,
                                             size_t kernelClass, size_t option);
  /// Told what was measured, as prices of later draws.
  virtual void learn(const Program &program, const Times &times);
};

class Clock {
public:
  virtual ~Clock();
  /// Times the options of these classes that `times` does not have. What is not
  /// there afterwards is not known (a frozen cache).
  virtual Status time(const Program &program,
                      std::span<const size_t> kernelClasses, Times &times) = 0;
  /// Seconds of one call of each whole program, timed in turn; nothing where
  /// they are not known. All must compute what the first one does: an error
  /// says which does not.
  virtual Result<std::optional<std::vector<double>>>
  timePrograms(std::span<const Choice> choices) = 0;
};

/// What the search does at the moment.
struct Progress {
  /// Seconds of the static choice and of the best so far, by sums of kernels.
  double first = 0, best = 0;
  uint64_t candidates = 0;
  /// Absent without a time budget.
  std::optional<double> secondsLeft;
};

struct SearchOptions {
  /// 0: no limit.
  double seconds = 0;
  /// Programs to look at; 0: no limit.
  uint64_t candidates = 0;
  /// Programs that are timed as a whole, besides the first: the best of each
  /// family, then others.
  unsigned finalists = 4;
  /// A schedule, or a program, takes the place of the static choice if it needs
  /// less than this share of its time: what is as fast as that stays as it is.
  double worth = 0.98;
  /// Draws without a new program after which there is no other.
  unsigned patience = 8;
  /// Whether to deploy what was found so far.
  std::function<bool()> isStopped;
  /// Seconds since any point in time.
  std::function<double()> now;
  std::function<void(const Progress &)> progress;
};

/// One program that was looked at.
struct Tried {
  std::string digest, title;
  /// By the sum of its kernels.
  double seconds = 0;
  /// As a whole, if it was timed so; of the static choice, where that won.
  std::optional<double> whole;
  /// Whether other schedules of its kernels were looked at; and whether it is
  /// the one that was found.
  bool kept = false, won = false;
};

/// The least sum of kernels so far.
struct Point {
  /// Since the search began.
  double at = 0;
  double best = 0;
};

/// What the search spent its seconds on.
struct Spent {
  /// Drawing programs and lowering them; proposing schedules; timing kernels;
  /// timing whole programs.
  double programs = 0, schedules = 0, kernels = 0, wholes = 0;
};

struct Outcome {
  /// The program found, the options of its classes, and those of the static
  /// choice where it is that program's.
  Program program;
  std::vector<size_t> options;
  Times times;
  /// Sums of kernels: of the static choice, of what was found.
  double staticSeconds = 0, seconds = 0;
  /// Whole programs.
  std::optional<double> staticWhole, whole;
  std::vector<Tried> tried;
  /// Ways to run the kernels of the program found that this or any other
  /// program saw, by the key of the first one.
  std::map<std::string, std::vector<Option>> ways;
  /// Whenever it became less.
  std::vector<Point> curve;
  Spent spent;
  /// Why it ended: "budget", "candidates", "nothing new", "stopped".
  std::string reason;
};

/// Looks for the fastest program. Deterministic where the space and the clock
/// are and no time budget ends it.
Result<Outcome> search(Space &space, Clock &clock,
                       const SearchOptions &options);

/// The options of least time of each class. One that is not known is taken only
/// where it is the first.
Choice chooseOptions(const Program &program, const Times &times, double worth);

} // namespace luminal::search

#endif // LUMINAL_SEARCH_SEARCH_H
