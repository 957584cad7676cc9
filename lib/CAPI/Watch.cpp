//===- Watch.cpp - Detects changes of weights -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Watch.h"
#include "Error.h"
#include <string>

using luminal::capi::fail;

luminal_watch::luminal_watch(const luminal_watch_options &given)
    : options(given),
      positions(given.positions, given.positions + given.num_positions) {
  options.positions = positions.data();
}

bool luminal_watch::read(void *object, Value &value, void *const *place) const {
  // The artifact's own weight: nothing else writes to it.
  if (!object)
    return true;
  void *handle = static_cast<char *>(object) + options.handle_offset;
  const bool isUncounted = options.is_uncounted(handle);
  if (isUncounted && !options.trusts_uncounted)
    return false;
  value.version = isUncounted ? -1 : options.version(handle);
  if (place) {
    value.data = *place;
    return true;
  }
  return options.read(handle, &value.data) == 0;
}

uint64_t luminal_watch::getNumber(luminal::capi::ObjectList tensors,
                                  size_t count, void *const *places) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (number == 0)
    return 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    Value value;
    const uint32_t position = positions[i];
    if (position >= count ||
        !read(tensors[position], value, places ? places + position : nullptr) ||
        value != values[i])
      return 0;
  }
  return number;
}

bool luminal_watch::set(luminal::capi::ObjectList tensors, size_t count,
                        uint64_t given) {
  std::lock_guard<std::mutex> lock(mutex);
  number = 0;
  values.clear();
  if (given == 0)
    return true;
  for (uint32_t position : positions)
    if (position >= count || !read(tensors[position], values.emplace_back()))
      return false;
  number = given;
  return true;
}

luminal_status luminal_watch_create(const luminal_watch_options *options,
                                    luminal_watch **watch) {
  if (!options || !watch)
    return fail("luminal_watch_create: null argument");
  if (options->struct_size < sizeof(luminal_watch_options))
    return fail("luminal_watch_create: struct_size is not set");
  if (!options->read || !options->version || !options->is_uncounted ||
      (!options->positions && options->num_positions > 0))
    return fail("luminal_watch_create: null argument");
  *watch = new luminal_watch(*options);
  return LUMINAL_OK;
}

void luminal_watch_free(luminal_watch *watch) { delete watch; }

luminal_status luminal_watch_set(luminal_watch *watch,
                                 const luminal_objects *tensors,
                                 uint64_t number) {
  if (!watch)
    return fail("luminal_watch_set: null argument");
  if (!watch->set(
          luminal::capi::ObjectList(tensors ? *tensors : luminal_objects{}),
          tensors ? tensors->count : 0, tensors ? number : 0))
    return fail("luminal_watch_set: a watched tensor is missing, cannot be "
                "read, or is written to uncounted");
  return LUMINAL_OK;
}

luminal_status luminal_watch_number(const luminal_watch *watch,
                                    const luminal_objects *tensors,
                                    uint64_t *number) {
  if (!watch || !tensors || !number)
    return fail("luminal_watch_number: null argument");
  *number =
      watch->getNumber(luminal::capi::ObjectList(*tensors), tensors->count);
  return LUMINAL_OK;
}
