//===- Plan.cpp - A manifest made ready to be evaluated -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan.h"
#include <algorithm>

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// Finds for each symbol an extent it follows from: bare symbols first, then
/// extents that are linear in their only symbol not found so far.
Status planSolves(const Manifest &m, const std::vector<std::string> &names,
                  Plan &plan) {
  std::vector<bool> found(names.size());
  auto indexOf = [&](std::string_view name) {
    return static_cast<uint32_t>(
        std::lower_bound(names.begin(), names.end(), name) - names.begin());
  };
  auto forEachExtent = [&](auto fn) {
    for (uint32_t i = 0; i < m.inputs.size(); ++i)
      for (uint32_t axis = 0; axis < m.inputs[i].shape.size(); ++axis)
        fn(i, axis, m.inputs[i].shape[axis]);
  };
  forEachExtent([&](uint32_t input, uint32_t axis, const Expr &extent) {
    std::optional<std::string_view> name = extent.asSymbol();
    if (!name || found[indexOf(*name)])
      return;
    found[indexOf(*name)] = true;
    plan.solves.push_back({indexOf(*name), input, axis, true, SizeProgram()});
  });
  for (bool changed = true; changed;) {
    changed = false;
    forEachExtent([&](uint32_t input, uint32_t axis, const Expr &extent) {
      std::vector<std::string> used;
      extent.collectSymbols(used);
      std::erase_if(used,
                    [&](const std::string &n) { return found[indexOf(n)]; });
      if (used.size() != 1)
        return;
      // As an expression in an index, its linear form is known.
      Expr inIndex =
          extent.substitute([&](const Expr &leaf) -> std::optional<Expr> {
            if (leaf.asSymbol() == used.front())
              return Expr::dim(0);
            return std::nullopt;
          });
      std::optional<Expr::Linear> linear = inIndex.linearIn(0);
      if (!linear || linear->stride.isUndefined() ||
          linear->rest.isUndefined() || linear->stride.isConstant(0))
        return;
      uint32_t symbol = indexOf(used.front());
      found[symbol] = true;
      changed = true;
      Plan::Solve solve{symbol, input, axis, false, SizeProgram(names)};
      solve.stride = solve.program.add(linear->stride);
      solve.rest = solve.program.add(linear->rest);
      plan.largestSolve = std::max(plan.largestSolve, solve.program.numSlots());
      plan.solves.push_back(std::move(solve));
    });
  }
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      return Error("symbols[" + std::to_string(i) + "]: the value of '" +
                   names[i] + "' does not follow from the shape of any input");
  return {};
}
} // namespace

Result<Plan> Plan::build(const Manifest &m) {
  std::vector<std::string> names;
  for (const SymbolSpec &symbol : m.symbols)
    names.push_back(symbol.name);
  Plan plan;
  LUMINAL_CHECK(planSolves(m, names, plan));
  plan.sizes = SizeProgram(names);
  auto addExtents = [&](const auto &tensors, std::vector<uint32_t> &start,
                        std::vector<SizeProgram::Slot> &slots) {
    for (const auto &tensor : tensors) {
      start.push_back(static_cast<uint32_t>(slots.size()));
      for (const Expr &extent : tensor.shape)
        slots.push_back(plan.sizes.add(extent));
    }
    start.push_back(static_cast<uint32_t>(slots.size()));
  };
  addExtents(m.inputs, plan.inputStart, plan.inputExtents);
  addExtents(m.outputs, plan.outputStart, plan.outputExtents);
  for (const BufferSpec &buffer : m.buffers)
    plan.buffers.push_back(
        {plan.sizes.add(buffer.offset), plan.sizes.add(buffer.bytes)});
  for (const StepSpec &step : m.steps)
    plan.steps.push_back({plan.sizes.add(step.work), plan.sizes.add(step.grain),
                          plan.sizes.add(step.scratch),
                          plan.sizes.add(step.traffic),
                          plan.sizes.add(step.flops)});
  plan.arenaBytes = plan.sizes.add(m.arenaBytes);
  return plan;
}
