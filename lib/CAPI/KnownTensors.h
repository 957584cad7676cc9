//===- KnownTensors.h - Detects tensors that have not changed -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_KNOWNTENSORS_H
#define LUMINAL_LIB_CAPI_KNOWNTENSORS_H

#include "luminal-c/Luminal.h"
#include <cstdint>
#include <vector>

namespace luminal::capi {

/// The tensor objects of another library that a caller passes, in the
/// artifact's order.
class ObjectList {
public:
  explicit ObjectList(const luminal_objects &objects)
      : objects(objects.data), count(objects.count), total(objects.count) {}
  /// A list with the objects of `objects`, followed by those of `second`.
  ObjectList(const luminal_objects &objects, const luminal_objects &second)
      : objects(objects.data), second(second.data), count(objects.count),
        total(objects.count + second.count) {}

  /// The number of objects, before `pick`.
  size_t size() const { return total; }
  /// Selects the objects at `positions`, in that order.
  void pick(const uint32_t *of) { positions = of; }
  void *operator[](size_t i) const {
    const size_t at = positions ? positions[i] : i;
    return at < count ? objects[at] : second[at - count];
  }
  /// Calls `visit` with a function that returns the object at an index, and
  /// returns its result. For a single list, that function is one or two loads.
  template <typename Visit>
  auto withLookup(Visit visit) const {
    if (count != total)
      return visit([list = *this](size_t i) { return list[i]; });
    if (positions)
      return visit(
          [first = objects, at = positions](size_t i) { return first[at[i]]; });
    return visit([first = objects](size_t i) { return first[i]; });
  }

private:
  void *const *objects, *const *second = nullptr;
  size_t count, total;
  const uint32_t *positions = nullptr;
};

/// The storage of a tensor as recorded when its library was last asked. Every
/// call compares all tensors with these records, so one is half a cache line.
struct KnownPlace {
  static constexpr int64_t kUnknown = -1;

  const void *memory = nullptr, *owner = nullptr;
  int64_t offset = kUnknown;
  uint64_t type = 0;
};

/// The shape of a tensor as recorded; used only if shapes are checked.
struct KnownShape {
  /// Tensors of higher rank are asked at each call.
  static constexpr size_t kMostRank = 5;

  const void *objectClass = nullptr;
  int64_t rank = 0;
  /// The extents, followed by the strides.
  int64_t dims[2 * kMostRank] = {};
};

/// Recorded descriptions of the tensors of a call.
struct KnownTensors {
  std::vector<KnownPlace> places;
  /// Empty if shapes are not checked.
  std::vector<KnownShape> shapes;
};

/// Compares tensors with their recorded descriptions, by reading their memory.
class TensorComparison {
public:
  /// Without a `layout`, nothing can be recorded; without a `reader`, only
  /// addresses are compared, not shapes.
  TensorComparison(const luminal_tensor_layout *layout,
                   const luminal_tensor_reader *reader, size_t handleOffset)
      : layout(layout), reader(reader), handleOffset(handleOffset) {}

  /// Resets the records of `count` tensors.
  void forget(KnownTensors &known, size_t count) const;
  /// Index of the first tensor from `begin` on that no longer matches its
  /// record; `end` if all match.
  size_t findChanged(const ObjectList &tensors, const KnownTensors &known,
                     size_t begin, size_t end) const;
  /// Records the description of tensor `index`, before the library is asked.
  void note(void *object, KnownTensors &known, size_t index) const;

private:
  /// `hasShapes`: whether shapes are checked.
  template <bool hasShapes, typename Lookup>
  size_t findChangedOf(Lookup tensors, const KnownTensors &known, size_t begin,
                       size_t end) const;
  bool hasShape(const void *object, const KnownShape &known) const;
  bool noteShape(void *object, KnownShape &known) const;
  /// Whether the object has a class whose layout is known.
  bool isOfClass(const void *object) const;
  bool canBeKnown(void *handle, int64_t rank) const;

  const luminal_tensor_layout *layout;
  const luminal_tensor_reader *reader;
  size_t handleOffset;
};

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_KNOWNTENSORS_H
