//===- ContextRun.cpp - One call ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContextImpl.h"

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// Tells a listener of the context what the device tells.
class Reporter : public StepObserver {
public:
  Reporter(const Manifest &m, const Plan &plan,
           std::span<const SizeProgram::Value> values,
           std::span<const uint32_t> firstArgument, void *const *arguments,
           StepListener &listener)
      : m(m), plan(plan), values(values), firstArgument(firstArgument),
        arguments(arguments), listener(listener) {}

  void before(uint32_t step, unsigned threads) override {
    const Plan::StepSlots &slots = plan.steps[step];
    report = {};
    report.step = step;
    // The first expression of a launch is its work.
    report.work = number(plan.launches[slots.launch]);
    report.traffic = number(slots.traffic);
    report.flops = number(slots.flops);
    report.threads = threads;
    report.buffers = {arguments + firstArgument[step],
                      m.steps[step].buffers.size()};
    listener.before(report);
  }
  Status after(uint32_t, std::optional<double> microseconds) override {
    report.microseconds = microseconds;
    return listener.after(report);
  }

private:
  int64_t number(SizeProgram::Slot slot) const {
    return values[slot].valid ? values[slot].value : 0;
  }

  const Manifest &m;
  const Plan &plan;
  std::span<const SizeProgram::Value> values;
  std::span<const uint32_t> firstArgument;
  void *const *arguments;
  StepListener &listener;
  StepReport report;
};
} // namespace

Status Context::run(StepListener *listener) {
  Impl &c = *impl;
  if (c.dimsChanged)
    LUMINAL_CHECK(c.prepareDims());
  if (c.weightsChanged)
    c.sortWeightRanges();
  if (c.pointersChanged)
    LUMINAL_CHECK(c.preparePointers());
  if (c.statesBroken)
    LUMINAL_CHECK(c.checkStates());
  if (c.statesToStart)
    LUMINAL_CHECK(c.startStates());
  if (!c.countersClean)
    LUMINAL_CHECK(c.clearCounters());
  if (Status status = c.call(listener); !status) {
    for (Impl::Output &output : c.outputs)
      output.current = false;
    // Some units of a step may not have run.
    c.countersClean = false;
    return status;
  }
  for (Impl::Output &output : c.outputs)
    output.current = true;
  return {};
}

Status Context::Impl::call(StepListener *listener) {
  // States that the device may have changed when it tells of an error.
  auto breakStates = [&](bool updated) {
    for (Input &input : inputs)
      if (input.inPlace || (updated && input.updated))
        input.broken = statesBroken = true;
  };
  Status status;
  for (const Copy &copy : copiesIn)
    if (status)
      status = launches->copy(copy);
  if (listener && status) {
    Reporter reporter(m, plan, values, firstArgument, arguments.data(),
                      *listener);
    status = launches->launch(&reporter);
  } else if (status) {
    status = launches->launch(nullptr);
  }
  if (!status) {
    breakStates(false);
    // What was started before the error ends with the call.
    (void)bool(launches->finish());
    return status;
  }
  for (const Copy &copy : copiesOut)
    if (status)
      status = launches->copy(copy);
  if (Status done = launches->finish(); !done && status)
    status = std::move(done);
  if (!status)
    breakStates(true);
  return status;
}

Error Context::Impl::brokenState(uint32_t input) const {
  return Error("a call failed while it changed the state '" +
               m.inputs[input].name + "' in place: reset it, or rebind it");
}

Status Context::Impl::checkStates() {
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].broken)
      return brokenState(i);
  statesBroken = false;
  return {};
}

Status Context::Impl::copyInitialValue(uint32_t state) {
  uint32_t weight = *m.inputs[state].initial;
  if (!weights[weight].data)
    return Error("weight '" + m.weights[weight].name +
                 "', the initial value of state '" + m.inputs[state].name +
                 "', is not bound");
  const void *from =
      weights[weight].place ? weights[weight].place : weights[weight].data;
  if (m.weights[weight].bytes == 0)
    return {};
  return device.copy(
      {from, inputs[state].own.data(), m.weights[weight].bytes,
       device.reaches(from) ? Copy::Kind::Within : Copy::Kind::In});
}

Status Context::Impl::startStates() {
  for (uint32_t i : artifact->getStates()) {
    if (!inputs[i].start || inputs[i].bound)
      continue;
    LUMINAL_CHECK(copyInitialValue(i));
    inputs[i].start = false;
  }
  statesToStart = false;
  return {};
}

Status Context::Impl::clearCounters() {
  if (counters.size() > 0) {
    const std::vector<uint8_t> zeros(counters.size());
    LUMINAL_CHECK(device.copy(
        {zeros.data(), counters.data(), counters.size(), Copy::Kind::In}));
  }
  countersClean = true;
  return {};
}
