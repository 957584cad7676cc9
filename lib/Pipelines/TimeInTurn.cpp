//===- TimeInTurn.cpp - Several programs timed side by side ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TimeInTurn.h"

#include <algorithm>
#include <cmath>

using namespace luminal;

/// A program slower than the best of its group by this factor is not timed
/// further.
static constexpr double kHopeless = 2.5;
/// A round counts if the probe is slower than usual by at most this factor.
static constexpr double kDrift = 1.1;
/// Maximum number of runs that one measurement averages.
static constexpr double kMostRepeats = 4096;
/// Number of measurements for the first estimate of a program's time.
static constexpr unsigned kEstimates = 2;

llvm::StringRef luminal::getProbeText() {
  return "func.func @main(%a: tensor<64x256xf32>) -> tensor<64x256xf32> {\n"
         "  %r = llir.kernel(%a) : (tensor<64x256xf32>) -> tensor<64x256xf32> "
         "{\n"
         "  ^bb0(%x: tensor<64x256xf32>):\n"
         "    %0 = llir.elementwise sin(%x) : (tensor<64x256xf32>) -> "
         "tensor<64x256xf32>\n"
         "    llir.yield %0 : tensor<64x256xf32>\n"
         "  }\n"
         "  return %r : tensor<64x256xf32>\n"
         "}\n";
}

static double getQuantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[size_t(share * double(values.size() - 1) + 0.5)];
}

Status luminal::timeInTurn(std::vector<TimedProgram> &programs,
                           BoundProgram &probe, const TurnOptions &options) {
  auto countRepeats = [&](double each) {
    return unsigned(
        std::clamp(options.seconds / std::max(each, 1e-9), 1.0, kMostRepeats));
  };
  // The first run allocates memory; the second gives an estimate.
  LUMINAL_TRY(firstProbe, probe.time(1));
  unsigned probeRepeats = countRepeats(firstProbe);
  std::vector<double> estimates;
  std::map<size_t, double> least;
  for (TimedProgram &timed : programs) {
    LUMINAL_TRY(each, timed.program->time(1));
    double estimate = std::numeric_limits<double>::infinity();
    for (unsigned i = 0; i < kEstimates; ++i) {
      LUMINAL_TRY(again, timed.program->time(countRepeats(each)));
      estimate = std::min(estimate, again);
    }
    estimates.push_back(estimate);
    auto [it, isNew] = least.try_emplace(timed.group, estimate);
    it->second = std::min(it->second, estimate);
  }
  std::vector<std::vector<double>> rounds(programs.size());
  std::vector<double> probes;
  for (unsigned round = 0; round < options.rounds; ++round) {
    LUMINAL_TRY(before, probe.time(probeRepeats));
    for (size_t i = 0; i < programs.size(); ++i) {
      if (estimates[i] > kHopeless * least[programs[i].group])
        continue;
      LUMINAL_TRY(each, programs[i].program->time(countRepeats(estimates[i])));
      rounds[i].push_back(each);
    }
    LUMINAL_TRY(after, probe.time(probeRepeats));
    probes.push_back(std::max(before, after));
  }
  double usual = getQuantile(probes, 0.5);
  for (size_t i = 0; i < programs.size(); ++i) {
    std::vector<double> good;
    for (size_t round = 0; round < rounds[i].size(); ++round)
      if (probes[round] <= kDrift * usual)
        good.push_back(rounds[i][round]);
    // Disturbances only make a round slower, so take the smallest time.
    programs[i].seconds = good.empty() ? estimates[i] : getQuantile(good, 0);
    if (!good.empty())
      programs[i].spread = (getQuantile(good, 0.75) - getQuantile(good, 0.25)) /
                           std::max(programs[i].seconds, 1e-12);
  }
  return {};
}
