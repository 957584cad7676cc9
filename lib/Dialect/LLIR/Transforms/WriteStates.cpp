//===- WriteStates.cpp - New values in the memory of their states ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @main(%s {state}) -> (updates 0) {
//     %0 = kernel(%s, ...) {loops}          {loops, overwrites = [0]}
//     %1 = kernel(%s, ...)             -->  // before %0
//     return %0, %1                         // -> (updates 0, llir.in_state)
//
// A value that is not written there is copied at the end of a call.
//
// Tested by test/Dialect/LLIR/write-states.mlir and write-states-remarks.mlir.
//
//===----------------------------------------------------------------------===//

#include "OverwriteOrder.h"
#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Transforms/StateResults.h"

namespace luminal::llir {
#define GEN_PASS_DEF_WRITESTATESPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-write-states"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

namespace {
/// Where a kernel of elements reads each operand and writes each result, at one
/// index of all results.
struct Places {
  explicit Places(KernelOp kernel);

  /// By result, and by operand: nothing where it is not read.
  SmallVector<Expr> writes;
  SmallVector<std::optional<Expr>> reads;
  /// Operands that are read in several places.
  SmallVector<bool> several;
};

class WriteStates : public llir::impl::WriteStatesPassBase<WriteStates> {
public:
  using WriteStatesPassBase::WriteStatesPassBase;
  void runOnOperation() override;

private:
  Decision decide(Value value, BlockArgument state);
  Decision mayWrite(OpResult result, BlockArgument state);
  Decision mayOverwrite(KernelOp kernel, OpResult result, BlockArgument state);
  Decision mayOverwrite(SequenceOp sequence, OpResult result,
                        BlockArgument state);
  void tell(Value value, BlockArgument state, const Decision &decision);

  OverwriteOrder order;
  DenseMap<Operation *, Places> places;
};
} // namespace

Value llir::getFirstMemory(Value value) {
  while (auto kernel = value.getDefiningOp<KernelOp>()) {
    if (!kernel.getInPlace())
      break;
    value = kernel.getInputs()[0];
  }
  return value;
}

/// Whether every element is computed by one thread, of what it reads itself,
/// and written when all results of that index are computed.
static bool computesElements(KernelOp kernel) {
  return kernel.getLoops() &&
         llvm::all_of(kernel.getLoops()->getCases(), [&](LoopCaseAttr c) {
           return getLoopsTitle(kernel, c) == "elements" && c.getParts() == 1 &&
                  getSharedOps(kernel, c).empty();
         });
}

Places::Places(KernelOp kernel)
    : reads(kernel.getInputs().size()), several(kernel.getInputs().size()) {
  KernelAnalysis a(kernel, hlir::getAssumptions(kernel).getSymbols());
  Index index;
  for (const Expr &extent : hlir::getExtents(kernel.getResult(0)))
    index.push_back(extent.isConstant(1) ? Expr(0)
                                         : Expr::dim(a.addDim(extent)));
  for (auto [number, yielded] : llvm::enumerate(getYielded(kernel))) {
    writes.push_back(a.getResultAddress(number, index));
    a.walk(yielded, index, [&](const Leaf &leaf) {
      if (!leaf.argument)
        return;
      std::optional<Expr> &known = reads[leaf.argument.getArgNumber()];
      if (!known)
        known = leaf.address;
      else if (*known != leaf.address)
        several[leaf.argument.getArgNumber()] = true;
    });
  }
}

/// Whether a kernel may write `result` to the memory of an operand that it
/// reads.
Decision WriteStates::mayOverwrite(KernelOp kernel, OpResult result,
                                   BlockArgument state) {
  if (!places.contains(kernel)) {
    if (!computesElements(kernel))
      return Decision::refuse("threads of its kernel share what they read",
                              kernel);
    places.try_emplace(kernel, kernel);
  }
  const Places &at = places.at(kernel);
  const Expr &own = at.writes[result.getResultNumber()];
  for (auto [number, operand] : llvm::enumerate(kernel.getInputs())) {
    if (getStorage(operand) != state)
      continue;
    if (operand != state)
      return Decision::refuse("its kernel reads a part of the old value",
                              kernel);
    if (at.several[number] || (at.reads[number] && *at.reads[number] != own))
      return Decision::refuse("its kernel reads the old value elsewhere than "
                              "it writes the new one",
                              kernel);
  }
  return Decision::accept();
}

/// The kernels of a launch that holds a sequence of them.
static SequenceOp getSequence(KernelOp kernel) {
  return dyn_cast<SequenceOp>(kernel.getBody().front().front());
}

/// The same of one of its kernels: the block meets after each.
Decision WriteStates::mayOverwrite(SequenceOp sequence, OpResult result,
                                   BlockArgument state) {
  auto launch = cast<KernelOp>(result.getOwner());
  Block &body = launch.getBody().front(), &steps = sequence.getBody().front();
  BlockArgument inner;
  for (auto [number, operand] : llvm::enumerate(launch.getInputs())) {
    if (getStorage(operand) != state)
      continue;
    if (operand != state || inner)
      return Decision::refuse("its launch reads a part of the old value",
                              launch);
    for (auto [given, argument] :
         llvm::zip(sequence.getInputs(), steps.getArguments()))
      if (given == body.getArgument(number))
        inner = argument;
  }
  assert(inner && "a state that no kernel of the sequence is given");
  auto yielded = cast<OpResult>(
      body.getTerminator()->getOperand(result.getResultNumber()));
  return mayWrite(
      cast<OpResult>(getFirstMemory(
          steps.getTerminator()->getOperand(yielded.getResultNumber()))),
      inner);
}

/// Notes that a kernel overwrites its operands that are `state`.
static void setOverwrites(KernelOp kernel, BlockArgument state) {
  SmallVector<int64_t> numbers(
      kernel.getOverwrites().value_or(ArrayRef<int64_t>()));
  for (auto [number, operand] : llvm::enumerate(kernel.getInputs()))
    if (operand == state)
      numbers.push_back(number);
  llvm::sort(numbers);
  kernel.setOverwrites(numbers);
}

Decision WriteStates::decide(Value value, BlockArgument state) {
  auto result = dyn_cast<OpResult>(getFirstMemory(value));
  if (!result || !isa<KernelOp, LibraryOpInterface>(result.getOwner()))
    return Decision::refuse("its memory is not a kernel's own");
  if (llvm::any_of(result.getUsers(), llvm::IsaPred<ConcatOp>))
    return Decision::refuse("it is written where it is joined to others");
  if (result.getType() != state.getType())
    return Decision::refuse("the state has another layout");
  return mayWrite(result, state);
}

/// Whether a kernel or a library may write `result` to the memory of a value
/// of its block; it does then.
Decision WriteStates::mayWrite(OpResult result, BlockArgument state) {
  Operation *writer = result.getOwner();
  const bool readsState = llvm::any_of(
      writer->getOperands(), [&](Value v) { return getStorage(v) == state; });
  auto kernel = dyn_cast<KernelOp>(writer);
  if (readsState && !kernel)
    return Decision::refuse("a library reads the old value", writer);
  SequenceOp sequence = kernel ? getSequence(kernel) : nullptr;
  if (readsState && !sequence)
    if (Decision found = mayOverwrite(kernel, result, state); !found)
      return found;
  if (Decision moved = order.moveReadersBefore(writer, state); !moved)
    return moved;
  // Last, since it notes what is overwritten.
  if (readsState && sequence)
    if (Decision found = mayOverwrite(sequence, result, state); !found)
      return found;
  order.add(writer, state);
  if (readsState)
    setOverwrites(kernel, state);
  return Decision::accept();
}

void WriteStates::tell(Value value, BlockArgument state,
                       const Decision &decision) {
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  if (!reporter.isListening())
    return;
  SmallVector<Reporter::Arg> args = {{"state", state.getArgNumber()}};
  if (decision)
    return reporter.passed(value.getLoc(), "state", args);
  if (Operation *other = decision.getSubject())
    args.push_back({"because of", describeWithPlace(other)});
  args.push_back({"bytes copied", countBytes(state.getType()).str()});
  args.push_back({"reason", decision.str()});
  reporter.missed(value.getLoc(), "state", args);
}

void WriteStates::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  order = {};
  places.clear();
  Block &block = func.getBody().front();
  // One result of a memory alone.
  DenseSet<Value> taken;
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    const unsigned number = result.getOperandNumber();
    auto updates =
        func.getResultAttrOfType<IntegerAttr>(number, hlir::kUpdatesAttr);
    if (!updates || func.getResultAttr(number, kInStateAttr))
      continue;
    BlockArgument state = block.getArgument(updates.getInt());
    // Where an update in place has put it.
    if (getFirstMemory(result.get()) == state)
      continue;
    Decision decision =
        taken.insert(getFirstMemory(result.get())).second
            ? decide(result.get(), state)
            : Decision::refuse("it is the new value of another state");
    if (decision)
      func.setResultAttr(number, kInStateAttr, UnitAttr::get(&getContext()));
    tell(result.get(), state, decision);
  }
}
