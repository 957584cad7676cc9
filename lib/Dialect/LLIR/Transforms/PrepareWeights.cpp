//===- PrepareWeights.cpp - What is computed when weights are bound -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = sqrt(%w)                        %0 = sqrt(%w)
//   %1 = div(%x, %0)               -->   %p = prepare %0
//                                        %1 = div(%x, %p)
//
// A value of weights and constants alone is the same in every call. It is worth
// memory where kernels read it in much less time than they compute it in. The
// price of computing it is that of all it is computed from, as though nothing
// were shared; of reading it, its bytes.
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

/// The share of the time of computing a value that reading it may take: what is
/// hardly faster to read is not worth memory.
static constexpr double kWorthwhile = 0.6;
/// Bytes of values that no weight is part of, unless the caller says how many
/// there may be of all: the cosines of a Fourier transform of 2,048 points.
static constexpr int64_t kConstantBytes = 32 << 20;

namespace {
/// A value that may be prepared.
struct Candidate {
  Value value;
  int64_t bytes;
  /// Nanoseconds of a call.
  double computed, read;
  /// Whether a weight is part of it.
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

  /// Values that are the same in every call, and the time in which a kernel
  /// computes them from weights.
  DenseMap<Value, double> computed;
  /// Those of them that weights are part of.
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

/// The time in which a kernel has the elements of a value of weights alone,
/// nanoseconds: it computes them, or reads a weight.
double PrepareWeights::price(Value value) const {
  auto it = computed.find(value);
  return it == computed.end() ? countBytes(value) / readRate : it->second;
}

void PrepareWeights::addPrices(Operation *op) {
  double time = 0;
  if (auto view = dyn_cast<ViewOp>(op)) {
    // Of a part, only that part is read.
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
    // Splat constants are part of the code.
    auto constant = dyn_cast<llir::ConstantOp>(op);
    if (constant && !isa<SplatElementsAttr>(constant.getValue()))
      time += countBytes(constant.getResult()) / readRate;
    // Ops with loops are kernels of their own, which write what others read.
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

/// Integers and flags are mostly indices and masks: what proves them in bounds
/// and simplifies them has to see how they are made.
static bool isOpaque(Value value) {
  return isa<FloatType>(
      cast<RankedTensorType>(value.getType()).getElementType());
}

/// Adds the values nearest to `value`, itself among them, that are worth
/// preparing.
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
  // Values of weights alone that read it go on doing so: they run with it, or
  // are computed by the kernels that read them.
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
  // A person may have chosen.
  if (!block.getOps<PrepareOp>().empty() || !block.getOps<KernelOp>().empty())
    return;
  int64_t budget = prepareBytes, ofConstants = 0;
  if (budget < 0) {
    budget = int64_t(share * double(countWeightBytes(func)));
    ofConstants = kConstantBytes;
  }

  // What is read by an op that each call runs. Results of the function are
  // written by each call.
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

  // The most time for the least memory first.
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return (a.computed - a.read) * double(std::max<int64_t>(b.bytes, 1)) >
           (b.computed - b.read) * double(std::max<int64_t>(a.bytes, 1));
  });
  for (const Candidate &candidate : candidates) {
    int64_t *left = &budget;
    if (candidate.bytes > *left && !candidate.isOfWeights)
      left = &ofConstants;
    if (candidate.bytes > *left) {
      tell(candidate, "the memory for prepared values is used up");
      continue;
    }
    *left -= candidate.bytes;
    tell(candidate, "");
    replace(candidate.value);
  }
}
