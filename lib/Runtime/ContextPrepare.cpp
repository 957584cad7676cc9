//===- ContextPrepare.cpp - Computes sizes and addresses from bindings ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContextImpl.h"
#include "luminal/Support/Tensor.h"
#include <algorithm>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

Status Context::Impl::prepareDims() {
  for (uint32_t i : artifact->getUserInputs())
    if (!inputs[i].bound)
      return Error("input '" + m.inputs[i].name + "' is not bound");
  for (size_t i = 0; i < integersBound.size(); ++i)
    if (!integersBound[i])
      return Error("integer '" + m.integers[i].name + "' is not bound");
  LUMINAL_CHECK(solveSymbols());
  LUMINAL_CHECK(chooseProgram());
  program->plan.sizes.run(symbols.data(), program->values.data());
  LUMINAL_CHECK(checkInputExtents());
  LUMINAL_CHECK(checkRequirements());
  LUMINAL_CHECK(evaluateSizes());
  LUMINAL_CHECK(evaluateBuffers());
  LUMINAL_CHECK(evaluateSteps());
  // The shapes are now those of the next call, for which the allocated memory
  // may be too small.
  lastIsDone = false;
  dimsChanged = false;
  pointersChanged = true;
  return {};
}

std::string Context::Impl::extentPlace(uint32_t input, uint32_t axis) const {
  return "dim " + std::to_string(axis) + " of input '" + m.inputs[input].name +
         "'";
}

std::string Context::Impl::extentPlace(uint32_t extent) const {
  if (const uint32_t first = plan.inputStart.back(); extent >= first)
    return "integer '" + m.integers[extent - first].name + "'";
  auto [input, axis] = plan.extentPlaces[extent];
  return extentPlace(input, axis);
}

std::optional<int64_t> Context::Impl::symbolValue(std::string_view name) const {
  auto it = std::lower_bound(m.symbols.begin(), m.symbols.end(), name,
                             [](const SymbolSpec &symbol, std::string_view n) {
                               return symbol.name < n;
                             });
  if (it == m.symbols.end() || it->name != name)
    return std::nullopt;
  return symbols[static_cast<size_t>(it - m.symbols.begin())];
}

Status Context::Impl::solveSymbols() {
  auto known = [&](std::string_view name) { return symbolValue(name); };
  for (uint32_t k = 0; k < plan.sources.size(); ++k) {
    const SymbolSource &source = plan.sources[k];
    solvedBy[source.symbol] = k;
    const SymbolSpec &symbol = m.symbols[source.symbol];
    if (source.kind == SymbolSource::Kind::Range) {
      symbols[source.symbol] = symbol.range.lo;
      continue;
    }
    int64_t extent = inputExtents[source.extent];
    Result<int64_t> value =
        solveSymbol(source, symbol, plan.extents[source.extent], extent, known);
    if (!value)
      return Error(extentPlace(source.extent) + " is " +
                   std::to_string(extent) + ", " + value.error().message);
    symbols[source.symbol] = *value;
  }
  return {};
}

/// Selects the first variant whose ranges contain the symbols, or else the
/// manifest's program.
Status Context::Impl::chooseProgram() {
  auto holds = [&](const Program &variant) {
    for (size_t s = 0; s < symbols.size(); ++s) {
      const SymbolRange &range = variant.m.symbols[s].range;
      if (symbols[s] < range.lo || (range.hi && symbols[s] > *range.hi))
        return false;
    }
    return true;
  };
  auto found = std::find_if(programs.begin() + 1, programs.end(), holds);
  Program *chosen = found == programs.end() ? &programs.front() : &*found;
  if (chosen == program)
    return {};
  // Programs share memory, but the work of each is ordered separately.
  LUMINAL_CHECK(settle());
  program = chosen;
  return {};
}

std::string
Context::Impl::describeSymbols(const std::vector<Expr> &exprs) const {
  std::vector<std::string> used;
  for (const Expr &e : exprs)
    e.collectSymbols(used);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::string text;
  for (uint32_t s = 0; s < m.symbols.size(); ++s) {
    if (!std::binary_search(used.begin(), used.end(), m.symbols[s].name))
      continue;
    text += ", " + m.symbols[s].name + " is " + std::to_string(symbols[s]);
    const SymbolSource &source = plan.sources[solvedBy[s]];
    if (source.kind == SymbolSource::Kind::Range)
      continue;
    text += " by " + extentPlace(source.extent);
  }
  return text;
}

Status Context::Impl::checkInputExtents() {
  for (uint32_t at = 0; at < inputExtents.size(); ++at) {
    SizeProgram::Value value = program->values[program->plan.inputExtents[at]];
    if (value.valid && value.value == inputExtents[at])
      continue;
    const Expr &extent = plan.extents[at];
    return Error(extentPlace(at) + " is " + std::to_string(inputExtents[at]) +
                 ", expected " +
                 (value.valid ? std::to_string(value.value)
                              : "a number, not an overflow or a division "
                                "by zero") +
                 " (" + extent.str() + describeSymbols({extent}) + ")");
  }
  return {};
}

Status Context::Impl::checkRequirements() {
  for (size_t i = 0; i < program->plan.requirements.size(); ++i) {
    const Plan::RequirementSlots &slots = program->plan.requirements[i];
    SizeProgram::Value lesser = program->values[slots.lesser],
                       greater = program->values[slots.greater];
    if (lesser.valid && greater.valid && lesser.value <= greater.value)
      continue;
    const Requirement &requirement = program->m.requirements[i];
    std::optional<std::string> violation = requirement.getViolation(
        [&](std::string_view name) { return symbolValue(name); });
    if (!violation)
      continue;
    return Error(*violation +
                 describeSymbols({requirement.lesser, requirement.greater}));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Says why one of `sizes` is not in [0, kLargestSize].
static std::string describeSizes(
    std::initializer_list<std::pair<SizeProgram::Value, Expr>> sizes) {
  for (const auto &[value, e] : sizes) {
    std::string text = ": '" + e.str() + "' ";
    if (!value.valid)
      return text + "overflows 64 bits or divides by 0";
    if (value.value < 0 || value.value > kLargestSize)
      return text + "is " + std::to_string(value.value);
  }
  return "";
}

Status Context::Impl::evaluateSizes() {
  for (uint32_t i = 0; i < m.outputs.size(); ++i) {
    const OutputSpec &spec = m.outputs[i];
    uint32_t start = plan.outputStart[i];
    const Slot *extents = program->plan.outputExtents.data() + start;
    for (size_t axis = 0; axis < spec.shape.size(); ++axis)
      if (!program->size(extents[axis], outputExtents[start + axis]))
        return Error("output '" + spec.name + "': dim " + std::to_string(axis) +
                     " (" + spec.shape[axis].str() + ") has no valid size" +
                     describeSizes(
                         {{program->values[extents[axis]], spec.shape[axis]}}));
    std::optional<int64_t> bytes = tensorBytes(
        spec.dtype, outputExtents.data() + start, spec.shape.size());
    if (!bytes || *bytes > kLargestSize)
      return Error("output '" + spec.name + "': is too large");
    outputs[i].bytes = *bytes;
  }
  for (uint32_t i = 0; i < m.inputs.size(); ++i)
    if (inputs[i].bytes > kLargestSize)
      return Error("input '" + m.inputs[i].name + "': is too large");
  return {};
}

Status Context::Impl::evaluateBuffers() {
  Program &p = *program;
  int64_t arenaBytes = 0;
  if (!p.size(p.plan.arenaBytes, arenaBytes))
    return Error(
        "arena_bytes: has no valid size" +
        describeSizes({{p.values[p.plan.arenaBytes], p.m.arenaBytes}}));
  int64_t counterBytes = 0;
  for (size_t i = 0; i < p.m.buffers.size(); ++i) {
    const BufferSpec &spec = p.m.buffers[i];
    Range &range = p.ranges[i];
    auto where = [&] { return "buffers[" + std::to_string(i) + "]: "; };
    switch (spec.kind) {
    case Kind::Input:
      range = {0, inputs[p.owners[i]].bytes};
      continue;
    case Kind::Output:
      range = {0, outputs[p.owners[i]].bytes};
      continue;
    case Kind::Weight:
      range = {0, static_cast<int64_t>(m.weights[p.owners[i]].bytes)};
      continue;
    case Kind::Prepared:
      range = {
          0, static_cast<int64_t>(*constantBytes(m.prepare->outputs[spec.of]))};
      continue;
    case Kind::Constant:
    case Kind::Arena:
    case Kind::Alias:
    case Kind::Counters:
      break;
    }
    if (!p.size(p.plan.buffers[i].offset, range.offset) ||
        !p.size(p.plan.buffers[i].bytes, range.bytes))
      return Error(
          where() + "has no valid offset" +
          describeSizes({{p.values[p.plan.buffers[i].offset], spec.offset},
                         {p.values[p.plan.buffers[i].bytes], spec.bytes}}));
    // Constants were checked when the artifact was loaded.
    if (spec.kind == Kind::Arena &&
        (range.offset + range.bytes > arenaBytes ||
         range.offset % static_cast<int64_t>(kAlignment) != 0))
      return Error(where() + "lies outside the arena or is misaligned");
    if (spec.kind == Kind::Counters) {
      // The sum cannot overflow: each term is at most kLargestSize.
      range.offset = counterBytes;
      counterBytes += static_cast<int64_t>(
          roundUp(static_cast<uint64_t>(range.bytes), kAlignment));
      if (counterBytes > kLargestSize)
        return Error(where() + "has no valid offset: too many counters");
    }
    if (spec.kind == Kind::Alias &&
        range.offset + range.bytes > p.ranges[spec.of].bytes)
      return Error(where() + "lies outside buffer " + std::to_string(spec.of));
  }
  for (uint32_t i = 0; i < m.outputs.size(); ++i)
    if (p.ranges[p.m.outputs[i].buffer].bytes < outputs[i].bytes)
      return Error("output '" + m.outputs[i].name + "': has " +
                   std::to_string(outputs[i].bytes) + " bytes, its buffer " +
                   std::to_string(p.ranges[p.m.outputs[i].buffer].bytes));
  const auto arenaNeeded = static_cast<uint64_t>(arenaBytes);
  if (!allocateArena) {
    LUMINAL_CHECK(grow(arena, arenaNeeded, "the arena needs"));
  } else if (arenaNeeded > callersArenaBytes) {
    callersArena = static_cast<uint8_t *>(allocateArena(arenaNeeded));
    callersArenaBytes = callersArena ? arenaNeeded : 0;
    if (!callersArena)
      return Error("out of memory: the arena needs " +
                   std::to_string(arenaBytes) + " bytes");
  }
  const auto countersNeeded = static_cast<uint64_t>(counterBytes);
  const bool grows = countersNeeded > p.counters.size();
  if (grows)
    LUMINAL_CHECK(grow(p.counters, countersNeeded, "the counters need"));
  p.countersClean &= !grows;
  return {};
}

Status Context::Impl::evaluateSteps() {
  Program &p = *program;
  bool good = true;
  for (size_t i = 0; i < p.plan.launches.size(); ++i)
    good &= p.size(p.plan.launches[i], p.launchValues[i]);
  if (!good)
    return launchError();
  LUMINAL_CHECK(checkLibrarySteps());
  return p.launches->setSizes(symbols, p.launchValues);
}

/// Checks that library steps stay inside their buffers. Generated kernels need
/// no check: `requirements` cover their accesses.
Status Context::Impl::checkLibrarySteps() const {
  const Program &p = *program;
  std::vector<uint64_t> bytes;
  for (size_t i = 0; i < p.m.steps.size(); ++i) {
    const StepSpec &step = p.m.steps[i];
    if (getLibraryName(step.launch).empty())
      continue;
    bytes.clear();
    for (uint32_t buffer : step.buffers)
      bytes.push_back(static_cast<uint64_t>(p.ranges[buffer].bytes));
    if (Status status = checkSizes(
            step.launch,
            std::span(p.launchValues).subspan(p.plan.steps[i].launch), bytes);
        !status)
      return status.takeError().within("step " + std::to_string(i) + " (" +
                                       step.name + ")");
  }
  return {};
}

Error Context::Impl::launchError() const {
  const Program &p = *program;
  for (size_t i = 0; i < p.m.steps.size(); ++i) {
    const SizeProgram::Slot *slot =
        p.plan.launches.data() + p.plan.steps[i].launch;
    std::string error;
    visitExprs(p.m.steps[i].launch, [&](std::string_view field, const Expr &e) {
      int64_t value;
      if (error.empty() && !p.size(*slot, value))
        error = "step " + std::to_string(i) + " (" + p.m.steps[i].name +
                "): has no valid " + std::string(field) +
                describeSizes({{p.values[*slot], e}});
      ++slot;
    });
    if (!error.empty())
      return Error(error);
  }
  return Error("a step has no valid launch");
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Assigns inputs that kernels cannot read in place to one staging block, in
/// order, so that a device may merge the copies.
Status Context::Impl::placeInputs() {
  uint64_t total = 0;
  for (Input &input : inputs) {
    input.place = input.bound ? input.data : input.own.data();
    input.staged = input.bytes > 0 && !input.direct.get(*this, input.place);
    if (input.staged)
      total += roundUp(static_cast<uint64_t>(input.bytes), kCopyAlignment);
  }
  LUMINAL_CHECK(grow(stagedInputs, total, "the inputs need"));
  copiesIn.clear();
  uint8_t *next = stagedInputs.data();
  for (Input &input : inputs) {
    if (!input.staged)
      continue;
    const auto bytes = static_cast<uint64_t>(input.bytes);
    copiesIn.push_back(
        {input.place, next, bytes,
         device.reaches(input.place) ? Copy::Kind::Within : Copy::Kind::In,
         !copiesIn.empty()});
    input.place = next;
    next += roundUp(bytes, kCopyAlignment);
  }
  return {};
}

Status Context::Impl::placeOutputs() {
  uint64_t total = 0;
  auto isOwner = [&](size_t i) {
    uint32_t buffer = program->m.outputs[i].buffer;
    return program->m.buffers[buffer].kind == Kind::Output &&
           program->owners[buffer] == i;
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output &output = outputs[i];
    output.staged = false;
    if (!isOwner(i))
      continue;
    if (!output.bound &&
        !output.own.reserve(device, output.bytes, Device::Place::Host))
      return Error("out of memory for '" + m.outputs[i].name + "'");
    output.place = output.bound ? output.data : output.own.data();
    // The result of an assertion is in host memory that the device can write.
    output.staged = output.bytes > 0 && !m.outputs[i].assertion &&
                    !output.direct.get(*this, output.place);
    if (output.staged)
      total += roundUp(static_cast<uint64_t>(output.bytes), kCopyAlignment);
  }
  LUMINAL_CHECK(grow(stagedOutputs, total, "the outputs need"));
  uint8_t *next = stagedOutputs.data();
  for (Output &output : outputs) {
    if (!output.staged)
      continue;
    output.place = next;
    next += roundUp(static_cast<uint64_t>(output.bytes), kCopyAlignment);
  }
  return {};
}

/// Copies a weight to memory that kernels can access, unless it is already.
Status Context::Impl::placeWeight(uint32_t weight) {
  if (!weights[weight].place) {
    LUMINAL_TRY(found, artifact->getDeviceWeight(weight));
    weights[weight].place = found;
  }
  return weights[weight].place ? Status() : weightMissing(m, m.weights[weight]);
}

Result<Context::Impl::PreparedWeights> Context::Impl::findPreparedWeights() {
  PreparedWeights found;
  found.places.assign(weights.size(), nullptr);
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (!m.prepare->weights[i].buffer)
      continue;
    if (program->m.weights[i].buffer)
      LUMINAL_CHECK(placeWeight(i));
    found.places[i] = weights[i].place ? weights[i].place : weights[i].data;
    if (!found.places[i])
      return weightMissing(m, m.weights[i]);
    found.areOfArtifact &= weights[i].data == artifact->getWeight(i);
  }
  return found;
}

/// Computes the values prepared from the weights. Contexts that use the
/// artifact's own weights share the result.
Status Context::Impl::prepareWeights() {
  LUMINAL_CHECK(settle());
  LUMINAL_TRY(found, findPreparedWeights());
  preparedIsOwn = !found.areOfArtifact && weightsVersion == 0;
  LUMINAL_TRY(
      made, found.areOfArtifact ? artifact->getPrepared(found.places, threads)
            : weightsVersion
                ? artifact->getPreparedOf(weightsVersion, found.places, threads)
                : prepareValues(artifact->getPrepare(), found.places, threads));
  prepared = std::move(made);
  retired.reset();
  return {};
}

/// Contexts that share the values see the new ones too.
Status Context::Impl::refreshPrepared() {
  LUMINAL_TRY(found, findPreparedWeights());
  return prepareAgain(artifact->getPrepare(), found.places, threads, *prepared);
}

Status Context::Impl::preparePointers() {
  ++numPlacings;
  LUMINAL_CHECK(checkOverlap());
  for (uint32_t i = 0; i < m.outputs.size(); ++i) {
    if (!outputs[i].bound)
      continue;
    uint32_t start = plan.outputStart[i];
    for (size_t axis = 0; axis < m.outputs[i].shape.size(); ++axis)
      if (boundOutputExtents[start + axis] != outputExtents[start + axis])
        return Error(
            "output '" + m.outputs[i].name + "': dim " + std::to_string(axis) +
            " is " + std::to_string(boundOutputExtents[start + axis]) +
            ", expected " + std::to_string(outputExtents[start + axis]) + " (" +
            m.outputs[i].shape[axis].str() + ")");
  }

  LUMINAL_CHECK(placeInputs());
  LUMINAL_CHECK(placeOutputs());
  if (m.prepare && !prepared)
    LUMINAL_CHECK(prepareWeights());
  Program &p = *program;
  for (size_t b = 0; b < p.m.buffers.size(); ++b) {
    uint32_t owner = p.owners[b];
    const void *place = nullptr;
    switch (p.m.buffers[b].kind) {
    case Kind::Input:
      place = inputs[owner].place;
      break;
    case Kind::Output:
      place = outputs[owner].place;
      break;
    case Kind::Weight:
      LUMINAL_CHECK(placeWeight(owner));
      place = weights[owner].place;
      break;
    case Kind::Prepared:
      place = prepared->places[p.m.buffers[b].of];
      break;
    case Kind::Constant:
      place = artifact->getConstants() + p.ranges[b].offset;
      break;
    case Kind::Arena:
      place = getArena() + p.ranges[b].offset;
      break;
    case Kind::Counters:
      place = p.counters.data() + p.ranges[b].offset;
      break;
    case Kind::Alias:
      place = p.pointers[p.m.buffers[b].of] + p.ranges[b].offset;
      break;
    }
    // Buffers without elements may have any address.
    if (p.ranges[b].bytes == 0)
      place = getArena();
    // Manifest::verify rejects kernels that write to read-only memory.
    p.pointers[b] = const_cast<uint8_t *>(static_cast<const uint8_t *>(place));
  }

  void **argument = p.arguments.data();
  for (const StepSpec &step : p.m.steps)
    for (uint32_t buffer : step.buffers)
      *argument++ = p.pointers[buffer];
  LUMINAL_CHECK(p.launches->setBuffers(p.arguments));
  LUMINAL_CHECK(planCopies());
  findPlaces();
  pointersChanged = false;
  moved.clear();
  return {};
}

Status Context::Impl::planCopies() {
  const Program &p = *program;
  copiesOut.clear();
  copyEnds.clear();
  auto isStaged = [&](const void *memory) {
    auto *at = static_cast<const uint8_t *>(memory);
    return at >= stagedOutputs.data() &&
           at < stagedOutputs.data() + stagedOutputs.size();
  };
  auto add = [&](const void *from, void *to, int64_t bytes, CopyEnds ends) {
    if (from == to || bytes == 0)
      return;
    const Copy *last = copiesOut.empty() ? nullptr : &copiesOut.back();
    const bool joins = last && isStaged(from) && isStaged(last->from) &&
                       static_cast<const uint8_t *>(last->from) +
                               roundUp(last->bytes, kCopyAlignment) ==
                           from;
    copiesOut.push_back(
        {from, to, static_cast<uint64_t>(bytes),
         device.reaches(to) ? Copy::Kind::Within : Copy::Kind::Out, joins});
    copyEnds.push_back(ends);
  };
  // User outputs first: they may be old values of states.
  for (uint32_t i : artifact->getUserOutputs()) {
    Output &output = outputs[i];
    const uint32_t buffer = p.m.outputs[i].buffer;
    if (output.bound) {
      add(p.pointers[buffer], output.data, output.bytes, {buffer, {}, i});
      continue;
    }
    if (!output.own.reserve(device, output.bytes, Device::Place::Host))
      return Error("out of memory for '" + m.outputs[i].name + "'");
    add(p.pointers[buffer], output.own.data(), output.bytes, {buffer, {}, {}});
  }
  for (uint32_t i : assertions) {
    const uint32_t buffer = p.m.outputs[i].buffer;
    add(p.pointers[buffer], outputs[i].own.data(), 1, {buffer, {}, {}});
  }
  // A state whose new value is another state's old value is copied through
  // temporary memory, since either may be overwritten first.
  auto isOldState = [&](const OutputSpec &spec) {
    uint32_t root = p.m.rootBuffer(spec.buffer);
    return p.m.buffers[root].kind == Kind::Input &&
           root != p.m.inputs[*spec.updates].buffer;
  };
  uint64_t needed = 0;
  bool tooLarge = false;
  for (uint32_t i = 0; i < m.outputs.size(); ++i)
    if (m.outputs[i].updates && isOldState(p.m.outputs[i]))
      tooLarge |= __builtin_add_overflow(
          needed, uint64_t(outputs[i].bytes + 63) / 64 * 64, &needed);
  if (tooLarge)
    return Error("out of memory for new values of states");
  LUMINAL_CHECK(grow(temporary, needed, "new values of states need"));
  uint8_t *next = temporary.data();
  for (uint32_t i = 0; i < m.outputs.size(); ++i)
    if (m.outputs[i].updates && isOldState(p.m.outputs[i])) {
      const uint32_t buffer = p.m.outputs[i].buffer;
      add(p.pointers[buffer], next, outputs[i].bytes, {buffer, {}, {}});
      next += (outputs[i].bytes + 63) / 64 * 64;
    }
  next = temporary.data();
  for (uint32_t i = 0; i < m.outputs.size(); ++i) {
    const OutputSpec &spec = p.m.outputs[i];
    if (!spec.updates)
      continue;
    const uint32_t to = p.m.inputs[*spec.updates].buffer;
    const bool isOld = isOldState(spec);
    add(isOld ? next : p.pointers[spec.buffer], p.pointers[to],
        outputs[i].bytes,
        {isOld ? std::nullopt : std::optional(spec.buffer), to, {}});
    if (isOld)
      next += (outputs[i].bytes + 63) / 64 * 64;
  }
  // Copies states in misaligned memory of the caller back, last of all.
  for (uint32_t i = 0; i < m.inputs.size(); ++i)
    if (m.inputs[i].state && inputs[i].bound)
      add(p.pointers[p.m.inputs[i].buffer], const_cast<void *>(inputs[i].data),
          inputs[i].bytes, {});
  return {};
}

//===----------------------------------------------------------------------===//
// Overlaps
//===----------------------------------------------------------------------===//

void Context::Impl::sortWeightRanges() {
  weightExtents.clear();
  for (size_t i = 0; i < weights.size(); ++i) {
    auto begin = reinterpret_cast<uintptr_t>(weights[i].data);
    if (begin && m.weights[i].bytes > 0)
      weightExtents.push_back({begin, begin + m.weights[i].bytes, false});
  }
  sortAndMerge(weightExtents);
  weightsChanged = false;
}

void Context::Impl::sortAndMerge(std::vector<Extent> &extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
  size_t joined = 0;
  for (size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].begin <= extents[joined].end)
      extents[joined].end = std::max(extents[joined].end, extents[i].end);
    else
      extents[++joined] = extents[i];
  }
  if (!extents.empty())
    extents.resize(joined + 1);
}

bool Context::Impl::meets(const std::vector<Extent> &sorted,
                          const Extent &extent) {
  auto after = std::lower_bound(
      sorted.begin(), sorted.end(), extent.end,
      [](const Extent &known, uintptr_t at) { return known.begin < at; });
  return after != sorted.begin() && std::prev(after)->end > extent.begin;
}

Status Context::Impl::checkOverlap() const {
  callerExtents.clear();
  size_t numWritten = 0;
  auto add = [&](const void *data, int64_t bytes, bool written) {
    auto begin = reinterpret_cast<uintptr_t>(data);
    if (bytes <= 0)
      return;
    callerExtents.push_back(
        {begin, begin + static_cast<uintptr_t>(bytes), written});
    numWritten += written;
  };
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].bound)
      add(inputs[i].data, inputs[i].bytes, m.inputs[i].state);
  for (const Output &output : outputs)
    if (output.bound)
      add(output.data, output.bytes, true);
  if (haveOverlap(numWritten) ||
      std::any_of(callerExtents.begin(), callerExtents.end(),
                  [&](const Extent &extent) { return meetsWeight(extent); }))
    return overlapError();
  return {};
}

/// Whether memory in callerExtents that is written overlaps any other entry.
bool Context::Impl::haveOverlap(size_t numWritten) const {
  // Most calls write few tensors and read many weights: comparing pairs is then
  // cheaper than sorting.
  constexpr size_t fewWritten = 4;
  if (numWritten <= fewWritten) {
    for (size_t i = callerExtents.size(); i-- > 0 && numWritten > 0;) {
      const Extent &written = callerExtents[i];
      if (!written.written)
        continue;
      --numWritten;
      size_t meeting = 0;
      for (const Extent &other : callerExtents)
        meeting += other.begin < written.end && written.begin < other.end;
      if (meeting > 1)
        return true;
    }
    return false;
  }
  std::sort(callerExtents.begin(), callerExtents.end(),
            [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
  uintptr_t end = 0, writtenEnd = 0;
  for (const Extent &extent : callerExtents) {
    if (extent.begin < (extent.written ? end : writtenEnd))
      return true;
    end = std::max(end, extent.end);
    if (extent.written)
      writtenEnd = std::max(writtenEnd, extent.end);
  }
  return false;
}

bool Context::Impl::meetsWeight(const Extent &extent) const {
  return extent.written && meets(weightExtents, extent);
}

Error Context::Impl::overlapError() const {
  struct Named {
    std::string name;
    uintptr_t begin, end;
    bool written;
  };
  std::vector<Named> all;
  auto add = [&](const char *what, const std::string &name, const void *data,
                 uint64_t bytes, bool written) {
    auto begin = reinterpret_cast<uintptr_t>(data);
    if (data && bytes > 0)
      all.push_back({std::string(what) + " '" + name + "'", begin,
                     begin + bytes, written});
  };
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].bound)
      add("output", m.outputs[i].name, outputs[i].data, outputs[i].bytes, true);
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].bound)
      add(m.inputs[i].state ? "state" : "input", m.inputs[i].name,
          inputs[i].data, inputs[i].bytes, m.inputs[i].state);
  for (uint32_t i = 0; i < weights.size(); ++i)
    add("weight", m.weights[i].name, weights[i].data, m.weights[i].bytes,
        false);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = i + 1; k < all.size(); ++k)
      if ((all[i].written || all[k].written) && all[i].begin < all[k].end &&
          all[k].begin < all[i].end)
        return Error(all[i].name + " shares memory with " + all[k].name);
  return Error("an output shares memory with another buffer");
}
