//===- ProgramRunner.h - Compiled programs against their definition -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_PIPELINES_PROGRAMRUNNER_H
#define LUMINAL_TEST_UNIT_PIPELINES_PROGRAMRUNNER_H

#include "RandomProgram.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Runtime/Artifact.h"

#include <map>
#include <memory>

namespace luminal::test {

using Values = std::map<std::string, int64_t, std::less<>>;
using Tensors = llvm::SmallVector<reference::Tensor>;

/// One call of a program: random arguments, what the interpreter computes of
/// them, and how far compiled code may be from it.
struct Call {
  Tensors arguments, wanted;
  /// Of each result; null where it has to be equal.
  std::vector<std::optional<reference::Tensor>> bounds;
  /// Names results: `%v7`.
  std::vector<unsigned> nodes;
  /// ", where m = 3"; empty where there are no symbols.
  std::string sizes;
  uint64_t seed = 0;
};

struct RunCounts {
  uint64_t calls = 0, elements = 0, bounded = 0, unbounded = 0, loose = 0;
};

/// Seeds first to last - 1: those that the environment variable says, N or
/// FIRST:LAST, else the first `usual`.
struct Seeds {
  uint64_t first, last;
};
Seeds readSeeds(const char *variable, uint64_t usual);

/// Compiles and runs programs on the device that LUMINAL_TEST_DEVICE names, by
/// default the CPU. Where LUMINAL_TEST_ARCH names an architecture of it, they
/// are compiled for that and not run. Functions that return a text say what is
/// wrong; it is empty where nothing is.
class ProgramRunner {
public:
  ProgramRunner();
  ~ProgramRunner();

  static std::string getDevice();
  static std::string getArch();

  /// Calls at the ends of the symbols' ranges, and some between. On failure
  /// `error` says why.
  std::optional<std::vector<Call>>
  makeCalls(const RandomProgram &program, const std::vector<unsigned> &returned,
            uint64_t seed);
  /// Compiles a module's text and checks the calls.
  std::string check(const std::string &text, const std::vector<Call> &calls);
  /// The module after a phase; empty with the reason in `error`.
  std::string emitText(const std::string &text, Phase phase);
  mlir::MLIRContext &getContext() { return *context; }
  /// Called before a compile.
  std::function<void(CompileOptions &)> configure;
  std::string error;
  RunCounts counts;

private:
  std::optional<Tensors> interpret(const std::string &text,
                                   const Tensors &arguments);
  /// Runs a call twice: the results are within the bounds, and the same bits.
  std::string check(const std::shared_ptr<const runtime::Artifact> &artifact,
                    const Call &call);
  bool compileTo(const std::string &text, const std::string &output,
                 std::optional<Phase> phase);
  std::string compare(const reference::Tensor &want, const char *got,
                      const reference::Tensor *bound);

  std::unique_ptr<mlir::MLIRContext> context;
  std::string folder;
};

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_PIPELINES_PROGRAMRUNNER_H
