//===- CUDALaunchPlan.cpp - Runs all steps as one CUDA graph --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CUDALaunchPlan.h"
#include "../Dependences.h"
#include "luminal/Runtime/CudaFeatures.h"
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

/// Maximum number of graphs that a plan caches, by the sizes and addresses
/// passed to libraries.
static constexpr size_t kMostGraphs = 16;
/// Number of argument tables in a plan with one kernel.
static constexpr size_t kMostTables = 16;
/// The second launch with the same table builds a graph. Replacing the graph of
/// another launch waits for it, so that happens only at the 32nd.
static constexpr unsigned kComesAgain = 2, kComesOften = 32;
/// Maximum number of calls with new tables in flight; number of upload buffers
/// that are allocated at once.
static constexpr size_t kMostUploads = 1024, kUploadsOfBlock = 16;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<LaunchPlan>>
CUDADevice::createPlan(const Manifest &manifest,
                       std::span<const KernelHandle> kernels, unsigned) {
  return CUDALaunchPlan::create(*this, manifest, kernels);
}

Result<std::unique_ptr<LaunchPlan>>
CUDALaunchPlan::create(CUDADevice &device, const Manifest &manifest,
                       std::span<const KernelHandle> kernels) {
  std::unique_ptr<CUDALaunchPlan> plan(new CUDALaunchPlan(device, manifest));
  LUMINAL_CHECK(plan->initialize(kernels));
  return std::unique_ptr<LaunchPlan>(std::move(plan));
}

Status CUDALaunchPlan::initialize(std::span<const KernelHandle> kernels) {
  CUDADevice::Current current(device);
  LUMINAL_CHECK(
      driver.check(driver.streamCreate(&ownStream, kStreamNonBlocking),
                   "a stream cannot be created"));
  stream = ownStream;
  auto createEvent = [&](EventHandle &event, unsigned flags) {
    return driver.check(driver.eventCreate(&event, flags),
                        "an event cannot be created");
  };
  for (EventHandle &event : events)
    LUMINAL_CHECK(createEvent(event, 0));
  LUMINAL_CHECK(createEvent(deferred, kEventWithoutTime));
  steps.resize(manifest.steps.size());
  if (!status.reserve(device, steps.size() * sizeof(int32_t),
                      Device::Place::Host))
    return Error("out of memory for the kernels' argument tables");
  std::memset(status.data(), 0, steps.size() * sizeof(int32_t));

  size_t firstBuffer = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    const StepSpec &spec = manifest.steps[i];
    step.firstBuffer = firstBuffer;
    firstBuffer += spec.buffers.size();
    LUMINAL_TRY(library, LibraryStep::create(device, spec, kernels[i]));
    if (library) {
      step.library = std::move(library);
      hasLibraries = true;
      continue;
    }
    const auto &launch = std::get<CUDALaunch>(spec.launch);
    step.function = static_cast<FunctionHandle>(kernels[i]);
    constexpr int64_t mostThreads = 1024;
    if (launch.block < 1 || launch.block > mostThreads)
      return Error(describe(i) + ": has blocks of " +
                   std::to_string(launch.block) + " threads");
    step.block = static_cast<unsigned>(launch.block);
    step.active = !launch.work.isConstant(0);
    step.status = reinterpret_cast<int32_t *>(status.data()) + i;
    step.parameters[0] = &step.buffers;
    step.parameters[1] = &step.symbols;
    step.parameters[2] = &step.status;
  }
  tableWords = manifest.symbols.size() + firstBuffer;
  return initializeTables();
}

Status CUDALaunchPlan::initializeTables() {
  std::vector<uint32_t> active;
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (steps[i].active)
      active.push_back(i);
  if (active.size() == 1 && !steps[active.front()].library)
    onlyKernel = active.front();
  const size_t count = onlyKernel ? kMostTables : 1;
  if (!tables.reserve(device, count * tableWords * 8))
    return Error("out of memory for the kernels' argument tables");
  for (size_t i = 0; i < count; ++i)
    contents.emplace_back().number = i;
  useTables(0);
  return {};
}

void CUDALaunchPlan::useTables(size_t which) {
  usedTable = which;
  const DevicePointer first = toDevice(tables.data()) + which * tableWords * 8;
  for (Step &step : steps) {
    step.symbols = first;
    step.buffers = first + 8 * (manifest.symbols.size() + step.firstBuffer);
  }
}

CUDALaunchPlan::~CUDALaunchPlan() {
  CUDADevice::Current current(device);
  if (isDeferred && isRecorded)
    driver.eventSynchronize(deferred);
  else if (isDeferred)
    driver.streamSynchronize(stream);
  if (ownStream)
    driver.streamSynchronize(ownStream);
  for (Graph &graph : graphs)
    drop(graph);
  for (Table &table : contents)
    drop(table.graph);
  auto destroy = [&](EventHandle event) {
    if (event)
      driver.eventDestroy(event);
  };
  for (EventHandle event : events)
    destroy(event);
  destroy(deferred);
  for (Upload &upload : uploads)
    destroy(upload.done);
  if (ownStream)
    driver.streamDestroy(ownStream);
}

std::string CUDALaunchPlan::describe(uint32_t step) const {
  const StepSpec &spec = manifest.steps[step];
  return "step " + std::to_string(step) + " (" + spec.name + ", " +
         (getLibraryName(spec.launch).empty() ? "kernel " : "") +
         std::string(spec.getCodeName()) + ")";
}

uint64_t CUDALaunchPlan::getMemoryBytes() const {
  uint64_t bytes = tables.size() + status.size() + staging.getMemoryBytes();
  for (const Memory &block : uploadBlocks)
    bytes += block.size();
  return bytes;
}

//===----------------------------------------------------------------------===//
// Sizes and memory
//===----------------------------------------------------------------------===//

Status CUDALaunchPlan::setSizes(std::span<const int64_t> newSymbols,
                                std::span<const int64_t> launches) {
  symbols = newSymbols;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    size_t count = 0;
    visitExprs(manifest.steps[i].launch,
               [&](std::string_view, const Expr &) { ++count; });
    step.values = launches.first(count);
    launches = launches.subspan(count);
    const std::span<const int64_t> values = step.values;
    step.work = values[0];
    if (step.library)
      continue;
    // The launch expressions of a kernel: work, grid, shared.
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    // Kernels work with any grid; clamp it to what the driver accepts.
    step.grid = static_cast<unsigned>(std::clamp<int64_t>(values[1], 1, most));
    if (values[2] > device.getMostShared())
      return Error(describe(i) + ": needs " + std::to_string(values[2]) +
                   " bytes of shared memory, the device has " +
                   std::to_string(device.getMostShared()));
    step.shared = static_cast<unsigned>(values[2]);
  }
  tablesChanged = keyChanged = true;
  return {};
}

Status CUDALaunchPlan::setBuffers(std::span<void *const> newBuffers) {
  buffers = newBuffers;
  tablesChanged = true;
  keyChanged |= hasLibraries;
  return {};
}

/// Returns pinned memory for the contents of a table, whose previous copy has
/// completed.
Result<CUDALaunchPlan::Upload> CUDALaunchPlan::takeUpload() {
  bool isFree = !uploads.empty() && !uploads.front().isPending;
  if (!uploads.empty() && !isFree) {
    // Copies complete in order.
    int code = driver.eventQuery(uploads.front().done);
    if (code == kNotReady && uploads.size() >= kMostUploads)
      code = driver.eventSynchronize(uploads.front().done);
    if (code != kNotReady)
      LUMINAL_CHECK(driver.check(code, "a call failed"));
    isFree = code == kSuccess;
  }
  if (!isFree) {
    Memory &block = uploadBlocks.emplace_back();
    if (!block.reserve(device, kUploadsOfBlock * tableWords * 8,
                       Device::Place::Host)) {
      uploadBlocks.pop_back();
      return Error("out of memory for the kernels' argument tables");
    }
    for (size_t i = 0; i < kUploadsOfBlock; ++i) {
      uploads.push_front({block.data() + i * tableWords * 8});
      LUMINAL_CHECK(driver.check(
          driver.eventCreate(&uploads.front().done, kEventWithoutTime),
          "an event cannot be created"));
    }
  }
  Upload taken = uploads.front();
  uploads.pop_front();
  taken.isPending = false;
  return taken;
}

/// The range of words that differ from those in the table; all words if its
/// contents are unknown. Typically one address out of thousands changes.
static std::pair<size_t, size_t>
findChanged(const std::vector<uint64_t> &known,
            const std::vector<uint64_t> &wanted) {
  if (known.size() != wanted.size())
    return {0, wanted.size()};
  const auto first =
      std::mismatch(known.begin(), known.end(), wanted.begin()).first;
  const auto last =
      std::mismatch(known.rbegin(), known.rend(), wanted.rbegin()).first;
  return {first - known.begin(), known.rend() - last};
}

Status CUDALaunchPlan::uploadTables() {
  if (!tablesChanged || tableWords == 0)
    return {};
  wanted.resize(tableWords);
  auto rest = std::transform(
      symbols.begin(), symbols.end(), wanted.begin(),
      [](int64_t symbol) { return static_cast<uint64_t>(symbol); });
  std::transform(buffers.begin(), buffers.end(), rest, toDevice);
  auto found =
      std::find_if(contents.begin(), contents.end(),
                   [&](const Table &table) { return table.words == wanted; });
  const bool isKnown = found != contents.end();
  // Otherwise replace the least recently used table. Launches that read it are
  // ordered before the copy.
  contents.splice(contents.begin(), contents,
                  isKnown ? found : std::prev(contents.end()));
  Table &table = contents.front();
  if (usedTable != table.number)
    useTables(table.number);
  tablesChanged = false;
  if (isKnown)
    return {};
  const auto [first, last] = findChanged(table.words, wanted);
  table.words.clear();
  LUMINAL_TRY(upload, takeUpload());
  const size_t bytes = (last - first) * 8;
  std::memcpy(upload.host, wanted.data() + first, bytes);
  inFlight = true;
  int code = device.start(
      {upload.host, tables.data() + (table.number * tableWords + first) * 8,
       bytes, Copy::Kind::In},
      stream);
  // On the plan's own stream, each call waits for its end.
  upload.isPending = stream != ownStream;
  if (code == kSuccess && upload.isPending)
    code = driver.eventRecord(upload.done, stream);
  uploads.push_back(upload);
  if (code == kSuccess)
    table.words.swap(wanted);
  return driver.check(code, "the kernels' argument tables cannot be copied");
}

Status CUDALaunchPlan::setStream(std::optional<CallerStream> caller) {
  auto *chosen = caller ? static_cast<StreamHandle>(*caller) : ownStream;
  if (!caller && stream == chosen && !isDeferred)
    return {};
  // The next call uses the memory of the call in flight.
  if (isDeferred && stream != chosen) {
    CUDADevice::Current current(device);
    int code =
        isRecorded ? int(kSuccess) : driver.eventRecord(deferred, stream);
    isRecorded = true;
    if (code == kSuccess)
      code = driver.streamWaitEvent(chosen, deferred, 0);
    LUMINAL_CHECK(driver.check(code, "the stream cannot be used"));
  }
  stream = chosen;
  return {};
}

Status CUDALaunchPlan::defer() {
  isDeferred = true;
  // The default stream cannot be destroyed, so the event is recorded only when
  // it is needed.
  isRecorded = stream && stream != kLegacyStream;
  if (!isRecorded && !staging.isWaiting())
    return {};
  CUDADevice::Current current(device);
  LUMINAL_CHECK(driver.check(staging.flush(stream), "a copy failed"));
  return isRecorded ? driver.check(driver.eventRecord(deferred, stream),
                                   "a call failed")
                    : Status();
}

Status CUDALaunchPlan::copy(std::span<const Copy> copies) {
  CUDADevice::Current current(device);
  inFlight = true;
  for (const Copy &copy : copies)
    LUMINAL_CHECK(driver.check(staging.start(copy, stream), "a copy failed"));
  return {};
}

Status CUDALaunchPlan::wait(const char *what) {
  Status done = driver.check(driver.streamSynchronize(stream), what);
  inFlight = isDeferred = false;
  return done;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void CUDALaunchPlan::drop(Graph &graph) {
  if (graph.exec)
    driver.graphExecDestroy(graph.exec);
  if (graph.graph)
    driver.graphDestroy(graph.graph);
  graph.exec = nullptr;
  graph.graph = nullptr;
  graph.key.clear();
}

Status CUDALaunchPlan::allowShared(uint32_t index) {
  Step &step = steps[index];
  // The default limit includes the kernel's static shared memory.
  if (step.shared <= step.allowedShared)
    return {};
  if (Status allowed = device.allowShared(step.function, step.shared); !allowed)
    return allowed.takeError().within(describe(index));
  step.allowedShared = step.shared;
  return {};
}

unsigned CUDALaunchPlan::getGraphGrid(const Step &step,
                                      const CUDALaunch &launch) const {
  if (launch.grid.asConstant())
    return step.grid;
  // The graph also serves larger sizes later: use enough blocks to fill the
  // device, but no more than can ever have work.
  int blocks = 1;
  if (driver.occupancy(&blocks, step.function, static_cast<int>(step.block),
                       step.shared) != kSuccess ||
      blocks < 1)
    blocks = 1;
  int64_t grid = std::max<int64_t>(step.grid, int64_t(blocks) *
                                                  device.getMultiprocessors());
  std::map<std::string, SymbolRange> ranges;
  for (const SymbolSpec &symbol : manifest.symbols)
    ranges[symbol.name] = symbol.range;
  if (auto most = Assumptions(std::move(ranges)).upperBound(launch.grid))
    grid = std::min(grid, std::max<int64_t>(*most, step.grid));
  return static_cast<unsigned>(grid);
}

std::vector<int64_t> CUDALaunchPlan::getGraphKey() const {
  std::vector<int64_t> key;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    if (!step.active)
      continue;
    if (!step.library) {
      key.push_back(step.shared);
      continue;
    }
    key.insert(key.end(), step.values.begin(), step.values.end());
    for (size_t k = 0; k < manifest.steps[i].buffers.size(); ++k)
      key.push_back(
          static_cast<int64_t>(toDevice(buffers[step.firstBuffer + k])));
  }
  return key;
}

Status CUDALaunchPlan::prepareLibrary(uint32_t index) {
  Step &step = steps[index];
  Status status = step.library->prepare(
      step.values,
      buffers.subspan(step.firstBuffer, manifest.steps[index].buffers.size()),
      ownStream);
  return status ? Status() : status.takeError().within(describe(index));
}

/// Captures the work that the library submits, and adds it as one child node.
Status CUDALaunchPlan::addLibraryNode(uint32_t index, GraphHandle graph,
                                      std::span<const NodeHandle> before,
                                      NodeHandle *node) {
  LUMINAL_CHECK(prepareLibrary(index));
  const std::string where = describe(index) + ": cannot be part of a graph";
  if (int code = driver.streamBeginCapture(ownStream, kCaptureThreadLocal);
      code != kSuccess)
    return driver.error(where, code);
  Status started = steps[index].library->start(ownStream);
  GraphHandle child = nullptr;
  int code = driver.streamEndCapture(ownStream, &child);
  if (started && code == kSuccess)
    code = driver.graphAddChildGraphNode(node, graph, before.data(),
                                         before.size(), child);
  // The node holds a copy of the child graph.
  if (child)
    driver.graphDestroy(child);
  if (!started)
    return started.takeError().within(describe(index));
  return code == kSuccess ? Status() : driver.error(where, code);
}

Status CUDALaunchPlan::addNode(uint32_t index, GraphHandle graph,
                               std::span<const NodeHandle> before,
                               NodeHandle *node) {
  Step &step = steps[index];
  if (step.library)
    return addLibraryNode(index, graph, before, node);
  const auto &launch = std::get<CUDALaunch>(manifest.steps[index].launch);
  return addKernelNode(index, graph, getGraphGrid(step, launch), before, node);
}

Status CUDALaunchPlan::addKernelNode(uint32_t index, GraphHandle graph,
                                     unsigned grid,
                                     std::span<const NodeHandle> before,
                                     NodeHandle *node) {
  Step &step = steps[index];
  LUMINAL_CHECK(allowShared(index));
  KernelNode kernel{step.function,   grid,   1, 1,
                    step.block,      1,      1, step.shared,
                    step.parameters, nullptr};
  int code = driver.graphAddKernelNode(node, graph, before.data(),
                                       before.size(), &kernel);
  return code == kSuccess
             ? Status()
             : driver.error(describe(index) + ": cannot be part of a graph",
                            code);
}

Status CUDALaunchPlan::addNodes(GraphHandle graph,
                                std::span<const NodeHandle> roots,
                                std::vector<NodeHandle> &ends) {
  // A kernel without work exits by itself, so the graph serves all sizes. A
  // library step without work is left out.
  std::vector<bool> active;
  for (const Step &step : steps)
    active.push_back(step.active && (!step.library || step.work > 0));
  std::vector<std::vector<uint32_t>> edges = planDependences(manifest, active);
  std::vector<NodeHandle> nodes(steps.size()), before;
  std::vector<bool> isEnd = active;
  int rootType = -1;
  if (roots.size() == 1)
    LUMINAL_CHECK(driver.check(
        driver.graphNodeGetType(roots.front(), &rootType),
        "the graph that the stream is captured into cannot be read"));
  const auto &features = manifest.target.features;
  const bool waits = driver.graphAddDependencies &&
                     std::find(features.begin(), features.end(),
                               kWaitsForSteps) != features.end();
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (!active[i])
      continue;
    before.clear();
    for (uint32_t earlier : edges[i]) {
      before.push_back(nodes[earlier]);
      isEnd[earlier] = false;
    }
    const bool isRoot = before.empty();
    if (isRoot)
      before.assign(roots.begin(), roots.end());
    // With a single predecessor, a kernel may be launched before that one ends.
    const bool early =
        waits && before.size() == 1 && !steps[i].library &&
        (isRoot ? rootType == kKernelNode : !steps[edges[i].front()].library);
    std::span<const NodeHandle> full(before);
    LUMINAL_CHECK(addNode(i, graph, early ? full.first(0) : full, &nodes[i]));
    if (early)
      LUMINAL_CHECK(driver.check(
          driver.graphAddDependencies(graph, before.data(), &nodes[i],
                                      &kProgrammaticEdge, 1),
          "a graph cannot be created"));
  }
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (isEnd[i])
      ends.push_back(nodes[i]);
  if (ends.empty())
    ends.assign(roots.begin(), roots.end());
  return {};
}

Status CUDALaunchPlan::build(Graph &made) {
  ++captures;
  LUMINAL_CHECK(driver.check(driver.graphCreate(&made.graph, 0),
                             "a graph cannot be created"));
  std::vector<NodeHandle> ends;
  LUMINAL_CHECK(addNodes(made.graph, {}, ends));
  return driver.check(driver.graphInstantiate(&made.exec, made.graph, 0),
                      "a graph cannot be created");
}

Status CUDALaunchPlan::buildGraph() {
  if (!keyChanged && !graphs.empty())
    return {};
  std::vector<int64_t> key = getGraphKey();
  auto known = std::find_if(graphs.begin(), graphs.end(),
                            [&](const Graph &g) { return g.key == key; });
  if (known != graphs.end()) {
    graphs.splice(graphs.begin(), graphs, known);
  } else {
    if (graphs.size() == kMostGraphs) {
      if (inFlight)
        LUMINAL_CHECK(wait("a call failed"));
      drop(graphs.back());
      graphs.pop_back();
    }
    // Preparing a library step may use the step's workspace.
    if (stream != ownStream)
      LUMINAL_CHECK(wait("a call failed"));
    graphs.push_front({std::move(key)});
    if (Status built = build(graphs.front()); !built) {
      drop(graphs.front());
      graphs.pop_front();
      return built;
    }
    if (stream != ownStream)
      LUMINAL_CHECK(driver.check(driver.streamSynchronize(ownStream),
                                 "a graph cannot be created"));
  }
  keyChanged = false;
  return {};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Status CUDALaunchPlan::launch(StepObserver *observer) {
  CUDADevice::Current current(device);
  LUMINAL_CHECK(driver.check(staging.flush(stream), "a copy failed"));
  LUMINAL_CHECK(uploadTables());
  if (observer)
    return launchStepByStep(*observer);
  LUMINAL_CHECK(makeReady());
  return start();
}

Status CUDALaunchPlan::makeReady() {
  return onlyKernel      ? allowShared(*onlyKernel)
         : steps.empty() ? Status()
                         : buildGraph();
}

Status CUDALaunchPlan::start() {
  if (steps.empty())
    return {};
  inFlight = true;
  if (!onlyKernel)
    return driver.check(driver.graphLaunch(graphs.front().exec, stream),
                        "a graph cannot be launched");
  return steps[*onlyKernel].work == 0 ? Status() : launchOnly(*onlyKernel);
}

Status CUDALaunchPlan::launchOnly(uint32_t index) {
  Step &step = steps[index];
  Table &table = contents.front();
  const int64_t key[] = {step.grid, step.shared};
  if (!std::equal(table.key.begin(), table.key.end(), std::begin(key),
                  std::end(key))) {
    table.key.assign(std::begin(key), std::end(key));
    table.launches = 0;
  }
  const unsigned worth = table.graph.exec ? kComesOften : kComesAgain;
  if (table.graph.key != table.key && ++table.launches >= worth)
    LUMINAL_CHECK(buildOnly(index, table));
  const int code = table.graph.key == table.key
                       ? driver.graphLaunch(table.graph.exec, stream)
                       : driver.launchKernel(step.function, step.grid, 1, 1,
                                             step.block, 1, 1, step.shared,
                                             stream, step.parameters, nullptr);
  return code == kSuccess ? Status() : driver.error(describe(index), code);
}

Status CUDALaunchPlan::buildOnly(uint32_t index, Table &table) {
  if (table.graph.exec) {
    // The old graph may still be running.
    LUMINAL_CHECK(wait("a call failed"));
    inFlight = true;
    drop(table.graph);
  }
  ++captures;
  Graph &made = table.graph;
  NodeHandle node = nullptr;
  Status status = driver.check(driver.graphCreate(&made.graph, 0),
                               "a graph cannot be created");
  if (status)
    status = addKernelNode(index, made.graph, steps[index].grid, {}, &node);
  if (status)
    status = driver.check(driver.graphInstantiate(&made.exec, made.graph, 0),
                          "a graph cannot be created");
  if (!status)
    drop(made);
  else
    made.key = table.key;
  return status;
}

/// The tables belong to this capture and serve all of its replays, so they are
/// written immediately, on the plan's stream.
Status CUDALaunchPlan::capture(CallerStream caller,
                               std::span<const Copy> before,
                               std::span<const Copy> after) {
  CUDADevice::Current current(device);
  auto *captured = static_cast<StreamHandle>(caller);
  LUMINAL_CHECK(uploadTables());
  LUMINAL_CHECK(wait("a call failed"));
  auto copyAll = [&](std::span<const Copy> copies) {
    int code = kSuccess;
    for (const Copy &copy : copies)
      if (code == kSuccess)
        code = device.start(copy, captured);
    return driver.check(code, "a copy cannot be captured");
  };
  LUMINAL_CHECK(copyAll(before));
  LUMINAL_TRY(into, device.getCapture(captured));
  std::vector<NodeHandle> ends;
  LUMINAL_CHECK(addNodes(into.graph, into.last, ends));
  LUMINAL_CHECK(driver.check(
      driver.streamUpdateCaptureDependencies(captured, ends.data(), ends.size(),
                                             kSetCaptureDependencies),
      CUDADevice::kCaptureError));
  return copyAll(after);
}

Status CUDALaunchPlan::launchStepByStep(StepObserver &observer) {
  LUMINAL_CHECK(wait("a call failed"));
  for (uint32_t i = 0; i < steps.size(); ++i) {
    observer.before(i, 1);
    double microseconds = 0;
    if (steps[i].work > 0) {
      Graph timed;
      Status done = runTimed(i, timed, microseconds);
      drop(timed);
      LUMINAL_CHECK(std::move(done));
    }
    LUMINAL_CHECK(checkStatus());
    LUMINAL_CHECK(observer.after(i, microseconds));
  }
  return {};
}

/// Times a step by event nodes around it in one graph. Between events on a
/// stream, the time would include the host, which takes longer to call a
/// library than many products take.
Status CUDALaunchPlan::runTimed(uint32_t index, Graph &made,
                                double &microseconds) {
  if (!steps[index].library)
    LUMINAL_CHECK(allowShared(index));
  NodeHandle start = nullptr, step = nullptr, end = nullptr;
  int code = driver.graphCreate(&made.graph, 0);
  if (code == kSuccess)
    code = driver.graphAddEventRecordNode(&start, made.graph, nullptr, 0,
                                          events[0]);
  LUMINAL_CHECK(driver.check(code, "a graph cannot be created"));
  LUMINAL_CHECK(addNode(index, made.graph, {&start, 1}, &step));
  code = driver.graphAddEventRecordNode(&end, made.graph, &step, 1, events[1]);
  if (code == kSuccess)
    code = driver.graphInstantiate(&made.exec, made.graph, 0);
  LUMINAL_CHECK(driver.check(code, "a graph cannot be created"));
  code = driver.graphLaunch(made.exec, stream);
  if (code == kSuccess)
    code = driver.streamSynchronize(stream);
  float milliseconds = 0;
  if (code == kSuccess)
    code = driver.eventElapsedTime(&milliseconds, events[0], events[1]);
  microseconds = double(milliseconds) * 1e3;
  return code == kSuccess ? Status() : driver.error(describe(index), code);
}

Status CUDALaunchPlan::finish() {
  CUDADevice::Current current(device);
  const int flushed = staging.flush(stream);
  Status done = wait("a call failed (luminal-run --debug names the step)");
  if (done)
    done = driver.check(flushed, "a copy failed");
  staging.finish(!done);
  return done ? checkStatus() : done;
}

Status CUDALaunchPlan::checkStatus() {
  auto *words = reinterpret_cast<volatile int32_t *>(status.data());
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (words[i] == 0)
      continue;
    for (size_t k = i; k < steps.size(); ++k)
      words[k] = 0;
    return stepFailed(manifest, i);
  }
  return {};
}

Result<double> CUDALaunchPlan::time(unsigned repeats) {
  CUDADevice::Current current(device);
  LUMINAL_CHECK(uploadTables());
  if (steps.empty() || repeats == 0)
    return 0.0;
  LUMINAL_CHECK(makeReady());
  int code = driver.eventRecord(events[0], stream);
  for (unsigned i = 0; i < repeats && code == kSuccess; ++i)
    LUMINAL_CHECK(start());
  if (code == kSuccess)
    code = driver.eventRecord(events[1], stream);
  LUMINAL_CHECK(driver.check(code, "a graph cannot be launched"));
  LUMINAL_CHECK(wait("a call failed"));
  LUMINAL_CHECK(checkStatus());
  float milliseconds = 0;
  LUMINAL_CHECK(
      driver.check(driver.eventElapsedTime(&milliseconds, events[0], events[1]),
                   "the time between events cannot be read"));
  return double(milliseconds) * 1e6 / repeats;
}
