//===- Rewriter.h - Base of rewrites of the program's nodes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_REWRITER_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_REWRITER_H

#include "Graph.h"

namespace luminal::pt2 {

/// Base of rewrites of a program's nodes: reads the current node's arguments,
/// and creates nodes that replace it and keep its location.
class Rewriter {
protected:
  explicit Rewriter(ExportedProgram &program) : program(program) {}

  // Arguments.
  static Argument tensor(const std::string &name);
  static Argument tensors(std::vector<std::string> names);
  static Argument integer(const Expr &value);
  static Argument integers(std::vector<Expr> values);
  static Argument flag(bool value);
  static Argument number(double value);
  static Argument text(const std::string &value);
  static Argument type(DTypeCode dtype);

  /// The argument by its name or position; null if it is omitted.
  const Argument *get(const char *name, size_t position) const;
  /// The name of a tensor argument; empty if the argument is not a tensor.
  std::string getTensor(const char *name, size_t position) const {
    const Argument *arg = get(name, position);
    return arg && arg->kind == Argument::Tensor ? arg->names[0] : "";
  }

  /// Makes `own`, which must have a single result (`result`), the current node;
  /// false if it has another form.
  bool enter(const Node &own);
  std::string newName(const std::string &stem);
  /// Adds a node with one result, `name`, in place of the current one.
  void make(const std::string &name, const char *op,
            std::vector<NamedArgument> inputs, TensorMeta own);

  ExportedProgram &program;
  std::vector<Node> nodes;
  const Node *node = nullptr;
  /// The current node's only result, and its type.
  std::string result;
  TensorMeta meta;
  /// Why the node is not supported, if there is more to say.
  std::string reason;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_REWRITER_H
