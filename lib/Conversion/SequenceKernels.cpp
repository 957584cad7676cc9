//===- SequenceKernels.cpp - Combines small kernels into one launch -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small kernels, which one multiprocessor computes in less time than a launch
// takes, are computed by one thread block one after the other (llir.sequence):
//
//   %0 = kernel(%x) loops<...>          %2 = kernel(%x) loops<whole> {
//   %1 = kernel(%0) loops<...>    -->     sequence { kernel kernel } }
//
// A sequence takes all small kernels that do not depend on ops outside of it
// that read its results; those ops follow the sequence.
//
// Tested by test/Conversion/Schedules/sequences.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/Utils/SequenceMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace luminal {
#define GEN_PASS_DEF_SEQUENCEKERNELSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-sequence-kernels"

using namespace mlir;
using namespace luminal;

/// A sequence must be cheaper than separate launches by this factor, because
/// its price is less accurate.
static constexpr double kWorth = 0.75;
/// Registers per thread that a block leaves, unless one of the kernels uses
/// more threads.
static constexpr int64_t kRegistersEach = 128;
/// Limits on the kernels of a sequence and on the ops outside of it between two
/// of them, so that the pass takes linear time and the code stays short.
static constexpr unsigned kMostKernels = 32, kMostBetween = 64;

static unsigned countMostThreads(const MachineModel &model) {
  return std::min(unsigned(model.blockRegisters / kRegistersEach),
                  model.blockThreads);
}
namespace {
/// A candidate kernel.
struct Small {
  /// Predicted nanoseconds as a launch on all workers, and as a step of a
  /// sequence.
  double asLaunch = 0, asStep = 0;
  /// Why it must stay a launch; empty if it need not.
  StringRef reason;
};

class SequenceKernels
    : public luminal::impl::SequenceKernelsPassBase<SequenceKernels> {
public:
  using SequenceKernelsPassBase::SequenceKernelsPassBase;
  void runOnOperation() override;

private:
  Small price(llir::KernelOp kernel);
  /// The ops of a sequence that begins with `first`, in order.
  SmallVector<Operation *> collect(llir::KernelOp first);
  bool join(ArrayRef<Operation *> ops);
  void tellRefused(llir::KernelOp kernel, const Small &small);

  MachineModel model;
  DenseMap<Operation *, Small> known;
};
} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

Small SequenceKernels::price(llir::KernelOp kernel) {
  Small small;
  if (llir::usesSymbols(kernel)) {
    small.reason = "its sizes depend on symbols";
    return small;
  }
  small.reason = llir::checkInSequence(kernel, model.blockThreads, model);
  if (!small.reason.empty())
    return small;
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(kernel).getSymbols();
  small.asLaunch = llir::priceLoops(kernel, *kernel.getLoops(), ranges, model,
                                    model.workers);
  llir::LoopCaseAttr loopCase = kernel.getLoops()->getCases().front();
  unsigned threads = loopCase.getThreads();
  if (loopCase.getTeam() <= model.warpThreads)
    threads = std::max(threads, countMostThreads(model));
  small.asStep = llir::priceInBlock(kernel, ranges, model, threads);
  if (small.asStep > small.asLaunch)
    small.reason = "one multiprocessor takes longer than a launch";
  return small;
}

/// Ops that prepared values depend on; they belong to another schedule.
static DenseSet<Operation *> findPreparing(func::FuncOp func) {
  DenseSet<Operation *> found;
  for (Operation &op : llvm::reverse(func.getBody().front()))
    if (isa<llir::PrepareOp>(op) || found.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *def = operand.getDefiningOp())
          found.insert(def);
  return found;
}

/// The value whose memory `v` uses.
static Value skipAliases(Value v) {
  while (auto alias = v.getDefiningOp<llir::AliasOp>())
    v = alias.getOperand();
  return v;
}

SmallVector<Operation *> SequenceKernels::collect(llir::KernelOp first) {
  SmallVector<Operation *> ops;
  /// The ops of the sequence; and ops outside of it that depend on it, which
  /// will follow it.
  DenseSet<Operation *> inside, after;
  /// The memory that the ops in `after` read.
  DenseSet<Value> read;
  auto insert = [&](DenseSet<Operation *> &set, Operation *op) {
    set.insert(op);
    for (Value operand : op->getOperands())
      read.insert(skipAliases(operand));
  };
  unsigned kernels = 0, between = 0;
  for (Operation *op = first; op && !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode()) {
    auto reads = [&](const DenseSet<Operation *> &set) {
      return llvm::any_of(op->getOperands(), [&](Value operand) {
        Operation *def = operand.getDefiningOp();
        return def && set.contains(def);
      });
    };
    auto kernel = dyn_cast<llir::KernelOp>(op);
    const bool isAfter = reads(after);
    bool joins = isa<llir::AliasOp>(op) && !isAfter && reads(inside);
    if (kernel) {
      const bool isOwn = !kernel.getInPlace() ||
                         inside.contains(kernel.getInputs()[0].getDefiningOp());
      joins = !isAfter && isOwn && known[kernel].reason.empty();
      // If it were left out, it would write before the sequence what is read in
      // or after the sequence.
      if (!joins && kernel.getInPlace() && !isAfter && !reads(inside) &&
          read.contains(skipAliases(kernel.getInputs()[0])))
        break;
    }
    if (joins) {
      insert(inside, op);
      ops.push_back(op);
      between = 0;
      if (kernel && ++kernels == kMostKernels)
        break;
      continue;
    }
    if (isAfter || reads(inside))
      insert(after, op);
    if (++between == kMostBetween)
      break;
  }
  // A trailing alias refers to memory of another value and is not needed.
  while (!ops.empty() && isa<llir::AliasOp>(ops.back()))
    ops.pop_back();
  return ops;
}

//===----------------------------------------------------------------------===//
// Building a sequence
//===----------------------------------------------------------------------===//

static double countElements(Value v) {
  return llir::nominalValue(llir::countElements(v.getType()),
                            Assumptions(KernelAnalysis::SymbolRanges()));
}

/// The number of threads of the block: as many as the largest kernel can use,
/// of those whose work items belong to threads or warps.
static unsigned chooseThreads(ArrayRef<llir::KernelOp> kernels,
                              const MachineModel &model) {
  unsigned threads = 0;
  double wanted = 0;
  for (llir::KernelOp kernel : kernels) {
    llir::LoopCaseAttr loopCase = kernel.getLoops()->getCases().front();
    threads = std::max(threads, loopCase.getThreads());
    if (loopCase.getTeam() <= model.warpThreads)
      wanted = std::max(wanted, countElements(kernel.getResult(0)) *
                                    loopCase.getTeam());
  }
  unsigned most = countMostThreads(model);
  return std::max(
      threads, static_cast<unsigned>(std::min<double>(
                   most, llvm::PowerOf2Ceil(uint64_t(std::min(wanted, 1e6))))));
}

/// Distributes a kernel whose work items belong to threads or warps over all
/// threads of the block.
static void spread(llir::KernelOp kernel, unsigned threads,
                   const MachineModel &model) {
  llir::LoopCaseAttr old = kernel.getLoops()->getCases().front();
  if (old.getThreads() == threads || old.getTeam() > model.warpThreads)
    return;
  llir::LoopsAttr before = *kernel.getLoops();
  auto loopCase = llir::LoopCaseAttr::get(
      kernel.getContext(), old.getGuard(), old.getBounds(), old.getGrid(),
      old.getStream(), old.getParts(), threads, old.getTeam(),
      old.getNontemporal(), old.getForms());
  kernel.setLoopsAttr(llir::LoopsAttr::get(kernel.getContext(), loopCase));
  ScopedDiagnosticHandler silent(kernel.getContext(),
                                 [](Diagnostic &) { return success(); });
  if (failed(llir::verifyLoops(kernel, {}, model)))
    kernel.setLoopsAttr(before);
}

/// Moves the ops into the region of a new sequence. `outside` are the results
/// with readers outside.
static llir::KernelOp makeSequence(ArrayRef<Operation *> ops,
                                   ArrayRef<Value> operands,
                                   ArrayRef<Value> outside) {
  Operation *last = ops.back();
  SmallVector<Location> locs;
  for (Operation *op : ops)
    locs.push_back(op->getLoc());
  ImplicitLocOpBuilder b(FusedLoc::get(last->getContext(), locs), last);
  SmallVector<Type> types;
  for (Value v : outside)
    types.push_back(v.getType());
  auto kernel = llir::KernelOp::create(b, types, operands, /*in_place=*/false,
                                       /*loops=*/nullptr);
  SmallVector<Location> argumentLocs(operands.size(), b.getLoc());
  Block &body = kernel.getBody().emplaceBlock();
  body.addArguments(ValueRange(operands).getTypes(), argumentLocs);
  b.setInsertionPointToStart(&body);
  auto sequence = llir::SequenceOp::create(b, types, body.getArguments());
  llir::YieldOp::create(b, sequence.getResults());
  Block &steps = sequence.getBody().emplaceBlock();
  steps.addArguments(ValueRange(operands).getTypes(), argumentLocs);
  b.setInsertionPointToStart(&steps);
  IRMapping map;
  map.map(operands, steps.getArguments());
  for (Operation *op : ops)
    b.clone(*op, map);
  SmallVector<Value> yielded;
  for (Value v : outside)
    yielded.push_back(map.lookup(v));
  llir::YieldOp::create(b, yielded);
  return kernel;
}

bool SequenceKernels::join(ArrayRef<Operation *> ops) {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  SmallVector<llir::KernelOp> kernels;
  llvm::SetVector<Value> operands, outside;
  double asLaunches = 0, asOne = model.launchTime;
  auto isInside = [&](Operation *op) { return op && inside.contains(op); };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!isInside(operand.getDefiningOp()))
        operands.insert(operand);
    if (auto kernel = dyn_cast<llir::KernelOp>(op)) {
      kernels.push_back(kernel);
      asLaunches += known[kernel].asLaunch;
      asOne += known[kernel].asStep;
    }
  }
  if (kernels.size() < 2 || asOne > kWorth * asLaunches)
    return false;
  // An alias with outside readers is an alias of a result.
  SmallVector<llir::AliasOp> aliases;
  for (Operation *op : llvm::reverse(ops)) {
    const bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !isInside(user) || llvm::is_contained(aliases, user);
    });
    if (!isRead)
      continue;
    if (auto alias = dyn_cast<llir::AliasOp>(op)) {
      aliases.push_back(alias);
      continue;
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !isInside(user) || llvm::is_contained(aliases, user);
          }))
        outside.insert(result);
  }
  if (outside.empty())
    return false;
  llir::KernelOp made =
      makeSequence(ops, operands.getArrayRef(), outside.getArrayRef());
  auto steps = cast<llir::SequenceOp>(made.getBody().front().front());
  SmallVector<llir::KernelOp> own = llvm::to_vector(steps.getKernels());
  unsigned threads = chooseThreads(own, model);
  for (llir::KernelOp kernel : own)
    spread(kernel, threads, model);
  llir::ProposedLoops loops = llir::proposeLoops(made, {}, model);
  {
    ScopedDiagnosticHandler silent(&getContext(),
                                   [](Diagnostic &) { return success(); });
    if (loops.loops)
      made.setLoopsAttr(loops.loops);
    if (!loops.loops || failed(llir::verifyLoops(made, {}, model))) {
      made.erase();
      return false;
    }
  }
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getName());
  if (reporter.isListening())
    reporter.passed(made.getLoc(), "sequence",
                    {{"kernels", uint64_t(kernels.size())},
                     {"threads", uint64_t(threads)},
                     {"bytes on chip", llir::SequenceMemory(steps).getBytes()},
                     {"predicted ns", int64_t(std::llround(asOne))},
                     {"separate ns", int64_t(std::llround(asLaunches))}});
  // Ops between the kernels that depend on the sequence are moved behind it.
  DenseSet<Operation *> after;
  SmallVector<Operation *> moved;
  for (Operation *op = ops.front(); op != made; op = op->getNextNode()) {
    if (inside.contains(op))
      continue;
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return def && (inside.contains(def) || after.contains(def));
        })) {
      after.insert(op);
      moved.push_back(op);
    }
  }
  Operation *behind = ops.back();
  for (Operation *op : moved) {
    op->moveAfter(behind);
    behind = op;
  }
  // Aliases of results follow the sequence.
  for (llir::AliasOp alias : aliases)
    alias->moveAfter(ops.back());
  for (auto [v, to] : llvm::zip_equal(outside, made.getResults())) {
    Value from = v;
    from.replaceUsesWithIf(to, [&](OpOperand &use) {
      return !isInside(use.getOwner()) ||
             llvm::is_contained(aliases, use.getOwner());
    });
  }
  for (Operation *op : llvm::reverse(ops))
    if (!llvm::is_contained(aliases, op) || op->use_empty())
      op->erase();
  return true;
}

void SequenceKernels::tellRefused(llir::KernelOp kernel, const Small &small) {
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getName());
  if (!reporter.isListening())
    return;
  SmallVector<Reporter::Arg> args = {{"kernel", describe(kernel)},
                                     {"reason", small.reason}};
  if (small.asLaunch > 0) {
    args.push_back({"predicted ns", int64_t(std::llround(small.asStep))});
    args.push_back({"as a launch", int64_t(std::llround(small.asLaunch))});
  }
  reporter.missed(kernel.getLoc(), "sequence", args);
}

void SequenceKernels::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration())
    return;
  std::unique_ptr<TargetInterface> device =
      createTarget(func, target, arch, machine, workers);
  if (!device)
    return signalPassFailure();
  model = device->getMachine();
  if (!model.blockThreads)
    return;
  known.clear();
  SmallVector<llir::KernelOp> all =
      llvm::to_vector(func.getBody().front().getOps<llir::KernelOp>());
  DenseSet<Operation *> preparing = findPreparing(func);
  for (llir::KernelOp kernel : all) {
    known[kernel] = price(kernel);
    if (preparing.contains(kernel))
      known[kernel] = {0, 0, "is run when weights are bound"};
    if (!known[kernel].reason.empty())
      tellRefused(kernel, known[kernel]);
  }
  DenseSet<Operation *> seen;
  for (llir::KernelOp kernel : all) {
    if (seen.contains(kernel) || !known[kernel].reason.empty() ||
        kernel.getInPlace())
      continue;
    SmallVector<Operation *> ops = collect(kernel);
    if (join(ops))
      seen.insert(ops.begin(), ops.end());
  }
}
