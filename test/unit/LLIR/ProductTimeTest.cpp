//===- ProductTimeTest.cpp - Prices of products beside times --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Schedules/ProductTime.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

using namespace luminal;
using namespace luminal::llir;

namespace {

struct TileRow {
  double rows, inner, columns;
  PricedTile tile;
  double time;
};

struct Row {
  unsigned bits;
  double rows, inner, columns, time;
};

const std::vector<TileRow> kTiles = {
#define LUMINAL_TILE_TIME(M, K, N, R, C, PARTS, US)                            \
  {M, K, N, {R, C, PARTS}, 1000 * US},
#include "ProductTimes.def"
};

const std::vector<Row> kLibrary = {
#define LUMINAL_LIBRARY_TIME(BITS, M, K, N, US) {BITS, M, K, N, 1000 * US},
#include "ProductTimes.def"
};

const std::vector<Row> kPlain = {
#define LUMINAL_PLAIN_TIME(BITS, M, K, N, US) {BITS, M, K, N, 1000 * US},
#include "ProductTimes.def"
};

MachineModel getH200() {
  return MachineModel::getGPU("sm_90a", {.name = "NVIDIA H200"});
}

/// The mean of a product and of the one back.
template <typename Fn>
double meanOf(double inner, double columns, Fn price) {
  return (price(inner, columns) + price(columns, inner)) / 2;
}

double getMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double getMedianError(const std::vector<Row> &rows, unsigned bits,
                      ProductCode code) {
  std::vector<double> errors;
  for (const Row &row : rows)
    if (row.bits == bits) {
      double price = meanOf(row.inner, row.columns, [&](double k, double n) {
        return getProductTime({1, row.rows, n, k, bits}, code, getH200());
      });
      errors.push_back(std::abs(price / row.time - 1));
    }
  return getMedian(errors);
}

double getPrice(const TileRow &row) {
  return meanOf(row.inner, row.columns, [&](double k, double n) {
    return getTileTime({1, row.rows, n, k, 16}, row.tile, getH200());
  });
}

TEST(ProductTimeTest, TilesAreMeasuredTiles) {
  std::vector<double> errors;
  for (const TileRow &row : kTiles)
    errors.push_back(std::abs(getPrice(row) / row.time - 1));
  EXPECT_LT(getMedian(errors), 0.1);
}

TEST(ProductTimeTest, TheCheapestTileIsNearlyTheFastest) {
  std::map<std::tuple<double, double, double>, std::vector<TileRow>> products;
  for (const TileRow &row : kTiles)
    products[{row.rows, row.inner, row.columns}].push_back(row);
  for (const auto &[shape, rows] : products) {
    auto chosen = std::min_element(rows.begin(), rows.end(),
                                   [](const TileRow &a, const TileRow &b) {
                                     return getPrice(a) < getPrice(b);
                                   });
    auto best = std::min_element(
        rows.begin(), rows.end(),
        [](const TileRow &a, const TileRow &b) { return a.time < b.time; });
    EXPECT_LE(chosen->time, 1.2 * best->time)
        << std::get<0>(shape) << " x " << std::get<1>(shape) << " x "
        << std::get<2>(shape) << ": " << chosen->tile.rows << " x "
        << chosen->tile.columns << ", " << chosen->tile.parts << " parts";
  }
}

TEST(ProductTimeTest, LibraryAndPlainKernels) {
  // A call between kernels takes more than these, which follow each other.
  EXPECT_LT(getMedianError(kLibrary, 16, ProductCode::Library), 0.15);
  EXPECT_LT(getMedianError(kLibrary, 32, ProductCode::Library), 0.15);
  EXPECT_LT(getMedianError(kPlain, 32, ProductCode::StagedKernel), 0.2);
}

TEST(ProductTimeTest, OperandsAcrossTakeLonger) {
  ProductShape along{1, 128, 2304, 768, 16}, across = along;
  across.across = 1;
  PricedTile tile{64, 32, 1};
  double ratio = getTileTime(across, tile, getH200()) /
                 getTileTime(along, tile, getH200());
  // 7.8 us beside 5.7.
  EXPECT_GT(ratio, 1.2);
  EXPECT_LT(ratio, 1.6);
}

} // namespace
