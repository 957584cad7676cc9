//===- ContextMove.cpp - Calls with moved tensors -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fast path for the most common call, in which only the addresses of an
// output and one or two inputs differ from the last call. Updates only these
// addresses, so its cost does not depend on the number of weights and states.
//
//===----------------------------------------------------------------------===//

#include "ContextImpl.h"
#include <algorithm>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

/// Up to this many outputs, comparing all pairs is cheaper than sorting.
static constexpr size_t kFewOutputs = 16;

//===----------------------------------------------------------------------===//
// Positions of addresses in the tables
//===----------------------------------------------------------------------===//

/// Fills `places`. `visit` calls its argument with a tensor and a place for
/// every place, in the same order both times it is called.
template <typename Places, typename Visit>
static void arrange(Places &places, size_t numTensors, Visit visit) {
  places.first.assign(numTensors + 1, 0);
  visit([&](uint32_t tensor, uint32_t, int64_t) { ++places.first[tensor]; });
  uint32_t total = 0;
  for (uint32_t &first : places.first)
    first = total += first;
  places.all.resize(total);
  // `first` holds the ends of each tensor's places and becomes their
  // beginnings.
  visit([&](uint32_t tensor, uint32_t at, int64_t offset) {
    places.all[--places.first[tensor]] = {at, offset};
  });
}

void Context::Impl::findPlaces() {
  Program &p = *program;
  boundInputsAreKnown = false;
  // Finds the tensor that contains each buffer.
  std::vector<std::optional<Program::Place>> &parts = p.bufferParts;
  parts.assign(p.m.buffers.size(), std::nullopt);
  for (uint32_t b = 0; b < parts.size(); ++b) {
    const BufferSpec &spec = p.m.buffers[b];
    if (p.ranges[b].bytes == 0)
      continue;
    if (spec.kind == Kind::Input)
      parts[b] = {p.owners[b], 0};
    else if (spec.kind == Kind::Output)
      parts[b] = {static_cast<uint32_t>(inputs.size()) + p.owners[b], 0};
    else if (spec.kind == Kind::Alias && parts[spec.of])
      parts[b] = {parts[spec.of]->at,
                  parts[spec.of]->offset + p.ranges[b].offset};
  }
  const size_t numTensors = inputs.size() + outputs.size();
  arrange(p.bufferPlaces, numTensors, [&](auto tell) {
    for (uint32_t b = 0; b < parts.size(); ++b)
      if (parts[b])
        tell(parts[b]->at, b, parts[b]->offset);
  });
  arrange(p.argumentPlaces, numTensors, [&](auto tell) {
    uint32_t argument = 0;
    for (const StepSpec &step : p.m.steps)
      for (uint32_t buffer : step.buffers) {
        if (parts[buffer])
          tell(parts[buffer]->at, argument, parts[buffer]->offset);
        ++argument;
      }
  });
}

//===----------------------------------------------------------------------===//
// Moved tensors
//===----------------------------------------------------------------------===//

bool Context::Impl::canMove() {
  auto canStay = [&](auto &tensor) {
    return tensor.bytes == 0 ||
           (!tensor.staged && tensor.direct.get(*this, tensor.data));
  };
  return std::all_of(moved.begin(), moved.end(), [&](uint32_t tensor) {
    return tensor < inputs.size() ? canStay(inputs[tensor])
                                  : canStay(outputs[tensor - inputs.size()]);
  });
}

bool Context::Impl::movedOutputsOverlap() {
  if (!boundInputsAreKnown) {
    boundInputExtents.clear();
    for (const Input &input : inputs)
      if (auto begin = reinterpret_cast<uintptr_t>(input.data);
          input.bound && input.bytes > 0)
        boundInputExtents.push_back(
            {begin, begin + static_cast<uintptr_t>(input.bytes), false});
    sortAndMerge(boundInputExtents);
    boundInputsAreKnown = true;
  }
  auto extentOf = [](const Output &output) {
    auto begin = reinterpret_cast<uintptr_t>(output.data);
    return Extent{begin, begin + static_cast<uintptr_t>(output.bytes), true};
  };
  for (uint32_t tensor : moved) {
    const Output &output = outputs[tensor - inputs.size()];
    if (output.bytes == 0)
      continue;
    const Extent extent = extentOf(output);
    if (meets(boundInputExtents, extent) || meetsWeight(extent))
      return true;
    for (uint32_t i : artifact->getUserOutputs())
      if (const Output &other = outputs[i];
          &other != &output && other.bound && other.bytes > 0 &&
          extentOf(other).begin < extent.end &&
          extent.begin < extentOf(other).end)
        return true;
  }
  return false;
}

/// Updates the copies from and to memory that moved.
void Context::Impl::aimCopies() {
  const Program &p = *program;
  for (size_t i = 0; i < copiesOut.size(); ++i) {
    Copy &copy = copiesOut[i];
    const CopyEnds &ends = copyEnds[i];
    if (ends.from)
      copy.from = p.pointers[*ends.from];
    if (ends.to)
      copy.to = p.pointers[*ends.to];
    if (!ends.output || copy.to == outputs[*ends.output].data)
      continue;
    copy.to = outputs[*ends.output].data;
    copy.kind = device.reaches(copy.to) ? Copy::Kind::Within : Copy::Kind::Out;
  }
}

Status Context::Impl::movePointers() {
  if (!canMove())
    return preparePointers();
  const bool onlyOutputs =
      std::all_of(moved.begin(), moved.end(),
                  [&](uint32_t tensor) { return tensor >= inputs.size(); });
  if (onlyOutputs && moved.size() <= kFewOutputs) {
    // Reports which tensors overlap.
    if (movedOutputsOverlap())
      return preparePointers();
  } else {
    LUMINAL_CHECK(checkOverlap());
    boundInputsAreKnown &= onlyOutputs;
  }
  Program &p = *program;
  auto forEach = [](const Program::Places &places, uint32_t tensor,
                    auto change) {
    for (uint32_t i = places.first[tensor]; i < places.first[tensor + 1]; ++i)
      change(places.all[i]);
  };
  for (uint32_t tensor : moved) {
    uint8_t *data = nullptr;
    if (tensor < inputs.size()) {
      inputs[tensor].place = inputs[tensor].data;
      // Manifest::verify rejects kernels that write to a read-only input.
      data = const_cast<uint8_t *>(
          static_cast<const uint8_t *>(inputs[tensor].data));
    } else {
      Output &output = outputs[tensor - inputs.size()];
      output.place = output.data;
      data = static_cast<uint8_t *>(output.data);
    }
    forEach(p.bufferPlaces, tensor, [&](const Program::Place &place) {
      p.pointers[place.at] = data + place.offset;
    });
    forEach(p.argumentPlaces, tensor, [&](const Program::Place &place) {
      p.arguments[place.at] = data + place.offset;
    });
  }
  aimCopies();
  moved.clear();
  return p.launches->setBuffers(p.arguments);
}
