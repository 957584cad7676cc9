//===- GemmLoops.cpp - Packing and the register tile ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/GemmLoops.h"
#include "GemmTiles.h"

using namespace luminal;
using namespace mlir;

static int64_t elementBytes(Type type) {
  return type.getIntOrFloatBitWidth() / 8;
}

/// Rows of a remainder are stored as whole vectors, so a line is padded.
int64_t GemmLoops::tileLine() const {
  return llvm::alignTo(llvm::alignTo(tile.rows, kRemainderRows), tile.lanes) +
         tile.lanes;
}

int64_t GemmLoops::tileBytes() const {
  if (transposes)
    return llvm::alignTo(
        tileLine() * tile.columns() * elementBytes(accumulator), 64);
  int64_t rows = llvm::alignTo(tile.rows, kRemainderRows);
  int64_t columns = tile.depth ? tile.columnBlock() : tile.columns();
  int64_t sums = llvm::alignTo(rows * columns * elementBytes(accumulator), 64);
  return sums + (usesTiles ? kTileConfigBytes : 0);
}

int64_t GemmLoops::packedBytesPerK() const {
  return int64_t(tile.columnBlock()) * elementBytes(factor);
}

/// Fills the end of a panel with zeros, up to `paddedK`.
static void fillRest(const GemmLoops &g, Loops &m, Value panel) {
  unsigned lanes = g.tile.lanes, width = g.tile.columns();
  Value zeros = m.zero(VectorType::get({int64_t(lanes)}, g.factor));
  m.loop(m.mul(g.k, width), m.mul(g.paddedK, width), lanes, [&](Value at) {
    m.store(zeros, m.element(panel, g.factor, at), elementBytes(g.factor));
  });
}

/// Packs columns [columnBegin, columnEnd) as panels: for each k, a panel holds
/// tile.columns() adjacent elements. Elements past columnEnd are arbitrary:
/// their sums are never stored.
static void packColumns(const GemmLoops &g, Loops &m, Value packed,
                        Value columnBegin, Value columnEnd) {
  unsigned lanes = g.tile.lanes, width = g.tile.columns();
  Type scalar = g.factor;
  Value last = m.sub(columnEnd, m.constant(1));
  Value zero = m.constant(0), paddedK = g.paddedK ? g.paddedK : g.k;
  if (g.fillLine) {
    m.loop(zero, g.k, 1, [&](Value kIndex) {
      g.fillLine(m.b, kIndex);
      m.loop(columnBegin, columnEnd, width, [&](Value column) {
        Value before = m.sub(column, columnBegin);
        Value from = m.element(g.line, scalar, before);
        Value to = m.element(packed, scalar,
                             m.add(m.mul(before, g.k), m.mul(kIndex, width)));
        auto type = VectorType::get({int64_t(lanes)}, scalar);
        for (unsigned v = 0; v < g.tile.vectors; ++v) {
          int32_t offset = v * lanes;
          m.store(m.load(type, m.element(from, scalar, offset),
                         elementBytes(scalar)),
                  m.element(to, scalar, offset), elementBytes(scalar));
        }
      });
    });
    return;
  }
  m.loop(columnBegin, columnEnd, width, [&](Value column) {
    // The offset of the panel is (column - columnBegin) * paddedK elements.
    Value panel =
        m.element(packed, scalar, m.mul(m.sub(column, columnBegin), paddedK));
    if (g.paddedK)
      fillRest(g, m, panel);
    auto packByElement = [&](Value kBegin) {
      m.loop(kBegin, g.k, 1, [&](Value kIndex) {
        m.loop(zero, m.constant(width), 1, [&](Value j) {
          Value v = g.loadColumn(m.b, kIndex, m.min(m.add(column, j), last));
          m.store(v, m.element(panel, scalar, m.add(m.mul(kIndex, width), j)),
                  elementBytes(scalar));
        });
      });
    };
    if (g.loadColumns) {
      auto packVectors = [&](bool all) {
        m.loop(zero, g.k, 1, [&](Value kIndex) {
          for (unsigned v = 0; v < g.tile.vectors; ++v) {
            Value from = m.add(column, v * lanes), count;
            if (!all) {
              from = m.min(from, last);
              count = m.min(m.sub(columnEnd, from), m.constant(lanes));
            }
            m.store(g.loadColumns(m.b, kIndex, from, count),
                    m.element(panel, scalar,
                              m.add(m.mul(kIndex, width), v * lanes)),
                    elementBytes(scalar));
          }
        });
      };
      m.branch(
          m.isMultiple(g.columns, width)
              ? Value()
              : m.le(m.add(column, width), columnEnd),
          [&] { packVectors(true); }, [&] { packVectors(false); });
      return;
    }
    if (!g.loadAlongK) {
      packByElement(zero);
      return;
    }
    // Squares are read along k and transposed in registers, as many side by
    // side as a vector holds.
    unsigned side = g.lanesAlongK;
    Value kSquares = m.floorTo(g.wholeK ? g.wholeK : g.k, side);
    m.loop(zero, m.constant(width), lanes, [&](Value offset) {
      Value first = m.add(column, offset);
      m.loop(zero, kSquares, side, [&](Value kIndex) {
        SmallVector<Value> lines;
        for (unsigned i = 0; i < side; ++i) {
          SmallVector<Value> parts;
          for (unsigned j = i; j < lanes; j += side)
            parts.push_back(
                g.loadAlongK(m.b, kIndex, m.min(m.add(first, j), last)));
          lines.push_back(m.concatenate(parts));
        }
        m.transpose(lines);
        Value to =
            m.element(panel, scalar, m.add(m.mul(kIndex, width), offset));
        for (unsigned i = 0; i < side; ++i)
          m.store(lines[i], m.element(to, scalar, int32_t(i * width)),
                  elementBytes(scalar));
      });
    });
    packByElement(kSquares);
  });
}

/// Prefetches the rows that `finish` accesses, one `outer` step of `steps`
/// after the other.
static void bringAhead(const GemmLoops &g, Loops &m,
                       ArrayRef<GemmLoops::Ahead> ahead, unsigned rows,
                       Value outer, int64_t steps) {
  if (ahead.empty())
    return;
  int64_t atOnce = llvm::divideCeil(rows, std::max<int64_t>(steps, 1));
  Value first = m.mul(outer, atOnce);
  m.ifThen(m.lt(first, m.constant(rows)), [&] {
    for (int64_t i = 0; i < atOnce; ++i)
      for (const GemmLoops::Ahead &memory : ahead) {
        Value line = m.element(memory.begin, m.b.getI8Type(),
                               m.mul(m.add(first, i), memory.stride));
        for (int64_t at = 0; at < memory.bytes; at += g.lineBytes)
          LLVM::Prefetch::create(
              m.b, m.element(line, m.b.getI8Type(), int32_t(at)),
              /*rw=*/memory.isWritten, /*hint=*/3, /*cache=*/1);
      }
  });
}

/// Prefetches a panel in memory some steps ahead; past its end the next panel
/// begins.
static void bringPanel(const GemmLoops &g, Loops &m, Value base) {
  int64_t bytes = g.tile.columns() * elementBytes(g.factor);
  for (int64_t at = 0; at < bytes; at += g.lineBytes)
    LLVM::Prefetch::create(
        m.b,
        m.element(base, m.b.getI8Type(),
                  int32_t(GemmLoops::kPanelAhead * bytes + at)),
        /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

/// Runs `body` for each step of k in a range of outer steps. `outer` and
/// `offset` (null: 0) add up to the distance of a window's element from its
/// beginning.
static SmallVector<Value> loopOverWindows(
    const GemmLoops::Windows &w, Loops &m, GemmRange range,
    ArrayRef<Value> init,
    function_ref<SmallVector<Value>(Value kIndex, Value outer, Value offset,
                                    ValueRange carried)>
        body,
    function_ref<void(Value outer, int64_t steps)> before = {}) {
  return m.loop(
      range.begin, range.end, 1, init, [&](Value outer, ValueRange carried) {
        if (before)
          before(outer, w.outer);
        Value from = m.mul(outer, m.constant(w.outerStep));
        if (w.period == 1)
          return body(outer, from, {}, carried);
        Value first = m.mul(outer, w.period);
        return m.loop(
            m.constant(0), m.constant(w.period), 1, SmallVector<Value>(carried),
            [&](Value step, ValueRange inner) {
              Type type = m.b.getI64Type();
              Value offset = m.load(type, m.element(w.table, type, step), 8);
              return body(m.add(first, step), from, offset, inner);
            });
      });
}

/// The trip count of `loopOverK`: outer steps of windows, or steps of k.
static Value countSteps(const GemmLoops &g, Loops &m) {
  if (g.windows || g.rowWindows)
    return m.constant((g.windows ? g.windows : g.rowWindows)->outer);
  return g.k;
}

/// The number of these steps that are accumulated before the sum is added to
/// the previous ones; none if everything is accumulated in one sum.
static std::optional<int64_t> findSumSteps(const GemmLoops &g, Loops &m) {
  if (!isa<FloatType>(g.accumulator))
    return std::nullopt;
  int64_t period = g.windows      ? g.windows->period
                   : g.rowWindows ? g.rowWindows->period
                                  : 1;
  int64_t steps = std::max<int64_t>(GemmLoops::kSumSteps / period, 1);
  std::optional<int64_t> count = getConstantIntValue(countSteps(g, m));
  if (count && *count < 2 * steps)
    return std::nullopt;
  return steps;
}

/// Runs `body` for each step of k in a range, with the address of the columns
/// and, if rows are windows, the offset of their elements. Calls `before` at
/// the beginning of each outer step.
static SmallVector<Value>
loopOverK(const GemmLoops &g, Loops &m, Value panel, GemmRange range,
          ArrayRef<Value> init,
          function_ref<void(Value outer, int64_t steps)> before,
          function_ref<SmallVector<Value>(Value kIndex, Value base,
                                          Value ofRows, ValueRange carried)>
              body) {
  if (!g.windows) {
    auto stepOf = [&](Value kIndex, Value ofRows, ValueRange carried) {
      Value at = m.mul(kIndex, g.tile.columns());
      Value base = m.element(panel, g.factor, at);
      if (g.panels)
        bringPanel(g, m, base);
      return body(kIndex, base, ofRows, carried);
    };
    if (g.rowWindows)
      return loopOverWindows(
          *g.rowWindows, m, range, init,
          [&](Value kIndex, Value outer, Value offset, ValueRange carried) {
            return stepOf(kIndex, offset ? m.add(outer, offset) : outer,
                          carried);
          });
    auto step = [&](Value kIndex, ValueRange carried) {
      return stepOf(kIndex, {}, carried);
    };
    constexpr int64_t kSteps = GemmLoops::kAheadSteps;
    std::optional<int64_t> k = getConstantIntValue(g.k);
    if (!before || !k || *k < kSteps)
      return m.loop(range.begin, range.end, 1, init, step);
    static_assert(GemmLoops::kSumSteps % kSteps == 0);
    int64_t steps = *k / kSteps;
    Value whole = m.floorTo(range.end, kSteps);
    SmallVector<Value> sums =
        m.loop(m.divide(range.begin, kSteps), m.divide(whole, kSteps), 1, init,
               [&](Value outer, ValueRange carried) {
                 before(outer, steps);
                 Value first = m.mul(outer, kSteps);
                 return m.loop(m.constant(0), m.constant(kSteps), 1,
                               SmallVector<Value>(carried),
                               [&](Value inner, ValueRange now) {
                                 return step(m.add(first, inner), now);
                               });
               });
    if (*k % kSteps == 0)
      return sums;
    return m.loop(whole, range.end, 1, sums, step);
  }
  return loopOverWindows(
      *g.windows, m, range, init,
      [&](Value kIndex, Value outer, Value offset, ValueRange carried) {
        Value base = m.element(panel, g.factor, outer);
        if (offset)
          base = m.element(base, g.factor, offset);
        return body(kIndex, base, {}, carried);
      },
      before);
}

/// Stores vectors of sums, or adds them to the stored ones.
static void storeSum(const GemmLoops &g, Loops &m, Value sum, Value memory,
                     bool adds) {
  unsigned bytes = elementBytes(g.accumulator);
  if (adds)
    sum = m.sum(m.load(sum.getType(), memory, bytes), sum);
  m.store(sum, memory, bytes);
}

/// Stores the sums of `count` rows to `memory`, column by column.
static void storeTransposed(const GemmLoops &g, Loops &m, ArrayRef<Value> sums,
                            unsigned count, unsigned vectors, Value memory,
                            bool adds) {
  unsigned lanes = g.tile.lanes;
  Value none = m.zero(sums.front().getType());
  for (unsigned v = 0; v < vectors; ++v)
    for (unsigned first = 0; first < count; first += lanes) {
      SmallVector<Value> lines(lanes, none);
      for (unsigned i = 0; i < std::min(lanes, count - first); ++i)
        lines[i] = sums[(first + i) * vectors + v];
      m.transpose(lines);
      for (unsigned j = 0; j < lanes; ++j)
        storeSum(g, m, lines[j],
                 m.element(memory, g.accumulator,
                           int32_t((v * lanes + j) * g.tileLine() + first)),
                 adds);
    }
}

/// Stores the sums of `count` rows to `memory`, row by row.
static void storeRows(const GemmLoops &g, Loops &m, ArrayRef<Value> sums,
                      unsigned count, unsigned vectors, Value memory,
                      bool adds) {
  for (unsigned i = 0; i < count; ++i)
    for (unsigned v = 0; v < vectors; ++v)
      storeSum(g, m, sums[i * vectors + v],
               m.element(memory, g.accumulator,
                         int32_t(i * g.tile.columns() + v * g.tile.lanes)),
               adds);
}

/// Accumulates `count` rows and the first `vectors` of columns of one panel,
/// and stores the sums to `memory`, row by row. Rows beyond `last` repeat it;
/// null: there are none.
static void sumTile(const GemmLoops &g, Loops &m, Value panel, Value row,
                    unsigned count, unsigned vectors, Value last, Value memory,
                    ArrayRef<GemmLoops::Ahead> ahead = {}) {
  unsigned lanes = g.tile.lanes;
  auto vectorType = VectorType::get({int64_t(lanes)}, g.accumulator);
  auto factors = VectorType::get({int64_t(lanes)}, g.factor);
  SmallVector<Value> rows;
  for (unsigned i = 0; i < count; ++i)
    rows.push_back(last && i ? m.min(m.add(row, i), last) : m.add(row, i));
  // For windows: where each row begins, and its constant distance from the
  // first row if there is one, so that one register serves all rows.
  SmallVector<Value> begins;
  bool isFixed = count == g.rowSteps.size();
  if (g.rowWindows)
    for (unsigned i = 0; i < count; ++i)
      begins.push_back(i && isFixed ? begins.front()
                                    : m.element(g.rowWindows->memory, g.factor,
                                                g.placeRow(m.b, rows[i])));
  auto loadRow = [&](unsigned i, Value kIndex, Value ofRows) {
    if (!g.rowWindows)
      return g.loadRow(m.b, rows[i], kIndex);
    Value at = m.element(begins[i], g.factor, ofRows);
    if (isFixed)
      at = m.element(at, g.factor, int32_t(g.rowSteps[i]));
    return m.load(g.factor, at, elementBytes(g.factor));
  };
  SmallVector<Value> zeros(count * vectors, m.zero(vectorType));
  auto before = [&](Value outer, int64_t steps) {
    bringAhead(g, m, ahead, count, outer, steps);
  };
  using Before = function_ref<void(Value, int64_t)>;
  auto sumRange = [&](GemmRange range) {
    return loopOverK(
        g, m, panel, range, zeros, ahead.empty() ? Before() : Before(before),
        [&](Value kIndex, Value base, Value ofRows, ValueRange carried) {
          SmallVector<Value> columnsAt, next(carried.begin(), carried.end());
          for (unsigned v = 0; v < vectors; ++v)
            columnsAt.push_back(
                m.load(factors, m.element(base, g.factor, int32_t(v * lanes)),
                       elementBytes(g.factor)));
          for (unsigned i = 0; i < count; ++i) {
            Value x = m.broadcast(loadRow(i, kIndex, ofRows), factors);
            for (unsigned v = 0; v < vectors; ++v) {
              Value &sum = next[i * vectors + v];
              sum = g.multiplyAdd ? g.multiplyAdd(m.b, x, columnsAt[v], sum)
                                  : m.multiplyAdd(x, columnsAt[v], sum);
            }
          }
          return next;
        });
  };
  auto store = [&](ArrayRef<Value> sums, bool adds) {
    auto to = g.transposes ? storeTransposed : storeRows;
    to(g, m, sums, count, vectors, memory, adds);
  };
  Value begin = m.constant(0), end = countSteps(g, m);
  std::optional<int64_t> steps = findSumSteps(g, m);
  if (!steps)
    return store(sumRange({begin, end}), /*adds=*/false);
  store(zeros, /*adds=*/false);
  m.loop(begin, end, *steps, [&](Value from) {
    store(sumRange({from, m.min(m.add(from, *steps), end)}), /*adds=*/true);
  });
}

/// The number of vectors that the last tile's columns fill, if it is known not
/// to be full; else 0.
static unsigned countLastVectors(const GemmLoops &g) {
  std::optional<int64_t> columns =
      getConstantIntValue(g.windows ? g.windows->count : g.columns);
  if (!columns)
    return 0;
  unsigned vectors =
      llvm::divideCeil(*columns % g.tile.columns(), g.tile.lanes);
  return vectors < g.tile.vectors ? vectors : 0;
}

void GemmLoops::build(ImplicitLocOpBuilder &b, Value scratch, Value rowBegin,
                      Value rowEnd, Value columnBegin, Value columnEnd) const {
  Loops m{b};
  unsigned width = tile.columns();
  Value tileMemory = scratch;
  Value packed = m.element(scratch, b.getI8Type(), int32_t(tileBytes()));
  if (windows)
    columnBegin = m.constant(0), columnEnd = windows->count;
  else if (panels)
    packed = m.element(panels, factor, m.mul(columnBegin, k));
  else
    m.ifThen(isFresh,
             [&] { packColumns(*this, m, packed, columnBegin, columnEnd); });
  if (usesTiles)
    return sumInTiles(*this, m, packed, tileMemory, {rowBegin, rowEnd},
                      {columnBegin, columnEnd});
  Value lastRow = m.sub(rowEnd, m.constant(1));
  bool isWhole = m.isMultiple(rows, tile.rows);
  unsigned lastVectors = countLastVectors(*this);
  m.loop(rowBegin, rowEnd, tile.rows, [&](Value row) {
    Value rowCount = isWhole ? m.constant(tile.rows)
                             : m.min(m.constant(tile.rows), m.sub(rowEnd, row));
    Value fits = isWhole ? Value() : m.le(m.add(row, tile.rows), rowEnd);
    m.loop(columnBegin, columnEnd, width, [&](Value column) {
      Value panel = windows ? m.element(windows->memory, factor, column)
                            : m.element(packed, factor,
                                        m.mul(m.sub(column, columnBegin), k));
      m.branch(
          fits,
          [&] {
            // Rows at constant distances from the first need one register.
            SmallVector<Ahead> ahead;
            if (findAhead)
              ahead = findAhead(b, row, column);
            auto sum = [&](unsigned vectors) {
              sumTile(*this, m, panel, row, tile.rows, vectors, /*last=*/{},
                      tileMemory, ahead);
            };
            if (!lastVectors)
              return sum(tile.vectors);
            int64_t least = int64_t(lastVectors) * tile.lanes;
            m.branch(
                m.le(columnEnd, m.add(column, least)),
                [&] { sum(lastVectors); }, [&] { sum(tile.vectors); });
          },
          [&] {
            m.loop(m.constant(0), rowCount, kRemainderRows, [&](Value i) {
              sumTile(*this, m, panel, m.add(row, i), kRemainderRows,
                      tile.vectors, lastRow,
                      m.element(tileMemory, accumulator,
                                transposes ? i : m.mul(i, width)));
            });
          });
      Value columnCount =
          !windows && m.isMultiple(columns, width)
              ? m.constant(width)
              : m.min(m.constant(width), m.sub(columnEnd, column));
      finish(b, tileMemory, row, rowCount, column, columnCount);
    });
  });
}

int64_t DotLoops::scratchBytes() const {
  // Whole vectors are written.
  return llvm::alignTo(rows * columns, lanes) * elementBytes(accumulator);
}

void DotLoops::build(ImplicitLocOpBuilder &b, Value scratch, Value row,
                     Value columnBegin, Value columnEnd) const {
  Loops m{b};
  unsigned bytes = elementBytes(accumulator), count = rows * columns;
  auto vectorType = VectorType::get({int64_t(lanes)}, accumulator);
  Value zero = m.constant(0), kVectors = m.floorTo(k, lanes);
  Value last = isWhole ? Value() : m.sub(columnEnd, m.constant(1));
  // With few sums, a second set hides the latency of the additions.
  unsigned sets = count >= 8 ? 1 : 2;
  Value kPairs = sets == 2 ? m.floorTo(k, int64_t(2) * lanes) : kVectors;
  m.loop(columnBegin, columnEnd, columns, [&](Value column) {
    // Columns past the end repeat the last one.
    SmallVector<Value> columnsAt;
    for (unsigned c = 0; c < columns; ++c)
      columnsAt.push_back(last && c ? m.min(m.add(column, c), last)
                                    : m.add(column, c));
    auto step = [&](Value kIndex, ValueRange carried, unsigned inSets) {
      SmallVector<Value> next(carried.begin(), carried.end());
      for (unsigned s = 0; s < inSets; ++s) {
        Value at = m.add(kIndex, int64_t(s) * lanes);
        SmallVector<Value> xs;
        for (unsigned r = 0; r < rows; ++r)
          xs.push_back(loadRow(b, m.add(row, r), at, /*vector=*/true));
        for (unsigned c = 0; c < columns; ++c) {
          Value w = loadColumn(b, at, columnsAt[c], /*vector=*/true);
          for (unsigned r = 0; r < rows; ++r) {
            Value &sum = next[(s * rows + r) * columns + c];
            sum = m.multiplyAdd(xs[r], w, sum);
          }
        }
      }
      return next;
    };
    SmallVector<Value> sums(sets * count, m.zero(vectorType));
    sums = m.loop(zero, kPairs, int64_t(sets) * lanes, sums,
                  [&](Value kIndex, ValueRange carried) {
                    return step(kIndex, carried, sets);
                  });
    if (sets == 2) {
      sums = m.loop(kPairs, kVectors, lanes, sums,
                    [&](Value kIndex, ValueRange carried) {
                      return step(kIndex, carried, 1);
                    });
      for (unsigned i = 0; i < count; ++i)
        sums[i] = m.sum(sums[i], sums[count + i]);
      sums.truncate(count);
    }
    int32_t position = 0;
    for (Value line : m.reduceLanes(sums)) {
      m.store(line, m.element(scratch, accumulator, position), bytes);
      position += cast<VectorType>(line.getType()).getNumElements();
    }
    // The remainder of k is added to the sums one by one, to keep the code
    // small.
    Value columnCount =
        isWhole ? m.constant(columns)
                : m.min(m.constant(columns), m.sub(columnEnd, column));
    m.loop(zero, m.constant(rows), 1, [&](Value r) {
      Value rowAt = m.add(row, r);
      Value line = m.element(scratch, accumulator, m.mul(r, columns));
      m.loop(zero, columnCount, 1, [&](Value c) {
        Value columnAt = m.add(column, c);
        Value sum = m.load(accumulator, m.element(line, accumulator, c), bytes);
        sum =
            m.loop(kVectors, k, 1, sum, [&](Value kIndex, ValueRange carried) {
              return SmallVector<Value>{m.multiplyAdd(
                  loadRow(b, rowAt, kIndex, /*vector=*/false),
                  loadColumn(b, kIndex, columnAt, /*vector=*/false),
                  carried[0])};
            })[0];
        finish(b, sum, rowAt, columnAt);
      });
    });
  });
}
