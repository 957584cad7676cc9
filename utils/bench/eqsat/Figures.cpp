//===- Figures.cpp - What was measured, beside what was wanted ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Figures.h"
#include "Terms.h"
#include "Workloads.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <malloc.h>
#include <vector>

using namespace luminal::eqsat;
using namespace luminal::eqsat::bench;
using namespace luminal::eqsat::test;

//===----------------------------------------------------------------------===//
// The calibrator
//===----------------------------------------------------------------------===//

/// Finds all a + (b + c) on the saturated sum of ten leaves, by a plain loop
/// over flat arrays: what times are measured against.
class Figures::Calibrator {
public:
  Calibrator() {
    EGraph graph;
    Terms terms(graph);
    addSum(terms, 10);
    std::vector<Rule> rules = sumRules(terms);
    saturate(graph, rules, {}, unlimited());
    // Class, operands, and a chain through the sums of each class.
    const Table &sums = graph.table(terms.op("+", 2));
    head.assign(graph.numClassIds(), kNone);
    parent.resize(graph.numClassIds());
    for (ClassId c = 0; c != parent.size(); ++c)
      parent[c] = graph.find(c);
    for (uint32_t row = 0; row != sums.numFrozen(); ++row) {
      cls.push_back(sums.classOf(row));
      lhs.push_back(sums.key(row)[0]);
      rhs.push_back(sums.key(row)[1]);
      next.push_back(head[cls.back()]);
      head[cls.back()] = row;
    }
  }

  /// Nanoseconds a match.
  double measure() const {
    double best = 1e9;
    size_t matches = 0;
    for (unsigned repeat = 0; repeat != 7; ++repeat) {
      std::vector<std::array<uint32_t, 4>> found;
      double start = now();
      for (uint32_t row = 0; row != cls.size(); ++row)
        for (uint32_t inner = head[find(rhs[row])]; inner != kNone;
             inner = next[inner])
          found.push_back({find(cls[row]), find(lhs[row]), find(lhs[inner]),
                           find(rhs[inner])});
      best = std::min(best, now() - start);
      matches = found.size();
    }
    return best / double(matches) * 1e9;
  }

private:
  uint32_t find(uint32_t c) const {
    while (parent[c] != c)
      c = parent[c];
    return c;
  }
  std::vector<uint32_t> cls, lhs, rhs, next, head, parent;
};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

Figures::Figures() : calibrator(new Calibrator) {
  printf("%-24s %-24s %14s %14s\n", "workload", "figure", "value", "goal");
}

Figures::~Figures() { delete calibrator; }

void Figures::calibrate() { nanoseconds = calibrator->measure(); }

void Figures::workload(std::string n) { name = std::move(n); }

void Figures::line(const std::string &what, const std::string &value,
                   const std::string &goal, const std::string &verdict) {
  printf("%-24s %-24s %14s %14s  %s\n", name.c_str(), what.c_str(),
         value.c_str(), goal.c_str(), verdict.c_str());
  fflush(stdout);
}

/// Whole numbers in full, others to three digits.
static std::string text(double value, const char *unit) {
  char buffer[64];
  bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
  int digits = whole ? 0 : value < 1 ? 3 : value < 100 ? 2 : 1;
  snprintf(buffer, sizeof(buffer), "%.*f%s%s", digits, value, *unit ? " " : "",
           unit);
  return buffer;
}

void Figures::add(const std::string &what, double value, const char *unit,
                  Goal goal) {
  double scale = goal.scaled ? nanoseconds / 8 : 1;
  double wanted =
      goal.kind == Goal::AtLeast ? goal.value / scale : goal.value * scale;
  bool met = true;
  std::string verdict;
  switch (goal.kind) {
  case Goal::None:
    break;
  case Goal::Exactly:
    met = value == wanted;
    verdict = met ? "ok" : "WRONG";
    break;
  case Goal::AtMost:
  case Goal::AtLeast: {
    double ratio = goal.kind == Goal::AtMost ? value / wanted : wanted / value;
    met = ratio <= 1;
    char buffer[32];
    snprintf(buffer, sizeof(buffer), "%s %.2f", met ? "ok" : "MISSED", ratio);
    verdict = buffer;
    break;
  }
  }
  missed += !met;
  line(what, text(value, unit),
       goal.kind == Goal::None ? "" : text(wanted, unit), verdict);
}

void Figures::addText(const std::string &what, const std::string &value) {
  line(what, value, "", "");
}

void Figures::fail(const std::string &why) {
  ++missed;
  line(why, "", "", "WRONG");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A line of /proc/self/status in megabytes; 0 where there is none.
static double status(const char *field) {
  double kilobytes = 0;
  if (FILE *file = fopen("/proc/self/status", "r")) {
    char buffer[256];
    while (fgets(buffer, sizeof(buffer), file))
      if (!strncmp(buffer, field, strlen(field)))
        kilobytes = atof(buffer + strlen(field));
    fclose(file);
  }
  return kilobytes * 1024 / 1e6;
}

MemoryMeter::MemoryMeter() {
  malloc_trim(0);
  // Forgets the peak.
  if (FILE *file = fopen("/proc/self/clear_refs", "w")) {
    fputs("5", file);
    fclose(file);
  }
  before = status("VmRSS:");
}

double MemoryMeter::megabytes() const {
  return std::max(status("VmHWM:") - before, 0.0);
}
