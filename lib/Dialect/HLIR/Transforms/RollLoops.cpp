//===- RollLoops.cpp - Rewrites repeated subgraphs as loops ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = sin %x, %1 = mul %0, %w0       %0 = repeat 2 carried(%x) each(%w0,
//   %w1) %2 = sin %1, %3 = mul %2, %w1  -->    sin, mul, yield
//
// Recurrence.h says what a loop is. Tested by
// test/Dialect/HLIR/roll-loops.mlir.
//
//===----------------------------------------------------------------------===//

#include "TripLocations.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "luminal/Dialect/HLIR/Transforms/Recurrence.h"
#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "mlir/IR/IRMapping.h"

namespace luminal::hlir {
#define GEN_PASS_DEF_ROLLLOOPSPASS
#include "luminal/Dialect/HLIR/Transforms/Passes.h.inc"
} // namespace luminal::hlir

#define DEBUG_TYPE "hlir-roll-loops"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

namespace {
class RollLoops : public hlir::impl::RollLoopsPassBase<RollLoops> {
public:
  using RollLoopsPassBase::RollLoopsPassBase;
  void runOnOperation() override;
};

/// Values of the body that are read outside of the loop.
struct Outputs {
  /// Final values of carried ones, by index of Recurrence::carried.
  SmallVector<unsigned> last;
  SmallVector<BodyValue> eachTrip;
};
} // namespace

static Outputs findOutputs(const Recurrence &loop) {
  DenseSet<Operation *> isTrip;
  for (const std::vector<Operation *> &trip : loop.trips)
    isTrip.insert(trip.begin(), trip.end());
  auto isReadOutside = [&](Value value) {
    Block *block = value.getParentBlock();
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !isTrip.contains(block->findAncestorOpInBlock(*user));
    });
  };
  Outputs outputs;
  const unsigned lastTrip = loop.trips.size() - 1;
  for (unsigned p = 0; p != loop.getNumOps(); ++p)
    for (unsigned r = 0, e = loop.trips[0][p]->getNumResults(); r != e; ++r) {
      BodyValue value{p, r};
      unsigned firstRead = 0;
      while (firstRead <= lastTrip &&
             !isReadOutside(loop.get(firstRead, value)))
        ++firstRead;
      if (firstRead > lastTrip)
        continue;
      auto *carried = llvm::find_if(
          loop.carried, [&](const auto &c) { return c.next == value; });
      if (firstRead == lastTrip && carried != loop.carried.end())
        outputs.last.push_back(carried - loop.carried.begin());
      else
        outputs.eachTrip.push_back(value);
    }
  return outputs;
}

/// Builds the op for a recurrence. Its initial values must be defined before
/// `builder`'s position, where the order of the block is not final yet.
static RepeatOp buildRepeat(const Recurrence &loop, const Outputs &outputs,
                            OpBuilder &builder) {
  const unsigned trips = loop.trips.size();
  SmallVector<Value> carried, each;
  SmallVector<Type> results;
  for (const Recurrence::CarriedValue &value : loop.carried) {
    carried.push_back(value.initial);
    results.push_back(value.initial.getType());
  }
  for (const SmallVector<Value> &list : loop.each)
    llvm::append_range(each, list);
  for (BodyValue value : outputs.eachTrip)
    results.append(trips, loop.get(0, value).getType());
  auto locate = [&](unsigned position) {
    SmallVector<Location> locations;
    for (const std::vector<Operation *> &trip : loop.trips)
      locations.push_back(trip[position]->getLoc());
    return joinTripLocations(locations);
  };
  const unsigned last = loop.getNumOps() - 1;
  auto repeat =
      RepeatOp::create(builder, loop.trips[0][last]->getLoc(), results, trips,
                       carried, each, ValueRange(), 0);
  Block &body = repeat.getBody().emplaceBlock();
  SmallVector<Value> carriedIn, eachIn;
  for (Value value : carried)
    carriedIn.push_back(body.addArgument(value.getType(), value.getLoc()));
  for (const SmallVector<Value> &list : loop.each)
    eachIn.push_back(body.addArgument(list[0].getType(), list[0].getLoc()));

  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  SmallVector<Operation *> made;
  auto get = [&](BodyValue value) -> Value {
    return made[value.position]->getResult(value.result);
  };
  for (auto [p, reads] : llvm::enumerate(loop.reads)) {
    Operation *op = inside.clone(*loop.trips[0][p]);
    op->setLoc(locate(p));
    for (auto [k, read] : llvm::enumerate(reads))
      switch (read.kind) {
      case Recurrence::Read::Inner:
        op->setOperand(k, get(read.value));
        break;
      case Recurrence::Read::Carried:
        op->setOperand(k, carriedIn[read.index]);
        break;
      case Recurrence::Read::Each:
        op->setOperand(k, eachIn[read.index]);
        break;
      case Recurrence::Read::Captured:
        break;
      }
    made.push_back(op);
  }
  SmallVector<Value> yielded;
  for (const Recurrence::CarriedValue &value : loop.carried)
    yielded.push_back(get(value.next));
  for (BodyValue value : outputs.eachTrip)
    yielded.push_back(get(value));
  YieldOp::create(inside, repeat.getLoc(), yielded);
  return repeat;
}

static void replaceByRepeat(const Recurrence &loop, OpBuilder &builder) {
  Outputs outputs = findOutputs(loop);
  RepeatOp repeat = buildRepeat(loop, outputs, builder);
  const unsigned trips = loop.trips.size();
  for (unsigned i : outputs.last)
    loop.get(trips - 1, loop.carried[i].next)
        .replaceAllUsesWith(repeat.getResult(i));
  unsigned next = loop.carried.size();
  for (BodyValue value : outputs.eachTrip)
    for (unsigned trip = 0; trip != trips; ++trip)
      loop.get(trip, value).replaceAllUsesWith(repeat.getResult(next++));
  for (const std::vector<Operation *> &trip : llvm::reverse(loop.trips))
    for (Operation *op : llvm::reverse(trip)) {
      op->dropAllUses();
      op->erase();
    }
}

void RollLoops::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  Block &block = func.getBody().front();
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  for (bool isFirst = true;; isFirst = false) {
    // Misses are reported once.
    auto tellMissed = [&](Operation *op, unsigned ops, StringRef why) {
      if (isFirst && reporter.isListening())
        reporter.missed(op->getLoc(), "loop",
                        {{"reason", why}, {"ops", int64_t(ops)}});
    };
    std::optional<Recurrence> loop =
        findRecurrence(Dataflow(block), {minTrips, minOps}, tellMissed);
    if (!loop)
      return;
    if (reporter.isListening())
      reporter.passed(loop->trips[0][0]->getLoc(), "loop",
                      {{"trips", int64_t(loop->trips.size())},
                       {"ops", int64_t(loop->getNumOps())},
                       {"carried", int64_t(loop->carried.size())},
                       {"each", int64_t(loop->each.size())}});
    OpBuilder builder(block.getTerminator());
    replaceByRepeat(*loop, builder);
    sortByDataflow(block);
  }
}
