//===- NodePrices.cpp - Measured times as prices of an e-graph's nodes ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/NodePrices.h"
#include "luminal/EqSat/Program/CostModel.h"
#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace luminal;

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kMark = "luminal.node";

static std::optional<unsigned> getMark(FusedLoc location) {
  auto data = dyn_cast_or_null<DictionaryAttr>(location.getMetadata());
  auto number = data ? data.getAs<IntegerAttr>(kMark) : IntegerAttr();
  if (!number)
    return std::nullopt;
  return unsigned(number.getInt());
}

void MarkedNodes::mark(func::FuncOp function,
                       const eqsat::SaturationSession &session) {
  MLIRContext *context = function.getContext();
  Builder b(context);
  function.getBody().walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions())
      return;
    double price = session.modelPrice(op);
    if (!(price < eqsat::kInfiniteCost))
      return;
    double runs = 1;
    for (Operation *around = op->getParentOp(); around != function;
         around = around->getParentOp())
      runs *= eqsat::regionTrips(around).value_or(1);
    op->setLoc(
        FusedLoc::get(context, {op->getLoc()},
                      b.getDictionaryAttr(b.getNamedAttr(
                          kMark, b.getI64IntegerAttr(int64_t(nodes.size()))))));
    nodes.push_back({eqsat::SaturationSession::priceKey(op), price, runs});
  });
}

std::vector<unsigned> MarkedNodes::collect(Operation *root) {
  std::set<unsigned> found;
  root->walk([&](Operation *op) {
    op->getLoc()->walk([&](Location part) {
      if (auto fused = dyn_cast<FusedLoc>(part))
        if (std::optional<unsigned> mark = getMark(fused))
          found.insert(*mark);
      return WalkResult::advance();
    });
  });
  return {found.begin(), found.end()};
}

static Location unmarked(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return location;
  SmallVector<Location> parts;
  for (Location part : fused.getLocations())
    parts.push_back(unmarked(part));
  // Only the marked location itself remains.
  if (getMark(fused))
    return parts.front();
  return FusedLoc::get(location.getContext(), parts, fused.getMetadata());
}

void MarkedNodes::unmark(Operation *root) {
  root->walk([&](Operation *op) { op->setLoc(unmarked(op->getLoc())); });
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

void NodePrices::learn(const MarkedNodes &marked, ArrayRef<unsigned> left,
                       ArrayRef<Timed> kernels) {
  ArrayRef<MarkedNodes::Node> nodes = marked.nodes;
  std::vector<double> seconds(nodes.size(), 0.0);
  double modelled = 0, measured = 0;
  for (const Timed &kernel : kernels) {
    double sum = 0;
    for (unsigned mark : *kernel.marks)
      sum += nodes[mark].price;
    if (!(sum > 0))
      continue;
    for (unsigned mark : *kernel.marks)
      seconds[mark] += kernel.seconds * nodes[mark].price / sum;
    modelled += sum;
    measured += kernel.seconds;
  }
  if (scale == 0) {
    if (!(modelled > 0) || !(measured > 0))
      return;
    scale = modelled / measured;
  }
  // Nodes with the same key share one price.
  std::map<StringRef, std::pair<double, double>> alike;
  for (unsigned mark : left) {
    auto &[sum, runs] = alike[nodes[mark].key];
    sum += seconds[mark];
    runs += nodes[mark].runs;
  }
  for (const auto &[key, found] : alike) {
    double price = scale * found.first / found.second;
    auto [it, isNew] = prices.try_emplace(key.str(), price);
    if (!isNew && !(price < it->second))
      continue;
    it->second = price;
    changed.insert(it->first);
  }
}

std::vector<std::pair<std::string, double>> NodePrices::take() {
  std::vector<std::pair<std::string, double>> list;
  for (const std::string &key : changed)
    list.emplace_back(key, prices.at(key));
  changed.clear();
  return list;
}
