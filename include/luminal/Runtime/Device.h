//===- Device.h - What artifacts run on -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifact, Plan and Context know this interface only. Which kinds of devices
// there are stands in one table (lib/Runtime/Devices.cpp).
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

/// What a device tells of itself.
struct DeviceInfo {
  /// "cpu", "cuda"; the index among the devices of this kind.
  std::string kind;
  unsigned index = 0;
  /// The product's name, empty where it is not known.
  std::string name;
  /// As the manifest of an artifact spells it.
  std::string arch;
  /// What drives it ("CUDA 12.8"), empty where nothing does.
  std::string driver;
  /// Numbers by name ("threads", "memory_bytes"), in order.
  std::vector<std::pair<std::string, uint64_t>> properties;
};

/// A kernel of a module, in the terms of the device.
using KernelHandle = void *;
/// A stream of the caller's, in the terms of the device (CUDA: a CUstream; null
/// is the default one).
using CallerStream = void *;

/// Code on a device.
class Module {
public:
  virtual ~Module();
  /// The member of the artifact that it comes from.
  virtual const char *getMember() const = 0;
  /// Null where the code has no such kernel.
  virtual KernelHandle find(const std::string &kernel) const = 0;
};

/// One copy of a call. In and Out cross between the host and the device.
struct Copy {
  enum class Kind : uint8_t { Within, In, Out };
  const void *from;
  void *to;
  uint64_t bytes;
  Kind kind;
  /// On the device's side it begins where the copy before ends, rounded up to
  /// kCopyAlignment, in the same block: the two may be made as one.
  bool joins = false;
};
constexpr uint64_t kCopyAlignment = 256;
/// The least multiple that is not below `bytes`.
constexpr uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Notified of every step of a call, in order; the device then runs one step
/// after the other and waits for each.
class StepObserver {
public:
  virtual ~StepObserver();
  virtual void before(uint32_t step, unsigned threads) = 0;
  /// `microseconds` is what the device measured; absent where it has no clock
  /// of its own. An error ends the call.
  virtual Status after(uint32_t step, std::optional<double> microseconds) = 0;
};

/// The steps of one context, made ready once and launched by each call. Copies
/// and launches take place in the order of the calls; a device may work while
/// the caller goes on, until `finish`.
class LaunchPlan {
public:
  virtual ~LaunchPlan();
  /// New sizes: the values of the symbols, and those of the expressions of all
  /// launches (visitExprs) of all steps, one after the other. Both stay where
  /// they are while the plan exists.
  virtual Status setSizes(std::span<const int64_t> symbols,
                          std::span<const int64_t> launches) = 0;
  /// New memory: the buffers of all steps, one after the other; they stay where
  /// they are while the plan exists.
  virtual Status setBuffers(std::span<void *const> buffers) = 0;
  virtual Status copy(std::span<const Copy> copies) = 0;
  /// Starts all steps. An index out of range is an error here or in `finish`.
  virtual Status launch(StepObserver *observer) = 0;
  /// Waits for everything started.
  virtual Status finish() = 0;
  /// From here on copies and launches are work of a stream of the caller's, in
  /// its order; absent: of the plan's own. Either way they come after what was
  /// started before. An error where the device has no such stream.
  virtual Status setStream(std::optional<CallerStream> stream);
  /// Ends a call in place of `finish`, without a wait: no copy of it crossed
  /// between host and device, and its stream is the caller's.
  virtual Status defer();
  /// An index out of range that calls which were ended so, or replays of a
  /// capture, have found by now.
  virtual Status checkDeferred() { return {}; }
  /// Adds the copies and all steps, for the present sizes and memory, to the
  /// graph that a stream of the caller's is captured into, as the stream's next
  /// work. The plan and all memory must stay as they are for as long as that
  /// graph is launched.
  virtual Status capture(CallerStream stream, std::span<const Copy> before,
                         std::span<const Copy> after);
  /// Nanoseconds of one launch of all steps, by the device's clock: the mean of
  /// `repeats` launches, one after the other.
  virtual Result<double> time(unsigned repeats) = 0;
  /// Memory that the plan allocated.
  virtual uint64_t getMemoryBytes() const = 0;
  /// How often steps were put together for the device anew, for tests: new
  /// sizes and pointers must not do so.
  virtual uint64_t getNumCaptures() const { return 0; }
};

/// A device: memory, code, launches. Thread-safe; lives as long as the process.
class Device {
public:
  enum class Place : uint8_t { Device, Host };

  virtual ~Device();
  virtual DeviceInfo describe() const = 0;

  /// Whether code for this target can run here; an error says what is missing.
  virtual Status check(const TargetSpec &target) const = 0;
  /// Whether steps of this library can run here; an error says what is missing.
  virtual Status checkLibrary(std::string_view library);
  /// Reads a member of the artifact.
  using ReadMember = std::function<Result<Bytes>(std::string_view name)>;
  virtual Result<std::unique_ptr<Module>> load(const TargetSpec &target,
                                               const ReadMember &read) = 0;
  /// Loads a member that holds code of a user.
  virtual Result<std::unique_ptr<Module>>
  loadCustom(const std::string &member, const ReadMember &read) = 0;

  /// Whether memory of the device is memory of the host.
  virtual bool sharesMemory() const = 0;
  /// Whether kernels and copies within the device reach this memory of the
  /// caller.
  virtual bool reaches(const void *memory) const = 0;
  /// Memory of the device, or of the host where copies to and from the device
  /// are fast, aligned to kAlignment at least; null if there is none. Rounds
  /// `bytes` up to what is allocated.
  virtual void *allocate(uint64_t &bytes, Place place) = 0;
  virtual void release(void *memory, Place place) = 0;
  /// Copies at once, between any two places of the kind.
  virtual Status copy(const Copy &copy) = 0;

  /// Whether what a stream of the caller's is given is recorded in a graph and
  /// not done (CUDA: stream capture). An error where the recording has failed.
  virtual Result<bool> isCapturing(CallerStream stream);
  /// Keeps an object for as long as the graph that the stream is captured into
  /// can be launched. It is released by a later use of the device.
  virtual Status keepWithCapture(CallerStream stream,
                                 std::shared_ptr<const void> owned);

  /// A plan for the steps of `manifest`, which lives as long, with the kernel
  /// or the user's function of each. A call uses at most `threads` threads of
  /// the host.
  virtual Result<std::unique_ptr<LaunchPlan>>
  createPlan(const Manifest &manifest, std::span<const KernelHandle> kernels,
             unsigned threads) = 0;
};

/// Aligned memory that only grows; contents are lost when it does.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  Memory(Memory &&other)
      : device(other.device), pointer(std::exchange(other.pointer, nullptr)),
        capacity(std::exchange(other.capacity, 0)), place(other.place) {}
  ~Memory() { release(); }
  /// False if there is no such memory. Always of the same device and place.
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

/// The error of a step that found an index out of range.
Error stepFailed(const Manifest &manifest, uint32_t step);

/// The device `index` of a kind; opened once in a process. An error says why
/// there is none.
Result<Device *> openDevice(std::string_view kind, unsigned index = 0);

/// The devices of this machine. A kind whose driver is there but does not work
/// is told in *problems.
std::vector<DeviceInfo> listDevices(std::vector<std::string> *problems);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_DEVICE_H
