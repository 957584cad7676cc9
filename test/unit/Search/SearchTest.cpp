//===- SearchTest.cpp - The search on recorded times ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Search/Search.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>

using namespace luminal;
using namespace luminal::search;

namespace {
/// Programs of kernels whose times are known: schedules are the points of a
/// line, and neighbours are two steps away at most.
class Recorded : public Space, public Clock {
public:
  Recorded(uint64_t seed, unsigned numPrograms, unsigned numPoints = 9)
      : numPoints(numPoints) {
    std::mt19937_64 random(seed);
    auto unit = [&] { return double(random() >> 11) * 0x1p-53; };
    for (unsigned p = 0; p < numPrograms; ++p) {
      Program program;
      program.digest = "p" + std::to_string(p);
      program.title = p ? "draw" : "best";
      for (unsigned c = 0; c < 4; ++c) {
        std::string name = program.digest + "c" + std::to_string(c);
        // One valley, so that going downhill finds its bottom.
        double bottom = unit() * (numPoints - 1), least = 1 + unit(),
               slope = 0.02 + 0.08 * unit();
        for (unsigned i = 0; i < numPoints; ++i)
          recorded[name + "o" + std::to_string(i)] =
              1e-6 * (least + slope * std::abs(double(i) - bottom));
        unsigned first = unsigned(unit() * numPoints);
        program.classes.push_back(
            {name, 1 + c, {{name + "o" + std::to_string(first), "", 1e-6}}});
      }
      programs.push_back(std::move(program));
    }
  }

  Result<Program> best() override { return programs.front(); }
  Result<std::optional<Program>> draw(uint64_t number) override {
    if (number >= programs.size())
      return std::optional<Program>();
    return std::optional(programs[number]);
  }
  Result<std::vector<Option>> refine(const Program &, size_t,
                                     size_t) override = 0;

  Status time(const Program &program, std::span<const size_t> classes,
              Times &times) override {
    ++calls;
    for (size_t c : classes)
      for (const Option &option : program.classes[c].options)
        if (!times.count(option.key) && !missing.count(option.key)) {
          now += 1;
          ++numTimed;
          times[option.key] = recorded.at(option.key);
        }
    return {};
  }
  Result<std::optional<std::vector<double>>>
  timePrograms(std::span<const Choice> choices) override {
    if (!wrong.empty())
      for (const Choice &choice : choices)
        if (choice.program->digest == wrong)
          return Error("kernel 'x' computes something else");
    if (isFrozen)
      return std::optional<std::vector<double>>();
    std::vector<double> seconds;
    for (const Choice &choice : choices)
      seconds.push_back(sum(*choice.program, choice.options) * whole);
    return std::optional(seconds);
  }

  double sum(const Program &program, const std::vector<size_t> &options) {
    double total = 0;
    for (size_t c = 0; c < options.size(); ++c)
      total += double(program.classes[c].count) *
               recorded.at(program.classes[c].options[options[c]].key);
    return total;
  }
  /// Of all programs and schedules.
  double getOptimum() {
    double least = std::numeric_limits<double>::infinity();
    for (const Program &program : programs) {
      double total = 0;
      for (const KernelClass &c : program.classes) {
        double best = std::numeric_limits<double>::infinity();
        for (unsigned i = 0; i < numPoints; ++i)
          best = std::min(best, recorded.at(c.name + "o" + std::to_string(i)));
        total += double(c.count) * best;
      }
      least = std::min(least, total);
    }
    return least;
  }

  unsigned numPoints;
  std::map<std::string, double> recorded;
  std::set<std::string> missing;
  std::vector<Program> programs;
  std::string wrong;
  bool isFrozen = false;
  double whole = 1, now = 0;
  unsigned calls = 0, numTimed = 0;
};

class Line : public Recorded {
public:
  using Recorded::Recorded;
  Result<std::vector<Option>> refine(const Program &program, size_t c,
                                     size_t option) override {
    const KernelClass &kernelClass = program.classes[c];
    const std::string &key = kernelClass.options[option].key;
    int at = std::stoi(key.substr(key.find('o') + 1));
    std::vector<Option> found;
    for (int i : {at - 2, at - 1, at + 1, at + 2}) {
      std::string other = kernelClass.name + "o" + std::to_string(i);
      bool isKnown = false;
      for (const Option &o : kernelClass.options)
        isKnown |= o.key == other;
      if (i >= 0 && i < int(numPoints) && !isKnown)
        found.push_back({other, "", 1e-6});
    }
    return found;
  }
};

SearchOptions withCandidates(uint64_t count) {
  SearchOptions options;
  options.candidates = count;
  options.worth = 1;
  return options;
}
} // namespace

TEST(Search, FindsTheOptimumOfASmallSpace) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Line space(seed, 6);
    auto found = search::search(space, space, withCandidates(0));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->reason, "nothing new");
    EXPECT_DOUBLE_EQ(found->seconds, space.getOptimum()) << seed;
    EXPECT_DOUBLE_EQ(found->seconds, space.sum(found->program, found->options));
    EXPECT_DOUBLE_EQ(found->staticSeconds,
                     space.sum(space.programs.front(), {0, 0, 0, 0}));
    EXPECT_LE(*found->whole, *found->staticWhole);
    EXPECT_EQ(found->tried.size(), 6u);
    // What it tells of itself is consistent.
    unsigned won = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const Tried &tried : found->tried) {
      won += tried.won;
      EXPECT_TRUE(!tried.won || tried.digest == found->program.digest);
      least = std::min(least, tried.seconds);
    }
    EXPECT_EQ(won, 1u);
    EXPECT_DOUBLE_EQ(found->curve.back().best, least);
    for (const KernelClass &c : found->program.classes)
      EXPECT_GE(found->ways.at(c.options.front().key).size(), c.options.size());
  }
}

TEST(Search, TellsTheTimesOfWhatWon) {
  unsigned kept = 0;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (double worth : {0.4, 0.9, 1.0}) {
      Line space(seed, 6);
      SearchOptions options = withCandidates(0);
      options.worth = worth;
      auto found = search::search(space, space, options);
      ASSERT_TRUE(found) << found.error().message;
      unsigned won = 0;
      for (const Tried &tried : found->tried) {
        if (!tried.won)
          continue;
        ++won;
        EXPECT_EQ(tried.digest, found->program.digest);
        ASSERT_TRUE(tried.whole) << seed << " " << worth;
        EXPECT_DOUBLE_EQ(*tried.whole, *found->whole);
        kept += found->options == std::vector<size_t>(4, 0);
      }
      EXPECT_EQ(won, 1u);
    }
  EXPECT_GT(kept, 0u);
}

TEST(Search, MoreCandidatesAreNeverWorse) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    double last = std::numeric_limits<double>::infinity();
    for (uint64_t count : {1, 2, 4, 8, 16}) {
      Line space(seed, 16);
      auto found = search::search(space, space, withCandidates(count));
      ASSERT_TRUE(found);
      EXPECT_EQ(found->tried.size(), count);
      EXPECT_LE(found->seconds, last);
      last = found->seconds;
    }
    Line space(seed, 16);
    EXPECT_DOUBLE_EQ(last, space.getOptimum());
  }
}

TEST(Search, IsDeterministic) {
  std::optional<Outcome> first;
  for (int run = 0; run < 5; ++run) {
    Line space(7, 12);
    auto found = search::search(space, space, withCandidates(8));
    ASSERT_TRUE(found);
    if (!first) {
      first = std::move(*found);
      continue;
    }
    EXPECT_EQ(found->program.digest, first->program.digest);
    EXPECT_EQ(found->options, first->options);
    EXPECT_EQ(found->times, first->times);
  }
}

TEST(Search, TheBudgetEndsIt) {
  Line space(3, 1000);
  SearchOptions options = withCandidates(0);
  options.seconds = 100;
  options.now = [&] { return space.now; };
  auto found = search::search(space, space, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "budget");
  // A batch that began in time is finished.
  EXPECT_LT(space.now, 100 + 30);
  EXPECT_LE(found->seconds, found->staticSeconds);
}

TEST(Search, AStopDeploysTheBestSoFar) {
  Line space(3, 1000);
  SearchOptions options = withCandidates(0);
  options.isStopped = [&] { return space.calls >= 5; };
  auto found = search::search(space, space, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "stopped");
  EXPECT_EQ(space.calls, 5u);
  EXPECT_LT(found->seconds, found->staticSeconds);
}

TEST(Search, AWholeProgramThatIsSlowerIsNotTaken) {
  // Sums promise much, whole programs are all alike.
  struct Alike : Line {
    using Line::Line;
    Result<std::optional<std::vector<double>>>
    timePrograms(std::span<const Choice> choices) override {
      return std::optional(std::vector<double>(choices.size(), 1.0));
    }
  } space(3, 4);
  auto found = search::search(space, space, withCandidates(0));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->program.digest, "p0");
  EXPECT_EQ(found->options, std::vector<size_t>(4, 0));
  EXPECT_EQ(found->whole, 1.0);
}

TEST(Search, WhatIsHardlyFasterStaysAsItIs) {
  Program program{
      "p", "", {{"c", 1, {{"a", "", 1}, {"b", "", 1}, {"c", "", 1}}}}};
  Times times = {{"a", 1.0}, {"b", 0.99}, {"c", 0.985}};
  EXPECT_EQ(chooseOptions(program, times, 0.98).options[0], 0u);
  times["c"] = 0.97;
  Choice choice = chooseOptions(program, times, 0.98);
  EXPECT_EQ(choice.options[0], 2u);
  EXPECT_DOUBLE_EQ(choice.seconds, 0.97);
}

TEST(Search, WhatIsNotKnownIsNotTaken) {
  Program program{"p", "", {{"c", 3, {{"a", "", 7}, {"b", "", 1}}}}};
  // A frozen cache has nothing of this kernel, or only of another schedule.
  EXPECT_EQ(chooseOptions(program, {}, 1).options[0], 0u);
  EXPECT_DOUBLE_EQ(chooseOptions(program, {}, 1).seconds, 21);
  EXPECT_EQ(chooseOptions(program, {{"b", 0.1}}, 1).options[0], 0u);
  // What cannot run is never the fastest.
  double never = std::numeric_limits<double>::infinity();
  EXPECT_EQ(chooseOptions(program, {{"a", 2.0}, {"b", never}}, 1).options[0],
            0u);

  Line space(5, 3);
  space.isFrozen = true;
  for (const auto &[key, seconds] : space.recorded)
    space.missing.insert(key);
  auto found = search::search(space, space, withCandidates(0));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->program.digest, "p0");
  EXPECT_EQ(found->options, std::vector<size_t>(4, 0));
  EXPECT_FALSE(found->whole);
}

TEST(Search, AWrongProgramIsAnError) {
  Line space(1, 3);
  space.wrong = "p0";
  auto found = search::search(space, space, withCandidates(0));
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("something else"), std::string::npos);
}

TEST(Search, ProgramsSeenBeforeEndIt) {
  struct Same : Line {
    using Line::Line;
    Result<std::optional<Program>> draw(uint64_t) override {
      ++draws;
      return std::optional(programs.front());
    }
    unsigned draws = 0;
  } space(1, 1);
  auto found = search::search(space, space, withCandidates(0));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "nothing new");
  EXPECT_EQ(found->tried.size(), 1u);
  // Once more when schedules were looked at, which could have told something.
  EXPECT_LE(space.draws, 2 * SearchOptions().patience);
}

namespace {
/// Programs of one node for each of several classes, as an e-graph has them:
/// what was measured of one program says something of others. Static prices
/// are up to four times too high or too low.
class Graph : public Space, public Clock {
public:
  static constexpr unsigned kClasses = 6, kMembers = 3, kSchedules = 3;

  Graph(uint64_t seed, bool learns) : learns(learns), random(seed) {
    auto unit = [&] { return double(random() >> 11) * 0x1p-53; };
    for (unsigned c = 0; c < kClasses; ++c)
      for (unsigned m = 0; m < kMembers; ++m) {
        double seconds = 1e-6 * (1 + unit());
        prices[c][m] = seconds * std::exp2(4 * unit() - 2);
        for (unsigned s = 0; s < kSchedules; ++s)
          recorded[nameOf(c, m, s)] = seconds * (1 + 0.2 * unit());
      }
  }

  Result<Program> best() override { return make(cheapest(), "best"); }
  Result<std::optional<Program>> draw(uint64_t) override {
    std::array<unsigned, kClasses> members = cheapest();
    if (!learns || !seen.insert(members).second)
      for (unsigned &m : members)
        if (random() % 2)
          m = random() % kMembers;
    return std::optional(make(members, "draw"));
  }
  Result<std::vector<Option>> refine(const Program &program, size_t c,
                                     size_t) override {
    std::vector<Option> found;
    const std::vector<Option> &options = program.classes[c].options;
    for (unsigned s = unsigned(options.size()); s < kSchedules; ++s) {
      std::string key = options.front().key;
      key.back() = char('0' + s);
      found.push_back({key, "", options.front().predicted});
    }
    return found;
  }
  void learn(const Program &program, const Times &times) override {
    if (!learns)
      return;
    Choice choice = chooseOptions(program, times, 1);
    for (unsigned c = 0; c < kClasses; ++c) {
      const Option &option = program.classes[c].options[choice.options[c]];
      if (auto it = times.find(option.key); it != times.end())
        prices[c][option.key[1] - '0'] = it->second;
    }
  }

  Status time(const Program &program, std::span<const size_t> classes,
              Times &times) override {
    for (size_t c : classes)
      for (const Option &option : program.classes[c].options)
        times.emplace(option.key, recorded.at(option.key));
    return {};
  }
  Result<std::optional<std::vector<double>>>
  timePrograms(std::span<const Choice> choices) override {
    std::vector<double> seconds;
    for (const Choice &choice : choices)
      seconds.push_back(choice.seconds);
    return std::optional(seconds);
  }

  double getOptimum() const {
    double total = 0;
    for (unsigned c = 0; c < kClasses; ++c) {
      double least = std::numeric_limits<double>::infinity();
      for (unsigned m = 0; m < kMembers; ++m)
        for (unsigned s = 0; s < kSchedules; ++s)
          least = std::min(least, recorded.at(nameOf(c, m, s)));
      total += least;
    }
    return total;
  }

private:
  static std::string nameOf(unsigned c, unsigned m, unsigned s) {
    return std::to_string(c) + std::to_string(m) + std::to_string(s);
  }
  std::array<unsigned, kClasses> cheapest() const {
    std::array<unsigned, kClasses> members;
    for (unsigned c = 0; c < kClasses; ++c)
      members[c] = unsigned(
          std::min_element(std::begin(prices[c]), std::end(prices[c])) -
          std::begin(prices[c]));
    return members;
  }
  Program make(const std::array<unsigned, kClasses> &members,
               const char *title) {
    Program program{"", title, {}};
    for (unsigned c = 0; c < kClasses; ++c) {
      std::string key = nameOf(c, members[c], 0);
      program.digest += key;
      program.classes.push_back({key, 1, {{key, "", prices[c][members[c]]}}});
    }
    return program;
  }

  bool learns;
  std::mt19937_64 random;
  double prices[kClasses][kMembers];
  std::map<std::string, double> recorded;
  std::set<std::array<unsigned, kClasses>> seen;
};

/// The mean and the greatest ratio to the optimum of 729 programs by 729
/// schedules each.
std::pair<double, double> getRegret(uint64_t candidates, bool learns) {
  constexpr unsigned kSpaces = 40;
  double sum = 0, worst = 0;
  for (uint64_t seed = 0; seed < kSpaces; ++seed) {
    Graph space(seed, learns);
    auto found = search::search(space, space, withCandidates(candidates));
    EXPECT_TRUE(found);
    double regret = found ? found->seconds / space.getOptimum() : 1e9;
    sum += regret;
    worst = std::max(worst, regret);
  }
  return {sum / kSpaces, worst};
}
} // namespace

TEST(Search, MeasuredPricesOfDrawsHaveLittleRegret) {
  auto [mean, worst] = getRegret(24, /*learns=*/true);
  EXPECT_LE(mean, 1.02);
  EXPECT_LE(worst, 1.10);
  auto [meanWithout, worstWithout] = getRegret(24, /*learns=*/false);
  EXPECT_LT(mean, meanWithout);
  // More candidates of one space are never worse.
  double last = std::numeric_limits<double>::infinity();
  for (uint64_t count : {1, 3, 4, 7, 8, 9, 16, 24, 48}) {
    double now = getRegret(count, true).first;
    EXPECT_LE(now, last) << count;
    last = now;
  }
}

TEST(Search, OneProgramOfEachFamilyIsTimedAsAWhole) {
  // Of one family sums promise more than they hold.
  struct Families : Line {
    Families() : Line(3, 12) {
      for (size_t i = 0; i < programs.size(); ++i) {
        programs[i].family = i + 1 < programs.size() ? "a" : "b";
        // The last one has the greatest sum.
        if (i + 1 == programs.size())
          for (auto &[key, seconds] : recorded)
            if (key.starts_with(programs[i].digest + "c"))
              seconds *= 1.5;
      }
    }
    Result<std::optional<std::vector<double>>>
    timePrograms(std::span<const Choice> choices) override {
      std::vector<double> seconds;
      for (const Choice &choice : choices)
        seconds.push_back(choice.program->family == "a" ? 2 : 1);
      return std::optional(seconds);
    }
  } space;
  auto found = search::search(space, space, withCandidates(0));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->program.digest, "p11");
}
