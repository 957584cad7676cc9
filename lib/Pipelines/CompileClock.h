//===- CompileClock.h - Compiles kernels and programs, and times them -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_COMPILECLOCK_H
#define LUMINAL_LIB_PIPELINES_COMPILECLOCK_H

#include "BoundProgram.h"
#include "CompileSpace.h"
#include "luminal/Search/DeviceLock.h"
#include "luminal/Search/PlanCache.h"

namespace luminal {

/// Measurements of a kernel.
struct KernelFigures {
  /// Infinite if the kernel cannot run.
  double seconds = 0;
  double spread = 0;
  int64_t traffic = 0, flops = 0;

  std::string str() const;
  static std::optional<KernelFigures> parse(llvm::StringRef text);
};

/// A clock that measures on the local device and stores results in a plan
/// cache.
class CompileClock : public search::Clock {
public:
  CompileClock(mlir::MLIRContext &context, const CompileOptions &options,
               llvm::StringRef machine, const TargetInterface &target,
               const TimingDevice &device, const CompileSpace &space,
               search::PlanCache &cache, const SampleInputs &samples);

  Status time(const search::Program &program,
              std::span<const size_t> kernelClasses,
              search::Times &times) override;
  Result<std::optional<std::vector<double>>>
  timePrograms(std::span<const search::Choice> choices) override;

  const KernelFigures *find(const std::string &key) const {
    auto it = figures.find(key);
    return it == figures.end() ? nullptr : &it->second;
  }
  uint64_t getNumTimed() const { return numTimed; }
  uint64_t getNumHits() const { return numHits; }
  /// Called with problems of the measurements that users should know.
  void setNote(std::function<void(const std::string &)> fn) {
    note = std::move(fn);
  }

private:
  struct Task;
  void load(std::vector<Task> &tasks);
  Status timeTasks(std::vector<Task> &tasks);
  /// The probe program, which shows whether the speed of the device changes.
  /// Created by the first call.
  Result<BoundProgram *> getProbe();
  /// Takes the lock of the device. If that is impossible, reports it once and
  /// returns nullopt.
  std::optional<search::DeviceLock> takeDevice();
  Result<std::vector<std::shared_ptr<const runtime::Artifact>>>
  makeAll(const std::vector<std::string> &texts);
  void keep(const std::string &key, const KernelFigures &found,
            search::Times &times);

  mlir::MLIRContext &context;
  CompileOptions options;
  std::string machine;
  const TargetInterface &target;
  const TimingDevice &device;
  const CompileSpace &space;
  search::PlanCache &cache;
  const SampleInputs &samples;
  std::function<void(const std::string &)> note;
  Operands probeOperands{Operands::Values::Positive};
  std::unique_ptr<BoundProgram> probe;
  std::map<std::string, KernelFigures> figures;
  uint64_t numTimed = 0, numHits = 0;
  bool saidNoLock = false;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_COMPILECLOCK_H
