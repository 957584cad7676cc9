//===- Launch.h - Text of launch attributes -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_IR_LAUNCH_H
#define LUMINAL_LIB_DIALECT_LLIR_IR_LAUNCH_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/DialectImplementation.h"

namespace luminal::llir {

/// Parses `name = e`, an expression over symbols.
inline mlir::FailureOr<Expr> parseQuantity(mlir::AsmParser &parser,
                                           mlir::StringRef name) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return mlir::failure();
  mlir::SMLoc loc = parser.getCurrentLocation();
  mlir::FailureOr<Expr> e = hlir::parseExpr(parser);
  if (succeeded(e) && (e->isUndefined() || e->hasDims()))
    return parser.emitError(loc, "expected an expression over symbols");
  return e;
}

/// Parses `name = e, ` for each name: what precedes the facts of a launch.
inline mlir::ParseResult
parseNamedQuantities(mlir::AsmParser &parser,
                     llvm::ArrayRef<llvm::StringLiteral> names,
                     llvm::SmallVectorImpl<Expr> &quantities) {
  for (mlir::StringRef name : names) {
    mlir::FailureOr<Expr> e = parseQuantity(parser, name);
    if (failed(e) || parser.parseComma())
      return mlir::failure();
    quantities.push_back(*e);
  }
  return mlir::success();
}

/// Parses `<name = e, ..., facts>`; null facts on failure.
inline std::pair<hlir::MapAttr, mlir::DictionaryAttr>
parseQuantitiesAndFacts(mlir::AsmParser &parser,
                        llvm::ArrayRef<llvm::StringLiteral> names) {
  llvm::SmallVector<Expr> quantities;
  mlir::DictionaryAttr facts;
  if (parser.parseLess() || parseNamedQuantities(parser, names, quantities) ||
      parser.parseAttribute(facts) || parser.parseGreater())
    return {};
  return {hlir::MapAttr::get(parser.getContext(), 0, quantities), facts};
}

/// Prints what `parseQuantitiesAndFacts` parses.
inline void printQuantitiesAndFacts(mlir::AsmPrinter &printer,
                                    llvm::ArrayRef<llvm::StringLiteral> names,
                                    hlir::MapAttr quantities,
                                    mlir::DictionaryAttr facts) {
  printer << '<';
  for (auto [name, value] : llvm::zip_equal(names, quantities.getResults()))
    printer << name << " = " << value.str() << ", ";
  printer << facts << '>';
}

/// Checks that a map without dims holds three quantities.
inline mlir::LogicalResult
verifyQuantities(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                 hlir::MapAttr quantities, mlir::StringRef names) {
  if (quantities.getNumDims() != 0 || quantities.getResults().size() != 3)
    return emitError() << names << " are three quantities of a map without "
                       << "dims";
  return mlir::success();
}

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_IR_LAUNCH_H
