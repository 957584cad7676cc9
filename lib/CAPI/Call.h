//===- Call.h - A whole call of an artifact -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_CALL_H
#define LUMINAL_LIB_CAPI_CALL_H

#include "Handles.h"

namespace luminal::capi {

/// What repeated calls of a luminal_repeat share, which differ only in the
/// tensors.
class Repeated {
public:
  /// `number` is unique and not 0.
  explicit Repeated(uint64_t number) : number(number) {}
  virtual ~Repeated() = default;

  /// Whether no tensor is given at this index, so the artifact's own state is
  /// used.
  virtual bool isAbsent(size_t tensor) const = 0;
  /// Determines the addresses of the tensors and outputs, in `context.found`.
  /// If `isKnown`, `context` holds the bindings of the last such call; `moved`
  /// is set if a tensor's address differs from it.
  virtual luminal_status find(PooledContext &context, bool isKnown,
                              bool &moved) const = 0;

  const uint64_t number;
};

/// A call described by a request of this version (see `readRequest`).
class Call {
public:
  /// If `repeated` is given, it supplies the tensors' addresses instead of the
  /// request.
  Call(const Signature &signature, const luminal_call_request &request,
       const Repeated *repeated = nullptr)
      : signature(signature), request(request), repeated(repeated) {}

  /// Checks the lengths of the request's arrays.
  luminal_status checkCounts() const;
  /// Checks everything that needs no context.
  luminal_status check() const;
  /// Checks the element types: the part of `check` that remains if the arrays
  /// are known to be present.
  luminal_status checkDTypes() const;
  /// Makes a checked call in a context of the pool.
  luminal_status runPooled(ContextPool &pool) const;

private:
  const std::vector<Tensor> &get(luminal_kind kind) const {
    return signature.tensors[kind];
  }
  std::optional<runtime::CallerStream> stream() const {
    return request.on_stream ? std::optional(request.stream) : std::nullopt;
  }
  /// Whether the call uses a state of the artifact's own.
  bool usesStates() const;
  luminal_status run(PooledContext &context) const;
  /// Binds everything that is not bound already.
  luminal_status bind(PooledContext &context) const;
  luminal_status bindTensors(PooledContext &context, void *const *known) const;
  /// Adds the call to the graph that its stream is being captured into.
  luminal_status capture(ContextPool &pool) const;
  // If `known` is not null, it holds the addresses that `context` has bound.
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

/// Copies a request of this or an older version, whose struct is shorter.
luminal_status readRequest(const char *function,
                           const luminal_artifact *artifact,
                           const luminal_call_request *request,
                           luminal_call_request &given);

/// Checks and makes the call of a request that `readRequest` returned.
luminal_status runCall(const luminal_artifact &artifact,
                       const luminal_call_request &request);

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_CALL_H
