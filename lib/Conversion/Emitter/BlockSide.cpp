//===- BlockSide.cpp - An operand of a tile on its way to shared memory ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockSide.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

BlockSide::Reading BlockSide::getReading(llir::LoopFormAttr form, bool ofRows) {
  return {unsigned(form.getNumber(ofRows ? "rowlanes" : "columnlanes", 1)),
          form.getWord(ofRows ? "rowalong" : "columnalong") != "own"};
}

int64_t BlockSide::countElements() const {
  return (hasLinesOfK() ? count : depth) * getStride();
}

Type BlockSide::getVectorType() const {
  if (reading.lanes == 1)
    return tile.getStored();
  return VectorType::get({int64_t(reading.lanes)}, tile.getStored());
}

std::pair<Value, Value> BlockSide::getPlace(unsigned number) const {
  Value index = e.add(thread, e.constant(int64_t(number) * threads));
  int64_t inner = (reading.isAlongK ? depth : count) / reading.lanes;
  Value fast =
      e.mul(e.remU(index, e.constant(inner)), e.constant(reading.lanes));
  Value slow = e.divU(index, e.constant(inner));
  return reading.isAlongK ? std::pair(slow, fast) : std::pair(fast, slow);
}

SmallVector<Value> BlockSide::load(Value lo, Value begin) const {
  SmallVector<Value> result;
  Emitter::Repeated repeated(e, {p.op.getReducedExtent()});
  bool isFull = isWhole(side.extent, count) && isWhole(p.kExtent, depth);
  Value zero = arith::ConstantOp::create(e.b, e.b.getZeroAttr(getVectorType()));
  for (unsigned i = 0, n = countVectors(); i < n; ++i) {
    auto [own, k] = getPlace(i);
    Value at = e.add(lo, own), atK = e.add(begin, k);
    auto load = [&] {
      Emitter::MemoScope inner(e);
      e.setDim(side.dim, at);
      e.setDim(p.kDim, atK);
      if (reading.lanes > 1)
        e.setLane(reading.isAlongK ? p.kDim : side.dim, reading.lanes);
      Value v = e.spread(e.emit(side.operand, p.getOperandIndex(side)));
      Type element = getElementType(side.operand);
      if (tile.getElement() != element) {
        v = emitCast(e.b, v, element, tile.getElement());
        element = tile.getElement();
      }
      v = e.toStorage(v, element);
      e.clearLane();
      return SmallVector<Value>{v};
    };
    if (isFull && isSpread()) {
      result.push_back(load()[0]);
      continue;
    }
    Value inside = e.less(at, e.value(side.extent));
    inside =
        arith::AndIOp::create(e.b, inside, e.less(atK, e.value(p.kExtent)));
    // Fewer elements than threads: some threads bring nothing.
    if (!isSpread())
      inside = arith::AndIOp::create(
          e.b, inside,
          arith::AndIOp::create(e.b, e.less(own, e.constant(count)),
                                e.less(k, e.constant(depth))));
    result.push_back(e.ifElse(inside, {getVectorType()}, load,
                              [&] { return SmallVector<Value>{zero}; })[0]);
  }
  return result;
}

void BlockSide::store(ValueRange vectors) const {
  Type stored = tile.getStored();
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  Value stride = e.constant(getStride());
  bool ofK = hasLinesOfK();
  for (auto [i, v] : llvm::enumerate(vectors)) {
    auto [own, k] = getPlace(i);
    auto store = [&, own = own, k = k, v = v] {
      auto at = [&](Value own) {
        Value line = ofK ? own : k, inLine = ofK ? k : own;
        return e.address(memory, e.add(e.mul(line, stride), inLine), stored);
      };
      if (reading.lanes == 1 || reading.isAlongK == ofK) {
        LLVM::StoreOp::create(e.b, v, at(own),
                              std::min(16u, bytes * reading.lanes));
        return;
      }
      for (unsigned l = 0; l < reading.lanes; ++l)
        LLVM::StoreOp::create(e.b,
                              vector::ExtractOp::create(e.b, v, int64_t(l)),
                              at(e.add(own, e.constant(l))), bytes);
    };
    if (isSpread())
      store();
    else
      e.ifThen(arith::AndIOp::create(e.b, e.less(own, e.constant(count)),
                                     e.less(k, e.constant(depth))),
               store);
  }
}
