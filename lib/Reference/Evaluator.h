//===- Evaluator.h - Values of a program while it is evaluated ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is a node that gives its elements in row-major order. Most nodes hold
// a tensor. An elementwise op, view or iota whose users all read it in order,
// and finally for one op, stays a recipe and is computed when it is read, a
// chunk at a time: the factors of a matrix product, and the comparisons of all
// pairs for a sort, are never materialised.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_REFERENCE_EVALUATOR_H
#define LUMINAL_LIB_REFERENCE_EVALUATOR_H

#include "IndexMap.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/DenseMap.h"

namespace luminal::reference {

class Sums;

/// Number of elements computed at a time.
constexpr int64_t kChunk = 1024;

class Node {
public:
  Node(DType dtype, llvm::ArrayRef<int64_t> shape)
      : dtype(dtype), shape(shape.begin(), shape.end()) {
    count = 1;
    for (int64_t size : shape)
      count *= size;
  }
  virtual ~Node() = default;
  /// The bytes of elements [begin, begin + n), n <= kChunk, valid until the
  /// next call; failures have been reported.
  virtual mlir::FailureOr<const char *> read(int64_t begin, int64_t n) = 0;
  /// The tensor, where the node holds one.
  virtual const Tensor *getTensor() const { return nullptr; }

  DType dtype;
  llvm::SmallVector<int64_t> shape;
  int64_t count;
};
using NodePtr = std::shared_ptr<Node>;

/// A node that is computed when it is read. The last chunk is cached: users
/// that read the same chunk share it.
class Recipe : public Node {
public:
  Recipe(DType dtype, llvm::ArrayRef<int64_t> shape, Work &work)
      : Node(dtype, shape), work(work) {}
  mlir::FailureOr<const char *> read(int64_t begin, int64_t n) final;

protected:
  /// Elements [begin, begin + n) to `out`.
  virtual mlir::LogicalResult compute(int64_t begin, int64_t n, char *out) = 0;

private:
  Work &work;
  std::vector<char> chunk;
  int64_t chunkBegin = 0, chunkSize = 0;
};

/// out[i] = fn(inputs[0][i], ...) for i < n; each array has its own dtype.
using ChunkFn = std::function<void(llvm::ArrayRef<const char *> inputs,
                                   int64_t n, char *out)>;

/// What the elementwise ops of HLIR compute, by name of the op; a null function
/// for any other op.
ChunkFn getElementwise(mlir::Operation *op);
/// What a scalar function of LLIR computes on inputs of these dtypes.
ChunkFn getScalarFunction(llir::Fn fn, llvm::ArrayRef<DType> inputs,
                          DType result);

class Evaluator {
public:
  Evaluator(const SymbolValues &symbols, const Options &options, Work &work)
      : symbols(symbols), options(options), work(work) {}

  /// Runs a block whose arguments are `arguments`; the operands of its
  /// terminator.
  mlir::FailureOr<llvm::SmallVector<NodePtr>>
  run(mlir::Block &block, llvm::ArrayRef<NodePtr> arguments);

  /// The tensor of a node, computed now if necessary.
  mlir::FailureOr<Tensor> force(mlir::Operation *op, NodePtr &node);

private:
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult runHLIR(mlir::Operation *op);
  mlir::LogicalResult runLLIR(mlir::Operation *op);

  // By op; each defines the op's results.
  mlir::LogicalResult elementwise(mlir::Operation *op, ChunkFn fn);
  mlir::LogicalResult view(mlir::Operation *op, hlir::MapAttr map);
  /// Elements of `source`, through `map` from an index of `shape`.
  mlir::FailureOr<NodePtr> readThrough(mlir::Operation *op, hlir::MapAttr map,
                                       llvm::ArrayRef<int64_t> shape,
                                       Tensor source);
  /// Fails where the symbols do not satisfy the requirements of the indices of
  /// `op`.
  mlir::LogicalResult checkRequired(mlir::Operation *op);
  mlir::LogicalResult constant(mlir::Operation *op, mlir::Attribute value);
  mlir::LogicalResult iota(mlir::Operation *op, hlir::MapAttr map);
  mlir::LogicalResult reduceSum(mlir::Operation *op);
  mlir::LogicalResult reduceMax(mlir::Operation *op);
  mlir::LogicalResult gather(mlir::Operation *op);
  mlir::LogicalResult scatter(mlir::Operation *op, hlir::Combine combine);
  mlir::LogicalResult repeat(hlir::RepeatOp op);
  /// Runs the region of `op` once for each row of `rows`, or of `each`, which
  /// has lists of `trips` nodes; the last `numStacked` results have a row of
  /// each trip.
  mlir::LogicalResult loop(mlir::Operation *op, int64_t trips,
                           llvm::SmallVector<NodePtr> carried,
                           llvm::ArrayRef<NodePtr> each,
                           llvm::ArrayRef<Tensor> rows, unsigned numStacked);
  /// A kernel that the caller of the interpreter knows by name.
  mlir::LogicalResult custom(mlir::Operation *op, llvm::StringRef name);
  mlir::LogicalResult gemm(llir::GemmOp op);
  mlir::LogicalResult segments(llir::SegmentReduceOp op);
  mlir::LogicalResult matmul(llir::CublasLtMatmulOp op);
  mlir::LogicalResult argsort(llir::ArgsortOp op);
  template <typename OpTy>
  mlir::LogicalResult scan(OpTy op);
  mlir::LogicalResult scanParts(llir::ScanPartsOp op);
  mlir::LogicalResult recurrence(llir::RecurrenceOp op);
  mlir::LogicalResult sortRuns(llir::SortRunsOp op);
  mlir::LogicalResult mergeRuns(llir::MergeRunsOp op);
  mlir::LogicalResult alias(llir::AliasOp op);
  mlir::LogicalResult concat(llir::ConcatOp op);
  mlir::LogicalResult kernel(mlir::Operation *op, mlir::Region &body);
  /// fn(row, n, result): from a row of the last dim to one of the same length.
  mlir::LogicalResult
  rows(mlir::Operation *op,
       llvm::function_ref<void(const double *, int64_t, const Sums &, double *)>
           fn);

  NodePtr &get(mlir::Value value) { return nodes[value]; }
  mlir::FailureOr<Tensor> getTensor(mlir::Operation *op, unsigned operand) {
    return force(op, get(op->getOperand(operand)));
  }
  /// An uninitialised tensor of a result's type, at its current size.
  mlir::FailureOr<Tensor> allocate(mlir::Operation *op, mlir::Value result);
  std::optional<Tensor> allocate(DType dtype, llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<llvm::SmallVector<int64_t>> getShape(mlir::Operation *op,
                                                       mlir::Value value);
  /// Extents at the current sizes.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  evaluate(mlir::Operation *op, llvm::ArrayRef<Expr> extents);
  void define(mlir::Value result, Tensor tensor);
  static NodePtr makeNode(Tensor tensor);
  /// Defines a result by a recipe, computed at once unless `op` has a reader.
  mlir::LogicalResult define(mlir::Operation *op, NodePtr recipe);
  /// Finds the readers of a block's ops.
  void findReaders(mlir::Block &block);
  /// Operands of an op without broadcast have one shape.
  mlir::LogicalResult checkSameShapes(mlir::Operation *op);

  const SymbolValues &symbols;
  const Options &options;
  llvm::DenseMap<mlir::Value, NodePtr> nodes;
  Work &work;
  /// The one op for which an op's result is read, in order and once, possibly
  /// through other recipes; and through how many of them. Null for a result
  /// that is computed at once.
  struct Reader {
    mlir::Operation *op = nullptr;
    unsigned distance = 0;
  };
  llvm::DenseMap<mlir::Operation *, Reader> readers;
};

} // namespace luminal::reference

#endif // LUMINAL_LIB_REFERENCE_EVALUATOR_H
