//===- TransposeForms.cpp - Transposes ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid cuts two axes of the results into tiles: the last axis, and the axis
// along which transposed operands are contiguous in memory. A thread block
// loads the tiles of these views into shared memory (the form `transpose`,
// `lanes` elements at a time) and then computes the elements, which read the
// tiles there.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Threads.h"
#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static constexpr unsigned kThreads = 256;
/// The indices of either axis in a tile: the larger one if shared memory
/// allows.
static constexpr int64_t kTiles[] = {64, 32};
/// The elements for each thread of a full GPU from which tiles are whole.
static constexpr int64_t kElementsEach = 2;

int64_t llir::getTilePitch(Type element, int64_t tile) {
  // The padded pitch is an odd number of words, so that a column has no bank
  // conflicts.
  unsigned bytes = std::max(8u, element.getIntOrFloatBitWidth()) / 8;
  return tile + std::max(1u, 4 / bytes);
}

static int64_t countShared(ArrayRef<Operation *> ops, int64_t tile) {
  int64_t bytes = 0;
  for (Operation *op : ops) {
    Type element = getElementType(op->getResult(0));
    bytes += tile * getTilePitch(element, tile) *
             (std::max(8u, element.getIntOrFloatBitWidth()) / 8);
  }
  return bytes;
}

static bool fits(KernelOp kernel) {
  SmallVector<Expr> extents = getResultExtents(kernel, 0);
  return llvm::none_of(kernel.getOps(),
                       [](Operation &op) { return hasLoops(&op); }) &&
         llvm::all_of(kernel.getResults(), [&](Value result) {
           return hlir::getExtents(result) == extents;
         });
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  if (machine.blockThreads < kThreads || !fits(kernel))
    return {};
  KernelAnalysis a(kernel, ranges);
  Domain domain = findMapDomain(a);
  TransposedReads reads = findTransposedReads(a, domain);
  if (reads.ops.empty())
    return {};
  std::optional<int64_t> count =
      product({domain.extents.begin(), domain.extents.end()}).asConstant();
  auto isShort = [&](size_t axis) {
    std::optional<int64_t> n = domain.extents[axis].asConstant();
    return n && *n < kTiles[1] / 2;
  };
  size_t last = domain.dims.size() - 1;
  if ((count && *count < kElementsEach * machine.getBusyThreads()) ||
      isShort(reads.axis) || isShort(last)) {
    why.push_back({"no tiles because", "there is little to transpose"});
    return {};
  }
  const int64_t *tile = llvm::find_if(kTiles, [&](int64_t tile) {
    return countShared(reads.ops, tile) <= machine.plainSharedBytes;
  });
  if (tile == std::end(kTiles)) {
    why.push_back({"no tiles because", "they take too much shared memory"});
    return {};
  }
  Accesses written(a);
  for (auto [i, v] : llvm::enumerate(getYielded(kernel)))
    written.addResult(i, domain.index);
  unsigned lanes =
      written.chooseLanes(domain.dims[last], domain.extents[last], machine);
  CaseBuilder c(kernel.getContext(), machine);
  for (auto [i, group] : llvm::enumerate(domain.groups))
    c.grid.push_back(i == last ? c.axis(group, *tile, lanes)
                               : c.axis(group, i == reads.axis ? *tile : 1));
  for (Operation *op : reads.ops) {
    Accesses read(a);
    read.addReads(op->getResult(0), domain.index);
    c.addForm(
        op, "transpose",
        {{"lanes", read.chooseLanes(domain.dims[reads.axis],
                                    domain.extents[reads.axis], machine)}});
  }
  c.threads = c.team = kThreads;
  why.push_back({"form", "transposed tiles in shared memory"});
  return {c.build()};
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  work.units = sizes.countUnits(loopCase, getResultExtents(kernel, 0));
  work.operations = sizes.countNested();
  work.memoryBytes = sizes.countMemory();
  return work;
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  if (!fits(kernel))
    return emitError() << "has tiles, but loops or results of several shapes";
  if (machine.blockThreads < kThreads || loopCase.getThreads() != kThreads ||
      loopCase.getTeam() != kThreads)
    return emitError() << "has tiles for a thread group of "
                       << loopCase.getTeam() << " threads of "
                       << loopCase.getThreads() << ", expected all of "
                       << kThreads;
  if (!loopCase.getStream().empty())
    return emitError()
           << "has a stream, which the form transpose does not take";
  SmallVector<Expr> extents = getResultExtents(kernel, 0);
  if (failed(verifyAxes(loopCase.getGrid(), extents, 0, emitError)))
    return failure();
  KernelAnalysis a(kernel, ranges);
  Domain domain = makeDomain(a, extents, getGroups(loopCase.getGrid()));
  TransposedReads reads = findTransposedReads(a, domain);
  SmallVector<Operation *> tiled;
  for (LoopFormAttr form : loopCase.getForms()) {
    Operation *op = &*std::next(kernel.getBody().front().begin(), form.getOp());
    if (!llvm::is_contained(reads.ops, op))
      return emitError() << "brings a tile of op" << form.getOp() << ", "
                         << describe(op) << ", which is not read across memory";
    if (failed(verifyNumbers(form, {{"lanes", 1, 16}}, emitError)))
      return failure();
    int64_t lanes = form.getNumber("lanes", 1);
    if (!a.simplify(Expr::mod(domain.extents[reads.axis], lanes)).isConstant(0))
      return emitError() << "brings " << lanes << " elements of "
                         << domain.extents[reads.axis].str()
                         << " at once, which does not divide it";
    tiled.push_back(op);
  }
  int64_t tile = loopCase.getGrid().back().getBlock();
  for (auto [i, axis] : llvm::enumerate(loopCase.getGrid())) {
    bool isCut = i == reads.axis || i + 1 == loopCase.getGrid().size();
    if (isCut ? !llvm::is_contained(kTiles, axis.getBlock()) ||
                    axis.getBlock() != tile
              : axis.getBlock() != 1)
      return emitError() << "has tiles of " << axis.getBlock()
                         << " indices of an axis, expected " << kTiles[0]
                         << " or " << kTiles[1]
                         << " of the last and of that along which tiles are "
                            "read, 1 of the others";
    int64_t lanes = axis.getLanes();
    if (lanes > 1 &&
        (i + 1 != loopCase.getGrid().size() ||
         !a.simplify(Expr::mod(domain.extents[i], lanes)).isConstant(0)))
      return emitError() << "writes " << lanes << " elements of "
                         << domain.extents[i].str()
                         << " at once, which does not divide it, or is not "
                            "the last axis";
  }
  if (countShared(tiled, tile) > machine.plainSharedBytes)
    return emitError() << "takes more than " << machine.plainSharedBytes
                       << " bytes of shared memory";
  return success();
}

static const StringRef kNames[] = {"transpose"};
const LoopForms llir::kTransposeForms = {"transposes", kNames, fits,
                                         propose,      count,  verify};
