//===- NontemporalStores.cpp - Non-temporal stores ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A normal store fetches the cache line that it writes to. If a result is so
// large that no cache holds it until it is read, this fetch is wasted traffic,
// and the result evicts what the caches held. Schedules with `nontemporal`
// write such results directly to memory. The price decides whether that pays:
// kernels that compute for longer than memory takes are not changed.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The fraction of the time that a schedule with `nontemporal` may take at
/// most: a reader of the result may become slower, operations are estimates,
/// and rates were measured beside other load.
static constexpr double kGain = 0.8;

/// Returns the bytes of the results; std::nullopt if they depend on symbols.
static std::optional<int64_t> countResultBytes(KernelOp kernel) {
  Expr bytes = 0;
  for (Value result : kernel.getResults())
    bytes = bytes + countBytes(result.getType());
  return bytes.asConstant();
}

/// Returns whether vectors along `axis` are contiguous in `result`, and each
/// begins at a multiple of the size of a nontemporal store.
static bool isAligned(Value result, LoopAxisAttr axis, LoopCaseAttr loopCase,
                      const MachineModel &machine) {
  const int64_t stored = machine.nontemporalVectorBytes;
  SmallVector<Expr> extents = hlir::getExtents(result);
  // After the axis there may only be the interleaved last axis.
  const unsigned behind = countInterleaved(loopCase, extents) > 1;
  int64_t each =
      std::max(8u, getElementType(result).getIntOrFloatBitWidth()) / 8;
  if (axis.getDims().back() + 1 + behind != extents.size() ||
      (axis.getLanes() * each) % stored != 0)
    return false;
  ArrayRef<Expr> all(extents);
  unsigned first = axis.getDims().front();
  Expr runs = product({all.begin(), all.begin() + first});
  Expr run = each * product({all.begin() + first, all.end()});
  // A single run begins where the buffer begins.
  return runs.isConstant(1) || Expr::mod(run, stored).isConstant(0);
}

/// Accepts if a case of these forms can have `nontemporal`.
static Decision canBeNontemporal(KernelOp kernel, LoopCaseAttr loopCase,
                                 const LoopForms &forms,
                                 const MachineModel &machine) {
  if (machine.blockThreads)
    return Decision::refuse("thread blocks have no such stores");
  if (!forms.getNontemporal)
    return Decision::refuse("its forms have no such stores");
  if (forms.getNontemporal(loopCase).getForms() != loopCase.getForms())
    return Decision::refuse("it keeps a value in a result");
  for (LoopAxisAttr axis : llvm::concat<const LoopAxisAttr>(
           loopCase.getGrid(), loopCase.getStream()))
    if (axis.getLanes() > 1 &&
        llvm::any_of(kernel.getResults(), [&](Value result) {
          return isAligned(result, axis, loopCase, machine);
        }))
      return Decision::accept();
  return Decision::refuse("no result is written in aligned vectors");
}

LogicalResult
llir::verifyNontemporal(KernelOp kernel, LoopCaseAttr loopCase,
                        const LoopForms &forms, const MachineModel &machine,
                        function_ref<InFlightDiagnostic()> emitError) {
  if (!loopCase.getNontemporal())
    return success();
  if (Decision can = canBeNontemporal(kernel, loopCase, forms, machine); !can)
    return emitError() << "is nontemporal, but " << can.str();
  return success();
}

void llir::addFetchedResults(LoopWork &work, KernelOp kernel,
                             LoopCaseAttr loopCase, const KernelSizes &sizes,
                             const MachineModel &machine) {
  double bytes = 0;
  for (Value result : kernel.getResults())
    bytes += sizes.countBytes(result);
  bool isLarge =
      machine.nontemporalBytes > 0 && bytes >= machine.nontemporalBytes;
  work.leavesCaches = isLarge;
  // The lines that normal stores fetch, or that a reader finds in no cache.
  if (isLarge != loopCase.getNontemporal())
    work.memoryBytes += bytes;
}

LoopCaseAttr llir::chooseStores(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                LoopCaseAttr loopCase, const LoopForms &forms,
                                const MachineModel &machine,
                                SmallVectorImpl<Reporter::Arg> &why) {
  if (machine.nontemporalBytes == 0 || !forms.getNontemporal)
    return loopCase;
  // Results of unknown size may be small.
  std::optional<int64_t> bytes = countResultBytes(kernel);
  if (!bytes || *bytes < machine.nontemporalBytes)
    return loopCase;
  auto price = [&](LoopCaseAttr c) {
    return priceWork(forms.count(kernel, ranges, c, machine), machine,
                     machine.workers);
  };
  LoopCaseAttr past = forms.getNontemporal(loopCase);
  Decision can = canBeNontemporal(kernel, past, forms, machine);
  if (can && price(past) > kGain * price(loopCase))
    can = Decision::refuse("they save little of its time");
  if (!can) {
    why.push_back({"no nontemporal stores because", can.str()});
    return loopCase;
  }
  why.push_back({"nontemporal bytes", *bytes});
  return past;
}
