//===- RandomKernelsTest.cpp - Kernels with any schedule they may have ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of random programs, each with schedules that the target offers
// for it (`TargetInterface::proposeAll`), give what the interpreter says of the
// flat program, and the same bits at each run. So do small kernels that the
// device joins to sequences. A program that fails is printed
// with the one kernel and schedule that make it fail, if one alone does.
//
// LUMINAL_KERNELS=N takes N programs, LUMINAL_KERNELS=FIRST:LAST chosen ones;
// LUMINAL_TEST_DEVICE=cuda runs them there, with LUMINAL_TEST_ARCH=sm_90a they
// are only compiled (docs/Testing.md). Lines `kernels
// FORM TYPE N` count what ran.
//
//===----------------------------------------------------------------------===//

#include "ProgramRunner.h"
#include "Rounds.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdio>
#include <random>

using namespace luminal;
using namespace luminal::test;

namespace {
/// A scheduled program and the schedules that each kernel of it may have.
class Scheduled {
public:
  Scheduled(const TargetInterface &target,
            mlir::OwningOpRef<mlir::ModuleOp> module);

  size_t countKernels() const { return kernels.size(); }
  /// One schedule of each kernel: the proposed one, or any other.
  std::vector<size_t> draw(std::mt19937_64 &random, bool isProposed) const;
  /// The program with these schedules.
  std::string getText(const std::vector<size_t> &chosen);
  std::string describe(size_t kernel, size_t schedule);
  void count(const std::vector<size_t> &chosen,
             std::map<std::string, uint64_t> &counts);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<llir::KernelOp> kernels;
  std::vector<std::vector<llir::LoopsAttr>> schedules;
  /// The places of each kernel's schedules by form, in the order of
  /// `schedules`.
  std::vector<std::vector<std::vector<size_t>>> byForm;
};
} // namespace

static std::string getForm(llir::KernelOp kernel, llir::LoopsAttr loops) {
  std::string form =
      llir::getLoopsTitle(kernel, loops.getCases().front()).str();
  llvm::replace(form, ' ', '-');
  return form;
}

Scheduled::Scheduled(const TargetInterface &target,
                     mlir::OwningOpRef<mlir::ModuleOp> parsed)
    : module(std::move(parsed)) {
  module->walk([&](llir::KernelOp kernel) {
    kernels.push_back(kernel);
    // What it has comes first.
    std::vector<llir::LoopsAttr> &all = schedules.emplace_back();
    all.push_back(*kernel.getLoops());
    for (const llir::ProposedLoops &proposed :
         target.proposeAll(kernel, hlir::getAssumptions(kernel).getSymbols()))
      if (proposed.loops != all.front())
        all.push_back(proposed.loops);
    std::vector<std::string> forms;
    std::vector<std::vector<size_t>> &places = byForm.emplace_back();
    for (auto [i, loops] : llvm::enumerate(all)) {
      std::string form = getForm(kernel, loops);
      size_t which = size_t(llvm::find(forms, form) - forms.begin());
      if (which == forms.size()) {
        forms.push_back(form);
        places.emplace_back();
      }
      places[which].push_back(i);
    }
  });
}

std::vector<size_t> Scheduled::draw(std::mt19937_64 &random,
                                    bool isProposed) const {
  std::vector<size_t> chosen;
  for (const auto &forms : byForm) {
    // A form first: some have a hundred schedules, others one.
    const std::vector<size_t> &places = forms[random() % forms.size()];
    chosen.push_back(isProposed ? 0 : places[random() % places.size()]);
  }
  return chosen;
}

std::string Scheduled::getText(const std::vector<size_t> &chosen) {
  for (size_t i = 0; i < kernels.size(); ++i)
    kernels[i].setLoopsAttr(schedules[i][chosen[i]]);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

std::string Scheduled::describe(size_t kernel, size_t schedule) {
  kernels[kernel].setLoopsAttr(schedules[kernel][schedule]);
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernels[kernel].print(stream);
  return text;
}

void Scheduled::count(const std::vector<size_t> &chosen,
                      std::map<std::string, uint64_t> &counts) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    llir::KernelOp kernel = kernels[i];
    kernel.setLoopsAttr(schedules[i][chosen[i]]);
    std::string name;
    llvm::raw_string_ostream stream(name);
    stream << getForm(kernel, *kernel.getLoops()) << ' '
           << mlir::cast<mlir::RankedTensorType>(kernel->getResult(0).getType())
                  .getElementType();
    ++counts[name];
  }
}

/// The first kernel that makes the program wrong with its schedule alone.
static std::string blame(ProgramRunner &runner, Scheduled &program,
                         const std::vector<size_t> &chosen,
                         const std::vector<Call> &calls) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    std::vector<size_t> alone(chosen.size());
    alone[i] = chosen[i];
    std::string wrong = runner.check(program.getText(alone), calls);
    if (!wrong.empty())
      return wrong + "\n" + program.describe(i, chosen[i]);
  }
  return "only together";
}

/// The program with the proposed schedule of each kernel, none of which is part
/// of a sequence; null on failure.
static mlir::OwningOpRef<mlir::ModuleOp>
scheduleAlone(ProgramRunner &runner, const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      runner.emitText(text, Phase::Fused), &runner.getContext());
  if (!module)
    return {};
  ScheduleKernelsPassOptions options;
  options.target = ProgramRunner::getDevice();
  options.arch = ProgramRunner::getArch();
  mlir::PassManager pm(&runner.getContext());
  pm.addPass(createScheduleKernelsPass(options));
  if (mlir::failed(pm.run(*module)))
    return {};
  return module;
}

/// What is wrong with the sequences that the device makes of a program's
/// kernels, which are counted; empty where there is none.
static std::string checkSequences(ProgramRunner &runner,
                                  const std::string &text,
                                  const std::vector<Call> &calls,
                                  std::map<std::string, uint64_t> &counts) {
  std::string scheduled = runner.emitText(text, Phase::Scheduled);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(scheduled, &runner.getContext());
  if (!module)
    return "not compiled: " + runner.error;
  uint64_t number = 0;
  module->walk([&](llir::SequenceOp sequence) {
    number += llvm::range_size(sequence.getKernels());
  });
  if (number == 0)
    return {};
  std::string wrong = runner.check(scheduled, calls);
  if (!wrong.empty())
    return wrong + "\nin the sequences of\n" + scheduled;
  counts["sequence of-kernels"] += number;
  return {};
}

TEST(RandomKernels, ComputeTheSameWithEachSchedule) {
  // Schedules of each kernel besides the proposed one.
  constexpr unsigned numOthers = 5;
  auto [first, last] = readSeeds("LUMINAL_KERNELS", countRounds(10, 2));
  ProgramRunner runner;
  std::string device = ProgramRunner::getDevice();
  std::string error;
  std::unique_ptr<TargetInterface> target =
      createTarget(device, ProgramRunner::getArch(), "", &error);
  ASSERT_TRUE(target) << error;
  const ProgramScale &scale =
      device == "cpu" ? ProgramScale::small() : ProgramScale::large();
  // All products are kernels.
  runner.configure = [](CompileOptions &options) { options.library = "none"; };
  std::map<std::string, uint64_t> counts;
  unsigned failures = 0;
  for (uint64_t seed = first; seed < last && failures < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram program = makeRandomProgram(seed, scale);
    std::string text = program.getText(program.results);
    auto calls = runner.makeCalls(program, program.results, seed);
    ASSERT_TRUE(calls) << runner.error;
    auto module = scheduleAlone(runner, text);
    if (!module) {
      ++failures;
      ADD_FAILURE() << "not compiled: " << runner.error << "\n" << text;
      continue;
    }
    Scheduled kernels(*target, std::move(module));
    if (!kernels.countKernels())
      continue;
    if (std::string wrong = checkSequences(runner, text, *calls, counts);
        !wrong.empty()) {
      ++failures;
      ADD_FAILURE() << wrong << "\nof the program\n" << text;
    }
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i <= numOthers; ++i) {
      std::vector<size_t> chosen = kernels.draw(random, i == 0);
      std::string wrong = runner.check(kernels.getText(chosen), *calls);
      if (wrong.empty()) {
        kernels.count(chosen, counts);
        continue;
      }
      ++failures;
      ADD_FAILURE() << wrong
                    << "\nalone: " << blame(runner, kernels, chosen, *calls)
                    << "\nof the program\n"
                    << text;
      break;
    }
  }
  for (const auto &[name, number] : counts)
    std::printf("kernels %s %llu\n", name.c_str(), (unsigned long long)number);
}
