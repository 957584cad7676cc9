//===- Prepared.cpp - Values computed when weights are bound --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prepared.h"
#include "luminal/Runtime/Context.h"

using namespace luminal;
using namespace luminal::runtime;

static std::vector<int64_t> getShape(const TensorSpec &tensor) {
  std::vector<int64_t> shape;
  for (const Expr &extent : tensor.shape)
    shape.push_back(*extent.asConstant());
  return shape;
}

Error runtime::weightMissing(const Manifest &manifest,
                             const WeightSpec &weight) {
  return Error("weight '" + weight.name +
               "' is not bound: name the file that holds the weights, or bind "
               "it" +
               (manifest.weightsFile.empty()
                    ? std::string()
                    : " (the artifact was compiled with '" +
                          manifest.weightsFile +
                          "', which was not found beside it)"));
}

Result<std::shared_ptr<const PreparedValues>>
runtime::prepareValues(std::shared_ptr<const Artifact> prepare,
                       std::span<const void *const> weights, unsigned threads,
                       std::shared_ptr<std::atomic<uint64_t>> counter) {
  const Manifest &m = prepare->getManifest();
  auto values = std::make_shared<PreparedValues>();
  uint64_t total = 0;
  for (const OutputSpec &output : m.outputs)
    if (__builtin_add_overflow(
            total, roundUp(*constantBytes(output), kCopyAlignment), &total))
      return Error("the values prepared from weights are too large");
  if (!values->memory.reserve(*prepare->getDevice(), total))
    return Error("out of memory: the values prepared from weights need " +
                 std::to_string(total) + " bytes");
  if (counter)
    *counter += values->memory.size();
  values->counter = std::move(counter);
  uint8_t *next = values->memory.data();
  for (const OutputSpec &output : m.outputs) {
    values->places.push_back(next);
    next += roundUp(*constantBytes(output), kCopyAlignment);
  }
  LUMINAL_CHECK(prepareAgain(std::move(prepare), weights, threads, *values));
  return std::shared_ptr<const PreparedValues>(std::move(values));
}

Status runtime::prepareAgain(std::shared_ptr<const Artifact> prepare,
                             std::span<const void *const> weights,
                             unsigned threads, const PreparedValues &values) {
  const Manifest &m = prepare->getManifest();
  // The context is destroyed at the end of this function, and with it the
  // copies of weights that only it needs.
  LUMINAL_TRY(context, Context::create(prepare, {threads}));
  for (uint32_t i = 0; i < m.weights.size(); ++i)
    if (m.weights[i].buffer)
      LUMINAL_CHECK(context->bindWeight(i, weights[i], m.weights[i].dtype,
                                        getShape(m.weights[i])));
  for (uint32_t i = 0; i < m.outputs.size(); ++i)
    LUMINAL_CHECK(context->bindOutput(i, const_cast<void *>(values.places[i]),
                                      m.outputs[i].dtype,
                                      getShape(m.outputs[i])));
  if (Status status = context->run(); !status)
    return status.takeError().within("while weights are prepared");
  return {};
}
