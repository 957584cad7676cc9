//===- WriteStates.cpp - States written in place --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @main(%s {state}) -> (updates 0) {
//     %0 = kernel(%s, ...) {loops}          {loops, overwrites = [0]}
//     %1 = kernel(%s, ...)             -->  // before %0
//     return %0, %1                         // -> (updates 0, llir.in_state)
//
// A value that is not written to its state's memory is copied at the end of a
// call.
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
/// The positions at which a kernel of elements reads each operand and writes
/// each result, for one index of all results.
struct Places {
  explicit Places(KernelOp kernel);

  /// One for each result, and for each operand (std::nullopt if it is not
  /// read).
  SmallVector<Expr> writes;
  SmallVector<std::optional<Expr>> reads;
  /// Operands that are read at several positions.
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

/// Returns whether each thread computes whole elements from its own reads, and
/// writes them after it has computed all results at that index.
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

/// Returns whether a kernel may write `result` to the memory of an operand that
/// it reads.
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

/// Returns the sequence of kernels that a launch holds; null if it holds none.
static SequenceOp getSequence(KernelOp kernel) {
  return dyn_cast<SequenceOp>(kernel.getBody().front().front());
}

/// The same for a kernel of a sequence: there is a barrier after each kernel.
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

/// Marks the operands of a kernel that are `state` as overwritten.
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
    return Decision::refuse("its memory does not belong to a kernel");
  if (llvm::any_of(result.getUsers(), llvm::IsaPred<ConcatOp>))
    return Decision::refuse("it is written directly into a concatenation");
  if (result.getType() != state.getType())
    return Decision::refuse("the state has another layout");
  return mayWrite(result, state);
}

/// Lets a kernel or library write `result` to the memory of a state, if it may.
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
  // Last, because it marks what is overwritten.
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
  // Each memory holds at most one result.
  DenseSet<Value> taken;
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    const unsigned number = result.getOperandNumber();
    auto updates =
        func.getResultAttrOfType<IntegerAttr>(number, hlir::kUpdatesAttr);
    if (!updates || func.getResultAttr(number, kInStateAttr))
      continue;
    BlockArgument state = block.getArgument(updates.getInt());
    // An update in place has written it there already.
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
