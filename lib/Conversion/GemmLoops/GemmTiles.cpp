//===- GemmTiles.cpp - Sums of products in tile registers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMX multiplies a tile of rows, 16 pairs of bf16 along k each, by a tile of 16
// such pairs of 16 columns, and adds to a tile of f32 sums. The numbers of the
// registers are fixed: sums first, then rows, then columns. (Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 1, "Programming with Intel
// Advanced Matrix Extensions".)
//
//===----------------------------------------------------------------------===//

#include "GemmTiles.h"

using namespace luminal;
using namespace mlir;

static void emit(Loops &m, StringRef instruction, ArrayRef<Value> operands) {
  LLVM::CallIntrinsicOp::create(
      m.b, m.b.getStringAttr("llvm.x86." + instruction), operands);
}

/// A register, as an operand.
static Value getTile(Loops &m, unsigned number) {
  return arith::ConstantIntOp::create(m.b, m.b.getI8Type(), number);
}

TileRegisters::TileRegisters(const GemmLoops &g, Loops &m, Value config)
    : g(g), m(m), config(config) {
  Type i64 = m.b.getI64Type();
  // Palette 1; bytes of a line of each register at 16, lines at 48.
  const int64_t words[] = {1, 0, 0x0040004000400040, 0x0040004000400040, 0, 0,
                           0, 0};
  for (auto [i, word] : llvm::enumerate(words))
    m.store(m.constant(word), m.element(config, i64, int32_t(i)), 8);
  configure(m.constant(GemmLoops::kTileRows), 0);
}

/// Gives the first `count` registers `rows` lines, and the others all.
void TileRegisters::configure(Value rows, unsigned count) {
  constexpr uint64_t all = 0x0101010101010101;
  uint64_t first = all >> (8 * (GemmLoops::kTiles - count));
  if (count == 0)
    first = 0;
  Value lines =
      m.add(m.mul(rows, m.constant(int64_t(first))),
            m.constant(int64_t((all - first) * GemmLoops::kTileRows)));
  m.store(lines, m.element(config, m.b.getI64Type(), 6), 8);
  emit(m, "ldtilecfg", config);
}

void TileRegisters::release() { emit(m, "tilerelease", {}); }

/// The sums of `strips` registers of rows.
void TileRegisters::sum(Value panel, Value row, unsigned strips, Value memory) {
  unsigned vectors = g.tile.vectors, lanes = g.tile.lanes;
  int64_t width = g.tile.columns(), bytes = 4;
  auto sumOf = [&](unsigned i, unsigned v) { return i * vectors + v; };
  unsigned rowsFrom = strips * vectors, columnsFrom = rowsFrom + strips;
  Type i8 = m.b.getI8Type();
  GemmLoops::Lines lines = g.getLines(m.b, row);
  Value step = m.constant(width * bytes);
  Value strip = m.mul(lines.stride, GemmLoops::kTileRows);
  for (unsigned i = 0; i < rowsFrom; ++i)
    emit(m, "tilezero", getTile(m, i));
  m.loop(m.constant(0), g.paddedK, GemmLoops::kTileSteps, [&](Value k) {
    Value columns = m.element(panel, g.factor, m.mul(k, width));
    Value rows = m.element(lines.begin, i8, m.mul(k, bytes));
    for (unsigned i = 0; i < strips; ++i) {
      emit(m, "tileloadd64", {getTile(m, rowsFrom + i), rows, lines.stride});
      rows = m.element(rows, i8, strip);
      for (unsigned v = 0; v < vectors; ++v) {
        if (i == 0)
          emit(m, "tileloadd64",
               {getTile(m, columnsFrom + v),
                m.element(columns, g.factor, int32_t(v * lanes)), step});
        emit(m, "tdpbf16ps",
             {getTile(m, sumOf(i, v)), getTile(m, rowsFrom + i),
              getTile(m, columnsFrom + v)});
      }
    }
  });
  for (unsigned i = 0; i < strips; ++i)
    for (unsigned v = 0; v < vectors; ++v)
      emit(m, "tilestored64",
           {getTile(m, sumOf(i, v)),
            m.element(memory, g.accumulator,
                      int32_t(i * GemmLoops::kTileRows * width + v * lanes)),
            step});
}

void TileRegisters::sumTile(Value panel, Value row, Value memory) {
  sum(panel, row, g.tile.rows / GemmLoops::kTileRows, memory);
}

/// A strip after the other. They are the last rows: what registers hold is not
/// set back.
void TileRegisters::sumRest(Value panel, Value row, Value count, Value memory) {
  int64_t width = g.tile.columns();
  Value whole = m.constant(GemmLoops::kTileRows);
  m.loop(m.constant(0), count, GemmLoops::kTileRows, [&](Value i) {
    configure(m.min(whole, m.sub(count, i)), g.tile.vectors + 1);
    sum(panel, m.add(row, i), 1,
        m.element(memory, g.accumulator, m.mul(i, width)));
  });
}
