/*===- Luminal.h - The C interface ----------------------------------------===//
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compile, load, bind, run. Two libraries offer it: luminal-runtime, which
 * needs nothing of LLVM and cannot compile, and luminal, which can.
 *
 * Functions that can fail return LUMINAL_OK or LUMINAL_ERROR; after an error,
 * luminal_last_error() says in one sentence what is wrong. No function throws,
 * prints or ends the process on bad input; a null handle is an error. Results
 * are written only on success. LUMINAL_CHANGED is no error: functions that
 * return it say what it means.
 *
 * Threads: any number of threads may use one luminal_artifact at once; a
 * luminal_context belongs to one thread at a time.
 *
 * Stability: functions, values and the layout of structs keep their meaning as
 * long as LUMINAL_C_VERSION keeps its value; structs only ever grow at the end,
 * and say their size in their first field.
 *
 *===----------------------------------------------------------------------===*/

#ifndef LUMINAL_C_LUMINAL_H
#define LUMINAL_C_LUMINAL_H

#include <stdbool.h>
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
enum { LUMINAL_OK = 0, LUMINAL_ERROR = 1, LUMINAL_CHANGED = 2 };

/* What kind of failure the last error of a thread was, for callers that have
 * an exception for each. More may be added: an unknown one is OTHER. */
typedef int32_t luminal_error_code;
enum {
  LUMINAL_ERROR_NONE = 0,
  LUMINAL_ERROR_OTHER = 1,
  /* The function was called wrongly: a null pointer, a bad option or index. */
  LUMINAL_ERROR_ARGUMENT = 2,
  /* A file or bytes that cannot be read or written, or are no artifact of this
   * version or for this machine. */
  LUMINAL_ERROR_FILE = 3,
  /* A program that cannot be imported: bytes that are none, an op or an element
   * type that is not supported. */
  LUMINAL_ERROR_IMPORT = 4,
  /* A program that was imported, and cannot be compiled. */
  LUMINAL_ERROR_COMPILE = 5,
  LUMINAL_ERROR_DTYPE = 6,
  /* A rank or an extent, also one outside the range of its symbol. */
  LUMINAL_ERROR_SHAPE = 7,
  /* The call itself: memory that overlaps, a missing weight, an index out of
   * range, no memory. */
  LUMINAL_ERROR_CALL = 8,
  /* An assertion of the program about what its tensors hold: the message is the
   * program's. The call was done, and what it wrote to states and inputs
   * stays. */
  LUMINAL_ERROR_ASSERTION = 9
};

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
  LUMINAL_F8E5M2 = 10,
  LUMINAL_I16 = 11,
  LUMINAL_U16 = 12,
  LUMINAL_U32 = 13
};

/* The tensors of an artifact, each kind numbered from 0.
 * INPUT: what the caller binds before a call. OUTPUT: what a call computes.
 * WEIGHT: parameters and buffers of the model. STATE: what one call passes to
 * the next; it starts as the model's own value and lives in the context, unless
 * memory of the caller is bound.
 * INTEGER: an input that is a number, of LUMINAL_I64 and without dims. Its
 * value is read when it is bound, from memory of the host; it may be the extent
 * of other tensors. It is no tensor of a call: luminal_call_request has
 * `integers`. */
typedef int32_t luminal_kind;
enum {
  LUMINAL_INPUT = 0,
  LUMINAL_OUTPUT = 1,
  LUMINAL_WEIGHT = 2,
  LUMINAL_STATE = 3,
  LUMINAL_INTEGER = 4
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
  /* Nonzero for a weight from which something is computed once, and not at each
   * call. Absent (struct_size ends before it): not told. */
  int32_t is_prepared;
} luminal_tensor_info;

typedef struct luminal_load_options {
  size_t struct_size; /* sizeof(luminal_load_options) */
  /* A .pt2 or .safetensors file that holds the weights; it is mapped, not
   * read. Null: they are in the artifact, or in the file that it was compiled
   * with, where luminal_load finds that beside the artifact, or will be bound.
   * "": no file is looked for. */
  const char *weights_path;
  /* Which device of the artifact's kind runs it. Absent (struct_size ends
   * before it): the first. */
  size_t device;
} luminal_load_options;

/* The version of the library, "0.1.0". */
LUMINAL_API const char *luminal_version(void);

/* Threads of the program in place of the library's, for calls whose steps have
 * work for all of their threads. A team calls function(data) on the caller and
 * on other threads, at most `threads` in all, and returns once all have
 * returned; `flags` are 0. GOMP_parallel of an OpenMP library is
 * one: its threads spin behind each loop of the program, where other threads
 * would have to share processors with them. Null: there is none, as before the
 * first call. Of the process, from the next call on, by any thread. */
typedef void (*luminal_team)(void (*function)(void *), void *data,
                             unsigned threads, unsigned flags);
LUMINAL_API void luminal_set_team(luminal_team team);

/* The error of the last failed function of this thread; "" if none. Valid
 * until the next function of this thread fails. */
LUMINAL_API const char *luminal_last_error(void);

/* The kind of that error; LUMINAL_ERROR_NONE if there was none. */
LUMINAL_API luminal_error_code luminal_last_error_code(void);

/* Compiles a .pt2 archive or an .mlir file to an artifact at `output_path`.
 * `options` are those of luminal-compile ("--target=cpu", "--embed-weights",
 * ...). On failure there is no file. A limit that stops the search for cheaper
 * programs ("--eqsat-max-nodes=N", ...) is not a failure: the stop reason is in
 * the report ("--report=FILE"). */
LUMINAL_API luminal_status luminal_compile(const char *input_path,
                                           const char *const *options,
                                           size_t num_options,
                                           const char *output_path);

/* Bytes that the library owns. */
typedef struct luminal_buffer luminal_buffer;
LUMINAL_API const void *luminal_buffer_data(const luminal_buffer *buffer);
LUMINAL_API size_t luminal_buffer_size(const luminal_buffer *buffer);
LUMINAL_API void luminal_buffer_free(luminal_buffer *buffer);

typedef int32_t luminal_severity;
enum {
  LUMINAL_SEVERITY_ERROR = 0,
  LUMINAL_SEVERITY_WARNING = 1,
  /* Follows an error or a warning, and names another place. */
  LUMINAL_SEVERITY_NOTE = 2
};

/* All pointers are valid during the callback. */
typedef struct luminal_diagnostic {
  size_t struct_size;
  luminal_severity severity;
  const char *message;
  /* The node of the archive's graph that it is about; "" if none. */
  const char *node;
  /* The innermost frame of the user's code; "", 0 where it is not known. */
  const char *file;
  uint32_t line;
} luminal_diagnostic;

typedef struct luminal_compile_request {
  size_t struct_size; /* sizeof(luminal_compile_request) */
  /* The bytes of a .pt2 archive or of the text of a module, and the name that
   * errors give them. */
  const void *input;
  size_t input_size;
  const char *name;
  /* As of luminal_compile. */
  const char *const *options;
  size_t num_options;
  /* Called on this thread for each error, warning and note; may be null. */
  void (*diagnose)(void *data, const luminal_diagnostic *diagnostic);
  void *diagnose_data;
} luminal_compile_request;

/* Compiles from memory to memory; with "--emit=PHASE" the result is the text of
 * the program after that phase. No file is looked for or made but what options
 * name; weights that the archive does not hold are bound by the caller
 * with "--allow-missing-weights". */
LUMINAL_API luminal_status luminal_compile_bytes(
    const luminal_compile_request *request, luminal_buffer **artifact);

/* As luminal_compile, where warnings are heard too: the input is the file that
 * `request->name` names (`input` is not read), the artifact is written to
 * `output_path`, and names the file of its weights by its place beside it. */
LUMINAL_API luminal_status luminal_compile_file(
    const luminal_compile_request *request, const char *output_path);

/* Programs that the rules prove equal to a given one. A session saturates it
 * once; any number of threads may take candidates from one session and print
 * them at once, but for luminal_session_set_price, which must be alone. */
typedef struct luminal_session luminal_session;
typedef struct luminal_candidate luminal_candidate;

/* `text` is a module with one function that has a body, in HLIR; `name` is what
 * errors give it. `options` are those of luminal-compile that concern rules:
 * "--eqsat-rules=", "--eqsat-rule-sets=", "--eqsat-max-nodes=" and the other
 * limits, "--precision=", "--max-ulps="; and "--keep-proofs", for
 * luminal_session_explain. */
LUMINAL_API luminal_status luminal_session_create(const char *text, size_t size,
                                                  const char *name,
                                                  const char *const *options,
                                                  size_t num_options,
                                                  luminal_session **session);
LUMINAL_API void luminal_session_free(luminal_session *session);

/* The cheapest candidate, and others near it: the same seed and strength (from
 * 0 on; by how much prices are changed) give the same one. Candidates stay
 * valid when the session is freed. */
LUMINAL_API luminal_status luminal_session_best(const luminal_session *session,
                                                luminal_candidate **candidate);
LUMINAL_API luminal_status luminal_session_draw(const luminal_session *session,
                                                uint64_t seed, double strength,
                                                luminal_candidate **candidate);
/* 32 hexadecimal digits: equal for equal programs of one session, in every
 * process. */
LUMINAL_API const char *
luminal_candidate_digest(const luminal_candidate *candidate);
/* Nanoseconds, by the prices when it was taken. */
LUMINAL_API double luminal_candidate_cost(const luminal_candidate *candidate);
LUMINAL_API void luminal_candidate_free(luminal_candidate *candidate);

/* The text of a module with the candidate, which must be of this session. */
LUMINAL_API luminal_status luminal_session_materialise(
    const luminal_session *session, const luminal_candidate *candidate,
    luminal_buffer **text);

/* Why the candidate, which must be of this session, is equal to the program as
 * given: the applications of rules, in their order, as text. The session must
 * have been created with "--keep-proofs". */
LUMINAL_API luminal_status luminal_session_explain(
    const luminal_session *session, const luminal_candidate *candidate,
    luminal_buffer **text);

/* The price, in nanoseconds, of every op with this key (priceKey in
 * luminal/EqSat/Program/SaturationSession.h). An error where no op of any
 * candidate can have it. */
LUMINAL_API luminal_status luminal_session_set_price(luminal_session *session,
                                                     const char *key,
                                                     double price);

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

/* The kind of device that runs it, as luminal-compile's --target has it; valid
 * as long as the artifact. */
LUMINAL_API const char *luminal_target(const luminal_artifact *artifact);

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

/* How another library tells of its tensors, by their handles
 * (luminal_call_request::read); each function returns nonzero if it cannot. */
typedef struct luminal_tensor_reader {
  size_t struct_size; /* sizeof(luminal_tensor_reader) */
  int32_t (*rank)(void *handle, int64_t *rank);
  int32_t (*sizes)(void *handle, int64_t **sizes);
  int32_t (*strides)(void *handle, int64_t **strides);
  int32_t (*dtype)(void *handle, int32_t *dtype);
  int32_t (*device)(void *handle, int32_t *device);
  /* The library's numbers of the element types, by luminal_dtype. */
  int32_t dtypes[LUMINAL_U32 + 1];
  /* Its number of the kind of device that tensors must be on; -1: any. */
  int32_t device_kind;
  /* Where an object holds its class, in bytes from its begin, and the classes
   * that tensors may be of; of another one is LUMINAL_ERROR_ARGUMENT. None: any
   * class. */
  size_t class_offset;
  const void *const *classes;
  size_t num_classes;
} luminal_tensor_reader;

/* Where another library's tensors hold what its functions tell of them, so that
 * a tensor is asked again only where one of these changed. A handle
 * (luminal_call_request::read) begins with a pointer to the tensor's
 * description; places are in bytes, of what has 8. */
typedef struct luminal_tensor_layout {
  size_t struct_size; /* sizeof(luminal_tensor_layout) */
  /* In the description: a pointer to the storage, where in it the tensor
   * begins, what tells the element type and the device, and the rank. */
  size_t storage;
  size_t offset;
  size_t type;
  size_t rank;
  /* The extents and the strides of a tensor of at most `most_rank` dims: those
   * of others lie elsewhere, and they are asked at each call. */
  size_t sizes;
  size_t strides;
  size_t most_rank;
  /* In the storage: pointers to its memory, and to what owns that. */
  size_t memory;
  size_t owner;
} luminal_tensor_layout;

/* The objects of a caller's list, which stays as it is during a call. A list of
 * CPython has these two behind its head. */
typedef struct luminal_objects {
  size_t count;
  void *const *data;
} luminal_objects;

/* Objects that tables of the caller's language hold, which may be replaced
 * there: a list of them is right while each table has the version, a word at
 * `versions`, that it had before the list was made. In CPython these are the
 * dictionaries with the parameters of modules. */
typedef struct luminal_stored_objects {
  size_t struct_size; /* sizeof(luminal_stored_objects) */
  luminal_objects objects;
  const uint64_t *const *versions;
  const uint64_t *known_versions;
  size_t num_versions;
} luminal_stored_objects;

/* What a program prepares from weights is prepared again when they change. A
 * watch knows where those weights lay when it was last set, and how often they
 * had been written to. */
typedef struct luminal_watch luminal_watch;

typedef struct luminal_watch_options {
  size_t struct_size; /* sizeof(luminal_watch_options) */
  /* As luminal_call_request::read, with its handles. */
  int32_t (*read)(void *handle, void **data);
  size_t handle_offset;
  /* How often the tensor has been written to. Not called where nothing counts
   * that, which `is_uncounted` says. */
  int64_t (*version)(void *handle);
  bool (*is_uncounted)(void *handle);
  /* Nonzero: tensors whose writes nothing counts never change. */
  int32_t trusts_uncounted;
  /* Which tensors are watched, by their places among the artifact's inputs,
   * weights and states. */
  const uint32_t *positions;
  size_t num_positions;
} luminal_watch_options;

/* How long the steps of calls took. It belongs to one call at a time, and stays
 * valid when the artifact is freed. */
typedef struct luminal_profile luminal_profile;

typedef struct luminal_call_request {
  size_t struct_size; /* sizeof(luminal_call_request) */
  /* Threads of the call, the caller's among them; 0: all that the process may
   * use. */
  uint32_t threads;
  /* For each input, then each weight, then each state of the artifact, in the
   * order of luminal_info: where it lies, and of which element type it is
   * there. A weight or a state without memory (null) is the artifact's own. */
  void *const *tensors;
  const luminal_dtype *dtypes;
  /* Their number, which must be that of the artifact. */
  size_t num_tensors;
  /* The extents of all inputs, one after another. */
  const int64_t *extents;
  size_t num_extents;
  /* The extents of all outputs, one after another: those that the memory of
   * `outputs` was made for; others are an error. */
  int64_t *output_extents;
  size_t num_output_extents;
  /* For each output, row-major memory. */
  void *const *outputs;
  size_t num_outputs;
  /* Nonzero: nothing is run; `output_extents` is written, of `tensors` and
   * `outputs` only the numbers matter. */
  int32_t only_shapes;
  /* With `on_stream` nonzero, the call is work of this stream of the device (a
   * CUstream; null is the default one), after what it was given before.
   * luminal_call waits for its end only where it copies between host and
   * device: not where all tensors and outputs are in memory of the device. An
   * index out of range, or a false assertion, that is found later is an error
   * of a later luminal_call or of luminal_artifact_synchronize. Absent
   * (struct_size ends before it): zero, and the call waits.
   *
   * Where the stream is captured into a CUDA graph, the call becomes part of
   * that graph, and each launch of the graph is one call on the same memory
   * with the same sizes, which finds what weights and inputs then hold. All
   * tensors must lie in memory of the device, which must stay valid, states
   * must be bound, and `profile` null. The graph keeps what it needs of the
   * artifact. */
  void *stream;
  int32_t on_stream;
  /* For luminal_call_objects: tells where the memory of an object begins, by
   * the handle that lies `handle_offset` bytes into the object; nonzero if it
   * cannot. It is called on this thread. */
  int32_t (*read)(void *handle, void **data);
  size_t handle_offset;
  /* A number that stands for what the weights with `is_prepared` hold in memory
   * of the caller: calls of one artifact with the same number, other than 0,
   * find the same values there, and what is computed once from them is kept
   * between these calls. 0, or absent: it is computed again. */
  uint64_t weights_version;
  /* Not null: each step of the call is timed, by the clock of the device where
   * it has one, and added to this profile of the artifact. A device then runs
   * the steps one after another, and the call waits for their end. Null, or
   * absent: nothing is timed. */
  luminal_profile *profile;
  /* Not null: luminal_call_objects asks each of `tensors` what it is, and fails
   * with LUMINAL_ERROR_SHAPE or LUMINAL_ERROR_DTYPE, before anything is run,
   * where one is not a row-major tensor of the artifact's element type, the
   * extents of this call, and the kind of device. Null, or absent: the caller
   * knows that they are. */
  const luminal_tensor_reader *tensor_reader;
  /* The integers of the call, in the order of luminal_info. Absent: none. */
  const int64_t *integers;
  size_t num_integers;
  /* Of a call that is captured: gives memory of the device for what lies
   * between its steps, aligned to 256 bytes, or null where there is none;
   * `release` is called with it once the call is recorded. Each launch of the
   * graph uses the memory from the call's first step to its last: before and
   * after it, and in other graphs that are not launched meanwhile, it may serve
   * others. Both are called on this thread, with `allocator`. Null, or absent:
   * the library allocates memory, which the graph keeps. */
  void *(*allocate)(void *allocator, size_t bytes);
  void (*release)(void *allocator, void *memory);
  void *allocator;
  /* Of luminal_repeat_call_lists: the place of each tensor in its list. Null,
   * or absent: the list holds the tensors in the artifact's order. */
  const uint32_t *positions;
  /* Of a luminal_repeat: it makes no call but those for which this watch, which
   * outlives it, gives `weights_version`; where that is 0, any number, which is
   * then that of the call. Null, or absent: the caller knows what the weights
   * hold. */
  const luminal_watch *watch;
  /* Of a luminal_repeat: a tensor that is as it was in the last call is not
   * asked again. Null, or absent: each is asked at each call. */
  const luminal_tensor_layout *layout;
  /* Of a luminal_repeat: counts a write to a tensor, by its handle, for the
   * library that it is of. After a call it is called for each state and each
   * input that the call wrote to, unless `is_uncounted` says that nothing
   * counts them. Both on this thread. Null, or absent: no one is told. */
  void (*count_write)(void *handle);
  bool (*is_uncounted)(void *handle);
  /* Of a luminal_repeat, and asked at each call: the number of its threads, in
   * the place of `threads`. Null, or absent: `threads` is that of all calls. */
  int32_t (*num_threads)(void);
  /* Of a luminal_repeat whose calls are `on_stream`, and asked at each call:
   * the stream, of the device `stream_device` as the function counts them, in
   * the place of `stream`; not 0 where there is none. Null, or absent: `stream`
   * is that of all calls. */
  int32_t (*current_stream)(int32_t device, void **stream);
  int32_t stream_device;
} luminal_call_request;

/* One call, all of it: nothing of the request is kept. The rules of memory are
 * those of luminal_bind. Any number of threads may call one artifact at once:
 * each call has a context of its own, and contexts are kept for later calls.
 * But an artifact with a state that lies in it has one context for that, and
 * such calls wait for each other. What is computed once from weights is
 * computed again where the caller binds one of them and `weights_version` does
 * not say that nothing changed. */
LUMINAL_API luminal_status luminal_call(const luminal_artifact *artifact,
                                        const luminal_call_request *request);

/* As luminal_call, for callers whose tensors are objects of another library
 * that change where they lie: `tensors` and `outputs` hold objects in the order
 * of the request's arrays of these names, which are not read. Addresses are
 * asked for at each call, which is cheaper than to gather them in a slower
 * language. A null object stands for a null address. */
LUMINAL_API luminal_status luminal_call_objects(
    const luminal_artifact *artifact, const luminal_call_request *request,
    void *const *tensors, void *const *outputs);

/* A call that is made again and again, as luminal_call_objects makes it once:
 * what does not change from one to the next is checked and kept, so that
 * a slower language hands over the objects alone. */
typedef struct luminal_repeat luminal_repeat;

/* The calls that `request` describes, which is copied with its arrays, its
 * `tensor_reader` and its `layout`: element types, extents, memory of which
 * extents the outputs are, functions, and threads, stream and `weights_version`
 * unless a function or the watch tells them, are those of all of them.
 * `tensors` and `outputs` are not read; `only_shapes` and `profile` must be
 * zero. Its counts and element types are errors here, its extents errors of the
 * calls. It stays valid when the artifact is freed. */
LUMINAL_API luminal_status luminal_repeat_create(
    const luminal_artifact *artifact, const luminal_call_request *request,
    luminal_repeat **repeat);
/* No call of it may go on. */
LUMINAL_API void luminal_repeat_free(luminal_repeat *repeat);

/* One call: `objects` holds the `num_tensors` objects of inputs, weights and
 * states, then the `num_outputs` of the outputs. Where they lie, and with a
 * `tensor_reader` what they are, is asked at each call, but of those that a
 * `layout` shows to be what they were. Any number of threads
 * may do this with one luminal_repeat at once. Errors are those of
 * luminal_call_objects. LUMINAL_CHANGED: the watched weights are not what they
 * were, and nothing was run. */
LUMINAL_API luminal_status luminal_repeat_call(const luminal_repeat *repeat,
                                               void *const *objects);

/* The same on lists: of `tensors` the objects at the request's `positions`, of
 * `outputs` one for each output. */
LUMINAL_API luminal_status luminal_repeat_call_lists(
    const luminal_repeat *repeat, const luminal_objects *tensors,
    const luminal_objects *outputs);

/* The same on a list, and on stored objects, whose places are those behind the
 * list's. LUMINAL_CHANGED: also where a version is another. */
LUMINAL_API luminal_status luminal_repeat_call_stored(
    const luminal_repeat *repeat, const luminal_objects *tensors,
    const luminal_stored_objects *stored, const luminal_objects *outputs);

/* Functions of CPython, all of its stable ABI, by which a luminal_repeat is
 * called as one function of Python's own: nothing of a call is then translated
 * to C and back, and no code of Python runs. */
typedef struct luminal_python {
  size_t struct_size; /* sizeof(luminal_python) */
  /* Bytes into a list: its luminal_objects. Bytes into any object: its class.
   * And the class of lists. */
  size_t list_offset;
  size_t class_offset;
  const void *list_class;
  void *(*list_new)(ptrdiff_t count); /* PyList_New */
  int (*list_set_item)(void *list, ptrdiff_t at,
                       void *item); /* PyList_SetItem */
  void *(*call)(void *function, void *arguments,
                void *keywords);        /* PyObject_Call */
  void (*decref)(void *object);         /* Py_DecRef */
  void *(*int_from_long)(long value);   /* PyLong_FromLong */
  void *(*int_as_pointer)(void *value); /* PyLong_AsVoidPtr */
  void *(*save_thread)(void);           /* PyEval_SaveThread */
  void (*restore_thread)(void *thread); /* PyEval_RestoreThread */
} luminal_python;

/* Before luminal_python_call; what it points to is copied, for the process. */
LUMINAL_API luminal_status luminal_python_use(const luminal_python *functions);

/* What makes the outputs of a luminal_repeat: a callable, and the tuple of
 * arguments for each of them. */
typedef struct luminal_python_repeat {
  size_t struct_size; /* sizeof(luminal_python_repeat) */
  const luminal_repeat *repeat;
  void *make;
  void *const *outputs;
  size_t num_outputs;
} luminal_python_repeat;

/* As a function of Python (METH_FASTCALL) whose `self` is the address of
 * a luminal_python_repeat, as an int: luminal_repeat_call_stored with a list of
 * tensors, the address of stored objects as an int, and new outputs. Returns
 * the list of these, or the luminal_status as an int, LUMINAL_CHANGED also
 * where the tensors are not in a list; null where `make` raised an exception.
 * The interpreter's lock is released during the call. */
LUMINAL_API void *luminal_python_call(void *self, void *const *arguments,
                                      ptrdiff_t count);

LUMINAL_API luminal_status luminal_watch_create(
    const luminal_watch_options *options, luminal_watch **watch);
LUMINAL_API void luminal_watch_free(luminal_watch *watch);

/* From now on `number` stands for what the watched tensors hold. `tensors` has
 * the objects of inputs, weights and states; null, or `number` 0: nothing is
 * known of them. */
LUMINAL_API luminal_status luminal_watch_set(luminal_watch *watch,
                                             const luminal_objects *tensors,
                                             uint64_t number);

/* The number that luminal_watch_set gave them, in `number`; 0 where they lie
 * elsewhere now, were written to, or where nothing counts writes. */
LUMINAL_API luminal_status luminal_watch_number(const luminal_watch *watch,
                                                const luminal_objects *tensors,
                                                uint64_t *number);

LUMINAL_API luminal_status luminal_profile_create(
    const luminal_artifact *artifact, luminal_profile **profile);
LUMINAL_API void luminal_profile_free(luminal_profile *profile);

typedef struct luminal_step_info {
  size_t struct_size; /* sizeof(luminal_step_info), set by the caller */
  /* What the step computes, and the kernel or library that does it. Valid while
   * the profile is. */
  const char *name;
  const char *kernel;
  /* Calls that reached it; sums over these: microseconds, bytes read and
   * written, scalar operations (a multiplication and the addition of its
   * product are one, a function such as exp is several). */
  uint64_t calls;
  double microseconds;
  double bytes;
  double flops;
  /* In the last of these calls. */
  uint32_t threads;
} luminal_step_info;

/* Number of steps, and what is known of one: of the program in the order in
 * which they run, then of each variant. A call runs those of one of them. */
LUMINAL_API size_t luminal_profile_count(const luminal_profile *profile);
LUMINAL_API luminal_status luminal_profile_step(const luminal_profile *profile,
                                                size_t index,
                                                luminal_step_info *info);

/* A trace in the JSON form that Perfetto and Chrome read, of the first and the
 * last calls where all have too many steps. */
LUMINAL_API luminal_status luminal_profile_trace(const luminal_profile *profile,
                                                 luminal_buffer **trace);

/* A step of a call, told as it runs. Valid until the function that is told
 * returns. */
typedef struct luminal_step_buffer {
  /* Where the device finds it, and how long it is. */
  const void *data;
  uint64_t bytes;
  /* 0: an operand; 1: a result. */
  int32_t is_result;
} luminal_step_buffer;

typedef struct luminal_step_event {
  size_t struct_size; /* sizeof(luminal_step_event), set by the library */
  /* Of luminal_profile_step. */
  size_t index;
  /* 0: the step runs next; 1: it has run. */
  int32_t is_done;
  /* Operands, then results. */
  const luminal_step_buffer *buffers;
  size_t num_buffers;
  /* The library's. */
  const void *call;
} luminal_step_event;

/* Who is told of each step of the calls that name this profile, before it runs
 * and after: `told` is called on the thread of the call, and makes no other
 * call with this profile. Where it returns a number other than 0 after a step,
 * the call ends with an error. Null: no one. */
LUMINAL_API luminal_status luminal_profile_watch(
    luminal_profile *profile,
    int32_t (*told)(void *user, const luminal_step_event *event), void *user);

/* Copies what is in a buffer of the step now, all of its bytes. */
LUMINAL_API luminal_status luminal_step_read(const luminal_step_event *event,
                                             size_t buffer, void *to);

/* Who is told of the steps of all calls of this process, as ranges of another
 * profiler. Both functions are called on the thread of the call, `end` also
 * where a step fails; `name` is what the step computes, valid until `begin`
 * returns. They may be called by several threads at once. */
typedef struct luminal_step_ranges {
  size_t struct_size; /* sizeof(luminal_step_ranges) */
  void *user;
  void (*begin)(void *user, const char *name);
  void (*end)(void *user);
} luminal_step_ranges;

/* Calls that begin from now on tell `ranges`; null: no one. A device then runs
 * the steps one after another, and each call waits for its end, as with a
 * profile. What it points to is copied. */
LUMINAL_API luminal_status
luminal_set_step_ranges(const luminal_step_ranges *ranges);

/* Waits for all calls that go on after luminal_call returned, and reports what
 * they found; of calls that were captured, what the launches of their graphs
 * that are done have found. */
LUMINAL_API luminal_status
luminal_artifact_synchronize(const luminal_artifact *artifact);

/* Of calls that were captured: computes again what was computed once from
 * weights, from what these now hold where they lay, and in the same memory, so
 * that launches of the graphs find it. Waits for the calls that go on; no graph
 * may be running. */
LUMINAL_API luminal_status
luminal_artifact_refresh(const luminal_artifact *artifact);

/* States that lie in the artifact start from their initial values at the next
 * luminal_call. */
LUMINAL_API luminal_status
luminal_artifact_reset(const luminal_artifact *artifact);

#ifdef __cplusplus
}
#endif

#endif /* LUMINAL_C_LUMINAL_H */
