//===- KernelFunction.cpp - The function of a kernel ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Conversion/LLIRToNVVM.h"
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

/// The index of this thread in the grid and the number of threads, as i64.
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

static WorkShape emitLoops(Emitter &e, const WorkLoop &loop) {
  switch (e.kernel.getKind()) {
  case llir::KernelKind::Map:
  case llir::KernelKind::Gather:
    return emitMapKernel(e, loop);
  case llir::KernelKind::Reduce:
    return emitReduceKernel(e, loop);
  case llir::KernelKind::Gemm:
    return emitGemmKernel(e, loop);
  case llir::KernelKind::Scatter:
    return emitScatterKernel(e, loop);
  }
  llvm_unreachable("a kernel of no kind");
}

/// `target` is null for the code of one GPU thread.
static FailureOr<KernelInfo> emit(llir::KernelOp kernel, StringRef symbol,
                                  const CPUTarget *target, ModuleOp dest,
                                  ArrayRef<hlir::SymbolEntry> symbols) {
  bool gpu = !target;
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
  Emitter::SymbolRanges ranges;
  std::map<std::string, Value> values;
  for (auto [i, s] : llvm::enumerate(symbols)) {
    ranges[std::string(s.name)] = s.range;
    values[std::string(s.name)] =
        loadInvariant(b, b.getI64Type(), entry->getArgument(1), i);
  }
  Emitter e(b, kernel, std::move(ranges), buffers, std::move(values),
            gpu ? 1 : target->getLanes(32), gpu ? 0 : target->vectorRegisters);
  // The end of the work range is set last: it becomes `begin` where the kernel
  // must refuse to run.
  WorkLoop loop;
  loop.begin = entry->getArgument(2);
  auto end = arith::AddIOp::create(b, entry->getArgument(3), e.constant(0));
  loop.end = end;
  loop.step = e.constant(1);
  if (gpu) {
    auto [thread, threads] = getGridThread(b);
    loop.begin = e.add(loop.begin, thread);
    loop.step = threads;
    loop.single = true;
  } else {
    loop.scratch = entry->getArgument(4);
  }
  WorkShape shape = emitLoops(e, loop);
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
  info.grain = sizes.simplify(shape.grain);
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
  return emit(kernel, symbol, &target, dest, symbols);
}

FailureOr<KernelInfo>
luminal::emitGPUKernel(llir::KernelOp kernel, StringRef symbol, ModuleOp dest,
                       ArrayRef<hlir::SymbolEntry> symbols) {
  return emit(kernel, symbol, /*target=*/nullptr, dest, symbols);
}
