//===- SpreadTerms.cpp - Terms spread over thread groups ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction over a few products for each element would leave most of a thread
// group idle; as a separate kernel it costs a launch and memory for its terms.
// So each thread group of a block computes one term, and all threads then
// reduce the terms in order.
//
//===----------------------------------------------------------------------===//

#include "SpreadTerms.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The most terms of a reduction.
static constexpr int64_t kMostTerms = 16;
/// The approximate number of vectors for each thread, and the most rounds at
/// once. On an H200 the experts of one token (eight products of 768 for each of
/// 2,048 columns, bf16), including the ops before them, took 28.3 us; 28.8 with
/// six rounds at once, 28.6 to 30.4 with half as many threads, 28.6 to 29.5
/// with twice as many, and 29.3 with a kernel for the sum.
static constexpr int64_t kVectorsEach = 6, kMostRounds = 2;

std::optional<int64_t> llir::getSpreadTerms(Operation *op) {
  auto reduction = dyn_cast<RowReductionOpInterface>(op);
  std::optional<int64_t> terms =
      reduction
          ? ReductionOpInterface(reduction).getReducedExtent().asConstant()
          : std::nullopt;
  if (!terms || *terms < 2 || *terms > kMostTerms)
    return std::nullopt;
  return terms;
}

bool llir::hasSpreadTerms(LoopFormAttr form) {
  return form && form.getForm().getValue() == kSpread;
}

unsigned llir::getTeamOf(Operation *op, LoopCaseAttr loopCase) {
  for (Operation &reader : *op->getBlock()) {
    if (!hasSpreadTerms(loopCase.getForm(getPosition(&reader))))
      continue;
    llvm::SetVector<Operation *> before;
    for (Value operand : reader.getOperands())
      findBefore(operand, before);
    if (before.contains(op))
      return loopCase.getTeam() / *getSpreadTerms(&reader);
  }
  return loopCase.getTeam();
}

std::optional<SpreadTerms>
llir::chooseSpread(KernelAnalysis &a, const Domain &domain,
                   ArrayRef<ReductionOpInterface> reductions,
                   const MachineModel &machine) {
  // Products, and the reduction of values that depend on them.
  if (reductions.size() < 2)
    return std::nullopt;
  SpreadTerms spread;
  spread.reduction = reductions.back();
  std::optional<int64_t> terms = getSpreadTerms(spread.reduction);
  if (!terms)
    return std::nullopt;
  spread.terms = *terms;
  llvm::MapVector<Operation *, Index> indices;
  cast<BodyOpInterface>(spread.reduction.getOperation())
      .getReads(
          domain.index,
          [&](const Expr &extent) { return Expr::dim(a.addDim(extent)); },
          [&](OpOperand &operand, const Index &at) {
            a.walk(operand.get(), at, nullptr,
                   [&](Value v, const Index &index) {
                     if (Operation *op = v.getDefiningOp(); hasLoops(op))
                       indices.insert({op, index});
                   });
          });
  int64_t most = 1;
  for (ReductionOpInterface op : reductions.drop_back()) {
    auto *found = indices.find(op);
    llvm::SetVector<Operation *> before;
    for (Value operand : op->getOperands())
      findBefore(operand, before);
    std::optional<int64_t> k = op.getReducedExtent().asConstant();
    if (!isa<ProductOpInterface>(op.getOperation()) || found == indices.end() ||
        !k ||
        llvm::any_of(before, [](Operation *def) { return hasLoops(def); }))
      return std::nullopt;
    AlongReduced along = findAlongReduced(a, op, found->second, machine);
    if (!along.isAlong)
      return std::nullopt;
    spread.products.push_back(op);
    spread.lanes.push_back(along.lanes);
    most = std::max<int64_t>(most, llvm::divideCeil(*k, along.lanes));
  }
  // Warps must hold whole thread groups.
  auto fits = [&](int64_t team) {
    return team * *terms % machine.warpThreads == 0 &&
           team * *terms <= int64_t(machine.blockThreads);
  };
  int64_t team = machine.warpThreads;
  while (team > 1 && team * kVectorsEach > most && fits(team / 2))
    team /= 2;
  if (!fits(team))
    return std::nullopt;
  spread.team = static_cast<unsigned>(team);
  for (auto [op, lanes] : llvm::zip_equal(spread.products, spread.lanes))
    spread.unrolls.push_back(chooseRounds(
        llvm::divideCeil(
            *ReductionOpInterface(op).getReducedExtent().asConstant(), lanes),
        spread.team, kMostRounds));
  return spread;
}

LogicalResult llir::verifySpread(KernelOp kernel, LoopCaseAttr loopCase,
                                 const MachineModel &machine,
                                 function_ref<InFlightDiagnostic()> emitError) {
  for (LoopFormAttr form : loopCase.getForms()) {
    if (!hasSpreadTerms(form))
      continue;
    Operation *op = &*std::next(kernel.getBody().front().begin(), form.getOp());
    auto refuse = [&]() -> InFlightDiagnostic {
      return emitError() << "spreads the terms of op" << form.getOp() << ", "
                         << describe(op) << ", ";
    };
    std::optional<int64_t> terms = getSpreadTerms(op);
    if (!terms)
      return refuse() << "which is no reduction of 2 to " << kMostTerms
                      << " elements of a row";
    int64_t team = loopCase.getTeam() / *terms;
    if (loopCase.getTeam() != loopCase.getThreads() ||
        loopCase.getParts() != 1 || team * *terms != loopCase.getTeam() ||
        !llvm::isPowerOf2_64(team) || team > machine.warpThreads)
      return refuse() << "to a block that is not a thread group of up to "
                      << machine.warpThreads << " threads for each of them";
    llvm::SetVector<Operation *> before;
    for (Value operand : op->getOperands())
      findBefore(operand, before);
    for (Operation *def : before)
      if (hasSpreadTerms(loopCase.getForm(getPosition(def))))
        return refuse() << "as well as those of op" << getPosition(def)
                        << ", which it reads";
  }
  return success();
}
