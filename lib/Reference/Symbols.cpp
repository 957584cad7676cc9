//===- Symbols.cpp - Symbols bound to the extents of arguments ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexMap.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Support/SymbolSolver.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

namespace {
/// The extent of an argument's dim, or an integer, and its value at run time.
struct Equation {
  Expr extent;
  int64_t value;
  unsigned argument;
  unsigned dim;
  /// Name of the integer; empty for an extent.
  std::string integer;
};
} // namespace

/// "argument 3 ('x')".
static std::string describe(FunctionOpInterface function, unsigned argument) {
  std::string text = "argument " + std::to_string(argument);
  if (auto name =
          function.getArgAttrOfType<StringAttr>(argument, hlir::kNameAttr))
    text += " ('" + name.str() + "')";
  return text;
}

/// Checks dtypes, ranks and static extents; collects the dynamic extents.
static LogicalResult checkArguments(FunctionOpInterface function,
                                    ArrayRef<Tensor> arguments,
                                    SmallVectorImpl<Equation> &equations) {
  if (arguments.size() != function.getNumArguments())
    return function.emitError() << "expected " << function.getNumArguments()
                                << " arguments, found " << arguments.size();
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const Tensor &tensor = arguments[i];
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    std::optional<DType> dtype =
        type ? hlir::getDType(type.getElementType()) : std::nullopt;
    if (!dtype)
      return function.emitError()
             << "expected a tensor of HLIR's element types as "
             << describe(function, i) << ", found "
             << function.getArgumentTypes()[i];
    if (*dtype != tensor.getDType())
      return function.emitError() << describe(function, i) << ": expected "
                                  << StringRef(dtypeName(*dtype)) << ", found "
                                  << StringRef(dtypeName(tensor.getDType()));
    if (type.getRank() != static_cast<int64_t>(tensor.getShape().size()))
      return function.emitError()
             << describe(function, i) << ": expected rank " << type.getRank()
             << ", found " << tensor.getShape().size();
    for (auto [dim, extent] : llvm::enumerate(hlir::getExtents(type))) {
      int64_t found = tensor.getShape()[dim];
      if (extent.isUndefined())
        return function.emitError() << describe(function, i) << ": dim " << dim
                                    << " has no expression for its extent";
      if (std::optional<int64_t> expected = extent.asConstant()) {
        if (*expected != found)
          return function.emitError()
                 << describe(function, i) << ": expected " << *expected
                 << " as dim " << dim << ", found " << found;
        continue;
      }
      equations.push_back({extent, found, i, static_cast<unsigned>(dim), ""});
    }
  }
  return success();
}

/// Checks that each integer of the function has a value, and that no other
/// integer is given.
static LogicalResult checkIntegers(FunctionOpInterface function,
                                   const SymbolValues &integers,
                                   SmallVectorImpl<Equation> &equations) {
  SmallVector<IntegerInput> expected = hlir::getIntegers(function);
  for (const IntegerInput &integer : expected) {
    auto it = integers.find(integer.name);
    if (it == integers.end())
      return function.emitError()
             << "integer '" << integer.name << "' has no value";
    equations.push_back({integer.value, it->second, 0, 0, integer.name});
  }
  for (const auto &[name, value] : integers)
    if (llvm::none_of(expected, [&name = name](const IntegerInput &integer) {
          return integer.name == name;
        }))
      return function.emitError() << "there is no integer '" << name << "'";
  return success();
}

/// "argument 3 ('x'): dim 0", "integer 'n'".
static std::string describe(FunctionOpInterface function,
                            const Equation &equation) {
  if (!equation.integer.empty())
    return "integer '" + equation.integer + "'";
  return describe(function, equation.argument) + ": dim " +
         std::to_string(equation.dim);
}

/// Checks that every symbol in a type or map of the function has a value.
static LogicalResult checkAllBound(FunctionOpInterface function,
                                   const SymbolValues &values) {
  auto check = [&](Operation *op, const Expr &e) -> LogicalResult {
    std::vector<std::string> symbols;
    e.collectSymbols(symbols);
    for (const std::string &symbol : symbols)
      if (!values.count(symbol))
        return op->emitError()
               << "no extent of an argument determines '" << symbol << "'";
    return success();
  };
  WalkResult result = function->walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (const Expr &extent : hlir::getExtents(tensor))
          if (failed(check(op, extent)))
            return WalkResult::interrupt();
    if (auto map = op->getAttrOfType<hlir::MapAttr>("map"))
      for (const Expr &e : map.getResults())
        if (failed(check(op, e)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<SymbolValues> reference::bindSymbols(FunctionOpInterface function,
                                               ArrayRef<Tensor> arguments,
                                               const SymbolValues &integers) {
  SmallVector<Equation> equations;
  if (failed(checkArguments(function, arguments, equations)) ||
      failed(checkIntegers(function, integers, equations)))
    return failure();

  SymbolValues values;
  auto known = [&](std::string_view name) -> std::optional<int64_t> {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt
                              : std::optional<int64_t>(it->second);
  };
  std::vector<NamedRange> symbols;
  if (auto table =
          function->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
    for (const hlir::SymbolEntry &entry : table.getEntries())
      symbols.push_back({entry.name.str(), entry.range});
  // A symbol without a declaration may have any value.
  std::vector<Expr> extents;
  std::vector<std::string> used;
  for (const Equation &equation : equations) {
    extents.push_back(equation.extent);
    equation.extent.collectSymbols(used);
  }
  for (const std::string &name : used)
    if (llvm::none_of(symbols, [&](const NamedRange &symbol) {
          return symbol.name == name;
        }))
      symbols.push_back({name, SymbolRange()});
  llvm::sort(symbols, [](const NamedRange &a, const NamedRange &b) {
    return a.name < b.name;
  });
  for (const SymbolSource &source : planSymbols(symbols, extents)) {
    const NamedRange &symbol = symbols[source.symbol];
    if (source.kind == SymbolSource::Kind::Range) {
      values[symbol.name] = symbol.range.lo;
      continue;
    }
    const Equation &equation = equations[source.extent];
    Result<int64_t> value =
        solveSymbol(source, symbol, equation.extent, equation.value, known);
    if (!value)
      return function.emitError()
             << describe(function, equation) << " is " << equation.value << ", "
             << value.error().message;
    values[symbol.name] = *value;
  }
  for (const Equation &equation : equations) {
    std::optional<int64_t> expected =
        bindExpr(equation.extent, values).asConstant();
    if (expected == equation.value)
      continue;
    InFlightDiagnostic diagnostic = function.emitError();
    const bool isInteger = !equation.integer.empty();
    diagnostic << (isInteger ? describe(function, equation)
                             : describe(function, equation.argument))
               << ": expected " << equation.extent.str();
    if (expected)
      diagnostic << " = " << *expected;
    if (!isInteger)
      diagnostic << " as dim " << equation.dim;
    return diagnostic << ", found " << equation.value;
  }
  if (failed(checkAllBound(function, values)))
    return failure();
  for (const Requirement &requirement : hlir::getRequirements(function))
    if (std::optional<std::string> violation = requirement.getViolation(known))
      return function.emitError() << *violation;
  return values;
}
