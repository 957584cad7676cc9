//===- Wrappers.cpp - Inlines nodes that only set a mode ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch.export writes `with torch.no_grad():` and `with torch.autocast(...):`
// as one node around a nested graph. Operands and results correspond by
// position, and names inside are unrelated to names outside. This rewrite
// replaces such a node by the nodes of its graph, with names that are unique in
// the program.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include <algorithm>
#include <set>
#include <utility>

using namespace luminal;
using namespace luminal::pt2;

namespace {

/// A wrapper's arguments are settings, the graph, then the graph's operands.
struct Wrapper {
  std::string_view target;
  size_t settings;
  /// Index of the setting that enables autocast, if any.
  std::optional<size_t> autocast;
};
constexpr Wrapper wrappers[] = {
    // enabled
    {"torch.ops.higher_order.wrap_with_set_grad_enabled", 1, std::nullopt},
    // device type, dtype, enabled, cache
    {"torch.ops.higher_order.wrap_with_autocast", 4, 2},
};

const Wrapper *findWrapper(const std::string &target) {
  for (const Wrapper &wrapper : wrappers)
    if (target == wrapper.target)
      return &wrapper;
  return nullptr;
}

/// Maps the names of a graph's values to names in the program. The outermost
/// graph's names are unchanged, except for results of wrappers that are not new
/// values.
struct Scope {
  const Graph *graph = nullptr; ///< null: the outermost
  bool autocast = false;
  std::map<std::string, std::string> names = {};
  /// Names in the program of values that a later node defines.
  std::map<std::string, std::string> planned = {};
};

/// An operand or result, which need not be a tensor.
struct Slot {
  const Argument *arg;
  std::string tensor;
};

template <typename Arg, typename Fn>
void forEachName(Arg &arg, Fn &&fn) {
  if (arg.namesTensors())
    for (auto &name : arg.names)
      if (!name.empty())
        fn(name);
  for (auto &name : arg.symbolics)
    fn(name);
}

std::vector<Slot> getSlots(const Argument &arg) {
  if (!arg.namesTensors())
    return {{&arg, {}}};
  std::vector<Slot> slots;
  for (const std::string &name : arg.names)
    slots.push_back({&arg, name});
  return slots;
}

std::vector<Slot> getSlots(const std::vector<Argument> &args) {
  std::vector<Slot> slots;
  for (const Argument &arg : args)
    for (Slot &slot : getSlots(arg))
      slots.push_back(std::move(slot));
  return slots;
}

/// Checks that the node's operands or results match the graph's signature.
Status match(const Node &node, const char *what,
             const std::vector<Slot> &outside,
             const std::vector<Slot> &inside) {
  if (outside.size() != inside.size())
    return Error(node.path + ": has " + std::to_string(outside.size()) + " " +
                 what + "s, but its graph has " +
                 std::to_string(inside.size()));
  for (size_t i = 0; i < outside.size(); ++i) {
    const Argument &a = *outside[i].arg, &b = *inside[i].arg;
    bool tensors = a.namesTensors() && b.namesTensors() &&
                   outside[i].tensor.empty() == inside[i].tensor.empty();
    if (!tensors && (a.kind != b.kind || a.exprs != b.exprs ||
                     a.doubles != b.doubles || a.names != b.names))
      return Error(node.path + ": " + what + " " + std::to_string(i) +
                   " does not match its graph");
  }
  return {};
}

class Inliner {
public:
  explicit Inliner(ExportedProgram &program) : program(program) {}

  Status run() {
    std::vector<Node> nodes = std::move(program.nodes);
    program.nodes.clear();
    added = &program.nodes;
    for (const auto &[name, meta] : program.tensors)
      taken.insert(name);
    for (const Node &node : nodes)
      for (const Argument &output : node.outputs)
        forEachName(output, [&](const std::string &n) { taken.insert(n); });
    Scope scope;
    for (Node &node : nodes)
      LUMINAL_CHECK(add(std::move(node), scope));
    for (OutputSpec &output : program.outputs)
      LUMINAL_CHECK(rename(output.value, scope, {}));
    return {};
  }

private:
  /// Replaces the names that an argument reads.
  static Status rename(Argument &arg, const Scope &scope,
                       const std::string &path) {
    std::string unknown;
    forEachName(arg, [&](std::string &name) {
      auto it = scope.names.find(name);
      if (it != scope.names.end())
        name = it->second;
      else if (scope.graph && unknown.empty())
        unknown = name;
    });
    if (!unknown.empty())
      return Error(path + ": names '" + unknown +
                   "', which its graph does not define before");
    return {};
  }

  std::string makeUnique(const std::string &name) {
    std::string unique = name;
    for (unsigned &n = counts[name]; !taken.insert(unique).second;)
      unique = name + "." + std::to_string(++n);
    return unique;
  }

  /// Defines a value of the scope and returns its name in the program.
  std::string define(const std::string &name, const Scope &scope) {
    if (!scope.graph)
      return name;
    auto it = scope.planned.find(name);
    std::string global =
        it == scope.planned.end() ? makeUnique(name) : it->second;
    auto meta = scope.graph->tensors.find(name);
    if (meta != scope.graph->tensors.end())
      program.tensors.emplace(global, meta->second);
    return global;
  }

  Status add(Node node, Scope &scope) {
    for (NamedArgument &input : node.inputs)
      LUMINAL_CHECK(rename(input.value, scope, node.path));
    std::string twice;
    if (scope.graph)
      for (const Argument &output : node.outputs)
        forEachName(output, [&](const std::string &name) {
          if (scope.names.count(name))
            twice = name;
        });
    if (!twice.empty())
      return Error(node.path + ": defines '" + twice + "' a second time");
    if (const Wrapper *wrapper = findWrapper(node.target))
      return inlineGraph(node, *wrapper, scope);
    if (scope.graph)
      for (Argument &output : node.outputs)
        forEachName(output, [&](std::string &name) {
          std::string global = define(name, scope);
          scope.names[name] = global;
          name = global;
        });
    node.autocast = scope.autocast;
    for (NamedArgument &input : node.inputs)
      if (input.value.kind == Argument::Subgraph)
        LUMINAL_CHECK(makeUnique(input.value, scope.autocast));
    added->push_back(std::move(node));
    return {};
  }

  /// Renames the values defined by a graph that stays nested to unique names.
  Status makeUnique(Argument &arg, bool autocast) {
    auto unique = std::make_shared<Graph>(*arg.graph);
    Scope inner{arg.graph.get(), autocast};
    for (Argument &input : unique->inputs)
      forEachName(input, [&](std::string &name) {
        std::string global = define(name, inner);
        inner.names[name] = global;
        name = global;
      });
    unique->nodes.clear();
    std::vector<Node> *outer = std::exchange(added, &unique->nodes);
    Status done;
    for (const Node &node : arg.graph->nodes)
      if (done)
        done = add(node, inner);
    added = outer;
    LUMINAL_CHECK(done);
    for (Argument &output : unique->outputs)
      LUMINAL_CHECK(rename(output, inner, "graph " + arg.names[0]));
    arg.graph = std::move(unique);
    return {};
  }

  Status inlineGraph(const Node &node, const Wrapper &wrapper, Scope &outer) {
    auto at = std::find_if(node.inputs.begin(), node.inputs.end(),
                           [](const NamedArgument &input) {
                             return input.value.kind == Argument::Subgraph;
                           });
    size_t settings = at - node.inputs.begin();
    if (at == node.inputs.end())
      return Error(node.path + ": has no graph among its arguments");
    if (settings != wrapper.settings)
      return Error(node.path + ": has " + std::to_string(settings) +
                   " arguments before its graph, expected " +
                   std::to_string(wrapper.settings));
    const Graph &graph = *at->value.graph;
    Scope inner{&graph, outer.autocast};
    if (wrapper.autocast) {
      const Argument &enabled = node.inputs[*wrapper.autocast].value;
      if (enabled.kind != Argument::Bool)
        return Error(node.path + ": does not say whether autocast is enabled");
      inner.autocast = enabled.exprs[0].isConstant(1);
    }

    std::vector<Slot> operands;
    for (++at; at != node.inputs.end(); ++at)
      for (Slot &slot : getSlots(at->value))
        operands.push_back(std::move(slot));
    std::vector<Slot> parameters = getSlots(graph.inputs);
    LUMINAL_CHECK(match(node, "operand", operands, parameters));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!parameters[i].tensor.empty())
        inner.names[parameters[i].tensor] = operands[i].tensor;
      // A value that is constant outside has no name there.
      const auto &from = operands[i].arg->symbolics;
      const auto &to = parameters[i].arg->symbolics;
      for (size_t k = 0; k < to.size(); ++k)
        inner.names[to[k]] = k < from.size() ? from[k] : makeUnique(to[k]);
    }

    // A value that the graph computes is named after the wrapper's result. An
    // operand, or a value that is returned twice, already has a name.
    std::vector<Slot> results = getSlots(node.outputs);
    std::vector<Slot> returned = getSlots(graph.outputs);
    LUMINAL_CHECK(match(node, "result", results, returned));
    std::vector<std::pair<std::string, std::string>> pairs;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].tensor.empty())
        pairs.emplace_back(results[i].tensor, returned[i].tensor);
      const auto &from = results[i].arg->symbolics;
      const auto &to = returned[i].arg->symbolics;
      for (size_t k = 0; k < from.size() && k < to.size(); ++k)
        pairs.emplace_back(from[k], to[k]);
    }
    for (const auto &[result, value] : pairs)
      if (!inner.names.count(value) && !inner.planned.count(value))
        inner.planned[value] = define(result, outer);

    for (const Node &n : graph.nodes)
      LUMINAL_CHECK(add(n, inner));
    for (const auto &[result, value] : pairs) {
      auto it = inner.names.find(value);
      if (it == inner.names.end())
        return Error(node.path + ": its graph returns '" + value +
                     "', which it does not define");
      outer.names[result] = it->second;
    }
    return {};
  }

  ExportedProgram &program;
  /// Where nodes are added: the program, or a graph that stays nested.
  std::vector<Node> *added = nullptr;
  std::set<std::string> taken;
  std::map<std::string, unsigned> counts;
};

} // namespace

Status pt2::inlineWrappers(ExportedProgram &program) {
  return Inliner(program).run();
}
