//===- KernelFunction.cpp - The function of a kernel ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Conversion/LLIRToNVVM.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

/// CPU: i32 (ptr buffers, ptr symbols, i64 begin, i64 end, ptr scratch)
/// GPU: void (ptr buffers, ptr symbols, i64 begin, i64 end, ptr status)
static LLVM::LLVMFuncOp makeFunction(ImplicitLocOpBuilder &b, StringRef symbol,
                                     bool gpu) {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  Type result = gpu ? Type(LLVM::LLVMVoidType::get(b.getContext()))
                    : Type(b.getI32Type());
  auto type = LLVM::LLVMFunctionType::get(result, {ptr, ptr, i64, i64, ptr});
  auto function = LLVM::LLVMFuncOp::create(b, symbol, type);
  if (gpu)
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                      b.getUnitAttr());
  return function;
}

/// The number of this thread in the grid, and that of all threads, as i64.
static std::pair<Value, Value> getGridThread(ImplicitLocOpBuilder &b) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto wide = [&](Value v) -> Value {
    return arith::ExtUIOp::create(b, i64, v);
  };
  Value size = wide(NVVM::BlockDimXOp::create(b, i32));
  Value block = wide(NVVM::BlockIdXOp::create(b, i32));
  Value thread = wide(NVVM::ThreadIdXOp::create(b, i32));
  Value blocks = wide(NVVM::GridDimXOp::create(b, i32));
  Value before = arith::MulIOp::create(b, block, size);
  return {arith::AddIOp::create(b, before, thread),
          arith::MulIOp::create(b, blocks, size)};
}

static Value loadInvariant(ImplicitLocOpBuilder &b, Type type, Value base,
                           int64_t index) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  Value at = LLVM::GEPOp::create(b, ptr, type, base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(index)});
  auto load = LLVM::LoadOp::create(b, type, at, 8);
  load.setInvariant(true);
  return load;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

using EmitForm = WorkShape (*)(Emitter &e, const WorkLoop &loop);

/// The code of each form; ops with loops in one kernel share it.
static EmitForm getForm(llir::KernelOp kernel, llir::LoopCaseAttr loopCase) {
  static const std::pair<StringRef, EmitForm> forms[] = {
      {"element", emitElements}, {"pass", emitRows},
      {"tile", emitProduct},     {"dot", emitProduct},
      {"axpy", emitProduct},     {"ordered", emitOrdered}};
  StringRef name = "element";
  for (auto [position, op] :
       llvm::enumerate(kernel.getBody().front().without_terminator()))
    if (llir::hasLoops(&op)) {
      name = loopCase.getForm(position).getForm().getValue();
      break;
    }
  auto it =
      llvm::find_if(forms, [&](auto &form) { return form.first == name; });
  return it == std::end(forms) ? nullptr : it->second;
}

/// Whether (i1) the guard of a case holds.
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

/// 1 where the guard of a case holds, else 0.
static Expr getIndicator(llir::LoopCaseAttr loopCase) {
  Expr holds = 1;
  for (auto [i, quantity] : llvm::enumerate(loopCase.getGuard().getResults())) {
    int64_t lo = loopCase.getBounds()[2 * i];
    int64_t hi = loopCase.getBounds()[2 * i + 1];
    // Bounds beyond all quantities would overflow the difference.
    constexpr int64_t kFar = int64_t(1) << 62;
    if (lo > -kFar)
      holds = holds * Expr::min(1, Expr::max(0, quantity - lo + 1));
    if (hi < kFar)
      holds = holds * Expr::min(1, Expr::max(0, Expr(hi + 1) - quantity));
  }
  return holds;
}

/// A quantity of the case that applies, by the quantities of all.
static Expr select(ArrayRef<llir::LoopCaseAttr> cases, ArrayRef<Expr> values) {
  Expr result = values.back();
  for (size_t i = cases.size() - 1; i-- > 0;) {
    if (values[i] == result)
      continue;
    Expr holds = getIndicator(cases[i]);
    result = holds * values[i] + (Expr(1) - holds) * result;
  }
  return result;
}

/// The loops of the first case whose guard holds.
static WorkShape emitCases(Emitter &e, const WorkLoop &loop) {
  ArrayRef<llir::LoopCaseAttr> cases = e.kernel.getLoops()->getCases();
  SmallVector<WorkShape> shapes(cases.size());
  std::function<void(size_t)> emitFrom = [&](size_t i) {
    auto emitCase = [&] {
      e.loopCase = cases[i];
      EmitForm emit = getForm(e.kernel, cases[i]);
      if (!emit)
        return e.fail(e.kernel, "has a form of loops without code");
      shapes[i] = emit(e, loop);
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
  Expr scratch = 0;
  for (const WorkShape &shape : shapes)
    scratch = Expr::max(scratch, shape.scratch);
  return {combine(&WorkShape::work), combine(&WorkShape::cost), scratch};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Writes the function for a worker of `machine`; `gpu`: a thread of a grid.
static FailureOr<KernelInfo> emit(llir::KernelOp kernel, StringRef symbol,
                                  const MachineModel &machine, bool gpu,
                                  ModuleOp dest,
                                  ArrayRef<hlir::SymbolEntry> symbols) {
  Emitter::SymbolRanges ranges;
  for (const hlir::SymbolEntry &s : symbols)
    ranges[std::string(s.name)] = s.range;
  if (failed(llir::verifyLoops(kernel, ranges, machine)))
    return failure();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPointToEnd(dest.getBody());
  LLVM::LLVMFuncOp function = makeFunction(b, symbol, gpu);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  SmallVector<Value> buffers;
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  for (size_t i = 0, n = kernel.getInputs().size() + kernel.getNumResults();
       i < n; ++i)
    buffers.push_back(loadInvariant(b, ptr, entry->getArgument(0), i));
  std::map<std::string, Value> values;
  for (auto [i, s] : llvm::enumerate(symbols))
    values[std::string(s.name)] =
        loadInvariant(b, b.getI64Type(), entry->getArgument(1), i);
  Emitter e(b, kernel, std::move(ranges), buffers, std::move(values));
  // The end of the work is settled last: it is `begin` where the kernel must
  // refuse to run.
  WorkLoop loop;
  loop.begin = entry->getArgument(2);
  auto end = arith::AddIOp::create(b, entry->getArgument(3), e.constant(0));
  loop.end = end;
  loop.step = e.constant(1);
  if (gpu) {
    auto [thread, threads] = getGridThread(b);
    loop.begin = e.add(loop.begin, thread);
    loop.step = threads;
  } else {
    loop.scratch = entry->getArgument(4);
  }
  WorkShape shape = emitCases(e, loop);
  Value result = e.getStatus();
  if (gpu) {
    // Every thread that fails writes the same word.
    Value bad = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, result,
        arith::ConstantIntOp::create(b, b.getI32Type(), 0));
    e.ifThen(bad, [&] {
      LLVM::StoreOp::create(b, result, entry->getArgument(4), 4);
    });
    LLVM::ReturnOp::create(b, ValueRange());
  } else {
    LLVM::ReturnOp::create(b, result);
  }
  b.setInsertionPoint(end);
  if (std::optional<Value> refuse = e.emitRefusal()) {
    end.getLhsMutable().assign(arith::SelectOp::create(
        b, *refuse, entry->getArgument(2), entry->getArgument(3)));
  }
  if (e.failed) {
    function.erase();
    return failure();
  }
  KernelInfo info;
  info.symbol = symbol.str();
  Assumptions sizes(e.getRanges());
  info.work = sizes.simplify(shape.work);
  // Units that are together worth handing to another worker.
  info.grain = sizes.simplify(
      Expr::max(1, Expr::ceilDiv(machine.grain, Expr::max(1, shape.cost))));
  info.scratch = sizes.simplify(shape.scratch);
  info.requirements = {e.requirements.begin(), e.requirements.end()};
  info.parallel = !info.work.isConstant(1) && !info.work.isConstant(0);
  return info;
}

FailureOr<KernelInfo> luminal::emitKernel(llir::KernelOp kernel,
                                          StringRef symbol,
                                          const CPUTarget &target,
                                          ModuleOp dest,
                                          ArrayRef<hlir::SymbolEntry> symbols) {
  return emit(kernel, symbol, target.getMachine(), /*gpu=*/false, dest,
              symbols);
}

FailureOr<KernelInfo>
luminal::emitGPUKernel(llir::KernelOp kernel, StringRef symbol, ModuleOp dest,
                       ArrayRef<hlir::SymbolEntry> symbols) {
  return emit(kernel, symbol, MachineModel::getGPUThread(), /*gpu=*/true, dest,
              symbols);
}
