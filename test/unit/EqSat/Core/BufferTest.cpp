//===- BufferTest.cpp - Memory and the index of rows ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Buffer.h"
#include "luminal/EqSat/Core/RowIndex.h"
#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace luminal::eqsat;

/// Sizes on both sides of every threshold: small memory, a mapping, a large
/// page, reallocation.
TEST(Buffer, KeepsWhatItHoldsAtEverySize) {
  constexpr size_t kMiB = 1 << 20;
  const std::vector<size_t> sizes = {0,
                                     100,
                                     kMiB - 4,
                                     kMiB,
                                     kMiB + 4,
                                     3 * kMiB - 4,
                                     3 * kMiB,
                                     4 * kMiB,
                                     4 * kMiB + 4,
                                     9 * kMiB + 12,
                                     16 * kMiB,
                                     16 * kMiB + 4096,
                                     70 * kMiB};
  for (size_t from : sizes)
    for (size_t to : sizes) {
      ByteCounter counter;
      {
        Buffer<uint32_t> buffer(counter);
        auto write = [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; i += 61)
            buffer[i] = uint32_t(i * 2654435761u);
        };
        const size_t first = from / 4, second = to / 4;
        buffer.reserveExactly(first);
        buffer.extend(first);
        write(0, first);
        buffer.truncate(std::min(first, second));
        buffer.reserveExactly(second);
        buffer.extend(second - buffer.size());
        for (size_t i = 0; i < std::min(first, second); i += 61)
          ASSERT_EQ(buffer[i], uint32_t(i * 2654435761u)) << from << " " << to;
        // All of it must be accessible, including the end.
        write(0, second);
        if (second)
          buffer[second - 1] = 1;
        EXPECT_EQ(counter.bytes, second * 4);
        EXPECT_EQ(counter.peak, std::max(first, second) * 4);
      }
      EXPECT_EQ(counter.bytes, 0u);
    }
}

/// Random hashes of which few differ, so that many rows are stored outside the
/// group of their hash.
TEST(RowIndex, FindsEveryRowAfterItGrew) {
  for (uint64_t kinds : {uint64_t(40), uint64_t(3000), ~uint64_t(0)}) {
    ByteCounter counter;
    RowIndex index(counter);
    std::mt19937_64 random(kinds);
    std::vector<uint64_t> hashes;
    unsigned rehashed = 0, grown = 0;
    index.reset(0);
    constexpr uint32_t kRows = 20000;
    while (hashes.size() != kRows) {
      uint32_t row = hashes.size();
      if (!index.hasRoom(1, row + 1)) {
        index.grow([&](uint32_t r) {
          EXPECT_LT(r, row);
          ++rehashed;
          return hashes[r];
        });
        ++grown;
        for (uint32_t r = 0; r != row; ++r)
          ASSERT_EQ(index.find(hashes[r], [&](uint32_t o) { return o == r; }),
                    r);
      }
      hashes.push_back((random() % kinds) * 0x9e3779b97f4a7c15u);
      index.place(row, hashes.back());
    }
    EXPECT_EQ(index.numPlaced(), kRows);
    EXPECT_GE(grown, 10u);
    // With good hashes, few rows are compared.
    EXPECT_GT(rehashed, 0u);
    if (kinds == ~uint64_t(0))
      EXPECT_LT(rehashed, kRows / 5);
    for (uint32_t r = 0; r != kRows; ++r)
      EXPECT_EQ(index.find(hashes[r], [&](uint32_t o) { return o == r; }), r);
    EXPECT_EQ(index.find(1, [](uint32_t) { return false; }), kNone);
  }
}
