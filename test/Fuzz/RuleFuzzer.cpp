//===- RuleFuzzer.cpp - Any bytes as a file of rules ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the rules, and where they are accepted saturates a small program with
// them. A refusal is one error at least; nothing else may happen.
//
//===----------------------------------------------------------------------===//

#include "Patterns/RuleLoader.h"
#include "Program/Program.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Core/Runner.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

static constexpr const char *kProgram = R"(
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %a: f32, %b: f32)
    -> (tensor<4xf32>, f32, f32) {
  %0 = hlir.mul %x, %y : tensor<4xf32>
  %1 = hlir.add %0, %x : tensor<4xf32>
  %2 = hlir.add %1, %1 : tensor<4xf32>
  %3 = "test.add"(%a, %b) : (f32, f32) -> f32
  %4 = "test.add"(%a, %3) : (f32, f32) -> f32
  %5 = "test.scale"(%4) {mode = "fast", by = 3} : (f32) -> f32
  %6:2 = "test.split"(%5) : (f32) -> (f32, f32)
  %7 = "test.join"(%6#0, %6#1) : (f32, f32) -> f32
  return %2, %5, %7 : tensor<4xf32>, f32, f32
})";

namespace {
struct UnitCost : CostModel {
  double cost(const NodeView &) override { return 1; }
};
} // namespace

namespace {
/// Shared by all inputs. Types and attributes live as long as the context: a
/// new one for each input would be slow, one for all would grow.
struct Session {
  Session() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<func::FuncDialect, pdl::PDLDialect, hlir::HLIRDialect,
                        llir::LLIRDialect>();
    context.allowUnregisteredDialects();
    context.printOpOnDiagnostic(false);
    program = parseSourceString<ModuleOp>(kProgram, &context);
    if (!program || failed(loader.loadSets(UnknownLoc::get(&context), {},
                                           /*all=*/false)))
      __builtin_trap();
  }
  MLIRContext context;
  RuleLoader loader;
  OwningOpRef<ModuleOp> program;
};
} // namespace

static void run(Session &session, StringRef text, unsigned &errors) {
  RuleLoader &loader = session.loader;
  loader.clear();
  auto refused = [&](bool failed) {
    if (failed && errors == 0)
      __builtin_trap(); // refused without a word
    return failed;
  };
  // Errors of the parser itself are not checked.
  if (refused(failed(loader.loadBuffer(
          &session.context,
          llvm::MemoryBuffer::getMemBufferCopy(text, "rules.mlir")))))
    return;
  OwningOpRef<ModuleOp> module = session.program->clone();
  auto function = *module->getOps<func::FuncOp>().begin();
  Program program(function, /*allowUnregistered=*/true);
  program.keepProofs();
  NativeBridge natives(program.ops, function);
  if (failed(program.import(natives.scope())))
    __builtin_trap();
  errors = 0;
  FailureOr<LoadedRules> rules =
      loader.compile(program.ops, natives, /*explained=*/true);
  if (refused(failed(rules)))
    return;
  RunnerOptions options;
  options.maxIterations = 6;
  options.maxNodes = 300;
  options.maxBytes = 1 << 22;
  options.maxSeconds = 1;
  options.staged = true;
  RunReport report = saturate(program.graph, *rules, options);
  if (report.stop == StopReason::Conflict) {
    (void)program.emitConflict(rules->all);
    return;
  }
  UnitCost cost;
  errors = 0;
  refused(failed(program.extract(cost, [&](const Extractor &extractor,
                                           const Selection &selection) {
    return LogicalResult(program.explain(rules->all, {}, extractor, selection));
  })));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool registered = (registerAllRuleSets(), true);
  (void)registered;
  static std::unique_ptr<Session> session;
  static unsigned uses = 0;
  if (!session || ++uses % 5000 == 0)
    session = std::make_unique<Session>();
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(&session->context, [&](Diagnostic &d) {
    errors += d.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  run(*session, StringRef(reinterpret_cast<const char *>(data), size), errors);
  return 0;
}
