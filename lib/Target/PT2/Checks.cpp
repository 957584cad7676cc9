//===- Checks.cpp - Assertions and guards ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An assertion about sizes is proved at import or checked at each call, and
// nodes used only by such assertions are dropped. An assertion about elements
// is computed together with the results (Scalars.cpp).
//
// A guard is a condition on the sizes of inputs under which the model takes the
// traced path: `if x.shape[0] % 2 == 0`. The ranges of symbols do not imply it.
// A guard is proved or checked at each call, like an assertion.
//
//===----------------------------------------------------------------------===//

#include "Archive/Guard.h"
#include "Importer.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

const Argument *Importer::find(const Node &node, StringRef name,
                               size_t position) {
  for (const NamedArgument &input : node.inputs)
    if (input.name == name)
      return &input.value;
  if (position < node.inputs.size() && node.inputs[position].name.empty())
    return &node.inputs[position].value;
  return nullptr;
}

/// The assertion that a node makes; std::nullopt for other nodes.
std::optional<Importer::Assertion> Importer::readAssertion(const Node &node) {
  StringRef op = node.target;
  if (!op.consume_front("torch.ops.aten."))
    return std::nullopt;
  op = op.split('.').first;
  Assertion assertion;
  if (const Argument *text = find(node, "assert_msg", 1))
    if (text->kind == Argument::String)
      assertion.text = text->names[0];
  if (op == "_assert_async" || op == "_functional_assert_async")
    return assertion;
  if (op == "_assert_scalar" || op == "_functional_assert_scalar") {
    const Argument *self = find(node, "self", 0);
    if (self && self->kind == Argument::Condition)
      assertion.condition = self->exprs[0];
    else if (self && self->kind == Argument::Bool)
      assertion.condition = self->exprs[0] - Expr(1);
    else if (!self || self->symbolics.empty())
      return std::nullopt;
    return assertion;
  }
  if (op == "sym_constrain_range" || op == "sym_constrain_range_for_size") {
    const Argument *size = find(node, "size", 0);
    if (!size || size->kind != Argument::Int)
      return std::nullopt;
    Expr condition(0);
    const Argument *min = find(node, "min", 1), *max = find(node, "max", 2);
    if (min && min->kind == Argument::Int)
      condition = Expr::min(condition, size->exprs[0] - min->exprs[0]);
    if (max && max->kind == Argument::Int)
      condition = Expr::min(condition, max->exprs[0] - size->exprs[0]);
    assertion.condition = condition;
    assertion.text = "the range of " + size->exprs[0].str();
    return assertion;
  }
  return std::nullopt;
}

/// Whether the node has no effect other than its results.
static bool isPure(const Node &node) {
  StringRef target = node.target;
  if (Importer::isSymbolic(node))
    return true;
  if (!target.consume_front("torch.ops.aten.") || Importer::isInPlace(node))
    return false;
  auto [op, overload] = target.split('.');
  // These write the running statistics.
  return !overload.contains("out") && !op.contains("batch_norm") &&
         op != "instance_norm";
}

void Importer::findChecks() {
  // Collect the numbers read from elements, and the values computed from them,
  // either by ops or by the expression of a size that stands for such a number.
  std::map<std::string, std::string> readers; // number of each symbol
  auto numbersIn = [&](const Argument &arg) {
    std::vector<std::string> symbols, numbers;
    for (const Expr &expr : arg.exprs)
      expr.collectSymbols(symbols);
    for (const std::string &symbol : symbols)
      if (auto it = readers.find(symbol); it != readers.end())
        numbers.push_back(it->second);
    return numbers;
  };
  for (const Node &node : program.nodes) {
    bool fromElements = !isSymbolic(node);
    for (const NamedArgument &input : node.inputs)
      for (const std::string &name : input.value.symbolics)
        fromElements |= readFromElements.count(name) != 0;
    for (const Argument &output : node.outputs)
      fromElements |= !numbersIn(output).empty();
    if (!fromElements)
      continue;
    for (const Argument &output : node.outputs) {
      readFromElements.insert(output.symbolics.begin(), output.symbolics.end());
      if (readsElement(node) && output.kind == Argument::Int)
        if (std::optional<std::string_view> symbol = output.exprs[0].asSymbol())
          readers.try_emplace(std::string(*symbol), output.symbolics[0]);
    }
  }
  auto isAboutSizes = [&](const Node &node, const Assertion &assertion) {
    for (const NamedArgument &input : node.inputs)
      for (const std::string &name : input.value.symbolics)
        if (readFromElements.count(name))
          return false;
    return assertion.condition && isOfSizes(*assertion.condition);
  };

  // Collect the values that cannot be computed, such as a random number drawn
  // for a layer that only training uses, and everything computed from them.
  std::set<std::string> refused;
  for (const Node &node : program.nodes) {
    bool isRefused = !getRefusal(node.getOp()).empty();
    for (const NamedArgument &input : node.inputs)
      for (const std::string &name : input.value.names)
        isRefused |= refused.count(name) != 0;
    if (isRefused)
      for (const Argument &output : node.outputs)
        refused.insert(output.names.begin(), output.names.end());
  }

  // In reverse order, collect the values used by nodes that stay, those used by
  // nodes that are dropped, and the numbers used by assertions about elements.
  std::set<std::string> used, checked, asserted;
  auto forEachName = [](const Argument &arg, auto &&fn) {
    if (arg.namesTensors())
      llvm::for_each(arg.names, fn);
    llvm::for_each(arg.symbolics, fn);
  };
  for (const OutputSpec &spec : program.outputs)
    forEachName(spec.value, [&](const std::string &n) { used.insert(n); });
  roles.assign(program.nodes.size(), Role());
  for (size_t i = program.nodes.size(); i-- > 0;) {
    const Node &node = program.nodes[i];
    Role &role = roles[i];
    bool stays = false, feedsCheck = false, isRefused = false;
    for (const Argument &output : node.outputs)
      forEachName(output, [&](const std::string &name) {
        stays |= used.count(name) != 0;
        feedsCheck |= checked.count(name) != 0;
        isRefused |= refused.count(name) != 0;
        role.isScalar |= asserted.count(name) != 0;
      });
    if (std::optional<Assertion> assertion = readAssertion(node);
        assertion && !stays) {
      role.isDropped = true;
      if (isAboutSizes(node, *assertion))
        checks.push_back({&node, *assertion->condition, assertion->text});
      else
        role.asserted = assertion->text;
    } else if (!stays) {
      // Numbers that nothing uses are not computed.
      role.isDropped =
          ((feedsCheck || isRefused) && !role.isScalar && isPure(node)) ||
          isSymbolic(node) || readsElement(node);
    }
    const bool computes = role.isScalar || role.asserted;
    for (const NamedArgument &input : node.inputs) {
      // A token only orders assertions.
      const bool isRead =
          computes && !(role.asserted && input.name == "dep_token");
      if (input.value.namesTensors())
        for (const std::string &name : input.value.names)
          (isRead || !role.isDropped ? used : checked).insert(name);
      std::vector<std::string> numbers = input.value.symbolics;
      llvm::append_range(numbers, numbersIn(input.value));
      for (const std::string &name : numbers) {
        if (isRead)
          asserted.insert(name);
        if (!isRead || !role.isDropped)
          (role.isDropped ? checked : used).insert(name);
      }
    }
  }
  std::reverse(checks.begin(), checks.end());
}

LogicalResult Importer::makeChecks() {
  SmallVector<Requirement> required = agreed;
  for (const Check &check : checks) {
    if (assumptions.provablyNonNegative(check.condition))
      continue;
    if (!assumptions.provablyNonNegative(-check.condition - Expr(1))) {
      addRequirements(required, {{Expr(0), check.condition, {}, check.text}});
      continue;
    }
    problems.push_back({check.node->getOp(),
                        "asserts a condition that never holds: " + check.text,
                        getLoc(*check.node)});
  }
  if (failed(makeGuards(required)))
    return failure();
  setRequirements(function, required);
  return success();
}

const InputSpec *Importer::findGuarded(StringRef name) const {
  auto isUser = [](const InputSpec &input) {
    return input.kind == InputSpec::User || input.kind == InputSpec::Integer ||
           input.kind == InputSpec::Literal;
  };
  // A strict trace numbers all inputs as elements of one list.
  unsigned position;
  const bool isFlat =
      name.consume_front("flat_args_") && !name.getAsInteger(10, position);
  for (const InputSpec &input : program.inputs)
    if (isUser(input) && (isFlat ? position-- == 0 : input.name == name))
      return &input;
  return nullptr;
}

Result<Expr> Importer::evaluateGuard(StringRef guard) const {
  // A guard may use the same name for two arguments: then neither is known.
  std::map<std::string, std::string> paths;
  auto lookup = [&](const GuardSource &source) -> Result<Expr> {
    const InputSpec::Kind kind =
        source.property.empty() ? InputSpec::Integer : InputSpec::User;
    const InputSpec *input = findGuarded(source.name);
    auto [known, isNew] = paths.emplace(source.name, source.path);
    const TensorMeta *meta = input ? getMeta(input->name) : nullptr;
    if (!input || input->kind != kind || known->second != source.path ||
        (kind == InputSpec::User && !meta))
      return Error("'" + source.path + "' is not the name of an input");
    if (kind == InputSpec::Integer)
      return input->literal.exprs[0];
    if (source.property == "storage_offset")
      return meta->storageOffset;
    const auto &values =
        source.property == "size" ? meta->sizes : meta->strides;
    if (source.dim >= static_cast<int64_t>(values.size()))
      return Error("'" + source.path + "' has no dim " +
                   std::to_string(source.dim));
    return values[source.dim];
  };
  return parseGuard(std::string_view(guard), lookup);
}

LogicalResult Importer::makeGuards(SmallVectorImpl<Requirement> &required) {
  for (StringRef guard : program.guards) {
    Result<Expr> condition = evaluateGuard(guard);
    if (!condition) {
      emitWarning(fileLoc) << "a guard of the trace is not checked: '" << guard
                           << "' " << condition.error().message;
      continue;
    }
    auto options = remark::RemarkOpts::name("guard")
                       .category("import-pt2")
                       .function("main");
    remark::detail::Remark::Arg text("guard", guard);
    if (assumptions.provablyNonNegative(*condition)) {
      remark::passed(fileLoc, options) << text << "proved";
      continue;
    }
    if (assumptions.provablyNonNegative(-*condition - Expr(1)))
      return fail(fileLoc, "a guard of the trace never holds: " + guard);
    addRequirements(required, {{Expr(0),
                                *condition,
                                {},
                                ("the model was traced for " + guard).str()}});
    remark::passed(fileLoc, options) << text << "checked at each call";
  }
  return success();
}
