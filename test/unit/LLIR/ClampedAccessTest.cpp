//===- ClampedAccessTest.cpp - Clamped addresses against enumeration ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/ClampedAccess.h"
#include "gtest/gtest.h"

using namespace luminal;

namespace {

int64_t evaluate(const Expr &e, int64_t d0, int64_t d1) {
  return *e.evaluate([](std::string_view) { return std::nullopt; }, {d0, d1});
}

/// Whether each vector of `lanes` along d1 that is within the dim has
/// neighbours, or one element; and the first of those that are read instead is
/// there.
bool isWhole(const Expr &address, int64_t extent, unsigned lanes) {
  for (int64_t d = 0; d + lanes <= extent; d += lanes) {
    bool areNeighbours = true, areOne = true;
    int64_t first = evaluate(address, 1, d);
    for (unsigned l = 1; l < lanes; ++l) {
      int64_t at = evaluate(address, 1, d + l);
      areNeighbours &= at == first + int64_t(l);
      areOne &= at == first;
    }
    if (!areNeighbours && !areOne)
      return false;
  }
  return true;
}

TEST(ClampedAccess, IsRightForAllBoundsOfBothKinds) {
  Expr d0 = Expr::dim(0), d1 = Expr::dim(1);
  unsigned accepted = 0;
  for (int64_t extent : {16, 24, 30})
    for (int64_t lo = 0; lo < 20; ++lo)
      for (int64_t hi = lo; hi < 24; hi += 3)
        for (int64_t offset : {-8, 0, 3, 8})
          for (unsigned lanes : {2u, 4u, 8u}) {
            Assumptions assumptions({}, {Expr(4), Expr(extent)});
            Expr x = d1 + Expr(offset);
            for (const Expr &clamp : {Expr::min(x, hi), Expr::max(x, lo),
                                      Expr::max(Expr::min(x, hi), lo),
                                      Expr::min(Expr::max(x, lo), hi)}) {
              Expr address = d0 * Expr(100) + clamp + Expr(7);
              auto access = findClampedAccess(address, 1, assumptions);
              ASSERT_TRUE(access) << address.str();
              if (!access->isWholeFor(lanes, extent, assumptions))
                continue;
              ++accepted;
              EXPECT_TRUE(isWhole(address, extent, lanes))
                  << address.str() << " of " << extent << ", " << lanes;
            }
          }
  EXPECT_GT(accepted, 500u);
}

TEST(ClampedAccess, TheVectorAtTheEdgeIsThere) {
  Assumptions assumptions({}, {Expr(4), Expr(18)});
  Expr x = Expr::dim(1);
  // Beyond 16 are two elements: a vector of four there would end outside.
  auto access = findClampedAccess(Expr::max(x, 16), 1, assumptions);
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->isWholeFor(4, 18, assumptions));
  EXPECT_TRUE(access->isWholeFor(2, 18, assumptions));
  EXPECT_TRUE(findClampedAccess(Expr::max(x, 16), 1, assumptions)
                  ->isWholeFor(4, 20, assumptions));
}

TEST(ClampedAccess, OtherAddressesAreNone) {
  Assumptions assumptions({}, {Expr(4), Expr(32)});
  Expr x = Expr::dim(1);
  for (const Expr &address :
       {x, x * Expr(2), Expr::min(x * Expr(2), 16), Expr::min(x, 16) * Expr(2),
        Expr::floorDiv(x, 2), Expr::min(x, 16) + x, Expr::min(x, 40 - x)})
    EXPECT_FALSE(findClampedAccess(address, 1, assumptions)) << address.str();
}

} // namespace
