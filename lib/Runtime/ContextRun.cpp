//===- ContextRun.cpp - One call ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContextImpl.h"
#include "luminal/Runtime/ThreadPool.h"
#include <cstring>

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// The arguments of one part of a step.
struct Part {
  KernelFn kernel;
  void *const *buffers;
  const int64_t *symbols;
  uint8_t *scratch;
  uint64_t stride;
};

// Kernels have no type for the sanitizer's check of indirect calls.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
int32_t runPart(void *data, int64_t begin, int64_t end, unsigned slot) {
  const Part &part = *static_cast<const Part *>(data);
  return part.kernel(part.buffers, part.symbols, begin, end,
                     part.stride ? part.scratch + slot * part.stride : nullptr);
}

/// Releases the pool at the end of the call.
class PoolLease {
public:
  explicit PoolLease(unsigned threads) {
    if (threads > 1 && ThreadPool::get().tryAcquire(threads))
      pool = &ThreadPool::get();
  }
  ~PoolLease() {
    if (pool)
      pool->release();
  }
  ThreadPool *pool = nullptr;
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
  for (const Impl::Copy &copy : c.copiesIn)
    std::memcpy(copy.to, copy.from, copy.bytes);
  if (Status status = c.runSteps(listener); !status) {
    for (Impl::Input &input : c.inputs)
      if (input.inPlace)
        input.broken = c.statesBroken = true;
    for (Impl::Output &output : c.outputs)
      output.current = false;
    return status;
  }
  for (const Impl::Copy &copy : c.copiesOut)
    std::memmove(copy.to, copy.from, copy.bytes);
  for (Impl::Output &output : c.outputs)
    output.current = true;
  return {};
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
  std::memcpy(inputs[state].own.data(), weights[weight].data,
              m.weights[weight].bytes);
  return {};
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

Status Context::Impl::runSteps(StepListener *listener) {
  PoolLease lease(mostThreads);
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    void *const *buffers = arguments.data() + step.firstBuffer;
    Part part{step.kernel, buffers, symbols.data(), scratch.data(),
              scratchStride};
    StepReport report;
    if (listener) {
      auto number = [&](SizeProgram::Slot slot) {
        return values[slot].valid ? values[slot].value : 0;
      };
      report = {i,
                step.work,
                number(plan.steps[i].traffic),
                number(plan.steps[i].flops),
                lease.pool ? step.threads : 1,
                {buffers, step.numBuffers}};
      listener->before(report);
    }
    int32_t result = 0;
    if (step.work > 0)
      result = lease.pool && step.threads > 1
                   ? lease.pool->parallelFor(step.work, step.chunk,
                                             step.threads, runPart, &part)
                   : runPart(&part, 0, step.work, 0);
    if (result != 0)
      return stepFailed(i);
    if (listener)
      LUMINAL_CHECK(listener->after(report));
  }
  return {};
}

Status Context::Impl::stepFailed(uint32_t step) const {
  return Error("step " + std::to_string(step) + " (" + m.steps[step].name +
               ", kernel " + m.steps[step].kernel +
               "): an index is out of range");
}
