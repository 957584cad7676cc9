//===- GemmTiles.cpp - Products in AMX tile registers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMX multiplies a tile of rows, each with 16 pairs of bf16 along k, by a tile
// of 16 such pairs of 16 columns, and adds the product to a tile of f32 sums.
// The registers are numbered: sums first, then rows, then columns. (Intel 64
// and IA-32 Architectures Software Developer's Manual, volume 1, "Programming
// with Intel Advanced Matrix Extensions".)
//
//===----------------------------------------------------------------------===//

#include "GemmTiles.h"

using namespace luminal;
using namespace mlir;

namespace {
/// The eight tile registers, which are configured from construction until
/// `release`. Each holds up to 16 lines of 64 bytes: of sums, of 16 pairs along
/// k for up to 16 rows, or of one pair for each of 16 columns.
class TileRegisters {
public:
  TileRegisters(const GemmLoops &g, Loops &m, Value config);

  /// Adds the products of factors [begin, end) along k of `g.tile.rows` rows
  /// and the columns of a panel to the sums in `memory`; if begin is 0 the sums
  /// start at zero.
  void sumTile(Value panel, Value row, Value begin, Value end, Value memory);
  /// Computes the sums of `count` rows, at most `g.tile.rows`, over all of k.
  void sumRest(Value panel, Value row, Value count, Value memory);
  void release() { emit("tilerelease", {}); }

private:
  void emit(StringRef instruction, ArrayRef<Value> operands) {
    LLVM::CallIntrinsicOp::create(
        m.b, m.b.getStringAttr("llvm.x86." + instruction), operands);
  }
  /// The number of a register, as an operand.
  Value getRegister(unsigned number) {
    return arith::ConstantIntOp::create(m.b, m.b.getI8Type(), number);
  }
  void configure(Value lines, unsigned count);
  /// Loads or stores all sums.
  void moveSums(StringRef instruction, unsigned strips, Value memory);
  void clearSums(unsigned strips);
  void multiply(Value panel, Value row, Value begin, Value end,
                unsigned strips);

  const GemmLoops &g;
  Loops &m;
  Value config;
  unsigned vectors, lanes;
  int64_t width;
};
} // namespace

/// Bytes of a factor, and of a sum.
static constexpr int64_t kBytes = 4;

TileRegisters::TileRegisters(const GemmLoops &g, Loops &m, Value config)
    : g(g), m(m), config(config), vectors(g.tile.vectors), lanes(g.tile.lanes),
      width(g.tile.columns()) {
  Type i64 = m.b.getI64Type();
  // Palette 1; bytes per line of each register from byte 16 on, lines from byte
  // 48.
  const int64_t words[] = {1, 0, 0x0040004000400040, 0x0040004000400040, 0, 0,
                           0, 0};
  for (auto [i, word] : llvm::enumerate(words))
    m.store(m.constant(word), m.element(config, i64, int32_t(i)), 8);
  configure(m.constant(GemmLoops::kTileRows), 0);
}

/// Configures the first `count` registers with `lines` lines, and the others
/// with the maximum.
void TileRegisters::configure(Value lines, unsigned count) {
  constexpr uint64_t each = 0x0101010101010101;
  uint64_t first = count ? each >> (8 * (GemmLoops::kTiles - count)) : 0;
  int64_t others = int64_t((each - first) * GemmLoops::kTileRows);
  Value bytes = m.add(m.mul(lines, m.constant(int64_t(first))), others);
  m.store(bytes, m.element(config, m.b.getI64Type(), 6), 8);
  emit("ldtilecfg", config);
}

void TileRegisters::moveSums(StringRef instruction, unsigned strips,
                             Value memory) {
  Value line = m.constant(width * kBytes);
  for (unsigned i = 0; i < strips; ++i)
    for (unsigned v = 0; v < vectors; ++v) {
      int64_t at = i * GemmLoops::kTileRows * width + v * lanes;
      emit(instruction, {getRegister(i * vectors + v),
                         m.element(memory, g.accumulator, int32_t(at)), line});
    }
}

void TileRegisters::clearSums(unsigned strips) {
  for (unsigned i = 0; i < strips * vectors; ++i)
    emit("tilezero", getRegister(i));
}

/// Multiplies and adds to the sums of `strips` strips of rows.
void TileRegisters::multiply(Value panel, Value row, Value begin, Value end,
                             unsigned strips) {
  unsigned rowsFrom = strips * vectors, columnsFrom = rowsFrom + strips;
  Type i8 = m.b.getI8Type();
  GemmLoops::Lines lines = g.getLines(m.b, row);
  Value line = m.constant(width * kBytes);
  Value strip = m.mul(lines.stride, GemmLoops::kTileRows);
  m.loop(begin, end, GemmLoops::kTileSteps, [&](Value k) {
    Value columns = m.element(panel, g.factor, m.mul(k, width));
    Value rows = m.element(lines.begin, i8, m.mul(k, kBytes));
    for (unsigned i = 0; i < strips; ++i) {
      emit("tileloadd64", {getRegister(rowsFrom + i), rows, lines.stride});
      rows = m.element(rows, i8, strip);
      for (unsigned v = 0; v < vectors; ++v) {
        if (i == 0)
          emit("tileloadd64",
               {getRegister(columnsFrom + v),
                m.element(columns, g.factor, int32_t(v * lanes)), line});
        emit("tdpbf16ps",
             {getRegister(i * vectors + v), getRegister(rowsFrom + i),
              getRegister(columnsFrom + v)});
      }
    }
  });
}

void TileRegisters::sumTile(Value panel, Value row, Value begin, Value end,
                            Value memory) {
  unsigned strips = g.tile.rows / GemmLoops::kTileRows;
  Value isFirst;
  if (g.tile.depth)
    isFirst = m.lt(begin, m.constant(1));
  m.branch(
      isFirst, [&] { clearSums(strips); },
      [&] { moveSums("tileloadd64", strips, memory); });
  multiply(panel, row, begin, end, strips);
  moveSums("tilestored64", strips, memory);
}

/// One strip after the other. These are the last rows, so the registers are not
/// reconfigured afterwards.
void TileRegisters::sumRest(Value panel, Value row, Value count, Value memory) {
  Value whole = m.constant(GemmLoops::kTileRows);
  m.loop(m.constant(0), count, GemmLoops::kTileRows, [&](Value i) {
    configure(m.min(whole, m.sub(count, i)), vectors + 1);
    clearSums(1);
    multiply(panel, m.add(row, i), m.constant(0), g.paddedK, 1);
    moveSums("tilestored64", 1,
             m.element(memory, g.accumulator, m.mul(i, width)));
  });
}

void luminal::sumInTiles(const GemmLoops &g, Loops &m, Value packed,
                         Value memory, GemmRange rows, GemmRange columns) {
  int64_t width = g.tile.columns(), depth = g.tile.depth;
  Type i8 = m.b.getI8Type();
  TileRegisters registers(g, m,
                          m.element(packed, i8, -int32_t(kTileConfigBytes)));
  auto overPanels =
      [&](function_ref<void(Value column, Value panel, Value sums)> body) {
        m.loop(columns.begin, columns.end, width, [&](Value column) {
          Value before = m.sub(column, columns.begin);
          // With `depth` the sums of all panels are kept in memory, else those
          // of one panel.
          Value sums = depth ? m.element(memory, g.accumulator,
                                         m.mul(before, g.tile.rows))
                             : memory;
          body(column, m.element(packed, g.factor, m.mul(before, g.paddedK)),
               sums);
        });
      };
  Value zero = m.constant(0);
  bool isWhole = m.isMultiple(g.rows, g.tile.rows);
  m.loop(rows.begin, rows.end, g.tile.rows, [&](Value row) {
    Value whole = m.constant(g.tile.rows);
    Value rowCount = isWhole ? whole : m.min(whole, m.sub(rows.end, row));
    Value fits = isWhole ? Value() : m.le(m.add(row, g.tile.rows), rows.end);
    auto finish = [&](Value column, Value sums) {
      Value left = m.sub(columns.end, column), most = m.constant(width);
      g.finish(m.b, sums, row, rowCount, column,
               m.isMultiple(g.columns, width) ? most : m.min(most, left));
    };
    auto sumRest = [&](Value panel, Value sums) {
      registers.sumRest(panel, row, rowCount, sums);
    };
    if (!depth) {
      overPanels([&](Value column, Value panel, Value sums) {
        m.branch(
            fits, [&] { registers.sumTile(panel, row, zero, g.paddedK, sums); },
            [&] { sumRest(panel, sums); });
        finish(column, sums);
      });
      return;
    }
    m.branch(
        fits,
        [&] {
          // At least one iteration, which sets the sums to zero if k is 0.
          Value end = arith::MaxSIOp::create(m.b, g.paddedK, m.constant(1));
          m.loop(zero, end, depth, [&](Value begin) {
            Value next = m.min(m.add(begin, depth), g.paddedK);
            overPanels([&](Value, Value panel, Value sums) {
              registers.sumTile(panel, row, begin, next, sums);
            });
          });
        },
        [&] {
          overPanels(
              [&](Value, Value panel, Value sums) { sumRest(panel, sums); });
        });
    overPanels([&](Value column, Value, Value sums) { finish(column, sums); });
  });
  registers.release();
}
