//===- Plan.cpp - Size expressions of a manifest, compiled ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan.h"

using namespace luminal;
using namespace luminal::runtime;

/// Finds a source for the value of every symbol.
static Status planSources(const Manifest &m, Plan &plan) {
  for (uint32_t i = 0; i < m.inputs.size(); ++i)
    for (uint32_t axis = 0; axis < m.inputs[i].shape.size(); ++axis) {
      plan.extents.push_back(m.inputs[i].shape[axis]);
      plan.extentPlaces.push_back({i, axis});
    }
  for (const IntegerInput &integer : m.integers)
    plan.extents.push_back(integer.value);
  plan.sources = planSymbols(m.symbols, plan.extents);
  std::vector<bool> found(m.symbols.size());
  for (const SymbolSource &source : plan.sources)
    found[source.symbol] = true;
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      return Error("symbols[" + std::to_string(i) +
                   "]: " + describeUnsolved(m.symbols[i].name, plan.extents));
  return {};
}

Result<Plan> Plan::build(const Manifest &m) {
  std::vector<std::string> names;
  for (const SymbolSpec &symbol : m.symbols)
    names.push_back(symbol.name);
  Plan plan;
  LUMINAL_CHECK(planSources(m, plan));
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
  for (const IntegerInput &integer : m.integers)
    plan.inputExtents.push_back(plan.sizes.add(integer.value));
  addExtents(m.outputs, plan.outputStart, plan.outputExtents);
  for (const BufferSpec &buffer : m.buffers)
    plan.buffers.push_back(
        {plan.sizes.add(buffer.offset), plan.sizes.add(buffer.bytes)});
  for (const StepSpec &step : m.steps) {
    plan.steps.push_back({plan.sizes.add(step.traffic),
                          plan.sizes.add(step.flops),
                          static_cast<uint32_t>(plan.launches.size())});
    visitExprs(step.launch, [&](std::string_view, const Expr &e) {
      plan.launches.push_back(plan.sizes.add(e));
    });
  }
  plan.arenaBytes = plan.sizes.add(m.arenaBytes);
  for (const Requirement &requirement : m.requirements)
    plan.requirements.push_back({plan.sizes.add(requirement.lesser),
                                 plan.sizes.add(requirement.greater)});
  return plan;
}
