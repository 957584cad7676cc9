//===- Search.cpp - Which program and which schedules are the fastest -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Search/Search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <set>

using namespace luminal;
using namespace luminal::search;

Space::~Space() = default;
Clock::~Clock() = default;

Result<std::vector<Option>> Space::refine(const Program &, size_t, size_t) {
  return std::vector<Option>();
}

void Space::learn(const Program &, const Times &) {}

static std::optional<double> find(const Times &times, const Option &option) {
  auto it = times.find(option.key);
  if (it == times.end() || !std::isfinite(it->second))
    return std::nullopt;
  return it->second;
}

Choice search::chooseOptions(const Program &program, const Times &times,
                             double worth) {
  Choice choice{&program, {}, 0};
  for (const KernelClass &kernelClass : program.classes) {
    const Option &first = kernelClass.options.front();
    size_t best = 0;
    std::optional<double> known = find(times, first);
    double least = known.value_or(first.predicted);
    // If the first option's time is unknown, the others cannot be compared with
    // it.
    for (size_t i = 1; known && i < kernelClass.options.size(); ++i)
      if (std::optional<double> time = find(times, kernelClass.options[i]))
        if (*time < (best ? least : worth * least))
          best = i, least = *time;
    choice.options.push_back(best);
    choice.seconds += double(kernelClass.count) * least;
  }
  return choice;
}

namespace {
/// Number of options that are timed together: enough to share the cost of a
/// compilation, few enough to end soon after the budget does.
constexpr size_t kBatch = 24;
/// Maximum number of refinement steps from one schedule of a class to a better
/// one.
constexpr unsigned kMostSteps = 5;

/// Runs `fn` and adds the seconds that it takes to `seconds`.
template <typename Fn>
auto measured(const SearchOptions &options, double &seconds, Fn fn) {
  double begin = options.now ? options.now() : 0;
  auto result = fn();
  seconds += (options.now ? options.now() : 0) - begin;
  return result;
}

class Searcher {
public:
  Searcher(Space &space, Clock &clock, const SearchOptions &options)
      : space(space), clock(clock), options(options),
        begin(options.now ? options.now() : 0) {}

  Result<Outcome> run();

private:
  bool isOver();
  Status timeClasses(Program &program, std::vector<size_t> classes);
  Status evaluate(Program &program);
  Status refine(Program &program);
  void enqueue(Program &program);
  Status refineWaiting();
  Status draw();
  Status finish(Outcome &outcome);
  double price(const Program &program, size_t kernelClass) const;
  double sum(const Program &program) const {
    return chooseOptions(program, times, options.worth).seconds;
  }
  /// The sum with the schedules that static prices choose.
  double staticSum(const Program &program) const {
    return chooseOptions(program, times, /*worth=*/0).seconds;
  }
  void record();
  void tell();

  Space &space;
  Clock &clock;
  const SearchOptions &options;
  double begin;
  /// Programs in the order in which they were found. A list, because others
  /// point to its elements.
  std::list<Program> programs;
  Times times;
  /// Programs that `refine` has yet to process, with their sum by static
  /// schedules.
  std::vector<std::pair<double, Program *>> waiting;
  double leastStatic = std::numeric_limits<double>::infinity();
  std::set<const Program *> refined;
  std::vector<Point> curve;
  Spent spent;
  std::string reason;
};
} // namespace

/// Whether the search must end; sets `reason`.
bool Searcher::isOver() {
  if (!reason.empty())
    return true;
  if (options.isStopped && options.isStopped())
    reason = "stopped";
  else if (options.seconds > 0 && options.now &&
           options.now() - begin >= options.seconds)
    reason = "budget";
  return !reason.empty();
}

/// The share of the class in the time of a call, measured if known, otherwise
/// predicted.
double Searcher::price(const Program &program, size_t kernelClass) const {
  const KernelClass &c = program.classes[kernelClass];
  return double(c.count) *
         find(times, c.options.front()).value_or(c.options.front().predicted);
}

/// Times the classes, the most expensive first, so that the budget cuts off the
/// least important ones.
Status Searcher::timeClasses(Program &program, std::vector<size_t> classes) {
  std::stable_sort(classes.begin(), classes.end(), [&](size_t a, size_t b) {
    return price(program, a) > price(program, b);
  });
  std::vector<size_t> batch;
  size_t count = 0;
  auto flush = [&]() -> Status {
    if (!batch.empty() && !isOver())
      LUMINAL_CHECK(measured(options, spent.kernels, [&] {
        return clock.time(program, batch, times);
      }));
    batch.clear();
    count = 0;
    record();
    tell();
    return {};
  };
  for (size_t i : classes) {
    size_t missing = 0;
    for (const Option &option : program.classes[i].options)
      missing += !times.count(option.key);
    if (!missing)
      continue;
    if (count + missing > kBatch)
      LUMINAL_CHECK(flush());
    batch.push_back(i);
    count += missing;
  }
  return flush();
}

Status Searcher::evaluate(Program &program) {
  std::vector<size_t> all(program.classes.size());
  std::iota(all.begin(), all.end(), 0);
  LUMINAL_CHECK(timeClasses(program, std::move(all)));
  space.learn(program, times);
  return {};
}

/// Moves from the best schedule of each class to better neighbours while there
/// are any.
Status Searcher::refine(Program &program) {
  refined.insert(&program);
  std::vector<std::optional<size_t>> from(program.classes.size());
  for (unsigned step = 0; step < kMostSteps && !isOver(); ++step) {
    Choice choice = chooseOptions(program, times, options.worth);
    std::vector<size_t> changed;
    for (size_t i = 0; i < program.classes.size(); ++i) {
      KernelClass &c = program.classes[i];
      // Skip a class whose best option did not change: its neighbours were
      // tried.
      if (from[i] == choice.options[i] ||
          !find(times, c.options[choice.options[i]]))
        continue;
      from[i] = choice.options[i];
      LUMINAL_TRY(more, measured(options, spent.schedules, [&] {
                    return space.refine(program, i, choice.options[i]);
                  }));
      if (more.empty())
        continue;
      for (Option &option : more)
        c.options.push_back(std::move(option));
      changed.push_back(i);
    }
    if (changed.empty())
      break;
    LUMINAL_CHECK(timeClasses(program, std::move(changed)));
  }
  space.learn(program, times);
  return {};
}

/// Queues a program for `refine`. A program that is far behind the best one is
/// dropped, since other schedules would not make it win. Sums with static
/// schedules are compared, because these are available for every program.
void Searcher::enqueue(Program &program) {
  constexpr double kNear = 1.25;
  double seconds = staticSum(program);
  leastStatic = std::min(leastStatic, seconds);
  if (seconds <= kNear * leastStatic)
    waiting.push_back({seconds, &program});
}

/// Refines the queued programs, the most promising first.
Status Searcher::refineWaiting() {
  std::stable_sort(
      waiting.begin(), waiting.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto &[seconds, program] : std::exchange(waiting, {}))
    LUMINAL_CHECK(refine(*program));
  return {};
}

/// Draws programs until nothing is new or a limit is reached. Evaluating a
/// program with static schedules is cheap, because most of its kernels have
/// been timed; refining schedules is expensive, so it is done in batches after
/// several programs. The points at which refinement happens do not depend on
/// where the search ends, so more candidates never give a worse result.
Status Searcher::draw() {
  constexpr size_t kTogether = 8, kFirst = 4;
  std::set<std::string> seen = {programs.front().digest};
  unsigned inVain = 0;
  std::string ended;
  for (uint64_t number = 1; !isOver(); ++number) {
    if (options.candidates && programs.size() >= options.candidates) {
      ended = "candidates";
      break;
    }
    Result<std::optional<Program>> drawn = std::optional<Program>();
    if (inVain < options.patience)
      drawn =
          measured(options, spent.programs, [&] { return space.draw(number); });
    if (!drawn)
      return drawn.takeError();
    // Refining the waiting programs teaches the space new prices, which may
    // lead to new programs.
    if (!*drawn && !waiting.empty()) {
      LUMINAL_CHECK(refineWaiting());
      inVain = 0;
      continue;
    }
    if (!*drawn) {
      ended = "nothing new";
      break;
    }
    if (!seen.insert((*drawn)->digest).second) {
      ++inVain;
      continue;
    }
    inVain = 0;
    programs.push_back(std::move(**drawn));
    LUMINAL_CHECK(evaluate(programs.back()));
    enqueue(programs.back());
    if (programs.size() == kFirst || programs.size() % kTogether == 0)
      LUMINAL_CHECK(refineWaiting());
  }
  LUMINAL_CHECK(refineWaiting());
  if (!isOver())
    reason = ended;
  return {};
}

void Searcher::record() {
  double best = std::numeric_limits<double>::infinity();
  for (const Program &program : programs)
    best = std::min(best, sum(program));
  if (curve.empty() || best < curve.back().best)
    curve.push_back({options.now ? options.now() - begin : 0, best});
}

void Searcher::tell() {
  if (!options.progress || programs.empty())
    return;
  Progress now;
  Choice first = chooseOptions(programs.front(), times, 0);
  now.first = first.seconds;
  now.best = now.first;
  for (const Program &program : programs)
    now.best = std::min(now.best, sum(program));
  now.candidates = programs.size();
  if (options.seconds > 0 && options.now)
    now.secondsLeft = std::max(0.0, options.seconds - (options.now() - begin));
  options.progress(now);
}

/// Times the best few programs as wholes beside the static choice, and takes
/// the fastest of those that beat it by `worth`.
Status Searcher::finish(Outcome &outcome) {
  // The static choice is the first option of every class of the first program.
  Choice first = chooseOptions(programs.front(), times, /*worth=*/0);
  std::vector<Choice> choices;
  for (const Program &program : programs) {
    choices.push_back(chooseOptions(program, times, options.worth));
    outcome.tried.push_back({program.digest,
                             program.title,
                             choices.back().seconds,
                             {},
                             refined.contains(&program)});
  }
  std::vector<size_t> order(choices.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return choices[a].seconds < choices[b].seconds;
  });
  // The best program of each family comes first.
  std::set<std::string> families;
  std::vector<size_t> others;
  for (size_t i : std::exchange(order, {}))
    (families.insert(choices[i].program->family).second ? order : others)
        .push_back(i);
  order.insert(order.end(), others.begin(), others.end());
  std::vector<Choice> finalists = {first};
  std::vector<size_t> numbers = {0};
  for (size_t i : order) {
    if (finalists.size() > options.finalists)
      break;
    if (i == 0 && choices[0].options == first.options)
      continue;
    finalists.push_back(choices[i]);
    numbers.push_back(i);
  }
  outcome.staticSeconds = first.seconds;
  size_t best = 0;
  if (finalists.size() > 1) {
    LUMINAL_TRY(wholes, measured(options, spent.wholes, [&] {
                  return clock.timePrograms(finalists);
                }));
    if (wholes) {
      outcome.staticWhole = wholes->front();
      for (size_t i = 1; i < finalists.size(); ++i) {
        outcome.tried[numbers[i]].whole = (*wholes)[i];
        if ((*wholes)[i] <
            (best ? (*wholes)[best] : options.worth * wholes->front()))
          best = i;
      }
      outcome.whole = (*wholes)[best];
      if (!best || choices[0].options == first.options)
        outcome.tried[0].whole = wholes->front();
    }
  }
  outcome.tried[numbers[best]].won = true;
  outcome.program = *finalists[best].program;
  for (const Program &program : programs)
    for (const KernelClass &c : program.classes) {
      std::vector<Option> &ways = outcome.ways[c.options.front().key];
      for (const Option &option : c.options)
        if (std::none_of(ways.begin(), ways.end(), [&](const Option &known) {
              return known.key == option.key;
            }))
          ways.push_back(option);
    }
  outcome.options = finalists[best].options;
  outcome.seconds = finalists[best].seconds;
  outcome.times = std::move(times);
  outcome.curve = std::move(curve);
  outcome.spent = spent;
  outcome.reason = std::move(reason);
  return {};
}

Result<Outcome> Searcher::run() {
  LUMINAL_TRY(best,
              measured(options, spent.programs, [&] { return space.best(); }));
  programs.push_back(std::move(best));
  LUMINAL_CHECK(evaluate(programs.front()));
  enqueue(programs.front());
  LUMINAL_CHECK(draw());
  Outcome outcome;
  LUMINAL_CHECK(finish(outcome));
  return outcome;
}

Result<Outcome> search::search(Space &space, Clock &clock,
                               const SearchOptions &options) {
  return Searcher(space, clock, options).run();
}
