//===- run.cpp - Runs an artifact for several sizes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdio>
#include <luminal/Runtime/Context.h>
#include <vector>

using namespace luminal;

/// One context makes all calls; its memory grows where a call needs more.
static Status run(const char *path) {
  LUMINAL_TRY(artifact, runtime::Artifact::load(path));
  LUMINAL_TRY(context, runtime::Context::create(artifact));
  for (int64_t rows : {1, 3}) {
    std::vector<float> x(rows * 4);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
    int64_t shape[] = {rows, 4};
    LUMINAL_CHECK(context->bindInput(0, x.data(), DType::F32, shape));
    LUMINAL_CHECK(context->run());
    // An output that is not bound lies in memory of the context.
    LUMINAL_TRY(data, context->getOutputData(0));
    const auto *y = static_cast<const float *>(data);
    for (int64_t row = 0; row < context->getOutputShape(0)[0]; ++row)
      std::printf("%g ", y[row]);
    std::printf("\n");
  }
  return {};
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run-cpp MODEL.lum\n");
    return 2;
  }
  if (Status status = run(argv[1]); !status) {
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
    return 2;
  }
}
