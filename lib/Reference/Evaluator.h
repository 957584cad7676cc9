//===- Evaluator.h - Values of a program while it is evaluated ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is a node that gives its elements in row-major order. Most nodes hold
// a tensor. An elementwise op or view whose only user reads it once, in order,
// stays a recipe and is computed as it is read: the factors of a matrix product
// are never written out.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_REFERENCE_EVALUATOR_H
#define LUMINAL_LIB_REFERENCE_EVALUATOR_H

#include "IndexMap.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/DenseMap.h"

namespace luminal::reference {

/// Elements that are computed at a time.
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
  /// Elements [begin, begin + n) to `out`, n <= kChunk; a failure was reported.
  virtual mlir::LogicalResult fill(int64_t begin, int64_t n, char *out) = 0;
  /// The tensor, where the node holds one.
  virtual const Tensor *getTensor() const { return nullptr; }

  DType dtype;
  llvm::SmallVector<int64_t> shape;
  int64_t count;
  /// Recipes behind recipes.
  unsigned depth = 0;
};
using NodePtr = std::shared_ptr<Node>;

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
  Evaluator(const SymbolValues &symbols, const Options &options)
      : symbols(symbols), options(options) {}

  /// Runs a block whose arguments are `arguments`; the operands of its
  /// terminator.
  mlir::FailureOr<llvm::SmallVector<NodePtr>>
  run(mlir::Block &block, llvm::ArrayRef<NodePtr> arguments);

  /// The tensor behind a node, computed now if need be.
  mlir::FailureOr<Tensor> force(mlir::Operation *op, NodePtr &node);

private:
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult runHLIR(mlir::Operation *op);
  mlir::LogicalResult runLLIR(mlir::Operation *op);

  // By op; each defines the op's results.
  mlir::LogicalResult elementwise(mlir::Operation *op, ChunkFn fn);
  mlir::LogicalResult view(mlir::Operation *op, hlir::MapAttr map);
  mlir::LogicalResult constant(mlir::Operation *op, mlir::Attribute value);
  mlir::LogicalResult iota(mlir::Operation *op, hlir::MapAttr map);
  mlir::LogicalResult reduceSum(mlir::Operation *op);
  mlir::LogicalResult reduceMax(mlir::Operation *op);
  mlir::LogicalResult gather(mlir::Operation *op);
  mlir::LogicalResult scatter(mlir::Operation *op, hlir::Combine combine);
  mlir::LogicalResult repeat(hlir::RepeatOp op);
  mlir::LogicalResult custom(hlir::CustomOp op);
  mlir::LogicalResult gemm(llir::GemmOp op);
  mlir::LogicalResult alias(llir::AliasOp op);
  mlir::LogicalResult kernel(llir::KernelOp op);
  /// fn(row, n, result): from a row of the last dim to one of the same length.
  mlir::LogicalResult
  rows(mlir::Operation *op,
       llvm::function_ref<void(const double *, int64_t, double *)> fn);

  NodePtr &get(mlir::Value value) { return nodes[value]; }
  mlir::FailureOr<Tensor> getTensor(mlir::Operation *op, unsigned operand) {
    return force(op, get(op->getOperand(operand)));
  }
  /// An empty tensor of the type of a result, at its size now.
  mlir::FailureOr<Tensor> allocate(mlir::Operation *op, mlir::Value result);
  mlir::FailureOr<llvm::SmallVector<int64_t>> getShape(mlir::Operation *op,
                                                       mlir::Value value);
  void define(mlir::Value result, Tensor tensor);
  /// Defines a result by a recipe, computed at once unless its only user can
  /// read it in order.
  mlir::LogicalResult define(mlir::Operation *op, NodePtr recipe);
  /// Operands of an op without broadcast have one shape.
  mlir::LogicalResult checkSameShapes(mlir::Operation *op);

  const SymbolValues &symbols;
  const Options &options;
  llvm::DenseMap<mlir::Value, NodePtr> nodes;
};

} // namespace luminal::reference

#endif // LUMINAL_LIB_REFERENCE_EVALUATOR_H
