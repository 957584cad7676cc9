//===- Custom.cpp - User kernels as ops -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Custom.h"
#include "OpCall.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// Passes tensors in order, and numbers as tensors without dims (f64, i64, i1).
static Status buildCustom(OpCall &o) {
  OpBuilder &b = o.c.getBuilder();
  SmallVector<Value> operands;
  for (const Parameter &p : o.entry.parameters) {
    if (p.type == Parameter::TensorList) {
      llvm::append_range(operands, o.tensors(p.name));
      continue;
    }
    Operand operand = o.operand(p.name);
    if (operand.tensor) {
      operands.push_back(*operand.tensor);
      continue;
    }
    Type type = operand.number.kind == Number::Float ? Type(b.getF64Type())
                : operand.number.kind == Number::Int ? o.i64()
                                                     : o.i1();
    operands.push_back(o.materialize(operand.number, type));
  }
  SmallVector<Type> types;
  for (unsigned i = 0; i < o.getNumResults(); ++i) {
    const TensorMeta *meta = o.resultMeta(i);
    auto dtype = meta ? meta->dtype.dtype() : std::nullopt;
    if (!dtype)
      return o.fail("the archive states no type of its result");
    types.push_back(
        getTensorType(SmallVector<Expr>(meta->sizes.begin(), meta->sizes.end()),
                      getElementType(b.getContext(), *dtype)));
  }
  auto op = CustomOp::create(b, o.c.getLoc(), types, o.entry.name, operands);
  return o.ret(SmallVector<Value>(op.getResults()));
}

std::string pt2::getKernelName(StringRef target) {
  auto [space, rest] = target.split('.');
  auto [name, overload] = rest.split('.');
  std::string kernel = (space + "::" + name).str();
  if (!overload.empty() && overload != "default")
    kernel += ("." + overload).str();
  return kernel;
}

OpEntry pt2::makeCustomEntry(StringRef kernel, const Node &node) {
  OpEntry entry;
  entry.name = kernel.str();
  entry.handler = buildCustom;
  for (const NamedArgument &input : node.inputs) {
    Parameter &p = entry.parameters.emplace_back();
    p.name = input.name;
    p.symbolic = true;
    // Binding rejects everything that is neither a tensor nor a number.
    p.type = input.value.kind == Argument::Tensors ? Parameter::TensorList
                                                   : Parameter::Tensor;
  }
  return entry;
}
