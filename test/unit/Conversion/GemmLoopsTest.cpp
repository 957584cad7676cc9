//===- GemmLoopsTest.cpp - The loops of a product against plain ones ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/GemmLoops.h"
#include "Jit.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace luminal;
using namespace mlir;

namespace {

constexpr unsigned kLanes = 16;

/// The memory layout of the columns' operand.
enum class Columns { ByRow, ByColumn, Strided };

/// C[r, c] = sum R[r, k] C[k, c], all f32; sizes are read at run time from
/// `sizes` = {rows, columns, k}.
struct Gemm {
  using Run = void (*)(float *out, const float *r, const float *c,
                       const int64_t *sizes, void *scratch);
  int64_t scratch = 0, scratchPerK = 0; // set while jit is built
  Jit jit;
  Run run;

  Gemm(GemmTile tile, Columns layout, int64_t staticRows = -1,
       int64_t staticColumns = -1, int64_t staticK = -1,
       unsigned lanesAlongK = 4)
      : jit([&](ImplicitLocOpBuilder &b) {
          addFunction(b, "gemm", 5, [&](ValueRange a) {
            Type i64 = b.getI64Type(), f32 = b.getF32Type();
            auto constant = [&](int64_t v) -> Value {
              return arith::ConstantIntOp::create(b, i64, v);
            };
            auto size = [&](int i, int64_t known) -> Value {
              if (known >= 0)
                return constant(known);
              Value at = LLVM::GEPOp::create(b, a[3].getType(), i64, a[3],
                                             ArrayRef<LLVM::GEPArg>{i});
              return LLVM::LoadOp::create(b, i64, at);
            };
            GemmLoops g;
            g.accumulator = g.factor = f32;
            g.tile = tile;
            g.rows = size(0, staticRows), g.columns = size(1, staticColumns),
            g.k = size(2, staticK);
            auto element = [&](ImplicitLocOpBuilder &b, Value base, Value i,
                               Value stride, Value j) -> Value {
              Value linear = arith::AddIOp::create(
                  b, arith::MulIOp::create(b, i, stride), j);
              return LLVM::GEPOp::create(b, base.getType(), f32, base,
                                         ArrayRef<LLVM::GEPArg>{linear});
            };
            auto columnsAt = [&, layout](ImplicitLocOpBuilder &b, Value k,
                                         Value c) -> Value {
              if (layout == Columns::ByColumn)
                return element(b, a[2], c, g.k, k);
              if (layout == Columns::ByRow)
                return element(b, a[2], k, g.columns, c);
              Value two = constant(2); // every other element of a row
              return element(b, a[2], k,
                             arith::MulIOp::create(b, g.columns, two),
                             arith::MulIOp::create(b, c, two));
            };
            auto vectorType = VectorType::get({kLanes}, f32);
            g.loadRow = [&](ImplicitLocOpBuilder &b, Value r,
                            Value k) -> Value {
              return LLVM::LoadOp::create(b, f32, element(b, a[1], r, g.k, k),
                                          4);
            };
            g.loadColumn = [&](ImplicitLocOpBuilder &b, Value k,
                               Value c) -> Value {
              return LLVM::LoadOp::create(b, f32, columnsAt(b, k, c), 4);
            };
            auto vectorAt = [&](ImplicitLocOpBuilder &b, Value k,
                                Value c) -> Value {
              return LLVM::LoadOp::create(b, vectorType, columnsAt(b, k, c), 4);
            };
            if (layout == Columns::ByRow)
              g.loadColumns = [&, vectorAt](ImplicitLocOpBuilder &b, Value k,
                                            Value c, Value count) -> Value {
                if (!count)
                  return vectorAt(b, k, c);
                // Lanes from `count` on may lie outside of the operand.
                auto lanesType = VectorType::get({kLanes}, i64);
                SmallVector<int64_t> steps = llvm::to_vector(
                    llvm::seq<int64_t>(static_cast<int64_t>(kLanes)));
                Value lane = arith::ConstantOp::create(
                    b, DenseIntElementsAttr::get(lanesType, steps));
                Value end = vector::BroadcastOp::create(b, lanesType, count);
                Value mask = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                   lane, end);
                Value zero =
                    arith::ConstantOp::create(b, b.getZeroAttr(vectorType));
                return LLVM::MaskedLoadOp::create(
                    b, vectorType, columnsAt(b, k, c), mask, zero, 4);
              };
            if (layout == Columns::ByColumn)
              g.lanesAlongK = lanesAlongK,
              g.loadAlongK = [&, lanesAlongK](ImplicitLocOpBuilder &b, Value k,
                                              Value c) -> Value {
                auto type = VectorType::get({int64_t(lanesAlongK)}, f32);
                return LLVM::LoadOp::create(b, type, columnsAt(b, k, c), 4);
              };
            g.finish = [&](ImplicitLocOpBuilder &b, Value tile, Value row,
                           Value rowCount, Value column, Value count) {
              auto loop = [&](Value end, function_ref<void(Value)> body) {
                auto op = scf::ForOp::create(b, constant(0), end, constant(1));
                OpBuilder::InsertionGuard guard(b);
                b.setInsertionPointToStart(op.getBody());
                body(op.getInductionVar());
              };
              loop(rowCount, [&](Value i) {
                loop(count, [&](Value j) {
                  Value v = LLVM::LoadOp::create(
                      b, f32,
                      element(b, tile, i, constant(g.tile.columns()), j));
                  Value to =
                      element(b, a[0], arith::AddIOp::create(b, row, i),
                              g.columns, arith::AddIOp::create(b, column, j));
                  LLVM::StoreOp::create(b, v, to);
                });
              });
            };
            scratch = g.tileBytes(), scratchPerK = g.packedBytesPerK();
            auto blocks = scf::ForOp::create(b, constant(0), g.columns,
                                             constant(tile.columnBlock()));
            b.setInsertionPointToStart(blocks.getBody());
            Value begin = blocks.getInductionVar();
            Value end = arith::MinSIOp::create(
                b, g.columns,
                arith::AddIOp::create(b, begin, constant(tile.columnBlock())));
            g.build(b, a[4], constant(0), g.rows, begin, end);
            b.setInsertionPointAfter(blocks);
          });
        }) {
    run = jit.lookup<Run>("gemm");
  }
};

std::vector<float> random(size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(n);
  for (float &x : v)
    x = uniform(engine);
  return v;
}

void *aligned(std::vector<char> &memory, int64_t bytes) {
  memory.resize(bytes + 64);
  return reinterpret_cast<void *>(
      (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
}

TEST(GemmLoops, EveryRemainderOfEveryLayout) {
  for (Columns layout : {Columns::ByRow, Columns::ByColumn, Columns::Strided})
    for (GemmTile tile : {GemmTile{14, 2, kLanes, 2}, GemmTile{5, 1, kLanes, 1},
                          GemmTile{3, 3, kLanes, 3}}) {
      Gemm gemm(tile, layout);
      ASSERT_TRUE(gemm.run);
      for (int64_t rows : {0, 1, 3, 14, 31})
        for (int64_t columns : {0, 1, 15, 16, 33, 200})
          for (int64_t k : {0, 1, 15, 16, 50}) {
            int64_t sizes[] = {rows, columns, k};
            auto r = random(rows * k, 1), c = random(k * columns * 2 + 1, 2);
            std::vector<float> out(rows * columns + 1, 7.0f);
            std::vector<char> memory;
            gemm.run(out.data(), r.data(), c.data(), sizes,
                     aligned(memory, gemm.scratch + gemm.scratchPerK * k));
            for (int64_t i = 0; i < rows; ++i)
              for (int64_t j = 0; j < columns; ++j) {
                double exact = 0;
                for (int64_t x = 0; x < k; ++x)
                  exact += double(r[i * k + x]) *
                           (layout == Columns::ByRow ? c[x * columns + j]
                            : layout == Columns::ByColumn
                                ? c[j * k + x]
                                : c[x * columns * 2 + j * 2]);
                ASSERT_NEAR(out[i * columns + j], exact, 1e-5)
                    << rows << "x" << columns << "x" << k;
              }
            ASSERT_EQ(out.back(), 7.0f);
          }
    }
}

/// Dot products: R[rows, k] times C[columns, k] transposed.
TEST(DotLoops, EveryRemainder) {
  for (unsigned rows : {1u, 2u, 3u})
    for (unsigned columnsAtOnce : {1u, 4u}) {
      int64_t scratch = 0;
      Jit jit([&](ImplicitLocOpBuilder &b) {
        addFunction(b, "dot", 5, [&](ValueRange a) {
          Type i64 = b.getI64Type(), f32 = b.getF32Type();
          auto constant = [&](int64_t v) -> Value {
            return arith::ConstantIntOp::create(b, i64, v);
          };
          auto size = [&](int i) -> Value {
            Value at = LLVM::GEPOp::create(b, a[3].getType(), i64, a[3],
                                           ArrayRef<LLVM::GEPArg>{i});
            return LLVM::LoadOp::create(b, i64, at);
          };
          DotLoops d;
          d.accumulator = f32;
          d.lanes = kLanes, d.rows = rows, d.columns = columnsAtOnce;
          Value columns = size(0);
          d.k = size(1);
          auto at = [&](Value base, Value i, Value j, Value stride) -> Value {
            Value linear = arith::AddIOp::create(
                b, arith::MulIOp::create(b, i, stride), j);
            return LLVM::GEPOp::create(b, base.getType(), f32, base,
                                       ArrayRef<LLVM::GEPArg>{linear});
          };
          auto type = [&](bool vector) {
            return vector ? Type(VectorType::get({kLanes}, f32)) : f32;
          };
          d.loadRow = [&](ImplicitLocOpBuilder &b, Value r, Value k,
                          bool vector) -> Value {
            return LLVM::LoadOp::create(b, type(vector), at(a[1], r, k, d.k),
                                        4);
          };
          d.loadColumn = [&](ImplicitLocOpBuilder &b, Value k, Value c,
                             bool vector) -> Value {
            return LLVM::LoadOp::create(b, type(vector), at(a[2], c, k, d.k),
                                        4);
          };
          d.finish = [&](ImplicitLocOpBuilder &b, Value sum, Value r, Value c) {
            LLVM::StoreOp::create(b, sum, at(a[0], r, c, columns));
          };
          scratch = d.scratchBytes();
          d.build(b, a[4], constant(0), constant(0), columns);
        });
      });
      auto run = jit.lookup<void (*)(float *, const float *, const float *,
                                     const int64_t *, void *)>("dot");
      ASSERT_TRUE(run);
      for (int64_t columns : {0, 1, 3, 4, 9})
        for (int64_t k : {0, 1, 16, 31, 32, 70}) {
          int64_t sizes[] = {columns, k};
          auto r = random(rows * k, 1), c = random(columns * k, 2);
          std::vector<float> out(rows * columns + 1, 7.0f);
          std::vector<char> memory;
          run(out.data(), r.data(), c.data(), sizes, aligned(memory, scratch));
          for (unsigned i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j) {
              double exact = 0;
              for (int64_t x = 0; x < k; ++x)
                exact += double(r[i * k + x]) * c[j * k + x];
              ASSERT_NEAR(out[i * columns + j], exact, 1e-5);
            }
          ASSERT_EQ(out.back(), 7.0f);
        }
    }
}

} // namespace
