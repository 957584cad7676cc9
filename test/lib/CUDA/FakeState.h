//===- FakeState.h - What the fake driver remembers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_LIB_CUDA_FAKESTATE_H
#define LUMINAL_TEST_LIB_CUDA_FAKESTATE_H

#include "FakeDriver.h"
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

namespace luminal::runtime::cuda {
/// Device addresses have this bit, so that the host cannot read them.
constexpr DevicePointer kTag = 1ull << 62;

struct Fake {
  FakeCounts counts;
  std::map<std::string, int64_t> settings = {
      {"version", 12080},     {"init", 0},
      {"count", 1},           {"major", 9},
      {"minor", 0},           {"memory", int64_t(1) << 40},
      {"multiprocessors", 4}, {"occupancy", 2},
      {"clock", 1980000},     {"memory_clock", 3201000},
      {"memory_bits", 6144},  {"cache", 50 << 20}};
  std::map<uintptr_t, size_t> device, pinned;
  std::set<StreamHandle> streams;
  size_t used = 0;
  std::recursive_mutex mutex;

  Fake() {
    const char *text = std::getenv("LUMINAL_FAKE_CUDA");
    std::istringstream in(text ? text : "");
    for (std::string entry; std::getline(in, entry, ',');)
      if (size_t equal = entry.find('='); equal != std::string::npos)
        settings[entry.substr(0, equal)] =
            std::strtoll(entry.c_str() + equal + 1, nullptr, 10);
  }

  static bool within(const std::map<uintptr_t, size_t> &ranges, uintptr_t begin,
                     size_t bytes) {
    auto after = ranges.upper_bound(begin);
    if (after == ranges.begin())
      return false;
    auto [base, size] = *std::prev(after);
    return begin - base <= size && bytes <= size - (begin - base);
  }
  /// The host address of device memory; null if it is not device memory.
  uint8_t *translate(DevicePointer memory, size_t bytes) {
    if (!(memory & kTag) || !within(device, memory & ~kTag, bytes))
      return nullptr;
    return reinterpret_cast<uint8_t *>(memory & ~kTag);
  }
  bool isPinned(const void *memory, size_t bytes) {
    return within(pinned, reinterpret_cast<uintptr_t>(memory), bytes);
  }
};

Fake &fake();

struct Function {
  std::string op;
  int64_t constant = 0, factor = 0;
  size_t symbol = 0;
  /// A user function, which takes the arguments of UserLaunch.
  bool isUser = false;
};

/// y[i] = factor * x[i], for i < n.
struct UserLaunch {
  DevicePointer x, y;
  int64_t n;
  int32_t factor;
};

struct Launch {
  const Function *function;
  DevicePointer buffers, symbols;
  int32_t *status;
};

/// Executes a kernel or a user function; returns an error code of the driver.
int runKernel(const Launch &launch);
int runUserFunction(const UserLaunch &launch);
} // namespace luminal::runtime::cuda

#endif // LUMINAL_TEST_LIB_CUDA_FAKESTATE_H
