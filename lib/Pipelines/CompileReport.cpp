//===- CompileReport.cpp - The report of a compile ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompileReport.h"
#include "ScheduleNotes.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/HLIR/Utils/ModuleLocations.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Variants.h"
#include "luminal/Support/Version.h"
#include "luminal/Target/Artifact.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace luminal;

void luminal::writeUsedRules(
    llvm::json::OStream &j,
    const std::map<std::string, eqsat::UsedRule> &used) {
  std::vector<std::pair<std::string, eqsat::UsedRule>> rules(used.begin(),
                                                             used.end());
  llvm::stable_sort(rules, [](const auto &a, const auto &b) {
    return std::tie(a.second.ops, a.second.steps) >
           std::tie(b.second.ops, b.second.steps);
  });
  j.attributeArray("used_rules", [&] {
    for (const auto &[name, rule] : rules)
      j.object([&, name = name, rule = rule] {
        j.attribute("name", name);
        j.attribute("ops", rule.ops);
        j.attribute("steps", rule.steps);
      });
  });
}

/// The used rules in the report of eqsat-saturate.
static std::map<std::string, eqsat::UsedRule>
readUsedRules(const llvm::json::Value &saturation) {
  std::map<std::string, eqsat::UsedRule> used;
  const llvm::json::Object *root = saturation.getAsObject();
  const llvm::json::Array *functions =
      root ? root->getArray("functions") : nullptr;
  if (!functions)
    return used;
  for (const llvm::json::Value &function : *functions) {
    const llvm::json::Object *object = function.getAsObject();
    const llvm::json::Array *rules =
        object ? object->getArray("rules") : nullptr;
    if (!rules)
      continue;
    for (const llvm::json::Value &rule : *rules) {
      const llvm::json::Object *entry = rule.getAsObject();
      if (!entry)
        continue;
      unsigned ops = entry->getInteger("extracted_ops").value_or(0),
               steps = entry->getInteger("used_steps").value_or(0);
      if (!ops && !steps)
        continue;
      eqsat::UsedRule &sum = used[entry->getString("name").value_or("").str()];
      sum.ops += ops;
      sum.steps += steps;
    }
  }
  return used;
}

static int64_t countSteps(llir::ScheduleOp schedule) {
  auto steps = schedule.getBody().getOps<llir::StepOp>();
  return std::distance(steps.begin(), steps.end());
}

/// Writes the steps in order: what each computes, moves and executes, and its
/// schedule.
static void writeSteps(llvm::json::OStream &j, llir::ScheduleOp schedule) {
  j.attributeArray("program", [&] {
    for (auto step : schedule.getBody().getOps<llir::StepOp>())
      j.object([&] {
        StringRef kind =
            step.getLabel().take_until([](char c) { return c == ' '; });
        std::string modules = getModules(step.getLoc());
        j.attribute("name", modules.empty()
                                ? step.getLabel().str()
                                : modules + " (" + kind.str() + ")");
        j.attribute("kernel", step.getCallee().value_or(kind));
        j.attribute("kind", kind);
        j.attribute("source", hlir::describePlace(step.getLoc()));
        j.attributeArray("nodes", [&] {
          llvm::SmallSetVector<StringRef, 4> nodes;
          walkNodes(step.getLoc(),
                    [&](StringRef node, StringRef) { nodes.insert(node); });
          for (StringRef node : nodes)
            j.value(node);
        });
        auto amount = [&](unsigned i) {
          return step.getCost().getResults()[i].str();
        };
        j.attribute("bytes", amount(0));
        j.attribute("flops", amount(1));
        std::optional<ScheduleNote> note = findScheduleNote(step.getLoc());
        if (!note)
          return;
        constexpr double kNanoseconds = 1e9;
        j.attribute("nominal_bytes", note->bytes);
        j.attribute("nominal_flops", note->flops);
        j.attribute("roofline_seconds", note->roofline / kNanoseconds);
        if (note->predicted) {
          j.attribute("predicted_seconds", *note->predicted / kNanoseconds);
          j.attribute("roofline_share", note->roofline / *note->predicted);
        }
        j.attribute("schedule", note->schedule);
        j.attribute("why", note->why);
      });
  });
}

/// Writes the preparation of weights: its steps, the bytes that remain, and the
/// bytes needed while it runs.
static void writePrepare(llvm::json::OStream &j, llir::ScheduleOp schedule) {
  Expr bytes = 0;
  for (auto output : schedule.getBody().getOps<llir::OutputOp>())
    if (auto memory =
            output.getBuffer().getDefiningOp<llir::BufferOpInterface>())
      bytes = bytes + memory.getSize();
  j.attribute("steps", countSteps(schedule));
  j.attribute("bytes", bytes.str());
  j.attribute("arena_bytes", schedule.getArena().getResults()[0].str());
  writeSteps(j, schedule);
}

/// Writes the programs for narrower ranges of symbols.
static void writeVariants(llvm::json::OStream &j, llir::ScheduleOp schedule) {
  FailureOr<SmallVector<Operation *>> variants = llir::getVariants(schedule);
  if (failed(variants) || variants->empty())
    return;
  j.attributeArray("variants", [&] {
    for (Operation *op : *variants)
      j.object([&] {
        auto variant = cast<llir::ScheduleOp>(op);
        std::string ranges;
        llvm::raw_string_ostream stream(ranges);
        llvm::interleaveComma(variant.getSymbols().getEntries(), stream,
                              [&](const hlir::SymbolEntry &e) {
                                stream << e.name << " in [" << e.range.lo
                                       << ", ";
                                if (e.range.hi)
                                  stream << *e.range.hi;
                                stream << "]";
                              });
        j.attribute("ranges", ranges);
        j.attribute("steps", countSteps(variant));
        j.attribute("arena_bytes", variant.getArena().getResults()[0].str());
        writeSteps(j, variant);
      });
  });
}

/// Writes the kernels by function: their kind, and the number of steps of a
/// call or of the preparation that call them.
static void writeKernels(llvm::json::OStream &j, ModuleOp module) {
  llvm::MapVector<StringRef, std::pair<StringRef, int64_t>> kernels;
  module.walk([&](llir::StepOp step) {
    StringRef title =
        step.getLabel().take_until([](char c) { return c == ' '; });
    auto &[kind, calls] = kernels[step.getCallee().value_or(title)];
    kind = title;
    ++calls;
  });
  int64_t steps = 0;
  for (llir::ScheduleOp schedule : getPrograms(module))
    steps += countSteps(schedule);
  j.attribute("steps", steps);
  for (llir::ScheduleOp schedule : getPrograms(module)) {
    j.attribute("arena_bytes", schedule.getArena().getResults()[0].str());
    writeSteps(j, schedule);
    if (llir::ScheduleOp prepare = schedule.getPrepareSchedule())
      j.attributeObject("prepare", [&] { writePrepare(j, prepare); });
    writeVariants(j, schedule);
  }
  j.attributeArray("kernels", [&] {
    for (const auto &[name, entry] : kernels)
      j.object([&] {
        j.attribute("name", name);
        j.attribute("kind", entry.first);
        j.attribute("steps", entry.second);
      });
  });
}

std::string CompileReport::str(const CompileOptions &options,
                               ModuleOp module) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream j(stream, 2);
  j.object([&] {
    j.attribute("producer", LUMINAL_VERSION);
    j.attribute("input", options.input);
    j.attribute("target", options.target);
    j.attribute("arch", options.arch);
    j.attribute("seed", options.seed);
    j.attributeObject("machine", [&] {
      j.attribute("bytes_per_second", bytesPerSecond);
      j.attribute("flops_per_second", flopsPerSecond);
    });
    double total = 0;
    for (const PhaseTime &phase : phases)
      total += phase.seconds;
    j.attribute("seconds", total);
    j.attributeArray("phases", [&] {
      for (const PhaseTime &phase : phases)
        j.object([&] {
          j.attribute("name", phase.name);
          j.attribute("seconds", phase.seconds);
        });
    });
    writeKernels(j, module);
    for (const SearchReport &search : searches) {
      j.attributeBegin("search" + search.of);
      j.rawValue(search.text);
      j.attributeEnd();
    }
    if (!saturation.empty()) {
      llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(saturation);
      if (!parsed) {
        llvm::consumeError(parsed.takeError());
        return;
      }
      // A search found another program and reports the rules itself.
      if (searches.empty())
        writeUsedRules(j, readUsedRules(*parsed));
      j.attribute("saturation", *parsed);
    }
  });
  stream << "\n";
  return text;
}
