//===- OverwriteOrder.cpp - Orders readers before overwrites --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OverwriteOrder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

Value llir::getStorage(Value value) {
  while (auto alias = value.getDefiningOp<AliasOp>())
    value = alias.getOperand();
  return value;
}

SmallVector<Operation *> llir::getReaders(Value value) {
  SmallVector<Operation *> readers;
  SmallVector<Value> names = {value};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      readers.push_back(user);
      if (auto alias = dyn_cast<AliasOp>(user))
        names.push_back(alias.getResult());
    }
  return readers;
}

SmallVector<Value> OverwriteOrder::getOverwritten(Operation *op) const {
  SmallVector<Value> values;
  if (auto it = overwritten.find(op); it != overwritten.end())
    llvm::append_range(values, it->second);
  if (auto kernel = dyn_cast<KernelOp>(op); kernel && kernel.getInPlace())
    values.push_back(kernel.getInputs()[0]);
  return values;
}

OverwriteOrder::Decision OverwriteOrder::moveReadersBefore(Operation *writer,
                                                           Value old) const {
  llvm::SetVector<Operation *> late;
  for (Operation *reader : getReaders(old)) {
    if (reader == writer)
      continue;
    if (reader->hasTrait<OpTrait::IsTerminator>())
      return Decision::refuse("the old value is a result of the function");
    if (isa<ConcatOp>(reader))
      return Decision::refuse("the old value is a part of another", reader);
    if (llvm::is_contained(getOverwritten(reader), old))
      return Decision::refuse("another update writes the memory", reader);
    if (writer->isBeforeInBlock(reader))
      late.insert(reader);
  }
  // Also move every op that they depend on, and every op that has to read the
  // memory that they overwrite.
  auto take = [&](Operation *before, Operation *after) {
    if (before->getBlock() == writer->getBlock() && before != after &&
        before->isBeforeInBlock(after) && !before->isBeforeInBlock(writer))
      late.insert(before);
  };
  for (unsigned i = 0; i < late.size(); ++i) {
    Operation *op = late[i];
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        take(producer, op);
    for (Value memory : getOverwritten(op))
      for (Operation *reader : getReaders(memory))
        take(reader, op);
    if (late.contains(writer))
      return Decision::refuse(
          "a reader of the old value has to come after the new one", op);
  }
  SmallVector<Operation *> sorted = llvm::to_vector(late);
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : sorted)
    op->moveBefore(writer);
  return Decision::accept();
}
