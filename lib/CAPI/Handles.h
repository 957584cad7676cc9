//===- Handles.h - Handles of the C interface -----------------------------===//
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

/// An artifact and its tensors, grouped by luminal_kind.
struct Signature {
  std::shared_ptr<const runtime::Artifact> artifact;
  std::vector<Tensor> tensors[5];
  /// Specs of the integer inputs.
  std::vector<runtime::TensorSpec> integers;
  /// Whether values are prepared from the weights.
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

/// Whether the strides are row-major. Strides of dims of extent 1 are ignored.
bool isContiguous(size_t rank, const int64_t *shape, const int64_t *strides);

/// Reports the failed run of a context as this thread's error.
luminal_status failRun(const runtime::Context &context, Status status);

/// A context that luminal_call reuses for later calls.
struct PooledContext {
  uint32_t threads = 0;
  /// The stream of the last call, which may still be in flight on it.
  std::optional<runtime::CallerStream> stream;
  std::unique_ptr<runtime::Context> context;
  /// For each weight, whether the last call bound it.
  std::vector<bool> boundWeights;
  /// The number of the luminal_repeat that made the last call in this context,
  /// and the addresses that were bound by it, outputs last; the next call binds
  /// only those that differ. 0: the last call was a different one, or failed.
  uint64_t repeat = 0;
  std::vector<void *> bound;
  /// The weights version of that call; values are prepared from these weights.
  uint64_t weightsVersion = 0;
  /// The addresses of tensors and outputs of a luminal_repeat's call, and the
  /// recorded descriptions of the tensors.
  std::vector<void *> found;
  KnownTensors known;
};

/// A captured call's context and what it needs; owned by the graph.
struct CapturedCall {
  std::shared_ptr<const runtime::Artifact> artifact;
  PooledContext context;
  /// The caller's memory for the arena; null if the context uses its own.
  void *arena = nullptr;
  /// Held while reading what launches have reported.
  std::mutex mutex;
};

/// The contexts that no luminal_call currently uses.
class ContextPool {
public:
  /// Returns a context for a call on `stream`. Prefers one whose last call was
  /// on the same stream: then the calls need not wait for each other.
  Result<PooledContext>
  take(const std::shared_ptr<const runtime::Artifact> &artifact,
       uint32_t threads, std::optional<runtime::CallerStream> stream);
  void give(PooledContext context);
  /// Waits for the calls of all idle contexts, and sets the thread's error to
  /// the first failure.
  luminal_status synchronize();
  /// Recomputes in place the values prepared from weights, for captured calls.
  luminal_status refresh();
  /// Records a captured call for as long as its graph exists.
  void note(const std::shared_ptr<CapturedCall> &call);

  /// The one context that holds the artifact's own states; locked by a call
  /// that uses them.
  std::mutex stateMutex;
  std::optional<PooledContext> states;

private:
  std::mutex mutex;
  std::vector<PooledContext> idle;
  std::vector<std::weak_ptr<CapturedCall>> captured;
  /// The captured calls whose graphs still exist.
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

  /// Shared, because the artifact's handle may be freed first.
  std::shared_ptr<const luminal::capi::Signature> signature;
  luminal::runtime::Profiler profiler;
  /// The callback of luminal_profile_watch; may be null.
  int32_t (*told)(void *user, const luminal_step_event *event) = nullptr;
  void *user = nullptr;
  /// Kernel names by step.
  std::vector<std::string> kernels;
};

struct luminal_context {
  /// Shared, because the artifact's handle may be freed first.
  std::shared_ptr<const luminal::capi::Signature> signature;
  std::unique_ptr<luminal::runtime::Context> context;
};

#endif // LUMINAL_LIB_CAPI_HANDLES_H
