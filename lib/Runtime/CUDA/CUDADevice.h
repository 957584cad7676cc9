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

  /// Makes the device's context current on this thread. In the scope, the
  /// thread may allocate and wait even while a stream of any thread is being
  /// captured.
  class Current {
  public:
    explicit Current(const CUDADevice &device) : driver(device.driver) {
      // Usually it is current already; querying costs less than setting it.
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
    /// kCaptureRelaxed, exchanged for the thread's previous mode.
    int captureMode = kCaptureRelaxed;
  };

  const Driver &getDriver() const { return driver; }
  /// The graph that a stream is being captured into, and the nodes that the
  /// stream's next work depends on. An error if the stream is not capturing.
  struct Capture {
    GraphHandle graph = nullptr;
    std::vector<NodeHandle> last;
  };
  static constexpr const char *kCaptureError =
      "the capture of the stream cannot be used";
  Result<Capture> getCapture(StreamHandle stream);
  unsigned getMultiprocessors() const { return multiprocessors; }
  /// Maximum bytes of dynamic shared memory per block, with opt-in.
  unsigned getMostShared() const { return mostShared; }
  /// Raises the limit on the function's dynamic shared memory to `bytes`. The
  /// limit is never lowered, since other plans use the function too.
  Status allowShared(FunctionHandle function, unsigned bytes);
  /// Whether the memory is pinned host memory, which the device copies
  /// asynchronously.
  bool isPinned(const void *memory) const;

  /// The cuBLASLt handle of this device, created on first use. Never destroyed:
  /// at process exit, the driver may be unloaded first.
  Result<lt::Handle> getCublasLt();
  /// The algorithm chosen for products with these types, sizes and alignments.
  /// `keepAlgorithm` stores one, or returns the one that another thread stored
  /// first. All contexts use the same one, so only the first call times them.
  std::optional<lt::Algorithm>
  findAlgorithm(const std::vector<int64_t> &product);
  lt::Algorithm keepAlgorithm(std::vector<int64_t> product,
                              const lt::Algorithm &algorithm);

  /// Starts a copy; returns the driver's code.
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
  /// Used for copies outside calls.
  StreamHandle stream = nullptr;
  std::mutex streamMutex;
  /// Objects kept with graphs (keepWithCapture). Their destructors must not run
  /// on the driver's thread, which must not call the driver; the next use of
  /// the device runs them.
  class Kept;
  lt::Handle cublasLt = nullptr;
  std::map<std::vector<int64_t>, lt::Algorithm> algorithms;
  std::mutex cublasLtMutex, sharedMutex;
  std::string name;
  unsigned major = 0, minor = 0, multiprocessors = 1, mostShared = 48 << 10;
  /// Each is 0 if the driver does not report it.
  unsigned clockKilohertz = 0, memoryKilohertz = 0, memoryBits = 0,
           cacheBytes = 0;
  uint64_t memoryBytes = 0;
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_CUDADEVICE_H
