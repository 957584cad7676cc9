//===- CheckIndices.cpp - Checks of indices -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %r = hlir.view %a <(d0) -> (d0)> : tensor<?, n> -> tensor<?, m>
//     -->  hlir.requires = [#hlir.requirement<lesser = m, greater = n, over =
//     (m), "...">]
//
// Every compile starts with it, whatever the program's phase, and every later
// phase that reads maps runs it again. Tested by
// test/Dialect/LLIR/check-indices.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/Variants.h"
#include "luminal/Support/SymbolSolver.h"

namespace luminal::llir {
#define GEN_PASS_DEF_CHECKINDICESPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Collects the symbols of types and maps in `op` and its body.
static void collectSymbols(Operation *op, std::set<std::string> &used) {
  std::vector<std::string> names;
  auto add = [&](ArrayRef<Expr> exprs) {
    for (const Expr &e : exprs)
      e.collectSymbols(names);
  };
  AttrTypeWalker walker;
  walker.addWalk([&](hlir::DimsAttr dims) { add(dims.getExprs()); });
  walker.addWalk([&](hlir::MapAttr map) { add(map.getResults()); });
  op->walk([&](Operation *inner) {
    walker.walk(inner->getAttrDictionary());
    for (Type type : inner->getOperandTypes())
      walker.walk(type);
    for (Type type : inner->getResultTypes())
      walker.walk(type);
  });
  used.insert(names.begin(), names.end());
}

/// Rejects a symbol that cannot be solved, and drops unused symbols. A variant
/// keeps its symbols, because their ranges say when it runs.
static LogicalResult checkSymbols(func::FuncOp func, bool isVariant) {
  auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr);
  if (!table)
    return success();
  std::set<std::string> used;
  collectSymbols(func, used);
  SmallVector<hlir::SymbolEntry> kept;
  std::vector<NamedRange> symbols;
  for (const hlir::SymbolEntry &entry : table.getEntries()) {
    if (!isVariant && !used.count(entry.name.str()))
      continue;
    kept.push_back(entry);
    symbols.push_back({entry.name.str(), entry.range});
  }
  std::vector<Expr> extents;
  for (Type type : func.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      llvm::append_range(extents, hlir::getExtents(tensor));
  for (const IntegerInput &integer : hlir::getIntegers(func))
    extents.push_back(integer.value);
  std::vector<bool> found(symbols.size());
  for (const SymbolSource &source : planSymbols(symbols, extents))
    found[source.symbol] = true;
  for (auto [i, symbol] : llvm::enumerate(symbols))
    if (!found[i])
      return func.emitOpError() << describeUnsolved(symbol.name, extents);
  if (kept.size() != table.getEntries().size())
    func->setAttr(hlir::kSymbolsAttr,
                  hlir::SymbolsAttr::get(func.getContext(), kept));
  return success();
}

namespace {
class CheckIndices : public llir::impl::CheckIndicesPassBase<CheckIndices> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<ScheduleOp> schedules(module.getOps<ScheduleOp>());
    SmallVector<Requirement> ofKernels;
    DenseSet<Operation *> variants;
    for (auto func : module.getOps<func::FuncOp>()) {
      FailureOr<SmallVector<Operation *>> own = getVariants(func);
      if (failed(own))
        return signalPassFailure();
      variants.insert(own->begin(), own->end());
    }
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isDeclaration())
        continue;
      // Kernels of a schedule use its symbols, and their buffers are checked at
      // the steps.
      bool isKernel = !schedules.empty();
      SmallVector<Requirement> own = hlir::getRequirements(func);
      if ((!isKernel && failed(checkSymbols(func, variants.contains(func)))) ||
          failed(hlir::checkIndices(func, hlir::getAssumptions(func),
                                    isKernel ? ofKernels : own)))
        return signalPassFailure();
      if (!isKernel)
        hlir::setRequirements(func, own);
    }
    for (ScheduleOp schedule : schedules) {
      SmallVector<Requirement> own = hlir::getRequirements(schedule);
      hlir::addRequirements(own, ofKernels);
      if (failed(hlir::checkIndices(schedule, hlir::getAssumptions(schedule),
                                    own)))
        return signalPassFailure();
      hlir::setRequirements(schedule, own);
    }
  }
};
} // namespace
