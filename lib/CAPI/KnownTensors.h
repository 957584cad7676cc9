//===- KnownTensors.h - Tensors that need not be asked again --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_KNOWNTENSORS_H
#define LUMINAL_LIB_CAPI_KNOWNTENSORS_H

#include "luminal-c/Luminal.h"
#include <cstdint>
#include <vector>

namespace luminal::capi {

/// Tensors of another library that a caller hands over, in the artifact's
/// order.
class ObjectList {
public:
  explicit ObjectList(const luminal_objects &objects)
      : objects(objects.data), count(objects.count), total(objects.count) {}
  /// `second` follows `objects`.
  ObjectList(const luminal_objects &objects, const luminal_objects &second)
      : objects(objects.data), second(second.data), count(objects.count),
        total(objects.count + second.count) {}

  /// So many objects before any are picked.
  size_t size() const { return total; }
  /// Has the objects at `positions` only, in that order.
  void pick(const uint32_t *of) { positions = of; }
  void *operator[](size_t i) const {
    const size_t at = positions ? positions[i] : i;
    return at < count ? objects[at] : second[at - count];
  }
  /// What `visit` returns for a function that tells the object at an index: of
  /// one list that is a load or two.
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

/// Where a tensor's description said that it lies when its library was asked.
/// All tensors of a call are looked through at each: half a line of a cache.
struct KnownPlace {
  static constexpr int64_t kUnknown = -1;

  const void *memory = nullptr, *owner = nullptr;
  int64_t offset = kUnknown;
  uint64_t type = 0;
};

/// The rest of what it said, where somebody checks it.
struct KnownShape {
  /// Tensors of more dims are asked at each call.
  static constexpr size_t kMostRank = 5;

  const void *objectClass = nullptr;
  int64_t rank = 0;
  /// The extents, behind them the strides.
  int64_t dims[2 * kMostRank] = {};
};

/// What the tensors of a call were.
struct KnownTensors {
  std::vector<KnownPlace> places;
  /// Empty where nobody checks.
  std::vector<KnownShape> shapes;
};

/// Compares tensors with what they were.
class TensorComparison {
public:
  /// `layout` and `reader` may be null: then nothing is known, or nobody asks
  /// what tensors are, only where they lie.
  TensorComparison(const luminal_tensor_layout *layout,
                   const luminal_tensor_reader *reader, size_t handleOffset)
      : layout(layout), reader(reader), handleOffset(handleOffset) {}

  /// Nothing is known of so many tensors.
  void forget(KnownTensors &known, size_t count) const;
  /// The first tensor from `begin` on of which the library would not say what
  /// it said when it was noted; `end` if there is none.
  size_t findChanged(const ObjectList &tensors, const KnownTensors &known,
                     size_t begin, size_t end) const;
  /// Notes what the library is asked next of tensor `index`.
  void note(void *object, KnownTensors &known, size_t index) const;

private:
  /// `hasShapes`: whether somebody checks what tensors are.
  template <bool hasShapes, typename Lookup>
  size_t findChangedOf(Lookup tensors, const KnownTensors &known, size_t begin,
                       size_t end) const;
  bool hasShape(const void *object, const KnownShape &known) const;
  bool noteShape(void *object, KnownShape &known) const;
  /// Whether something may be read of the object.
  bool isOfClass(const void *object) const;
  bool canBeKnown(void *handle, int64_t rank) const;

  const luminal_tensor_layout *layout;
  const luminal_tensor_reader *reader;
  size_t handleOffset;
};

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_KNOWNTENSORS_H
