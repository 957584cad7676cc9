//===- CUDALaunchPlan.h - All steps as one CUDA graph ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel gets three pointers, which never change: to the pointers of its
// buffers, to the values of the symbols, and to a word that it sets where an
// index is out of range. What they point to is one block of device memory
// (the tables), rewritten from pinned memory before a call where sizes or
// memory changed, so that one graph serves all sizes; and words of pinned host
// memory, written by kernels only where something is wrong. A call on a stream
// of the caller's may go on while the next is made ready: the pinned memory is
// a queue, whose parts are used again when their copies are done.
//
// One kernel has several tables, so that a caller whose memory takes turns
// among a few addresses copies nothing; which one it reads is a parameter of
// its launch. A launch that was made before, with the same table, is a graph of
// its own: the driver takes half of the time for it, host and device. New sizes
// at each call make no graphs.
//
// What a library starts holds sizes and addresses. It is captured into the same
// graph, of which there is then one for each combination of them, the last few
// used.
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
  /// After it `start` puts all steps on the stream.
  Status makeReady();
  Status start();
  /// What a graph holds that is not the same for all sizes and memory: bytes of
  /// shared memory of kernels, sizes and addresses of libraries.
  std::vector<int64_t> getGraphKey() const;
  /// Adds all steps to a graph, those that wait for no other after `roots`.
  /// `ends`: the nodes that no other waits for; `roots` where there is no step.
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
  /// Runs a step by a graph of its own, which the caller drops, and waits.
  Status runTimed(uint32_t index, Graph &made, double &microseconds);
  Status checkStatus();

  struct Step {
    FunctionHandle function = nullptr;
    /// Instead of a kernel.
    std::unique_ptr<LibraryStep> library;
    /// Of the launch, for the present sizes; where its buffers begin.
    std::span<const int64_t> values;
    size_t firstBuffer = 0;
    unsigned block = 1;
    /// For the present sizes.
    int64_t work = 0;
    unsigned grid = 1, shared = 0;
    /// Whether the step is ever launched.
    bool active = true;
    /// Bytes of shared memory that a block of the function may surely have.
    unsigned allowedShared = 0;
    /// The kernel's parameters.
    DevicePointer buffers = 0, symbols = 0;
    int32_t *status = nullptr;
    void *parameters[3] = {};
  };
  void useTables(size_t which);
  std::string describe(uint32_t step) const;
  Status allowShared(uint32_t step);
  /// Blocks of a step in the graph, which serve all sizes.
  unsigned getGraphGrid(const Step &step, const CUDALaunch &launch) const;

  CUDADevice &device;
  const Driver &driver;
  const Manifest &manifest;
  Staging staging;
  std::vector<Step> steps;
  std::span<const int64_t> symbols;
  std::span<void *const> buffers;
  Memory tables, status;
  /// Words of one of the tables: the symbols, then the buffers of all steps.
  size_t tableWords = 0;
  struct Graph {
    std::vector<int64_t> key;
    GraphHandle graph = nullptr;
    ExecHandle exec = nullptr;
  };
  /// Which of the tables launches read, and what is in each; those used last
  /// are first. Of a graph there is one.
  struct Table {
    size_t number = 0;
    std::vector<uint64_t> words;
    /// Of one kernel: the grid and the shared memory of its last launches with
    /// this table, and how many there were; and a graph of one of those.
    std::vector<int64_t> key;
    unsigned launches = 0;
    Graph graph;
  };
  std::list<Table> contents;
  /// What the next launch is to find in its table.
  std::vector<uint64_t> wanted;
  /// The table that all kernels' parameters point to.
  size_t usedTable = 0;
  /// Contents of a table that may still be on their way to the device.
  struct Upload {
    uint8_t *host = nullptr;
    EventHandle done = nullptr;
    /// Whether `done` stands for a copy from `host`.
    bool isPending = false;
  };
  Result<Upload> takeUpload();
  /// Used last is last.
  std::deque<Upload> uploads;
  /// What they lie in, a block for several.
  std::vector<Memory> uploadBlocks;
  /// The only step that is ever launched, if it is a kernel.
  std::optional<uint32_t> onlyKernel;
  /// Graphs hold the addresses that libraries use.
  bool hasLibraries = false;
  bool tablesChanged = true, keyChanged = true, inFlight = false;
  /// The plan's own stream, and that of the present call.
  StreamHandle ownStream = nullptr, stream = nullptr;
  EventHandle events[2] = {};
  /// The end of the last call that nobody waited for, and whether there is one.
  EventHandle deferred = nullptr;
  bool isDeferred = false;
  /// Whether `deferred` is in the stream; else it is when it is needed.
  bool isRecorded = false;
  void drop(Graph &graph);
  Status build(Graph &graph);
  Status launchOnly(uint32_t step);
  /// Makes the graph of the only kernel with the present table.
  Status buildOnly(uint32_t step, Table &table);
  /// Those used last, the present one first.
  std::list<Graph> graphs;
  uint64_t captures = 0;
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_CUDALAUNCHPLAN_H
