//===- PackWeights.cpp - Packs weights ahead of time ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each step of k, a tile of a product reads adjacent vectors of columns
// from a panel, which is packed for each work item in each call. Panels of
// weights are the same in every call, so they are prepared once if the product
// is predicted to be faster that way. The weights then take the role of the
// columns, even if the result is written along the other side.
//
// Tested by test/Conversion/pack-weights.mlir.
//
//===----------------------------------------------------------------------===//

#include "ProductWeights.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "luminal/Dialect/LLIR/Transforms/Layouts.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-pack-weights"

using namespace mlir;
using namespace luminal;
using llir::ProductOpInterface;
using luminal::hlir::MapAttr;

/// A product without packing must take at most this share of the time with
/// packing; a smaller gain is not worth another copy of the weights.
static constexpr double kWorthwhile = 0.97;

namespace {
class PackWeights : public luminal::impl::PackWeightsPassBase<PackWeights> {
public:
  using PackWeightsPassBase::PackWeightsPassBase;
  void runOnOperation() override;
};

class Packer {
public:
  Packer(func::FuncOp func, const TargetInterface &device, int64_t prepareBytes)
      : device(device), machine(device.getMachine()),
        block(func.getBody().front()),
        symbols(hlir::getAssumptions(block.getTerminator())),
        weights(func, prepareBytes, device.getPrepareShare()) {}

  void run(const Reporter &reporter);

private:
  llir::ProposedLoops price(ProductOpInterface op,
                            const std::array<StoredSide, 2> &sides);
  void pack(ProductOpInterface op, unsigned side, const Reporter &reporter);

  const TargetInterface &device;
  MachineModel machine;
  Block &block;
  Assumptions symbols;
  WeightValues weights;
  /// Schedules by the structure of the product's kernel.
  std::map<std::vector<const void *>, llir::ProposedLoops> known;
};
} // namespace

llir::ProposedLoops Packer::price(ProductOpInterface op,
                                  const std::array<StoredSide, 2> &sides) {
  auto [end, toProduct] = followProduct(op, symbols);
  Block scratch;
  llir::KernelOp kernel =
      buildProductKernel(op, sides,
                         hlir::getTensorType(hlir::getExtents(end),
                                             getElementType(op->getResult(0))),
                         toProduct, scratch);
  auto [it, isNew] = known.try_emplace(getKernelKey(kernel));
  if (isNew)
    it->second = device.propose(kernel, symbols.getSymbols());
  return it->second;
}

void Packer::pack(ProductOpInterface op, unsigned side,
                  const Reporter &reporter) {
  ProductRead reads[] = {findProductRead(op, 0, symbols),
                         findProductRead(op, 1, symbols)};
  const ProductRead &read = reads[side], &other = reads[1 - side];
  if (!weights.contains(read.base) || weights.contains(other.base))
    return;
  std::optional<llir::PackedOperand> panels = llir::packPanels(
      op, read, other,
      [&](unsigned bits, int64_t columns) {
        return columns < machine.getLanes(bits)
                   ? 0
                   : llir::getPanelWidth(machine, bits, columns);
      },
      symbols);
  if (!panels)
    return;
  auto storedAs = [](const ProductRead &read) {
    return StoredSide{cast<RankedTensorType>(read.base.getType()), read.map,
                      read.isWidened};
  };
  std::array<StoredSide, 2> sides = {storedAs(reads[0]), storedAs(reads[1])};
  llir::ProposedLoops before = price(op, sides);
  sides[side] = {panels->type, panels->map, false};
  llir::ProposedLoops after = price(op, sides);
  SmallVector<Reporter::Arg> args = {
      {"columns in a panel", panels->type.getShape().back()},
      {"predicted ns", int64_t(after.price)},
      {"predicted ns by one worker", int64_t(after.priceOfOne)},
      {"unchanged ns", int64_t(before.price)},
      {"unchanged ns by one worker", int64_t(before.priceOfOne)}};
  auto refuse = [&](StringRef reason) {
    args.push_back({"reason", reason});
    reporter.missed(op->getLoc(), "packed", args);
  };
  if (!after.loops || !before.loops ||
      after.price > kWorthwhile * before.price ||
      after.priceOfOne > kWorthwhile * before.priceOfOne)
    return refuse("the predicted gain is too small");
  int64_t bytes = weights.countMore(read.base, op);
  if (bytes > weights.room)
    return refuse("the memory for prepared values is exhausted");
  weights.room -= bytes;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  // A prepared value is computed from the original weights, not from another
  // prepared value.
  Value source = read.base;
  if (auto prepared = source.getDefiningOp<llir::PrepareOp>())
    source = prepared.getOperand();
  Value packed = llir::PrepareOp::create(
      b, llir::ViewOp::create(b, panels->type, source, panels->toBase));
  MapAttr maps[] = {op.getLhsMap(), op.getRhsMap()};
  maps[side] = panels->map;
  op->setOperand(side, packed);
  op.setMaps(maps[0], maps[1]);
  reporter.passed(op->getLoc(), "packed", args);
}

void Packer::run(const Reporter &reporter) {
  if (machine.blockThreads)
    return;
  SmallVector<ProductOpInterface> products(block.getOps<ProductOpInterface>());
  for (ProductOpInterface op : products)
    if (op->getNumOperands() == 2 && !weights.contains(op->getResult(0)))
      for (unsigned side : {0, 1})
        pack(op, side, reporter);
  eraseDeadOps(block);
}

void PackWeights::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()) ||
      !func.getBody().front().getOps<llir::KernelOp>().empty())
    return;
  std::unique_ptr<TargetInterface> device =
      createTarget(func, target, arch, machine, workers);
  if (!device)
    return signalPassFailure();
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  Packer(func, *device, prepareBytes).run(reporter);
}
