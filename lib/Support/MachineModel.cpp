//===- MachineModel.cpp - Models of machines as text ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/MachineModel.h"
#include <cctype>
#include <nlohmann/json.hpp>

using namespace luminal;

std::string MachineModel::str(int indent) const {
  nlohmann::ordered_json json;
  visitMachineFields(*this, [&](const char *name, const auto &field, double,
                                double) { json[name] = field; });
  return json.dump(indent);
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

namespace {
/// A row of GPUs.def.
struct GPU {
  std::string_view name, arch;
  unsigned multiprocessors;
  double clock, lanes, narrow, wide, memory;
  int64_t cache;
  unsigned threads, blocks;
};
} // namespace

static constexpr GPU kGPUs[] = {
#define LUMINAL_GPU(NAME, ARCH, MULTIPROCESSORS, CLOCK, LANES, NARROW, WIDE,   \
                    MEMORY, CACHE, THREADS, BLOCKS)                            \
  {NAME, ARCH,   MULTIPROCESSORS, CLOCK,   LANES, NARROW,                      \
   WIDE, MEMORY, CACHE,           THREADS, BLOCKS},
#include "luminal/Support/GPUs.def"
};

/// The architecture without its suffix ("sm_90a" is of "sm_90").
static std::string_view getFamily(std::string_view arch) {
  return arch.substr(0, arch.find_first_of("af", 3));
}

static unsigned getCapability(std::string_view arch) {
  unsigned capability = 0;
  for (char digit : getFamily(arch).substr(std::min<size_t>(3, arch.size())))
    capability = 10 * capability + unsigned(digit - '0');
  return capability;
}

/// Whether `word` is one of the words of a product's name.
static bool hasWord(std::string_view text, std::string_view word) {
  std::string next;
  for (char c : std::string(text) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      next += char(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (next == word)
      return true;
    next.clear();
  }
  return false;
}

/// The row of the product; otherwise the first row of the architecture, or of
/// the latest older one.
static const GPU &findGPU(std::string_view arch, std::string_view name) {
  const GPU *found = &kGPUs[0];
  for (const GPU &gpu : kGPUs) {
    if (getCapability(gpu.arch) > getCapability(arch))
      continue;
    if (gpu.arch == getFamily(arch) && hasWord(name, gpu.name))
      return gpu;
    if (getCapability(gpu.arch) > getCapability(found->arch))
      found = &gpu;
  }
  return *found;
}

std::string_view MachineModel::getArchOfGPU(std::string_view name) {
  for (const GPU &gpu : kGPUs)
    if (gpu.name == name)
      return gpu.arch;
  return {};
}

/// Maximum shared memory per block by compute capability; for unknown ones, the
/// amount that all have from 8.0 on.
static int64_t getSharedBytes(std::string_view arch) {
  static constexpr std::pair<std::string_view, int64_t> kKibibytes[] = {
      {"sm_80", 163},
      {"sm_87", 163},
      {"sm_90", 227},
      {"sm_100", 227},
      {"sm_103", 227}};
  for (auto [name, count] : kKibibytes)
    if (getFamily(arch) == name)
      return count << 10;
  return 99 << 10;
}

MachineModel MachineModel::getLeastGPU() {
  MachineModel machine = getGPU("sm_80");
  machine.sharedBytes = getSharedBytes({});
  return machine;
}

MachineModel MachineModel::getGPU(std::string_view arch,
                                  const GPUFacts &facts) {
  // Fractions of the theoretical peak that were measured on H100 and H200: of
  // ALU throughput and memory bandwidth (kShare); of tensor cores, in graphs of
  // products of 2048 x 4096 x 4096 in bf16 (670 TFLOP/s by the library), 4096
  // cubed in f32 and 1024 cubed in f64.
  constexpr double kShare = 0.9;
  constexpr Rates kKernels = {0.21, 0.48, 0.51}, kLibrary = {0.63, 0.77, 0.78};
  // With wgmma: products of 4096 x 768 x 768 to 2048 x 4096 x 4096 took 1.15 to
  // 1.45 of the library's time on an H200.
  constexpr double kWarpGroups = 0.5;
  // Bytes per cycle that an SM reads from L1 (its width), and that each SM
  // reads from L2 when all do (5.5 TB/s in total on an H100); bytes per
  // nanosecond that a single SM reads from memory (40 KiB in flight for 650
  // ns), and that latency.
  constexpr double kOwnBytes = 128, kSharedBytes = 24, kAlone = 60,
                   kLatency = 650;

  const GPU &gpu = findGPU(arch, facts.name);
  double clock = facts.clock > 0 ? facts.clock : gpu.clock;
  MachineModel machine;
  machine.workers =
      facts.multiprocessors ? facts.multiprocessors : gpu.multiprocessors;
  machine.vectorBits = 128;
  machine.vectorRegisters = 0;
  machine.blockThreads = 1024;
  machine.warpThreads = 32;
  machine.residentThreads = gpu.threads;
  machine.residentBlocks = gpu.blocks;
  // One or two warps per warp scheduler, measured on an H200.
  machine.smoothThreads = 192;
  machine.sharedBytes = getSharedBytes(arch);
  // The limit of shared memory without opting in; 32 banks of four bytes.
  machine.plainSharedBytes = 48 << 10;
  machine.bankBytes = 128;
  machine.lineBytes = 128;
  machine.blockRegisters = 1 << 16;
  machine.threadRegisters = 255;
  // Specific to this architecture: later ones do not support it.
  machine.hasWarpGroups = arch == "sm_90a";
  machine.hasScratch = false;
  machine.unitElements = 1;
  // Shared memory is a part of the SM's L1.
  machine.l1Bytes = machine.sharedBytes;
  machine.l2Bytes = machine.sharedBytes;
  machine.l3Bytes = facts.cacheBytes > 0 ? facts.cacheBytes : gpu.cache << 20;

  machine.sharedReadRate =
      kShare * (facts.memoryRate > 0 ? facts.memoryRate : gpu.memory);
  machine.readRate = machine.copyRate = kAlone;
  machine.cacheRate = kShare * clock * kOwnBytes;
  machine.sharedCacheRate = kShare * clock * kSharedBytes;
  machine.memoryLatency = kLatency;
  machine.operationRate = kShare * clock * gpu.lanes;
  machine.fmaRate128 = machine.operationRate;
  // Measured on an H200 between kernels of a graph with one dependency each.
  machine.launchTime = 1400;
  machine.handOverTime = 0;

  // Rates of products on unmeasured GPUs are those of an H100 relative to its
  // peak.
  double cycles = machine.workers * clock;
  auto scale = [&](const Rates &part) {
    return Rates{part.f16 * cycles * gpu.narrow, part.f32 * cycles * gpu.lanes,
                 part.f64 * cycles * gpu.wide};
  };
  machine.products.kernels = scale(kKernels);
  machine.products.staged = machine.products.kernels;
  if (machine.hasWarpGroups)
    machine.products.staged.f16 = kWarpGroups * cycles * gpu.narrow;
  machine.products.library = scale(kLibrary);
  // Measured with 4 to 128 rows.
  machine.products.step = {6, 32, 50};
  machine.products.libraryTime = 3500;
  // Measured on an H200: BERT with 128 tokens in f16 took 397 us with kernels
  // alone and 407 us with 24 library calls that take as long in isolation. The
  // last figure is that of an activation between two products of 128 rows.
  machine.products.libraryEdge = 750;
  machine.products.betweenCalls = 4400;
  return machine;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

Result<MachineModel> MachineModel::parse(const JsonRef &json) {
  MachineModel model;
  std::optional<Error> error;
  visitMachineFields(
      model, [&](const char *name, auto &field, double least, double greatest) {
        if (error)
          return;
        auto read = [&]() -> Status {
          LUMINAL_TRY(value, json.at(name));
          using Field = std::remove_reference_t<decltype(field)>;
          double number = 0;
          if constexpr (std::is_same_v<Field, bool>) {
            LUMINAL_TRY(flag, value.asBool());
            field = flag;
            number = flag;
          } else if constexpr (std::is_same_v<Field, double>) {
            LUMINAL_TRY(rate, value.asDouble());
            number = field = rate;
          } else {
            LUMINAL_TRY(integer, value.asInt());
            number = static_cast<double>(integer);
            if (number >= least && number <= greatest)
              field = static_cast<Field>(integer);
          }
          if (!(number >= least && number <= greatest))
            return value.error("is out of range");
          return {};
        };
        if (Status done = read(); !done)
          error = done.error();
      });
  if (error)
    return *error;
  return model;
}
