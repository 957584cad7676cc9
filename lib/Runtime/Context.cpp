//===- Context.cpp - The calls that one thread makes of an artifact -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContextImpl.h"
#include "luminal/Runtime/ThreadPool.h"
#include "luminal/Support/Tensor.h"
#include <algorithm>

using namespace luminal;
using namespace luminal::runtime;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Context::Context(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Context::~Context() = default;

const Artifact &Context::getArtifact() const { return *impl->artifact; }

Result<std::unique_ptr<Context>>
Context::create(std::shared_ptr<const Artifact> artifact,
                const ContextOptions &options) {
  if (!artifact->getDevice())
    return Error(artifact->getName() + ": was loaded without its code");
  auto impl = std::make_unique<Impl>(std::move(artifact));
  LUMINAL_CHECK(impl->initialize(options));
  return std::unique_ptr<Context>(new Context(std::move(impl)));
}

Status Context::Impl::initialize(const ContextOptions &options) {
  // Limited because the pool's state has 15 bits for the number of workers.
  constexpr unsigned mostUseful = 1024;
  threads = std::min(options.threads ? options.threads : availableThreads(),
                     mostUseful);
  inputs.resize(m.inputs.size());
  outputs.resize(m.outputs.size());
  weights.resize(m.weights.size());
  inputExtents.assign(plan.inputExtents.size(), -1);
  integersBound.assign(m.integers.size(), false);
  boundOutputExtents.assign(plan.outputExtents.size(), -1);
  outputExtents.assign(plan.outputExtents.size(), -1);
  symbols.assign(m.symbols.size(), 0);
  solvedBy.assign(m.symbols.size(), 0);
  programs.reserve(artifact->getPrograms().size());
  for (const Artifact::Program &from : artifact->getPrograms())
    LUMINAL_CHECK(
        initialize(programs.emplace_back(*from.manifest, *from.plan), from));
  program = &programs.front();
  for (size_t i = 0; i < m.weights.size(); ++i)
    weights[i].data = artifact->getWeight(static_cast<uint32_t>(i));

  for (uint32_t i : artifact->getStates()) {
    // The initial value has constant extents, so the state does too.
    const InputSpec &spec = m.inputs[i];
    for (size_t axis = 0; axis < spec.shape.size(); ++axis)
      inputExtents[plan.inputStart[i] + axis] = *spec.shape[axis].asConstant();
    inputs[i].bytes = static_cast<int64_t>(m.weights[*spec.initial].bytes);
    if (!inputs[i].own.reserve(device, inputs[i].bytes))
      return Error(artifact->getName() + ": out of memory for the state '" +
                   spec.name + "'");
    inputs[i].start = statesToStart = true;
  }
  for (const OutputSpec &output : m.outputs)
    if (output.updates)
      inputs[*output.updates].updated = true;
  for (uint32_t i = 0; i < m.outputs.size(); ++i) {
    if (!m.outputs[i].assertion)
      continue;
    // In host memory that the device can write: no copy is needed.
    if (!outputs[i].own.reserve(device, 1, Device::Place::Host))
      return Error(artifact->getName() + ": out of memory for assertions");
    assertions.push_back(i);
  }
  copiesIn.reserve(m.inputs.size());
  copiesOut.reserve(m.inputs.size() + 2 * m.outputs.size());
  copyEnds.reserve(copiesOut.capacity());
  moved.reserve(m.inputs.size() + m.outputs.size());
  callerExtents.reserve(m.inputs.size() + m.outputs.size());
  weightExtents.reserve(m.weights.size());
  return {};
}

Status Context::Impl::initialize(Program &p, const Artifact::Program &from) {
  LUMINAL_TRY(made, device.createPlan(p.m, from.kernels, threads));
  p.launches = std::move(made);
  p.values.resize(p.plan.sizes.numSlots());
  p.ranges.resize(p.m.buffers.size());
  p.pointers.assign(p.m.buffers.size(), nullptr);
  p.owners.assign(p.m.buffers.size(), 0);
  for (uint32_t i = 0; i < p.m.inputs.size(); ++i)
    p.owners[p.m.inputs[i].buffer] = i;
  for (uint32_t i = 0; i < p.m.weights.size(); ++i)
    if (p.m.weights[i].buffer)
      p.owners[*p.m.weights[i].buffer] = i;
  // If several outputs share a buffer, the first one owns it.
  for (uint32_t i = static_cast<uint32_t>(p.m.outputs.size()); i-- > 0;)
    if (p.m.buffers[p.m.outputs[i].buffer].kind == BufferSpec::Kind::Output)
      p.owners[p.m.outputs[i].buffer] = i;
  p.inPlace.assign(p.m.inputs.size(), false);
  uint32_t next = 0;
  for (const StepSpec &spec : p.m.steps) {
    p.firstArgument.push_back(next);
    next += static_cast<uint32_t>(spec.buffers.size());
    for (size_t k = spec.getFirstResult(); k < spec.getFirstWorkspace(); ++k)
      if (uint32_t root = p.m.rootBuffer(spec.buffers[k]);
          p.m.buffers[root].kind == BufferSpec::Kind::Input)
        p.inPlace[p.owners[root]] = true;
  }
  p.arguments.assign(next, nullptr);
  p.launchValues.assign(p.plan.launches.size(), 0);
  return {};
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

template <typename Spec>
Status Context::Impl::checkBinding(const char *what, const Spec &spec,
                                   const void *data, DType dtype,
                                   std::span<const int64_t> shape) const {
  auto where = [&] { return std::string(what) + " '" + spec.name + "': "; };
  if (dtype != spec.dtype)
    return Error(where() + "has element type " + std::string(dtypeName(dtype)) +
                 ", expected " + std::string(dtypeName(spec.dtype)));
  if (shape.size() != spec.shape.size())
    return Error(where() + "has rank " + std::to_string(shape.size()) +
                 ", expected " + runtime::typeText(spec));
  for (size_t i = 0; i < shape.size(); ++i) {
    std::optional<int64_t> constant = spec.shape[i].asConstant();
    if (shape[i] < 0 || (constant && *constant != shape[i]))
      return Error(where() + "dim " + std::to_string(i) + " is " +
                   std::to_string(shape[i]) + ", expected " +
                   runtime::typeText(spec));
  }
  std::optional<int64_t> bytes = tensorBytes(dtype, shape.data(), shape.size());
  if (!bytes)
    return Error(where() + "is too large");
  if (!data && *bytes > 0)
    return Error(where() + "has no memory");
  return {};
}

Status Context::bindInput(uint32_t index, const void *data, DType dtype,
                          std::span<const int64_t> shape) {
  Impl &c = *impl;
  if (index >= c.inputs.size())
    return Error("there is no input " + std::to_string(index));
  Impl::Input &input = c.inputs[index];
  int64_t *extents = c.inputExtents.data() + c.plan.inputStart[index];
  bool sameShape = input.bound && dtype == c.m.inputs[index].dtype &&
                   shape.size() == c.m.inputs[index].shape.size() &&
                   std::equal(shape.begin(), shape.end(), extents);
  if (sameShape && data == input.data) {
    input.broken = false;
    return {};
  }
  LUMINAL_CHECK(c.checkBinding("input", c.m.inputs[index], data, dtype, shape));
  if (!sameShape) {
    std::copy(shape.begin(), shape.end(), extents);
    input.bytes = *tensorBytes(dtype, shape.data(), shape.size());
    c.dimsChanged = true;
  }
  // Binding a state provides its value.
  input.broken = false;
  input.data = data;
  if (input.bound)
    c.noteMove(index);
  else
    c.pointersChanged = true;
  input.bound = true;
  return {};
}

Status Context::bindInteger(uint32_t index, int64_t value) {
  Impl &c = *impl;
  if (index >= c.integersBound.size())
    return Error("there is no integer " + std::to_string(index));
  int64_t &bound = c.inputExtents[c.plan.inputStart.back() + index];
  if (c.integersBound[index] && bound == value)
    return {};
  bound = value;
  c.integersBound[index] = true;
  c.dimsChanged = true;
  return {};
}

void Context::unbindInput(uint32_t index) {
  Impl &c = *impl;
  if (index >= c.inputs.size() || !c.inputs[index].bound)
    return;
  c.inputs[index].bound = c.inputs[index].broken = false;
  c.inputs[index].data = nullptr;
  // A missing input is detected, and pointers are updated, with the dims.
  c.dimsChanged = true;
  if (c.m.inputs[index].initial)
    c.inputs[index].start = c.statesToStart = true;
}

Status Context::bindOutput(uint32_t index, void *data, DType dtype,
                           std::span<const int64_t> shape) {
  Impl &c = *impl;
  if (index >= c.outputs.size() || c.m.outputs[index].updates)
    return Error("there is no output " + std::to_string(index));
  Impl::Output &output = c.outputs[index];
  int64_t *extents = c.boundOutputExtents.data() + c.plan.outputStart[index];
  if (output.bound && data == output.data &&
      dtype == c.m.outputs[index].dtype &&
      shape.size() == c.m.outputs[index].shape.size() &&
      std::equal(shape.begin(), shape.end(), extents))
    return {};
  LUMINAL_CHECK(
      c.checkBinding("output", c.m.outputs[index], data, dtype, shape));
  const bool onlyMoved =
      output.bound && std::equal(shape.begin(), shape.end(), extents);
  std::copy(shape.begin(), shape.end(), extents);
  output.data = data;
  output.bound = true;
  output.changed = c.numCalls;
  if (onlyMoved)
    c.noteMove(c.inputs.size() + index);
  else
    c.pointersChanged = true;
  return {};
}

void Context::unbindOutput(uint32_t index) {
  Impl &c = *impl;
  if (index >= c.outputs.size() || !c.outputs[index].bound)
    return;
  c.outputs[index].bound = false;
  c.outputs[index].changed = c.numCalls;
  c.pointersChanged = true;
}

Status Context::bindWeight(uint32_t index, const void *data, DType dtype,
                           std::span<const int64_t> shape) {
  Impl &c = *impl;
  if (index >= c.weights.size())
    return Error("there is no weight " + std::to_string(index));
  const WeightSpec &spec = c.m.weights[index];
  LUMINAL_CHECK(c.checkBinding("weight", spec, data, dtype, shape));
  Impl::Weight &weight = c.weights[index];
  static const char empty alignas(kAlignment) = 0;
  if (spec.bytes == 0)
    data = &empty;
  const void *place = data;
  const bool isKnown = weight.data == data && weight.place == data;
  if (spec.bytes > 0 && !isKnown && !c.isDirect(data)) {
    LUMINAL_CHECK(c.settle());
    if (!weight.staging.reserve(c.device, spec.bytes))
      return Error("out of memory for the weight '" + spec.name + "'");
    const bool within = c.device.reaches(data);
    LUMINAL_CHECK(
        c.device.copy({data, weight.staging.data(), spec.bytes,
                       within ? Copy::Kind::Within : Copy::Kind::In}));
    place = weight.staging.data();
  }
  const bool isSame = weight.data == data && c.weightsAreKnown;
  c.pointersChanged |= weight.place != place;
  c.weightsChanged |= weight.data != data;
  weight.data = data;
  weight.place = place;
  if (!isSame)
    c.noteWeight(index);
  return {};
}

bool Context::isWeightBound(uint32_t index, const void *data) const {
  const Impl::Weight &weight = impl->weights[index];
  return data && weight.data == data && weight.place == data &&
         (impl->weightsAreKnown || !impl->preparesFrom(index));
}

void Context::setWeightsVersion(uint64_t version) {
  impl->weightsAreKnown = version != 0 && version == impl->weightsVersion;
  impl->weightsVersion = version;
}

void Context::unbindWeight(uint32_t index) {
  Impl &c = *impl;
  if (index >= c.weights.size())
    return;
  c.weights[index].data = c.artifact->getWeight(index);
  c.weights[index].place = nullptr;
  c.pointersChanged = c.weightsChanged = true;
  c.noteWeight(index);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::span<const int64_t> Context::getOutputShape(uint32_t output) const {
  uint32_t start = impl->plan.outputStart[output];
  return {impl->outputExtents.data() + start,
          impl->plan.outputStart[output + 1] - start};
}

std::span<const int64_t> Context::getInputShape(uint32_t input) const {
  uint32_t start = impl->plan.inputStart[input];
  return {impl->inputExtents.data() + start,
          impl->plan.inputStart[input + 1] - start};
}

Result<const void *> Context::getOutputData(uint32_t index) const {
  const Impl::Output &output = impl->outputs[index];
  if (!impl->isCurrent(output))
    return Error("output '" + impl->m.outputs[index].name +
                 "' has no value: run a call first, with the inputs and "
                 "outputs that are bound now");
  return output.bound ? output.data : output.own.data();
}

Result<const void *> Context::getStateData(uint32_t index) {
  Impl::Input &input = impl->inputs[index];
  LUMINAL_CHECK(impl->settle());
  if (input.broken)
    return impl->brokenState(index);
  if (input.bound)
    return input.data;
  // The next call initializes the state; its weight may be bound before then.
  if (input.start)
    LUMINAL_CHECK(impl->copyInitialValue(index));
  if (input.bytes == 0 || impl->device.sharesMemory())
    return static_cast<const void *>(input.own.data());
  const auto bytes = static_cast<uint64_t>(input.bytes);
  if (!input.read.reserve(impl->device, bytes, Device::Place::Host))
    return Error("out of memory for '" + impl->m.inputs[index].name + "'");
  LUMINAL_CHECK(impl->device.copy(
      {input.own.data(), input.read.data(), bytes, Copy::Kind::Out}));
  return static_cast<const void *>(input.read.data());
}

void Context::setArenaAllocator(
    std::function<void *(uint64_t bytes)> allocate) {
  impl->allocateArena = std::move(allocate);
  impl->dimsChanged = true;
}

uint32_t Context::getProgram() const {
  return static_cast<uint32_t>(impl->program - impl->programs.data());
}

int64_t Context::getBufferBytes(uint32_t buffer) const {
  return impl->program->ranges[buffer].bytes;
}

std::span<const int64_t> Context::getSymbolValues() const {
  return impl->symbols;
}

uint64_t Context::getMemoryBytes() const {
  uint64_t total = impl->arena.size() + impl->temporary.size() +
                   impl->stagedInputs.size() + impl->stagedOutputs.size();
  for (const Impl::Program &program : impl->programs)
    total += program.counters.size() + program.launches->getMemoryBytes();
  if (impl->prepared && impl->preparedIsOwn)
    total += impl->prepared->memory.size();
  for (const Impl::Input &input : impl->inputs)
    total += input.own.size() + input.read.size();
  for (const Impl::Output &output : impl->outputs)
    total += output.own.size();
  for (const Impl::Weight &weight : impl->weights)
    total += weight.staging.size();
  return total;
}

Status Context::readMemory(const void *memory, void *to, uint64_t bytes) const {
  if (bytes == 0)
    return {};
  const bool direct = impl->device.reaches(to);
  return impl->device.copy(
      {memory, to, bytes, direct ? Copy::Kind::Within : Copy::Kind::Out});
}

uint64_t Context::getNumPlacings() const { return impl->numPlacings; }

uint64_t Context::getNumCaptures() const {
  uint64_t total = 0;
  for (const Impl::Program &program : impl->programs)
    total += program.launches->getNumCaptures();
  return total;
}

Result<double> Context::timeSteps(unsigned repeats) {
  LUMINAL_CHECK(impl->settle());
  if (Status done = run(); !done && !impl->assertionFailed)
    return done.takeError();
  Result<double> nanoseconds = impl->program->launches->time(repeats);
  impl->program->countersClean &= bool(nanoseconds);
  return nanoseconds;
}

Status Context::prepare() {
  if (impl->dimsChanged)
    LUMINAL_CHECK(impl->prepareDims());
  return {};
}

void Context::resetStates() {
  for (uint32_t i : impl->artifact->getStates()) {
    Impl::Input &state = impl->inputs[i];
    state.start = impl->statesToStart = true;
    // The contents of bound states are the caller's responsibility.
    if (!state.bound)
      state.broken = false;
  }
}
