//===- Objects.cpp - Calls by objects of another library ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Call.h"
#include "Error.h"
#include "Watch.h"
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <optional>

using namespace luminal;
using luminal::capi::Call;
using luminal::capi::fail;
using luminal::capi::Signature;
using luminal::capi::Tensor;

//===----------------------------------------------------------------------===//
// What objects are, and where they lie
//===----------------------------------------------------------------------===//

namespace {
/// Whether the objects of a call are what it takes, by what their library says.
class ObjectCheck {
public:
  ObjectCheck(const char *function, const Signature &signature,
              const luminal_call_request &request)
      : function(function), signature(signature), request(request),
        reader(*request.tensor_reader) {}

  luminal_status run(void *const *objects) const {
    const int64_t *extents = request.extents;
    for (luminal_kind kind : {LUMINAL_INPUT, LUMINAL_WEIGHT, LUMINAL_STATE})
      for (const Tensor &tensor : signature.tensors[kind]) {
        const bool isInput = kind == LUMINAL_INPUT;
        const size_t rank = tensor.shape.size();
        if (void *object = *objects++)
          if (checkClass(object, tensor) ||
              check(static_cast<char *>(object) + request.handle_offset, tensor,
                    isInput ? extents : tensor.shape.data()))
            return LUMINAL_ERROR;
        extents += isInput ? rank : 0;
      }
    return LUMINAL_OK;
  }

private:
  luminal_status checkClass(const void *object, const Tensor &tensor) const {
    if (reader.num_classes == 0)
      return LUMINAL_OK;
    const void *given = nullptr;
    std::memcpy(&given, static_cast<const char *>(object) + reader.class_offset,
                sizeof given);
    for (size_t i = 0; i < reader.num_classes; ++i)
      if (reader.classes[i] == given)
        return LUMINAL_OK;
    return fail("'" + tensor.spec->name + "' is of another class than tensors",
                LUMINAL_ERROR_ARGUMENT);
  }

  luminal_status check(void *handle, const Tensor &tensor,
                       const int64_t *shape) const {
    const std::string &name = tensor.spec->name;
    int64_t rank = 0, *sizes = nullptr, *strides = nullptr;
    int32_t dtype = 0, device = 0;
    if (reader.rank(handle, &rank) || reader.sizes(handle, &sizes) ||
        reader.strides(handle, &strides) || reader.dtype(handle, &dtype) ||
        reader.device(handle, &device))
      return fail(std::string(function) + ": what '" + name +
                  "' is cannot be read");
    if (dtype != reader.dtypes[static_cast<size_t>(tensor.spec->dtype)])
      return fail("'" + name + "' has another element type than " +
                      std::string(dtypeName(tensor.spec->dtype)),
                  LUMINAL_ERROR_DTYPE);
    const size_t expected = tensor.shape.size();
    if (rank != static_cast<int64_t>(expected) ||
        !std::equal(shape, shape + expected, sizes) ||
        !capi::isContiguous(expected, sizes, strides) ||
        (reader.device_kind >= 0 && device != reader.device_kind))
      return fail(
          "'" + name +
              "' has another shape than in this call, is not row-major, "
              "or is on another device",
          LUMINAL_ERROR_SHAPE);
    return LUMINAL_OK;
  }

  const char *function;
  const Signature &signature;
  const luminal_call_request &request;
  const luminal_tensor_reader &reader;
};
} // namespace

/// The functions of a request that tell of objects can be used.
static luminal_status checkReaders(const char *function,
                                   const luminal_call_request &request) {
  if (!request.read)
    return fail(std::string(function) + ": null argument");
  const luminal_tensor_reader *reader = request.tensor_reader;
  if (!reader)
    return LUMINAL_OK;
  if (reader->struct_size < offsetof(luminal_tensor_reader, class_offset))
    return fail(std::string(function) +
                ": struct_size of the reader is not set");
  if (!reader->rank || !reader->sizes || !reader->strides || !reader->dtype ||
      !reader->device)
    return fail(std::string(function) + ": null function of the reader");
  if (reader->struct_size >= sizeof(luminal_tensor_reader) &&
      !reader->classes && reader->num_classes > 0)
    return fail(std::string(function) + ": null classes of the reader");
  return LUMINAL_OK;
}

/// The reader as this version knows it: an older caller's ends earlier.
static luminal_tensor_reader readReader(const luminal_tensor_reader &reader) {
  luminal_tensor_reader given = {};
  std::memcpy(&given, &reader, std::min(reader.struct_size, sizeof given));
  return given;
}

/// Sets the addresses of a request, whose numbers are checked, to those of the
/// objects: valid until the next call on this thread.
static luminal_status readAddresses(const char *function,
                                    luminal_call_request &request,
                                    void *const *tensors,
                                    void *const *outputs) {
  // One allocation a thread, of the largest call.
  thread_local std::vector<void *> addresses;
  addresses.clear();
  auto read = [&](const char *what, void *const *objects, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      void *data = nullptr;
      if (objects[i] &&
          request.read(static_cast<char *>(objects[i]) + request.handle_offset,
                       &data))
        return fail(std::string(function) + ": the address of " + what + " " +
                    std::to_string(i) + " cannot be read");
      addresses.push_back(data);
    }
    return luminal_status(LUMINAL_OK);
  };
  if (read("tensor", tensors, request.num_tensors) ||
      read("output", outputs, request.num_outputs))
    return LUMINAL_ERROR;
  request.tensors = addresses.data();
  request.outputs = addresses.data() + request.num_tensors;
  return LUMINAL_OK;
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

luminal_status luminal_call_objects(const luminal_artifact *artifact,
                                    const luminal_call_request *request,
                                    void *const *tensors,
                                    void *const *outputs) {
  const char *name = "luminal_call_objects";
  luminal_call_request given = {};
  if (capi::readRequest(name, artifact, request, given) ||
      checkReaders(name, given))
    return LUMINAL_ERROR;
  if ((!tensors && given.num_tensors > 0) ||
      (!outputs && given.num_outputs > 0))
    return fail(std::string(name) + ": null argument");
  luminal_tensor_reader reader = {};
  if (given.tensor_reader) {
    reader = readReader(*given.tensor_reader);
    given.tensor_reader = &reader;
    const Signature &signature = *artifact->signature;
    if (Call(signature, given).checkCounts() ||
        ObjectCheck(name, signature, given).run(tensors))
      return LUMINAL_ERROR;
  }
  if (readAddresses(name, given, tensors, outputs))
    return LUMINAL_ERROR;
  return capi::runCall(*artifact, given);
}

//===----------------------------------------------------------------------===//
// The same call again and again
//===----------------------------------------------------------------------===//

/// No two repeats have the same number; 0 is none's.
static uint64_t nextRepeat() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

struct luminal_repeat {
  luminal_repeat(const luminal_artifact &artifact,
                 const luminal_call_request &given)
      : signature(artifact.signature), pool(artifact.pool), request(given),
        dtypes(given.dtypes, given.dtypes + given.num_tensors),
        extents(given.extents, given.extents + given.num_extents),
        outputExtents(given.output_extents,
                      given.output_extents + given.num_output_extents),
        integers(given.integers, given.integers + given.num_integers) {
    if (given.positions)
      positions.emplace(given.positions, given.positions + given.num_tensors);
    if (positions)
      for (uint32_t position : *positions)
        requiredCount = std::max<size_t>(requiredCount, position + size_t(1));
    request.dtypes = dtypes.data();
    request.extents = extents.data();
    request.output_extents = outputExtents.data();
    request.integers = integers.data();
    request.tensors = request.outputs = nullptr;
    if (!given.tensor_reader)
      return;
    reader = readReader(*given.tensor_reader);
    classes.assign(reader.classes, reader.classes + reader.num_classes);
    reader.classes = classes.data();
    request.tensor_reader = &reader;
  }
  luminal_repeat(const luminal_repeat &) = delete;

  /// Shared: the artifact's handle may be freed first.
  std::shared_ptr<const Signature> signature;
  std::shared_ptr<capi::ContextPool> pool;
  /// Its arrays are those below.
  luminal_call_request request;
  std::vector<luminal_dtype> dtypes;
  std::vector<int64_t> extents, outputExtents, integers;
  luminal_tensor_reader reader = {};
  std::vector<const void *> classes;
  /// Of the tensors in a list; none where it has them in order.
  std::optional<std::vector<uint32_t>> positions;
  /// Objects that a list has at least.
  size_t requiredCount = 0;
  const uint64_t number = nextRepeat();
};

luminal_status luminal_repeat_create(const luminal_artifact *artifact,
                                     const luminal_call_request *request,
                                     luminal_repeat **repeat) {
  const char *name = "luminal_repeat_create";
  luminal_call_request given = {};
  if (capi::readRequest(name, artifact, request, given) ||
      checkReaders(name, given))
    return LUMINAL_ERROR;
  if (!repeat || (!given.dtypes && given.num_tensors > 0))
    return fail(std::string(name) + ": null argument");
  if (given.only_shapes || given.profile)
    return fail(std::string(name) +
                ": only_shapes and profile are of single calls");
  const Call call(*artifact->signature, given);
  if (call.checkCounts() || call.checkDTypes())
    return LUMINAL_ERROR;
  *repeat = new luminal_repeat(*artifact, given);
  return LUMINAL_OK;
}

void luminal_repeat_free(luminal_repeat *repeat) { delete repeat; }

static luminal_status callAgain(const char *name, const luminal_repeat &repeat,
                                void *const *tensors, void *const *outputs) {
  luminal_call_request request = repeat.request;
  if (request.tensor_reader &&
      ObjectCheck(name, *repeat.signature, request).run(tensors))
    return LUMINAL_ERROR;
  if (request.watch &&
      request.watch->getNumber({tensors, request.num_tensors}) !=
          request.weights_version)
    return LUMINAL_CHANGED;
  if (readAddresses(name, request, tensors, outputs))
    return LUMINAL_ERROR;
  return Call(*repeat.signature, request, repeat.number)
      .runPooled(*repeat.pool);
}

luminal_status luminal_repeat_call(const luminal_repeat *repeat,
                                   void *const *objects) {
  const char *name = "luminal_repeat_call";
  if (!repeat || !objects)
    return fail(std::string(name) + ": null argument");
  return callAgain(name, *repeat, objects,
                   objects + repeat->request.num_tensors);
}

luminal_status luminal_repeat_call_lists(const luminal_repeat *repeat,
                                         const luminal_objects *tensors,
                                         const luminal_objects *outputs) {
  const char *name = "luminal_repeat_call_lists";
  if (!repeat || !tensors || !outputs)
    return fail(std::string(name) + ": null argument");
  const size_t numTensors = repeat->request.num_tensors,
               numOutputs = repeat->request.num_outputs;
  if (outputs->count != numOutputs)
    return fail(std::string(name) + ": " + std::to_string(outputs->count) +
                " outputs, expected " + std::to_string(numOutputs));
  if (!repeat->positions) {
    if (tensors->count != numTensors)
      return fail(std::string(name) + ": " + std::to_string(tensors->count) +
                  " tensors, expected " + std::to_string(numTensors));
    return callAgain(name, *repeat, tensors->data, outputs->data);
  }
  if (tensors->count < repeat->requiredCount)
    return fail(std::string(name) + ": " + std::to_string(tensors->count) +
                " tensors, of which number " +
                std::to_string(repeat->requiredCount - 1) + " is asked for");
  // One allocation a thread, of the largest call.
  thread_local std::vector<void *> picked;
  picked.resize(numTensors);
  for (size_t i = 0; i < numTensors; ++i)
    picked[i] = tensors->data[(*repeat->positions)[i]];
  return callAgain(name, *repeat, picked.data(), outputs->data);
}
