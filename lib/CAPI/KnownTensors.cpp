//===- KnownTensors.cpp - Detects tensors that have not changed -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KnownTensors.h"
#include <algorithm>
#include <cstring>

using namespace luminal::capi;

/// Loads a T at `base` + `offset` bytes.
template <typename T>
static T load(const void *base, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char *>(base) + offset, sizeof value);
  return value;
}

static uint64_t addressOf(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

static bool areEqual(const void *base, size_t offset, const int64_t *known,
                     int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (load<int64_t>(base, offset + static_cast<size_t>(i) * sizeof *known) !=
        known[i])
      return false;
  return true;
}

void TensorComparison::forget(KnownTensors &known, size_t count) const {
  known.places.assign(layout ? count : 0, {});
  known.shapes.assign(layout && reader ? count : 0, {});
}

bool TensorComparison::hasShape(const void *object,
                                const KnownShape &known) const {
  // Nothing else may be read of an object of another class.
  if (reader->num_classes > 0 &&
      load<const void *>(object, reader->class_offset) != known.objectClass)
    return false;
  const auto *described = load<const void *>(object, handleOffset);
  return described && load<int64_t>(described, layout->rank) == known.rank &&
         areEqual(described, layout->sizes, known.dims, known.rank) &&
         areEqual(described, layout->strides, known.dims + known.rank,
                  known.rank);
}

template <bool hasShapes, typename Lookup>
size_t TensorComparison::findChangedOf(Lookup tensors,
                                       const KnownTensors &known, size_t begin,
                                       size_t end) const {
  // Copied to locals, so that they stay in registers: the loop makes no calls.
  const size_t handle = handleOffset, storageAt = layout->storage,
               offsetAt = layout->offset, typeAt = layout->type,
               memoryAt = layout->memory, ownerAt = layout->owner;
  const KnownPlace *places = known.places.data();
  const KnownShape *shapes = known.shapes.data();
  for (size_t i = begin; i < end; ++i) {
    const void *object = tensors(i);
    const KnownPlace &place = places[i];
    if (!object || place.offset == KnownPlace::kUnknown)
      return i;
    if constexpr (hasShapes)
      if (!hasShape(object, shapes[i]))
        return i;
    const auto *described = load<const void *>(object, handle);
    const auto *storage =
        described ? load<const void *>(described, storageAt) : nullptr;
    if (!storage)
      return i;
    // One branch for all four comparisons.
    const uint64_t differences =
        (load<uint64_t>(storage, memoryAt) ^ addressOf(place.memory)) |
        (load<uint64_t>(storage, ownerAt) ^ addressOf(place.owner)) |
        (load<uint64_t>(described, offsetAt) ^
         static_cast<uint64_t>(place.offset)) |
        (load<uint64_t>(described, typeAt) ^ place.type);
    if (differences)
      return i;
  }
  return end;
}

size_t TensorComparison::findChanged(const ObjectList &tensors,
                                     const KnownTensors &known, size_t begin,
                                     size_t end) const {
  if (!layout)
    return begin;
  return tensors.withLookup([&](auto lookup) {
    return reader ? findChangedOf<true>(lookup, known, begin, end)
                  : findChangedOf<false>(lookup, known, begin, end);
  });
}

/// Whether extents and strides are stored where the layout says, for this rank.
bool TensorComparison::canBeKnown(void *handle, int64_t rank) const {
  if (rank < 0 || rank > static_cast<int64_t>(KnownShape::kMostRank) ||
      rank > static_cast<int64_t>(layout->most_rank))
    return false;
  auto *described = load<char *>(handle, 0);
  int64_t *sizes = nullptr, *strides = nullptr;
  return !reader->sizes(handle, &sizes) && !reader->strides(handle, &strides) &&
         (rank == 0 ||
          (reinterpret_cast<char *>(sizes) == described + layout->sizes &&
           reinterpret_cast<char *>(strides) == described + layout->strides));
}

bool TensorComparison::isOfClass(const void *object) const {
  if (!reader || reader->num_classes == 0)
    return true;
  const void *const *end = reader->classes + reader->num_classes;
  return std::find(reader->classes, end,
                   load<const void *>(object, reader->class_offset)) != end;
}

bool TensorComparison::noteShape(void *object, KnownShape &known) const {
  void *handle = static_cast<char *>(object) + handleOffset;
  const auto *described = load<const char *>(handle, 0);
  known.rank = load<int64_t>(described, layout->rank);
  if (!canBeKnown(handle, known.rank))
    return false;
  const size_t bytes = static_cast<size_t>(known.rank) * sizeof(int64_t);
  std::memcpy(known.dims, described + layout->sizes, bytes);
  std::memcpy(known.dims + known.rank, described + layout->strides, bytes);
  if (reader->num_classes > 0)
    known.objectClass = load<const void *>(object, reader->class_offset);
  return true;
}

void TensorComparison::note(void *object, KnownTensors &known,
                            size_t index) const {
  if (!layout)
    return;
  KnownPlace &place = known.places[index];
  place.offset = KnownPlace::kUnknown;
  if (!object || !isOfClass(object))
    return;
  const auto *described = load<const void *>(object, handleOffset);
  const auto *storage =
      described ? load<const void *>(described, layout->storage) : nullptr;
  if (!storage || (reader && !noteShape(object, known.shapes[index])))
    return;
  place.memory = load<const void *>(storage, layout->memory);
  place.owner = load<const void *>(storage, layout->owner);
  place.type = load<uint64_t>(described, layout->type);
  place.offset = load<int64_t>(described, layout->offset);
}
