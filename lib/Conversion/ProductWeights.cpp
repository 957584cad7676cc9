//===- ProductWeights.cpp - Prepared weights of products ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductWeights.h"
#include "luminal/Dialect/LLIR/Transforms/Preparation.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace luminal;
using namespace mlir;

static int64_t countBytes(Value v) {
  return int64_t(
      llir::nominalValue(llir::countBytes(v.getType()), Assumptions()));
}

WeightValues::WeightValues(func::FuncOp func, int64_t prepareBytes,
                           double share)
    : isBounded(prepareBytes >= 0) {
  Block &block = func.getBody().front();
  for (BlockArgument argument : block.getArguments())
    if (llir::isWeight(argument))
      values.insert(argument);
  room = isBounded ? prepareBytes
                   : int64_t(share * double(llir::countWeightBytes(func)));
  for (Operation &op : block) {
    bool isOfWeights =
        isa<llir::BodyOpInterface, llir::PrepareOp>(op) &&
        !llir::usesSymbols(&op) &&
        llvm::all_of(op.getOperands(), [&](Value v) { return contains(v); });
    if (isOfWeights)
      values.insert(op.result_begin(), op.result_end());
    if (isa<llir::PrepareOp>(op))
      room -= ::countBytes(op.getResult(0));
  }
  room = std::max<int64_t>(room, 0);
}

/// Whether `op` alone reads `v`, possibly through views.
static bool isReadByOne(Value v, Operation *op) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    return user == op || ((isa<llir::ViewOp>(user) ||
                           (user->getNumResults() == 1 &&
                            llir::skipWidening(user->getResult(0)) == v)) &&
                          isReadByOne(user->getResult(0), op));
  });
}

int64_t WeightValues::countMore(Value v, Operation *op) const {
  return !isBounded && isReadByOne(v, op) ? 0 : ::countBytes(v);
}

std::pair<Value, hlir::MapAttr>
luminal::followProduct(llir::ProductOpInterface op,
                       const Assumptions &symbols) {
  Value end = op->getResult(0);
  auto toProduct = hlir::MapAttr::getIdentity(
      op->getContext(), cast<RankedTensorType>(end.getType()).getRank());
  while (end.hasOneUse()) {
    Operation *user = *end.getUsers().begin();
    auto body = dyn_cast<llir::BodyOpInterface>(user);
    if (auto view = dyn_cast<llir::ViewOp>(user)) {
      SmallVector<Expr> extents = hlir::getExtents(view.getResult());
      if (!llir::invert(view.getMap(), extents, hlir::getExtents(end), symbols))
        break;
      toProduct = llir::compose(view.getMap(), toProduct, extents, symbols);
    } else if (!body || !body.isPointwise()) {
      break;
    }
    end = user->getResult(0);
  }
  return {end, toProduct};
}

llir::KernelOp luminal::buildProductKernel(
    llir::ProductOpInterface op, const std::array<StoredSide, 2> &sides,
    RankedTensorType type, hlir::MapAttr toProduct, Block &scratch) {
  Location loc = op->getLoc();
  SmallVector<Value> operands;
  for (const StoredSide &side : sides)
    operands.push_back(scratch.addArgument(side.memory, loc));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  auto kernel = llir::KernelOp::create(builder, loc, TypeRange(type), operands,
                                       /*in_place=*/false, /*loops=*/nullptr);
  OpBuilder body = OpBuilder::atBlockEnd(&kernel.getBody().emplaceBlock());
  SmallVector<Value> read;
  for (const StoredSide &side : sides) {
    Value v = body.getBlock()->addArgument(side.memory, loc);
    if (side.isWidened)
      v = llir::ElementwiseOp::create(
          body, loc, hlir::withElementType(side.memory, body.getF32Type()),
          llir::Fn::Cast, v);
    read.push_back(v);
  }
  OperationState state(loc, op->getName(), read, op->getResultTypes());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  auto copy = cast<llir::ProductOpInterface>(body.create(state));
  copy.setMaps(sides[0].map, sides[1].map);
  Value result = copy->getResult(0);
  if (!toProduct.isIdentity() || result.getType() != type)
    result = llir::ViewOp::create(body, loc, type, result, toProduct);
  llir::YieldOp::create(body, loc, result);
  return kernel;
}

std::vector<const void *> luminal::getKernelKey(llir::KernelOp kernel) {
  std::vector<const void *> key;
  for (Operation &inner : kernel.getBody().front()) {
    key.push_back(inner.getName().getAsOpaquePointer());
    key.push_back(inner.getPropertiesAsAttribute().getAsOpaquePointer());
    for (Type type : inner.getOperandTypes())
      key.push_back(type.getAsOpaquePointer());
    for (Type type : inner.getResultTypes())
      key.push_back(type.getAsOpaquePointer());
  }
  return key;
}
