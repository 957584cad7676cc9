//===- GPUEntry.cpp - Functions of kernels on a GPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelEntry.h"
#include "luminal/Conversion/LLIRToNVVM.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
/// void (ptr buffers, ptr symbols, ptr status)
class GPUEntry : public KernelEntry {
public:
  GPUEntry(const MachineModel &machine, bool startsEarly)
      : machine(machine), startsEarly(startsEarly) {}

  MachineModel getMachine() const override { return machine; }
  unsigned getBufferAlignment() const override { return 16; }
  StringRef getSyncScope() const override { return "device"; }
  LLVM::LLVMFuncOp declare(ImplicitLocOpBuilder &b,
                           StringRef symbol) const override;
  Value loadBuffer(ImplicitLocOpBuilder &b, Value table,
                   int64_t number) const override;
  void begin(Emitter &e) const override;
  Units getUnits(Emitter &e, Block &entry) const override;
  WorkShape
  emitCase(Emitter &e, Block &entry, Units units,
           function_ref<WorkShape(const WorkLoop &)> form) const override;
  void finish(Emitter &e, Block &entry) const override;

private:
  MachineModel machine;
  bool startsEarly;
};
} // namespace

//===----------------------------------------------------------------------===//
// Teams
//===----------------------------------------------------------------------===//

WorkShape luminal::emitByTeams(Emitter &e, const BlockThreads &of, Value end,
                               function_ref<WorkShape(const WorkLoop &)> form) {
  ImplicitLocOpBuilder &b = e.b;
  unsigned threads = e.loopCase.getThreads(), count = e.loopCase.getTeam();
  Value teams = e.constant(threads / count);
  WorkLoop loop;
  loop.begin = e.mul(of.block, teams);
  e.team = Emitter::Team();
  e.team.number = e.constant(0);
  if (count < threads) {
    e.team.number = e.divU(of.thread, e.constant(count));
    loop.begin = e.add(loop.begin, e.team.number);
  }
  loop.step = e.mul(of.blocks, teams);
  if (count > 1)
    e.team = {count, e.remU(of.thread, e.constant(count)),
              e.machine.warpThreads, getThreadMask(e, of.thread, count),
              e.team.number};
  // The number of work items is known only after their code is emitted.
  auto most = arith::MinSIOp::create(b, end, end);
  loop.end = most;
  WorkShape shape = form(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(most);
  Value work = e.value(Assumptions(e.getRanges()).simplify(shape.work));
  most.getLhsMutable().assign(work);
  Expr blocks = Expr::ceilDiv(shape.work, threads / count);
  shape.blocks =
      shape.blocks.isConstant(0) ? blocks : Expr::min(blocks, shape.blocks);
  return shape;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp GPUEntry::declare(ImplicitLocOpBuilder &b,
                                   StringRef symbol) const {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  auto function = LLVM::LLVMFuncOp::create(
      b, symbol, LLVM::LLVMFunctionType::get(none, {ptr, ptr, ptr}));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(kHasFloatInstructions, b.getUnitAttr());
  return function;
}

/// All buffers are in global memory. LLVM cannot infer that for a pointer
/// loaded from memory.
Value GPUEntry::loadBuffer(ImplicitLocOpBuilder &b, Value table,
                           int64_t number) const {
  auto global = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AddrSpaceCastOp::create(b, generic,
                                       loadInvariant(b, global, table, number));
}

/// Kernels launched after this one start when all its blocks are done, without
/// waiting for the end of the grid. Launching them earlier
/// (griddepcontrol.launch_dependents) costs more than it gains, because their
/// blocks then occupy multiprocessors that this kernel still needs: a decoder
/// step took 7 % longer on an H200, and 1.5 % longer if weights were prefetched
/// to L2 before the wait. The tables are never written by a kernel, so they may
/// be read before the wait. Inline PTX with a memory clobber is used because
/// LLVM may move loads across the intrinsic.
void GPUEntry::begin(Emitter &e) const {
  if (!startsEarly)
    return;
  emitPTX(e.b, "griddepcontrol.wait;");
}

KernelEntry::Units GPUEntry::getUnits(Emitter &e, Block &) const {
  return {e.constant(0), e.constant(std::numeric_limits<int64_t>::max())};
}

/// A grid-stride loop: a grid of any size computes all work items.
WorkShape
GPUEntry::emitCase(Emitter &e, Block &entry, Units units,
                   function_ref<WorkShape(const WorkLoop &)> form) const {
  ImplicitLocOpBuilder &b = e.b;
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto wide = [&](Value v) -> Value {
    return arith::ExtUIOp::create(b, i64, v);
  };
  BlockThreads threads;
  threads.block = wide(NVVM::BlockIdXOp::create(b, i32));
  threads.thread = wide(NVVM::ThreadIdXOp::create(b, i32));
  threads.blocks = wide(NVVM::GridDimXOp::create(b, i32));
  entry.getParentOp()->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      b.getDenseI32ArrayAttr(int32_t(e.loopCase.getThreads())));
  return emitByTeams(e, threads, units.end, form);
}

/// Every thread that fails writes the same word.
void GPUEntry::finish(Emitter &e, Block &entry) const {
  ImplicitLocOpBuilder &b = e.b;
  Value status = e.getStatus();
  Value isBad =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, status,
                            arith::ConstantIntOp::create(b, b.getI32Type(), 0));
  e.ifThen(isBad, [&] {
    auto global = LLVM::LLVMPointerType::get(
        b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
    LLVM::StoreOp::create(
        b, status,
        LLVM::AddrSpaceCastOp::create(b, global, entry.getArgument(2)), 4);
  });
  LLVM::ReturnOp::create(b, ValueRange());
}

FailureOr<KernelInfo>
luminal::emitGPUKernel(llir::KernelOp kernel, StringRef symbol, ModuleOp dest,
                       ArrayRef<hlir::SymbolEntry> symbols,
                       const MachineModel &machine, bool startsEarly) {
  return emitFunction(kernel, symbol, GPUEntry(machine, startsEarly), dest,
                      symbols);
}
