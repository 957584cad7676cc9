//===- KernelFunction.cpp - The CPU function of a kernel ------------------===//

#include "Kernels.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace mlir;

/// i32 (ptr buffers, ptr symbols, i64 begin, i64 end, ptr scratch)
static LLVM::LLVMFuncOp makeFunction(ImplicitLocOpBuilder &b,
                                     StringRef symbol) {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(b.getI32Type(), {ptr, ptr, i64, i64, ptr});
  return LLVM::LLVMFuncOp::create(b, symbol, type);
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

FailureOr<KernelInfo> luminal::emitKernel(llir::KernelOp kernel,
                                          StringRef symbol,
                                          const CPUTarget &target,
                                          ModuleOp dest,
                                          ArrayRef<hlir::SymbolEntry> symbols) {
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPointToEnd(dest.getBody());
  LLVM::LLVMFuncOp function = makeFunction(b, symbol);
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
            target.getLanes(32));
  // The end of the work is settled last: it is `begin` where the kernel must
  // refuse to run.
  WorkLoop loop;
  loop.begin = entry->getArgument(2);
  auto end = arith::AddIOp::create(b, entry->getArgument(3), e.constant(0));
  loop.end = end;
  loop.step = e.constant(1);
  loop.scratch = entry->getArgument(4);
  WorkShape shape = emitLoops(e, loop);
  Value result = e.getStatus();
  LLVM::ReturnOp::create(b, result);
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
  Scope sizes(e.getRanges());
  info.work = sizes.simplify(shape.work);
  info.grain = sizes.simplify(shape.grain);
  info.scratch = sizes.simplify(shape.scratch);
  info.parallel = !info.work.isConstant(1) && !info.work.isConstant(0);
  return info;
}
