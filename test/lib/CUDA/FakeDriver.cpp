//===- FakeDriver.cpp - A CUDA driver without a GPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeState.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>

using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

Fake &cuda::fake() {
  static Fake fake;
  return fake;
}

static double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
namespace luminal::runtime::cuda {
struct ContextStruct {};
struct FunctionStruct : Function {
  /// Bytes of dynamic shared memory that a block may request, in addition to
  /// the 16 static bytes of each function.
  unsigned allowedShared = (48 << 10) - 16;
};
struct ModuleStruct {
  std::map<std::string, FunctionStruct> functions;
};
struct EventStruct {
  double time = 0;
  /// The stream that recorded the event last, the number of recordings, and the
  /// number of those reached.
  StreamStruct *stream = nullptr;
  uint64_t recorded = 0, reached = 0;
};
struct StreamStruct {
  std::deque<std::function<int()>> queue;
  /// The graph that captures the stream's work, which is added after `last`.
  GraphStruct *captured = nullptr;
  std::vector<NodeStruct *> last;
  int captureMode = 0;
  bool isInvalid = false;
};
/// Type of nodes whose work is not a kernel.
constexpr int kOtherNode = 1;
struct NodeStruct {
  int type;
  std::function<int()> run;
  unsigned grid;
  std::vector<NodeStruct *> before;
  /// The nodes in `before` that this node only waits to start for.
  std::vector<NodeStruct *> programmatic;
};
struct UserObjectStruct {
  void *value;
  void (*destroy)(void *);
  unsigned references;
};
struct GraphStruct {
  std::vector<NodeStruct *> nodes;
  std::vector<UserObjectStruct *> owned;
};
struct ExecStruct {
  std::vector<UserObjectStruct *> owned;
  std::vector<NodeStruct> nodes; ///< `before` by number, in `order`.
  std::vector<std::vector<size_t>> before;
};
} // namespace luminal::runtime::cuda

static StreamHandle orDefault(StreamHandle stream) {
  static StreamStruct usual;
  return stream && stream != kLegacyStream ? stream : &usual;
}

static int add(StreamHandle stream, std::function<int()> work,
               int type = kOtherNode) {
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  stream = orDefault(stream);
  if (GraphStruct *graph = stream->captured) {
    auto *node = new NodeStruct{type, std::move(work), 0, stream->last, {}};
    graph->nodes.push_back(node);
    stream->last = {node};
    return kSuccess;
  }
  stream->queue.push_back(std::move(work));
  return kSuccess;
}

static thread_local std::vector<ContextHandle> contextsOfThread;
/// What captures forbid depends on this thread's mode. A violation ends the
/// captures.
static thread_local int captureModeOfThread = 0;
static bool isForbidden() {
  bool found = false;
  for (StreamHandle stream : fake().streams)
    if (stream->captured && captureModeOfThread == 0 &&
        stream->captureMode == 0)
      found = stream->isInvalid = true;
  return found;
}
constexpr int kCaptureUnsupported = 900;

int cuda::fakeWork(StreamHandle stream, std::function<int()> work) {
  return add(stream, std::move(work));
}

uint8_t *cuda::fakeMemory(DevicePointer memory, size_t bytes) {
  return fake().translate(memory, bytes);
}

/// Runs the work of a stream in order, until `isDone` if it is given.
static int drain(StreamHandle stream,
                 const std::function<bool()> &isDone = nullptr) {
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  stream = orDefault(stream);
  if (stream->captured)
    return kInvalidValue;
  int result = kSuccess;
  while (!stream->queue.empty() && !(isDone && isDone())) {
    std::function<int()> work = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (int code = work(); result == kSuccess)
      result = code;
  }
  return result;
}

/// Runs work until recording `count` of the event is reached.
static int drainUntil(EventHandle event, StreamHandle stream, uint64_t count) {
  return stream ? drain(stream, [=] { return event->reached >= count; })
                : static_cast<int>(kSuccess);
}

static Launch getLaunch(FunctionHandle function, void **parameters) {
  Launch launch{function, 0, 0, nullptr};
  std::memcpy(&launch.buffers, parameters[0], 8);
  std::memcpy(&launch.symbols, parameters[1], 8);
  std::memcpy(&launch.status, parameters[2], 8);
  return launch;
}

static UserLaunch getUserLaunch(void **parameters) {
  UserLaunch launch{};
  std::memcpy(&launch.x, parameters[0], 8);
  std::memcpy(&launch.y, parameters[1], 8);
  std::memcpy(&launch.n, parameters[2], 8);
  std::memcpy(&launch.factor, parameters[3], 4);
  return launch;
}

/// Runs all nodes, each as soon as those before it have run, choosing the last
/// ready node first.
static int runGraph(const ExecStruct &exec) {
  std::vector<bool> done(exec.nodes.size());
  for (size_t left = exec.nodes.size(); left > 0; --left)
    for (size_t i = exec.nodes.size(); i-- > 0;) {
      if (done[i] || !std::all_of(exec.before[i].begin(), exec.before[i].end(),
                                  [&](size_t k) { return done[k]; }))
        continue;
      if (int code = exec.nodes[i].run())
        return code;
      done[i] = true;
      break;
    }
  return kSuccess;
}

extern "C" {
FakeCounts *luminalFakeCounts() { return &fake().counts; }

int cuInit(unsigned) { return static_cast<int>(fake().settings["init"]); }
int cuDriverGetVersion(int *version) {
  *version = static_cast<int>(fake().settings["version"]);
  return kSuccess;
}
int cuGetErrorName(int code, const char **text) {
  *text = code == kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                    : "CUDA_ERROR";
  return kSuccess;
}
int cuGetErrorString(int, const char **text) {
  *text = "said by the fake driver";
  return kSuccess;
}
int cuDeviceGetCount(int *count) {
  *count = static_cast<int>(fake().settings["count"]);
  return kSuccess;
}
int cuDeviceGet(DeviceId *device, int index) {
  *device = index;
  return kSuccess;
}
int cuDeviceGetName(char *name, int length, DeviceId) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(length));
  return kSuccess;
}
int cuDeviceGetAttribute(int *value, int attribute, DeviceId) {
  auto &settings = fake().settings;
  *value = static_cast<int>(
      attribute == kComputeCapabilityMajor   ? settings["major"]
      : attribute == kComputeCapabilityMinor ? settings["minor"]
      : attribute == kMultiprocessorCount    ? settings["multiprocessors"]
      : attribute == kClockKilohertz         ? settings["clock"]
      : attribute == kMemoryKilohertz        ? settings["memory_clock"]
      : attribute == kMemoryBits             ? settings["memory_bits"]
      : attribute == kCacheBytes             ? settings["cache"]
                                             : 232448);
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t *bytes, DeviceId) {
  *bytes = static_cast<size_t>(fake().settings["memory"]);
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceId) {
  static ContextStruct only;
  *context = &only;
  return kSuccess;
}
int cuCtxGetCurrent(ContextHandle *context) {
  *context = contextsOfThread.empty() ? nullptr : contextsOfThread.back();
  return kSuccess;
}
int cuCtxPushCurrent_v2(ContextHandle context) {
  contextsOfThread.push_back(context);
  return kSuccess;
}
int cuCtxPopCurrent_v2(ContextHandle *context) {
  if (contextsOfThread.empty())
    return kInvalidValue;
  *context = contextsOfThread.back();
  contextsOfThread.pop_back();
  return kSuccess;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  std::swap(*mode, captureModeOfThread);
  return kSuccess;
}

int cuMemAlloc_v2(DevicePointer *memory, size_t bytes) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  if (isForbidden())
    return kCaptureUnsupported;
  if (bytes == 0)
    return kInvalidValue;
  if (bytes > static_cast<size_t>(f.settings["memory"]) - f.used)
    return kOutOfMemory;
  void *at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!at)
    return kOutOfMemory;
  std::memset(at, 0xff, std::min<size_t>(bytes, 1 << 20));
  f.device[reinterpret_cast<uintptr_t>(at)] = bytes;
  f.used += bytes;
  ++f.counts.allocations;
  *memory = reinterpret_cast<uintptr_t>(at) | kTag;
  return kSuccess;
}
int cuMemFree_v2(DevicePointer memory) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  if (isForbidden())
    return kCaptureUnsupported;
  auto found = f.device.find(memory & ~kTag);
  if (!(memory & kTag) || found == f.device.end())
    return kInvalidValue;
  f.used -= found->second;
  std::free(reinterpret_cast<void *>(found->first));
  f.device.erase(found);
  --f.counts.allocations;
  return kSuccess;
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  if (isForbidden())
    return kCaptureUnsupported;
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*memory)
    return kOutOfMemory;
  f.pinned[reinterpret_cast<uintptr_t>(*memory)] = bytes;
  ++f.counts.allocations;
  return kSuccess;
}
int cuMemFreeHost(void *memory) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  if (!f.pinned.erase(reinterpret_cast<uintptr_t>(memory)))
    return kInvalidValue;
  std::free(memory);
  --f.counts.allocations;
  return kSuccess;
}
int cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from, size_t bytes,
                         StreamHandle stream) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  ++f.counts.copies;
  f.counts.bytesIn = bytes;
  uint8_t *at = f.translate(to, bytes);
  if (!at)
    return kInvalidValue;
  if (f.isPinned(from, bytes))
    return add(stream, [=] { return std::memcpy(at, from, bytes), kSuccess; });
  std::string now(static_cast<const char *>(from), bytes);
  return add(stream,
             [=] { return std::memcpy(at, now.data(), bytes), kSuccess; });
}
int cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes,
                         StreamHandle stream) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  ++f.counts.copies;
  uint8_t *at = f.translate(from, bytes);
  if (!at)
    return kInvalidValue;
  add(stream, [=] { return std::memcpy(to, at, bytes), kSuccess; });
  return f.isPinned(to, bytes) ? static_cast<int>(kSuccess) : drain(stream);
}
int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes,
                         StreamHandle stream) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  ++f.counts.copies;
  uint8_t *target = f.translate(to, bytes), *source = f.translate(from, bytes);
  if (!target || !source)
    return kInvalidValue;
  return add(stream,
             [=] { return std::memmove(target, source, bytes), kSuccess; });
}
int cuPointerGetAttributes(unsigned count, int *attributes, void **values,
                           DevicePointer memory) {
  Fake &f = fake();
  std::lock_guard<std::recursive_mutex> lock(f.mutex);
  ++f.counts.pointerQueries;
  const bool isDevice = f.translate(memory, 0);
  const bool isKnown =
      isDevice || f.isPinned(reinterpret_cast<void *>(memory), 0);
  for (unsigned i = 0; i < count; ++i) {
    int answer = !isKnown || attributes[i] == kPointerDeviceOrdinal ? 0
                 : isDevice ? int(kMemoryTypeDevice)
                            : int(kMemoryTypeHost);
    std::memcpy(values[i], &answer, sizeof answer);
  }
  return kSuccess;
}

int cuModuleLoadDataEx(ModuleHandle *module, const void *image, unsigned count,
                       int *options, void **values) {
  std::string text(static_cast<const char *>(image));
  if (text.starts_with("bad")) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == kJitErrorLog)
        std::strcpy(static_cast<char *>(values[i]), "line 1: bad\n");
    return kInvalidPtx;
  }
  *module = new ModuleStruct;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string slashes, mark, name;
    FunctionStruct function;
    words >> slashes >> mark >> name >> function.op >> function.constant >>
        function.factor >> function.symbol;
    if (words && slashes == "//" && mark == "luminal-test")
      (*module)->functions[name] = function;
    if (slashes == "//" && mark == "luminal-user") {
      function.isUser = true;
      (*module)->functions[name] = function;
    }
  }
  return kSuccess;
}
int cuModuleUnload(ModuleHandle module) {
  delete module;
  return kSuccess;
}
int cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                        const char *name) {
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return kNotFound;
  *function = &found->second;
  return kSuccess;
}
int cuFuncGetAttribute(int *value, int, FunctionHandle function) {
  *value = static_cast<int>(function->allowedShared);
  return kSuccess;
}
int cuFuncSetAttribute(FunctionHandle function, int attribute, int value) {
  if (attribute == kFunctionMaxDynamicShared)
    function->allowedShared = static_cast<unsigned>(value);
  return kSuccess;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, FunctionHandle,
                                                int, size_t) {
  *blocks = static_cast<int>(fake().settings["occupancy"]);
  return kSuccess;
}

int cuStreamCreate(StreamHandle *stream, unsigned) {
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  *stream = new StreamStruct;
  fake().streams.insert(*stream);
  return kSuccess;
}
int cuStreamDestroy_v2(StreamHandle stream) {
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  fake().streams.erase(stream);
  delete stream;
  return kSuccess;
}
int cuStreamSynchronize(StreamHandle stream) { return drain(stream); }
int cuEventCreate(EventHandle *event, unsigned) {
  *event = new EventStruct;
  return kSuccess;
}
int cuEventDestroy_v2(EventHandle event) {
  delete event;
  return kSuccess;
}
int cuEventRecord(EventHandle event, StreamHandle stream) {
  event->stream = orDefault(stream);
  ++fake().counts.events;
  const uint64_t count = ++event->recorded;
  return add(stream, [=] {
    event->time = now();
    event->reached = count;
    return kSuccess;
  });
}
int cuEventQuery(EventHandle event) {
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  return event->reached == event->recorded ? kSuccess : kNotReady;
}
int cuEventSynchronize(EventHandle event) {
  return drainUntil(event, event->stream, event->recorded);
}
int cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  return add(stream, [event, from = event->stream, count = event->recorded] {
    return drainUntil(event, from, count);
  });
}
int cuStreamIsCapturing(StreamHandle stream, int *state) {
  const StreamStruct &of = *orDefault(stream);
  ++fake().counts.captureQueries;
  *state = !of.captured   ? kCaptureNone
           : of.isInvalid ? kCaptureInvalidated
                          : kCaptureActive;
  return kSuccess;
}
int cuStreamGetCaptureInfo_v2(StreamHandle stream, int *state,
                              unsigned long long *id, GraphHandle *graph,
                              const NodeHandle **dependences, size_t *count) {
  cuStreamIsCapturing(stream, state);
  if (*state != kCaptureActive)
    return kSuccess;
  *id = 1;
  *graph = stream->captured;
  *dependences = stream->last.data();
  *count = stream->last.size();
  return kSuccess;
}
int cuStreamUpdateCaptureDependencies(StreamHandle stream,
                                      NodeHandle *dependences, size_t count,
                                      unsigned flags) {
  if (!stream->captured || flags != kSetCaptureDependencies)
    return kInvalidValue;
  stream->last.assign(dependences, dependences + count);
  return kSuccess;
}
int cuEventElapsedTime(float *milliseconds, EventHandle start,
                       EventHandle end) {
  *milliseconds = static_cast<float>(end->time - start->time);
  return kSuccess;
}

int cuLaunchKernel(FunctionHandle function, unsigned grid, unsigned, unsigned,
                   unsigned block, unsigned, unsigned, unsigned shared,
                   StreamHandle stream, void **parameters, void **) {
  if (grid == 0 || block == 0 || shared > function->allowedShared)
    return kInvalidValue;
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  ++fake().counts.launches;
  if (function->isUser)
    return add(
        stream,
        [launch = getUserLaunch(parameters)] {
          return runUserFunction(launch);
        },
        kKernelNode);
  Launch launch = getLaunch(function, parameters);
  return add(stream, [=] { return runKernel(launch); }, kKernelNode);
}
int cuGraphCreate(GraphHandle *graph, unsigned) {
  *graph = new GraphStruct;
  return kSuccess;
}
int cuGraphAddKernelNode(NodeHandle *node, GraphHandle graph,
                         const NodeHandle *dependences, size_t count,
                         const KernelNode *parameters) {
  if (parameters->gridX == 0 || parameters->blockX == 0 ||
      parameters->shared > parameters->function->allowedShared)
    return kInvalidValue;
  Launch launch = getLaunch(parameters->function, parameters->parameters);
  *node = new NodeStruct{kKernelNode,
                         [=] { return runKernel(launch); },
                         parameters->gridX,
                         {dependences, dependences + count},
                         {}};
  graph->nodes.push_back(*node);
  return kSuccess;
}
int cuGraphAddDependencies_v2(GraphHandle graph, const NodeHandle *from,
                              const NodeHandle *to, const GraphEdge *edges,
                              size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto has = [&](NodeHandle node) {
      return std::find(graph->nodes.begin(), graph->nodes.end(), node) !=
             graph->nodes.end();
    };
    // Only kinds of edges that the runtime creates.
    if (!has(from[i]) || !has(to[i]) ||
        std::memcmp(&edges[i], &kProgrammaticEdge, sizeof(GraphEdge)) != 0)
      return kInvalidValue;
    to[i]->before.push_back(from[i]);
    to[i]->programmatic.push_back(from[i]);
  }
  return kSuccess;
}
int cuGraphAddChildGraphNode(NodeHandle *node, GraphHandle graph,
                             const NodeHandle *dependences, size_t count,
                             GraphHandle child) {
  // Make a copy, because the child graph may be destroyed.
  std::vector<std::function<int()>> all;
  for (NodeStruct *inner : child->nodes)
    all.push_back(inner->run);
  auto run = [all] {
    for (auto &work : all)
      if (int code = work())
        return code;
    return static_cast<int>(kSuccess);
  };
  *node = new NodeStruct{
      kOtherNode, run, 0, {dependences, dependences + count}, {}};
  graph->nodes.push_back(*node);
  return kSuccess;
}
int cuGraphAddEventRecordNode(NodeHandle *node, GraphHandle graph,
                              const NodeHandle *dependences, size_t count,
                              EventHandle event) {
  auto run = [event] {
    event->time = now();
    return static_cast<int>(kSuccess);
  };
  *node = new NodeStruct{
      kOtherNode, run, 0, {dependences, dependences + count}, {}};
  graph->nodes.push_back(*node);
  return kSuccess;
}
int cuGraphNodeGetType(NodeHandle node, int *type) {
  *type = node->type;
  return kSuccess;
}
static void retain(UserObjectHandle object, unsigned references) {
  object->references += references;
}
int cuUserObjectRelease(UserObjectHandle object, unsigned references) {
  object->references -= references;
  if (object->references == 0) {
    object->destroy(object->value);
    delete object;
  }
  return kSuccess;
}
int cuUserObjectCreate(UserObjectHandle *object, void *value,
                       void (*destroy)(void *), unsigned references, unsigned) {
  *object = new UserObjectStruct{value, destroy, references};
  return kSuccess;
}
int cuGraphRetainUserObject(GraphHandle graph, UserObjectHandle object,
                            unsigned references, unsigned flags) {
  if (references != 1)
    return kInvalidValue;
  graph->owned.push_back(object);
  if (flags != kMoveUserObject)
    retain(object, 1);
  return kSuccess;
}
int cuStreamBeginCapture_v2(StreamHandle stream, int mode) {
  // Work that the stream received earlier is not part of the capture.
  if (stream->captured)
    return kInvalidValue;
  stream->captureMode = mode;
  stream->isInvalid = false;
  stream->last.clear();
  return cuGraphCreate(&stream->captured, 0);
}
int cuStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  if (!stream->captured)
    return kInvalidValue;
  *graph = std::exchange(stream->captured, nullptr);
  stream->last.clear();
  return stream->isInvalid ? kCaptureUnsupported : int(kSuccess);
}
int cuGraphInstantiateWithFlags(ExecHandle *exec, GraphHandle graph,
                                unsigned long long) {
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  FakeCounts &counts = fake().counts;
  ++counts.graphs;
  counts.grids.clear();
  counts.edges.clear();
  counts.programmatic.clear();
  *exec = new ExecStruct;
  std::map<NodeStruct *, size_t> numbers;
  for (NodeStruct *node : graph->nodes) {
    const size_t number = numbers.size();
    numbers[node] = number;
    (*exec)->nodes.push_back(*node);
    auto &before = (*exec)->before.emplace_back();
    for (NodeStruct *earlier : node->before) {
      before.push_back(numbers.at(earlier));
      counts.edges.push_back({int(numbers.at(earlier)), int(number)});
    }
    for (NodeStruct *earlier : node->programmatic)
      counts.programmatic.push_back({int(numbers.at(earlier)), int(number)});
    counts.grids.push_back(node->grid);
  }
  std::sort(counts.edges.begin(), counts.edges.end());
  (*exec)->owned = graph->owned;
  for (UserObjectStruct *object : graph->owned)
    retain(object, 1);
  return kSuccess;
}
int cuGraphLaunch(ExecHandle exec, StreamHandle stream) {
  std::lock_guard<std::recursive_mutex> lock(fake().mutex);
  ++fake().counts.graphLaunches;
  return add(stream, [=] { return runGraph(*exec); });
}
int cuGraphExecDestroy(ExecHandle exec) {
  for (UserObjectStruct *object : exec->owned)
    cuUserObjectRelease(object, 1);
  delete exec;
  return kSuccess;
}
int cuGraphDestroy(GraphHandle graph) {
  for (UserObjectStruct *object : graph->owned)
    cuUserObjectRelease(object, 1);
  for (NodeStruct *node : graph->nodes)
    delete node;
  delete graph;
  return kSuccess;
}
} // extern "C"
