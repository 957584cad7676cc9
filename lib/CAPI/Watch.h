//===- Watch.h - Whether weights are what they were -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_WATCH_H
#define LUMINAL_LIB_CAPI_WATCH_H

#include "KnownTensors.h"
#include <mutex>
#include <vector>

struct luminal_watch {
  explicit luminal_watch(const luminal_watch_options &given);
  luminal_watch(const luminal_watch &) = delete;

  /// As luminal_watch_number; the list has so many tensors. `places`: where a
  /// call found each of them, which is not asked again: another thread may have
  /// replaced a tensor since, and told of it. Null: they are asked.
  uint64_t getNumber(luminal::capi::ObjectList tensors, size_t count,
                     void *const *places = nullptr) const;
  /// As luminal_watch_set; false where one cannot be read.
  bool set(luminal::capi::ObjectList tensors, size_t count, uint64_t given);

private:
  struct Value {
    void *data = nullptr;
    int64_t version = 0;
    bool operator==(const Value &) const = default;
  };
  /// False where nothing is known of the object. `place`: where it lies; null:
  /// it is asked.
  bool read(void *object, Value &value, void *const *place = nullptr) const;

  luminal_watch_options options;
  std::vector<uint32_t> positions;
  mutable std::mutex mutex;
  /// By position; what `number`, other than 0, stands for.
  std::vector<Value> values;
  uint64_t number = 0;
};

#endif // LUMINAL_LIB_CAPI_WATCH_H
