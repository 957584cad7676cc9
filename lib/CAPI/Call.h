//===- Call.h - A whole call of an artifact -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_CALL_H
#define LUMINAL_LIB_CAPI_CALL_H

#include "Handles.h"

namespace luminal::capi {

/// A call by a request, which this version wrote or `readRequest` read.
class Call {
public:
  /// `repeat`: a number of all calls that differ in addresses alone; 0: of
  /// none.
  Call(const Signature &signature, const luminal_call_request &request,
       uint64_t repeat = 0)
      : signature(signature), request(request), repeat(repeat) {}

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
  /// Binds all that the call has.
  luminal_status bind(PooledContext &context) const;
  /// Makes it part of what its stream is captured into.
  luminal_status capture(ContextPool &pool) const;
  // `known`: what the tensors' addresses are in the context, if not null.
  luminal_status bindInputs(runtime::Context &context,
                            void *const *known) const;
  luminal_status bindWeights(PooledContext &context, void *const *known) const;
  luminal_status bindStates(runtime::Context &context,
                            void *const *known) const;
  luminal_status writeShapes(const runtime::Context &context) const;
  luminal_status bindOutputs(runtime::Context &context,
                             void *const *known) const;

  const Signature &signature;
  const luminal_call_request &request;
  uint64_t repeat;
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
