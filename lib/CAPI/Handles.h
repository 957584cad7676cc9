//===- Handles.h - What the handles of the C interface hold ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_HANDLES_H
#define LUMINAL_LIB_CAPI_HANDLES_H

#include "KnownTensors.h"
#include "luminal-c/Luminal.h"
#include "luminal/Runtime/Context.h"
#include "luminal/Runtime/Profile.h"
#include <mutex>
#include <optional>

namespace luminal::capi {

/// A tensor as C callers see it.
struct Tensor {
  uint32_t index; ///< Index in the manifest.
  bool isWritten;
  const runtime::TensorSpec *spec;
  std::vector<int64_t> shape;
  std::vector<std::string> text;
  std::vector<const char *> textPointers;
};

/// An artifact and its tensors by luminal_kind.
struct Signature {
  std::shared_ptr<const runtime::Artifact> artifact;
  std::vector<Tensor> tensors[5];
  /// The types of the integers.
  std::vector<runtime::TensorSpec> integers;
  /// Whether something is computed once from weights.
  bool prepares = false;

  explicit Signature(std::shared_ptr<const runtime::Artifact> loaded)
      : artifact(std::move(loaded)) {
    const runtime::Manifest &m = artifact->getManifest();
    prepares = bool(m.prepare);
    for (uint32_t i : artifact->getUserInputs())
      add(LUMINAL_INPUT, i, m.inputs[i].state, m.inputs[i]);
    for (uint32_t i : artifact->getUserOutputs())
      add(LUMINAL_OUTPUT, i, true, m.outputs[i]);
    for (uint32_t i = 0; i < m.weights.size(); ++i)
      add(LUMINAL_WEIGHT, i, false, m.weights[i]);
    for (uint32_t i : artifact->getStates())
      add(LUMINAL_STATE, i, true, m.inputs[i]);
    for (const IntegerInput &integer : m.integers)
      integers.push_back({integer.name, DType::I64, {}});
    for (uint32_t i = 0; i < integers.size(); ++i)
      add(LUMINAL_INTEGER, i, false, integers[i]);
  }

  void add(luminal_kind kind, uint32_t index, bool isWritten,
           const runtime::TensorSpec &spec) {
    Tensor tensor{index, isWritten, &spec, {}, {}, {}};
    for (const Expr &extent : spec.shape) {
      tensor.shape.push_back(extent.asConstant().value_or(-1));
      tensor.text.push_back(extent.str());
    }
    // Moving the tensor does not move the strings.
    for (const std::string &text : tensor.text)
      tensor.textPointers.push_back(text.c_str());
    tensors[kind].push_back(std::move(tensor));
  }

  const Tensor *find(luminal_kind kind, size_t index) const {
    if (kind < LUMINAL_INPUT || kind > LUMINAL_INTEGER ||
        index >= tensors[kind].size())
      return nullptr;
    return &tensors[kind][index];
  }
};

/// Row-major, as far as strides matter.
bool isContiguous(size_t rank, const int64_t *shape, const int64_t *strides);

/// Makes a failed run of a context the error of this thread.
luminal_status failRun(const runtime::Context &context, Status status);

/// A context that luminal_call keeps for the next call.
struct PooledContext {
  uint32_t threads = 0;
  /// Of the last call: its calls may go on there.
  std::optional<runtime::CallerStream> stream;
  std::unique_ptr<runtime::Context> context;
  /// By weight: whether the last call bound it.
  std::vector<bool> boundWeights;
  /// Of a luminal_repeat, its number, and what its last call here bound, the
  /// outputs last: the next one binds what lies elsewhere. 0: the last call was
  /// another or failed.
  uint64_t repeat = 0;
  std::vector<void *> bound;
  /// What its weights held then, from which something is prepared.
  uint64_t weightsVersion = 0;
  /// Where tensors and outputs of a luminal_repeat's call lie, and what was
  /// noted of the tensors when they were asked.
  std::vector<void *> found;
  KnownTensors known;
};

/// The context of a call that was captured, and what it needs: owned by the
/// graph.
struct CapturedCall {
  std::shared_ptr<const runtime::Artifact> artifact;
  PooledContext context;
  /// The caller's memory between the steps; null: the context's own.
  void *arena = nullptr;
  /// Held while the context is asked what launches have found.
  std::mutex mutex;
};

/// The contexts of luminal_call that no call uses now.
class ContextPool {
public:
  /// The next call is on `stream`; a context whose last call was there too
  /// needs no wait between them.
  Result<PooledContext>
  take(const std::shared_ptr<const runtime::Artifact> &artifact,
       uint32_t threads, std::optional<runtime::CallerStream> stream);
  void give(PooledContext context);
  /// Waits for the calls of contexts that no call uses now; the first error is
  /// that of the thread.
  luminal_status synchronize();
  /// Captured calls compute again, in the same memory, what was computed once
  /// from weights.
  luminal_status refresh();
  /// Remembers a captured call for as long as its graph has it.
  void note(const std::shared_ptr<CapturedCall> &call);

  /// The one context with the states that lie in the artifact: held by a call
  /// that uses them.
  std::mutex stateMutex;
  std::optional<PooledContext> states;

private:
  std::mutex mutex;
  std::vector<PooledContext> idle;
  std::vector<std::weak_ptr<CapturedCall>> captured;
  /// Of those whose graph is there still.
  std::vector<std::shared_ptr<CapturedCall>> getCaptured();
};

} // namespace luminal::capi

struct luminal_buffer {
  luminal::Bytes bytes;
};

struct luminal_artifact {
  std::shared_ptr<const luminal::capi::Signature> signature;
  std::shared_ptr<luminal::capi::ContextPool> pool;
};

struct luminal_profile {
  explicit luminal_profile(
      std::shared_ptr<const luminal::capi::Signature> profiled)
      : signature(std::move(profiled)),
        profiler(signature->artifact->getManifest()) {
    for (const luminal::runtime::StepSpec *step : profiler.getSteps())
      kernels.emplace_back(step->getCodeName());
  }

  /// Shared: the artifact's handle may be freed first.
  std::shared_ptr<const luminal::capi::Signature> signature;
  luminal::runtime::Profiler profiler;
  /// Of luminal_profile_watch; null: nobody is told.
  int32_t (*told)(void *user, const luminal_step_event *event) = nullptr;
  void *user = nullptr;
  /// By step.
  std::vector<std::string> kernels;
};

struct luminal_context {
  /// Shared: the artifact's handle may be freed first.
  std::shared_ptr<const luminal::capi::Signature> signature;
  std::unique_ptr<luminal::runtime::Context> context;
};

#endif // LUMINAL_LIB_CAPI_HANDLES_H
