//===- Call.cpp - A whole call of an artifact -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Call.h"
#include "Error.h"
#include "Ranges.h"
#include "Steps.h"
#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace luminal;
using namespace luminal::runtime;
using luminal::capi::Call;
using luminal::capi::CapturedCall;
using luminal::capi::ContextPool;
using luminal::capi::fail;
using luminal::capi::PooledContext;
using luminal::capi::Signature;
using luminal::capi::StepTeller;
using luminal::capi::Tensor;

//===----------------------------------------------------------------------===//
// The pool of contexts
//===----------------------------------------------------------------------===//

static Result<PooledContext>
makeContext(const std::shared_ptr<const Artifact> &artifact, uint32_t threads) {
  Result<std::unique_ptr<Context>> made = Context::create(artifact, {threads});
  if (!made)
    return made.takeError();
  PooledContext context;
  context.threads = threads;
  context.context = std::move(*made);
  context.boundWeights.resize(artifact->getManifest().weights.size());
  return context;
}

Result<PooledContext>
ContextPool::take(const std::shared_ptr<const Artifact> &artifact,
                  uint32_t threads, std::optional<CallerStream> stream) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    // Prefer the context of the last call on this stream, whose memory is in
    // the caches; else the last one with as many threads.
    std::optional<size_t> found;
    for (size_t i = idle.size(); i-- > 0;) {
      if (idle[i].threads != threads)
        continue;
      const bool isSame = idle[i].stream == stream;
      if (isSame || !found)
        found = i;
      if (isSame)
        break;
    }
    if (found) {
      PooledContext context = std::move(idle[*found]);
      idle.erase(idle.begin() + static_cast<ptrdiff_t>(*found));
      return context;
    }
  }
  return makeContext(artifact, threads);
}

void ContextPool::give(PooledContext context) {
  std::lock_guard<std::mutex> lock(mutex);
  idle.push_back(std::move(context));
}

luminal_status capi::failRun(const Context &context, Status status) {
  return fail(status.takeError().message, context.failedAssertion()
                                              ? LUMINAL_ERROR_ASSERTION
                                              : LUMINAL_ERROR_CALL);
}

void ContextPool::note(const std::shared_ptr<CapturedCall> &call) {
  std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(captured, [](const auto &known) { return known.expired(); });
  captured.push_back(call);
}

std::vector<std::shared_ptr<CapturedCall>> ContextPool::getCaptured() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::shared_ptr<CapturedCall>> calls;
  for (const std::weak_ptr<CapturedCall> &known : captured)
    if (std::shared_ptr<CapturedCall> call = known.lock())
      calls.push_back(std::move(call));
  return calls;
}

luminal_status ContextPool::refresh() {
  const std::vector<std::shared_ptr<CapturedCall>> calls = getCaptured();
  if (calls.empty())
    return LUMINAL_OK;
  if (luminal_status status = synchronize())
    return status;
  for (const std::shared_ptr<CapturedCall> &call : calls) {
    std::lock_guard<std::mutex> lock(call->mutex);
    if (Status done = call->context.context->refreshPrepared(); !done)
      return fail(done.takeError().message, LUMINAL_ERROR_CALL);
  }
  return LUMINAL_OK;
}

luminal_status ContextPool::synchronize() {
  luminal_status status = LUMINAL_OK;
  auto wait = [&](PooledContext &context) {
    Status done = context.context->synchronize();
    if (done)
      return;
    // The next call must bind everything again, including broken states.
    context.repeat = 0;
    if (status == LUMINAL_OK)
      status = capi::failRun(*context.context, std::move(done));
  };
  for (const std::shared_ptr<CapturedCall> &call : getCaptured()) {
    std::lock_guard<std::mutex> lock(call->mutex);
    wait(call->context);
  }
  {
    std::lock_guard<std::mutex> lock(stateMutex);
    if (states)
      wait(*states);
  }
  std::lock_guard<std::mutex> lock(mutex);
  for (PooledContext &context : idle)
    wait(context);
  return status;
}

//===----------------------------------------------------------------------===//
// A call
//===----------------------------------------------------------------------===//

static size_t countExtents(const std::vector<Tensor> &tensors) {
  size_t count = 0;
  for (const Tensor &tensor : tensors)
    count += tensor.shape.size();
  return count;
}

static luminal_status wrongCount(const char *what, size_t given,
                                 size_t expected) {
  return fail("luminal_call: " + std::to_string(given) + " " + what +
              ", expected " + std::to_string(expected));
}

luminal_status Call::checkCounts() const {
  const size_t inputs = get(LUMINAL_INPUT).size();
  const size_t tensors =
      inputs + get(LUMINAL_WEIGHT).size() + get(LUMINAL_STATE).size();
  if (request.num_tensors != tensors)
    return wrongCount("tensors", request.num_tensors, tensors);
  if (size_t extents = countExtents(get(LUMINAL_INPUT));
      request.num_extents != extents)
    return wrongCount("extents of inputs", request.num_extents, extents);
  if (request.num_outputs != get(LUMINAL_OUTPUT).size())
    return wrongCount("outputs", request.num_outputs,
                      get(LUMINAL_OUTPUT).size());
  if (size_t extents = countExtents(get(LUMINAL_OUTPUT));
      request.num_output_extents != extents)
    return wrongCount("extents of outputs", request.num_output_extents,
                      extents);
  if (request.num_integers != get(LUMINAL_INTEGER).size())
    return wrongCount("integers", request.num_integers,
                      get(LUMINAL_INTEGER).size());
  if (!request.integers && request.num_integers > 0)
    return fail("luminal_call: null integers");
  if ((!request.extents && request.num_extents > 0) ||
      (!request.output_extents && request.num_output_extents > 0))
    return fail("luminal_call: null extents");
  return LUMINAL_OK;
}

luminal_status Call::check() const {
  if (checkCounts())
    return LUMINAL_ERROR;
  if (request.only_shapes)
    return LUMINAL_OK;
  if (request.profile && request.profile->signature.get() != &signature)
    return fail("luminal_call: the profile belongs to another artifact");
  if ((!request.tensors || !request.dtypes) && request.num_tensors > 0)
    return fail("luminal_call: null tensors");
  if (!request.outputs && request.num_outputs > 0)
    return fail("luminal_call: null outputs");
  return checkDTypes();
}

luminal_status Call::checkDTypes() const {
  size_t next = 0;
  for (luminal_kind kind : {LUMINAL_INPUT, LUMINAL_WEIGHT, LUMINAL_STATE})
    for (const Tensor &tensor : get(kind)) {
      luminal_dtype dtype = request.dtypes[next++];
      if (dtype < LUMINAL_F32 || dtype > LUMINAL_U32)
        return fail("there is no element type " + std::to_string(dtype));
      if (auto given = static_cast<DType>(dtype); given != tensor.spec->dtype)
        return fail("'" + tensor.spec->name + "' has element type " +
                        std::string(dtypeName(given)) + ", expected " +
                        std::string(dtypeName(tensor.spec->dtype)),
                    LUMINAL_ERROR_DTYPE);
    }
  return LUMINAL_OK;
}

bool Call::usesStates() const {
  if (request.only_shapes)
    return false;
  const size_t first = get(LUMINAL_INPUT).size() + get(LUMINAL_WEIGHT).size();
  for (size_t i = 0; i < get(LUMINAL_STATE).size(); ++i)
    if (repeated ? repeated->isAbsent(first + i) : !request.tensors[first + i])
      return true;
  return false;
}

luminal_status Call::bindInputs(PooledContext &pooled,
                                void *const *known) const {
  Context &context = *pooled.context;
  void *const *tensors = getTensors(pooled);
  // A call for shapes only needs no memory: bind a dummy that is never read.
  alignas(kAlignment) static const char none = 0;
  const int64_t *extents = request.extents;
  size_t next = 0;
  for (const Tensor &tensor : get(LUMINAL_INPUT)) {
    const size_t rank = tensor.shape.size();
    const size_t index = next++;
    if (known && known[index] == tensors[index]) {
      extents += rank;
      continue;
    }
    const void *data = request.only_shapes ? &none : tensors[index];
    if (Status bound = context.bindInput(tensor.index, data, tensor.spec->dtype,
                                         {extents, rank});
        !bound)
      return fail(bound.takeError().message, LUMINAL_ERROR_SHAPE);
    extents += rank;
  }
  for (const Tensor &integer : get(LUMINAL_INTEGER))
    if (Status bound =
            context.bindInteger(integer.index, request.integers[integer.index]);
        !bound)
      return fail(bound.takeError().message, LUMINAL_ERROR_SHAPE);
  return LUMINAL_OK;
}

luminal_status Call::bindWeights(PooledContext &context,
                                 void *const *known) const {
  // Weights without a version may have changed: bind them again, so that values
  // prepared from them are recomputed.
  if (request.weights_version == 0 && signature.prepares)
    known = nullptr;
  void *const *tensors = getTensors(context);
  size_t next = get(LUMINAL_INPUT).size();
  context.context->setWeightsVersion(request.weights_version);
  for (const Tensor &tensor : get(LUMINAL_WEIGHT)) {
    const size_t index = next++;
    const void *data = tensors[index];
    if (known && known[index] == data)
      continue;
    const bool wasBound = context.boundWeights[tensor.index];
    if (wasBound ? context.context->isWeightBound(tensor.index, data) : !data)
      continue;
    context.boundWeights[tensor.index] = data != nullptr;
    if (!data) {
      context.context->unbindWeight(tensor.index);
      continue;
    }
    if (Status bound = context.context->bindWeight(
            tensor.index, data, tensor.spec->dtype, tensor.shape);
        !bound)
      return fail(bound.takeError().message, LUMINAL_ERROR_CALL);
  }
  return LUMINAL_OK;
}

luminal_status Call::bindStates(PooledContext &pooled,
                                void *const *known) const {
  Context &context = *pooled.context;
  void *const *tensors = getTensors(pooled);
  size_t next = get(LUMINAL_INPUT).size() + get(LUMINAL_WEIGHT).size();
  for (const Tensor &tensor : get(LUMINAL_STATE)) {
    const size_t index = next++;
    const void *data = tensors[index];
    if (known && known[index] == data)
      continue;
    if (!data) {
      context.unbindInput(tensor.index);
      continue;
    }
    if (Status bound = context.bindInput(tensor.index, data, tensor.spec->dtype,
                                         tensor.shape);
        !bound)
      return fail(bound.takeError().message, LUMINAL_ERROR_CALL);
  }
  return LUMINAL_OK;
}

luminal_status Call::writeShapes(const Context &context) const {
  int64_t *extents = request.output_extents;
  for (const Tensor &tensor : get(LUMINAL_OUTPUT)) {
    std::span<const int64_t> shape = context.getOutputShape(tensor.index);
    extents = std::copy(shape.begin(), shape.end(), extents);
  }
  return LUMINAL_OK;
}

luminal_status Call::bindOutputs(PooledContext &pooled,
                                 void *const *known) const {
  Context &context = *pooled.context;
  void *const *outputs = getOutputs(pooled);
  const int64_t *extents = request.output_extents;
  size_t next = 0;
  for (const Tensor &tensor : get(LUMINAL_OUTPUT)) {
    std::span<const int64_t> shape = context.getOutputShape(tensor.index);
    const size_t index = next++;
    if (known && known[index] == outputs[index]) {
      extents += shape.size();
      continue;
    }
    for (size_t i = 0; i < shape.size(); ++i)
      if (extents[i] != shape[i])
        return fail("dim " + std::to_string(i) + " of output '" +
                        tensor.spec->name + "' is " + std::to_string(shape[i]) +
                        ", its memory is for " + std::to_string(extents[i]),
                    LUMINAL_ERROR_SHAPE);
    if (Status bound =
            context.bindOutput(tensor.index, outputs[index], tensor.spec->dtype,
                               {extents, shape.size()});
        !bound)
      return fail(bound.takeError().message, LUMINAL_ERROR_CALL);
    extents += shape.size();
  }
  return LUMINAL_OK;
}

luminal_status Call::bindTensors(PooledContext &context,
                                 void *const *known) const {
  if (bindInputs(context, known))
    return LUMINAL_ERROR;
  if (Status sized = context.context->prepare(); !sized)
    return fail(sized.takeError().message, LUMINAL_ERROR_SHAPE);
  if (request.only_shapes)
    return LUMINAL_OK;
  return bindWeights(context, known) || bindStates(context, known)
             ? LUMINAL_ERROR
             : LUMINAL_OK;
}

luminal_status Call::bind(PooledContext &context) const {
  bool isKnown = repeated && context.repeat == repeated->number;
  // Set again when everything is bound.
  context.repeat = 0;
  bool moved = !isKnown;
  if (repeated)
    if (luminal_status status = repeated->find(context, isKnown, moved))
      return status;
  if (context.weightsVersion != request.weights_version) {
    isKnown = false;
    moved = true;
  }
  // Weights without a version may have changed: bind them again, so that values
  // prepared from them are recomputed.
  const bool prepares = signature.prepares && request.weights_version == 0;
  void *const *known = isKnown ? context.bound.data() : nullptr;
  if ((moved || prepares) && bindTensors(context, known))
    return LUMINAL_ERROR;
  if (request.only_shapes)
    return LUMINAL_OK;
  if (bindOutputs(context, known ? known + request.num_tensors : nullptr))
    return LUMINAL_ERROR;
  if (!repeated)
    return LUMINAL_OK;
  context.repeat = repeated->number;
  context.weightsVersion = request.weights_version;
  if (moved)
    context.bound = context.found;
  else
    std::copy(context.found.begin() + ptrdiff_t(request.num_tensors),
              context.found.end(),
              context.bound.begin() + ptrdiff_t(request.num_tensors));
  return LUMINAL_OK;
}

luminal_status Call::capture(ContextPool &pool) const {
  if (usesStates())
    return fail("a call that changes states of the artifact's own cannot be "
                "captured: bind the states",
                LUMINAL_ERROR_CALL);
  if (request.profile)
    return fail("a call that is captured cannot be profiled",
                LUMINAL_ERROR_CALL);
  Result<PooledContext> made = makeContext(signature.artifact, request.threads);
  if (!made)
    return fail(made.takeError().message, LUMINAL_ERROR_OTHER);
  auto call = std::make_shared<CapturedCall>();
  call->artifact = signature.artifact;
  call->context = std::move(*made);
  Context &context = *call->context.context;
  if (request.allocate)
    context.setArenaAllocator([owner = call.get(), allocate = request.allocate,
                               allocator = request.allocator](uint64_t bytes) {
      return owner->arena = allocate(allocator, bytes);
    });
  luminal_status status = bind(call->context);
  if (!status) {
    // First, so that nothing the graph reads is freed, whatever follows.
    Status captured =
        signature.artifact->getDevice()->keepWithCapture(request.stream, call);
    if (captured)
      captured = context.capture(request.stream);
    if (captured)
      pool.note(call);
    else
      status = fail(captured.takeError().message, LUMINAL_ERROR_CALL);
  }
  if (call->arena && request.release)
    request.release(request.allocator, call->arena);
  return status;
}

luminal_status Call::run(PooledContext &context) const {
  if (!request.only_shapes) {
    context.stream = stream();
    // `runPooled` has checked that the stream is not capturing.
    if (Status set = context.context->setStream(context.stream, true); !set)
      return fail(set.takeError().message, LUMINAL_ERROR_CALL);
  }
  if (luminal_status status = bind(context))
    return status;
  if (request.only_shapes)
    return writeShapes(*context.context);
  std::optional<StepTeller> teller;
  if (request.profile)
    teller.emplace(*context.context, *request.profile);
  if (Status done =
          capi::runContext(*context.context, teller ? &*teller : nullptr);
      !done) {
    context.repeat = 0;
    return capi::failRun(*context.context, std::move(done));
  }
  return LUMINAL_OK;
}

luminal_status capi::readRequest(const char *function,
                                 const luminal_artifact *artifact,
                                 const luminal_call_request *request,
                                 luminal_call_request &given) {
  if (!artifact || !request)
    return fail(std::string(function) + ": null argument");
  if (request->struct_size < offsetof(luminal_call_request, stream))
    return fail(std::string(function) + ": struct_size is not set");
  std::memcpy(&given, request, std::min(request->struct_size, sizeof given));
  return LUMINAL_OK;
}

luminal_status Call::runPooled(ContextPool &pool) const {
  if (request.on_stream && !request.only_shapes) {
    Result<bool> isCapturing =
        signature.artifact->getDevice()->isCapturing(request.stream);
    if (!isCapturing)
      return fail(isCapturing.takeError().message, LUMINAL_ERROR_CALL);
    if (*isCapturing)
      return capture(pool);
  }
  if (usesStates()) {
    std::lock_guard<std::mutex> lock(pool.stateMutex);
    if (!pool.states) {
      Result<PooledContext> made =
          makeContext(signature.artifact, request.threads);
      if (!made)
        return fail(made.takeError().message, LUMINAL_ERROR_OTHER);
      pool.states = std::move(*made);
    }
    return run(*pool.states);
  }
  Result<PooledContext> context =
      pool.take(signature.artifact, request.threads, stream());
  if (!context)
    return fail(context.takeError().message, LUMINAL_ERROR_OTHER);
  luminal_status status = run(*context);
  pool.give(std::move(*context));
  return status;
}

luminal_status capi::runCall(const luminal_artifact &artifact,
                             const luminal_call_request &request) {
  // Hold references: another thread may free the handle during the call.
  std::shared_ptr<const Signature> signature = artifact.signature;
  std::shared_ptr<ContextPool> pool = artifact.pool;
  Call call(*signature, request);
  return call.check() ? LUMINAL_ERROR : call.runPooled(*pool);
}

luminal_status luminal_call(const luminal_artifact *artifact,
                            const luminal_call_request *request) {
  luminal_call_request given = {};
  if (capi::readRequest("luminal_call", artifact, request, given))
    return LUMINAL_ERROR;
  return capi::runCall(*artifact, given);
}

luminal_status luminal_artifact_synchronize(const luminal_artifact *artifact) {
  if (!artifact)
    return fail("luminal_artifact_synchronize: null artifact");
  return artifact->pool->synchronize();
}

luminal_status luminal_artifact_refresh(const luminal_artifact *artifact) {
  if (!artifact)
    return fail("luminal_artifact_refresh: null artifact");
  std::shared_ptr<ContextPool> pool = artifact->pool;
  return pool->refresh();
}

luminal_status luminal_artifact_reset(const luminal_artifact *artifact) {
  if (!artifact)
    return fail("luminal_artifact_reset: null artifact");
  std::shared_ptr<ContextPool> pool = artifact->pool;
  std::lock_guard<std::mutex> lock(pool->stateMutex);
  if (pool->states)
    pool->states->context->resetStates();
  return LUMINAL_OK;
}
