//===- BlockSide.cpp - Loads an operand of a tile -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockSide.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

BlockSide::Reading BlockSide::getReading(llir::LoopFormAttr form, bool ofRows) {
  return {unsigned(form.getNumber(ofRows ? "rowlanes" : "columnlanes", 1)),
          form.getWord(ofRows ? "rowalong" : "columnalong") != "own"};
}

int64_t BlockSide::countElements() const {
  return tile.countElements(getLines(), getLength());
}

Type BlockSide::getVectorType() const {
  if (reading.lanes == 1)
    return tile.getStored();
  return VectorType::get({int64_t(reading.lanes)}, tile.getStored());
}

std::pair<Value, Value> BlockSide::getPlace(unsigned number) const {
  int64_t inner = (reading.isAlongK ? depth : count) / reading.lanes;
  auto order = [&](Value slow, Value fast) {
    return reading.isAlongK ? std::pair(slow, fast) : std::pair(fast, slow);
  };
  // The vectors of a thread are whole lines apart, so addresses differ by
  // constants.
  if (threads % inner == 0)
    return order(
        e.add(e.divU(thread, e.constant(inner)),
              e.constant(int64_t(number) * (threads / inner))),
        e.mul(e.remU(thread, e.constant(inner)), e.constant(reading.lanes)));
  Value index = e.add(thread, e.constant(int64_t(number) * threads));
  Value fast =
      e.mul(e.remU(index, e.constant(inner)), e.constant(reading.lanes));
  return order(e.divU(index, e.constant(inner)), fast);
}

Value BlockSide::isInside(unsigned number, Value at, Value atK) const {
  bool isFull =
      !end && isWhole(side.extent, count) && isWhole(p.kExtent, depth);
  if (isFull && isSpread())
    return {};
  Value inside = e.less(at, getEnd());
  inside = arith::AndIOp::create(e.b, inside, e.less(atK, e.value(p.kExtent)));
  if (isSpread())
    return inside;
  // The vectors do not fill all threads: some threads have none.
  auto [own, k] = getPlace(number);
  return arith::AndIOp::create(
      e.b, inside,
      arith::AndIOp::create(e.b, e.less(own, e.constant(count)),
                            e.less(k, e.constant(depth))));
}

SmallVector<Value> BlockSide::load(Value lo, Value begin) const {
  SmallVector<Value> result;
  Emitter::Repeated repeated(e, {p.op.getReducedExtent()});
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
    Value inside = isInside(i, at, atK);
    if (!inside) {
      result.push_back(load()[0]);
      continue;
    }
    result.push_back(e.ifElse(inside, {getVectorType()}, load,
                              [&] { return SmallVector<Value>{zero}; })[0]);
  }
  return result;
}

void BlockSide::store(ValueRange vectors) const {
  Type stored = tile.getStored();
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  bool ofK = hasLinesOfK();
  for (auto [i, v] : llvm::enumerate(vectors)) {
    auto [own, k] = getPlace(i);
    auto store = [&, own = own, k = k, v = v] {
      // The address of element `lane` of the vector.
      auto at = [&](unsigned lane) {
        Value moved = reading.isAlongK ? e.add(k, e.constant(lane))
                                       : e.add(own, e.constant(lane)),
              ownPlace = reading.isAlongK ? own : moved,
              kPlace = reading.isAlongK ? moved : k;
        return e.address(memory,
                         tile.getPlace(ofK ? ownPlace : kPlace,
                                       ofK ? kPlace : ownPlace, getStride()),
                         stored);
      };
      if (reading.lanes == 1) {
        LLVM::StoreOp::create(e.b, v, at(0), bytes);
        return;
      }
      if (reading.isAlongK == ofK) {
        // Swizzles move units of 16 bytes, so longer vectors are stored in
        // parts.
        int64_t run = std::min<int64_t>(reading.lanes, 16 / bytes);
        for (int64_t l = 0; l < reading.lanes; l += run) {
          Value part = run == reading.lanes
                           ? v
                           : vector::ExtractStridedSliceOp::create(
                                 e.b, v, ArrayRef<int64_t>(l),
                                 ArrayRef<int64_t>(run), ArrayRef<int64_t>(1));
          LLVM::StoreOp::create(e.b, part, at(unsigned(l)),
                                unsigned(bytes * run));
        }
        return;
      }
      for (unsigned l = 0; l < reading.lanes; ++l)
        LLVM::StoreOp::create(
            e.b, vector::ExtractOp::create(e.b, v, int64_t(l)), at(l), bytes);
    };
    if (isSpread())
      store();
    else
      e.ifThen(arith::AndIOp::create(e.b, e.less(own, e.constant(count)),
                                     e.less(k, e.constant(depth))),
               store);
  }
}

/// Copies of elements outside the operand write zeros and read no bytes.
void BlockSide::copy(Value lo, Value begin, Value base) const {
  ImplicitLocOpBuilder &b = e.b;
  Emitter::Repeated repeated(e, {p.op.getReducedExtent()});
  auto in = [&](Value pointer, NVVM::NVVMMemorySpace space) -> Value {
    return LLVM::AddrSpaceCastOp::create(
        b,
        LLVM::LLVMPointerType::get(b.getContext(),
                                   static_cast<unsigned>(space)),
        pointer);
  };
  Type stored = tile.getStored();
  int64_t bytes = reading.lanes * stored.getIntOrFloatBitWidth() / 8;
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(n)));
  };
  for (unsigned i = 0, n = countVectors(); i < n; ++i) {
    Emitter::MemoScope scope(e);
    auto [own, k] = getPlace(i);
    Value at = e.add(lo, own), atK = e.add(begin, k);
    // The source address depends on loaded indices, which exist only for rows
    // inside the operand: clamp the row.
    Value last = isLookedUp ? e.sub(getEnd(), e.constant(1)) : Value();
    e.setDim(side.dim, last ? e.minS(at, last) : at);
    e.setDim(p.kDim, atK);
    Value from = e.getOperandAddress(side.operand, p.getOperandIndex(side));
    Value inside = isInside(i, at, atK);
    Value read = inside ? Value(arith::SelectOp::create(
                              b, inside, number(bytes), number(0)))
                        : Value();
    Value line = hasLinesOfK() ? own : k, inLine = hasLinesOfK() ? k : own;
    Value to =
        e.address(base, tile.getPlace(line, inLine, getStride()), stored);
    auto copyOne = [&] {
      NVVM::CpAsyncOp::create(b, in(to, NVVM::NVVMMemorySpace::Shared),
                              in(from, NVVM::NVVMMemorySpace::Global),
                              static_cast<uint32_t>(bytes),
                              NVVM::LoadCacheModifierKind::CG, read);
    };
    if (isSpread())
      copyOne();
    else
      e.ifThen(arith::AndIOp::create(b, e.less(own, e.constant(count)),
                                     e.less(k, e.constant(depth))),
               copyOne);
  }
}
