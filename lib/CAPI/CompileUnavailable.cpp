//===- CompileUnavailable.cpp - luminal_compile of the runtime library ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Error.h"

static luminal_status noCompiler() {
  return luminal::capi::fail(
      "this library only runs artifacts: the compiler is in libluminal, or "
      "use luminal-compile",
      LUMINAL_ERROR_OTHER);
}

luminal_status luminal_compile(const char *, const char *const *, size_t,
                               const char *) {
  return noCompiler();
}

luminal_status luminal_compile_bytes(const luminal_compile_request *,
                                     luminal_buffer **) {
  return noCompiler();
}

luminal_status luminal_compile_file(const luminal_compile_request *,
                                    const char *) {
  return noCompiler();
}

luminal_status luminal_session_create(const char *, size_t, const char *,
                                      const char *const *, size_t,
                                      luminal_session **) {
  return noCompiler();
}

void luminal_session_free(luminal_session *) {}

luminal_status luminal_session_best(const luminal_session *,
                                    luminal_candidate **) {
  return noCompiler();
}

luminal_status luminal_session_draw(const luminal_session *, uint64_t, double,
                                    luminal_candidate **) {
  return noCompiler();
}

const char *luminal_candidate_digest(const luminal_candidate *) { return ""; }

double luminal_candidate_cost(const luminal_candidate *) { return 0; }

void luminal_candidate_free(luminal_candidate *) {}

luminal_status luminal_session_materialise(const luminal_session *,
                                           const luminal_candidate *,
                                           luminal_buffer **) {
  return noCompiler();
}

luminal_status luminal_session_explain(const luminal_session *,
                                       const luminal_candidate *,
                                       luminal_buffer **) {
  return noCompiler();
}

luminal_status luminal_session_set_price(luminal_session *, const char *,
                                         double) {
  return noCompiler();
}
