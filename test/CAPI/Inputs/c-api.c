/*===- c-api.c - The C interface, from C ----------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#define _GNU_SOURCE
#include "check.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAILS(call, text)                                                      \
  do {                                                                         \
    CHECK((call) == LUMINAL_ERROR);                                            \
    CHECK(strstr(luminal_last_error(), text));                                 \
  } while (0)

/* Numbers followed by unmapped memory. */
static int64_t *atTheEdge(size_t count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && !mprotect(memory + page, page, PROT_NONE));
  return (int64_t *)(memory + page) - count;
}

/* A rank that is not the tensor's: no extent and no stride is read. */
static void wrongRanks(luminal_context *context, float *x) {
  int64_t *shape = atTheEdge(2), *strides = atTheEdge(2);
  shape[0] = 2;
  strides[0] = shape[1] = 4;
  strides[1] = 1;
  static const size_t ranks[] = {0, 1, 3, 100, 1048575, (size_t)-1};
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; ++i) {
    char text[64];
    snprintf(text, sizeof text, "'x' has rank 2, not %zu", ranks[i]);
    FAILS(luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, ranks[i],
                       shape, strides),
          text);
    FAILS(luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, ranks[i],
                       shape, NULL),
          text);
    if (ranks[i] > 0)
      FAILS(luminal_bind(context, LUMINAL_INPUT, 0, NULL, LUMINAL_F32, ranks[i],
                         shape, NULL),
            text);
  }
  FAILS(luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, 2, NULL, NULL),
        "null shape");
}

/* A team of the caller alone. */
static unsigned teamCalls = 0;
static void callAlone(void (*function)(void *), void *data, unsigned threads,
                      unsigned flags) {
  CHECK(threads > 1 && flags == 0);
  ++teamCalls;
  function(data);
}

/* The artifact of test/Tools/luminal-run/Inputs/make.py. */
int main(int argc, char **argv) {
  CHECK(argc == 2);
  CHECK(strlen(luminal_version()) >= 5);
  CHECK(strcmp(luminal_last_error(), "") == 0);

  FAILS(luminal_compile("a.pt2", NULL, 0, "a.lum"), "only runs");

  luminal_artifact *artifact = NULL;
  FAILS(luminal_load("/no/such.lum", NULL, &artifact), "/no/such.lum: ");
  FAILS(luminal_load(NULL, NULL, &artifact), "null argument");
  luminal_load_options options = {0, NULL};
  FAILS(luminal_load(argv[1], &options, &artifact), "struct_size");
  CHECK(artifact == NULL);
  options.struct_size = sizeof options;
  CHECK(luminal_load(argv[1], &options, &artifact) == LUMINAL_OK);

  CHECK(luminal_count(artifact, LUMINAL_INPUT) == 2);
  CHECK(luminal_count(artifact, LUMINAL_OUTPUT) == 2);
  CHECK(luminal_count(artifact, LUMINAL_WEIGHT) == 2);
  CHECK(luminal_count(artifact, LUMINAL_STATE) == 1);
  CHECK(luminal_count(NULL, LUMINAL_INPUT) == 0);
  luminal_tensor_info info = {sizeof info};
  CHECK(luminal_info(artifact, LUMINAL_INPUT, 1, &info) == LUMINAL_OK);
  CHECK(strcmp(info.name, "w") == 0 && info.dtype == LUMINAL_F32);
  CHECK(info.rank == 2 && info.shape[0] == -1 && info.shape[1] == 4);
  CHECK(strcmp(info.shape_text[0], "n") == 0 && info.is_written == 0);
  FAILS(luminal_info(artifact, LUMINAL_INPUT, 2, &info), "no input 2");
  FAILS(luminal_info(artifact, (luminal_kind)9, 0, &info), "no kind");
  info.struct_size = 3;
  FAILS(luminal_info(artifact, LUMINAL_INPUT, 0, &info), "struct_size");

  luminal_context *context = NULL;
  CHECK(luminal_context_create(artifact, 2, &context) == LUMINAL_OK);
  /* A context outlives the handle it was created from. */
  luminal_artifact_free(artifact);

  _Alignas(64) float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  _Alignas(64) float w[8] = {1, 1, 1, 1};
  _Alignas(64) float y[8] = {0};
  int64_t shape[2] = {2, 4}, strides[2] = {4, 1}, turned[2] = {1, 2};
  FAILS(luminal_run(context), "input 'x' is not bound");
  wrongRanks(context, x);
  /* Before a call there is no output, and a state has its initial value. */
  const void *early = NULL;
  FAILS(luminal_data(context, LUMINAL_OUTPUT, 0, &early), "'y' has no value");
  FAILS(luminal_data(context, LUMINAL_OUTPUT, 1, &early), "has no value");
  CHECK(early == NULL);
  CHECK(!luminal_data(context, LUMINAL_STATE, 0, &early));
  CHECK(((const float *)early)[0] == 0 && ((const float *)early)[3] == 0);
  FAILS(
      luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, 2, shape, turned),
      "'x' is not contiguous");
  FAILS(luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_I32, 2, shape, NULL),
        "element type i32, expected f32");
  FAILS(luminal_bind(context, LUMINAL_INPUT, 0, x, (luminal_dtype)99, 2, shape,
                     NULL),
        "no element type 99");
  FAILS(luminal_bind(context, LUMINAL_INPUT, 7, x, LUMINAL_F32, 2, shape, NULL),
        "no input 7");
  CHECK(!luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, 2, shape,
                      strides));
  CHECK(
      !luminal_bind(context, LUMINAL_INPUT, 1, w, LUMINAL_F32, 2, shape, NULL));
  int64_t found[2];
  FAILS(luminal_shape(context, LUMINAL_OUTPUT, 0, 3, found), "has rank 2");
  CHECK(!luminal_shape(context, LUMINAL_OUTPUT, 0, 2, found));
  CHECK(found[0] == 2 && found[1] == 4);
  CHECK(!luminal_bind(context, LUMINAL_OUTPUT, 0, x + 1, LUMINAL_F32, 2, found,
                      NULL));
  FAILS(luminal_run(context), "output 'y' shares memory with input 'x'");
  CHECK(!luminal_bind(context, LUMINAL_OUTPUT, 0, y, LUMINAL_F32, 2, found,
                      NULL));
  /* No one else comes: the caller does all of it. */
  luminal_set_team(callAlone);
  CHECK(!luminal_run(context));
  luminal_set_team(NULL);
  CHECK(teamCalls == 1);
  float expected[8] = {2, 6, 12, 20, 5, 12, 21, 32};
  CHECK(memcmp(y, expected, sizeof y) == 0);

  /* An output of the context, and the state it updates. */
  const void *data = NULL;
  CHECK(!luminal_data(context, LUMINAL_OUTPUT, 1, &data));
  CHECK(((const float *)data)[3] == 4);
  CHECK(!luminal_run(context));
  CHECK(!luminal_data(context, LUMINAL_STATE, 0, &data));
  CHECK(((const float *)data)[3] == 8);
  CHECK(!luminal_reset(context));
  CHECK(!luminal_data(context, LUMINAL_STATE, 0, &early));
  CHECK(((const float *)early)[3] == 0);
  CHECK(!luminal_run(context));
  CHECK(((const float *)data)[3] == 4);
  FAILS(luminal_data(context, LUMINAL_INPUT, 0, &data), "only outputs");

  /* Once shapes are those of the next call, the last call's memory is no longer
   * accessible. */
  shape[0] = 1;
  CHECK(
      !luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, 2, shape, NULL));
  CHECK(
      !luminal_bind(context, LUMINAL_INPUT, 1, w, LUMINAL_F32, 2, shape, NULL));
  CHECK(!luminal_data(context, LUMINAL_OUTPUT, 1, &data));
  CHECK(!luminal_shape(context, LUMINAL_OUTPUT, 0, 2, found) && found[0] == 1);
  FAILS(luminal_data(context, LUMINAL_OUTPUT, 1, &data), "has no value");
  shape[0] = 2;
  CHECK(
      !luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, 2, shape, NULL));
  CHECK(
      !luminal_bind(context, LUMINAL_INPUT, 1, w, LUMINAL_F32, 2, shape, NULL));

  /* A weight of the caller, then the artifact's again. */
  _Alignas(64) float b[4] = {0, 0, 0, 1};
  int64_t four[1] = {4};
  CHECK(
      !luminal_bind(context, LUMINAL_WEIGHT, 0, b, LUMINAL_F32, 1, four, NULL));
  CHECK(!luminal_run(context));
  CHECK(y[2] == 0 && y[3] == 5);
  CHECK(!luminal_bind(context, LUMINAL_WEIGHT, 0, NULL, LUMINAL_F32, 0, NULL,
                      NULL));
  CHECK(!luminal_run(context));
  CHECK(memcmp(y, expected, sizeof y) == 0);

  /* A state of the caller. */
  _Alignas(64) float count[4] = {100, 0, 0, 0};
  CHECK(!luminal_bind(context, LUMINAL_STATE, 0, count, LUMINAL_F32, 1, four,
                      NULL));
  CHECK(!luminal_run(context));
  CHECK(count[0] == 101);

  /* Unbound. */
  CHECK(!luminal_bind(context, LUMINAL_INPUT, 0, NULL, LUMINAL_F32, 0, NULL,
                      NULL));
  FAILS(luminal_run(context), "input 'x' is not bound");
  luminal_context_free(context);
  luminal_context_free(NULL);
  luminal_artifact_free(NULL);

  FAILS(luminal_run(NULL), "null");
  /* Opening a pipe without a writer must not block. */
  char pipe[4096];
  snprintf(pipe, sizeof pipe, "%s.pipe", argv[1]);
  CHECK(mkfifo(pipe, 0600) == 0);
  FAILS(luminal_load(pipe, NULL, &artifact), "is not a regular file");
  FAILS(luminal_load_bytes("hello", 5, NULL, &artifact),
        "artifact: is not a zip archive");
  puts("done");
  return 0;
}
