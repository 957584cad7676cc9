//===- GemmLoops.cpp - Packing and the register tile ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/GemmLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

namespace {
/// Short names for i64 arithmetic, loops and memory accesses.
struct Loops {
  ImplicitLocOpBuilder &b;

  Value constant(int64_t v) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), v);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, constant(y)); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, x, constant(y));
  }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value floorTo(Value x, int64_t multiple) {
    return arith::AndIOp::create(b, x, constant(-multiple));
  }
  Value lt(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
  }
  Value le(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sle, x, y);
  }

  Value element(Value base, Type type, Value index) {
    return LLVM::GEPOp::create(b, base.getType(), type, base,
                               ArrayRef<LLVM::GEPArg>{index});
  }
  Value load(Type type, Value pointer, unsigned alignment) {
    return LLVM::LoadOp::create(b, type, pointer, alignment);
  }
  void store(Value v, Value pointer, unsigned alignment) {
    LLVM::StoreOp::create(b, v, pointer, alignment);
  }

  using Body =
      llvm::function_ref<SmallVector<Value>(Value index, ValueRange carried)>;
  SmallVector<Value> loop(Value begin, Value end, int64_t step,
                          ValueRange carried, Body body) {
    auto op = scf::ForOp::create(b, begin, end, constant(step), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    SmallVector<Value> next =
        body(op.getInductionVar(), op.getRegionIterArgs());
    if (!carried.empty())
      scf::YieldOp::create(b, next);
    return SmallVector<Value>(op.getResults());
  }
  void loop(Value begin, Value end, int64_t step,
            llvm::function_ref<void(Value)> body) {
    loop(begin, end, step, {}, [&](Value i, ValueRange) {
      body(i);
      return SmallVector<Value>();
    });
  }
  void branch(Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise) {
    auto op = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.thenBlock());
    then();
    b.setInsertionPointToStart(op.elseBlock());
    otherwise();
  }

  Value zero(Type type) {
    return arith::ConstantOp::create(b, b.getZeroAttr(type));
  }
  Value broadcast(Value scalar, VectorType type) {
    return vector::BroadcastOp::create(b, type, scalar);
  }
  Value multiplyAdd(Value x, Value y, Value sum) {
    if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
      return math::FmaOp::create(b, x, y, sum);
    return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
  }
  Value sum(Value x, Value y) {
    if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
      return arith::AddFOp::create(b, x, y);
    return arith::AddIOp::create(b, x, y);
  }
  /// Transposes a square of vectors (a power of two of them) by swapping
  /// off-diagonal blocks, one shuffle per vector and stage.
  void transpose(MutableArrayRef<Value> lines) {
    int64_t n = lines.size();
    for (int64_t step = 1; step < n; step *= 2) {
      SmallVector<int64_t> first, second;
      for (int64_t j = 0; j < n; ++j) {
        first.push_back(j & step ? n + j - step : j);
        second.push_back(j & step ? n + j : j + step);
      }
      for (int64_t i = 0; i < n; ++i) {
        if (i & step)
          continue;
        Value x = lines[i], y = lines[i + step];
        lines[i] = vector::ShuffleOp::create(b, x, y, first);
        lines[i + step] = vector::ShuffleOp::create(b, x, y, second);
      }
    }
  }
  /// Sum of a vector's lanes by halves: the same order whatever the target.
  Value reduceLanes(Value v) {
    auto type = cast<VectorType>(v.getType());
    for (int64_t n = type.getNumElements(); n > 1; n /= 2) {
      SmallVector<int64_t> low, high;
      for (int64_t i = 0; i < n / 2; ++i)
        low.push_back(i), high.push_back(n / 2 + i);
      v = sum(vector::ShuffleOp::create(b, v, v, low),
              vector::ShuffleOp::create(b, v, v, high));
    }
    return vector::ExtractOp::create(b, v, ArrayRef<int64_t>{0});
  }
};
} // namespace

GemmTile GemmTile::choose(unsigned lanes, unsigned registers, int64_t rows,
                          int64_t columns, int64_t k, unsigned elementBytes) {
  GemmTile t;
  t.lanes = lanes;
  // Two vectors per row; three where that wastes fewer columns. One register
  // holds the broadcast, `vectors` the columns.
  t.vectors = columns >= 0 && columns <= int64_t(lanes) ? 1 : 2;
  unsigned most = (registers - 1 - t.vectors) / t.vectors;
  t.rows = std::min(most, 14u);
  if (rows >= 0) {
    // The tallest tile among those that fit nearly best.
    double best = 0;
    for (unsigned r = t.rows; r >= std::max(1u, t.rows / 2); --r) {
      double fit =
          rows == 0 ? 1.0 : double(rows) / double((rows + r - 1) / r * r);
      // A smaller tile loads more for each product.
      fit *= 1.0 - 0.15 / r;
      if (fit > best + 0.01)
        best = fit, t.rows = r;
    }
    if (rows > 0 && rows < int64_t(t.rows))
      t.rows = unsigned(rows);
  }
  // Packed columns should stay within half of a typical second-level cache.
  constexpr int64_t kCacheBytes = 512 << 10;
  int64_t panelBytes =
      std::max<int64_t>(1, k < 0 ? 1024 : k) * t.columns() * elementBytes;
  t.panels = unsigned(std::clamp<int64_t>(kCacheBytes / panelBytes, 1, 8));
  if (columns >= 0)
    t.panels = unsigned(std::clamp<int64_t>(
        (columns + t.columns() - 1) / t.columns(), 1, t.panels));
  return t;
}

static int64_t elementBytes(Type type) {
  return type.getIntOrFloatBitWidth() / 8;
}

int64_t GemmLoops::tileBytes() const {
  return (int64_t(tile.rows) * tile.columns() * elementBytes(accumulator) +
          63) /
         64 * 64;
}

int64_t GemmLoops::packedBytesPerK() const {
  return int64_t(tile.columnBlock()) * elementBytes(accumulator);
}

/// Packs columns [columnBegin, columnEnd) as panels: panel p holds, for each k,
/// tile.columns() elements side by side. Elements past columnEnd are arbitrary:
/// their sums are never stored.
static void packColumns(const GemmLoops &g, Loops &m, Value packed,
                        Value columnBegin, Value columnEnd) {
  unsigned lanes = g.tile.lanes, width = g.tile.columns();
  Type scalar = g.accumulator;
  Value last = m.sub(columnEnd, m.constant(1));
  Value zero = m.constant(0);
  if (g.fillLine) {
    m.loop(zero, g.k, 1, [&](Value kIndex) {
      g.fillLine(m.b, kIndex);
      m.loop(columnBegin, columnEnd, width, [&](Value column) {
        Value before = m.sub(column, columnBegin);
        Value from = m.element(g.line, scalar, before);
        Value to = m.element(packed, scalar,
                             m.add(arith::MulIOp::create(m.b, before, g.k),
                                   m.mul(kIndex, width)));
        auto type = VectorType::get({int64_t(lanes)}, scalar);
        for (unsigned v = 0; v < g.tile.vectors; ++v) {
          Value offset = m.constant(v * lanes);
          m.store(m.load(type, m.element(from, scalar, offset),
                         elementBytes(scalar)),
                  m.element(to, scalar, offset), elementBytes(scalar));
        }
      });
    });
    return;
  }
  m.loop(columnBegin, columnEnd, width, [&](Value column) {
    // The panel begins (column - columnBegin) * k elements in.
    Value panel =
        m.element(packed, scalar,
                  arith::MulIOp::create(m.b, m.sub(column, columnBegin), g.k));
    auto at = [&](Value kIndex, unsigned offset) {
      return m.element(panel, scalar, m.add(m.mul(kIndex, width), offset));
    };
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
                    at(kIndex, v * lanes), elementBytes(scalar));
          }
        });
      };
      m.branch(
          m.le(m.add(column, width), columnEnd), [&] { packVectors(true); },
          [&] { packVectors(false); });
      return;
    }
    if (!g.loadAlongK) {
      packByElement(zero);
      return;
    }
    // Squares of lanes x lanes, read along k and transposed in registers.
    Value kSquares = m.floorTo(g.k, lanes);
    for (unsigned v = 0; v < g.tile.vectors; ++v) {
      m.loop(zero, kSquares, lanes, [&](Value kIndex) {
        SmallVector<Value> lines;
        for (unsigned j = 0; j < lanes; ++j)
          lines.push_back(g.loadAlongK(
              m.b, kIndex, m.min(m.add(column, v * lanes + j), last)));
        m.transpose(lines);
        for (unsigned i = 0; i < lanes; ++i)
          m.store(lines[i], at(m.add(kIndex, i), v * lanes),
                  elementBytes(scalar));
      });
    }
    packByElement(kSquares);
  });
}

void GemmLoops::build(ImplicitLocOpBuilder &b, Value scratch, Value rowBegin,
                      Value rowEnd, Value columnBegin, Value columnEnd) const {
  Loops m{b};
  unsigned lanes = tile.lanes, width = tile.columns();
  auto vectorType = VectorType::get({int64_t(lanes)}, accumulator);
  Value tileMemory = scratch;
  Value packed = m.element(scratch, b.getI8Type(), m.constant(tileBytes()));
  packColumns(*this, m, packed, columnBegin, columnEnd);
  Value lastRow = m.sub(rowEnd, m.constant(1));
  Value zero = m.constant(0);
  m.loop(rowBegin, rowEnd, tile.rows, [&](Value row) {
    Value rowCount = m.min(m.constant(tile.rows), m.sub(rowEnd, row));
    SmallVector<Value> rowIndex;
    for (unsigned i = 0; i < tile.rows; ++i)
      rowIndex.push_back(i == 0 ? row : m.min(m.add(row, i), lastRow));
    auto columnLoop = [&](bool full) {
      m.loop(columnBegin, columnEnd, width, [&](Value column) {
        Value panel =
            m.element(packed, accumulator,
                      arith::MulIOp::create(b, m.sub(column, columnBegin), k));
        SmallVector<Value> sums(tile.rows * tile.vectors, m.zero(vectorType));
        sums = m.loop(zero, k, 1, sums, [&](Value kIndex, ValueRange carried) {
          SmallVector<Value> columnsAt, next(carried.begin(), carried.end());
          Value base = m.element(panel, accumulator, m.mul(kIndex, width));
          for (unsigned v = 0; v < tile.vectors; ++v)
            columnsAt.push_back(m.load(
                vectorType, m.element(base, accumulator, m.constant(v * lanes)),
                elementBytes(accumulator)));
          for (unsigned i = 0; i < tile.rows; ++i) {
            // A full tile reads at constant offsets from its first row; a
            // partial one repeats its last row.
            Value at = full ? m.add(row, i) : rowIndex[i];
            Value x = m.broadcast(loadRow(b, at, kIndex), vectorType);
            for (unsigned v = 0; v < tile.vectors; ++v) {
              Value &sum = next[i * tile.vectors + v];
              sum = m.multiplyAdd(x, columnsAt[v], sum);
            }
          }
          return next;
        });
        for (unsigned i = 0; i < tile.rows; ++i)
          for (unsigned v = 0; v < tile.vectors; ++v)
            m.store(sums[i * tile.vectors + v],
                    m.element(tileMemory, accumulator,
                              m.constant(int64_t(i) * width + v * lanes)),
                    elementBytes(accumulator));
        finish(b, tileMemory, row, rowCount, column,
               m.min(m.constant(width), m.sub(columnEnd, column)));
      });
    };
    m.branch(
        m.le(m.add(row, tile.rows), rowEnd), [&] { columnLoop(true); },
        [&] { columnLoop(false); });
  });
}

void DotLoops::build(ImplicitLocOpBuilder &b, Value row, Value columnBegin,
                     Value columnEnd) const {
  Loops m{b};
  auto vectorType = VectorType::get({int64_t(lanes)}, accumulator);
  Value zero = m.constant(0), kVectors = m.floorTo(k, lanes);
  auto block = [&](Value column, unsigned count) {
    // Two sets of sums hide the latency of the additions where there are few.
    unsigned sets = rows * count >= 8 ? 1 : 2;
    Value kPairs = sets == 2 ? m.floorTo(k, int64_t(2) * lanes) : kVectors;
    auto step = [&](Value kIndex, ValueRange carried, unsigned inSets) {
      SmallVector<Value> next(carried.begin(), carried.end());
      for (unsigned s = 0; s < inSets; ++s) {
        Value at = m.add(kIndex, int64_t(s) * lanes);
        SmallVector<Value> xs;
        for (unsigned r = 0; r < rows; ++r)
          xs.push_back(loadRow(b, m.add(row, r), at, /*vector=*/true));
        for (unsigned c = 0; c < count; ++c) {
          Value w = loadColumn(b, at, m.add(column, c), /*vector=*/true);
          for (unsigned r = 0; r < rows; ++r) {
            Value &sum = next[(s * rows + r) * count + c];
            sum = m.multiplyAdd(xs[r], w, sum);
          }
        }
      }
      return next;
    };
    SmallVector<Value> sums(sets * rows * count, m.zero(vectorType));
    sums = m.loop(zero, kPairs, int64_t(sets) * lanes, sums,
                  [&](Value kIndex, ValueRange carried) {
                    return step(kIndex, carried, sets);
                  });
    if (sets == 2)
      sums = m.loop(kPairs, kVectors, lanes, sums,
                    [&](Value kIndex, ValueRange carried) {
                      return step(kIndex, carried, 1);
                    });
    SmallVector<Value> scalars;
    for (unsigned i = 0; i < rows * count; ++i)
      scalars.push_back(m.reduceLanes(
          sets == 2 ? m.sum(sums[i], sums[rows * count + i]) : sums[i]));
    scalars =
        m.loop(kVectors, k, 1, scalars, [&](Value kIndex, ValueRange carried) {
          SmallVector<Value> next(carried.begin(), carried.end());
          for (unsigned r = 0; r < rows; ++r) {
            Value x = loadRow(b, m.add(row, r), kIndex, /*vector=*/false);
            for (unsigned c = 0; c < count; ++c)
              next[r * count + c] = m.multiplyAdd(
                  x, loadColumn(b, kIndex, m.add(column, c), /*vector=*/false),
                  next[r * count + c]);
          }
          return next;
        });
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < count; ++c)
        finish(b, scalars[r * count + c], m.add(row, r), m.add(column, c));
  };
  Value blocks = m.add(
      columnBegin, arith::MulIOp::create(
                       b,
                       arith::DivSIOp::create(b, m.sub(columnEnd, columnBegin),
                                              m.constant(columns)),
                       m.constant(columns)));
  m.loop(columnBegin, blocks, columns,
         [&](Value column) { block(column, columns); });
  m.loop(blocks, columnEnd, 1, [&](Value column) { block(column, 1); });
}
