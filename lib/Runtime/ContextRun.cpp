//===- ContextRun.cpp - Runs a call ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContextImpl.h"
#include <algorithm>
#include <utility>

using namespace luminal;
using namespace luminal::runtime;

/// Forwards the device's reports on steps to a listener of the context.
class Context::Impl::Reporter : public StepObserver {
public:
  /// For the steps of program `number`.
  Reporter(const Program &program, uint32_t number, StepListener &listener)
      : program(program), number(number), listener(listener) {}

  void before(uint32_t step, unsigned threads) override {
    const Plan::StepSlots &slots = program.plan.steps[step];
    report = {};
    report.step = step;
    report.program = number;
    // The first expression of a launch is `work`.
    report.work = valueOf(program.plan.launches[slots.launch]);
    report.traffic = valueOf(slots.traffic);
    report.flops = valueOf(slots.flops);
    report.threads = threads;
    report.buffers = {program.arguments.data() + program.firstArgument[step],
                      program.m.steps[step].buffers.size()};
    listener.before(report);
  }
  Status after(uint32_t, std::optional<double> microseconds) override {
    report.microseconds = microseconds;
    return listener.after(report);
  }

private:
  int64_t valueOf(SizeProgram::Slot slot) const {
    const SizeProgram::Value &value = program.values[slot];
    return value.valid ? value.value : 0;
  }

  const Program &program;
  uint32_t number;
  StepListener &listener;
  StepReport report;
};

Status Context::run(StepListener *listener) {
  if (impl->isCaptured)
    return Error("the context belongs to a captured graph");
  LUMINAL_CHECK(impl->getReady());
  return impl->end(impl->call(listener));
}

Status Context::setStream(std::optional<CallerStream> stream, bool isFree) {
  if (stream && !isFree) {
    LUMINAL_TRY(isCapturing, impl->device.isCapturing(*stream));
    if (isCapturing)
      return Error("the stream is being captured, and this call cannot be part "
                   "of a capture");
  }
  for (Impl::Program &program : impl->programs)
    LUMINAL_CHECK(program.launches->setStream(stream));
  impl->onCallersStream = stream.has_value();
  return {};
}

Status Context::capture(CallerStream stream) {
  if (impl->isCaptured || impl->onCallersStream)
    return Error("a captured context can make no other calls");
  LUMINAL_CHECK(impl->getReady());
  if (impl->crosses())
    return Error("a tensor of the call is in host memory: all tensors of a "
                 "captured call must be on the device");
  impl->isCaptured = true;
  // Assertions hold until a launch finds them false.
  for (uint32_t i : impl->assertions)
    *impl->outputs[i].own.data() = 1;
  return impl->program->launches->capture(stream, impl->copiesIn,
                                          impl->copiesOut);
}

/// Returns what launches of the captured graph have found; reports each finding
/// once.
Status Context::Impl::checkCaptured() {
  LUMINAL_CHECK(program->launches->checkDeferred());
  Status status = checkAssertions();
  for (uint32_t i : assertions)
    *outputs[i].own.data() = 1;
  return status;
}

Status Context::refreshPrepared() {
  return impl->prepared ? impl->refreshPrepared() : Status();
}

Status Context::synchronize() {
  impl->assertionFailed = false;
  if (impl->isCaptured)
    return impl->checkCaptured();
  return impl->inFlight ? impl->end(impl->settle()) : Status();
}

bool Context::failedAssertion() const { return impl->assertionFailed; }

Status Context::Impl::checkAssertions() {
  for (uint32_t i : assertions)
    if (*static_cast<const volatile uint8_t *>(outputs[i].own.data()) == 0) {
      assertionFailed = true;
      return Error(*m.outputs[i].assertion);
    }
  return {};
}

Status Context::Impl::grow(Memory &memory, uint64_t bytes, const char *what,
                           Device::Place place) {
  if (memory.data() && bytes <= memory.size())
    return {};
  if (inFlight)
    LUMINAL_CHECK(settle());
  if (memory.reserve(device, bytes, place))
    return {};
  return Error("out of memory: " + std::string(what) + " " +
               std::to_string(bytes) + " bytes");
}

Status Context::Impl::settle() {
  if (!inFlight && !onCallersStream)
    return {};
  const bool hasResults = std::exchange(inFlight, false);
  Status status = program->launches->finish();
  if (!status)
    breakStates(true);
  else if (hasResults)
    return checkAssertions();
  return status;
}

Status Context::Impl::getReady() {
  assertionFailed = false;
  // The next call overwrites the assertion results of the call in flight.
  if (inFlight && !assertions.empty())
    if (Status earlier = settle(); !earlier)
      return end(std::move(earlier));
  if (inFlight)
    if (Status earlier = program->launches->checkDeferred(); !earlier) {
      (void)bool(settle());
      breakStates(true);
      return end(std::move(earlier));
    }
  if (dimsChanged)
    LUMINAL_CHECK(prepareDims());
  if (weightsChanged)
    sortWeightRanges();
  if (pointersChanged)
    LUMINAL_CHECK(preparePointers());
  else if (!moved.empty())
    LUMINAL_CHECK(movePointers());
  if (statesBroken)
    LUMINAL_CHECK(checkStates());
  if (statesToStart)
    LUMINAL_CHECK(startStates());
  if (!program->countersClean)
    LUMINAL_CHECK(clearCounters());
  return {};
}

Status Context::Impl::end(Status status) {
  lastIsDone = bool(status) || assertionFailed;
  ++numCalls;
  // Some work items of a step may not have run.
  program->countersClean &= lastIsDone;
  return status;
}

bool Context::Impl::crosses() const {
  auto isAcross = [](const Copy &copy) {
    return copy.kind != Copy::Kind::Within;
  };
  return std::any_of(copiesIn.begin(), copiesIn.end(), isAcross) ||
         std::any_of(copiesOut.begin(), copiesOut.end(), isAcross);
}

void Context::Impl::breakStates(bool updated) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (program->inPlace[i] || (updated && inputs[i].updated))
      inputs[i].broken = statesBroken = true;
}

Status Context::Impl::call(StepListener *listener) {
  Status status;
  if (!copiesIn.empty())
    status = program->launches->copy(copiesIn);
  if (listener && status) {
    Reporter reporter(
        *program, static_cast<uint32_t>(program - programs.data()), *listener);
    status = program->launches->launch(&reporter);
  } else if (status) {
    status = program->launches->launch(nullptr);
  }
  if (!status) {
    breakStates(false);
    // Waits for the work that was started before the error.
    (void)bool(program->launches->finish());
    inFlight = false;
    return status;
  }
  if (!copiesOut.empty())
    status = program->launches->copy(copiesOut);
  if (status && onCallersStream && !listener && !crosses()) {
    inFlight = true;
    return program->launches->defer();
  }
  inFlight = false;
  if (Status done = program->launches->finish(); !done && status)
    status = std::move(done);
  if (!status)
    breakStates(true);
  else
    status = checkAssertions();
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
  LUMINAL_CHECK(settle());
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
  LUMINAL_CHECK(settle());
  Memory &counters = program->counters;
  if (counters.size() > 0) {
    const std::vector<uint8_t> zeros(counters.size());
    LUMINAL_CHECK(device.copy(
        {zeros.data(), counters.data(), counters.size(), Copy::Kind::In}));
  }
  program->countersClean = true;
  return {};
}
