//===- Watch.h - Detects changes of weights -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_WATCH_H
#define LUMINAL_LIB_CAPI_WATCH_H

#include "KnownTensors.h"
#include <mutex>
#include <vector>

struct luminal_watch {
  explicit luminal_watch(const luminal_watch_options &given);
  luminal_watch(const luminal_watch &) = delete;

  /// Implements luminal_watch_number for a list of `count` tensors. `places`:
  /// the addresses that a call has found; they are not read again, because
  /// another thread may have replaced a tensor meanwhile. Null: read them.
  uint64_t getNumber(luminal::capi::ObjectList tensors, size_t count,
                     void *const *places = nullptr) const;
  /// Implements luminal_watch_set; false if a tensor cannot be read.
  bool set(luminal::capi::ObjectList tensors, size_t count, uint64_t given);

private:
  struct Value {
    void *data = nullptr;
    int64_t version = 0;
    bool operator==(const Value &) const = default;
  };
  /// False if the object's version is unknown. `place`: the known address;
  /// null: read it.
  bool read(void *object, Value &value, void *const *place = nullptr) const;

  luminal_watch_options options;
  std::vector<uint32_t> positions;
  mutable std::mutex mutex;
  /// In the order of `positions`; the state that `number`, if not 0,
  /// identifies.
  std::vector<Value> values;
  uint64_t number = 0;
};

#endif // LUMINAL_LIB_CAPI_WATCH_H
