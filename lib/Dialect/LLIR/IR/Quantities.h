//===- Quantities.h - `(e0, e1, ...)`, a map without dims -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For `custom<Quantities>` in ODS.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_IR_QUANTITIES_H
#define LUMINAL_LIB_DIALECT_LLIR_IR_QUANTITIES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/OpImplementation.h"

namespace luminal::llir {

inline mlir::ParseResult parseQuantities(mlir::OpAsmParser &parser,
                                         hlir::MapAttr &map) {
  llvm::SmallVector<Expr> exprs;
  auto parseOne = [&]() -> mlir::ParseResult {
    mlir::SMLoc loc = parser.getCurrentLocation();
    mlir::FailureOr<Expr> e = hlir::parseExpr(parser);
    if (failed(e))
      return mlir::failure();
    if (e->isUndefined() || e->hasDims())
      return parser.emitError(loc, "expected an expression over symbols");
    exprs.push_back(*e);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren,
                                     parseOne))
    return mlir::failure();
  map = hlir::MapAttr::get(parser.getContext(), 0, exprs);
  return mlir::success();
}

inline void printQuantities(mlir::OpAsmPrinter &printer, mlir::Operation *,
                            hlir::MapAttr map) {
  printer << '(';
  llvm::interleaveComma(map.getResults(), printer.getStream(),
                        [&](const Expr &e) { printer.getStream() << e.str(); });
  printer << ')';
}

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_IR_QUANTITIES_H
