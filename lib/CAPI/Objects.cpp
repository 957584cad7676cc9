//===- Objects.cpp - Calls with tensor objects of another library ---------===//
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
// Descriptions and addresses of objects
//===----------------------------------------------------------------------===//

namespace {
/// A tensor that the artifact expects, and its extents in this call.
struct Expected {
  const Tensor *tensor;
  const int64_t *shape;
};
} // namespace

/// The expected tensors, in the order of a request's.
static std::vector<Expected> getExpected(const Signature &signature,
                                         const int64_t *extents) {
  std::vector<Expected> all;
  for (luminal_kind kind : {LUMINAL_INPUT, LUMINAL_WEIGHT, LUMINAL_STATE})
    for (const Tensor &tensor : signature.tensors[kind]) {
      const bool isInput = kind == LUMINAL_INPUT;
      all.push_back({&tensor, isInput ? extents : tensor.shape.data()});
      extents += isInput ? tensor.shape.size() : 0;
    }
  return all;
}

namespace {
/// Checks by its library's description that an object is the expected tensor.
class ObjectCheck {
public:
  ObjectCheck(const char *function, const luminal_tensor_reader &reader,
              size_t handleOffset)
      : function(function), reader(reader), handleOffset(handleOffset) {}

  luminal_status run(void *object, const Expected &expected) const {
    return checkClass(object, *expected.tensor) ||
                   check(static_cast<char *>(object) + handleOffset,
                         *expected.tensor, expected.shape)
               ? LUMINAL_ERROR
               : LUMINAL_OK;
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
    return fail("'" + tensor.spec->name + "' is not a tensor",
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
      return fail(std::string(function) + ": the description of '" + name +
                  "' cannot be read");
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
  const luminal_tensor_reader &reader;
  size_t handleOffset;
};
} // namespace

/// Checks that the request's functions for reading objects are complete.
static luminal_status checkReaders(const char *function,
                                   const luminal_call_request &request) {
  if (!request.read)
    return fail(std::string(function) + ": null argument");
  if (request.count_write && !request.is_uncounted)
    return fail(std::string(function) + ": null is_uncounted");
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

/// Copies a reader of this or an older version, whose struct is shorter.
static luminal_tensor_reader readReader(const luminal_tensor_reader &reader) {
  luminal_tensor_reader given = {};
  std::memcpy(&given, &reader, std::min(reader.struct_size, sizeof given));
  return given;
}

/// Returns the address of an object's data; a null object has a null address.
/// `what` and `index` name the object in errors.
static luminal_status readAddress(const char *function,
                                  const luminal_call_request &request,
                                  void *object, const char *what, size_t index,
                                  void *&data) {
  data = nullptr;
  if (object &&
      request.read(static_cast<char *>(object) + request.handle_offset, &data))
    return fail(std::string(function) + ": the address of " + what + " " +
                std::to_string(index) + " cannot be read");
  return LUMINAL_OK;
}

//===----------------------------------------------------------------------===//
// A single call
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
    const Signature &signature = *artifact->signature;
    if (Call(signature, given).checkCounts())
      return LUMINAL_ERROR;
    const ObjectCheck check(name, reader, given.handle_offset);
    size_t next = 0;
    for (const Expected &expected : getExpected(signature, given.extents))
      if (void *object = tensors[next++]; object && check.run(object, expected))
        return LUMINAL_ERROR;
  }
  std::vector<void *> addresses(given.num_tensors + given.num_outputs);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const bool isTensor = i < given.num_tensors;
    const size_t index = isTensor ? i : i - given.num_tensors;
    if (readAddress(name, given, (isTensor ? tensors : outputs)[index],
                    isTensor ? "tensor" : "output", index, addresses[i]))
      return LUMINAL_ERROR;
  }
  given.tensors = addresses.data();
  given.outputs = addresses.data() + given.num_tensors;
  return capi::runCall(*artifact, given);
}

//===----------------------------------------------------------------------===//
// Repeated calls
//===----------------------------------------------------------------------===//

/// Returns a new number for a repeat; never 0.
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
    expected = getExpected(*signature, extents.data());
    for (size_t i = 0; i < expected.size(); ++i)
      if (expected[i].tensor->isWritten)
        written.push_back(i);
    if (given.layout) {
      layout = *given.layout;
      request.layout = &layout;
    }
    if (!given.tensor_reader)
      return;
    reader = readReader(*given.tensor_reader);
    classes.assign(reader.classes, reader.classes + reader.num_classes);
    reader.classes = classes.data();
    request.tensor_reader = &reader;
  }
  luminal_repeat(const luminal_repeat &) = delete;

  /// Shared, because the artifact's handle may be freed first.
  std::shared_ptr<const Signature> signature;
  std::shared_ptr<capi::ContextPool> pool;
  /// Its arrays are the members below.
  luminal_call_request request;
  std::vector<luminal_dtype> dtypes;
  std::vector<int64_t> extents, outputExtents, integers;
  std::vector<Expected> expected;
  /// Indices of the tensors that a call writes.
  std::vector<size_t> written;
  luminal_tensor_reader reader = {};
  luminal_tensor_layout layout = {};
  std::vector<const void *> classes;
  /// Positions of the tensors in the caller's list; absent if the list is in
  /// order.
  std::optional<std::vector<uint32_t>> positions;
  /// Minimum length of the caller's list.
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
                ": only_shapes and profile are for single calls");
  if (given.layout && given.layout->struct_size < sizeof(luminal_tensor_layout))
    return fail(std::string(name) + ": struct_size of the layout is not set");
  const Call call(*artifact->signature, given);
  if (call.checkCounts() || call.checkDTypes())
    return LUMINAL_ERROR;
  *repeat = new luminal_repeat(*artifact, given);
  return LUMINAL_OK;
}

void luminal_repeat_free(luminal_repeat *repeat) { delete repeat; }

namespace {
/// One call of a luminal_repeat.
class RepeatedCall : public capi::Repeated {
public:
  /// `request` is a copy of the repeat's for this call; the weights version
  /// that the watch returns is stored in it.
  RepeatedCall(const char *function, const luminal_repeat &repeat,
               luminal_call_request &request, capi::ObjectList tensors,
               void *const *outputs)
      : Repeated(repeat.number), function(function), repeat(repeat),
        request(request), tensors(tensors), outputs(outputs) {}

  bool isAbsent(size_t tensor) const override { return !tensors[tensor]; }
  luminal_status find(capi::PooledContext &context, bool isKnown,
                      bool &moved) const override;

private:
  /// Asks the library for a tensor's description and address.
  luminal_status ask(size_t tensor, void *&address) const;

  const char *function;
  const luminal_repeat &repeat;
  luminal_call_request &request;
  capi::ObjectList tensors;
  void *const *outputs;
};
} // namespace

luminal_status RepeatedCall::ask(size_t tensor, void *&address) const {
  void *object = tensors[tensor];
  if (object && request.tensor_reader &&
      ObjectCheck(function, *request.tensor_reader, request.handle_offset)
          .run(object, repeat.expected[tensor]))
    return LUMINAL_ERROR;
  return readAddress(function, request, object, "tensor", tensor, address);
}

luminal_status RepeatedCall::find(capi::PooledContext &context, bool isKnown,
                                  bool &moved) const {
  const size_t numTensors = request.num_tensors;
  const capi::TensorComparison comparison(request.layout, request.tensor_reader,
                                          request.handle_offset);
  if (!isKnown) {
    context.found.assign(numTensors + request.num_outputs, nullptr);
    comparison.forget(context.known, numTensors);
  }
  for (size_t i = 0; i < numTensors; ++i) {
    i = comparison.findChanged(tensors, context.known, i, numTensors);
    if (i == numTensors)
      break;
    void *&found = context.found[i];
    void *const before = found;
    // Record first: if another thread replaces the tensor while the library is
    // asked, the next call sees a difference.
    comparison.note(tensors[i], context.known, i);
    if (ask(i, found))
      return LUMINAL_ERROR;
    moved |= found != before;
  }
  if (request.watch) {
    const uint64_t number =
        request.watch->getNumber(tensors, numTensors, context.found.data());
    const uint64_t asked = repeat.request.weights_version;
    if (number == 0 || (asked != 0 && number != asked))
      return LUMINAL_CHANGED;
    request.weights_version = number;
  }
  for (size_t i = 0; i < request.num_outputs; ++i)
    if (readAddress(function, request, outputs[i], "output", i,
                    context.found[numTensors + i]))
      return LUMINAL_ERROR;
  return LUMINAL_OK;
}

/// Makes one call of a repeat, in a context of the pool.
static luminal_status callAgain(const char *name, const luminal_repeat &repeat,
                                capi::ObjectList tensors,
                                void *const *outputs) {
  luminal_call_request request = repeat.request;
  if (request.num_threads)
    request.threads = static_cast<uint32_t>(std::max(1, request.num_threads()));
  if (request.current_stream &&
      request.current_stream(request.stream_device, &request.stream))
    return fail(std::string(name) + ": there is no current stream",
                LUMINAL_ERROR_CALL);
  const RepeatedCall repeated(name, repeat, request, tensors, outputs);
  if (luminal_status status =
          Call(*repeat.signature, request, &repeated).runPooled(*repeat.pool))
    return status;
  if (!request.count_write)
    return LUMINAL_OK;
  for (size_t i : repeat.written) {
    auto *object = static_cast<char *>(tensors[i]);
    if (!object)
      continue;
    void *handle = object + request.handle_offset;
    if (!request.is_uncounted(handle))
      request.count_write(handle);
  }
  return LUMINAL_OK;
}

luminal_status luminal_repeat_call(const luminal_repeat *repeat,
                                   void *const *objects) {
  const char *name = "luminal_repeat_call";
  if (!repeat || !objects)
    return fail(std::string(name) + ": null argument");
  const size_t numTensors = repeat->request.num_tensors;
  return callAgain(name, *repeat,
                   capi::ObjectList(luminal_objects{numTensors, objects}),
                   objects + numTensors);
}

/// Checks the lengths of the lists and makes the call.
static luminal_status callLists(const char *name, const luminal_repeat &repeat,
                                capi::ObjectList tensors,
                                const luminal_objects &outputs) {
  const size_t numTensors = repeat.request.num_tensors,
               numOutputs = repeat.request.num_outputs;
  if (outputs.count != numOutputs)
    return fail(std::string(name) + ": " + std::to_string(outputs.count) +
                " outputs, expected " + std::to_string(numOutputs));
  if (!repeat.positions && tensors.size() != numTensors)
    return fail(std::string(name) + ": " + std::to_string(tensors.size()) +
                " tensors, expected " + std::to_string(numTensors));
  if (tensors.size() < repeat.requiredCount)
    return fail(std::string(name) + ": " + std::to_string(tensors.size()) +
                " tensors, expected at least " +
                std::to_string(repeat.requiredCount));
  if (repeat.positions)
    tensors.pick(repeat.positions->data());
  return callAgain(name, repeat, tensors, outputs.data);
}

luminal_status luminal_repeat_call_lists(const luminal_repeat *repeat,
                                         const luminal_objects *tensors,
                                         const luminal_objects *outputs) {
  const char *name = "luminal_repeat_call_lists";
  if (!repeat || !tensors || !outputs)
    return fail(std::string(name) + ": null argument");
  return callLists(name, *repeat, capi::ObjectList(*tensors), *outputs);
}

luminal_status luminal_repeat_call_stored(const luminal_repeat *repeat,
                                          const luminal_objects *tensors,
                                          const luminal_stored_objects *stored,
                                          const luminal_objects *outputs) {
  const char *name = "luminal_repeat_call_stored";
  if (!repeat || !tensors || !stored || !outputs ||
      ((!stored->versions || !stored->known_versions) &&
       stored->num_versions > 0))
    return fail(std::string(name) + ": null argument");
  if (stored->struct_size < sizeof(luminal_stored_objects))
    return fail(std::string(name) + ": struct_size is not set");
  for (size_t i = 0; i < stored->num_versions; ++i)
    if (*stored->versions[i] != stored->known_versions[i])
      return LUMINAL_CHANGED;
  return callLists(name, *repeat, capi::ObjectList(*tensors, stored->objects),
                   *outputs);
}
