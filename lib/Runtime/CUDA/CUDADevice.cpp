//===- CUDADevice.cpp - An NVIDIA GPU -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CUDADevice.h"
#include "../DeviceKind.h"
#include "CublasLt.h"
#include "luminal/Runtime/CudaFeatures.h"
#include <charconv>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

const DeviceKind runtime::kCUDADevices = {
    "cuda",
    []() -> Result<unsigned> {
      if (!Driver::isInstalled())
        return 0u;
      const Result<Driver> &driver = Driver::get();
      if (!driver)
        return driver.error();
      return static_cast<unsigned>(driver->count);
    },
    CUDADevice::open};

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Device>> CUDADevice::open(unsigned index) {
  const Result<Driver> &driver = Driver::get();
  if (!driver)
    return driver.error();
  if (index >= static_cast<unsigned>(driver->count))
    return Error(driver->count == 0
                     ? "the NVIDIA driver finds no GPU"
                     : "there is no device " + std::to_string(index) +
                           ", the last is " +
                           std::to_string(driver->count - 1));
  std::unique_ptr<CUDADevice> device(new CUDADevice(*driver));
  device->index = index;
  LUMINAL_CHECK(device->initialize());
  return std::unique_ptr<Device>(std::move(device));
}

Status CUDADevice::initialize() {
  auto check = [&](int code) {
    return driver.check(code, "the GPU cannot be used");
  };
  LUMINAL_CHECK(check(driver.deviceGet(&device, static_cast<int>(index))));
  char text[256] = {};
  LUMINAL_CHECK(check(driver.deviceGetName(text, sizeof text - 1, device)));
  name = text;
  auto attribute = [&](int which, unsigned &value) {
    int number = 0;
    Status status = check(driver.deviceGetAttribute(&number, which, device));
    value = static_cast<unsigned>(number);
    return status;
  };
  LUMINAL_CHECK(attribute(kComputeCapabilityMajor, major));
  LUMINAL_CHECK(attribute(kComputeCapabilityMinor, minor));
  LUMINAL_CHECK(attribute(kMultiprocessorCount, multiprocessors));
  LUMINAL_CHECK(attribute(kMaxSharedPerBlockOptin, mostShared));
  // Properties that price estimates use; not every driver reports all of them.
  for (auto [which, value] : {std::pair(kClockKilohertz, &clockKilohertz),
                              std::pair(kMemoryKilohertz, &memoryKilohertz),
                              std::pair(kMemoryBits, &memoryBits),
                              std::pair(kCacheBytes, &cacheBytes)})
    if (!attribute(which, *value))
      *value = 0;
  size_t bytes = 0;
  LUMINAL_CHECK(check(driver.deviceTotalMem(&bytes, device)));
  memoryBytes = bytes;
  // The primary context is shared with other libraries of the process. It is
  // never released: at process exit, the driver may be unloaded first.
  LUMINAL_CHECK(check(driver.primaryCtxRetain(&context, device)));
  Current current(*this);
  return check(driver.streamCreate(&stream, kStreamNonBlocking));
}

DeviceInfo CUDADevice::describe() const {
  DeviceInfo info;
  info.kind = "cuda";
  info.index = index;
  info.name = name;
  info.driver = "CUDA " + driver.describeVersion();
  info.arch = "sm_" + std::to_string(major) + std::to_string(minor);
  info.properties = {{"multiprocessors", multiprocessors},
                     {"memory_bytes", memoryBytes}};
  auto add = [&](const char *name, uint64_t value) {
    if (value)
      info.properties.push_back({name, value});
  };
  constexpr uint64_t kTransfers = 2, kBits = 8, kMillion = 1000000;
  add("clock_mhz", clockKilohertz / 1000);
  add("memory_gb_s",
      kTransfers * memoryKilohertz * memoryBits / kBits / kMillion);
  add("cache_bytes", cacheBytes);
  return info;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

std::optional<CudaArch> CudaArch::parse(std::string_view text) {
  if (!text.starts_with("sm_"))
    return std::nullopt;
  text.remove_prefix(3);
  CudaArch arch;
  if (text.ends_with('a') || text.ends_with('f')) {
    arch.exact = true;
    text.remove_suffix(1);
  }
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), arch.capability);
  if (code != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return arch;
}

namespace {
class CUDAModule : public Module {
public:
  CUDAModule(CUDADevice &device, std::string member)
      : device(device), member(std::move(member)) {}
  ~CUDAModule() override {
    CUDADevice::Current current(device);
    if (module)
      device.getDriver().moduleUnload(module);
  }
  Status open(const Bytes &code);
  const char *getMember() const override { return member.c_str(); }
  KernelHandle find(const std::string &kernel) const override {
    CUDADevice::Current current(device);
    FunctionHandle function = nullptr;
    int code =
        device.getDriver().moduleGetFunction(&function, module, kernel.c_str());
    return code == kSuccess ? function : nullptr;
  }

private:
  CUDADevice &device;
  std::string member;
  ModuleHandle module = nullptr;
};
} // namespace

Status CUDAModule::open(const Bytes &code) {
  // The driver expects PTX to end with a null byte.
  std::string image(code.text());
  char log[4096] = {};
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  CUDADevice::Current current(device);
  int result = device.getDriver().moduleLoadDataEx(&module, image.data(), 2,
                                                   options, values);
  if (result == kSuccess)
    return {};
  std::string why(log);
  while (!why.empty() && (why.back() == '\n' || why.back() == '\0'))
    why.pop_back();
  return device.getDriver().error(
      member + ": cannot be loaded" + (why.empty() ? "" : ": " + why), result);
}

Status CUDADevice::check(const TargetSpec &target) const {
  std::optional<CudaArch> arch = CudaArch::parse(target.arch);
  const unsigned capability = 10 * major + minor;
  if (arch && arch->runs(capability))
    return {};
  return Error("is compiled for '" + target.arch + "', this device (" + name +
               ") is 'sm_" + std::to_string(capability) + "'");
}

Result<std::unique_ptr<Module>> CUDADevice::load(const TargetSpec &target,
                                                 const ReadMember &read) {
  // A cubin runs on later devices of the same major version, PTX on all later
  // ones.
  std::optional<CudaArch> arch = CudaArch::parse(target.arch);
  const bool cubin =
      target.cubin.value_or(false) && arch && arch->capability / 10 == major;
  return loadCustom(cubin ? "device.cubin" : "device.ptx", read);
}

Result<std::unique_ptr<Module>>
CUDADevice::loadCustom(const std::string &member, const ReadMember &read) {
  LUMINAL_TRY(code, read(member));
  auto module = std::make_unique<CUDAModule>(*this, member);
  LUMINAL_CHECK(module->open(code));
  return std::unique_ptr<Module>(std::move(module));
}

Status CUDADevice::allowShared(FunctionHandle function, unsigned bytes) {
  std::lock_guard<std::mutex> lock(sharedMutex);
  int allowed = 0;
  int code =
      driver.funcGetAttribute(&allowed, kFunctionMaxDynamicShared, function);
  const auto wanted = static_cast<int>(bytes);
  if (code == kSuccess && allowed < wanted)
    code = driver.funcSetAttribute(function, kFunctionMaxDynamicShared, wanted);
  return code == kSuccess ? Status()
                          : driver.error("needs " + std::to_string(bytes) +
                                             " bytes of shared memory",
                                         code);
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

Result<lt::Handle> CUDADevice::getCublasLt() {
  const Result<CublasLt> &library = CublasLt::get();
  if (!library)
    return library.error();
  std::lock_guard<std::mutex> lock(cublasLtMutex);
  Current current(*this);
  if (!cublasLt)
    LUMINAL_CHECK(library->check(library->create(&cublasLt),
                                 "cuBLASLt does not start on this GPU"));
  return cublasLt;
}

std::optional<lt::Algorithm>
CUDADevice::findAlgorithm(const std::vector<int64_t> &product) {
  std::lock_guard<std::mutex> lock(cublasLtMutex);
  auto found = algorithms.find(product);
  return found == algorithms.end() ? std::nullopt
                                   : std::optional(found->second);
}

lt::Algorithm CUDADevice::keepAlgorithm(std::vector<int64_t> product,
                                        const lt::Algorithm &algorithm) {
  std::lock_guard<std::mutex> lock(cublasLtMutex);
  return algorithms.emplace(std::move(product), algorithm).first->second;
}

Status CUDADevice::checkLibrary(std::string_view library) {
  if (library != CublasLtLaunch::kLibrary)
    return Device::checkLibrary(library);
  LUMINAL_TRY(handle, getCublasLt());
  (void)handle;
  return {};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

CUDADevice::Owner CUDADevice::getOwner(const void *memory) const {
  Current current(*this);
  Owner owner;
  // Memory that the driver does not know belongs to the host; not an error.
  int attributes[] = {kPointerMemoryType, kPointerDeviceOrdinal};
  void *values[] = {&owner.type, &owner.device};
  if (driver.pointerGetAttributes(2, attributes, values, toDevice(memory)) !=
      kSuccess)
    return Owner();
  return owner;
}

bool CUDADevice::reaches(const void *memory) const {
  if (!memory)
    return false;
  Owner owner = getOwner(memory);
  return owner.type == kMemoryTypeDevice && owner.device == device;
}

bool CUDADevice::isPinned(const void *memory) const {
  return getOwner(memory).type == kMemoryTypeHost;
}

void *CUDADevice::allocate(uint64_t &bytes, Place place) {
  Current current(*this);
  bytes = (bytes + 255) / 256 * 256;
  if (place == Place::Host) {
    void *memory = nullptr;
    return driver.memHostAlloc(&memory, bytes, kHostPortable) == kSuccess
               ? memory
               : nullptr;
  }
  DevicePointer memory = 0;
  return driver.memAlloc(&memory, bytes) == kSuccess
             ? reinterpret_cast<void *>(memory)
             : nullptr;
}

void CUDADevice::release(void *memory, Place place) {
  // The owner of the memory has waited for the calls that use it. Waiting for
  // the whole context here would invalidate captures of other streams.
  Current current(*this);
  if (place == Place::Host)
    driver.memFreeHost(memory);
  else
    driver.memFree(toDevice(memory));
}

int CUDADevice::start(const Copy &copy, StreamHandle on) const {
  switch (copy.kind) {
  case Copy::Kind::In:
    return driver.memcpyIn(toDevice(copy.to), copy.from, copy.bytes, on);
  case Copy::Kind::Out:
    return driver.memcpyOut(copy.to, toDevice(copy.from), copy.bytes, on);
  case Copy::Kind::Within:
    return driver.memcpyWithin(toDevice(copy.to), toDevice(copy.from),
                               copy.bytes, on);
  }
  return kInvalidValue;
}

//===----------------------------------------------------------------------===//
// Stream captures of the caller
//===----------------------------------------------------------------------===//

/// An object whose lifetime is tied to a graph.
class CUDADevice::Kept {
public:
  explicit Kept(std::shared_ptr<const void> owned) : owned(std::move(owned)) {}

  /// Called by the driver, on one of its threads, when the graph is destroyed.
  static void retire(void *kept) {
    Gone &gone = getGone();
    std::lock_guard<std::mutex> lock(gone.mutex);
    gone.all.emplace_back(static_cast<Kept *>(kept));
    gone.isAny.store(true, std::memory_order_release);
  }
  /// Destroys the objects whose graphs are destroyed.
  static void destroyRetired() {
    Gone &gone = getGone();
    if (!gone.isAny.load(std::memory_order_acquire))
      return;
    std::vector<std::unique_ptr<Kept>> found;
    std::lock_guard<std::mutex> lock(gone.mutex);
    found.swap(gone.all);
    gone.isAny.store(false, std::memory_order_release);
  }

private:
  struct Gone {
    std::mutex mutex;
    std::vector<std::unique_ptr<Kept>> all;
    std::atomic<bool> isAny = false;
  };
  /// Never destroyed: graphs may be destroyed during process exit.
  static Gone &getGone() {
    static Gone *gone = new Gone;
    return *gone;
  }

  std::shared_ptr<const void> owned;
};

Result<bool> CUDADevice::isCapturing(CallerStream caller) {
  auto *of = static_cast<StreamHandle>(caller);
  int state = kCaptureNone;
  if (of && of != kLegacyStream) {
    Current current(*this);
    LUMINAL_CHECK(driver.check(driver.streamIsCapturing(of, &state),
                               "the stream cannot be used"));
  }
  if (state == kCaptureInvalidated)
    return Error("the capture of the stream has failed before this call");
  if (state == kCaptureNone)
    Kept::destroyRetired();
  return state == kCaptureActive;
}

Result<CUDADevice::Capture> CUDADevice::getCapture(StreamHandle stream) {
  Current current(*this);
  int state = kCaptureNone;
  unsigned long long id = 0;
  Capture capture;
  const NodeHandle *last = nullptr;
  size_t count = 0;
  LUMINAL_CHECK(
      driver.check(driver.streamGetCaptureInfo(stream, &state, &id,
                                               &capture.graph, &last, &count),
                   kCaptureError));
  if (state != kCaptureActive)
    return Error("the stream is not captured");
  // Copied, because the driver's array changes with the stream.
  capture.last.assign(last, last + count);
  return capture;
}

Status CUDADevice::keepWithCapture(CallerStream caller,
                                   std::shared_ptr<const void> owned) {
  Current current(*this);
  LUMINAL_TRY(capture, getCapture(static_cast<StreamHandle>(caller)));
  auto kept = std::make_unique<Kept>(std::move(owned));
  UserObjectHandle object = nullptr;
  LUMINAL_CHECK(
      driver.check(driver.userObjectCreate(&object, kept.get(), Kept::retire, 1,
                                           kNoDestructorSync),
                   kCaptureError));
  kept.release();
  int code =
      driver.graphRetainUserObject(capture.graph, object, 1, kMoveUserObject);
  if (code != kSuccess)
    driver.userObjectRelease(object, 1);
  return driver.check(code, kCaptureError);
}

Status CUDADevice::copy(const Copy &copy) {
  Current current(*this);
  std::lock_guard<std::mutex> lock(streamMutex);
  int code = start(copy, stream);
  if (code == kSuccess)
    code = driver.streamSynchronize(stream);
  return driver.check(code, "a copy failed");
}
