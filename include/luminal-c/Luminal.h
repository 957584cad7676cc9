/*===- Luminal.h - The C interface ----------------------------------------===//
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compile, load, bind, run. Two libraries offer it: luminal-runtime, which
 * needs nothing of LLVM and cannot compile, and luminal, which can.
 *
 * Functions that can fail return LUMINAL_OK or LUMINAL_ERROR; after an error,
 * luminal_last_error() says in one sentence what is wrong. No function throws,
 * prints or ends the process on bad input; a null handle is an error. Results
 * are written only on success.
 *
 * Threads: a luminal_artifact is immutable, so any number of threads may use
 * one; a luminal_context belongs to one thread at a time.
 *
 * Stability: functions, values and the layout of structs keep their meaning as
 * long as LUMINAL_C_VERSION keeps its value; structs only ever grow at the end,
 * and say their size in their first field.
 *
 *===----------------------------------------------------------------------===*/

#ifndef LUMINAL_C_LUMINAL_H
#define LUMINAL_C_LUMINAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LUMINAL_C_VERSION 1

#if defined(__GNUC__)
#define LUMINAL_API __attribute__((visibility("default")))
#else
#define LUMINAL_API
#endif

typedef struct luminal_artifact luminal_artifact;
typedef struct luminal_context luminal_context;

/* The enumerations have a fixed type: a number that is not a member is reported
 * as an error. */
typedef int32_t luminal_status;
enum { LUMINAL_OK = 0, LUMINAL_ERROR = 1 };

/* Elements are stored in the byte order of the machine; i1 is one byte, 0 or 1.
 */
typedef int32_t luminal_dtype;
enum {
  LUMINAL_F32 = 0,
  LUMINAL_F16 = 1,
  LUMINAL_BF16 = 2,
  LUMINAL_F64 = 3,
  LUMINAL_I32 = 4,
  LUMINAL_I64 = 5,
  LUMINAL_I1 = 6,
  LUMINAL_I8 = 7,
  LUMINAL_U8 = 8,
  LUMINAL_F8E4M3 = 9,
  LUMINAL_F8E5M2 = 10
};

/* The tensors of an artifact, each kind numbered from 0.
 * INPUT: what the caller binds before a call. OUTPUT: what a call computes.
 * WEIGHT: parameters and buffers of the model. STATE: what one call passes to
 * the next; it starts as the model's own value and lives in the context, unless
 * memory of the caller is bound. */
typedef int32_t luminal_kind;
enum {
  LUMINAL_INPUT = 0,
  LUMINAL_OUTPUT = 1,
  LUMINAL_WEIGHT = 2,
  LUMINAL_STATE = 3
};

typedef struct luminal_tensor_info {
  size_t struct_size; /* sizeof(luminal_tensor_info), set by the caller */
  const char *name;   /* valid while the artifact is */
  luminal_dtype dtype;
  /* Nonzero for an input whose memory each call changes. */
  int32_t is_written;
  size_t rank;
  /* Extents; -1 where a dim is dynamic. Valid while the artifact is. */
  const int64_t *shape;
  /* Extents as text ("16", "s77", "2*s77 + 1"): equal symbols are equal dims.
   */
  const char *const *shape_text;
} luminal_tensor_info;

typedef struct luminal_load_options {
  size_t struct_size; /* sizeof(luminal_load_options) */
  /* A .pt2 or .safetensors file that holds the weights; it is mapped, not
   * read. Null: they are in the artifact, or in the file that it was compiled
   * with, where luminal_load finds that beside the artifact, or will be bound.
   * "": no file is looked for. */
  const char *weights_path;
} luminal_load_options;

/* The version of the library, "0.1.0". */
LUMINAL_API const char *luminal_version(void);

/* The error of the last failed function of this thread; "" if none. Valid
 * until the next function of this thread fails. */
LUMINAL_API const char *luminal_last_error(void);

/* Compiles a .pt2 archive or an .mlir file to an artifact at `output_path`.
 * `options` are those of luminal-compile ("--target=cpu", "--embed-weights",
 * ...). On failure there is no file. A limit that stops the search for cheaper
 * programs ("--eqsat-max-nodes=N", ...) is not a failure: the stop reason is in
 * the report ("--report=FILE"). */
LUMINAL_API luminal_status luminal_compile(const char *input_path,
                                           const char *const *options,
                                           size_t num_options,
                                           const char *output_path);

/* Loads an artifact from a file or from bytes (which are copied). `options` may
 * be null. Loading maps the artifact's native code into the process: load only
 * artifacts you would execute. */
LUMINAL_API luminal_status luminal_load(const char *path,
                                        const luminal_load_options *options,
                                        luminal_artifact **artifact);
LUMINAL_API luminal_status luminal_load_bytes(
    const void *bytes, size_t size, const luminal_load_options *options,
    luminal_artifact **artifact);
/* Contexts created from it stay valid. */
LUMINAL_API void luminal_artifact_free(luminal_artifact *artifact);

/* Number of tensors of a kind. */
LUMINAL_API size_t luminal_count(const luminal_artifact *artifact,
                                 luminal_kind kind);
LUMINAL_API luminal_status luminal_info(const luminal_artifact *artifact,
                                        luminal_kind kind, size_t index,
                                        luminal_tensor_info *info);

/* A context with `threads` threads per call, including the caller (0: all that
 * the process may use). */
LUMINAL_API luminal_status
luminal_context_create(const luminal_artifact *artifact, uint32_t threads,
                       luminal_context **context);
LUMINAL_API void luminal_context_free(luminal_context *context);

/* Binds memory of the caller, which must stay valid until it is rebound or
 * the context is freed. `strides` are in elements; null means row-major, and
 * strides that are not row-major are refused (strides of dims of extent 1, and
 * all strides of an empty tensor, do not matter). Memory that is not 16-byte
 * aligned is allowed and copied at each call (weights: when bound). An output,
 * a state, or an input that is written must not share memory with any other
 * tensor of the call: luminal_run refuses that. `shape`, and `strides` unless
 * null, hold `rank` numbers, which must be the tensor's rank: else nothing of
 * them is read. An artifact for a GPU takes memory of the host, which is copied
 * at each call, or of its device, which is used in place. Null `data` without a
 * shape, or with one that has elements, removes the binding: an output then
 * lies in memory of the context, a state restarts in it, an input must be bound
 * again. */
LUMINAL_API luminal_status luminal_bind(luminal_context *context,
                                        luminal_kind kind, size_t index,
                                        void *data, luminal_dtype dtype,
                                        size_t rank, const int64_t *shape,
                                        const int64_t *strides);

/* The shape that an input, output or state has in the next call, by the inputs
 * bound: `shape` holds `rank` extents, the tensor's rank. */
LUMINAL_API luminal_status luminal_shape(luminal_context *context,
                                         luminal_kind kind, size_t index,
                                         size_t rank, int64_t *shape);

/* Where a tensor lies, bound or in memory of the context: an output as the last
 * call left it, or a state as the next call finds it. An output that no call
 * has made since it was bound or since shapes changed (by luminal_shape) is an
 * error, and so is what a failed call left undefined. Valid until the next
 * call. */
LUMINAL_API luminal_status luminal_data(luminal_context *context,
                                        luminal_kind kind, size_t index,
                                        const void **data);

/* One call. */
LUMINAL_API luminal_status luminal_run(luminal_context *context);

/* States that live in the context are reset at the next call. Memory of the
 * caller that is bound as a state is not changed. */
LUMINAL_API luminal_status luminal_reset(luminal_context *context);

#ifdef __cplusplus
}
#endif

#endif /* LUMINAL_C_LUMINAL_H */
