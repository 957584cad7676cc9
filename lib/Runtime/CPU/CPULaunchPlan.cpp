//===- CPULaunchPlan.cpp - Runs steps as function calls -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Argsort.h"
#include "CPUDevice.h"
#include "Scan.h"
#include "luminal/Runtime/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <cstring>

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// The arguments of a chunk of a kernel step.
struct Part {
  KernelFn kernel;
  void *const *buffers;
  const int64_t *integers;
  uint8_t *scratch;
  uint64_t stride;
};

// Kernels have no type information for the sanitizer's check of indirect calls.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
int32_t runPart(void *data, int64_t begin, int64_t end, unsigned slot) {
  const Part &part = *static_cast<const Part *>(data);
  return part.kernel(part.buffers, part.integers, begin, end,
                     part.stride ? part.scratch + slot * part.stride : nullptr);
}

/// The arguments of a chunk of an argsort step.
struct ArgsortPart {
  const ArgsortShape *shape;
  const uint8_t *keys;
  int64_t *positions;
  uint8_t *scratch;
  uint64_t stride;
  /// Number of parts into which a long row is cut.
  int64_t parts;
};

int32_t runRows(void *data, int64_t begin, int64_t end, unsigned slot) {
  const ArgsortPart &part = *static_cast<const ArgsortPart *>(data);
  argsort(*part.shape, part.keys, part.positions, begin, end,
          part.scratch + slot * part.stride);
  return 0;
}

int32_t sortParts(void *data, int64_t begin, int64_t end, unsigned) {
  const ArgsortPart &part = *static_cast<const ArgsortPart *>(data);
  for (int64_t i = begin; i < end; ++i)
    argsortPart(*part.shape, part.keys, i, part.parts, part.scratch);
  return 0;
}

int32_t joinParts(void *data, int64_t begin, int64_t end, unsigned) {
  const ArgsortPart &part = *static_cast<const ArgsortPart *>(data);
  argsortJoin(*part.shape, part.positions, part.parts, begin, end,
              part.scratch);
  return 0;
}

/// The arguments of a chunk of a scan step.
struct ScanPart {
  const ScanShape *shape;
  const void *data;
  void *result;
  void *states;
};

int32_t runParts(void *data, int64_t begin, int64_t end, unsigned) {
  const ScanPart &part = *static_cast<const ScanPart *>(data);
  scanParts(*part.shape, part.data, begin, end, part.states);
  return 0;
}

int32_t runScans(void *data, int64_t begin, int64_t end, unsigned) {
  const ScanPart &part = *static_cast<const ScanPart *>(data);
  scan(*part.shape, part.data, part.result, begin, end, part.states);
  return 0;
}

/// Minimum number of grains per chunk. If possible, chooses a size that gives
/// every thread the same number of chunks (3 to 8): work items that share data
/// often come in such numbers. Otherwise gives about 16 chunks per thread, so
/// that the last ones are small.
int64_t getChunk(int64_t grains, int64_t threads) {
  int64_t parts = 16;
  for (int64_t few : {8, 7, 6, 5, 3, 4})
    if (grains % (threads * few) == 0)
      parts = few;
  return std::max<int64_t>(grains / (threads * parts), 1);
}

/// Holds the pool for a call with `threads` threads and releases it at the end.
/// `own` of the threads are the caller and workers of the pool.
class PoolLease {
public:
  PoolLease(unsigned threads, unsigned own) {
    if (threads > 1 && ThreadPool::get().tryAcquire(own))
      pool = &ThreadPool::get();
  }
  ~PoolLease() {
    if (pool)
      pool->release();
  }
  ThreadPool *pool = nullptr;
};

class CPULaunchPlan : public LaunchPlan {
public:
  CPULaunchPlan(CPUDevice &device, const Manifest &manifest,
                std::span<const KernelHandle> kernels, unsigned threads);

  Status setSizes(std::span<const int64_t> newSymbols,
                  std::span<const int64_t> launches) override;
  Status setBuffers(std::span<void *const> buffers) override {
    arguments = buffers.data();
    return {};
  }
  Status copy(std::span<const Copy> copies) override {
    for (const Copy &copy : copies)
      std::memmove(copy.to, copy.from, copy.bytes);
    return {};
  }
  Status launch(StepObserver *observer) override;
  Status runSteps(StepObserver *observer, ThreadPool *pool);
  Status finish() override { return {}; }
  Result<double> time(unsigned repeats) override;
  uint64_t getMemoryBytes() const override { return scratch.size(); }

private:
  struct Step {
    /// Null for an argsort or scan step.
    KernelFn kernel = nullptr;
    /// The integers passed to the kernel: the symbols, or for a user function
    /// the `values` of its launch.
    const int64_t *integers = nullptr;
    uint32_t firstBuffer = 0;
    unsigned threads = 1;
    int64_t work = 0, chunk = 1;
    /// For an argsort step.
    ArgsortShape argsort;
    /// Number of parts into which each row is cut.
    int64_t parts = 1;
    /// For a scan step.
    ScanShape scan;
  };

  /// Runs work items on the step's threads.
  static void run(const Step &step, ThreadPool *pool, int64_t work,
                  int64_t chunk, ThreadPool::Body body, void *data) {
    if (pool && step.threads > 1)
      pool->parallelFor(work, chunk, step.threads, body, data);
    else
      body(data, 0, work, 0);
  }

  /// Sets the sizes of an argsort step from the values of the launch's
  /// expressions. Returns the scratch bytes for all threads together.
  uint64_t setArgsort(Step &step, const CPUArgsortLaunch &launch,
                      const int64_t *values);
  void runArgsort(const Step &step, ThreadPool *pool);
  uint64_t setScan(Step &step, const CPUScanLaunch &launch,
                   const int64_t *values);
  void runScan(const Step &step, ThreadPool *pool);

  CPUDevice &device;
  const Manifest &manifest;
  unsigned threads;
  std::vector<Step> steps;
  unsigned mostThreads = 1;
  void *const *arguments = nullptr;
  Memory scratch;
  uint64_t scratchStride = 0;
};
} // namespace

CPULaunchPlan::CPULaunchPlan(CPUDevice &device, const Manifest &manifest,
                             std::span<const KernelHandle> kernels,
                             unsigned threads)
    : device(device), manifest(manifest), threads(threads) {
  uint32_t next = 0;
  for (size_t i = 0; i < manifest.steps.size(); ++i) {
    Step &step = steps.emplace_back();
    step.kernel = reinterpret_cast<KernelFn>(kernels[i]);
    step.firstBuffer = next;
    next += static_cast<uint32_t>(manifest.steps[i].buffers.size());
  }
}

uint64_t CPULaunchPlan::setArgsort(Step &step, const CPUArgsortLaunch &launch,
                                   const int64_t *values) {
  step.work = values[0];
  step.argsort = {launch.type, launch.descending, launch.nanFirst, values[1],
                  values[2],   values[3],         values[4]};
  step.threads = 1;
  step.parts = 1;
  if (step.work == 0)
    return 0;
  // Minimum nanoseconds of work per thread.
  constexpr double kGrain = 2e4;
  const int64_t rows = step.argsort.rows;
  const double row = estimateRow(step.argsort);
  const double wanted = std::max(1.0, static_cast<double>(rows) * row / kGrain);
  step.threads = static_cast<unsigned>(std::min(double(threads), wanted));
  if (rows < step.threads && step.argsort.begin == 0) {
    step.parts = step.threads;
    return getPartsScratch(step.argsort, step.parts);
  }
  step.threads = static_cast<unsigned>(std::min<int64_t>(step.threads, rows));
  step.chunk = std::max<int64_t>(1, rows / (int64_t(step.threads) * 4));
  return 0;
}

void CPULaunchPlan::runArgsort(const Step &step, ThreadPool *pool) {
  void *const *buffers = arguments + step.firstBuffer;
  ArgsortPart part{&step.argsort,
                   static_cast<const uint8_t *>(buffers[0]),
                   static_cast<int64_t *>(buffers[1]),
                   scratch.data(),
                   scratchStride,
                   step.parts};
  const ArgsortShape &shape = step.argsort;
  if (step.parts == 1)
    return run(step, pool, shape.rows, step.chunk, runRows, &part);
  for (int64_t row = 0; row < shape.rows; ++row) {
    run(step, pool, step.parts, 1, sortParts, &part);
    constexpr int64_t kLeast = 1024;
    run(step, pool, shape.count, std::max(kLeast, shape.count / step.parts + 1),
        joinParts, &part);
    part.keys += shape.length * dtypeSize(shape.type);
    part.positions += shape.count;
  }
}

uint64_t CPULaunchPlan::setScan(Step &step, const CPUScanLaunch &launch,
                                const int64_t *values) {
  step.work = values[0];
  step.scan = {*getScanKind(launch.kind),
               launch.type,
               launch.resultType,
               launch.reverse,
               launch.exclusive,
               launch.positions,
               values[1],
               values[2],
               values[3]};
  step.threads = 1;
  if (step.work == 0)
    return 0;
  // Minimum nanoseconds of work per thread.
  constexpr double kGrain = 1e4;
  const int64_t units = getScanUnits(step.scan);
  const double wanted =
      static_cast<double>(units) * estimateScanUnit(step.scan) / kGrain;
  step.threads = static_cast<unsigned>(
      std::clamp<double>(wanted, 1, std::min<double>(threads, double(units))));
  if (step.threads == 1)
    step.scan.isShared = false;
  step.chunk = std::max<int64_t>(1, units / (int64_t(step.threads) * 4));
  return hasScanParts(step.scan) ? getScanStates(step.scan) : 0;
}

void CPULaunchPlan::runScan(const Step &step, ThreadPool *pool) {
  void *const *buffers = arguments + step.firstBuffer;
  const int64_t units = getScanUnits(step.scan);
  ScanPart part{&step.scan, buffers[0], buffers[1], nullptr};
  if (hasScanParts(step.scan)) {
    part.states = scratch.data();
    run(step, pool, units, step.chunk, runParts, &part);
    scanJoin(step.scan, part.states);
  }
  run(step, pool, units, step.chunk, runScans, &part);
}

Status CPULaunchPlan::setSizes(std::span<const int64_t> newSymbols,
                               std::span<const int64_t> launches) {
  int64_t mostScratch = 0;
  uint64_t mostShared = 0;
  mostThreads = 1;
  // The expressions of a launch: work, grain, scratch; for a user function,
  // also its values.
  const int64_t *values = launches.data();
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    const LaunchSpec &launch = manifest.steps[i].launch;
    if (const auto *argsort = std::get_if<CPUArgsortLaunch>(&launch)) {
      mostShared = std::max(mostShared, setArgsort(step, *argsort, values));
      if (step.work > 0 && step.parts == 1)
        mostScratch = std::max(
            mostScratch, static_cast<int64_t>(getArgsortScratch(step.argsort)));
      mostThreads = std::max(mostThreads, step.threads);
      values += 5;
      continue;
    }
    if (const auto *scan = std::get_if<CPUScanLaunch>(&launch)) {
      mostShared = std::max(mostShared, setScan(step, *scan, values));
      mostThreads = std::max(mostThreads, step.threads);
      values += 4;
      continue;
    }
    const CustomCode *custom = getCustomCode(launch);
    step.integers = custom ? values + 3 : newSymbols.data();
    step.work = values[0];
    const int64_t grain = values[1];
    if (grain < 1)
      return Error("step " + std::to_string(i) + " (" + manifest.steps[i].name +
                   "): has no valid grain: it is " + std::to_string(grain));
    mostScratch = std::max(mostScratch, values[2]);
    const bool parallel = custom ? std::get<CPUCustomLaunch>(launch).parallel
                                 : std::get<CPULaunch>(launch).parallel;
    int64_t grains = step.work / grain + (step.work % grain != 0);
    step.threads = static_cast<unsigned>(
        parallel ? std::clamp<int64_t>(grains, 1, threads) : 1);
    step.chunk = getChunk(grains, step.threads) * grain;
    mostThreads = std::max(mostThreads, step.threads);
    values += 3 + (custom ? custom->values.size() : 0);
  }
  // A multiple of two cache lines, to prevent false sharing between threads.
  scratchStride = (mostScratch + 127) / 128 * 128;
  uint64_t total = 0;
  if (__builtin_mul_overflow(scratchStride, uint64_t(mostThreads), &total) ||
      !scratch.reserve(device, std::max(total, mostShared)))
    return Error("out of memory: " + std::to_string(mostThreads) +
                 " threads need " + std::to_string(scratchStride) +
                 " bytes of scratch each, or " + std::to_string(mostShared) +
                 " together");
  return {};
}

/// Uses the host program's team if a step has work for all threads of the call.
/// Requesting a smaller team would make its runtime start or end threads.
Status CPULaunchPlan::launch(StepObserver *observer) {
  ThreadPool::Team team = mostThreads > 1 && mostThreads == threads
                              ? ThreadPool::getTeam()
                              : nullptr;
  PoolLease lease(mostThreads, team ? 1 : mostThreads);
  if (!lease.pool || !team)
    return runSteps(observer, lease.pool);
  struct Call {
    CPULaunchPlan &plan;
    StepObserver *observer;
    Status status;
  } call{*this, observer, {}};
  ThreadPool::runInTeam(
      team, threads,
      [](void *data, ThreadPool &pool) {
        Call &call = *static_cast<Call *>(data);
        call.status = call.plan.runSteps(call.observer, &pool);
      },
      &call);
  return std::move(call.status);
}

Status CPULaunchPlan::runSteps(StepObserver *observer, ThreadPool *pool) {
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    Part part{step.kernel, arguments + step.firstBuffer, step.integers,
              scratch.data(), scratchStride};
    if (observer)
      observer->before(i, pool ? step.threads : 1);
    int32_t result = 0;
    // Avoid reading the manifest for kernels: for many small steps, it costs as
    // much as running them.
    if (step.work == 0)
      ; // nothing
    else if (step.kernel)
      result = pool && step.threads > 1
                   ? pool->parallelFor(step.work, step.chunk, step.threads,
                                       runPart, &part)
                   : runPart(&part, 0, step.work, 0);
    else if (std::holds_alternative<CPUArgsortLaunch>(manifest.steps[i].launch))
      runArgsort(step, pool);
    else
      runScan(step, pool);
    if (result != 0)
      return stepFailed(manifest, i);
    if (observer)
      LUMINAL_CHECK(observer->after(i, std::nullopt));
  }
  return {};
}

Result<double> CPULaunchPlan::time(unsigned repeats) {
  auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < repeats; ++i)
    LUMINAL_CHECK(launch(nullptr));
  std::chrono::duration<double, std::nano> total =
      std::chrono::steady_clock::now() - start;
  return total.count() / std::max(repeats, 1u);
}

Result<std::unique_ptr<LaunchPlan>>
CPUDevice::createPlan(const Manifest &manifest,
                      std::span<const KernelHandle> kernels, unsigned threads) {
  return std::unique_ptr<LaunchPlan>(
      std::make_unique<CPULaunchPlan>(*this, manifest, kernels, threads));
}
