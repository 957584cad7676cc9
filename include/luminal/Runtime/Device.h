//===- Device.h - Interface of a device that runs artifacts ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between the runtime and a kind of device. Artifact, Plan and
// Context use nothing else of a device. lib/Runtime/Devices.cpp has the table
// of kinds.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_DEVICE_H
#define LUMINAL_RUNTIME_DEVICE_H

#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/ZipArchive.h"
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal::runtime {

/// A description of a device.
struct DeviceInfo {
  /// "cpu" or "cuda"; the index among the devices of this kind.
  std::string kind;
  unsigned index = 0;
  /// The product's name; empty if unknown.
  std::string name;
  /// The architecture as the manifest spells it.
  std::string arch;
  /// The driver ("CUDA 12.8"); empty for a kind without one.
  std::string driver;
  /// Numeric properties by name ("threads", "memory_bytes"), in a fixed order.
  std::vector<std::pair<std::string, uint64_t>> properties;
};

/// A kernel of a module, in the device's representation.
using KernelHandle = void *;
/// A stream of the caller, in the device's representation (CUDA: a CUstream;
/// null is the default stream).
using CallerStream = void *;

/// Code that is loaded on a device.
class Module {
public:
  virtual ~Module();
  /// Name of the artifact's member that holds the code.
  virtual const char *getMember() const = 0;
  /// The handle of a kernel; null if the module has none of this name.
  virtual KernelHandle find(const std::string &kernel) const = 0;
};

/// One copy of a call. `In` copies from host to device, `Out` from device to
/// host, `Within` on the device.
struct Copy {
  enum class Kind : uint8_t { Within, In, Out };
  const void *from;
  void *to;
  uint64_t bytes;
  Kind kind;
  /// On the device's side, the copy begins where the previous one ends, rounded
  /// up to kCopyAlignment, in the same allocation: both may be merged into one.
  bool joins = false;
};
constexpr uint64_t kCopyAlignment = 256;
/// `bytes` rounded up to a multiple of `multiple`.
constexpr uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Notified of every step of a call, in order. With an observer, the device
/// runs one step at a time and waits for each.
class StepObserver {
public:
  virtual ~StepObserver();
  virtual void before(uint32_t step, unsigned threads) = 0;
  /// `microseconds` is the duration that the device measured; absent if it has
  /// no clock of its own. Returning an error ends the call.
  virtual Status after(uint32_t step, std::optional<double> microseconds) = 0;
};

/// The steps of one context, prepared once and launched by each call. Copies
/// and launches take effect in the order in which they are requested; a device
/// may execute them asynchronously until `finish`.
class LaunchPlan {
public:
  virtual ~LaunchPlan();
  /// Sets new sizes: `symbols` are the values of the symbols, `launches` those
  /// of the expressions (visitExprs) of the launches of all steps in order.
  /// Both spans must stay valid while the plan exists.
  virtual Status setSizes(std::span<const int64_t> symbols,
                          std::span<const int64_t> launches) = 0;
  /// Sets new addresses: the buffers of all steps in order. The span must stay
  /// valid while the plan exists.
  virtual Status setBuffers(std::span<void *const> buffers) = 0;
  /// Performs copies in order, before the launches that follow.
  virtual Status copy(std::span<const Copy> copies) = 0;
  /// Starts all steps. An index out of range is an error of this call or of
  /// `finish`.
  virtual Status launch(StepObserver *observer) = 0;
  /// Waits for all started work.
  virtual Status finish() = 0;
  /// Makes the following copies and launches work of a stream of the caller;
  /// with no stream, of the plan's own. Either way they are ordered after all
  /// work started before. An error if the device does not support it.
  virtual Status setStream(std::optional<CallerStream> stream);
  /// Ends a call in place of `finish`, without waiting. Allowed only on a
  /// stream of the caller and if no copy crossed between host and device.
  virtual Status defer();
  /// Returns an index-out-of-range error that deferred calls, or replays of a
  /// captured graph, have found so far.
  virtual Status checkDeferred() { return {}; }
  /// Adds the copies and all steps, with the current sizes and addresses, to
  /// the graph that a stream of the caller is being captured into, as the
  /// stream's next work. The plan and all memory must stay unchanged for as
  /// long as the graph can be launched.
  virtual Status capture(CallerStream stream, std::span<const Copy> before,
                         std::span<const Copy> after);
  /// Mean duration of one launch of all steps in nanoseconds, by the device's
  /// clock, over `repeats` consecutive launches.
  virtual Result<double> time(unsigned repeats) = 0;
  /// Bytes that the plan allocated.
  virtual uint64_t getMemoryBytes() const = 0;
  /// How often the plan was rebuilt for the device (on CUDA, a graph was
  /// captured); new sizes and pointers must not cause it. For tests.
  virtual uint64_t getNumCaptures() const { return 0; }
};

/// A device: memory, code, launches. Thread-safe; lives as long as the process.
class Device {
public:
  enum class Place : uint8_t { Device, Host };

  virtual ~Device();
  virtual DeviceInfo describe() const = 0;

  /// Checks that code for this target can run here; the error says what is
  /// missing.
  virtual Status check(const TargetSpec &target) const = 0;
  /// Checks that steps of this library can run here; the error says what is
  /// missing.
  virtual Status checkLibrary(std::string_view library);
  /// Reads a member of the artifact by name.
  using ReadMember = std::function<Result<Bytes>(std::string_view name)>;
  /// Loads the artifact's code for `target`; reads its members with `read`.
  virtual Result<std::unique_ptr<Module>> load(const TargetSpec &target,
                                               const ReadMember &read) = 0;
  /// Loads a member of the artifact that holds user code.
  virtual Result<std::unique_ptr<Module>>
  loadCustom(const std::string &member, const ReadMember &read) = 0;

  /// Whether device memory is host memory.
  virtual bool sharesMemory() const = 0;
  /// Whether kernels and copies within the device can access this memory of the
  /// caller.
  virtual bool reaches(const void *memory) const = 0;
  /// Allocates memory of the device, or host memory that the device copies to
  /// and from fast (on CUDA, pinned), aligned to kAlignment at least; null on
  /// failure. Rounds `bytes` up to the size allocated.
  virtual void *allocate(uint64_t &bytes, Place place) = 0;
  /// Frees memory of `allocate`, which no call uses any more.
  virtual void release(void *memory, Place place) = 0;
  /// Performs one copy synchronously, between any two places of its kind.
  virtual Status copy(const Copy &copy) = 0;

  /// Whether work submitted to a stream of the caller is recorded into a graph
  /// instead of executed (CUDA: stream capture). An error if the recording has
  /// failed.
  virtual Result<bool> isCapturing(CallerStream stream);
  /// Keeps `owned` alive for as long as the graph that the stream is captured
  /// into can be launched. A later use of the device releases it.
  virtual Status keepWithCapture(CallerStream stream,
                                 std::shared_ptr<const void> owned);

  /// Creates a plan for the steps of `manifest`, which must outlive it.
  /// `kernels` holds the kernel or user function of each step. A call uses at
  /// most `threads` host threads.
  virtual Result<std::unique_ptr<LaunchPlan>>
  createPlan(const Manifest &manifest, std::span<const KernelHandle> kernels,
             unsigned threads) = 0;
};

/// Aligned memory that can only grow; growing discards the contents.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  Memory(Memory &&other)
      : device(other.device), pointer(std::exchange(other.pointer, nullptr)),
        capacity(std::exchange(other.capacity, 0)), place(other.place) {}
  ~Memory() { release(); }
  /// Ensures at least `bytes`; false if allocation fails. Device and place must
  /// be the same at each call.
  bool reserve(Device &device, uint64_t bytes,
               Device::Place place = Device::Place::Device);
  uint8_t *data() const { return pointer; }
  uint64_t size() const { return capacity; }

private:
  void release();

  Device *device = nullptr;
  uint8_t *pointer = nullptr;
  uint64_t capacity = 0;
  Device::Place place = Device::Place::Device;
};

/// The error for a step that found an index out of range.
Error stepFailed(const Manifest &manifest, uint32_t step);

/// Returns device `index` of a kind. A process opens each device once. The
/// error says why there is none.
Result<Device *> openDevice(std::string_view kind, unsigned index = 0);

/// The devices of this machine. If a kind's driver is installed but does not
/// work, the reason is appended to *problems.
std::vector<DeviceInfo> listDevices(std::vector<std::string> *problems);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_DEVICE_H
