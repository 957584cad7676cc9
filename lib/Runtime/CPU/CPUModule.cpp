//===- CPUModule.cpp - Loads shared objects from memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPUDevice.h"
#include "luminal/Support/MemoryFile.h"
#include "luminal/Support/OutputFile.h"
#include <dlfcn.h>

using namespace luminal;
using namespace luminal::runtime;

namespace {
constexpr char kMember[] = "host.so";

class CPUModule : public Module {
public:
  CPUModule(MemoryFile file, std::string member)
      : file(std::move(file)), member(std::move(member)) {}
  ~CPUModule() override {
    if (object)
      ::dlclose(object);
  }
  Status open(const Bytes &code);
  const char *getMember() const override { return member.c_str(); }
  KernelHandle find(const std::string &kernel) const override;

private:
  /// Holds the shared object open while it is loaded. The loader identifies
  /// libraries by path, and would confuse two of them if a descriptor number
  /// were reused.
  MemoryFile file;
  std::string member;
  void *object = nullptr;
};
} // namespace

/// Whether the loader has a library with this path.
static bool isLoaded(const std::string &path) {
  void *known = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (known)
    ::dlclose(known);
  return known != nullptr;
}

Status CPUModule::open(const Bytes &code) {
  // Libraries that cannot be unloaded, or that other code opened, may still be
  // registered under the path of a reused descriptor.
  while (isLoaded(file.getPath()))
    LUMINAL_CHECK(file.renumber());
  LUMINAL_CHECK(writeFileAtomically(file.getPath(), {code.text()}));
  object = ::dlopen(file.getPath().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object)
    return Error(std::string("cannot be loaded: ") + ::dlerror());
  return {};
}

KernelHandle CPUModule::find(const std::string &kernel) const {
  void *symbol = ::dlsym(object, kernel.c_str());
  // The search includes libraries that the object depends on; a kernel must be
  // defined by the object itself.
  Dl_info found;
  if (symbol && ::dladdr(symbol, &found) && found.dli_fname != file.getPath())
    return nullptr;
  return symbol;
}

Result<std::unique_ptr<Module>> CPUDevice::load(const TargetSpec &,
                                                const ReadMember &read) {
  return loadCustom(kMember, read);
}

Result<std::unique_ptr<Module>> CPUDevice::loadCustom(const std::string &member,
                                                      const ReadMember &read) {
  LUMINAL_TRY(code, read(member));
  auto file = MemoryFile::create();
  if (!file)
    return file.takeError().within(member);
  auto module = std::make_unique<CPUModule>(std::move(*file), member);
  if (Status status = module->open(code); !status)
    return status.takeError().within(member);
  return std::unique_ptr<Module>(std::move(module));
}
