//===- LLIRBody.cpp - The reads of each op in a kernel --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static Index readThrough(hlir::MapAttr map, const Index &index) {
  Index result;
  for (const Expr &e : map.getResults())
    result.push_back(e.substituteDims(index));
  return result;
}

//===----------------------------------------------------------------------===//
// Ops without loops
//===----------------------------------------------------------------------===//

bool ElementwiseOp::isPointwise() { return true; }

bool ViewOp::isFree() { return true; }
void ViewOp::getReads(const Index &index, AddDim, ReadAt read) {
  read(getOperandMutable(), readThrough(getMap(), index));
}

bool llir::ConstantOp::isFree() { return true; }

bool IotaOp::isFree() { return true; }
std::optional<Expr> IotaOp::getElementExpr(const Index &index) {
  return getMap().getResults()[0].substituteDims(index);
}

void llir::GatherOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  unsigned rank = cast<RankedTensorType>(getIndices().getType()).getRank();
  Index row{addDim(hlir::getExtents(getData())[0])};
  row.insert(row.end(), index.begin() + rank, index.end());
  read(getDataMutable(), row);
  read(getIndicesMutable(), Index(index.begin(), index.begin() + rank));
}

/// A segment ends at the begin of the next one; for the last segment its own
/// begin is read instead.
void SegmentReduceOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  Index row{addDim(hlir::getExtents(getData())[0])};
  row.insert(row.end(), index.begin() + 1, index.end());
  read(getDataMutable(), row);
  read(getBeginsMutable(), Index{index[0]});
  read(getBeginsMutable(), getNext(index));
}

Index SegmentReduceOp::getNext(const Index &index) {
  Expr last = hlir::getExtents(getBegins())[0] + Expr(-1);
  return Index{Expr::min(index[0] + Expr(1), last)};
}

//===----------------------------------------------------------------------===//
// Ops with loops
//===----------------------------------------------------------------------===//

void llir::ReduceOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  Index inner = index;
  inner.push_back(addDim(getReducedExtent()));
  read(getOperandMutable(), inner);
}

Expr llir::ReduceOp::getReducedExtent() {
  return hlir::getExtents(getOperand()).back();
}

Expr GemmOp::getReducedExtent() { return getKExtent(); }

Type llir::getAccumulatorType(Type element) {
  bool isNarrow = element.isF16() || element.isBF16();
  return isNarrow ? Type(Float32Type::get(element.getContext())) : element;
}

static Type getAccumulator(Value result) {
  return getAccumulatorType(
      cast<RankedTensorType>(result.getType()).getElementType());
}

SmallVector<Type> llir::ReduceOp::getStateTypes() {
  return {getAccumulator(getResult())};
}

SmallVector<Type> GemmOp::getStateTypes() {
  return {getAccumulator(getResult())};
}
void GemmOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  Index inner = index;
  inner.push_back(addDim(getKExtent()));
  read(getLhsMutable(), readThrough(getLhsMap(), inner));
  read(getRhsMutable(), readThrough(getRhsMap(), inner));
}

/// Any update may write the row.
void llir::ScatterOp::getReads(const Index &index, AddDim addDim, ReadAt read) {
  Index at;
  for (const Expr &extent : hlir::getExtents(getIndices()))
    at.push_back(addDim(extent));
  read(getDestMutable(), index);
  read(getIndicesMutable(), at);
  at.insert(at.end(), index.begin() + 1, index.end());
  read(getUpdatesMutable(), at);
}

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

bool llir::hasLoops(Operation *op) {
  auto code = dyn_cast<CodeOpInterface>(op);
  return code && code.getLoopCopies() > 0;
}

std::string KernelOp::getTitle() {
  llvm::SetVector<StringRef> anchors, lookups;
  for (Operation &op : getOps()) {
    if (hasLoops(&op))
      anchors.insert(op.getName().stripDialect());
    else if (isa<LookupOpInterface>(op))
      lookups.insert(op.getName().stripDialect());
  }
  if (!anchors.empty())
    return llvm::join(anchors, "+");
  return lookups.empty() ? "map" : llvm::join(lookups, "+");
}
