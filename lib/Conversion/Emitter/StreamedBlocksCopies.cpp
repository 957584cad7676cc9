//===- StreamedBlocksCopies.cpp - Copies of right operands ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Right operands that memory holds in the multiplied type are copied
// asynchronously to pipeline stages in shared memory, some chunks ahead.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

using Role = StreamedSpace::Role;

/// The stage after `slot`. Chunks use the stages in turn; the first chunk of a
/// loop uses stage 0.
Value StreamedBlocks::getNextSlot(Value slot) {
  Value last = e.constant(tile.stages - 1);
  return arith::SelectOp::create(e.b, e.less(slot, last),
                                 e.add(slot, e.constant(1)), e.constant(0));
}

Value StreamedBlocks::getSlotBefore(Value slot) {
  return arith::SelectOp::create(e.b, e.less(e.constant(0), slot),
                                 e.sub(slot, e.constant(1)),
                                 e.constant(tile.stages - 1));
}

/// The address of stage `slot` of a right operand that is copied.
Value StreamedBlocks::getBuffer(const Product &product, Value slot) {
  return e.address(product.memory,
                   e.mul(slot, e.constant(product.right->countElements())),
                   product.tile->getStored());
}

TileOperand StreamedBlocks::getRight(const Product &product, Value slot) {
  if (!product.isCopied())
    return product.right->getOperand();
  if (!tile.useWarpGroups)
    return product.right->getOperand(getBuffer(product, slot));
  TileOperand operand = product.right->getOperand(product.memory);
  int64_t bits = product.right->countElements() *
                 product.tile->getStored().getIntOrFloatBitWidth();
  operand.units = e.mul(slot, e.constant(bits / 128));
  return operand;
}

/// Starts the copies of the right operands of a chunk.
void StreamedBlocks::startCopies(ArrayRef<std::unique_ptr<Product>> products,
                                 CopiedChunk chunk) {
  e.setDim(t.begin, chunk.lo);
  for (auto &product : products) {
    if (!product->isCopied())
      continue;
    bool isScores = product->anchor.role == Role::Scores;
    product->right->copy(isScores ? chunk.lo : e.constant(0), e.constant(0),
                         getBuffer(*product, chunk.slot));
  }
}

/// The same for all products, if the chunk is in the range. A copy group is
/// committed even if it is empty, so that groups can be counted.
void StreamedBlocks::startCopies(CopiedChunk chunk, IndexRange walked) {
  e.ifThen(e.less(chunk.lo, walked.hi), [&] {
    startCopies(scores, chunk);
    startCopies(sums, chunk);
  });
  NVVM::CpAsyncCommitGroupOp::create(e.b);
}
