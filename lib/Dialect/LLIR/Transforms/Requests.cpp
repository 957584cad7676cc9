//===- Requests.cpp - Requests of fusion to schedules ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Requests.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/LLIR/Transforms/Preparation.h"
#include "luminal/Dialect/LLIR/Transforms/StateResults.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <unordered_map>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

StringAttr llir::getName(DictionaryAttr attributes, StringRef prefix,
                         unsigned index, MLIRContext *context) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>(hlir::kNameAttr))
      return name;
  return StringAttr::get(context, prefix + Twine(index));
}

StringAttr llir::getPreparedName(MLIRContext *context, unsigned index) {
  return StringAttr::get(context, "p" + Twine(index));
}

/// Returns the ops that compute `outputs`, in order. Stops at prepared values,
/// unless `through`.
static SmallVector<Operation *> getSlice(Block &block, ArrayRef<Output> outputs,
                                         bool through) {
  DenseSet<Value> wanted;
  for (const Output &output : outputs)
    wanted.insert(output.value);
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getResults(),
                      [&](Value v) { return wanted.contains(v); }))
      continue;
    ops.push_back(&op);
    if (through || !isa<PrepareOp>(op))
      wanted.insert(op.operand_begin(), op.operand_end());
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

Request llir::getProgram(func::FuncOp func) {
  Request request;
  Block &block = func.getBody().front();
  request.name = func.getSymName().str();
  request.arguments = llvm::to_vector(block.getArguments());
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    Output output{
        operand.get(),
        getName(func.getResultAttrDict(index), "output_", index,
                func.getContext()),
        {},
        func.getResultAttrOfType<StringAttr>(index, hlir::kAssertionAttr)};
    if (auto updates =
            func.getResultAttrOfType<IntegerAttr>(index, hlir::kUpdatesAttr))
      output.updates = updates.getInt();
    output.isInState = func.getResultAttr(index, kInStateAttr) != nullptr;
    request.outputs.push_back(output);
  }
  request.ops = getSlice(block, request.outputs, /*through=*/false);
  return request;
}

/// Replaces equal ops of a block by the first of them. Ops inside their regions
/// stay: schedules name the ops of a kernel by position.
static void mergeEqualOps(Block &block) {
  std::unordered_map<size_t, SmallVector<Operation *>> seen;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    size_t hash = OperationEquivalence::computeHash(
        &op, OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
    SmallVector<Operation *> &alike = seen[hash];
    auto equal = llvm::find_if(alike, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(
          other, &op, OperationEquivalence::IgnoreLocations);
    });
    if (equal == alike.end()) {
      alike.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*equal);
    op.erase();
  }
}

func::FuncOp llir::joinPreparations(MutableArrayRef<func::FuncOp> funcs,
                                    MutableArrayRef<Request> programs) {
  func::FuncOp first = funcs.front();
  auto joined = func::FuncOp::create(first.getLoc(), first.getSymName(),
                                     first.getFunctionType());
  joined->setAttrs(first->getAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(joined.addEntryBlock());
  SmallVector<Value> values;
  for (auto [func, program] : llvm::zip_equal(funcs, programs)) {
    IRMapping map;
    map.map(func.getArguments(), joined.getArguments());
    SmallVector<Output> wanted;
    for (Operation *op : program.ops)
      if (auto prepare = dyn_cast<PrepareOp>(op)) {
        program.prepared[op] = values.size() + wanted.size();
        wanted.push_back({prepare.getOperand(), {}, {}});
      }
    for (Operation *op :
         getSlice(func.getBody().front(), wanted, /*through=*/true)) {
      if (auto prepare = dyn_cast<PrepareOp>(op))
        map.map(prepare.getResult(), map.lookup(prepare.getOperand()));
      else
        builder.clone(*op, map);
    }
    for (const Output &output : wanted)
      values.push_back(map.lookup(output.value));
  }
  auto end = func::ReturnOp::create(builder, first.getLoc(), values);
  mergeEqualOps(joined.getBody().front());
  llvm::SetVector<Value> unique(end.operand_begin(), end.operand_end());
  for (Request &program : programs)
    for (auto &[op, index] : program.prepared)
      index = llvm::find(unique, end.getOperand(index)) - unique.begin();
  end->setOperands(unique.getArrayRef());
  return joined;
}

PreparedBytes llir::countPreparedBytes(ArrayRef<func::FuncOp> programs) {
  SmallVector<func::FuncOp> funcs(programs);
  SmallVector<Request> requests = llvm::map_to_vector(funcs, getProgram);
  OwningOpRef<func::FuncOp> joined = joinPreparations(funcs, requests);
  auto sizeOf = [](Value value) {
    return countBytes(value.getType()).asConstant().value_or(0);
  };
  PreparedBytes bytes;
  for (Value value : joined->getBody().front().getTerminator()->getOperands())
    bytes.values += sizeOf(value);
  // The weights that calls read.
  llvm::DenseSet<unsigned> isRead;
  for (const Request &request : requests)
    for (Operation *op : request.ops)
      if (!isa<PrepareOp>(op))
        for (Value operand : op->getOperands())
          if (auto argument = dyn_cast<BlockArgument>(operand))
            isRead.insert(argument.getArgNumber());
  for (BlockArgument argument : joined->getArguments())
    if (!argument.use_empty() && !isRead.contains(argument.getArgNumber()))
      bytes.replaced += sizeOf(argument);
  return bytes;
}

FailureOr<Request> llir::getPreparation(func::FuncOp joined) {
  Request request;
  request.name = (joined.getSymName() + "_prepare").str();
  request.isPrepare = true;
  Block &block = joined.getBody().front();
  for (Value value : block.getTerminator()->getOperands())
    request.outputs.push_back(
        {value,
         getPreparedName(joined.getContext(), request.outputs.size()),
         {}});
  request.ops = getSlice(block, request.outputs, /*through=*/true);
  llvm::SetVector<BlockArgument> arguments;
  auto use = [&](Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      arguments.insert(argument);
  };
  for (Operation *op : request.ops) {
    if (usesSymbols(op))
      return op->emitOpError() << "is to be prepared when weights are bound, "
                                  "but depends on a symbol";
    for (Value operand : op->getOperands())
      use(operand);
  }
  for (const Output &output : request.outputs)
    use(output.value);
  for (BlockArgument argument : arguments) {
    auto kind = joined.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    hlir::kKindAttr);
    if (!kind || kind.getValue() != "weight")
      return joined.emitOpError()
             << "prepares a value that depends on argument "
             << argument.getArgNumber() << ", which is not a weight";
  }
  request.arguments = arguments.takeVector();
  return request;
}
