//===- CUDADevice.h - An NVIDIA GPU ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_CUDADEVICE_H
#define LUMINAL_LIB_RUNTIME_CUDA_CUDADEVICE_H

#include "CublasLtTypes.h"
#include "Driver.h"
#include "luminal/Runtime/Device.h"
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace luminal::runtime::cuda {

inline DevicePointer toDevice(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

class CUDADevice : public Device {
public:
  static Result<std::unique_ptr<Device>> open(unsigned index);

  DeviceInfo describe() const override;
  Status check(const TargetSpec &target) const override;
  Status checkLibrary(std::string_view library) override;
  Result<std::unique_ptr<Module>> load(const TargetSpec &target,
                                       const ReadMember &read) override;
  Result<std::unique_ptr<Module>> loadCustom(const std::string &member,
                                             const ReadMember &read) override;
  bool sharesMemory() const override { return false; }
  bool reaches(const void *memory) const override;
  void *allocate(uint64_t &bytes, Place place) override;
  void release(void *memory, Place place) override;
  Status copy(const Copy &copy) override;
  Result<bool> isCapturing(CallerStream stream) override;
  Status keepWithCapture(CallerStream stream,
                         std::shared_ptr<const void> owned) override;
  Result<std::unique_ptr<LaunchPlan>>
  createPlan(const Manifest &manifest, std::span<const KernelHandle> kernels,
             unsigned threads) override;

  /// Makes the device's context the current one of this thread, which may then
  /// allocate and wait while a stream of this thread or another is captured.
  class Current {
  public:
    explicit Current(const CUDADevice &device) : driver(device.driver) {
      // As a rule it is that already: to ask costs less than to change it.
      ContextHandle last = nullptr;
      isPushed =
          driver.ctxGetCurrent(&last) != kSuccess || last != device.context;
      if (isPushed)
        driver.ctxPushCurrent(device.context);
      driver.threadExchangeCaptureMode(&captureMode);
    }
    Current(const Current &) = delete;
    ~Current() {
      driver.threadExchangeCaptureMode(&captureMode);
      ContextHandle last;
      if (isPushed)
        driver.ctxPopCurrent(&last);
    }

  private:
    const Driver &driver;
    bool isPushed;
    /// Relaxed, then that of the thread.
    int captureMode = kCaptureRelaxed;
  };

  const Driver &getDriver() const { return driver; }
  /// What a stream is captured into: the graph, and the nodes that the stream's
  /// next work waits for. An error where it is not captured.
  struct Capture {
    GraphHandle graph = nullptr;
    std::vector<NodeHandle> last;
  };
  static constexpr const char *kCaptureError =
      "the capture of the stream cannot be used";
  Result<Capture> getCapture(StreamHandle stream);
  unsigned getMultiprocessors() const { return multiprocessors; }
  /// Bytes of dynamic shared memory that a block may ask for.
  unsigned getMostShared() const { return mostShared; }
  /// Lets a block of the function have so many bytes of dynamic shared memory;
  /// what it may have is never lowered, since other plans use it too.
  Status allowShared(FunctionHandle function, unsigned bytes);
  /// Whether the memory is of the host and pinned, so that the device reads and
  /// writes it while the host goes on.
  bool isPinned(const void *memory) const;

  /// cuBLASLt on this device, made when first asked for and kept: the driver
  /// may be gone before the process ends.
  Result<lt::Handle> getCublasLt();
  /// The algorithm that was chosen for products of these types, sizes and
  /// alignments; `keepAlgorithm` returns that which is known, if another thread
  /// was first. All contexts use the same one, and only the first call times.
  std::optional<lt::Algorithm>
  findAlgorithm(const std::vector<int64_t> &product);
  lt::Algorithm keepAlgorithm(std::vector<int64_t> product,
                              const lt::Algorithm &algorithm);

  /// Starts a copy.
  int start(const Copy &copy, StreamHandle stream) const;

private:
  explicit CUDADevice(const Driver &driver) : driver(driver) {}
  Status initialize();
  struct Owner {
    unsigned type = 0;
    int device = -1;
  };
  Owner getOwner(const void *memory) const;

  const Driver &driver;
  unsigned index = 0;
  DeviceId device = 0;
  ContextHandle context = nullptr;
  /// For copies outside calls.
  StreamHandle stream = nullptr;
  std::mutex streamMutex;
  /// What was kept with graphs that are gone. Their destruction calls no
  /// function of the driver: the next use of the device does.
  class Kept;
  lt::Handle cublasLt = nullptr;
  std::map<std::vector<int64_t>, lt::Algorithm> algorithms;
  std::mutex cublasLtMutex, sharedMutex;
  std::string name;
  unsigned major = 0, minor = 0, multiprocessors = 1, mostShared = 48 << 10;
  /// 0: the driver does not say.
  unsigned clockKilohertz = 0, memoryKilohertz = 0, memoryBits = 0,
           cacheBytes = 0;
  uint64_t memoryBytes = 0;
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_CUDADEVICE_H
