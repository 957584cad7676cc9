//===- CUDALaunchPlan.h - Runs all steps as one CUDA graph ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel has three pointer parameters, which never change: to the addresses
// of its buffers, to the values of the symbols, and to a status word that it
// sets if an index is out of range. The first two are in one block of device
// memory (the tables), which is updated from pinned memory before a call if
// sizes or addresses changed; so one graph serves all sizes. Status words are
// in pinned host memory and written only on an error. On a stream of the
// caller, a call may be prepared while previous ones are in flight: the pinned
// memory is a queue of upload buffers, each of which is reused when its copy
// has completed.
//
// A plan with a single kernel has several tables, so that a caller whose
// addresses alternate between a few values uploads nothing. The kernel's
// parameters select the table of a launch. A repeated launch with the same
// table becomes a graph of its own, which halves the driver's time on host and
// device. If sizes change at each call, no graphs are built.
//
// The work of a library holds sizes and addresses. It is captured into the same
// graph, so a graph is cached for each combination of them (least recently used
// ones are evicted).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CUDA_CUDALAUNCHPLAN_H
#define LUMINAL_LIB_RUNTIME_CUDA_CUDALAUNCHPLAN_H

#include "CUDADevice.h"
#include "LibraryStep.h"
#include "Staging.h"
#include <deque>
#include <list>

namespace luminal::runtime::cuda {

class CUDALaunchPlan : public LaunchPlan {
public:
  static Result<std::unique_ptr<LaunchPlan>>
  create(CUDADevice &device, const Manifest &manifest,
         std::span<const KernelHandle> kernels);
  ~CUDALaunchPlan() override;

  Status setSizes(std::span<const int64_t> newSymbols,
                  std::span<const int64_t> launches) override;
  Status setBuffers(std::span<void *const> newBuffers) override;
  Status copy(std::span<const Copy> copies) override;
  Status launch(StepObserver *observer) override;
  Status finish() override;
  Status setStream(std::optional<CallerStream> caller) override;
  Status defer() override;
  Status checkDeferred() override { return checkStatus(); }
  Status capture(CallerStream stream, std::span<const Copy> before,
                 std::span<const Copy> after) override;
  Result<double> time(unsigned repeats) override;
  uint64_t getMemoryBytes() const override;
  uint64_t getNumCaptures() const override { return captures; }

private:
  CUDALaunchPlan(CUDADevice &device, const Manifest &manifest)
      : device(device), driver(device.getDriver()), manifest(manifest),
        staging(device) {}
  Status initialize(std::span<const KernelHandle> kernels);
  Status initializeTables();
  Status wait(const char *what);
  Status uploadTables();
  Status buildGraph();
  /// Builds what `start` needs; `start` launches all steps on the stream.
  Status makeReady();
  Status start();
  /// The values that are fixed in a graph: shared memory of kernels, sizes and
  /// addresses of library steps.
  std::vector<int64_t> getGraphKey() const;
  /// Adds all steps to a graph; those without predecessors depend on `roots`.
  /// `ends` receives the nodes without successors, or `roots` if there are no
  /// steps.
  Status addNodes(GraphHandle graph, std::span<const NodeHandle> roots,
                  std::vector<NodeHandle> &ends);
  Status addNode(uint32_t step, GraphHandle graph,
                 std::span<const NodeHandle> before, NodeHandle *node);
  Status addKernelNode(uint32_t step, GraphHandle graph, unsigned grid,
                       std::span<const NodeHandle> before, NodeHandle *node);
  Status addLibraryNode(uint32_t step, GraphHandle graph,
                        std::span<const NodeHandle> before, NodeHandle *node);
  Status prepareLibrary(uint32_t step);
  Status launchStepByStep(StepObserver &observer);
  struct Graph;
  /// Runs a step in a graph of its own, which the caller destroys, and waits.
  Status runTimed(uint32_t index, Graph &made, double &microseconds);
  Status checkStatus();

  struct Step {
    FunctionHandle function = nullptr;
    /// Set for a step without a kernel.
    std::unique_ptr<LibraryStep> library;
    /// Values of the launch's expressions for the current sizes; index of its
    /// first buffer.
    std::span<const int64_t> values;
    size_t firstBuffer = 0;
    unsigned block = 1;
    /// For the current sizes.
    int64_t work = 0;
    unsigned grid = 1, shared = 0;
    /// Whether the step is ever launched.
    bool active = true;
    /// Bytes of dynamic shared memory that the function is known to allow.
    unsigned allowedShared = 0;
    /// The kernel's parameters.
    DevicePointer buffers = 0, symbols = 0;
    int32_t *status = nullptr;
    void *parameters[3] = {};
  };
  void useTables(size_t which);
  std::string describe(uint32_t step) const;
  Status allowShared(uint32_t step);
  /// Number of blocks of a step in the graph, which serves all sizes.
  unsigned getGraphGrid(const Step &step, const CUDALaunch &launch) const;

  CUDADevice &device;
  const Driver &driver;
  const Manifest &manifest;
  Staging staging;
  std::vector<Step> steps;
  std::span<const int64_t> symbols;
  std::span<void *const> buffers;
  Memory tables, status;
  /// Words per table: the symbols, then the buffers of all steps.
  size_t tableWords = 0;
  struct Graph {
    std::vector<int64_t> key;
    GraphHandle graph = nullptr;
    ExecHandle exec = nullptr;
  };
  /// The tables and their contents, most recently used first. A plan with a
  /// graph of all steps has one.
  struct Table {
    size_t number = 0;
    std::vector<uint64_t> words;
    /// Only with one kernel: grid and shared memory of its last launches with
    /// this table, the number of these launches, and a graph of one of them.
    std::vector<int64_t> key;
    unsigned launches = 0;
    Graph graph;
  };
  std::list<Table> contents;
  /// The contents that the next launch needs.
  std::vector<uint64_t> wanted;
  /// The table that the kernels' parameters point to.
  size_t usedTable = 0;
  /// Pinned memory with new contents of a table, which may still be in flight
  /// to the device.
  struct Upload {
    uint8_t *host = nullptr;
    EventHandle done = nullptr;
    /// Whether `done` marks the end of a copy from `host`.
    bool isPending = false;
  };
  Result<Upload> takeUpload();
  /// Least recently used first.
  std::deque<Upload> uploads;
  /// Memory of the uploads, several per block.
  std::vector<Memory> uploadBlocks;
  /// The only step that is ever launched, if it is a kernel.
  std::optional<uint32_t> onlyKernel;
  /// Whether a step is a library's: graphs then hold addresses.
  bool hasLibraries = false;
  bool tablesChanged = true, keyChanged = true, inFlight = false;
  /// The plan's own stream, and the stream of the current call.
  StreamHandle ownStream = nullptr, stream = nullptr;
  EventHandle events[2] = {};
  /// Marks the end of the last deferred call; whether there is one.
  EventHandle deferred = nullptr;
  bool isDeferred = false;
  /// Whether `deferred` has been recorded; otherwise it is recorded on demand.
  bool isRecorded = false;
  void drop(Graph &graph);
  Status build(Graph &graph);
  Status launchOnly(uint32_t step);
  /// Builds a graph of the only kernel with the current table.
  Status buildOnly(uint32_t step, Table &table);
  /// Most recently used first; the first is the current one.
  std::list<Graph> graphs;
  uint64_t captures = 0;
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_CUDALAUNCHPLAN_H
