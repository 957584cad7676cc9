//===- Rewriter.cpp - Base of rewrites of the program's nodes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rewriter.h"

using namespace luminal;
using namespace luminal::pt2;

static Argument makeArgument(Argument::Kind kind,
                             std::vector<std::string> names,
                             std::vector<Expr> exprs) {
  Argument arg;
  arg.kind = kind;
  arg.names = std::move(names);
  arg.exprs = std::move(exprs);
  return arg;
}

Argument Rewriter::tensor(const std::string &name) {
  return makeArgument(Argument::Tensor, {name}, {});
}
Argument Rewriter::tensors(std::vector<std::string> names) {
  return makeArgument(Argument::Tensors, std::move(names), {});
}
Argument Rewriter::integer(const Expr &value) {
  return makeArgument(Argument::Int, {}, {value});
}
Argument Rewriter::integers(std::vector<Expr> values) {
  return makeArgument(Argument::Ints, {}, std::move(values));
}
Argument Rewriter::flag(bool value) {
  return makeArgument(Argument::Bool, {}, {Expr(int64_t(value))});
}
Argument Rewriter::text(const std::string &value) {
  return makeArgument(Argument::String, {value}, {});
}
Argument Rewriter::type(DTypeCode dtype) {
  return makeArgument(Argument::ScalarType, {}, {Expr(int64_t(dtype.code))});
}
Argument Rewriter::number(double value) {
  Argument arg;
  arg.kind = Argument::Float;
  arg.doubles = {value};
  return arg;
}

const Argument *Rewriter::get(const char *name, size_t position) const {
  for (const NamedArgument &input : node->inputs)
    if (input.name == name)
      return &input.value;
  bool isNamed =
      position < node->inputs.size() && !node->inputs[position].name.empty();
  return position < node->inputs.size() && !isNamed
             ? &node->inputs[position].value
             : nullptr;
}

bool Rewriter::enter(const Node &own) {
  node = &own;
  reason.clear();
  if (own.outputs.size() != 1 || own.outputs[0].kind != Argument::Tensor)
    return false;
  result = own.outputs[0].names[0];
  meta = program.tensors[result];
  return true;
}

std::string Rewriter::newName(const std::string &stem) {
  std::string name;
  for (unsigned i = 0; name.empty() || program.tensors.count(name); ++i)
    name = stem + ".part" + std::to_string(i);
  program.tensors[name];
  return name;
}

void Rewriter::make(const std::string &name, const char *op,
                    std::vector<NamedArgument> inputs, TensorMeta own) {
  Node made = *node;
  made.target = std::string("torch.ops.aten.") + op;
  made.inputs = std::move(inputs);
  made.outputs = {tensor(name)};
  nodes.push_back(std::move(made));
  program.tensors[name] = std::move(own);
}
