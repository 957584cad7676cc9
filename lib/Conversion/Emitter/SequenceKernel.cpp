//===- SequenceKernel.cpp - Several kernels in one thread block -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sequence of kernels in one launch. One thread block computes all work items
// of each kernel, whose code is emitted as in a function of its own, with a
// barrier between kernels. If a kernel uses fewer threads than the block has,
// the first threads run it.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Utils/SequenceMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

/// Restricts the barriers inside `parent` to its first `threads` threads.
static void meetAmong(Operation *parent, unsigned threads) {
  SmallVector<NVVM::Barrier0Op> barriers;
  parent->walk([&](NVVM::Barrier0Op op) { barriers.push_back(op); });
  for (NVVM::Barrier0Op barrier : barriers) {
    ImplicitLocOpBuilder b(barrier.getLoc(), barrier);
    auto number = [&](unsigned n) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(n)));
    };
    NVVM::BarrierOp::create(b, TypeRange(), number(1), number(threads),
                            NVVM::BarrierReductionAttr(), Value());
    barrier.erase();
  }
}

namespace {
class SequenceCode {
public:
  SequenceCode(Emitter &e, llir::SequenceOp op) : e(e), op(op), memory(op) {}

  void emit() {
    shared = e.makeLaunchShared();
    int64_t most = 0;
    llir::KernelOp before;
    for (llir::KernelOp kernel : op.getKernels()) {
      if (before) {
        NVVM::Barrier0Op::create(e.b);
        for (const auto &copy : memory.getCopiesAfter(before))
          emitCopy(copy);
      }
      before = kernel;
      most = std::max(most, emitKernel(kernel));
    }
    e.launchShared = most;
  }

private:
  /// The base address of a value.
  Value getAddress(Value v) {
    llir::SequenceMemory::Place at = memory.getPlace(v);
    using Kind = llir::SequenceMemory::Place::Kind;
    auto begin = [&]() -> Value {
      if (at.kind == Kind::Shared)
        return e.address(shared, e.constant(at.number), e.b.getI8Type());
      if (at.kind == Kind::Result)
        return e.getBuffer(e.kernel.getInputs().size() + at.number);
      return e.getBuffer(
          cast<BlockArgument>(op.getInputs()[at.number]).getArgNumber());
    };
    return e.address(begin(), e.constant(at.offset), e.b.getI8Type());
  }

  /// Emits a copy to a result that no kernel of the sequence reads.
  void emitCopy(const llir::SequenceMemory::Copy &copy) {
    auto type = cast<RankedTensorType>(op->getResult(copy.result).getType());
    Type element = getStorageType(type.getElementType());
    const unsigned bytes = element.getIntOrFloatBitWidth() / 8;
    Value from = e.address(shared, e.constant(copy.begin), e.b.getI8Type()),
          to = e.getBuffer(e.kernel.getInputs().size() + copy.result);
    e.forLoop(e.team.member, e.value(llir::countElements(type)),
              e.constant(e.team.count), [&](Value at) {
                Value v = LLVM::LoadOp::create(
                    e.b, element, e.address(from, at, element), bytes);
                LLVM::StoreOp::create(e.b, v, e.address(to, at, element),
                                      bytes);
              });
  }

  /// Emits a kernel; returns the bytes of shared memory that it uses.
  int64_t emitKernel(llir::KernelOp kernel) {
    SmallVector<Value> buffers;
    for (Value operand : kernel.getInputs())
      buffers.push_back(getAddress(operand));
    for (Value result : kernel.getResults())
      buffers.push_back(getAddress(result));
    Emitter inner(e, kernel, buffers);
    inner.loopCase = kernel.getLoops()->getCases().front();
    inner.sharedMemory = shared;
    inner.sharedTaken = memory.getBytes();
    BlockThreads threads{e.constant(0), e.constant(1), e.team.member};
    Value end = e.constant(std::numeric_limits<int64_t>::max());
    auto emitAll = [&] {
      emitByTeams(inner, threads, end,
                  [&](const WorkLoop &loop) { return emitForm(inner, loop); });
    };
    const unsigned own = inner.loopCase.getThreads();
    if (own == e.team.count) {
      emitAll();
    } else {
      Operation *parent = nullptr;
      inner.ifThen(e.less(e.team.member, e.constant(own)), [&] {
        parent = e.b.getBlock()->getParentOp();
        emitAll();
      });
      meetAmong(parent, own);
    }
    e.addNeeds(inner);
    return inner.sharedTaken;
  }

  Emitter &e;
  llir::SequenceOp op;
  llir::SequenceMemory memory;
  Value shared;
};

struct SequenceEmission
    : WholeEmissionOpInterface::ExternalModel<SequenceEmission,
                                              llir::SequenceOp> {
  void emitUnit(Operation *op, Emitter &e, Value) const {
    SequenceCode(e, cast<llir::SequenceOp>(op)).emit();
  }
};
} // namespace

void luminal::attachSequences(MLIRContext &context) {
  llir::SequenceOp::attachInterface<SequenceEmission>(context);
}
