//===- Driver.cpp - The CUDA driver, opened at run time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace luminal;
using namespace luminal::runtime::cuda;

/// Minimum version, in the driver's encoding (12.0): for graphs of kernels, and
/// for the PTX that LLVM emits for Hopper.
static constexpr int kLeastVersion = 12000;

static const char *getPath() {
  const char *path = std::getenv("LUMINAL_LIBCUDA");
  return path && *path ? path : "libcuda.so.1";
}

/// Opened once and never closed.
static void *getLibrary() {
  static void *library = ::dlopen(getPath(), RTLD_NOW | RTLD_LOCAL);
  return library;
}

bool Driver::isInstalled() { return getLibrary() != nullptr; }

static std::string describe(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string Driver::describeVersion() const { return describe(version); }

Error Driver::error(const std::string &what, int code) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName(code, &name) != kSuccess || !name)
    return Error(what + ": error " + std::to_string(code) + " of the driver");
  std::string message = what + ": " + name;
  if (getErrorString(code, &text) == kSuccess && text)
    message += std::string(" (") + text + ")";
  return Error(std::move(message));
}

Result<Driver> Driver::open() {
  void *library = getLibrary();
  if (!library)
    return Error(std::string("there is no NVIDIA driver: ") + getPath() +
                 " cannot be opened");
  Driver driver;
  const char *missing = nullptr;
#define LUMINAL_CUDA_FUNCTION(name, symbol, parameters)                        \
  driver.name =                                                                \
      reinterpret_cast<decltype(driver.name)>(::dlsym(library, #symbol));      \
  if (!driver.name && !missing)                                                \
    missing = #symbol;
#define LUMINAL_CUDA_NEWER_FUNCTION(name, symbol, parameters)                  \
  driver.name =                                                                \
      reinterpret_cast<decltype(driver.name)>(::dlsym(library, #symbol));
#include "DriverFunctions.def"
  auto tooOld = [](const std::string &why) {
    return Error("the NVIDIA driver is too old: " + why);
  };
  if (driver.driverGetVersion &&
      driver.driverGetVersion(&driver.version) == kSuccess &&
      driver.version < kLeastVersion)
    return tooOld("it supports CUDA " + driver.describeVersion() + ", " +
                  describe(kLeastVersion) + " is needed");
  if (missing)
    return tooOld(std::string("it lacks ") + missing);
  if (int code = driver.init(0); code == kNoDevice)
    return driver;
  else if (code != kSuccess)
    return driver.error("the NVIDIA driver does not start", code);
  LUMINAL_CHECK(driver.check(driver.deviceGetCount(&driver.count),
                             "the NVIDIA driver cannot count its devices"));
  return driver;
}

const Result<Driver> &Driver::get() {
  static const Result<Driver> driver = open();
  return driver;
}
