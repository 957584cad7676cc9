//===- Interpreter.h - Programs evaluated by definition -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle of every numeric test. Each op is computed as its description
// says, one after the other, independently of the code generator: elements of a
// float op are computed in double and rounded once to the op's type, sums
// accumulate in double, integers wrap. It evaluates HLIR, flat LLIR and
// llir.kernel.
//
// A tool uses it like this:
//   for each argument i of the function, in order:
//     hlir.kind "input":  the caller's tensor (by hlir.name or by order);
//     hlir.kind "weight": Tensor::borrow of the bytes that hlir.source names;
//     hlir.kind "state":  the same, or the caller's if there is no source;
//   FailureOr<SmallVector<Tensor>> results = evaluate(function, arguments);
//   a result with hlir.updates = j is argument j of the next call, every
//   other result is an output.
// Every failure emits one diagnostic at the op or function concerned.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_REFERENCE_INTERPRETER_H
#define LUMINAL_REFERENCE_INTERPRETER_H

#include "luminal/Support/DType.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace luminal::reference {

/// Elements in row-major order, each of dtypeSize bytes; an i1 is one byte, 0
/// or 1. Copies share the bytes, which must not be written once they are
/// shared.
class Tensor {
public:
  Tensor() = default;

  /// Allocates zeroed bytes; fails if there is not enough memory.
  static std::optional<Tensor> allocate(DType dtype,
                                        llvm::ArrayRef<int64_t> shape);
  /// Refers to bytes of the caller (of any alignment), which must outlive every
  /// use.
  static Tensor borrow(DType dtype, llvm::ArrayRef<int64_t> shape,
                       const void *bytes);

  DType getDType() const { return dtype; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const { return numElements; }
  size_t getNumBytes() const {
    return static_cast<size_t>(numElements) * dtypeSize(dtype);
  }
  const char *data() const { return bytes.get(); }
  /// For the owner, until the tensor is shared.
  char *mutableData() { return const_cast<char *>(bytes.get()); }

private:
  DType dtype = DType::F32;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements = 0;
  std::shared_ptr<const char> bytes;
};

/// Runs the kernel of an `hlir.custom` or `llir.call`; nullopt if there is no
/// such kernel.
using CustomKernel = std::function<std::optional<llvm::SmallVector<Tensor>>(
    llvm::StringRef name, llvm::ArrayRef<Tensor> inputs,
    mlir::DictionaryAttr attributes)>;

/// The work of an evaluation: number of elements computed, with recomputed ones
/// counted again, and bytes of tensors allocated.
struct Work {
  int64_t elements = 0;
  int64_t bytes = 0;
};

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

struct Options {
  CustomKernel custom;
  /// If set, the work of the evaluation is added to it.
  Work *work = nullptr;
  /// If set, the values of the symbols. Otherwise extents and integers
  /// determine them.
  const SymbolValues *symbols = nullptr;
  /// The integers that the function takes in addition to its arguments, by name
  /// (hlir.integers).
  SymbolValues integers;
  /// If set, a value that is not exact in its type is rounded up or down at
  /// random, as are the partial sums of reductions and products, in at least
  /// f32. The spread of the results over several seeds shows the effect of
  /// rounding.
  std::optional<uint64_t> roundingSeed;
};

/// The values of a function's symbols, from the extents of its arguments and
/// its integers. Emits an error that names what was expected and what was found
/// for an argument of another dtype, rank or static extent, for contradicting
/// extents, for a symbol out of its range, and for a symbol that nothing
/// determines.
mlir::FailureOr<SymbolValues> bindSymbols(mlir::FunctionOpInterface function,
                                          llvm::ArrayRef<Tensor> arguments,
                                          const SymbolValues &integers = {});

/// The results of a function of one block on arguments that are one for each of
/// its own, in order.
mlir::FailureOr<llvm::SmallVector<Tensor>>
evaluate(mlir::FunctionOpInterface function, llvm::ArrayRef<Tensor> arguments,
         const Options &options = {});

/// A dense attribute as a tensor, and back (with the static shape it has).
std::optional<Tensor> fromAttribute(mlir::DenseElementsAttr attribute);
mlir::DenseElementsAttr toAttribute(mlir::MLIRContext *context,
                                    const Tensor &tensor);

} // namespace luminal::reference

#endif // LUMINAL_REFERENCE_INTERPRETER_H
