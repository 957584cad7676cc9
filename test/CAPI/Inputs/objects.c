/*===- objects.c - Calls by objects of another library, in C --------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "objects.h"

int32_t readHandle(void *handle, void **data) {
  *data = *(float **)handle;
  return *data == NULL;
}

/* The same by objects, whose addresses are read at each call. */
static void callObjects(const luminal_artifact *artifact) {
  float x[8] = {1, 2, 3, 4}, y[8] = {0}, sum[4] = {0}, other[4] = {0};
  Object input = {1, x}, total = {1, sum}, output = {1, y};
  void *tensors[] = {&input, &total}, *outputs[] = {&output};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {1, 4, 4}, outputExtents[] = {1, 4};
  luminal_call_request request = {
      sizeof request, 1, NULL, dtypes, 2, extents, 3,
      outputExtents,  2, NULL, 1,      0};
  request.read = readHandle;
  request.handle_offset = offsetof(Object, handle);
  CHECK(!luminal_call_objects(artifact, &request, tensors, outputs));
  CHECK(y[3] == 8 && sum[3] == 4);
  total.handle = other;
  CHECK(!luminal_call_objects(artifact, &request, tensors, outputs));
  CHECK(other[3] == 4 && sum[3] == 4);
  tensors[1] = NULL;
  FAILS(luminal_call_objects(artifact, &request, tensors, outputs),
        "input 'sum'", "has no memory");
  tensors[1] = &total;
  output.handle = NULL;
  FAILS(luminal_call_objects(artifact, &request, tensors, outputs),
        "luminal_call_objects: ", "the address of output 0 cannot be read");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_ARGUMENT && other[3] == 4);
  output.handle = y;
  request.num_tensors = 1;
  FAILS(luminal_call_objects(artifact, &request, tensors, outputs),
        "luminal_call: ", "1 tensors, expected 2");
  request.num_tensors = 2;
  FAILS(luminal_call_objects(artifact, &request, tensors, NULL),
        "luminal_call_objects: ", "null");
  /* A request of a caller that does not know of objects. */
  request.struct_size = offsetof(luminal_call_request, read);
  FAILS(luminal_call_objects(artifact, &request, tensors, outputs),
        "luminal_call_objects: ", "null");
}

/* The same again and again: what does not change is given once. */
static void callRepeated(const luminal_artifact *artifact) {
  float x[8] = {1, 2, 3, 4}, y[8] = {0}, sum[4] = {0}, other[4] = {0};
  Object input = {1, x}, total = {1, sum}, output = {1, y};
  void *objects[] = {&input, &total, &output};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {1, 4, 4}, outputExtents[] = {1, 4};
  luminal_call_request request = {
      sizeof request, 1, NULL, dtypes, 2, extents, 3,
      outputExtents,  2, NULL, 1,      0};
  request.read = readHandle;
  request.handle_offset = offsetof(Object, handle);
  luminal_repeat *repeat = NULL;
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
  /* Nothing of the request is used later. */
  memset(dtypes, -1, sizeof dtypes);
  memset(extents, -1, sizeof extents);
  memset(outputExtents, -1, sizeof outputExtents);
  CHECK(!luminal_repeat_call(repeat, objects) && y[3] == 8 && sum[3] == 4);
  total.handle = other;
  y[3] = 0;
  CHECK(!luminal_repeat_call(repeat, objects) && y[3] == 8);
  CHECK(other[3] == 4 && sum[3] == 4);
  output.handle = NULL;
  FAILS(luminal_repeat_call(repeat, objects),
        "luminal_repeat_call: ", "the address of output 0 cannot be read");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_ARGUMENT && other[3] == 4);
  output.handle = x;
  FAILS(luminal_repeat_call(repeat, objects), "", "shares memory");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_CALL);
  objects[1] = NULL;
  FAILS(luminal_repeat_call(repeat, objects), "input 'sum'", "has no memory");
  FAILS(luminal_repeat_call(repeat, NULL), "luminal_repeat_call: ", "null");
  FAILS(luminal_repeat_call(NULL, objects), "luminal_repeat_call: ", "null");
  luminal_repeat_free(repeat);
  luminal_repeat_free(NULL);

  repeat = NULL;
#define CREATE luminal_repeat_create(artifact, &request, &repeat)
  FAILS(CREATE, "there is no element type", "-1");
  dtypes[0] = dtypes[1] = LUMINAL_F64;
  FAILS(CREATE, "'x' has element type f64", "expected f32");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_DTYPE);
  dtypes[0] = dtypes[1] = LUMINAL_F32;
  request.num_outputs = 2;
  FAILS(CREATE, "luminal_call: ", "2 outputs, expected 1");
  request.num_outputs = 1;
  request.only_shapes = 1;
  FAILS(CREATE, "luminal_repeat_create: ", "only_shapes");
  request.only_shapes = 0;
  luminal_profile *profile = NULL;
  CHECK(!luminal_profile_create(artifact, &profile));
  request.profile = profile;
  FAILS(CREATE, "luminal_repeat_create: ", "profile");
  luminal_profile_free(profile);
  request.profile = NULL;
  request.dtypes = NULL;
  FAILS(CREATE, "luminal_repeat_create: ", "null");
  request.dtypes = dtypes;
  request.read = NULL;
  FAILS(CREATE, "luminal_repeat_create: ", "null");
  request.read = readHandle;
  FAILS(luminal_repeat_create(artifact, &request, NULL),
        "luminal_repeat_create: ", "null");
  FAILS(luminal_repeat_create(NULL, &request, &repeat),
        "luminal_repeat_create: ", "null");
  request.struct_size = 8;
  FAILS(CREATE, "luminal_repeat_create: ", "struct_size");
  request.struct_size = sizeof request;
  CHECK(repeat == NULL);

  /* Sizes are those of the request; the calls check them. */
  objects[1] = &total;
  output.handle = y;
  extents[0] = 9;
  extents[1] = extents[2] = outputExtents[1] = 4;
  outputExtents[0] = 9;
  CHECK(!CREATE);
  FAILS(luminal_repeat_call(repeat, objects), "dim 0 of input 'x' is 9",
        "outside the range [1, 8] of n");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_SHAPE);
  luminal_repeat_free(repeat);
  extents[0] = 2;
  outputExtents[0] = 1;
  CHECK(!CREATE);
  FAILS(luminal_repeat_call(repeat, objects), "dim 0 of output 'y' is 2",
        "its memory is for 1");
  luminal_repeat_free(repeat);
#undef CREATE
}

static Object *getObject(void *handle) {
  return (Object *)((char *)handle - offsetof(Object, handle));
}
static int64_t countWrites(void *handle) { return getObject(handle)->count; }
static bool isUncounted(void *handle) { return getObject(handle)->count < 0; }

static void countWrite(void *handle) { ++getObject(handle)->count; }

/* On a list and on objects of tables that are what they were; what the calls
 * write to is counted. `similar`: a request for such lists. */
static void callStored(const luminal_artifact *artifact,
                       const luminal_call_request *similar) {
  float x[8] = {1, 2, 3, 4}, y[8] = {0}, sum[4] = {0};
  Object input = {1, x}, total = {1, sum}, output = {1, y};
  void *given[] = {NULL, &input}, *held[] = {&output, &total},
       *made[] = {&output};
  luminal_objects tensors = {2, given}, outputs = {1, made};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  uint32_t positions[] = {1, 3};
  uint64_t versions[] = {5, 6}, known[] = {5, 6};
  const uint64_t *places[] = {&versions[0], &versions[1]};
  luminal_stored_objects stored = {sizeof stored, {2, held}, places, known, 2};
  luminal_call_request request = *similar;
  request.dtypes = dtypes;
  request.positions = positions;
  request.watch = NULL;
  request.weights_version = 0;
  request.count_write = countWrite;
  luminal_repeat *repeat = NULL;
  FAILS(luminal_repeat_create(artifact, &request, &repeat),
        "luminal_repeat_create: ", "null is_uncounted");
  request.is_uncounted = isUncounted;
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
#define CALL luminal_repeat_call_stored(repeat, &tensors, &stored, &outputs)
  CHECK(!CALL && y[3] == 8 && sum[3] == 4);
  CHECK(input.count == 1 && output.count == 1 && total.count == 2);
  versions[1] = 7;
  CHECK(CALL == LUMINAL_CHANGED && sum[3] == 4 && total.count == 2);
  known[1] = 7;
  total.count = -3; /* That nothing counts. */
  CHECK(!CALL && sum[3] == 8 && total.count == -3);
  total.count = 2;
  output.handle = x; /* A call that fails writes to nothing. */
  FAILS(CALL, "", "shares memory");
  CHECK(total.count == 2);
  output.handle = y;
  stored.objects.count = 1;
  FAILS(CALL, "luminal_repeat_call_stored: ", "3 tensors, expected at least 4");
  stored.objects.count = 2;
  stored.versions = NULL;
  FAILS(CALL, "luminal_repeat_call_stored: ", "null");
  stored.num_versions = 0;
  CHECK(!CALL && sum[3] == 12 && total.count == 3);
  stored.struct_size = 8;
  FAILS(CALL, "luminal_repeat_call_stored: ", "struct_size");
  FAILS(luminal_repeat_call_stored(repeat, &tensors, NULL, &outputs),
        "luminal_repeat_call_stored: ", "null");
#undef CALL
  luminal_repeat_free(repeat);
}

/* What another thread does between the reading of an address and what follows
 * it: the object lies elsewhere, and the watch has been told. */
static struct {
  Object *object;
  float *handle;
  luminal_watch *watch;
  const luminal_objects *tensors;
  uint64_t number;
} replacement;
static int32_t readAndReplace(void *handle, void **data) {
  int32_t status = readHandle(handle, data);
  if (!replacement.object || handle != &replacement.object->handle)
    return status;
  replacement.object->handle = replacement.handle;
  replacement.object = NULL;
  CHECK(!luminal_watch_set(replacement.watch, replacement.tensors,
                           replacement.number));
  return status;
}

static int threadsAsked = 0;
static int32_t tellThreads(void) { return ++threadsAsked % 3; }

/* The same on lists, while what is watched is what it was. */
static void callLists(const luminal_artifact *artifact) {
  float x[8] = {1, 2, 3, 4}, y[8] = {0}, sum[4] = {0}, other[4] = {0};
  Object input = {1, x}, total = {1, sum}, output = {1, y};
  void *given[] = {&total, NULL, &input}, *made[] = {&output};
  void *ordered[] = {&input, &total};
  luminal_objects tensors = {3, given}, outputs = {1, made};
  luminal_objects inOrder = {2, ordered};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {1, 4, 4}, outputExtents[] = {1, 4};
  uint32_t positions[] = {2, 0}, watched[] = {1};
  luminal_call_request request = {
      sizeof request, 1, NULL, dtypes, 2, extents, 3,
      outputExtents,  2, NULL, 1,      0};
  request.read = readHandle;
  request.handle_offset = offsetof(Object, handle);
  request.positions = positions;
  luminal_repeat *repeat = NULL;
#define CALL luminal_repeat_call_lists(repeat, &tensors, &outputs)
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
  memset(positions, -1, sizeof positions);
  CHECK(!CALL && y[3] == 8 && sum[3] == 4);
  tensors.count = 2;
  FAILS(CALL, "luminal_repeat_call_lists: ", "2 tensors, expected at least 3");
  tensors.count = 3;
  outputs.count = 2;
  FAILS(CALL, "luminal_repeat_call_lists: ", "2 outputs, expected 1");
  outputs.count = 1;
  FAILS(luminal_repeat_call_lists(repeat, NULL, &outputs),
        "luminal_repeat_call_lists: ", "null");
  luminal_repeat_free(repeat);

  luminal_watch_options options = {sizeof options,
                                   readHandle,
                                   offsetof(Object, handle),
                                   countWrites,
                                   isUncounted,
                                   0,
                                   watched,
                                   1};
  luminal_watch *watch = NULL;
  CHECK(!luminal_watch_create(&options, &watch));
  memset(watched, -1, sizeof watched);
  uint64_t number = 9;
  CHECK(!luminal_watch_number(watch, &inOrder, &number) && number == 0);
  request.positions = NULL;
  request.watch = watch;
  request.weights_version = 7;
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
  FAILS(CALL, "luminal_repeat_call_lists: ", "3 tensors, expected 2");
  tensors = inOrder;
  sum[3] = 0;
  CHECK(CALL == LUMINAL_CHANGED && sum[3] == 0);
  CHECK(!luminal_watch_set(watch, &inOrder, 7));
  CHECK(!luminal_watch_number(watch, &inOrder, &number) && number == 7);
  CHECK(!CALL && sum[3] == 4);
  /* Another value, another place, and nothing that would tell. */
  total.count = 2;
  CHECK(CALL == LUMINAL_CHANGED && sum[3] == 4);
  CHECK(!luminal_watch_set(watch, &inOrder, 8));
  CHECK(CALL == LUMINAL_CHANGED && sum[3] == 4);
  CHECK(!luminal_watch_set(watch, &inOrder, 7) && !CALL && sum[3] == 8);
  total.handle = other;
  CHECK(CALL == LUMINAL_CHANGED && other[3] == 0);
  CHECK(!luminal_watch_set(watch, &inOrder, 7) && !CALL && other[3] == 4);
  total.count = -1;
  CHECK(CALL == LUMINAL_CHANGED && other[3] == 4);
  FAILS(luminal_watch_set(watch, &inOrder, 7),
        "luminal_watch_set: ", "is written to uncounted");
  total.count = 2;
  CHECK(CALL == LUMINAL_CHANGED);
  CHECK(!luminal_watch_set(watch, &inOrder, 7) && !CALL);
  CHECK(!luminal_watch_set(watch, NULL, 7) && CALL == LUMINAL_CHANGED);
  inOrder.count = 1;
  FAILS(luminal_watch_set(watch, &inOrder, 7),
        "luminal_watch_set: ", "missing");
  luminal_repeat_free(repeat);

  /* Of any number, on so many threads as a function says. */
  inOrder.count = 2;
  request.weights_version = 0;
  request.num_threads = tellThreads;
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
  CHECK(CALL == LUMINAL_CHANGED && threadsAsked == 1);
  for (uint64_t version = 8; version < 11; ++version) {
    total.count = (int64_t)version;
    CHECK(CALL == LUMINAL_CHANGED);
    CHECK(!luminal_watch_set(watch, &inOrder, version) && !CALL && !CALL);
  }
  CHECK(threadsAsked == 10 && other[3] == 4 * 8);
  luminal_repeat_free(repeat);

  /* What was found before is not what the watch knows now. */
  request.num_threads = NULL;
  request.read = readAndReplace;
  CHECK(!luminal_repeat_create(artifact, &request, &repeat) && !CALL);
  replacement.object = &total;
  replacement.handle = sum;
  replacement.watch = watch;
  replacement.tensors = &inOrder;
  replacement.number = 11;
  const float before = sum[3];
  CHECK(CALL == LUMINAL_CHANGED && other[3] == 4 * 9 && sum[3] == before);
  CHECK(!CALL && other[3] == 4 * 9 && sum[3] == before + 4);
#undef CALL
  luminal_repeat_free(repeat);
  request.read = readHandle;
  request.weights_version = 7;
  luminal_watch_free(watch);
  luminal_watch_free(NULL);
  callStored(artifact, &request);

  /* What nothing counts may be trusted never to change. */
  total.count = -1;
  watched[0] = 1;
  inOrder.count = 2;
  options.trusts_uncounted = 1;
  CHECK(!luminal_watch_create(&options, &watch));
  CHECK(!luminal_watch_set(watch, &inOrder, 3));
  CHECK(!luminal_watch_number(watch, &inOrder, &number) && number == 3);
  FAILS(luminal_watch_number(watch, NULL, &number),
        "luminal_watch_number: ", "null");
  luminal_watch_free(watch);
  options.version = NULL;
  FAILS(luminal_watch_create(&options, &watch),
        "luminal_watch_create: ", "null");
  options.struct_size = 8;
  FAILS(luminal_watch_create(&options, &watch),
        "luminal_watch_create: ", "struct_size");
}

/* Objects that tell what they are. */
typedef struct Told {
  float *data;
  int64_t rank, sizes[2], strides[2];
  int32_t dtype, device;
} Told;

static int32_t readData(void *handle, void **data) {
  *data = ((Told *)handle)->data;
  return 0;
}
static int32_t readRank(void *handle, int64_t *rank) {
  *rank = ((Told *)handle)->rank;
  return 0;
}
static int32_t readSizes(void *handle, int64_t **sizes) {
  *sizes = ((Told *)handle)->sizes;
  return 0;
}
static int32_t readStrides(void *handle, int64_t **strides) {
  *strides = ((Told *)handle)->strides;
  return ((Told *)handle)->rank > 2;
}
static int32_t readDtype(void *handle, int32_t *dtype) {
  *dtype = ((Told *)handle)->dtype;
  return 0;
}
static int32_t readDevice(void *handle, int32_t *device) {
  *device = ((Told *)handle)->device;
  return 0;
}

/* Each object is asked what it is before anything is run. */
static void callChecked(const luminal_artifact *artifact) {
  float x[8] = {1, 2, 3, 4}, y[8] = {0}, sum[4] = {0};
  Told input = {x, 2, {2, 4}, {4, 1}, 6, 1}, output = {y};
  Told total = {sum, 1, {4, 0}, {1, 0}, 6, 1};
  void *tensors[] = {&input, &total}, *outputs[] = {&output};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {2, 4, 4}, outputExtents[] = {2, 4};
  luminal_tensor_reader reader = {sizeof reader, readRank,  readSizes,
                                  readStrides,   readDtype, readDevice,
                                  {6, 5, 15, 7}, 1};
  luminal_call_request request = {
      sizeof request, 1, NULL, dtypes, 2, extents, 3,
      outputExtents,  2, NULL, 1,      0};
  request.read = readData;
  request.tensor_reader = &reader;
#define CALL luminal_call_objects(artifact, &request, tensors, outputs)
  CHECK(!CALL && y[3] == 8 && sum[3] == 4);
  input.dtype = 7;
  FAILS(CALL, "'x' has another element type than f32", "");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_DTYPE);
  input.dtype = 6;
  input.sizes[0] = 3;
  FAILS(CALL, "'x' has another shape", "");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_SHAPE);
  input.sizes[0] = 2;
  input.strides[0] = 1;
  input.strides[1] = 2;
  FAILS(CALL, "'x' has another shape", "is not row-major");
  input.strides[0] = 4;
  input.strides[1] = 1;
  total.device = 0;
  FAILS(CALL, "'sum' has another shape", "on another device");
  reader.device_kind = -1;
  CHECK(!CALL && sum[3] == 8);
  total.rank = 2;
  FAILS(CALL, "'sum' has another shape", "");
  total.rank = 3;
  FAILS(CALL,
        "luminal_call_objects: ", "the description of 'sum' cannot be read");
  total.rank = 1;
  request.num_tensors = 1;
  FAILS(CALL, "luminal_call: ", "1 tensors, expected 2");
  request.num_tensors = 2;
  /* A repeated call asks the same, by its copy of the reader. */
  luminal_repeat *repeat = NULL;
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
  reader.dtypes[LUMINAL_F32] = 9;
  void *objects[] = {&input, &total, &output};
  CHECK(!luminal_repeat_call(repeat, objects) && sum[3] == 12);
  total.dtype = 7;
  FAILS(luminal_repeat_call(repeat, objects),
        "'sum' has another element type than f32", "");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_DTYPE);
  total.dtype = 6;
  total.rank = 3;
  FAILS(luminal_repeat_call(repeat, objects),
        "luminal_repeat_call: ", "the description of 'sum' cannot be read");
  total.rank = 1;
  luminal_repeat_free(repeat);
  /* Of which classes they are, for which the first of a Told stands. */
  reader.dtypes[LUMINAL_F32] = 6;
  const void *classes[] = {x, sum};
  reader.classes = classes;
  reader.num_classes = 2;
  CHECK(!CALL && sum[3] == 16);
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
  classes[1] = x;
  FAILS(CALL, "'sum' is not a tensor", "");
  CHECK(luminal_last_error_code() == LUMINAL_ERROR_ARGUMENT);
  CHECK(!luminal_repeat_call(repeat, objects) && sum[3] == 20);
  total.data = x + 4;
  FAILS(luminal_repeat_call(repeat, objects), "'sum' is not a tensor", "");
  total.data = sum;
  luminal_repeat_free(repeat);
  reader.classes = NULL;
  FAILS(CALL, "luminal_call_objects: ", "null classes");
  reader.dtype = NULL;
  FAILS(CALL, "luminal_call_objects: ", "null function");
  FAILS(luminal_repeat_create(artifact, &request, &repeat),
        "luminal_repeat_create: ", "null function");
  reader.struct_size = 8;
  FAILS(CALL, "luminal_call_objects: ", "struct_size of the reader");
  /* A request of a caller that does not know of it. */
  request.struct_size = offsetof(luminal_call_request, tensor_reader);
  CHECK(!CALL && sum[3] == 24);
#undef CALL
}

/* Objects of which it is known where they hold what they are. */
typedef struct Storage {
  void *memory, *owner;
} Storage;
typedef struct Described {
  Storage *storage;
  int64_t offset, type, rank, sizes[2], strides[2];
} Described;
typedef struct Known {
  const void *kind;
  Described *described;
} Known;

static int asked;
/* What another thread does as soon as an address is read. */
static Described *replaced;
static Storage *replacing;
static Described *getDescribed(void *handle) { return *(Described **)handle; }
static int32_t askData(void *handle, void **data) {
  Described *described = getDescribed(handle);
  *data = (float *)described->storage->memory + described->offset;
  ++asked;
  if (described == replaced) {
    described->storage = replacing;
    replaced = NULL;
  }
  return 0;
}
static int32_t askRank(void *handle, int64_t *rank) {
  *rank = getDescribed(handle)->rank;
  return 0;
}
static int32_t askSizes(void *handle, int64_t **sizes) {
  *sizes = getDescribed(handle)->sizes;
  return 0;
}
static int32_t askStrides(void *handle, int64_t **strides) {
  static int64_t elsewhere[2];
  Described *described = getDescribed(handle);
  *strides = described->strides;
  if (described->type != 3)
    return 0;
  memcpy(elsewhere, described->strides, sizeof elsewhere);
  *strides = elsewhere;
  return 0;
}
static int32_t askDtype(void *handle, int32_t *dtype) {
  *dtype = getDescribed(handle)->type == 2 ? 5 : 6;
  return 0;
}
static int32_t askDevice(void *handle, int32_t *device) {
  *device = getDescribed(handle)->type == 4;
  return 0;
}

/* Each is asked again where something of it changed, and only then. */
static void callKnown(const luminal_artifact *artifact, bool checks) {
  float x[16] = {1, 2, 3, 4}, y[16] = {0}, sum[8] = {0};
  Storage xs = {x, x}, ys = {y, y}, sums = {sum, sum};
  Described dx = {&xs, 0, 1, 2, {2, 4}, {4, 1}};
  Described dsum = {&sums, 0, 1, 1, {4, 0}, {1, 0}}, dy = {&ys, 0};
  int plain, other;
  Known input = {&plain, &dx}, total = {&plain, &dsum}, output = {NULL, &dy};
  void *objects[] = {&input, &total, &output};
  luminal_dtype dtypes[] = {LUMINAL_F32, LUMINAL_F32};
  int64_t extents[] = {2, 4, 4}, outputExtents[] = {2, 4};
  const void *classes[] = {&plain};
  luminal_tensor_reader reader = {
      sizeof reader, askRank,  askSizes,
      askStrides,    askDtype, askDevice,
      {6, 5},        0,        offsetof(Known, kind),
      classes,       1};
  luminal_tensor_layout layout = {sizeof layout,
                                  offsetof(Described, storage),
                                  offsetof(Described, offset),
                                  offsetof(Described, type),
                                  offsetof(Described, rank),
                                  offsetof(Described, sizes),
                                  offsetof(Described, strides),
                                  2,
                                  offsetof(Storage, memory),
                                  offsetof(Storage, owner)};
  luminal_call_request request = {
      sizeof request, 1, NULL, dtypes, 2, extents, 3,
      outputExtents,  2, NULL, 1,      0};
  request.read = askData;
  request.handle_offset = offsetof(Known, described);
  request.tensor_reader = checks ? &reader : NULL;
  request.layout = &layout;
  luminal_repeat *repeat = NULL;
  layout.struct_size = 8;
  FAILS(luminal_repeat_create(artifact, &request, &repeat),
        "luminal_repeat_create: ", "struct_size of the layout");
  layout.struct_size = sizeof layout;
  CHECK(!luminal_repeat_create(artifact, &request, &repeat));
  memset(&layout, -1, sizeof layout);
  /* The output is asked at each call. */
#define ASKS(count)                                                            \
  asked = 0;                                                                   \
  CHECK(!luminal_repeat_call(repeat, objects) && asked == 1 + (count))
  ASKS(2);
  CHECK(y[3] == 8 && sum[3] == 4);
  ASKS(0);
  CHECK(sum[3] == 8);
  Known twin = input;
  objects[0] = &twin;
  ASKS(0);
  dx.offset = 4;
  ASKS(1);
  ASKS(0);
  CHECK(y[3] == 0 && sum[3] == 12);
  dx.offset = 0;
  ASKS(1);
  CHECK(y[3] == 8 && sum[3] == 16);
  xs.memory = x + 8;
  x[11] = 5;
  ASKS(1);
  CHECK(y[3] == 10 && sum[3] == 21);
  xs.owner = y;
  ASKS(1);
  ASKS(0);
  dsum.type = 5;
  ASKS(1);
  ASKS(0);
  Storage moved = sums;
  dsum.storage = &moved;
  ASKS(0);
  /* It is replaced while it is asked: the next call goes by what it is then. */
  float late[8] = {0};
  Storage latest = {late, late};
  const float before = sum[3];
  replaced = &dsum;
  replacing = &latest;
  dsum.type = 6;
  ASKS(1);
  CHECK(sum[3] == before + 5 && late[3] == 0);
  ASKS(1);
  CHECK(sum[3] == before + 5 && late[3] == 5);
  ASKS(0);
  dsum.storage = &moved;
  ASKS(1);
  if (checks) {
#define REFUSED(what)                                                          \
  FAILS(luminal_repeat_call(repeat, objects), what, "");                       \
  FAILS(luminal_repeat_call(repeat, objects), what, "")
    dx.strides[0] = 1;
    REFUSED("'x' has another shape");
    dx.strides[0] = 4;
    dx.sizes[0] = 3;
    REFUSED("'x' has another shape");
    dx.sizes[0] = 2;
    dx.rank = 1;
    REFUSED("'x' has another shape");
    dx.rank = 2;
    dsum.type = 2;
    REFUSED("'sum' has another element type");
    dsum.type = 4;
    REFUSED("'sum' has another shape");
    dsum.type = 5;
    twin.kind = &other;
    /* Nothing else is read of it. */
    twin.described = NULL;
    REFUSED("'x' is not a tensor");
    twin = input;
    ASKS(2);
    ASKS(0);
    dx.type = 3; /* Its strides lie elsewhere. */
    ASKS(1);
    ASKS(1);
    CHECK(sum[3] > 21);
#undef REFUSED
  }
#undef ASKS
  luminal_repeat_free(repeat);
}

void callOnObjects(const luminal_artifact *artifact) {
  callKnown(artifact, false);
  callKnown(artifact, true);
  callObjects(artifact);
  callRepeated(artifact);
  callLists(artifact);
  callChecked(artifact);
}
