//===- Interpreter.cpp - Blocks, values and their lifetimes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Reference/Interpreter.h"
#include "Elements.h"
#include "Evaluator.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

/// Maximum number of recipes through which a value is read. Beyond it the value
/// is materialised.
static constexpr unsigned kMaxDistance = 64;

FailureOr<const char *> Recipe::read(int64_t begin, int64_t n) {
  if (chunkSize != n || chunkBegin != begin) {
    chunk.resize(static_cast<size_t>(std::min(kChunk, count)) *
                 dtypeSize(dtype));
    chunkSize = 0;
    if (failed(compute(begin, n, chunk.data())))
      return failure();
    work.elements += n;
    chunkBegin = begin;
    chunkSize = n;
  }
  return static_cast<const char *>(chunk.data());
}

namespace {
class TensorNode : public Node {
public:
  explicit TensorNode(Tensor tensor)
      : Node(tensor.getDType(), tensor.getShape()), tensor(std::move(tensor)) {}
  FailureOr<const char *> read(int64_t begin, int64_t n) override {
    return tensor.data() + static_cast<size_t>(begin) * dtypeSize(dtype);
  }
  const Tensor *getTensor() const override { return &tensor; }

private:
  Tensor tensor;
};

class ElementwiseNode : public Recipe {
public:
  ElementwiseNode(DType dtype, ArrayRef<int64_t> shape, Work &work, ChunkFn fn,
                  SmallVector<NodePtr> operands)
      : Recipe(dtype, shape, work), fn(std::move(fn)),
        operands(std::move(operands)) {}

protected:
  LogicalResult compute(int64_t begin, int64_t n, char *out) override {
    SmallVector<const char *> inputs;
    for (const NodePtr &operand : operands) {
      FailureOr<const char *> input = operand->read(begin, n);
      if (failed(input))
        return failure();
      inputs.push_back(*input);
    }
    fn(inputs, n, out);
    return success();
  }

private:
  ChunkFn fn;
  SmallVector<NodePtr> operands;
};

class ViewNode : public Recipe {
public:
  ViewNode(Operation *op, ArrayRef<int64_t> shape, Work &work, IndexMap map,
           Tensor source)
      : Recipe(source.getDType(), shape, work), op(op), map(std::move(map)),
        source(std::move(source)) {}

protected:
  LogicalResult compute(int64_t begin, int64_t n, char *out) override {
    switch (dtypeSize(dtype)) {
    case 1:
      return copy<uint8_t>(begin, n, out);
    case 2:
      return copy<uint16_t>(begin, n, out);
    case 4:
      return copy<uint32_t>(begin, n, out);
    default:
      return copy<uint64_t>(begin, n, out);
    }
  }

private:
  template <typename T>
  LogicalResult copy(int64_t begin, int64_t n, char *out) {
    using Element = Plain<T>;
    const char *in = source.data();
    if (map.isLinear()) {
      map.forEachRun(
          begin, n,
          [&](int64_t done, int64_t position, int64_t stride, int64_t count) {
            for (int64_t i = 0; i < count; ++i)
              Element::store(
                  Element::template load<T>(in, position + i * stride), out,
                  done + i);
          });
      return success();
    }
    positions.resize(kChunk);
    std::string error;
    if (!map.fill(begin, n, positions.data(), error))
      return op->emitError() << error;
    for (int64_t i = 0; i < n; ++i)
      Element::store(
          Element::template load<T>(in, positions[static_cast<size_t>(i)]), out,
          i);
    return success();
  }
  Operation *op;
  IndexMap map;
  Tensor source;
  std::vector<int64_t> positions;
};

class IotaNode : public Recipe {
public:
  IotaNode(Operation *op, DType dtype, ArrayRef<int64_t> shape, Work &work,
           const Expr &index)
      : Recipe(dtype, shape, work), op(op), values(index, shape) {}

protected:
  LogicalResult compute(int64_t begin, int64_t n, char *out) override {
    integers.resize(kChunk);
    if (!values.fill(begin, n, integers.data()))
      return op->emitError()
             << "an element has no value: an overflow or a division by zero";
    size_t size = dtypeSize(dtype);
    if (dtype == DType::I64)
      std::memcpy(out, integers.data(), static_cast<size_t>(n) * size);
    else
      for (size_t i = 0; i < static_cast<size_t>(n); ++i)
        storeInt(dtype, integers[i], out + i * size);
    return success();
  }

private:
  Operation *op;
  IndexValues values;
  std::vector<int64_t> integers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> Evaluator::getShape(Operation *op,
                                                    Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return op->emitError() << "expected a ranked tensor, found "
                           << value.getType();
  FailureOr<SmallVector<int64_t>> shape = evaluate(op, hlir::getExtents(type));
  if (failed(shape))
    return failure();
  // With this check, no count of elements or bytes can overflow.
  int64_t bytes = 8;
  for (int64_t size : *shape)
    if (!llvm::is_contained(*shape, 0) &&
        __builtin_mul_overflow(bytes, size, &bytes))
      return op->emitError() << "not enough memory for " << type;
  return shape;
}

FailureOr<SmallVector<int64_t>> Evaluator::evaluate(Operation *op,
                                                    ArrayRef<Expr> extents) {
  SmallVector<int64_t> shape;
  for (const Expr &extent : extents) {
    std::optional<int64_t> size =
        extent.evaluate([&](std::string_view name) -> std::optional<int64_t> {
          auto it = symbols.find(name);
          return it == symbols.end() ? std::nullopt
                                     : std::optional<int64_t>(it->second);
        });
    if (!size || *size < 0) {
      InFlightDiagnostic diagnostic = op->emitError();
      diagnostic << "extent " << extent.str();
      if (size)
        diagnostic << " is " << *size;
      else
        diagnostic << " has no value";
      return diagnostic;
    }
    shape.push_back(*size);
  }
  return shape;
}

static FailureOr<DType> getElementDType(Operation *op, Value result) {
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  if (std::optional<DType> dtype = hlir::getDType(element))
    return *dtype;
  return op->emitError() << "expected an element type of HLIR, found "
                         << element;
}

FailureOr<Tensor> Evaluator::allocate(Operation *op, Value result) {
  FailureOr<SmallVector<int64_t>> shape = getShape(op, result);
  if (failed(shape))
    return failure();
  FailureOr<DType> dtype = getElementDType(op, result);
  if (failed(dtype))
    return failure();
  std::optional<Tensor> tensor = allocate(*dtype, *shape);
  if (!tensor)
    return op->emitError() << "not enough memory for " << result.getType();
  return *tensor;
}

std::optional<Tensor> Evaluator::allocate(DType dtype,
                                          ArrayRef<int64_t> shape) {
  std::optional<Tensor> tensor = Tensor::allocate(dtype, shape);
  if (tensor)
    work.bytes += static_cast<int64_t>(tensor->getNumBytes());
  return tensor;
}

NodePtr Evaluator::makeNode(Tensor tensor) {
  return std::make_shared<TensorNode>(std::move(tensor));
}

void Evaluator::define(Value result, Tensor tensor) {
  nodes[result] = makeNode(std::move(tensor));
}

FailureOr<Tensor> Evaluator::force(Operation *op, NodePtr &node) {
  if (const Tensor *tensor = node->getTensor())
    return *tensor;
  std::optional<Tensor> tensor = allocate(node->dtype, node->shape);
  if (!tensor)
    return op->emitError() << "not enough memory for " << node->count
                           << " elements";
  size_t size = dtypeSize(node->dtype);
  for (int64_t begin = 0; begin < node->count; begin += kChunk) {
    int64_t n = std::min(kChunk, node->count - begin);
    FailureOr<const char *> chunk = node->read(begin, n);
    if (failed(chunk))
      return failure();
    std::memcpy(tensor->mutableData() + static_cast<size_t>(begin) * size,
                *chunk, static_cast<size_t>(n) * size);
  }
  node = std::make_shared<TensorNode>(*tensor);
  return *tensor;
}

/// Whether an op reads each element of its operands once and in order.
static bool readsInOrder(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<hlir::ReduceSumOp, hlir::ReduceMaxOp, llir::ElementwiseOp,
             llir::ReduceOp, llir::SoftmaxOp, llir::LayerNormOp,
             llir::RMSNormOp>(op);
}

/// Whether an op's result may stay a recipe, which is computed as it is read.
static bool mayBeRecipe(Operation *op) {
  return op->getNumResults() == 1 &&
         (op->hasTrait<OpTrait::Elementwise>() ||
          isa<hlir::ViewOp, hlir::IotaOp, llir::ElementwiseOp, llir::ViewOp,
              llir::IotaOp>(op));
}

void Evaluator::findReaders(Block &block) {
  // Iterate backwards: users come after the ops that they use.
  for (Operation &op : llvm::reverse(block)) {
    Reader &reader = readers[&op] = {};
    if (!mayBeRecipe(&op) || op.use_empty())
      continue;
    Reader found;
    bool one = true;
    for (Operation *user : op.getUsers()) {
      one = one && user->getBlock() == &block && readsInOrder(user);
      if (!one)
        break;
      Reader further = readers.lookup(user);
      Operation *last = further.op ? further.op : user;
      one = !found.op || found.op == last;
      found.op = last;
      found.distance = std::max(found.distance, further.distance + 1);
    }
    if (one && found.distance <= kMaxDistance)
      reader = found;
  }
}

LogicalResult Evaluator::define(Operation *op, NodePtr recipe) {
  NodePtr &node = nodes[op->getResult(0)] = std::move(recipe);
  if (readers.lookup(op).op)
    return success();
  return force(op, node);
}

LogicalResult Evaluator::checkSameShapes(Operation *op) {
  FailureOr<SmallVector<int64_t>> expected = getShape(op, op->getResult(0));
  if (failed(expected))
    return failure();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (get(operand)->shape != *expected)
      return op->emitError()
             << "operand " << i << " does not have the shape of the result";
  return success();
}

LogicalResult Evaluator::elementwise(Operation *op, ChunkFn fn) {
  if (failed(checkSameShapes(op)))
    return failure();
  SmallVector<NodePtr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  FailureOr<SmallVector<int64_t>> shape = getShape(op, op->getResult(0));
  if (failed(shape))
    return failure();
  FailureOr<DType> dtype = getElementDType(op, op->getResult(0));
  if (failed(dtype))
    return failure();
  return define(op, std::make_shared<ElementwiseNode>(*dtype, *shape, work,
                                                      std::move(fn),
                                                      std::move(operands)));
}

LogicalResult Evaluator::checkRequired(Operation *op) {
  auto isStatic = [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  };
  if (llvm::all_of(op->getResultTypes(), isStatic) &&
      llvm::all_of(op->getOperandTypes(), isStatic))
    return success();
  auto known = [&](std::string_view name) -> std::optional<int64_t> {
    auto it = symbols.find(name);
    return it == symbols.end() ? std::nullopt
                               : std::optional<int64_t>(it->second);
  };
  SmallVector<Requirement> requirements;
  {
    ScopedDiagnosticHandler silent(op->getContext(),
                                   [](Diagnostic &) { return success(); });
    (void)hlir::checkIndices(op, hlir::getAssumptions(op), requirements);
  }
  for (const Requirement &requirement : requirements)
    if (std::optional<std::string> violation = requirement.getViolation(known))
      return op->emitError() << *violation;
  return success();
}

LogicalResult Evaluator::view(Operation *op, hlir::MapAttr map) {
  FailureOr<Tensor> source = getTensor(op, 0);
  FailureOr<SmallVector<int64_t>> shape = getShape(op, op->getResult(0));
  if (failed(source) || failed(shape))
    return failure();
  FailureOr<NodePtr> node = readThrough(op, map, *shape, std::move(*source));
  return failed(node) ? failure() : define(op, std::move(*node));
}

FailureOr<NodePtr> Evaluator::readThrough(Operation *op, hlir::MapAttr map,
                                          ArrayRef<int64_t> shape,
                                          Tensor source) {
  if (map.getNumDims() != shape.size() ||
      map.getResults().size() != source.getShape().size())
    return op->emitError() << "expected a map from the result's index to the "
                              "operand's";
  std::string error;
  std::optional<IndexMap> index =
      IndexMap::get(map.getResults(), symbols, shape, source.getShape(), error);
  if ((!index || !index->isLinear()) && failed(checkRequired(op)))
    return failure();
  if (!index)
    return op->emitError() << error;
  return NodePtr(std::make_shared<ViewNode>(op, shape, work, std::move(*index),
                                            std::move(source)));
}

LogicalResult Evaluator::iota(Operation *op, hlir::MapAttr map) {
  FailureOr<SmallVector<int64_t>> shape = getShape(op, op->getResult(0));
  if (failed(shape))
    return failure();
  FailureOr<DType> dtype = getElementDType(op, op->getResult(0));
  if (failed(dtype))
    return failure();
  if (map.getNumDims() != shape->size() || map.getResults().size() != 1)
    return op->emitError() << "expected a map from the result's index to one "
                              "integer";
  return define(
      op, std::make_shared<IotaNode>(op, *dtype, *shape, work,
                                     bindExpr(map.getResults()[0], symbols)));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::runOp(Operation *op) {
  for (Value operand : op->getOperands())
    if (!nodes.count(operand))
      return op->emitError() << "expected operands that ops before it define";
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == hlir::HLIRDialect::getDialectNamespace())
    return runHLIR(op);
  if (dialect == llir::LLIRDialect::getDialectNamespace())
    return runLLIR(op);
  return op->emitError() << "expected an op of hlir or llir, found "
                         << op->getName();
}

FailureOr<SmallVector<NodePtr>> Evaluator::run(Block &block,
                                               ArrayRef<NodePtr> arguments) {
  // A value of this block is dropped after its last use.
  DenseMap<Operation *, SmallVector<Value>> lastUses;
  auto recordLastUse = [&](Value value) {
    Operation *last = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *inBlock = block.findAncestorOpInBlock(*user);
      if (inBlock && (!last || last->isBeforeInBlock(inBlock)))
        last = inBlock;
    }
    if (last)
      lastUses[last].push_back(value);
  };
  for (auto [argument, node] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    nodes[argument] = node;
    recordLastUse(argument);
  }
  for (Operation &op : block)
    for (Value result : op.getResults())
      recordLastUse(result);

  findReaders(block);
  for (Operation &op : block.without_terminator()) {
    if (failed(runOp(&op)))
      return failure();
    for (Value value : lastUses[&op])
      nodes.erase(value);
  }
  SmallVector<NodePtr> results;
  for (Value operand : block.getTerminator()->getOperands()) {
    auto it = nodes.find(operand);
    if (it == nodes.end())
      return block.getTerminator()->emitError()
             << "expected operands that ops before it define";
    if (failed(force(block.getTerminator(), it->second)))
      return failure();
    results.push_back(it->second);
  }
  return results;
}

FailureOr<SmallVector<Tensor>> reference::evaluate(FunctionOpInterface function,
                                                   ArrayRef<Tensor> arguments,
                                                   const Options &options) {
  if (!function.getFunctionBody().hasOneBlock())
    return function.emitError()
           << "expected a function of one block to evaluate";
  FailureOr<SymbolValues> symbols =
      options.symbols ? FailureOr(*options.symbols)
                      : bindSymbols(function, arguments, options.integers);
  if (failed(symbols))
    return failure();
  std::optional<Chance> chance;
  if (options.roundingSeed)
    chance.emplace(*options.roundingSeed);
  Work unwanted;
  Evaluator evaluator(*symbols, options,
                      options.work ? *options.work : unwanted);
  SmallVector<NodePtr> nodes;
  for (const Tensor &tensor : arguments)
    nodes.push_back(std::make_shared<TensorNode>(tensor));
  FailureOr<SmallVector<NodePtr>> results =
      evaluator.run(function.getFunctionBody().front(), nodes);
  if (failed(results))
    return failure();
  SmallVector<Tensor> tensors;
  for (const NodePtr &node : *results)
    tensors.push_back(*node->getTensor());
  return tensors;
}
