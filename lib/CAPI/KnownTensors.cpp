//===- KnownTensors.cpp - Tensors that need not be asked again ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KnownTensors.h"
#include <algorithm>
#include <cstring>

using namespace luminal::capi;

/// What lies `offset` bytes behind `base`.
template <typename T>
static T load(const void *base, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char *>(base) + offset, sizeof value);
  return value;
}

static bool areEqual(const void *base, size_t offset, const int64_t *known,
                     int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (load<int64_t>(base, offset + static_cast<size_t>(i) * sizeof *known) !=
        known[i])
      return false;
  return true;
}

bool TensorComparison::isSame(const void *object,
                              const KnownTensor &known) const {
  if (!layout || !object || known.offset == KnownTensor::kUnknown)
    return false;
  // Of an object of another class nothing else may be read.
  if (reader && reader->num_classes > 0 &&
      load<const void *>(object, reader->class_offset) != known.objectClass)
    return false;
  const auto *described = load<const void *>(object, handleOffset);
  const auto *storage =
      described ? load<const void *>(described, layout->storage) : nullptr;
  if (!storage || load<int64_t>(described, layout->offset) != known.offset ||
      load<uint64_t>(described, layout->type) != known.type ||
      load<const void *>(storage, layout->memory) != known.memory ||
      load<const void *>(storage, layout->owner) != known.owner)
    return false;
  return !reader ||
         (load<int64_t>(described, layout->rank) == known.rank &&
          areEqual(described, layout->sizes, known.dims, known.rank) &&
          areEqual(described, layout->strides, known.dims + known.rank,
                   known.rank));
}

/// Whether the extents and strides lie where the layout says.
bool TensorComparison::canBeKnown(void *handle, int64_t rank) const {
  if (rank < 0 || rank > static_cast<int64_t>(KnownTensor::kMostRank) ||
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

void TensorComparison::note(void *object, KnownTensor &known) const {
  known.offset = KnownTensor::kUnknown;
  if (!layout || !object || !isOfClass(object))
    return;
  void *handle = static_cast<char *>(object) + handleOffset;
  const auto *described = load<const void *>(handle, 0);
  const auto *storage =
      described ? load<const void *>(described, layout->storage) : nullptr;
  if (!storage)
    return;
  if (reader) {
    known.rank = load<int64_t>(described, layout->rank);
    if (!canBeKnown(handle, known.rank))
      return;
    const size_t bytes = static_cast<size_t>(known.rank) * sizeof(int64_t);
    const auto *bytesOf = static_cast<const char *>(described);
    std::memcpy(known.dims, bytesOf + layout->sizes, bytes);
    std::memcpy(known.dims + known.rank, bytesOf + layout->strides, bytes);
    if (reader->num_classes > 0)
      known.objectClass = load<const void *>(object, reader->class_offset);
  }
  known.memory = load<const void *>(storage, layout->memory);
  known.owner = load<const void *>(storage, layout->owner);
  known.type = load<uint64_t>(described, layout->type);
  known.offset = load<int64_t>(described, layout->offset);
}
