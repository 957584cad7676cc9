//===- Call.h - A whole call of an artifact -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_CALL_H
#define LUMINAL_LIB_CAPI_CALL_H

#include "Handles.h"

namespace luminal::capi {

/// What calls that differ in their tensors alone have in common.
class Repeated {
public:
  /// `number`: no others have it; not 0.
  explicit Repeated(uint64_t number) : number(number) {}
  virtual ~Repeated() = default;

  /// Whether the artifact's own state is used in the place of this tensor.
  virtual bool isAbsent(size_t tensor) const = 0;
  /// Finds where the tensors and outputs lie: `context.found`. `isKnown`:
  /// `context` has what the last of these calls bound; else `moved` is set, and
  /// where a tensor lies elsewhere.
  virtual luminal_status find(PooledContext &context, bool isKnown,
                              bool &moved) const = 0;

  const uint64_t number;
};

/// A call by a request, which this version wrote or `readRequest` read.
class Call {
public:
  /// `repeated`: tells where tensors lie, in place of the request; null: the
  /// call is one by itself.
  Call(const Signature &signature, const luminal_call_request &request,
       const Repeated *repeated = nullptr)
      : signature(signature), request(request), repeated(repeated) {}

  /// Checks the lengths of the request's arrays.
  luminal_status checkCounts() const;
  /// Checks everything that needs no context.
  luminal_status check() const;
  /// Checks the element types: what is left of `check` where the arrays are
  /// known to be there.
  luminal_status checkDTypes() const;
  /// Makes a checked call, in a context of the pool.
  luminal_status runPooled(ContextPool &pool) const;

private:
  const std::vector<Tensor> &get(luminal_kind kind) const {
    return signature.tensors[kind];
  }
  std::optional<runtime::CallerStream> stream() const {
    return request.on_stream ? std::optional(request.stream) : std::nullopt;
  }
  /// Whether a state is the artifact's own.
  bool usesStates() const;
  luminal_status run(PooledContext &context) const;
  /// Binds all that the call has, but for what is bound.
  luminal_status bind(PooledContext &context) const;
  luminal_status bindTensors(PooledContext &context, void *const *known) const;
  /// Makes it part of what its stream is captured into.
  luminal_status capture(ContextPool &pool) const;
  // `known`: what the tensors' addresses are in the context, if not null.
  luminal_status bindInputs(PooledContext &context, void *const *known) const;
  luminal_status bindWeights(PooledContext &context, void *const *known) const;
  luminal_status bindStates(PooledContext &context, void *const *known) const;
  luminal_status writeShapes(const runtime::Context &context) const;
  luminal_status bindOutputs(PooledContext &context, void *const *known) const;
  void *const *getTensors(const PooledContext &context) const {
    return repeated ? context.found.data() : request.tensors;
  }
  void *const *getOutputs(const PooledContext &context) const {
    return repeated ? context.found.data() + request.num_tensors
                    : request.outputs;
  }

  const Signature &signature;
  const luminal_call_request &request;
  const Repeated *repeated;
};

/// The request as this version knows it: an older caller's ends earlier.
luminal_status readRequest(const char *function,
                           const luminal_artifact *artifact,
                           const luminal_call_request *request,
                           luminal_call_request &given);

/// Checks and makes the call of a request that `readRequest` gave.
luminal_status runCall(const luminal_artifact &artifact,
                       const luminal_call_request &request);

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_CALL_H
