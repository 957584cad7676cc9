//===- PrepareWeights.cpp - Values prepared from weights ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = sqrt(%w)                        %0 = sqrt(%w)
//   %1 = div(%x, %0)               -->   %p = prepare %0
//                                        %1 = div(%x, %p)
//
// A value of weights and constants alone is the same in every call. It is worth
// its memory if kernels read it in much less time than they compute it in. The
// price of computing it is the price of all ops that it depends on, as if
// nothing were shared; the price of reading it is its bytes.
//
// Tested by test/Dialect/LLIR/prepare-weights.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Transforms/Preparation.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace luminal::llir {
#define GEN_PASS_DEF_PREPAREWEIGHTSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-prepare-weights"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The fraction of the time of computing a value that reading it may take. A
/// value that is hardly faster to read is not worth its memory.
static constexpr double kWorthwhile = 0.6;
/// The memory limit for values that depend on no weight, unless the caller
/// limits the memory of all values: the cosines of a Fourier transform of 2,048
/// points.
static constexpr int64_t kConstantBytes = 32 << 20;

namespace {
/// A value that may be prepared.
struct Candidate {
  Value value;
  int64_t bytes;
  /// Nanoseconds in each call.
  double computed, read;
  /// Whether it depends on a weight.
  bool isOfWeights;
};

class PrepareWeights
    : public llir::impl::PrepareWeightsPassBase<PrepareWeights> {
public:
  using PrepareWeightsPassBase::PrepareWeightsPassBase;
  void runOnOperation() override;

private:
  bool dependsOnWeightsOnly(Operation *op) const;
  void addPrices(Operation *op);
  double price(Value value) const;
  void findCandidates(Value value, SmallVectorImpl<Candidate> &candidates);
  void replace(Value value);
  void tell(const Candidate &candidate, StringRef reason);

  /// The values that are the same in every call, and the time in which a kernel
  /// computes each from weights.
  DenseMap<Value, double> computed;
  /// Those of them that depend on weights.
  DenseSet<Value> ofWeights;
  DenseSet<Value> visited;
};
} // namespace

static int64_t countBytes(Value value) {
  return countBytes(value.getType()).asConstant().value_or(0);
}

int64_t llir::countWeightBytes(func::FuncOp program) {
  int64_t bytes = 0;
  for (BlockArgument argument : program.getArguments())
    if (isWeight(argument))
      bytes += ::countBytes(argument);
  return bytes;
}

bool PrepareWeights::dependsOnWeightsOnly(Operation *op) const {
  return isa<BodyOpInterface>(op) && !usesSymbols(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           auto argument = dyn_cast<BlockArgument>(operand);
           return argument ? isWeight(argument) : computed.contains(operand);
         });
}

/// Returns the nanoseconds in which a kernel obtains a value of weights alone:
/// it computes the value, or reads a weight.
double PrepareWeights::price(Value value) const {
  auto it = computed.find(value);
  return it == computed.end() ? countBytes(value) / readRate : it->second;
}

void PrepareWeights::addPrices(Operation *op) {
  double time = 0;
  if (auto view = dyn_cast<ViewOp>(op)) {
    // A view of a part reads only that part.
    double all = countBytes(view.getOperand());
    time = price(view.getOperand());
    if (all > 0)
      time *= std::min(1.0, countBytes(view.getResult()) / all);
  } else {
    for (Value operand : op->getOperands())
      time += price(operand);
    Assumptions none;
    if (auto cost = dyn_cast<CostOpInterface>(op))
      time += nominalValue(cost.getCost().flops, none) / operationRate;
    // Splat constants are immediates of the code.
    auto constant = dyn_cast<llir::ConstantOp>(op);
    if (constant && !isa<SplatElementsAttr>(constant.getValue()))
      time += countBytes(constant.getResult()) / readRate;
    // Ops with loops are separate kernels, and their results are written and
    // read.
    if (hasLoops(op))
      for (Value result : op->getResults())
        time += 2 * countBytes(result) / readRate;
  }
  bool isOfWeights = llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<BlockArgument>(operand) || ofWeights.contains(operand);
  });
  for (Value result : op->getResults()) {
    computed[result] = time;
    if (isOfWeights)
      ofWeights.insert(result);
  }
}

/// Returns whether a value may be hidden behind `llir.prepare`. Integers and
/// flags are mostly indices and masks, and proofs and simplifications need to
/// see the ops that compute them.
static bool isOpaque(Value value) {
  return isa<FloatType>(
      cast<RankedTensorType>(value.getType()).getElementType());
}

/// Adds the values that are worth preparing: `value`, or the nearest values
/// that it depends on.
void PrepareWeights::findCandidates(Value value,
                                    SmallVectorImpl<Candidate> &candidates) {
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !computed.contains(next) || !visited.insert(next).second)
      continue;
    double read = countBytes(next) / readRate;
    if (isOpaque(next) && !cast<BodyOpInterface>(op).isFree() &&
        !isa<llir::ConstantOp>(op) && read < kWorthwhile * computed.at(next)) {
      candidates.push_back({next, countBytes(next), computed.at(next), read,
                            ofWeights.contains(next)});
      continue;
    }
    llvm::append_range(worklist, op->getOperands());
  }
}

void PrepareWeights::replace(Value value) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto prepared = PrepareOp::create(builder, value.getLoc(), value);
  // Ops on weights alone that read the value keep doing so: they run in the
  // same schedule, or their readers recompute them.
  value.replaceAllUsesExcept(prepared.getResult(), prepared);
}

void PrepareWeights::tell(const Candidate &candidate, StringRef reason) {
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  if (!reporter.isListening())
    return;
  SmallVector<Reporter::Arg> args = {
      {"op", describe(candidate.value.getDefiningOp())},
      {"bytes", candidate.bytes},
      {"computed in ns", int64_t(candidate.computed)},
      {"read in ns", int64_t(candidate.read)}};
  if (reason.empty())
    return reporter.passed(candidate.value.getLoc(), "prepared", args);
  args.push_back({"reason", reason});
  reporter.missed(candidate.value.getLoc(), "prepared", args);
}

void PrepareWeights::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  computed.clear();
  visited.clear();
  ofWeights.clear();
  Block &block = func.getBody().front();
  // The program may state already what is prepared.
  if (!block.getOps<PrepareOp>().empty() || !block.getOps<KernelOp>().empty())
    return;
  int64_t budget = prepareBytes, ofConstants = 0;
  if (budget < 0) {
    budget = int64_t(share * double(countWeightBytes(func)));
    ofConstants = kConstantBytes;
  }

  // Search from the operands of ops that run in each call. Results of the
  // function are written by each call.
  SmallVector<Candidate> candidates;
  for (Operation &op : block) {
    if (!op.hasTrait<OpTrait::IsTerminator>() && dependsOnWeightsOnly(&op)) {
      addPrices(&op);
      continue;
    }
    if (!op.hasTrait<OpTrait::IsTerminator>())
      for (Value operand : op.getOperands())
        findCandidates(operand, candidates);
  }

  // First the values that save the most time for the least memory.
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return (a.computed - a.read) * double(std::max<int64_t>(b.bytes, 1)) >
           (b.computed - b.read) * double(std::max<int64_t>(a.bytes, 1));
  });
  for (const Candidate &candidate : candidates) {
    int64_t *left = &budget;
    if (candidate.bytes > *left && !candidate.isOfWeights)
      left = &ofConstants;
    if (candidate.bytes > *left) {
      tell(candidate, "the memory for prepared values is exhausted");
      continue;
    }
    *left -= candidate.bytes;
    tell(candidate, "");
    replace(candidate.value);
  }
}
