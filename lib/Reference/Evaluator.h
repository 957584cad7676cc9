//===- Evaluator.h - Values of a program while it is evaluated ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is a node that produces its elements in row-major order. Most nodes
// hold a tensor. An elementwise op, view or iota stays a recipe, which is
// computed in chunks as it is read, if all its users read it in order and it
// ends up in a single op. So the factors of a matrix product and the pairwise
// comparisons of a sort are never materialised.
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
  /// next call. A failure has been reported.
  virtual mlir::FailureOr<const char *> read(int64_t begin, int64_t n) = 0;
  /// The tensor, or null if the node is a recipe.
  virtual const Tensor *getTensor() const { return nullptr; }

  DType dtype;
  llvm::SmallVector<int64_t> shape;
  int64_t count;
};
using NodePtr = std::shared_ptr<Node>;

/// A node that is computed when it is read. The last chunk is cached, so users
/// that read the same chunk share it.
class Recipe : public Node {
public:
  Recipe(DType dtype, llvm::ArrayRef<int64_t> shape, Work &work)
      : Node(dtype, shape), work(work) {}
  mlir::FailureOr<const char *> read(int64_t begin, int64_t n) final;

protected:
  /// Writes elements [begin, begin + n) to `out`.
  virtual mlir::LogicalResult compute(int64_t begin, int64_t n, char *out) = 0;

private:
  Work &work;
  std::vector<char> chunk;
  int64_t chunkBegin = 0, chunkSize = 0;
};

/// out[i] = fn(inputs[0][i], ...) for i < n; each array has its own dtype.
using ChunkFn = std::function<void(llvm::ArrayRef<const char *> inputs,
                                   int64_t n, char *out)>;

/// The function of an elementwise op of HLIR; null for any other op.
ChunkFn getElementwise(mlir::Operation *op);
/// The scalar function of LLIR for inputs of these dtypes.
ChunkFn getScalarFunction(llir::Fn fn, llvm::ArrayRef<DType> inputs,
                          DType result);

class Evaluator {
public:
  Evaluator(const SymbolValues &symbols, const Options &options, Work &work)
      : symbols(symbols), options(options), work(work) {}

  /// Runs a block with these arguments and returns the operands of its
  /// terminator.
  mlir::FailureOr<llvm::SmallVector<NodePtr>>
  run(mlir::Block &block, llvm::ArrayRef<NodePtr> arguments);

  /// The tensor of a node, which is materialised if necessary.
  mlir::FailureOr<Tensor> force(mlir::Operation *op, NodePtr &node);

private:
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult runHLIR(mlir::Operation *op);
  mlir::LogicalResult runLLIR(mlir::Operation *op);

  // One function for each kind of op; each defines the op's results.
  mlir::LogicalResult elementwise(mlir::Operation *op, ChunkFn fn);
  mlir::LogicalResult view(mlir::Operation *op, hlir::MapAttr map);
  /// A node of shape `shape` that reads `source` through `map`.
  mlir::FailureOr<NodePtr> readThrough(mlir::Operation *op, hlir::MapAttr map,
                                       llvm::ArrayRef<int64_t> shape,
                                       Tensor source);
  /// Fails if the symbols violate the requirements under which the indices of
  /// `op` are in bounds.
  mlir::LogicalResult checkRequired(mlir::Operation *op);
  mlir::LogicalResult constant(mlir::Operation *op, mlir::Attribute value);
  mlir::LogicalResult iota(mlir::Operation *op, hlir::MapAttr map);
  mlir::LogicalResult reduceSum(mlir::Operation *op);
  mlir::LogicalResult reduceMax(mlir::Operation *op);
  mlir::LogicalResult gather(mlir::Operation *op);
  mlir::LogicalResult scatter(mlir::Operation *op, hlir::Combine combine);
  mlir::LogicalResult repeat(hlir::RepeatOp op);
  /// Runs the region of `op` `trips` times. Each trip reads its row of each
  /// tensor in `rows` and its node of each list of `trips` nodes in `each`. The
  /// last `numStacked` results have one row for each trip.
  mlir::LogicalResult loop(mlir::Operation *op, int64_t trips,
                           llvm::SmallVector<NodePtr> carried,
                           llvm::ArrayRef<NodePtr> each,
                           llvm::ArrayRef<Tensor> rows, unsigned numStacked);
  /// Runs a kernel that the caller of the interpreter supplies by name.
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
  /// Calls fn(row, n, ..., result) for each row of the last dim; the result row
  /// has the same length.
  mlir::LogicalResult
  rows(mlir::Operation *op,
       llvm::function_ref<void(const double *, int64_t, const Sums &, double *)>
           fn);

  NodePtr &get(mlir::Value value) { return nodes[value]; }
  mlir::FailureOr<Tensor> getTensor(mlir::Operation *op, unsigned operand) {
    return force(op, get(op->getOperand(operand)));
  }
  /// An uninitialised tensor with the type of a result, at the current sizes.
  mlir::FailureOr<Tensor> allocate(mlir::Operation *op, mlir::Value result);
  std::optional<Tensor> allocate(DType dtype, llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<llvm::SmallVector<int64_t>> getShape(mlir::Operation *op,
                                                       mlir::Value value);
  /// The values of extents at the current sizes.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  evaluate(mlir::Operation *op, llvm::ArrayRef<Expr> extents);
  void define(mlir::Value result, Tensor tensor);
  static NodePtr makeNode(Tensor tensor);
  /// Defines a result as a recipe, which is materialised at once unless `op`
  /// has a reader (see Reader).
  mlir::LogicalResult define(mlir::Operation *op, NodePtr recipe);
  /// Finds the reader of each op of a block.
  void findReaders(mlir::Block &block);
  /// Checks that all operands have the shape of the result.
  mlir::LogicalResult checkSameShapes(mlir::Operation *op);

  const SymbolValues &symbols;
  const Options &options;
  llvm::DenseMap<mlir::Value, NodePtr> nodes;
  Work &work;
  /// The only op that finally reads an op's result, once and in order, possibly
  /// through other recipes, and the number of these recipes. Null if the result
  /// is materialised at once.
  struct Reader {
    mlir::Operation *op = nullptr;
    unsigned distance = 0;
  };
  llvm::DenseMap<mlir::Operation *, Reader> readers;
};

} // namespace luminal::reference

#endif // LUMINAL_LIB_REFERENCE_EVALUATOR_H
