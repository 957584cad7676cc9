/*===- compile.c - From an archive to numbers, in C -----------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "objects.h"
#include <math.h>
#include <string.h>

static const char *folder;

/* Path of a file in the folder; four at a time. */
static const char *in(const char *name) {
  static char paths[4][4096];
  static int next = 0;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static int exists(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file)
    fclose(file);
  return file != NULL;
}

static void bindRows(luminal_context *context, luminal_kind kind, size_t index,
                     float *data, int64_t rows, int64_t columns) {
  int64_t shape[2] = {rows, columns};
  CHECK(!luminal_bind(context, kind, index, data, LUMINAL_F32, 2, shape, NULL));
}

/* relu(x @ w^T + b) * c of utils/testing/make_pt2_inputs.py. */
static void runGood(luminal_artifact *artifact) {
  CHECK(luminal_count(artifact, LUMINAL_INPUT) == 1);
  CHECK(luminal_count(artifact, LUMINAL_OUTPUT) == 1);
  CHECK(luminal_count(artifact, LUMINAL_WEIGHT) == 2);
  CHECK(luminal_count(artifact, LUMINAL_STATE) == 0);
  luminal_tensor_info info = {sizeof info};
  CHECK(!luminal_info(artifact, LUMINAL_WEIGHT, 0, &info));
  CHECK(strcmp(info.name, "w") == 0 && info.dtype == LUMINAL_F32);
  CHECK(info.rank == 2 && info.shape[0] == 4 && info.shape[1] == 3);
  CHECK(!luminal_info(artifact, LUMINAL_INPUT, 0, &info));
  CHECK(strcmp(info.name, "x") == 0 && info.rank == 2);
  CHECK(info.shape[0] == 2 && info.shape[1] == 3);

  luminal_context *context = NULL;
  CHECK(!luminal_context_create(artifact, 1, &context));
  float x[6] = {1, -2, 3, -4, 5, -6}, y[8];
  bindRows(context, LUMINAL_INPUT, 0, x, 2, 3);
  bindRows(context, LUMINAL_OUTPUT, 0, y, 2, 4);
  CHECK(!luminal_run(context));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      float sum = (float)j;
      for (int k = 0; k < 3; ++k)
        sum += x[3 * i + k] * (float)(3 * j + k);
      float expected = (sum > 0 ? sum : 0) * (float)(j + 1);
      CHECK(fabsf(y[4 * i + j] - expected) <= 1e-5f * fabsf(expected));
    }
  luminal_context_free(context);
  luminal_artifact_free(artifact);
}

static void failures(void) {
  char out[4096];
  snprintf(out, sizeof out, "%s/no.lum", folder);
  const char *options[] = {"--embed-weights", "--frobnicate"};
  FAILS(luminal_compile(NULL, NULL, 0, out), "luminal_compile: ", "null");
  FAILS(luminal_compile(in("good.pt2"), NULL, 1, out),
        "luminal_compile: ", "null");
  FAILS(luminal_compile(in("good.pt2"), options, 2, out),
        "luminal_compile: ", "bad option '--frobnicate'");
  options[1] = "--threads=many";
  FAILS(luminal_compile(in("good.pt2"), options, 2, out),
        "luminal_compile: ", "bad option '--threads=many'");
  for (const char *const *bad =
           (const char *[]){"--eqsat-max-nodes=many", "--eqsat-max-nodes=-1",
                            "--eqsat-frobnicate=1", NULL};
       *bad; ++bad) {
    options[1] = *bad;
    FAILS(luminal_compile(in("good.pt2"), options, 2, out),
          "luminal_compile: ", *bad);
  }
  /* The limits reach the compiler: recovery takes longer than that. */
  options[1] = "--eqsat-max-seconds=1e-9";
  FAILS(luminal_compile(in("good.pt2"), options, 2, out), "",
        "do not end within max-seconds=");
  options[1] = "--arch=frob";
  FAILS(luminal_compile(in("good.pt2"), options, 2, out), in("good.pt2: "),
        "unknown processor 'frob'");
  options[1] = "--report=/no/such/report.json";
  FAILS(luminal_compile(in("good.pt2"), options, 2, out), in("good.pt2: "),
        "/no/such/report.json: cannot be written");
  FAILS(luminal_compile(in("none.pt2"), NULL, 0, out), in("none.pt2: "),
        "cannot be opened");
  FAILS(luminal_compile(in("not-a-zip.pt2"), NULL, 0, out),
        in("not-a-zip.pt2: "), "is not a zip archive");
  FAILS(luminal_compile(in("short-weights.pt2"), NULL, 0, out),
        in("short-weights.pt2: "), "needs 12 elements");
  FAILS(luminal_compile(in("unsupported-ops.pt2"), NULL, 0, out),
        "model.py:103:0: ", "aten.rand.default: draws random numbers");
  FAILS(luminal_compile(in("good.pt2"), NULL, 0, "/no/such/out.lum"), "",
        "/no/such/out.lum: cannot be written");
  CHECK(!exists(out));
}

static char *readFile(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  CHECK(file && !fseek(file, 0, SEEK_END));
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  CHECK(bytes && fread(bytes, 1, *size, file) == *size);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

/* The errors and notes that a compile reported. */
typedef struct Heard {
  int errors, notes, lines[8];
  char nodes[8][32];
} Heard;

static void hear(void *data, const luminal_diagnostic *diagnostic) {
  Heard *heard = data;
  CHECK(diagnostic->struct_size == sizeof *diagnostic);
  int i = heard->errors + heard->notes;
  CHECK(i < 8);
  heard->errors += diagnostic->severity == LUMINAL_SEVERITY_ERROR;
  heard->notes += diagnostic->severity == LUMINAL_SEVERITY_NOTE;
  heard->lines[i] = (int)diagnostic->line;
  snprintf(heard->nodes[i], sizeof heard->nodes[i], "%s", diagnostic->node);
}

/* From memory to memory: an artifact, or an error with its code and places. */
static luminal_artifact *compileBytes(const char *name) {
  size_t size;
  char *bytes = readFile(in(name), &size);
  Heard heard = {0};
  const char *options[] = {"--embed-weights", "--prepare-bytes=0"};
  luminal_compile_request request = {sizeof request, bytes, size, name,
                                     options,        2,     hear, &heard};
  luminal_buffer *buffer = NULL;
  CHECK(!luminal_compile_bytes(&request, &buffer));
  CHECK(heard.errors == 0);
  luminal_artifact *artifact = NULL;
  CHECK(!luminal_load_bytes(luminal_buffer_data(buffer),
                            luminal_buffer_size(buffer), NULL, &artifact));
  luminal_buffer_free(buffer);
  request.input_size = 10;
  buffer = NULL;
  FAILS(luminal_compile_bytes(&request, &buffer), name, "");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_IMPORT && !buffer);
  options[1] = "--frobnicate";
  FAILS(luminal_compile_bytes(&request, &buffer),
        "luminal_compile_bytes: ", "bad option '--frobnicate'");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_ARGUMENT);
  request.struct_size = 0;
  FAILS(luminal_compile_bytes(&request, &buffer),
        "luminal_compile_bytes: ", "struct_size");
  request.name = in("good.pt2");
  request.struct_size = 1;
  FAILS(luminal_compile_file(&request, "out.lum"),
        "luminal_compile_file: ", "struct_size");
  request.struct_size = sizeof request;
  FAILS(luminal_compile_file(&request, NULL), "luminal_compile_file: ", "null");
  FAILS(luminal_compile_bytes(NULL, &buffer),
        "luminal_compile_bytes: ", "null");
  free(bytes);
  return artifact;
}

static void unsupported(void) {
  size_t size;
  char *bytes = readFile(in("unsupported-ops.pt2"), &size);
  Heard heard = {0};
  luminal_compile_request request = {sizeof request, bytes, size, "graph",
                                     NULL,           0,     hear, &heard};
  luminal_buffer *buffer = NULL;
  FAILS(luminal_compile_bytes(&request, &buffer),
        "model.py:103:0: ", "aten.rand.default: draws random numbers");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_IMPORT && !buffer);
  CHECK(heard.errors == 1 && heard.notes >= 1 && heard.lines[0] == 103);
  CHECK(heard.nodes[0][0] && heard.nodes[1][0] && heard.lines[1] > 0);
  free(bytes);
}

/* y = 2 * x and a sum, by whole calls: sizes, memory, element types. */
static void callDynamic(const luminal_artifact *artifact) {
  float x[32], y[32], sum[4] = {0};
  for (int i = 0; i < 32; ++i)
    x[i] = (float)i;
  void *tensors[] = {x, sum}, *outputs[] = {y};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {3, 4, 4}, outputExtents[] = {0, 0};
  luminal_call_request request = {
      sizeof request, 1, tensors, dtypes, 2, extents, 3,
      outputExtents,  2, outputs, 1,      1};
  CHECK(!luminal_call(artifact, &request));
  CHECK(outputExtents[0] == 3 && outputExtents[1] == 4 && sum[1] == 0);
  request.only_shapes = 0;
  CHECK(!luminal_call(artifact, &request));
  CHECK(y[11] == 22 && sum[1] == 1 + 5 + 9);
  /* Nothing of a request is kept: other memory, another size. */
  float other[4] = {0};
  tensors[1] = other;
  extents[0] = outputExtents[0] = 2;
  CHECK(!luminal_call(artifact, &request));
  CHECK(y[7] == 14 && sum[1] == 15 && other[1] == 6);

  extents[0] = 3;
  FAILS(luminal_call(artifact, &request), "dim 0 of output 'y' is 3",
        "its memory is for 2");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_SHAPE && other[1] == 6);
  extents[0] = 9;
  FAILS(luminal_call(artifact, &request), "dim 0 of input 'x' is 9",
        "outside the range [1, 8] of n");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_SHAPE);
  extents[0] = 2;
  dtypes[0] = LUMINAL_F64;
  FAILS(luminal_call(artifact, &request), "'x' has element type f64",
        "expected f32");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_DTYPE);
  dtypes[0] = LUMINAL_F32;
  tensors[1] = x;
  FAILS(luminal_call(artifact, &request), "", "shares memory");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_CALL);
  tensors[1] = NULL;
  FAILS(luminal_call(artifact, &request), "input 'sum'", "has no memory");
  request.num_tensors = 1;
  FAILS(luminal_call(artifact, &request),
        "luminal_call: ", "1 tensors, expected 2");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_ARGUMENT);
  request.num_tensors = 2;
  request.num_extents = 2;
  FAILS(luminal_call(artifact, &request),
        "luminal_call: ", "2 extents of inputs, expected 3");
  request.num_extents = 3;
  request.outputs = NULL;
  FAILS(luminal_call(artifact, &request), "luminal_call: ", "null outputs");
  request.struct_size = 8;
  FAILS(luminal_call(artifact, &request), "luminal_call: ", "struct_size");
  FAILS(luminal_call(NULL, &request), "luminal_call: ", "null");
}

static int traceHas(const luminal_profile *profile, const char *what) {
  luminal_buffer *trace = NULL;
  CHECK(!luminal_profile_trace(profile, &trace));
  char *text = calloc(luminal_buffer_size(trace) + 1, 1);
  memcpy(text, luminal_buffer_data(trace), luminal_buffer_size(trace));
  luminal_buffer_free(trace);
  const int found = strstr(text, what) != NULL;
  free(text);
  return found;
}

/* What is told of the steps of a call: how often, and the last number of the
 * last result. */
typedef struct Watched {
  size_t begun, done;
  float last;
  int32_t answer;
} Watched;

static int32_t watchStep(void *user, const luminal_step_event *event) {
  Watched *watched = user;
  CHECK(event->struct_size == sizeof *event && event->num_buffers > 0);
  ++*(event->is_done ? &watched->done : &watched->begun);
  CHECK(event->num_buffers < 8 && !event->buffers[0].is_result);
  float values[64] = {0};
  for (size_t i = 0; i < event->num_buffers; ++i) {
    const size_t bytes = event->buffers[i].bytes;
    CHECK(bytes <= sizeof values && !luminal_step_read(event, i, values));
    if (event->buffers[i].is_result)
      watched->last = values[bytes / sizeof(float) - 1];
  }
  FAILS(luminal_step_read(event, event->num_buffers, values),
        "luminal_step_read: ", "no buffer");
  FAILS(luminal_step_read(event, 0, NULL), "luminal_step_read: ", "null");
  return event->is_done ? watched->answer : 1;
}

/* Steps are timed in the calls that name a profile, and in no other. */
static void callProfiled(const luminal_artifact *other) {
  luminal_artifact *artifact = NULL;
  CHECK(!luminal_load(in("dynamic.lum"), NULL, &artifact));
  float x[8] = {1, 2, 3, 4}, y[8] = {0}, sum[4] = {0};
  void *tensors[] = {x, sum}, *outputs[] = {y};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {2, 4, 4}, outputExtents[] = {2, 4};
  luminal_call_request request = {
      sizeof request, 1, tensors, dtypes, 2, extents, 3,
      outputExtents,  2, outputs, 1,      0};
  luminal_profile *profile = NULL;
  CHECK(!luminal_profile_create(artifact, &profile));
  const size_t steps = luminal_profile_count(profile);
  CHECK(steps >= 1);
  luminal_step_info info = {sizeof info};
  CHECK(!luminal_profile_step(profile, steps - 1, &info));
  CHECK(info.calls == 0 && info.microseconds == 0 && info.name[0]);
  CHECK(!traceHas(profile, "\"ph\":\"X\""));

  CHECK(!luminal_call(artifact, &request));
  request.profile = profile;
  request.only_shapes = 1;
  CHECK(!luminal_call(artifact, &request));
  request.only_shapes = 0;
  for (int i = 0; i < 2; ++i)
    CHECK(!luminal_call(artifact, &request));
  CHECK(y[3] == 8 && sum[3] == 12);
  /* A caller that does not know of it. */
  request.struct_size = offsetof(luminal_call_request, profile);
  CHECK(!luminal_call(artifact, &request));
  request.struct_size = sizeof request;
  double bytes = 0, flops = 0;
  for (size_t i = 0; i < steps; ++i) {
    CHECK(!luminal_profile_step(profile, i, &info));
    CHECK(info.calls == 2 && info.microseconds > 0 && info.threads == 1);
    CHECK(info.kernel[0] && traceHas(profile, info.kernel));
    bytes += info.bytes;
    flops += info.flops;
  }
  /* Of both calls: x is read, y and sum are written; 8 and 8 additions. */
  CHECK(bytes >= 2 * (32 + 32 + 16) && flops >= 2 * 16);
  CHECK(traceHas(profile, "\"calls\":2"));

  Watched watched = {0, 0, 0, 0};
  CHECK(!luminal_profile_watch(profile, watchStep, &watched));
  CHECK(!luminal_call(artifact, &request));
  CHECK(watched.begun == steps && watched.done == steps);
  CHECK(watched.last == y[7] || watched.last == sum[3]);
  watched.answer = 1;
  FAILS(luminal_call(artifact, &request), "", "ended the call after");
  CHECK(watched.done == steps + 1);
  CHECK(!luminal_profile_watch(profile, NULL, NULL));
  CHECK(!luminal_call(artifact, &request) && watched.done == steps + 1);
  FAILS(luminal_profile_watch(NULL, NULL, NULL),
        "luminal_profile_watch: ", "null");

  FAILS(luminal_call(other, &request), "luminal_call: ", "another artifact");
  FAILS(luminal_profile_step(profile, steps, &info), "", "there is no step");
  FAILS(luminal_profile_create(NULL, &profile), "", "null");
  FAILS(luminal_profile_trace(profile, NULL), "", "null");
  info.struct_size = 8;
  FAILS(luminal_profile_step(profile, 0, &info), "", "struct_size");
  CHECK(luminal_profile_count(NULL) == 0);
  luminal_artifact_free(artifact);
  CHECK(traceHas(profile, "traceEvents"));
  luminal_profile_free(profile);
  luminal_profile_free(NULL);
}

static struct {
  int begun, ended;
  char name[64];
} told;
static void beginRange(void *user, const char *name) {
  CHECK(user == &told && told.begun == told.ended);
  ++told.begun;
  snprintf(told.name, sizeof told.name, "%s", name);
}
static void endRange(void *user) {
  CHECK(user == &told);
  ++told.ended;
}

/* All calls tell of their steps, whether or not they are profiled. */
static void callInRanges(void) {
  luminal_artifact *artifact = NULL;
  CHECK(!luminal_load(in("dynamic.lum"), NULL, &artifact));
  float x[8] = {1, 2, 3, 4}, y[8] = {0}, sum[4] = {0};
  void *tensors[] = {x, sum}, *outputs[] = {y};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {2, 4, 4}, outputExtents[] = {2, 4};
  luminal_call_request request = {
      sizeof request, 1, tensors, dtypes, 2, extents, 3,
      outputExtents,  2, outputs, 1,      0};
  luminal_profile *profile = NULL;
  CHECK(!luminal_profile_create(artifact, &profile));
  const int steps = (int)luminal_profile_count(profile);
  luminal_step_info last = {sizeof last};
  CHECK(!luminal_profile_step(profile, steps - 1, &last));
  luminal_step_ranges ranges = {sizeof ranges, &told, beginRange, endRange};
  CHECK(!luminal_set_step_ranges(&ranges));
  CHECK(!luminal_call(artifact, &request));
  CHECK(told.begun == steps && told.ended == steps);
  CHECK(!strcmp(told.name, last.name) && y[3] == 8);
  request.profile = profile;
  CHECK(!luminal_call(artifact, &request));
  CHECK(told.begun == 2 * steps && told.ended == 2 * steps);
  CHECK(!luminal_profile_step(profile, 0, &last) && last.calls == 1);
  CHECK(!luminal_set_step_ranges(NULL));
  CHECK(!luminal_call(artifact, &request));
  CHECK(told.begun == 2 * steps);
  ranges.end = NULL;
  FAILS(luminal_set_step_ranges(&ranges), "", "null function");
  ranges.struct_size = 8;
  FAILS(luminal_set_step_ranges(&ranges), "", "struct_size");
  luminal_profile_free(profile);
  luminal_artifact_free(artifact);
}

/* Weights of the artifact, or the caller's for one call. */
static void callGood(const luminal_artifact *artifact) {
  float x[6] = {1, 0, 0, 0, 1, 0}, w[12] = {0}, b[4] = {1, 1, 1, 1}, y[8];
  void *tensors[] = {x, NULL, NULL}, *outputs[] = {y};
  luminal_dtype dtypes[3] = {LUMINAL_F32, LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {2, 3}, outputExtents[] = {2, 4};
  luminal_call_request request = {
      sizeof request, 1, tensors, dtypes, 3, extents, 2,
      outputExtents,  2, outputs, 1,      0};
  for (int i = 0; i < 3; ++i) {
    tensors[1] = tensors[2] = NULL;
    CHECK(!luminal_call(artifact, &request));
    /* Row 0 of x reads w[j][0] = 3j, and b[j] = j. */
    CHECK(y[1] == (3 + 1) * 2 && y[3] == (9 + 3) * 4);
    tensors[1] = w;
    tensors[2] = b;
    CHECK(!luminal_call(artifact, &request));
    CHECK(y[1] == 2 && y[3] == 4);
  }
}

/* y = x + f(w), where f(w) is computed once for a number of the weights. */
static void callPrepared(void) {
  const char *options[] = {"--allow-missing-weights"};
  luminal_artifact *artifact = NULL;
  CHECK(!luminal_compile(in("prepared.mlir"), options, 1, in("prepared.lum")));
  CHECK(!luminal_load(in("prepared.lum"), NULL, &artifact));
  luminal_tensor_info info = {sizeof info};
  CHECK(!luminal_info(artifact, LUMINAL_INPUT, 0, &info) && !info.is_prepared);
  CHECK(!luminal_info(artifact, LUMINAL_WEIGHT, 0, &info) && info.is_prepared);
  /* A caller that does not know of it. */
  info.struct_size = offsetof(luminal_tensor_info, is_prepared);
  info.is_prepared = 7;
  CHECK(!luminal_info(artifact, LUMINAL_WEIGHT, 0, &info));
  CHECK(info.is_prepared == 7);

  static float x[4096], w[4096], y[4096];
  void *tensors[] = {x, w}, *outputs[] = {y};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {4096}, outputExtents[] = {4096};
  luminal_call_request request = {
      sizeof request, 1, tensors, dtypes, 2, extents, 1,
      outputExtents,  1, outputs, 1,      0};
  float seen[5];
  const uint64_t versions[] = {1, 1, 2, 0, 0};
  for (int i = 0; i < 5; ++i) {
    w[0] = -(float)i;
    request.weights_version = versions[i];
    CHECK(!luminal_call(artifact, &request));
    seen[i] = y[0];
    CHECK(fabsf(y[0] - sinf(sinf(sinf(sinf(i == 1 ? 0 : w[0]))))) < 1e-5f);
  }
  CHECK(seen[0] == seen[1] && seen[1] != seen[2] && seen[3] != seen[4]);

  /* By repeated calls too, which the artifact's handle may leave. */
  Object objects[] = {{1, x}, {1, w}, {1, y}};
  void *pointers[] = {&objects[0], &objects[1], &objects[2]};
  luminal_repeat *repeats[2];
  request.read = readHandle;
  request.handle_offset = offsetof(Object, handle);
  for (int i = 0; i < 2; ++i) {
    request.weights_version = (uint64_t)i + 7;
    CHECK(!luminal_repeat_create(artifact, &request, &repeats[i]));
  }
  luminal_artifact_free(artifact);
  for (int i = 0; i < 3; ++i) {
    w[0] = -(float)i;
    CHECK(!luminal_repeat_call(repeats[i / 2], pointers));
    seen[i] = y[0];
  }
  CHECK(seen[0] == 0 && seen[1] == 0 && seen[2] != 0);
  for (int i = 0; i < 2; ++i)
    luminal_repeat_free(repeats[i]);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  folder = argv[1];
  failures();

  /* Weights in the artifact, and in the archive. */
  const char *options[] = {"--embed-weights", "--arch=native",
                           "--search-budget=0", "--eqsat-max-nodes=100000",
                           "--max-ulps=10"};
  CHECK(!luminal_compile(in("good.pt2"), options, 5, in("embedded.lum")));
  luminal_artifact *artifact = NULL;
  CHECK(!luminal_load(in("embedded.lum"), NULL, &artifact));
  callGood(artifact);
  runGood(artifact);
  unsupported();
  runGood(compileBytes("good.pt2"));
  CHECK(!luminal_compile(in("good.pt2"), NULL, 0, in("plain.lum")));
  luminal_load_options load = {sizeof load, in("good.pt2")};
  CHECK(!luminal_load(in("plain.lum"), &load, &artifact));
  runGood(artifact);
  /* The archive beside the artifact, unless the caller will bind weights. */
  CHECK(!luminal_load(in("plain.lum"), NULL, &artifact));
  runGood(artifact);
  load.weights_path = "";
  CHECK(!luminal_load(in("plain.lum"), &load, &artifact));
  luminal_context *unbound = NULL;
  CHECK(!luminal_context_create(artifact, 1, &unbound));
  float rows[6] = {0};
  bindRows(unbound, LUMINAL_INPUT, 0, rows, 2, 3);
  FAILS(luminal_run(unbound), "weight 'w' is not bound", "good.pt2");
  luminal_context_free(unbound);
  luminal_artifact_free(artifact);
  load.weights_path = in("not-a-zip.pt2");
  artifact = NULL;
  FAILS(luminal_load(in("plain.lum"), &load, &artifact), load.weights_path,
        "is not a .safetensors file");
  CHECK(artifact == NULL);

  /* One artifact for every size, and an input that each call updates. */
  CHECK(!luminal_compile(in("dynamic.mlir"), NULL, 0, in("dynamic.lum")));
  CHECK(!luminal_load(in("dynamic.lum"), NULL, &artifact));
  luminal_tensor_info info = {sizeof info};
  CHECK(!luminal_info(artifact, LUMINAL_INPUT, 0, &info));
  CHECK(info.shape[0] == -1 && !strcmp(info.shape_text[0], "n"));
  CHECK(!info.is_written);
  CHECK(!luminal_info(artifact, LUMINAL_INPUT, 1, &info) && info.is_written);
  callDynamic(artifact);
  callOnObjects(artifact);
  callProfiled(artifact);
  callInRanges();
  callPrepared();
  luminal_context *contexts[2];
  for (int i = 0; i < 2; ++i)
    CHECK(!luminal_context_create(artifact, 1, &contexts[i]));
  float x[36], y[32], zero[4] = {0};
  int64_t four[1] = {4};
  for (int i = 0; i < 36; ++i)
    x[i] = (float)i;
  for (int i = 0; i < 2; ++i)
    CHECK(!luminal_bind(contexts[i], LUMINAL_INPUT, 1, i ? y + 28 : zero,
                        LUMINAL_F32, 1, four, NULL));
  for (int64_t rows = 1; rows <= 7; ++rows) {
    int64_t shape[2];
    bindRows(contexts[0], LUMINAL_INPUT, 0, x, rows, 4);
    CHECK(!luminal_shape(contexts[0], LUMINAL_OUTPUT, 0, 2, shape));
    CHECK(shape[0] == rows && shape[1] == 4);
    memset(y, 0, sizeof y);
    bindRows(contexts[0], LUMINAL_OUTPUT, 0, y, rows, 4);
    CHECK(!luminal_run(contexts[0]));
    for (int i = 0; i < 32; ++i)
      CHECK(y[i] == (i < rows * 4 ? 2 * x[i] : 0));
  }
  /* Rows k = 0..6 have been seen 7 - k times: x[4k + 1] = 4k + 1. */
  float seen = 0;
  for (int k = 0; k < 7; ++k)
    seen += (float)((7 - k) * (4 * k + 1));
  CHECK(zero[1] == seen);

  /* What overlaps is refused before anything is written. */
  bindRows(contexts[1], LUMINAL_INPUT, 0, x, 7, 4);
  bindRows(contexts[1], LUMINAL_OUTPUT, 0, y + 4, 7, 4);
  memset(y, 0, sizeof y);
  FAILS(luminal_run(contexts[1]), "output 'y' shares memory with state 'sum'",
        "");
  bindRows(contexts[1], LUMINAL_OUTPUT, 0, x + 4, 7, 4);
  FAILS(luminal_run(contexts[1]), "output 'y' shares memory with input 'x'",
        "");
  CHECK(x[4] == 4 && y[28] == 0);
  int64_t shape[2] = {7, 4}, strides[2] = {8, 1};
  FAILS(luminal_bind(contexts[1], LUMINAL_OUTPUT, 0, y, LUMINAL_F32, 2, shape,
                     strides),
        "'y' is not contiguous", "row-major");
  bindRows(contexts[1], LUMINAL_INPUT, 0, x, 9, 4);
  FAILS(luminal_run(contexts[1]), "dim 0 of input 'x' is 9",
        "outside the range [1, 8] of n");
  for (int i = 0; i < 2; ++i)
    luminal_context_free(contexts[i]);
  luminal_artifact_free(artifact);
  puts("done");
  return 0;
}
