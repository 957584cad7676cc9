/*===- session.c - Programs of one saturation, in C -----------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "check.h"
#include <string.h>

/* The call fails, and its message contains `what`. */
#define FAILS(call, what)                                                      \
  do {                                                                         \
    CHECK((call) == LUMINAL_ERROR);                                            \
    CHECK(strstr(luminal_last_error(), what));                                 \
    CHECK(!strchr(luminal_last_error(), '\n'));                                \
  } while (0)

static const char *kProgram =
    "func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
    "  %0 = hlir.sqrt %x : tensor<4x4xf32>\n"
    "  %1 = hlir.recip %0 : tensor<4x4xf32>\n"
    "  %2 = hlir.add %1, %x : tensor<4x4xf32>\n"
    "  return %2 : tensor<4x4xf32>\n"
    "}\n";

static luminal_session *create(const char *option) {
  luminal_session *session = NULL;
  CHECK(!luminal_session_create(kProgram, strlen(kProgram), "program.mlir",
                                &option, option ? 1 : 0, &session));
  return session;
}

static int contains(const luminal_session *session,
                    const luminal_candidate *candidate, const char *what) {
  luminal_buffer *text = NULL;
  CHECK(!luminal_session_materialise(session, candidate, &text));
  char copy[4096];
  CHECK(luminal_buffer_size(text) < sizeof copy);
  memcpy(copy, luminal_buffer_data(text), luminal_buffer_size(text));
  copy[luminal_buffer_size(text)] = 0;
  luminal_buffer_free(text);
  CHECK(strstr(copy, "func.func @f(%arg0: tensor<4x4xf32>)"));
  CHECK(!strstr(copy, "hlir."));
  return strstr(copy, what) != NULL;
}

static void takeCandidates(void) {
  luminal_session *session = create(NULL), *other = create(NULL);
  luminal_candidate *best = NULL, *drawn = NULL, *again = NULL;
  CHECK(!luminal_session_best(session, &best));
  CHECK(strlen(luminal_candidate_digest(best)) == 32);
  CHECK(luminal_candidate_cost(best) > 0);
  CHECK(contains(session, best, "llir.elementwise rsqrt"));
  CHECK(!luminal_session_draw(session, 7, 2, &drawn));
  CHECK(!luminal_session_draw(other, 7, 2, &again));
  CHECK(!strcmp(luminal_candidate_digest(drawn),
                luminal_candidate_digest(again)));
  CHECK(luminal_candidate_cost(drawn) == luminal_candidate_cost(again));
  CHECK(luminal_candidate_cost(drawn) >= luminal_candidate_cost(best));
  CHECK(contains(session, drawn, "llir.elementwise"));
  luminal_buffer *text = NULL;
  FAILS(luminal_session_materialise(session, again, &text), "another session");
  CHECK(!text);
  luminal_candidate_free(again);
  luminal_session_free(other);

  FAILS(luminal_session_draw(session, 7, -1, &again), "strength");
  FAILS(luminal_session_set_price(session, "none", 1), "no op has the key");
  luminal_candidate_free(best);
  luminal_candidate_free(drawn);
  luminal_session_free(session);

  /* A session that was asked for proofs takes the same programs. */
  session = create("--keep-proofs");
  CHECK(!luminal_session_best(session, &best));
  CHECK(contains(session, best, "llir.elementwise rsqrt"));
  CHECK(!luminal_session_explain(session, best, &text));
  char proof[8192];
  CHECK(luminal_buffer_size(text) < sizeof proof);
  memcpy(proof, luminal_buffer_data(text), luminal_buffer_size(text));
  proof[luminal_buffer_size(text)] = 0;
  CHECK(strstr(proof, "hlir.recip") && strstr(proof, "rsqrt"));
  luminal_buffer_free(text);
  text = NULL;
  other = create(NULL);
  CHECK(!luminal_session_best(other, &again));
  CHECK(
      !strcmp(luminal_candidate_digest(best), luminal_candidate_digest(again)));
  FAILS(luminal_session_explain(session, again, &text), "another session");
  FAILS(luminal_session_explain(other, again, &text), "recorded no proofs");
  FAILS(luminal_session_explain(other, NULL, &text), "null");
  CHECK(!text);
  luminal_candidate_free(again);
  luminal_candidate_free(best);
  luminal_session_free(other);
  luminal_session_free(session);

  /* By rules that round nothing the root stays. */
  session = create("--precision=exact");
  CHECK(!luminal_session_best(session, &best));
  CHECK(contains(session, best, "llir.elementwise sqrt"));
  luminal_candidate_free(best);
  luminal_session_free(session);
  luminal_session_free(NULL);
  luminal_candidate_free(NULL);
}

static void refuse(void) {
  luminal_session *session = NULL;
  const char *bad = "--target=cpu", *sets = "--eqsat-rule-sets=none";
  FAILS(luminal_session_create(kProgram, strlen(kProgram), "p.mlir", &bad, 1,
                               &session),
        "bad option '--target=cpu'");
  FAILS(luminal_session_create("func.func", 9, "p.mlir", NULL, 0, &session),
        "p.mlir:1:10: ");
  FAILS(luminal_session_create("module {}", 9, "p.mlir", NULL, 0, &session),
        "no function");
  FAILS(luminal_session_create(NULL, 0, "p.mlir", NULL, 0, &session), "null");
  luminal_candidate *candidate = NULL;
  FAILS(luminal_session_best(NULL, &candidate), "null");
  CHECK(!session && !candidate);
  session = create(sets);
  FAILS(luminal_session_best(session, &candidate), "nothing lowers");
  CHECK(!candidate);
  luminal_session_free(session);
}

int main(void) {
  takeCandidates();
  refuse();
  printf("done\n");
  return 0;
}
