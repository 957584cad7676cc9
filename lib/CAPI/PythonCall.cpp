//===- PythonCall.cpp - Calls made directly by the Python interpreter -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Error.h"
#include <cstring>

using luminal::capi::fail;

/// Set before the first call; the same for all interpreters of the process.
static luminal_python python = {};

luminal_status luminal_python_use(const luminal_python *functions) {
  const char *name = "luminal_python_use: ";
  if (!functions)
    return fail(std::string(name) + "null argument");
  if (functions->struct_size < sizeof(luminal_python))
    return fail(std::string(name) + "struct_size is not set");
  if (!functions->list_class || !functions->list_new ||
      !functions->list_set_item || !functions->call || !functions->decref ||
      !functions->int_from_long || !functions->int_as_pointer ||
      !functions->save_thread || !functions->restore_thread)
    return fail(std::string(name) + "null function");
  python = *functions;
  return LUMINAL_OK;
}

/// The pointer and size that follow a list's object header.
static const luminal_objects &getObjects(const void *list) {
  return *reinterpret_cast<const luminal_objects *>(
      static_cast<const char *>(list) + python.list_offset);
}

static bool isList(const void *object) {
  const void *type = nullptr;
  std::memcpy(&type, static_cast<const char *>(object) + python.class_offset,
              sizeof type);
  return type == python.list_class;
}

/// Creates a list of new output objects; null if an exception was raised.
static void *makeOutputs(const luminal_python_repeat &repeat) {
  void *list = python.list_new(static_cast<ptrdiff_t>(repeat.num_outputs));
  if (!list)
    return nullptr;
  for (size_t i = 0; i < repeat.num_outputs; ++i) {
    void *output = python.call(repeat.make, repeat.outputs[i], nullptr);
    // The list takes over the reference.
    if (!output ||
        python.list_set_item(list, static_cast<ptrdiff_t>(i), output)) {
      python.decref(list);
      return nullptr;
    }
  }
  return list;
}

void *luminal_python_call(void *self, void *const *arguments, ptrdiff_t count) {
  auto *repeat =
      static_cast<const luminal_python_repeat *>(python.int_as_pointer(self));
  if (!repeat || repeat->struct_size < sizeof(luminal_python_repeat) ||
      count != 2) {
    fail("luminal_python_call: expected a list and an address");
    return python.int_from_long(LUMINAL_ERROR);
  }
  // The layout of other objects is not known.
  if (!isList(arguments[0]))
    return python.int_from_long(LUMINAL_CHANGED);
  auto *stored = static_cast<const luminal_stored_objects *>(
      python.int_as_pointer(arguments[1]));
  void *outputs = makeOutputs(*repeat);
  if (!outputs)
    return nullptr;
  void *thread = python.save_thread();
  const luminal_status status = luminal_repeat_call_stored(
      repeat->repeat, &getObjects(arguments[0]), stored, &getObjects(outputs));
  python.restore_thread(thread);
  if (status == LUMINAL_OK)
    return outputs;
  python.decref(outputs);
  return python.int_from_long(status);
}
