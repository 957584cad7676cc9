//===- BlockTile.cpp - Multiplies tiles by thread blocks ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockTile.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

/// Lines are padded by 16 bytes, so that consecutive lines begin in different
/// banks of shared memory.
int64_t BlockTile::getStride(int64_t, int64_t length) const {
  return length + 128 / getStored().getIntOrFloatBitWidth();
}

Value BlockTile::getPlace(Value line, Value inLine, int64_t stride) const {
  return e.add(e.mul(line, e.constant(stride)), inLine);
}

void BlockTile::forEach(ValueRange sums,
                        function_ref<void(Value, Value, Value)> body) const {
  for (auto [i, sum] : llvm::enumerate(sums))
    body(getRow(i), getColumn(i), sum);
}

SmallVector<BlockTile::Run> BlockTile::joinRow(ValueRange sums, unsigned number,
                                               unsigned) {
  SmallVector<Run> runs;
  for (auto [i, sum] : llvm::enumerate(sums))
    if (getRowNumber(i) == number)
      runs.push_back({getColumn(i), {sum}});
  return runs;
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// Converts a generic address to one of shared memory.
static Value toShared(ImplicitLocOpBuilder &b, Value address) {
  auto shared = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  return LLVM::AddrSpaceCastOp::create(b, shared, address);
}

namespace {
/// A tile of which each warp multiplies a part with mma.m16n8k16.
class TensorTile : public BlockTile {
public:
  TensorTile(Emitter &e, TileShape shape, Type element, Value thread,
             unsigned warps, unsigned warpColumns)
      : BlockTile(e, shape), element(element) {
    Value threads = e.constant(e.machine.warpThreads),
          warp = e.divU(thread, threads);
    inWarp = e.remU(thread, threads);
    group = e.divU(inWarp, e.constant(4));
    member = e.remU(inWarp, e.constant(4));
    rows = shape.rows / (warps / warpColumns);
    columns = shape.columns / warpColumns;
    firstRow = e.mul(e.divU(warp, e.constant(warpColumns)), e.constant(rows));
    firstColumn =
        e.mul(e.remU(warp, e.constant(warpColumns)), e.constant(columns));
  }

  Type getElement() const override { return element; }
  bool takesAcross() const override { return true; }

  SmallVector<Value> begin() override {
    Value zero = arith::ConstantOp::create(e.b, e.b.getF32FloatAttr(0));
    return SmallVector<Value>(countSums(), zero);
  }

  SmallVector<Value> multiply(ValueRange sums, TileOperand left,
                              TileOperand right) override {
    return multiplyBy(sums, right, [&](int64_t r, int64_t k) {
      return loadRows(left, r, k);
    });
  }

  /// A pair of accumulators of `from` is a pair of elements of the left
  /// operand, so terms need no exchange between threads.
  SmallVector<Value> multiplyTerms(ValueRange sums, const BlockTile &from,
                                   ValueRange terms, TileOperand,
                                   TileOperand right) override {
    if (terms.front().getType().isF32())
      return multiplySplit(sums, right, [&](int64_t r, int64_t k) {
        return getTerms(from, terms, r, k);
      });
    return multiplyBy(sums, right, [&](int64_t r, int64_t k) {
      return joinPairs(getTerms(from, terms, r, k));
    });
  }

  /// The smallest f16 is 2^-24, and precision is full only from 2^-14 on, so
  /// terms are scaled up.
  double getTermScale() const override { return element.isF16() ? 4096 : 1; }

  size_t countSums() const override { return rows / 16 * (columns / 8) * 4; }
  Value getRow(size_t sum) const override {
    int64_t row = sum / 4 / (columns / 8) * 16 + sum % 4 / 2 * 8;
    return e.add(firstRow, e.add(group, e.constant(row)));
  }
  Value getColumn(size_t sum) const override {
    int64_t column = sum / 4 % (columns / 8) * 8 + sum % 2;
    return e.add(firstColumn,
                 e.add(e.mul(member, e.constant(2)), e.constant(column)));
  }
  /// In a block of eight columns, each of four threads holds two columns.
  /// Neighbouring threads exchange halves of two such blocks, so that each
  /// thread then holds a run of twice the length in one of the blocks. The step
  /// is repeated for threads at distance two.
  SmallVector<Run> joinRow(ValueRange sums, unsigned number,
                           unsigned most) override {
    if (most < 2)
      return BlockTile::joinRow(sums, number, most);
    SmallVector<Run> runs;
    for (size_t i = 0; i < sums.size(); i += 2)
      if (getRowNumber(i) == number)
        runs.push_back({{}, {sums[i], sums[i + 1]}});
    unsigned distance = 1;
    for (; distance < 4; distance *= 2) {
      if (runs.size() % 2 || runs.front().sums.size() * 2 > most)
        break;
      Value isUpper = isSecond(distance);
      SmallVector<Run> joined;
      for (size_t i = 0; i < runs.size(); i += 2) {
        SmallVector<Value> lower, upper;
        for (auto [x, y] : llvm::zip_equal(runs[i].sums, runs[i + 1].sums)) {
          Value kept = arith::SelectOp::create(e.b, isUpper, y, x);
          Value got =
              exchange(arith::SelectOp::create(e.b, isUpper, x, y), distance);
          lower.push_back(arith::SelectOp::create(e.b, isUpper, got, kept));
          upper.push_back(arith::SelectOp::create(e.b, isUpper, kept, got));
        }
        llvm::append_range(lower, upper);
        joined.push_back({{}, lower});
      }
      runs = std::move(joined);
    }
    // Each thread holds a run of one out of `distance` neighbouring blocks.
    Value block = e.remU(member, e.constant(distance)),
          inBlock = e.divU(member, e.constant(distance));
    Value first = e.add(e.mul(block, e.constant(8)),
                        e.mul(inBlock, e.constant(2 * int64_t(distance))));
    for (auto [i, run] : llvm::enumerate(runs))
      run.column = e.add(firstColumn,
                         e.add(first, e.constant(8 * int64_t(distance * i))));
    return runs;
  }
  unsigned countRows() const override { return rows / 8; }
  unsigned getRowNumber(size_t sum) const override {
    return sum / 4 / (columns / 8) * 2 + sum % 4 / 2;
  }
  int64_t getLeastRow(unsigned number) const override { return number * 8; }
  unsigned getTeam() const override {
    assert(columns == shape.columns && "several warps have the same rows");
    return 4;
  }

protected:
  /// This thread's terms of 16 rows from `r` on and 16 steps of k from `k` on.
  static SmallVector<Value> getTerms(const BlockTile &from, ValueRange terms,
                                     int64_t r, int64_t k) {
    int64_t blocks = from.getShape().columns / 8;
    SmallVector<Value> own;
    for (int64_t i = 0; i < 4; ++i) {
      int64_t first = (r / 16 * blocks + k / 8 + i / 2) * 4 + i % 2 * 2;
      own.append({terms[first], terms[first + 1]});
    }
    return own;
  }
  SmallVector<Value> joinPairs(ArrayRef<Value> own) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < own.size(); i += 2)
      pairs.push_back(joinPair(own[i], own[i + 1]));
    return pairs;
  }

private:
  SmallVector<Value>
  multiplyBy(ValueRange sums, TileOperand right,
             function_ref<SmallVector<Value>(int64_t r, int64_t k)> getRows) {
    SmallVector<Value> next(sums);
    for (int64_t k = 0; k < shape.depth; k += 16) {
      SmallVector<std::array<Value, 2>> b;
      for (int64_t c = 0; c < columns; c += 16)
        loadColumns(right, c, k, b);
      for (int64_t r = 0; r < rows; r += 16) {
        SmallVector<Value> a = getRows(r, k);
        for (auto [j, pair] : llvm::enumerate(b))
          multiplyOne(a, pair, &next[(r / 16 * b.size() + j) * 4]);
      }
    }
    return next;
  }

  /// Splits each term into the sum of two f16 or three bf16 values. The
  /// remainder after the first value may be 0, and 0 times infinity is NaN. So
  /// only the first value is multiplied with the true elements; the others are
  /// multiplied with elements clamped to finite values, as the first product is
  /// infinite already.
  SmallVector<Value> multiplySplit(
      ValueRange sums, TileOperand right,
      function_ref<SmallVector<Value>(int64_t r, int64_t k)> getTerms) {
    unsigned parts = element.isF16() ? 2 : 3;
    Type f32 = e.b.getF32Type();
    Value scale = arith::ConstantOp::create(
        e.b, e.b.getF32FloatAttr(static_cast<float>(getTermScale())));
    SmallVector<Value> next(sums);
    for (int64_t k = 0; k < shape.depth; k += 16) {
      SmallVector<std::array<Value, 2>> b, finite;
      for (int64_t c = 0; c < columns; c += 16)
        loadColumns(right, c, k, b);
      for (auto [x, y] : b)
        finite.push_back({makeFinite(x), makeFinite(y)});
      for (int64_t r = 0; r < rows; r += 16) {
        SmallVector<Value> rest = getTerms(r, k);
        if (getTermScale() != 1)
          for (Value &v : rest)
            v = arith::MulFOp::create(e.b, v, scale);
        for (unsigned part = 0; part < parts; ++part) {
          SmallVector<Value> own;
          for (Value &v : rest) {
            Value narrow = emitCast(e.b, v, f32, element);
            own.push_back(e.toStorage(narrow, element));
            v = arith::SubFOp::create(e.b, v,
                                      emitCast(e.b, narrow, element, f32));
          }
          SmallVector<Value> a = joinPairs(own);
          for (auto [j, pair] : llvm::enumerate(part ? finite : b))
            multiplyOne(a, pair, &next[(r / 16 * b.size() + j) * 4]);
        }
      }
    }
    return next;
  }

  /// Clamps infinite elements of a pair to the largest finite value.
  Value makeFinite(Value pair) {
    auto type = VectorType::get({2}, element);
    const llvm::fltSemantics &semantics =
        cast<FloatType>(element).getFloatSemantics();
    auto bound = [&](bool isNegative) -> Value {
      return arith::ConstantOp::create(
          e.b, DenseElementsAttr::get(
                   type, llvm::APFloat::getLargest(semantics, isNegative)));
    };
    Value v = element.isF16() ? pair : LLVM::BitcastOp::create(e.b, type, pair);
    v = arith::MinNumFOp::create(e.b, v, bound(false));
    v = arith::MaxNumFOp::create(e.b, v, bound(true));
    return element.isF16() ? v
                           : LLVM::BitcastOp::create(e.b, e.b.getI32Type(), v);
  }

  /// The f32 value that was rounded to `v` (in its storage type), or null.
  Value getUnrounded(Value v) const {
    if (auto cast = v.getDefiningOp<arith::BitcastOp>())
      v = cast.getIn();
    Value wide;
    while (auto round = v.getDefiningOp<arith::TruncFOp>()) {
      if (round.getType() != element || !round.getIn().getType().isF32())
        break;
      wide = round.getIn();
      // The value was rounded earlier and widened again.
      auto widen = wide.getDefiningOp<arith::ExtFOp>();
      if (!widen)
        break;
      v = widen.getIn();
    }
    return wide;
  }

  /// Whether (i1) this thread is the upper one of a pair at this distance.
  Value isSecond(unsigned distance) {
    Value bit = arith::AndIOp::create(e.b, member, e.constant(distance));
    return arith::CmpIOp::create(e.b, arith::CmpIPredicate::ne, bit,
                                 e.constant(0));
  }
  /// The other thread's value.
  Value exchange(Value sum, unsigned distance) {
    auto number = [&](int32_t n) -> Value {
      return arith::ConstantOp::create(e.b, e.b.getI32IntegerAttr(n));
    };
    return NVVM::ShflOp::create(e.b, sum.getType(), number(-1), sum,
                                number(int32_t(distance)), number(31),
                                NVVM::ShflKind::bfly, UnitAttr());
  }

  /// Packs two stored elements for the instruction. If both were rounded from
  /// f32, they are rounded by one instruction.
  Value joinPair(Value x, Value y) {
    Value first = getUnrounded(x), second = getUnrounded(y), v;
    if (first && second) {
      Type wide = VectorType::get({2}, first.getType());
      v = vector::FromElementsOp::create(e.b, wide, ValueRange{first, second});
      v = arith::TruncFOp::create(e.b, VectorType::get({2}, element), v);
    } else {
      Type pair = VectorType::get({2}, getStored());
      v = vector::FromElementsOp::create(e.b, pair, ValueRange{x, y});
    }
    if (element.isF16())
      return v;
    return LLVM::BitcastOp::create(e.b, e.b.getI32Type(), v);
  }

  /// Loads `count` blocks of 8 x 8 elements with ldmatrix. This thread provides
  /// the address of the line at (own, k).
  SmallVector<Value> loadBlocks(TileOperand from, Value own, Value k,
                                int count) {
    ImplicitLocOpBuilder &b = e.b;
    Value line = from.isAlongK ? own : k, inLine = from.isAlongK ? k : own;
    Value at = getPlace(line, inLine, from.stride);
    Value address = toShared(b, e.address(from.memory, at, getStored()));
    Type i32 = b.getI32Type();
    auto words = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(count, i32));
    std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" +
                       std::to_string(count) +
                       (from.isAlongK ? ".b16.p3" : ".trans.b16.p3");
    auto call = LLVM::CallIntrinsicOp::create(
        b, Type(words), b.getStringAttr(name), ValueRange{address});
    SmallVector<Value> blocks;
    for (int64_t i = 0; i < count; ++i) {
      Value block = LLVM::ExtractValueOp::create(b, call.getResults(), i);
      if (element.isF16())
        block =
            LLVM::BitcastOp::create(b, VectorType::get({2}, element), block);
      blocks.push_back(block);
    }
    return blocks;
  }
  /// Loads 16 rows from `r` on: two blocks of rows at `k`, then two at k + 8.
  SmallVector<Value> loadRows(TileOperand from, int64_t r, int64_t k) {
    Value row = e.add(e.remU(inWarp, e.constant(16)), e.constant(r));
    Value along = e.mul(e.divU(inWarp, e.constant(16)), e.constant(8));
    return loadBlocks(from, e.add(firstRow, row), e.add(along, e.constant(k)),
                      4);
  }
  /// Loads 16 columns from `c` on, or 8 if the warp has no more: two blocks
  /// along k for each 8 columns.
  void loadColumns(TileOperand from, int64_t c, int64_t k,
                   SmallVectorImpl<std::array<Value, 2>> &pairs) {
    Value inBlock = e.remU(inWarp, e.constant(8));
    Value second = e.mul(e.remU(e.divU(inWarp, e.constant(8)), e.constant(2)),
                         e.constant(8));
    // The thread provides the address of a line along columns or along k.
    Value column = from.isAlongK ? inBlock : e.constant(0);
    Value along = from.isAlongK ? second : e.add(inBlock, second);
    int count = columns - c >= 16 ? 4 : 2;
    if (count == 4)
      column =
          e.add(column, e.mul(e.divU(inWarp, e.constant(16)), e.constant(8)));
    SmallVector<Value> blocks =
        loadBlocks(from, e.add(firstColumn, e.add(column, e.constant(c))),
                   e.add(along, e.constant(k)), count);
    for (int i = 0; i < count; i += 2)
      pairs.push_back({blocks[i], blocks[i + 1]});
  }

  void multiplyOne(ArrayRef<Value> a, ArrayRef<Value> b, Value *sums) {
    SmallVector<Value> args(a);
    llvm::append_range(args, b);
    args.append(sums, sums + 4);
    Type f32 = e.b.getF32Type();
    auto result = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                                   {f32, f32, f32, f32});
    StringRef name = element.isF16() ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                                     : "llvm.nvvm.mma.m16n8k16.row.col.bf16";
    auto call = LLVM::CallIntrinsicOp::create(e.b, Type(result),
                                              e.b.getStringAttr(name), args);
    for (int64_t i = 0; i < 4; ++i)
      sums[i] = LLVM::ExtractValueOp::create(e.b, call.getResults(), i);
  }

protected:
  Type element;

private:
  Value inWarp, group, member;
  /// Rows and columns of the warp's part of the tile.
  int64_t rows, columns;
  Value firstRow, firstColumn;
};

/// A tile of which each group of four warps multiplies 64 rows with
/// wgmma.m64nNk16. Accumulators are assigned to threads as by mma. Right
/// operands are read from shared memory, where lines are divided into runs of
/// eight elements (16 bytes).
///
/// Lines that are a multiple of 128 bytes (all banks) use the 128-byte swizzle.
/// They are cut into blocks of 128 bytes; a block of all lines follows the
/// other, and the position of a run in its block is XORed with the number of
/// the line. So vectors that neighbouring threads copy are adjacent in shared
/// memory, and runs that are read together are in different banks. (Without it
/// each run was a separate request to L2: a product took 3.5 times as long on
/// an H200.) For other lengths there is no swizzle: the same runs of all lines
/// are adjacent, and the next runs follow after 16 bytes of padding.
class WarpGroupTile : public TensorTile {
public:
  WarpGroupTile(Emitter &e, TileShape shape, Type element, Value thread,
                unsigned warps)
      : TensorTile(e, shape, element, thread, warps, /*warpColumns=*/1),
        firstOfGroup(e.mul(e.divU(thread, e.constant(kGroupThreads)),
                           e.constant(kGroupRows))) {}

  /// The distance in elements from one block to the next if the layout is
  /// swizzled (isSwizzled), else from one run of a line to the next.
  int64_t getStride(int64_t lines, int64_t length) const override {
    return length % kBlock == 0 ? lines * kBlock : (lines + 1) * kRun;
  }
  int64_t countElements(int64_t lines, int64_t length) const override {
    return length % kBlock == 0 ? lines * length
                                : length / kRun * getStride(lines, length);
  }
  Value getPlace(Value line, Value inLine, int64_t stride) const override {
    Value inRun = e.remU(inLine, e.constant(kRun));
    if (!isSwizzled(stride)) {
      Value run = e.mul(e.divU(inLine, e.constant(kRun)), e.constant(stride));
      return e.add(run, e.add(e.mul(line, e.constant(kRun)), inRun));
    }
    Value block = e.mul(e.divU(inLine, e.constant(kBlock)), e.constant(stride));
    Value run = e.divU(e.remU(inLine, e.constant(kBlock)), e.constant(kRun));
    run = arith::XOrIOp::create(e.b, run, e.remU(line, e.constant(kLines)));
    return e.add(e.add(block, e.mul(line, e.constant(kBlock))),
                 e.add(e.mul(run, e.constant(kRun)), inRun));
  }

  SmallVector<Value> multiply(ValueRange sums, TileOperand left,
                              TileOperand right) override {
    return multiplyAll(sums, describeSteps(left), /*isInRegisters=*/false,
                       right, /*waits=*/true);
  }
  SmallVector<Value> multiplyBeside(ValueRange sums, TileOperand left,
                                    TileOperand right,
                                    function_ref<void()> meanwhile) override {
    SmallVector<Value> next =
        multiplyAll(sums, describeSteps(left), /*isInRegisters=*/false, right,
                    /*waits=*/false);
    meanwhile();
    emitPTX(e.b, "wgmma.wait_group.sync.aligned 0;");
    return next;
  }
  SmallVector<Value> start(ValueRange sums, TileOperand left,
                           TileOperand right) override {
    return multiplyAll(sums, describeSteps(left), /*isInRegisters=*/false,
                       right, /*waits=*/false);
  }
  SmallVector<Value> pack(const BlockTile &from, ValueRange terms) override {
    SmallVector<Value> lefts;
    for (int64_t k = 0; k < shape.depth; k += 16)
      for (Value pair : joinPairs(getTerms(from, terms, 0, k))) {
        Type i32 = e.b.getI32Type();
        lefts.push_back(pair.getType() == i32
                            ? pair
                            : Value(LLVM::BitcastOp::create(e.b, i32, pair)));
      }
    return lefts;
  }
  SmallVector<Value> startTerms(ValueRange sums, ValueRange packed,
                                TileOperand right) override {
    return multiplyAll(sums, llvm::to_vector(packed), /*isInRegisters=*/true,
                       right, /*waits=*/false);
  }
  void wait(unsigned running) override {
    emitPTX(e.b,
            "wgmma.wait_group.sync.aligned " + std::to_string(running) + ";");
  }
  /// Emits a branch that depends on the values: `ptxas` does not move
  /// instructions with side effects across it. It skips a short sleep unless
  /// the bitwise and of all values is -1, which does not happen.
  void holdBack(ValueRange values) override {
    std::string text = "{\n.reg .pred p;\n.reg .b32 x;\nmov.b32 x, -1;\n";
    std::string constraints;
    for (auto [i, v] : llvm::enumerate(values)) {
      text += "and.b32 x, x, $" + std::to_string(i) + ";\n";
      constraints += "r,";
    }
    text += "setp.ne.u32 p, x, -1;\nvote.sync.all.pred p, p, -1;\n"
            "@p bra done;\nnanosleep.u32 32;\ndone:\n}";
    SmallVector<Value> words;
    for (Value v : values)
      words.push_back(
          v.getType() == e.b.getI32Type()
              ? v
              : Value(LLVM::BitcastOp::create(e.b, e.b.getI32Type(), v)));
    emitPTX(e.b, text, words, constraints + "~{memory}");
  }
  /// An empty asm that redefines the values, so that no use of them moves
  /// before the wait.
  SmallVector<Value> settle(ValueRange sums) override {
    std::string constraints;
    for (Value v : sums)
      constraints += isa<FloatType>(v.getType()) ? "=f," : "=r,";
    for (size_t i = 0; i < sums.size(); ++i)
      constraints += std::to_string(i) + ",";
    return emitPTX(e.b, "", sums, constraints + "~{memory}",
                   llvm::to_vector(sums.getTypes()));
  }

  SmallVector<Value> multiplyTerms(ValueRange sums, const BlockTile &from,
                                   ValueRange terms, TileOperand,
                                   TileOperand right) override {
    return multiplyAll(sums, pack(from, terms), /*isInRegisters=*/true, right,
                       /*waits=*/true);
  }

private:
  static constexpr int64_t kRun = 8, kGroupRows = 64, kGroupThreads = 128;
  /// Elements in 128 bytes, and the number of lines after which the swizzle
  /// repeats.
  static constexpr int64_t kBlock = 64, kLines = 8;
  /// The size of eight lines of one run, in units of 16 bytes.
  static constexpr int64_t kBrick = 8;

  /// The number of lines is a multiple of eight, so a swizzled stride is a
  /// multiple of kBlock.
  static bool isSwizzled(int64_t stride) { return stride % kBlock == 0; }

  /// The matrix descriptor of an operand from line `first` on: start address
  /// and the two byte offsets in units of 16 bytes, and the swizzle mode.
  Value describe(TileOperand from, Value first) {
    ImplicitLocOpBuilder &b = e.b;
    Type i64 = b.getI64Type();
    int64_t line = isSwizzled(from.stride) ? kBlock : kRun;
    Value begin =
        e.address(from.memory, e.mul(first, e.constant(line)), getStored());
    Value address = LLVM::PtrToIntOp::create(b, i64, toShared(b, begin));
    Value units = arith::ShRUIOp::create(
        b, arith::AndIOp::create(b, address, e.constant(0x3ffff)),
        e.constant(4));
    int64_t runs = from.stride / kRun, lesser = 0, greater = 0, swizzle = 0;
    if (isSwizzled(from.stride)) {
      // The offset from eight lines to the next eight and, if lines do not run
      // along k, from one block to the next.
      swizzle = int64_t(1) << 62;
      lesser = from.isAlongK ? 1 : runs;
      greater = kLines * kBlock / kRun;
    } else {
      // The offsets along k and along the operand's own dim.
      lesser = from.isAlongK ? runs : kBrick;
      greater = from.isAlongK ? kBrick : runs;
    }
    Value all = arith::OrIOp::create(
        b, units, e.constant(swizzle | lesser << 16 | greater << 32));
    return from.units ? e.add(all, from.units) : all;
  }
  /// The descriptor for step `k`.
  Value advance(Value descriptor, TileOperand from, int64_t k) {
    int64_t runs = from.stride / kRun, steps = 0;
    if (!isSwizzled(from.stride))
      steps = from.isAlongK ? k / kRun * runs : k;
    else if (from.isAlongK)
      steps = k / kBlock * runs + k % kBlock / kRun;
    else
      steps = k * (kBlock / kRun);
    return e.add(descriptor, e.constant(steps));
  }

  /// The descriptors of the left operand for each instruction.
  SmallVector<Value> describeSteps(TileOperand left) {
    Value descriptor = describe(left, firstOfGroup);
    SmallVector<Value> steps;
    for (int64_t k = 0; k < shape.depth; k += 16)
      steps.push_back(advance(descriptor, left, k));
    return steps;
  }

  /// Emits the instructions of all steps of k as one asm, so that nothing
  /// accesses the accumulators before all of them are issued, or before the
  /// caller waits.
  SmallVector<Value> multiplyAll(ValueRange sums, ArrayRef<Value> lefts,
                                 bool isInRegisters, TileOperand right,
                                 bool waits) {
    size_t count = sums.size();
    int64_t steps = shape.depth / 16;
    std::string text = "{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"
                       "wgmma.fence.sync.aligned;\n";
    std::string result;
    for (size_t i = 0; i < count; ++i)
      result += (i ? ", $" : "$") + std::to_string(i);
    StringRef type = element.isF16() ? "f16" : "bf16";
    Value descriptor = describe(right, e.constant(0));
    SmallVector<Value> args(sums);
    std::string constraints;
    // The results are early-clobber: otherwise a zero among the inputs might
    // share a register with an accumulator that starts at 0.
    for (size_t i = 0; i < count; ++i)
      constraints += "=&f,";
    for (size_t i = 0; i < count; ++i)
      constraints += std::to_string(i) + ",";
    auto addArg = [&](Value v, StringRef constraint) {
      args.push_back(v);
      constraints += constraint.str() + ",";
      return "$" + std::to_string(count + args.size() - 1);
    };
    size_t perStep = isInRegisters ? 4 : 1;
    for (int64_t step = 0; step < steps; ++step) {
      std::string left;
      for (Value v : lefts.slice(step * perStep, perStep))
        left +=
            (left.empty() ? "" : ", ") + addArg(v, isInRegisters ? "r" : "l");
      text +=
          "wgmma.mma_async.sync.aligned.m64n" + std::to_string(shape.columns) +
          "k16.f32." + type.str() + "." + type.str() + " {" + result + "}, " +
          (isInRegisters ? "{" + left + "}" : left) + ", " +
          addArg(advance(descriptor, right, 16 * step), "l") + ", p, 1, 1, " +
          (isInRegisters ? "" : "0, ") + (right.isAlongK ? "0" : "1") + ";\n";
    }
    text += "wgmma.commit_group.sync.aligned;\n";
    if (waits)
      text += "wgmma.wait_group.sync.aligned 0;\n";
    return emitPTX(e.b, text + "}", args, constraints + "~{memory}",
                   SmallVector<Type>(count, e.b.getF32Type()));
  }

  /// The first row of the group of four warps.
  Value firstOfGroup;
};

//===----------------------------------------------------------------------===//
// FMA
//===----------------------------------------------------------------------===//

/// A tile of 16 by 16 threads; each has every 16th row and column.
class PlainTile : public BlockTile {
public:
  PlainTile(Emitter &e, TileShape shape, Type element, Value thread)
      : BlockTile(e, shape), element(element),
        row(e.divU(thread, e.constant(16))),
        column(e.remU(thread, e.constant(16))), rows(shape.rows / 16),
        columns(shape.columns / 16) {}

  Type getElement() const override { return element; }
  bool takesAcross() const override { return false; }

  SmallVector<Value> begin() override {
    Value zero = arith::ConstantOp::create(e.b, e.b.getZeroAttr(element));
    return SmallVector<Value>(rows * columns, zero);
  }

  SmallVector<Value> multiply(ValueRange sums, TileOperand left,
                              TileOperand right) override {
    unsigned lanes = 128 / element.getIntOrFloatBitWidth();
    return e.forLoop(e.constant(0), e.constant(shape.depth), e.constant(lanes),
                     sums, [&](Value k, ValueRange carried) {
                       SmallVector<Value> next(carried), a, b;
                       for (int64_t i = 0; i < rows; ++i)
                         a.push_back(loadVector(left, row, i, k, lanes));
                       for (int64_t j = 0; j < columns; ++j)
                         b.push_back(loadVector(right, column, j, k, lanes));
                       for (unsigned l = 0; l < lanes; ++l)
                         for (int64_t i = 0; i < rows; ++i)
                           for (int64_t j = 0; j < columns; ++j)
                             take(next[i * columns + j], at(a[i], l),
                                  at(b[j], l));
                       return next;
                     });
  }

  /// Terms are exchanged between threads through `room`.
  SmallVector<Value> multiplyTerms(ValueRange sums, const BlockTile &from,
                                   ValueRange terms, TileOperand room,
                                   TileOperand right) override {
    NVVM::Barrier0Op::create(e.b);
    from.forEach(terms, [&](Value row, Value column, Value term) {
      Value at = e.add(e.mul(row, e.constant(room.stride)), column);
      LLVM::StoreOp::create(e.b, term, e.address(room.memory, at, getStored()));
    });
    NVVM::Barrier0Op::create(e.b);
    return multiply(sums, room, right);
  }

  size_t countSums() const override { return rows * columns; }
  Value getRow(size_t sum) const override {
    return e.add(row, e.constant(16 * int64_t(sum / columns)));
  }
  Value getColumn(size_t sum) const override {
    return e.add(column, e.constant(16 * int64_t(sum % columns)));
  }
  unsigned countRows() const override { return rows; }
  unsigned getRowNumber(size_t sum) const override { return sum / columns; }
  int64_t getLeastRow(unsigned number) const override { return number * 16; }
  unsigned getTeam() const override { return 16; }

private:
  Value loadVector(TileOperand from, Value first, int64_t i, Value k,
                   unsigned lanes) {
    Value line = e.add(first, e.constant(16 * i));
    Value position = e.add(e.mul(line, e.constant(from.stride)), k);
    return LLVM::LoadOp::create(e.b, VectorType::get({lanes}, element),
                                e.address(from.memory, position, element), 16);
  }
  Value at(Value v, unsigned l) {
    return vector::ExtractOp::create(e.b, v, int64_t(l));
  }
  void take(Value &sum, Value x, Value y) {
    if (isa<FloatType>(element))
      sum = math::FmaOp::create(e.b, x, y, sum);
    else
      sum = arith::AddIOp::create(e.b, sum, arith::MulIOp::create(e.b, x, y));
  }

  Type element;
  Value row, column;
  /// Rows and columns of the thread.
  int64_t rows, columns;
};
} // namespace

void luminal::emitSharedFence(Emitter &e) {
  emitPTX(e.b, "fence.proxy.async.shared::cta;");
}

std::unique_ptr<BlockTile> luminal::makeTensorTile(Emitter &e, TileShape shape,
                                                   Type element, Value thread,
                                                   unsigned warps,
                                                   unsigned warpColumns) {
  return std::make_unique<TensorTile>(e, shape, element, thread, warps,
                                      warpColumns);
}

std::unique_ptr<BlockTile>
luminal::makeWarpGroupTile(Emitter &e, TileShape shape, Type element,
                           Value thread, unsigned warps) {
  return std::make_unique<WarpGroupTile>(e, shape, element, thread, warps);
}

std::unique_ptr<BlockTile> luminal::makePlainTile(Emitter &e, TileShape shape,
                                                  Type element, Value thread) {
  return std::make_unique<PlainTile>(e, shape, element, thread);
}
