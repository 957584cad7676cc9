//===- GPUEntry.cpp - Kernels as grids of threads -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelEntry.h"
#include "luminal/Conversion/LLIRToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
/// void (ptr buffers, ptr symbols, ptr status)
class GPUEntry : public KernelEntry {
public:
  MachineModel getMachine() const override { return machine; }
  LLVM::LLVMFuncOp declare(ImplicitLocOpBuilder &b,
                           StringRef symbol) const override;
  Value loadBuffer(ImplicitLocOpBuilder &b, Value table,
                   int64_t number) const override;
  Units getUnits(Emitter &e, Block &entry) const override;
  WorkShape
  emitCase(Emitter &e, Block &entry, Units units,
           function_ref<WorkShape(const WorkLoop &)> form) const override;
  void finish(Emitter &e, Block &entry) const override;

private:
  MachineModel machine = MachineModel::getGPUThread();
};
} // namespace

LLVM::LLVMFuncOp GPUEntry::declare(ImplicitLocOpBuilder &b,
                                   StringRef symbol) const {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  auto function = LLVM::LLVMFuncOp::create(
      b, symbol, LLVM::LLVMFunctionType::get(none, {ptr, ptr, ptr}));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  return function;
}

/// All buffers are in global memory, which LLVM cannot see of a pointer that
/// comes from memory.
Value GPUEntry::loadBuffer(ImplicitLocOpBuilder &b, Value table,
                           int64_t number) const {
  auto global = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AddrSpaceCastOp::create(b, generic,
                                       loadInvariant(b, global, table, number));
}

KernelEntry::Units GPUEntry::getUnits(Emitter &e, Block &) const {
  return {e.constant(0), e.constant(std::numeric_limits<int64_t>::max())};
}

/// Any grid does all units: it takes them in steps of its size.
WorkShape
GPUEntry::emitCase(Emitter &e, Block &, Units units,
                   function_ref<WorkShape(const WorkLoop &)> form) const {
  ImplicitLocOpBuilder &b = e.b;
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto wide = [&](Value v) -> Value {
    return arith::ExtUIOp::create(b, i64, v);
  };
  Value size = wide(NVVM::BlockDimXOp::create(b, i32));
  Value block = wide(NVVM::BlockIdXOp::create(b, i32));
  Value thread = wide(NVVM::ThreadIdXOp::create(b, i32));
  Value blocks = wide(NVVM::GridDimXOp::create(b, i32));
  WorkLoop loop;
  loop.begin = e.add(units.begin, e.add(e.mul(block, size), thread));
  loop.step = e.mul(blocks, size);
  // How many units there are is known once their code is.
  auto end = arith::MinSIOp::create(b, units.end, units.end);
  loop.end = end;
  WorkShape shape = form(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(end);
  Value work = e.value(Assumptions(e.getRanges()).simplify(shape.work));
  end.getLhsMutable().assign(work);
  shape.blocks =
      Expr::ceilDiv(shape.work, e.loopCase.getThreads() / e.loopCase.getTeam());
  return shape;
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
                       ArrayRef<hlir::SymbolEntry> symbols) {
  return emitFunction(kernel, symbol, GPUEntry(), dest, symbols);
}
