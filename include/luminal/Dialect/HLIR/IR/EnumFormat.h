//===- EnumFormat.h - Enum attributes as bare words of an op --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op prints its enum as a bare word, `llir.elementwise mul(...)`. Elsewhere,
// as in a rule, the attribute is `#llir.fn<mul>`. For `custom<Keyword>` in ODS.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_IR_ENUMFORMAT_H
#define LUMINAL_DIALECT_HLIR_IR_ENUMFORMAT_H

#include "mlir/IR/OpImplementation.h"

namespace luminal::hlir {

template <typename EnumAttr>
mlir::ParseResult parseKeyword(mlir::OpAsmParser &parser, EnumAttr &attr) {
  auto value = mlir::FieldParser<decltype(attr.getValue())>::parse(parser);
  if (mlir::failed(value))
    return mlir::failure();
  attr = EnumAttr::get(parser.getContext(), *value);
  return mlir::success();
}

template <typename EnumAttr>
void printKeyword(mlir::OpAsmPrinter &printer, mlir::Operation *,
                  EnumAttr attr) {
  printer << stringifyEnum(attr.getValue());
}

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_IR_ENUMFORMAT_H
