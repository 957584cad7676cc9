//===- Emitter.h - A kernel's body, element by element --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns "the element of this value at this index" into scalar or vector code by
// walking the body of a kernel. An index is a list of expressions over *dims*:
// the indices of the loops around the point of emission, and elements that
// were loaded as indices. Expressions stay symbolic until an address is
// needed, so that views cost what their composed map costs; an address that is
// linear in the vectorised dim becomes one scalar load, one vector load or a
// strided one.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_EMITTER_H
#define LUMINAL_LIB_CONVERSION_EMITTER_EMITTER_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal {

/// One expression over dims for each dim of a tensor.
using Index = std::vector<Expr>;

/// The type a kernel computes an element in: storage types are their bits.
mlir::Type getComputeType(mlir::Type element);
/// The type of an element in memory.
mlir::Type getStorageType(mlir::Type element);

/// Memory read, or an index turned to data, on the way to an element.
struct Leaf {
  /// The block argument read; null where the expression itself is the element.
  mlir::BlockArgument argument;
  /// Row-major position in the argument, or the element.
  Expr address;
};

class Emitter {
public:
  using SymbolRanges = std::map<std::string, SymbolRange>;

  /// `b` inserts into the function's entry block; `buffers` are the base
  /// addresses of operands, then results; `symbols` the values of symbols
  /// (i64). `lanes` is the maximum number of 32-bit elements in a vector (1:
  /// scalar code only), `registers` the number of vector registers.
  Emitter(mlir::ImplicitLocOpBuilder &b, llir::KernelOp kernel,
          SymbolRanges ranges, llvm::ArrayRef<mlir::Value> buffers,
          std::map<std::string, mlir::Value> symbols, unsigned lanes,
          unsigned registers);

  mlir::ImplicitLocOpBuilder &b;
  llir::KernelOp kernel;
  const unsigned maxLanes;
  const unsigned vectorRegisters;

  //===--------------------------------------------------------------------===//
  // Dims and symbols
  //===--------------------------------------------------------------------===//

  /// A new dim with 0 <= d < extent; its value (i64) is set by `setDim`.
  unsigned addDim(const Expr &extent);
  void setDim(unsigned dim, mlir::Value value) { dims[dim].value = value; }
  const Assumptions &getAssumptions() const { return assumptions; }
  /// The ranges of symbols, without dims: for questions about sizes.
  const SymbolRanges &getRanges() const { return assumptions.getSymbols(); }
  Expr simplify(const Expr &e) const { return assumptions.simplify(e); }

  /// The value of an expression that is the same in all lanes, as an i64.
  mlir::Value value(const Expr &e);
  /// The value in each lane.
  mlir::Value laneValues(const Expr &e);
  mlir::Value constant(int64_t v);

  //===--------------------------------------------------------------------===//
  // Lanes
  //===--------------------------------------------------------------------===//

  /// The dim whose consecutive values are the lanes of vectors. Its value is
  /// that of lane 0. With `count`, only the first `count` lanes (1 <= count)
  /// are there: others read and write nothing.
  struct Lane {
    unsigned dim = 0;
    unsigned width = 1;
    mlir::Value count;
    mlir::Value mask;
  };
  void setLane(unsigned dim, unsigned width, mlir::Value count = {});
  void clearLane() { lane = Lane(); }
  const Lane &getLane() const { return lane; }
  bool isVector() const { return lane.width > 1; }
  /// `v` in every lane (as it is where lanes are off or it is a vector).
  mlir::Value spread(mlir::Value v);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// The element of `v`, a value of the kernel's body, at `index`. A scalar
  /// where it is the same in all lanes.
  mlir::Value emit(mlir::Value v, const Index &index);
  /// From here to the end of the memo scope, the element of `v` at `index` is
  /// `element`.
  void remember(mlir::Value v, const Index &index, mlir::Value element);
  /// Writes `element` to result `number` at `index`.
  void store(unsigned number, const Index &index, mlir::Value element);
  /// Reads an element of argument `number` at a row-major position.
  mlir::Value load(unsigned number, const Expr &address);
  /// Writes and reads at a position of result `number`.
  void storeAt(unsigned number, const Expr &address, mlir::Value element);
  mlir::Value loadResult(unsigned number, const Expr &address);

  /// Calls `visit` for every leaf below `v` at `index`. Elements that serve as
  /// indices, and reduced indices, are new dims without a value.
  void walk(mlir::Value v, const Index &index,
            llvm::function_ref<void(const Leaf &)> visit);
  /// Whether the element differs between lanes (true also where that cannot be
  /// told).
  bool variesOverLanes(mlir::Value v, const Index &index);

  /// `index` within [0, extent); where it is not, the kernel's status becomes 1
  /// and the index 0. `guarded`: the caller uses no index that was outside.
  mlir::Value emitRangeCheck(mlir::Value index, const Expr &extent,
                             bool guarded = false);
  /// Status of the kernel so far, an i32.
  mlir::Value getStatus();
  /// Whether (i1) the kernel, given work, would take rows of a tensor that has
  /// none: it must not run then, and its status is 1. Nothing where that cannot
  /// be. To be called once all code is there, at the end of the entry.
  std::optional<mlir::Value> emitRefusal();
  /// Code made while one of these lives runs once for each index of a space of
  /// these extents: not at all if one of them is 0.
  class Repeated {
  public:
    Repeated(Emitter &e, std::vector<Expr> extents) : e(e) {
      e.repeats.push_back(product(extents));
    }
    ~Repeated() { e.repeats.pop_back(); }

  private:
    Emitter &e;
  };

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// Elements remembered inside end with it. One for each region.
  class MemoScope {
  public:
    explicit MemoScope(Emitter &e) : e(e) { e.memo.emplace_back(); }
    ~MemoScope() { e.memo.pop_back(); }

  private:
    Emitter &e;
  };

  /// for (iv = lo; iv < hi; iv += step), values carried.
  llvm::SmallVector<mlir::Value>
  forLoop(mlir::Value lo, mlir::Value hi, mlir::Value step,
          mlir::ValueRange init,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                            mlir::ValueRange)>
              body);
  void forLoop(mlir::Value lo, mlir::Value hi, mlir::Value step,
               llvm::function_ref<void(mlir::Value)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  llvm::SmallVector<mlir::Value>
  ifElse(mlir::Value condition, mlir::TypeRange types,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise);

  /// Runs `body` for every index of `dim` in [lo, hi), `width` lanes at a time:
  /// a loop of whole vectors, then the rest under a mask.
  void laneLoop(unsigned dim, mlir::Value lo, mlir::Value hi, unsigned width,
                llvm::function_ref<void()> body);

  /// The reduction of `element(k)` over k in [0, extent), in code at this
  /// point. Lanes run over k where they are free and `overLanes` allows it.
  mlir::Value emitReduction(llir::ReduceKind kind, mlir::Type element,
                            const Expr &extent, bool varies, unsigned unroll,
                            llvm::function_ref<mlir::Value(const Expr &)> body);

  /// Integer arithmetic on i64.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value divU(mlir::Value x, mlir::Value y);
  mlir::Value remU(mlir::Value x, mlir::Value y);
  mlir::Value minS(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);

  /// Address of element `index` (i64) of elements of `type` after `base`.
  mlir::Value address(mlir::Value base, mlir::Value index, mlir::Type type);

  /// Between an element as memory holds it and as it is computed with.
  mlir::Value fromStorage(mlir::Value v, mlir::Type element);
  mlir::Value toStorage(mlir::Value v, mlir::Type element);

  /// What must hold of the symbols for the arithmetic of indices to stay in 64
  /// bits.
  llvm::SmallVector<Requirement> requirements;

  /// Reports an error at `op`, once.
  void fail(mlir::Operation *op, const llvm::Twine &what);
  /// True once an error was reported: the function must be thrown away.
  bool failed = false;

  /// Vector (or scalar) of `element` in the lanes that are set.
  mlir::Type laneType(mlir::Type element) const;

private:
  struct Dim {
    Expr extent;
    mlir::Value value;
    /// Set where the lanes differ in another way than lane + i.
    mlir::Value lanes;
  };
  struct Remembered {
    Index index;
    mlir::Value element;
  };
  struct Memo {
    llvm::DenseMap<mlir::Value, llvm::SmallVector<Remembered, 1>> elements;
  };

  /// The element that is remembered, or null.
  mlir::Value lookUp(mlir::Value v, const Index &index) const;
  /// Of an op other than a view; what an elementwise op reads is remembered.
  mlir::Value emitNew(mlir::Value v, const Index &index);
  mlir::Value emitGather(llir::GatherOp op, const Index &index);
  mlir::Value emitIota(llir::IotaOp op, const Index &index);
  mlir::Value emitElementwise(llir::ElementwiseOp op, const Index &index);
  mlir::Value emitConstant(llir::ConstantOp op);
  /// fail, and a stand-in that keeps the function well formed.
  mlir::Value failValue(mlir::Operation *op, const llvm::Twine &what,
                        mlir::Type element);
  Index mapIndex(hlir::MapAttr map, const Index &index);
  /// Fails where the code of `e` may overflow or divide by zero.
  void checkArithmetic(const Expr &e);

  bool isLaneDim(unsigned dim) const;
  bool usesLanes(const Expr &e) const;
  mlir::Value loadFrom(mlir::Value base, mlir::Type element,
                       const Expr &address, bool invariant);
  void storeTo(mlir::Value base, mlir::Type element, const Expr &address,
               mlir::Value v);
  mlir::Value loadScalar(mlir::Value base, mlir::Value index,
                         mlir::Type storage, bool invariant);
  mlir::Value laneIndices();
  /// Lane l's index, or that of the last lane there is.
  mlir::Value clampLane(unsigned l);
  mlir::Value horizontal(llir::ReduceKind kind, mlir::Value v);
  mlir::Value combine(llir::ReduceKind kind, mlir::Value x, mlir::Value y);
  mlir::Value initial(llir::ReduceKind kind, mlir::Type type);

  Assumptions assumptions;
  std::vector<Expr> extents;
  std::vector<Dim> dims;
  std::map<std::string, mlir::Value> symbols;
  llvm::SmallVector<mlir::Value> buffers;
  mlir::Value status;
  /// Extents of the loops around the point of emission, and where they are not
  /// 0, extents that must not be 0 either.
  std::vector<Expr> repeats;
  llvm::SmallVector<std::pair<Expr, Expr>> demands;
  Lane lane;
  std::vector<Memo> memo;
  /// Calls of `emit` inside of each other.
  unsigned nesting = 0;
  /// Expressions that checkArithmetic has seen, and how often their code runs.
  std::set<std::pair<Expr, Expr>> checkedExprs;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_EMITTER_H
