//===- KernelFunction.cpp - The function of a kernel ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelEntry.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace mlir;

Value luminal::loadInvariant(ImplicitLocOpBuilder &b, Type type, Value base,
                             int64_t index) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  Value at = LLVM::GEPOp::create(b, ptr, type, base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(index)});
  auto load = LLVM::LoadOp::create(b, type, at, 8);
  load.setInvariant(true);
  return load;
}

Value KernelEntry::loadBuffer(ImplicitLocOpBuilder &b, Value table,
                              int64_t number) const {
  return loadInvariant(b, LLVM::LLVMPointerType::get(b.getContext()), table,
                       number);
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

using EmitForm = WorkShape (*)(Emitter &e, const WorkLoop &loop);

/// The emitter of a case's form.
static EmitForm getForm(llir::KernelOp kernel, llir::LoopCaseAttr loopCase) {
  static const std::pair<StringRef, EmitForm> forms[] = {
      {"elements", emitElements},      {"rows", emitRows},
      {"product", emitProduct},        {"ordered", emitOrdered},
      {"stages", emitStages},          {"streamed", emitStreamed},
      {"blocks", emitBlocks},          {"streamed blocks", emitStreamedBlocks},
      {"transposes", emitTransposes},  {"updates", emitUpdates},
      {"row program", emitRowProgram}, {"whole", emitWhole},
      {"recurrence", emitRecurrence}};
  StringRef title = llir::getLoopsTitle(kernel, loopCase);
  auto it =
      llvm::find_if(forms, [&](auto &form) { return form.first == title; });
  return it == std::end(forms) ? nullptr : it->second;
}

WorkShape luminal::emitForm(Emitter &e, const WorkLoop &loop) {
  if (EmitForm emit = getForm(e.kernel, e.loopCase))
    return emit(e, loop);
  e.fail(e.kernel, "has loops without code");
  return {};
}

/// Emits the condition (i1) of a case's guard.
static Value emitGuard(Emitter &e, llir::LoopCaseAttr loopCase) {
  Value holds;
  for (auto [i, quantity] : llvm::enumerate(loopCase.getGuard().getResults())) {
    Value v = e.value(quantity);
    for (auto [bound, predicate] :
         {std::pair{loopCase.getBounds()[2 * i], arith::CmpIPredicate::sge},
          std::pair{loopCase.getBounds()[2 * i + 1],
                    arith::CmpIPredicate::sle}}) {
      Value within =
          arith::CmpIOp::create(e.b, predicate, v, e.constant(bound));
      holds = holds ? Value(arith::AndIOp::create(e.b, holds, within)) : within;
    }
  }
  return holds;
}

/// A quantity of the first case whose guard holds, as an expression over those
/// of all cases.
static Expr select(ArrayRef<llir::LoopCaseAttr> cases, ArrayRef<Expr> values) {
  Expr result = values.back();
  for (size_t i = cases.size() - 1; i-- > 0;) {
    if (values[i] == result)
      continue;
    Expr holds = llir::getIndicator(cases[i]);
    result = holds * values[i] + (Expr(1) - holds) * result;
  }
  return result;
}

/// Emits the loops of the first case whose guard holds.
static WorkShape emitCases(Emitter &e, const KernelEntry &kind, Block &entry,
                           KernelEntry::Units units) {
  ArrayRef<llir::LoopCaseAttr> cases = e.kernel.getLoops()->getCases();
  SmallVector<WorkShape> shapes(cases.size());
  std::function<void(size_t)> emitFrom = [&](size_t i) {
    auto emitCase = [&] {
      e.loopCase = cases[i];
      shapes[i] = kind.emitCase(e, entry, units, [&](const WorkLoop &loop) {
        return emitForm(e, loop);
      });
    };
    if (i + 1 == cases.size())
      return emitCase();
    e.ifElse(
        emitGuard(e, cases[i]), {},
        [&] {
          emitCase();
          return SmallVector<Value>();
        },
        [&] {
          emitFrom(i + 1);
          return SmallVector<Value>();
        });
  };
  emitFrom(0);
  auto combine = [&](Expr WorkShape::*quantity) {
    SmallVector<Expr> values;
    for (const WorkShape &shape : shapes)
      values.push_back(shape.*quantity);
    return select(cases, values);
  };
  Expr scratch = 0, shared = 0;
  for (const WorkShape &shape : shapes) {
    scratch = Expr::max(scratch, shape.scratch);
    shared = Expr::max(shared, shape.shared);
  }
  return {combine(&WorkShape::work), combine(&WorkShape::cost), scratch,
          combine(&WorkShape::blocks), shared};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<KernelInfo>
luminal::emitFunction(llir::KernelOp kernel, StringRef symbol,
                      const KernelEntry &kind, ModuleOp dest,
                      ArrayRef<hlir::SymbolEntry> symbols) {
  Emitter::SymbolRanges ranges;
  for (const hlir::SymbolEntry &s : symbols)
    ranges[std::string(s.name)] = s.range;
  MachineModel machine = kind.getMachine();
  if (failed(llir::verifyLoops(kernel, ranges, machine)))
    return failure();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPointToEnd(dest.getBody());
  LLVM::LLVMFuncOp function = kind.declare(b, symbol);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  SmallVector<Value> buffers;
  for (size_t i = 0, n = kernel.getInputs().size() + kernel.getNumResults();
       i < n; ++i)
    buffers.push_back(kind.loadBuffer(b, entry->getArgument(0), i));
  std::optional<llir::Workspace> workspace = llir::getWorkspace(kernel, ranges);
  Value states, counters;
  if (workspace) {
    states = kind.loadBuffer(b, entry->getArgument(0), buffers.size());
    counters = kind.loadBuffer(b, entry->getArgument(0), buffers.size() + 1);
  }
  std::map<std::string, Value> values;
  for (auto [i, s] : llvm::enumerate(symbols))
    values[std::string(s.name)] =
        loadInvariant(b, b.getI64Type(), entry->getArgument(1), i);
  Emitter e(b, kernel, std::move(ranges), machine, buffers, std::move(values));
  e.bufferAlignment = kind.getBufferAlignment();
  e.states = states;
  e.counters = counters;
  e.syncScope = kind.getSyncScope();
  kind.begin(e);
  // The end of the work range is fixed last: it is set to the beginning if the
  // kernel must refuse to run.
  KernelEntry::Units units = kind.getUnits(e, *entry);
  auto end = arith::AddIOp::create(b, units.end, e.constant(0));
  WorkShape shape = emitCases(e, kind, *entry, {units.begin, end});
  kind.finish(e, *entry);
  b.setInsertionPoint(end);
  if (std::optional<Value> refuse = e.emitRefusal()) {
    end.getLhsMutable().assign(
        arith::SelectOp::create(b, *refuse, units.begin, units.end));
  }
  if (e.failed) {
    function.erase();
    for (Operation *global : e.globals)
      global->erase();
    return failure();
  }
  KernelInfo info;
  info.symbol = symbol.str();
  Assumptions sizes(e.getRanges());
  info.work = sizes.simplify(shape.work);
  // The number of work items that are worth handing to another worker.
  info.grain = sizes.simplify(
      Expr::max(1, Expr::ceilDiv(machine.grain, Expr::max(1, shape.cost))));
  info.scratch = sizes.simplify(shape.scratch);
  info.blocks = sizes.simplify(shape.blocks);
  info.shared = sizes.simplify(shape.shared);
  info.requirements = {e.requirements.begin(), e.requirements.end()};
  info.parallel = !info.work.isConstant(1) && !info.work.isConstant(0);
  return info;
}
