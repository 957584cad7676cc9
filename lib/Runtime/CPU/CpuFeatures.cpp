//===- CpuFeatures.cpp - Instruction sets an artifact may require ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/CpuFeatures.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace luminal;
using namespace luminal::runtime;

namespace {
struct Feature {
  std::string_view name;
  bool (*present)();
};

#if defined(__x86_64__)
#define LUMINAL_FEATURE(name)                                                  \
  Feature {                                                                    \
    name, [] { return __builtin_cpu_supports(name) != 0; }                     \
  }
const Feature kFeatures[] = {LUMINAL_FEATURE("sse"),
                             LUMINAL_FEATURE("sse2"),
                             LUMINAL_FEATURE("sse3"),
                             LUMINAL_FEATURE("ssse3"),
                             LUMINAL_FEATURE("sse4.1"),
                             LUMINAL_FEATURE("sse4.2"),
                             LUMINAL_FEATURE("sse4a"),
                             LUMINAL_FEATURE("avx"),
                             LUMINAL_FEATURE("avx2"),
                             LUMINAL_FEATURE("fma"),
                             LUMINAL_FEATURE("fma4"),
                             LUMINAL_FEATURE("xop"),
                             LUMINAL_FEATURE("f16c"),
                             LUMINAL_FEATURE("bmi"),
                             LUMINAL_FEATURE("bmi2"),
                             LUMINAL_FEATURE("tbm"),
                             LUMINAL_FEATURE("lzcnt"),
                             LUMINAL_FEATURE("popcnt"),
                             LUMINAL_FEATURE("movbe"),
                             LUMINAL_FEATURE("adx"),
                             LUMINAL_FEATURE("aes"),
                             LUMINAL_FEATURE("vaes"),
                             LUMINAL_FEATURE("pclmul"),
                             LUMINAL_FEATURE("vpclmulqdq"),
                             LUMINAL_FEATURE("gfni"),
                             LUMINAL_FEATURE("sha"),
                             LUMINAL_FEATURE("avx512f"),
                             LUMINAL_FEATURE("avx512cd"),
                             LUMINAL_FEATURE("avx512bw"),
                             LUMINAL_FEATURE("avx512dq"),
                             LUMINAL_FEATURE("avx512vl"),
                             LUMINAL_FEATURE("avx512ifma"),
                             LUMINAL_FEATURE("avx512vbmi"),
                             LUMINAL_FEATURE("avx512vbmi2"),
                             LUMINAL_FEATURE("avx512vnni"),
                             LUMINAL_FEATURE("avx512bitalg"),
                             LUMINAL_FEATURE("avx512bf16"),
                             LUMINAL_FEATURE("avx512fp16"),
                             LUMINAL_FEATURE("avxvnni"),
                             LUMINAL_FEATURE("avxvnniint8"),
                             LUMINAL_FEATURE("avxvnniint16"),
                             LUMINAL_FEATURE("avxneconvert"),
                             LUMINAL_FEATURE("avxifma"),
                             LUMINAL_FEATURE("avx512vpopcntdq"),
                             LUMINAL_FEATURE("amx-tile"),
                             LUMINAL_FEATURE("amx-int8"),
                             LUMINAL_FEATURE("amx-bf16"),
                             LUMINAL_FEATURE("amx-fp16"),
                             LUMINAL_FEATURE("avx512vp2intersect")};
#undef LUMINAL_FEATURE
#else
// On this architecture, code uses no optional instruction sets.
const Feature kFeatures[] = {{"", [] { return false; }}};
#endif

const Feature *findFeature(std::string_view name) {
  for (const Feature &feature : kFeatures)
    if (!name.empty() && feature.name == name)
      return &feature;
  return nullptr;
}
} // namespace

std::string_view runtime::hostArch() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
#error "this architecture has no name here"
#endif
}

bool runtime::isIsaFeature(std::string_view name) {
  return findFeature(name) != nullptr;
}

std::vector<std::string> runtime::getCpuFeatures() {
  std::vector<std::string> names;
  for (const Feature &feature : kFeatures)
    if (feature.present())
      names.emplace_back(feature.name);
  return names;
}

Status runtime::checkCpuFeatures(const std::vector<std::string> &features) {
  for (const std::string &name : features) {
    const Feature *feature = findFeature(name);
    if (!feature)
      return Error("needs the CPU feature '" + name +
                   "', which this runtime does not know");
    if (!feature->present())
      return Error("needs the CPU feature '" + name +
                   "', which this machine does not have");
#if defined(__x86_64__)
    if (name == "amx-tile") {
      // Tile registers are large, so Linux enables them only on request.
      constexpr long requestPermission = 0x1023, tileData = 18;
      if (::syscall(SYS_arch_prctl, requestPermission, tileData) != 0)
        return Error("needs AMX tiles, which the system refuses");
    }
#endif
  }
  return {};
}
