//===- Luminal.cpp - The C interface --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal-c/Luminal.h"
#include "Error.h"
#include "Handles.h"
#include "Ranges.h"
#include "luminal/Runtime/ThreadPool.h"
#include "luminal/Support/Version.h"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

using namespace luminal;
using namespace luminal::runtime;

// C callers are compiled with these values.
static_assert(
    LUMINAL_F32 == int(DType::F32) && LUMINAL_F16 == int(DType::F16) &&
    LUMINAL_BF16 == int(DType::BF16) && LUMINAL_F64 == int(DType::F64) &&
    LUMINAL_I32 == int(DType::I32) && LUMINAL_I64 == int(DType::I64) &&
    LUMINAL_I1 == int(DType::I1) && LUMINAL_I8 == int(DType::I8) &&
    LUMINAL_U8 == int(DType::U8) && LUMINAL_F8E4M3 == int(DType::F8E4M3) &&
    LUMINAL_F8E5M2 == int(DType::F8E5M2) && LUMINAL_I16 == int(DType::I16) &&
    LUMINAL_U16 == int(DType::U16) && LUMINAL_U32 == int(DType::U32) &&
    LUMINAL_U32 + 1 == kNumDTypes);

static thread_local std::string lastError;
static thread_local luminal_error_code lastCode = LUMINAL_ERROR_NONE;

luminal_status capi::fail(std::string message, luminal_error_code code) {
  lastError = std::move(message);
  lastCode = code;
  return LUMINAL_ERROR;
}

using capi::fail;
using capi::isContiguous;
using capi::Signature;
using capi::Tensor;

bool capi::isContiguous(size_t rank, const int64_t *shape,
                        const int64_t *strides) {
  for (size_t i = 0; i < rank; ++i)
    if (shape[i] == 0)
      return true;
  int64_t expected = 1;
  for (size_t i = rank; i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    // An overflow is rejected when the shape is checked.
    if (__builtin_mul_overflow(expected, shape[i], &expected))
      return true;
  }
  return true;
}

static luminal_status finish(Status status, luminal_error_code code) {
  return status ? LUMINAL_OK : fail(status.takeError().message, code);
}

static luminal_status noTensor(luminal_kind kind, size_t index) {
  static const char *const names[] = {"input", "output", "weight", "state",
                                      "integer"};
  if (kind < LUMINAL_INPUT || kind > LUMINAL_INTEGER)
    return fail("there is no kind of tensor " + std::to_string(kind));
  return fail("there is no " + std::string(names[kind]) + " " +
              std::to_string(index));
}

static luminal_status wrongRank(const Tensor &tensor, size_t rank) {
  return fail("'" + tensor.spec->name + "' has rank " +
                  std::to_string(tensor.shape.size()) + ", not " +
                  std::to_string(rank),
              LUMINAL_ERROR_SHAPE);
}

const char *luminal_version(void) { return LUMINAL_VERSION; }

void luminal_set_team(luminal_team team) { runtime::ThreadPool::setTeam(team); }

const char *luminal_last_error(void) { return lastError.c_str(); }

luminal_error_code luminal_last_error_code(void) { return lastCode; }

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

const void *luminal_buffer_data(const luminal_buffer *buffer) {
  return buffer ? buffer->bytes.data : nullptr;
}

size_t luminal_buffer_size(const luminal_buffer *buffer) {
  return buffer ? buffer->bytes.size : 0;
}

void luminal_buffer_free(luminal_buffer *buffer) { delete buffer; }

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

static luminal_status finishLoad(Result<std::shared_ptr<const Artifact>> loaded,
                                 luminal_artifact **artifact) {
  if (!loaded)
    return fail(loaded.takeError().message, LUMINAL_ERROR_FILE);
  *artifact = new luminal_artifact{
      std::make_shared<const Signature>(std::move(*loaded)),
      std::make_shared<capi::ContextPool>()};
  return LUMINAL_OK;
}

static bool readOptions(const luminal_load_options *given,
                        LoadOptions &options) {
  if (!given)
    return true;
  if (given->struct_size < offsetof(luminal_load_options, device))
    return false;
  if (given->struct_size >= sizeof(luminal_load_options))
    options.device = static_cast<unsigned>(
        std::min<size_t>(given->device, std::numeric_limits<unsigned>::max()));
  if (given->weights_path)
    options.weightsPath = given->weights_path;
  options.findWeightsFile = !given->weights_path;
  return true;
}

luminal_status luminal_load(const char *path, const luminal_load_options *given,
                            luminal_artifact **artifact) {
  if (!path || !artifact)
    return fail("luminal_load: null argument");
  LoadOptions options;
  if (!readOptions(given, options))
    return fail("luminal_load: struct_size of the options is not set");
  return finishLoad(Artifact::load(path, options), artifact);
}

luminal_status luminal_load_bytes(const void *data, size_t size,
                                  const luminal_load_options *given,
                                  luminal_artifact **artifact) {
  if ((!data && size > 0) || !artifact)
    return fail("luminal_load_bytes: null argument");
  LoadOptions options;
  if (!readOptions(given, options))
    return fail("luminal_load_bytes: struct_size of the options is not set");
  // Aligned, so that embedded weights need no second copy.
  constexpr size_t alignment = kAlignment;
  if (size > SIZE_MAX - alignment)
    return fail("luminal_load_bytes: out of memory", LUMINAL_ERROR_OTHER);
  void *copy =
      std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  if (!copy)
    return fail("luminal_load_bytes: out of memory", LUMINAL_ERROR_OTHER);
  if (size > 0)
    std::memcpy(copy, data, size);
  Bytes bytes;
  bytes.data = static_cast<const uint8_t *>(copy);
  bytes.size = size;
  bytes.owner =
      std::shared_ptr<const void>(copy, [](void *p) { std::free(p); });
  return finishLoad(Artifact::fromBytes(std::move(bytes), "artifact", options),
                    artifact);
}

void luminal_artifact_free(luminal_artifact *artifact) { delete artifact; }

const char *luminal_target(const luminal_artifact *artifact) {
  return artifact
             ? artifact->signature->artifact->getManifest().target.kind.c_str()
             : "";
}

size_t luminal_count(const luminal_artifact *artifact, luminal_kind kind) {
  if (!artifact || kind < LUMINAL_INPUT || kind > LUMINAL_INTEGER)
    return 0;
  return artifact->signature->tensors[kind].size();
}

luminal_status luminal_info(const luminal_artifact *artifact, luminal_kind kind,
                            size_t index, luminal_tensor_info *info) {
  if (!artifact || !info)
    return fail("luminal_info: null argument");
  // The struct of an older caller is shorter.
  if (info->struct_size < offsetof(luminal_tensor_info, is_prepared))
    return fail("luminal_info: struct_size is not set");
  const Tensor *tensor = artifact->signature->find(kind, index);
  if (!tensor)
    return noTensor(kind, index);
  info->name = tensor->spec->name.c_str();
  info->dtype = static_cast<luminal_dtype>(tensor->spec->dtype);
  info->is_written = tensor->isWritten && kind == LUMINAL_INPUT;
  info->rank = tensor->shape.size();
  info->shape = tensor->shape.data();
  info->shape_text = tensor->textPointers.data();
  if (info->struct_size >= sizeof(luminal_tensor_info)) {
    const Manifest *prepare =
        artifact->signature->artifact->getManifest().prepare.get();
    info->is_prepared = kind == LUMINAL_WEIGHT && prepare &&
                        prepare->weights[tensor->index].buffer.has_value();
  }
  return LUMINAL_OK;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

luminal_status luminal_context_create(const luminal_artifact *artifact,
                                      uint32_t threads,
                                      luminal_context **context) {
  if (!artifact || !context)
    return fail("luminal_context_create: null argument");
  auto created = Context::create(artifact->signature->artifact, {threads});
  if (!created)
    return fail(created.takeError().message, LUMINAL_ERROR_OTHER);
  *context = new luminal_context{artifact->signature, std::move(*created)};
  return LUMINAL_OK;
}

void luminal_context_free(luminal_context *context) { delete context; }

luminal_status luminal_bind(luminal_context *context, luminal_kind kind,
                            size_t index, void *data, luminal_dtype dtype,
                            size_t rank, const int64_t *shape,
                            const int64_t *strides) {
  if (!context)
    return fail("luminal_bind: null context");
  const Tensor *tensor = context->signature->find(kind, index);
  if (!tensor)
    return noTensor(kind, index);
  Context &c = *context->context;
  if (kind == LUMINAL_INTEGER) {
    if (!data || rank != 0)
      return fail("'" + tensor->spec->name +
                  "' is an integer: expected one "
                  "value without dims");
    if (dtype != LUMINAL_I64)
      return fail("'" + tensor->spec->name + "' is an integer of type i64",
                  LUMINAL_ERROR_DTYPE);
    int64_t value;
    std::memcpy(&value, data, sizeof value);
    return finish(c.bindInteger(tensor->index, value), LUMINAL_ERROR_SHAPE);
  }
  // `shape` and `strides` are not read until the rank is known to match.
  const bool noShape = !shape || rank == 0;
  if ((data || !noShape) && rank != tensor->shape.size())
    return wrongRank(*tensor, rank);
  if (!data && (noShape || std::find(shape, shape + rank, 0) == shape + rank)) {
    if (kind == LUMINAL_OUTPUT)
      c.unbindOutput(tensor->index);
    else if (kind == LUMINAL_WEIGHT)
      c.unbindWeight(tensor->index);
    else
      c.unbindInput(tensor->index);
    return LUMINAL_OK;
  }
  if (rank > 0 && !shape)
    return fail("luminal_bind: null shape");
  if (dtype < LUMINAL_F32 || dtype > LUMINAL_U32)
    return fail("there is no element type " + std::to_string(dtype));
  if (strides && !isContiguous(rank, shape, strides))
    return fail("'" + tensor->spec->name +
                "' is not contiguous: only row-major memory can be bound");
  std::span<const int64_t> extents(shape, rank);
  DType type = static_cast<DType>(dtype);
  const luminal_error_code code =
      type == tensor->spec->dtype ? LUMINAL_ERROR_SHAPE : LUMINAL_ERROR_DTYPE;
  switch (kind) {
  case LUMINAL_OUTPUT:
    return finish(c.bindOutput(tensor->index, data, type, extents), code);
  case LUMINAL_WEIGHT:
    return finish(c.bindWeight(tensor->index, data, type, extents), code);
  default:
    break;
  }
  return finish(c.bindInput(tensor->index, data, type, extents), code);
}

luminal_status luminal_shape(luminal_context *context, luminal_kind kind,
                             size_t index, size_t rank, int64_t *shape) {
  if (!context || (rank > 0 && !shape))
    return fail("luminal_shape: null argument");
  const Tensor *tensor = context->signature->find(kind, index);
  if (!tensor)
    return noTensor(kind, index);
  if (rank != tensor->shape.size())
    return wrongRank(*tensor, rank);
  if (kind == LUMINAL_WEIGHT || kind == LUMINAL_INTEGER) {
    std::copy(tensor->shape.begin(), tensor->shape.end(), shape);
    return LUMINAL_OK;
  }
  if (Status status = context->context->prepare(); !status)
    return fail(status.takeError().message, LUMINAL_ERROR_SHAPE);
  std::span<const int64_t> extents =
      kind == LUMINAL_OUTPUT ? context->context->getOutputShape(tensor->index)
                             : context->context->getInputShape(tensor->index);
  std::copy(extents.begin(), extents.end(), shape);
  return LUMINAL_OK;
}

luminal_status luminal_data(luminal_context *context, luminal_kind kind,
                            size_t index, const void **data) {
  if (!context || !data)
    return fail("luminal_data: null argument");
  const Tensor *tensor = context->signature->find(kind, index);
  if (!tensor)
    return noTensor(kind, index);
  if (kind != LUMINAL_OUTPUT && kind != LUMINAL_STATE)
    return fail("luminal_data: only outputs and states have data to read");
  Result<const void *> found =
      kind == LUMINAL_OUTPUT ? context->context->getOutputData(tensor->index)
                             : context->context->getStateData(tensor->index);
  if (!found)
    return fail(found.takeError().message, LUMINAL_ERROR_CALL);
  *data = *found;
  return LUMINAL_OK;
}

luminal_status luminal_run(luminal_context *context) {
  if (!context)
    return fail("luminal_run: null context");
  Status done = capi::runContext(*context->context);
  return done ? LUMINAL_OK : capi::failRun(*context->context, std::move(done));
}

luminal_status luminal_reset(luminal_context *context) {
  if (!context)
    return fail("luminal_reset: null context");
  context->context->resetStates();
  return LUMINAL_OK;
}
