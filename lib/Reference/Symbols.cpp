//===- Symbols.cpp - Symbols bound to the extents of arguments ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexMap.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

namespace {
/// An extent of an argument and what it is at run time.
struct Equation {
  Expr extent;
  int64_t value;
  unsigned argument;
  unsigned dim;
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

/// Dtypes, ranks and static extents; collects the dynamic ones.
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
      equations.push_back({extent, found, i, static_cast<unsigned>(dim)});
    }
  }
  return success();
}

/// The one symbol of `extent` that is not bound yet, if it stands in it as
/// k * symbol + rest with constants.
static std::optional<std::pair<std::string, int64_t>> solve(const Expr &extent,
                                                            int64_t value) {
  std::vector<std::string> unknown;
  extent.collectSymbols(unknown);
  if (unknown.size() != 1)
    return std::nullopt;
  // Seen as a dim, the unknown gives its coefficient.
  Expr e = extent.substitute([&](const Expr &leaf) {
    return leaf.asSymbol() ? std::optional<Expr>(Expr::dim(0)) : std::nullopt;
  });
  std::optional<Expr::Linear> linear = e.linearIn(0);
  if (!linear || !linear->stride.asConstant() || !linear->rest.asConstant())
    return std::nullopt;
  __int128 left = __int128(value) - *linear->rest.asConstant();
  int64_t k = *linear->stride.asConstant();
  if (k == 0 || left % k != 0 || left / k < INT64_MIN || left / k > INT64_MAX)
    return std::nullopt;
  return std::make_pair(unknown[0], static_cast<int64_t>(left / k));
}

/// Every symbol that a type or map inside the function uses has a value.
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
                                               ArrayRef<Tensor> arguments) {
  SmallVector<Equation> equations;
  if (failed(checkArguments(function, arguments, equations)))
    return failure();

  SymbolValues values;
  auto symbols = function->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr);
  if (symbols)
    for (const hlir::SymbolEntry &entry : symbols.getEntries())
      if (entry.range.hi == entry.range.lo)
        values[entry.name.str()] = entry.range.lo;
  // Each round binds what has become the only unknown of an extent.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Equation &equation : equations)
      if (auto solution =
              solve(bindExpr(equation.extent, values), equation.value))
        changed |= values.insert(*solution).second;
  }
  if (symbols)
    for (const hlir::SymbolEntry &entry : symbols.getEntries()) {
      auto it = values.find(entry.name);
      if (it == values.end() ||
          (it->second >= entry.range.lo &&
           (!entry.range.hi || it->second <= *entry.range.hi)))
        continue;
      InFlightDiagnostic diagnostic = function.emitError();
      diagnostic << "expected " << entry.name << " in [" << entry.range.lo
                 << ", ";
      if (entry.range.hi)
        diagnostic << *entry.range.hi;
      return diagnostic << "], found " << it->second;
    }
  for (const Equation &equation : equations) {
    std::optional<int64_t> expected =
        bindExpr(equation.extent, values).asConstant();
    if (expected == equation.value)
      continue;
    InFlightDiagnostic diagnostic = function.emitError();
    diagnostic << describe(function, equation.argument) << ": expected "
               << equation.extent.str();
    if (expected)
      diagnostic << " = " << *expected;
    return diagnostic << " as dim " << equation.dim << ", found "
                      << equation.value;
  }
  if (failed(checkAllBound(function, values)))
    return failure();
  return values;
}
