//===- EGraphJsonFuzzer.cpp - Any bytes as a serialized e-graph -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Serialize.h"
#include "luminal/Support/Json.h"

using namespace luminal;
using namespace luminal::eqsat;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Result<std::unique_ptr<SerializedGraph>> graph =
      SerializedGraph::parse(text, "input");
  if (!graph) {
    if (graph.error().message.rfind("input", 0) != 0)
      __builtin_trap(); // an error says where
    return 0;
  }
  for (auto method : {SerializedGraph::Method::BottomUp,
                      SerializedGraph::Method::GreedyDag}) {
    Result<std::string> choice = (*graph)->extract(method);
    // Written output can be read back, and is a program.
    if (choice && (!JsonDocument::parse(*choice, "output") ||
                   !(*graph)->price(*choice, "output")))
      __builtin_trap();
  }
  // The same bytes as a file of choices.
  if (auto given = (*graph)->price(text, "input");
      !given && given.error().message.rfind("input", 0) != 0)
    __builtin_trap();
  return 0;
}
