//===- UnrollLoops.cpp - Unrolls loops ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/HLIR/unroll-loops.mlir.
//
//===----------------------------------------------------------------------===//

#include "TripLocations.h"
#include "luminal/Dialect/HLIR/Transforms/Dataflow.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace luminal::hlir {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "luminal/Dialect/HLIR/Transforms/Passes.h.inc"
} // namespace luminal::hlir

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

namespace {
class UnrollLoops : public hlir::impl::UnrollLoopsPassBase<UnrollLoops> {
public:
  using UnrollLoopsPassBase::UnrollLoopsPassBase;
  void runOnOperation() override;
};
} // namespace

/// The number of ops in a block after all loops are unrolled; saturates beyond
/// every limit.
static int64_t countUnrolled(Block &block) {
  int64_t count = 0;
  for (Operation &op : block) {
    int64_t ops = 1;
    if (auto repeat = dyn_cast<RepeatOp>(op))
      if (llvm::MulOverflow(countUnrolled(repeat.getBody().front()),
                            repeat.getNumTrips().value_or(1), ops))
        return std::numeric_limits<int64_t>::max();
    if (llvm::AddOverflow(count, ops, count))
      return std::numeric_limits<int64_t>::max();
  }
  return count;
}

static void unroll(RepeatOp repeat) {
  Block &body = repeat.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  const unsigned trips = repeat.getTrips();
  const unsigned numCarried = repeat.getCarried().size();
  OpBuilder builder(repeat);
  SmallVector<Value> carried(repeat.getCarried()),
      results(repeat.getNumResults());
  for (unsigned trip = 0; trip != trips; ++trip) {
    IRMapping mapping;
    for (auto [i, argument] : llvm::enumerate(body.getArguments()))
      mapping.map(argument,
                  i < numCarried
                      ? carried[i]
                      : repeat.getEach()[(i - numCarried) * trips + trip]);
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      copy->walk([&](Operation *inner) {
        inner->setLoc(getTripLocation(inner->getLoc(), trip));
      });
    }
    for (auto [i, value] : llvm::enumerate(yield.getValues())) {
      Value made = mapping.lookupOrDefault(value);
      if (i < numCarried)
        carried[i] = made;
      else
        results[numCarried + (i - numCarried) * trips + trip] = made;
    }
  }
  llvm::copy(carried, results.begin());
  repeat.replaceAllUsesWith(results);
  repeat.erase();
}

void UnrollLoops::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration())
    return;
  // Innermost loops first.
  SmallVector<RepeatOp> loops;
  func.walk([&](RepeatOp repeat) { loops.push_back(repeat); });
  if (loops.empty())
    return;
  for (Block &block : func.getBody())
    if (int64_t ops = countUnrolled(block); ops > maxOps) {
      func.emitOpError() << "has " << ops
                         << " ops once its loops are unrolled, "
                         << "at most " << int64_t(maxOps) << " are allowed";
      return signalPassFailure();
    }
  for (RepeatOp repeat : loops) {
    if (!repeat.getRows().empty() || repeat.getStacked()) {
      repeat.emitOpError() << "reads rows or stacks values and cannot be "
                           << "unrolled; hlir-split-loops gives each trip "
                           << "separate values";
      return signalPassFailure();
    }
    unroll(repeat);
  }
  for (Block &block : func.getBody())
    sortByDataflow(block);
}
