//===- NodeEvaluator.h - The value of one node, by its definition ---------===//
//
// Evaluates a single HLIR or LLIR op on given operand values: plain loops over
// elements, functions of the C library in extended precision, rounded once to
// the element type (correctly, but for ties that extended precision itself
// makes). Independent of the interpreter and of the code generator.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_UNIT_EQSAT_NODEEVALUATOR_H
#define LUMINAL_TEST_UNIT_EQSAT_NODEEVALUATOR_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/IR/OperationSupport.h"

#include <map>

namespace luminal::test {

/// A tensor in row-major order. Floats in `f`, integers and i1 in `i`.
struct Tensor {
  mlir::Type element;
  std::vector<int64_t> shape;
  std::vector<long double> f;
  std::vector<int64_t> i;

  bool isFloat() const { return llvm::isa<mlir::FloatType>(element); }
  size_t size() const { return isFloat() ? f.size() : i.size(); }
};

using Symbols = std::map<std::string, int64_t>;

/// `x` rounded to nearest even in a float type.
long double roundTo(long double x, mlir::Type type);
/// Distance between numbers next to `x` in a float type.
long double ulpOf(long double x, mlir::Type type);

std::vector<int64_t> shapeOf(mlir::Type type, const Symbols &symbols);

/// Nothing for an op that has no definition here.
std::optional<Tensor> evaluate(mlir::OperationName name,
                               mlir::DictionaryAttr attributes,
                               mlir::Type resultType,
                               llvm::ArrayRef<const Tensor *> operands,
                               const Symbols &symbols);

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_EQSAT_NODEEVALUATOR_H
