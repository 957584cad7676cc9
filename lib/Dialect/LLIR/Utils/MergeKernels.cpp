//===- MergeKernels.cpp - Merges kernels into one -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Utils/MergeKernels.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

KernelOp llir::mergeKernels(ArrayRef<KernelOp> kernels,
                            SmallVectorImpl<Value> &results) {
  SmallPtrSet<Operation *, 8> members(kernels.begin(), kernels.end());
  KernelOp last = kernels.back();
  SmallVector<Location> locations;
  Region region;
  Block &body = region.emplaceBlock();
  OpBuilder inner(last.getContext());
  inner.setInsertionPointToEnd(&body);
  // Maps values outside the kernel to their counterparts in the new body.
  IRMapping outside;
  SmallVector<Value> operands;
  SmallVector<Value> yielded;
  for (KernelOp kernel : kernels) {
    locations.push_back(kernel.getLoc());
    IRMapping inside;
    Block &from = kernel.getBody().front();
    for (auto [argument, operand] :
         llvm::zip_equal(from.getArguments(), kernel.getInputs())) {
      if (!outside.contains(operand)) {
        outside.map(operand,
                    body.addArgument(operand.getType(), operand.getLoc()));
        operands.push_back(operand);
      }
      inside.map(argument, outside.lookup(operand));
    }
    for (Operation &op : from.without_terminator())
      inner.clone(op, inside);
    ValueRange values = cast<YieldOp>(from.getTerminator()).getValues();
    for (auto [result, v] : llvm::zip_equal(kernel.getResults(), values))
      outside.map(result, inside.lookupOrDefault(v));
    for (Value result : kernel.getResults())
      if (!llvm::all_of(result.getUsers(), [&](Operation *user) {
            return members.contains(user);
          })) {
        results.push_back(result);
        yielded.push_back(outside.lookup(result));
      }
  }
  Location loc = FusedLoc::get(last.getContext(), locations);
  YieldOp::create(inner, loc, yielded);
  OpBuilder builder(last);
  auto merged =
      KernelOp::create(builder, loc, TypeRange(ValueRange(results)), operands,
                       /*in_place=*/false, /*loops=*/nullptr);
  merged.getBody().takeBody(region);
  return merged;
}

int64_t llir::countElementCode(KernelOp kernel) {
  int64_t code = 0;
  for (Operation &op : kernel.getOps())
    code += cast<CodeOpInterface>(op).getCodeSize();
  return code * kElementLoopCopies;
}

Value llir::copyThrough(Value value, hlir::MapAttr map, RankedTensorType type,
                        OpBuilder &builder) {
  auto kernel = KernelOp::create(builder, value.getLoc(), TypeRange(type),
                                 value, /*in_place=*/false, /*loops=*/nullptr);
  OpBuilder body = OpBuilder::atBlockEnd(&kernel.getBody().emplaceBlock());
  Value element = body.getBlock()->addArgument(value.getType(), value.getLoc());
  if (!map.isIdentity() || type != value.getType())
    element = ViewOp::create(body, value.getLoc(), type, element, map);
  YieldOp::create(body, value.getLoc(), element);
  return kernel.getResults()[0];
}
