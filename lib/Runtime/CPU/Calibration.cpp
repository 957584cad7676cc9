//===- Calibration.cpp - Measures caches, rates and latencies -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each value is the best of several short trials, since other load on the
// machine can only make a trial worse.
//
//===----------------------------------------------------------------------===//

#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Runtime/ThreadPool.h"
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace luminal;
using namespace luminal::runtime;

namespace {
struct Free {
  void operator()(void *p) const { std::free(p); }
};
using Memory = std::unique_ptr<float, Free>;

Memory allocate(size_t bytes) {
  return Memory(static_cast<float *>(std::aligned_alloc(64, bytes)));
}

double now() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Nanoseconds of one call of `fn`, the minimum of `trials`.
template <typename Fn>
double timeOf(unsigned trials, Fn fn) {
  double best = INFINITY;
  for (unsigned i = 0; i < trials; ++i) {
    double begin = now();
    fn();
    best = std::min(best, now() - begin);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

std::string readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The data cache of a level as the system describes it; 0: unknown.
struct Cache {
  int64_t bytes = 0, lineBytes = 0, ways = 0;
};

/// Reads the data (or unified) cache of a level from sysfs.
Cache getCache(int level) {
  for (int i = 0; i < 8; ++i) {
    std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    if (readLine(folder + "level") != std::to_string(level) ||
        readLine(folder + "type") == "Instruction")
      continue;
    auto number = [&](const char *name) {
      return int64_t(
          std::strtoll(readLine(folder + name).c_str(), nullptr, 10));
    };
    std::string size = readLine(folder + "size");
    char unit = size.empty() ? ' ' : size.back();
    int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
    return {number("size") << shift, number("coherency_line_size"),
            number("ways_of_associativity")};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Rows and vectors of the accumulator tile; steps along k, whose operands fit
/// into L1.
constexpr int kRows = 6, kVectors = 2, kSteps = 64;
/// Floats that each loop reads or writes.
constexpr int kFloats = 4096;

/// Stores a vector non-temporally, if the compiler supports it.
#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define LUMINAL_STORE_PAST(VALUE, TO) __builtin_nontemporal_store(VALUE, TO)
#endif
#endif
#ifndef LUMINAL_STORE_PAST
#define LUMINAL_STORE_PAST(VALUE, TO) (*(TO) = (VALUE))
#endif

/// Benchmark loops with vectors of BYTES bytes: the inner loop of a matrix
/// product, an elementwise map, the sum of an array, and copies with regular
/// and non-temporal stores.
#define LUMINAL_LOOPS(NAME, TARGET, BYTES)                                     \
  struct NAME {                                                                \
    typedef float V __attribute__((vector_size(BYTES), may_alias));            \
    static constexpr int lanes = BYTES / 4;                                    \
    TARGET static void multiply(const float *a, const float *b, float *c,      \
                                int rounds) {                                  \
      V sums[kRows][kVectors] = {};                                            \
      for (int r = 0; r < rounds; ++r)                                         \
        for (int k = 0; k < kSteps; ++k) {                                     \
          const V *right = reinterpret_cast<const V *>(b) + k % 8 * kVectors;  \
          _Pragma("unroll") for (int i = 0; i < kRows; ++i) {                  \
            float left = a[k * kRows + i];                                     \
            _Pragma("unroll") for (int j = 0; j < kVectors; ++j) sums[i][j] += \
                left * right[j];                                               \
          }                                                                    \
        }                                                                      \
      std::memcpy(c, sums, sizeof sums);                                       \
    }                                                                          \
    TARGET static void map(const float *a, float *c, int rounds) {             \
      for (int r = 0; r < rounds; ++r) {                                       \
        const V *in = reinterpret_cast<const V *>(a);                          \
        V *out = reinterpret_cast<V *>(c);                                     \
        _Pragma("unroll 4") for (int i = 0; i < kFloats / lanes; ++i) out[i] = \
            in[i] + 1.0f;                                                      \
        asm volatile("" : : "r"(out) : "memory");                              \
      }                                                                        \
    }                                                                          \
    TARGET static void sum(const float *a, size_t floats, float *c) {          \
      const V *in = reinterpret_cast<const V *>(a);                            \
      V sums[8] = {};                                                          \
      for (size_t i = 0; i < floats / lanes; i += 8)                           \
        _Pragma("unroll") for (size_t j = 0; j < 8; ++j) sums[j] += in[i + j]; \
      std::memcpy(c, sums, sizeof sums);                                       \
    }                                                                          \
    TARGET static void copy(const float *a, size_t floats, float *c) {         \
      for (size_t i = 0; i < floats; i += lanes)                               \
        *reinterpret_cast<V *>(c + i) = *reinterpret_cast<const V *>(a + i);   \
      asm volatile("" : : "r"(c) : "memory");                                  \
    }                                                                          \
    TARGET static void copyPast(const float *a, size_t floats, float *c) {     \
      for (size_t i = 0; i < floats; i += lanes)                               \
        LUMINAL_STORE_PAST(*reinterpret_cast<const V *>(a + i),                \
                           reinterpret_cast<V *>(c + i));                      \
      std::atomic_thread_fence(std::memory_order_seq_cst);                     \
      asm volatile("" : : "r"(c) : "memory");                                  \
    }                                                                          \
  }

#define LUMINAL_TARGET(FEATURES) __attribute__((noinline, target(FEATURES)))
#define LUMINAL_BASE __attribute__((noinline))

LUMINAL_LOOPS(Plain, LUMINAL_BASE, 16);
#if defined(__x86_64__)
LUMINAL_LOOPS(Fused128, LUMINAL_TARGET("avx2,fma"), 16);
LUMINAL_LOOPS(Fused256, LUMINAL_TARGET("avx2,fma"), 32);
LUMINAL_LOOPS(Fused512,
              LUMINAL_TARGET("avx512f,avx512vl,avx512bw,avx512dq,fma"), 64);
#endif

#if defined(__x86_64__)
/// The inner loop of a bf16 matrix product with all vector registers; the bits
/// of `a` and `b` are pairs of bf16.
__attribute__((noinline, target("avx512f,avx512vl,avx512bw,avx512bf16"))) void
multiplyPairs(const float *a, const float *b, float *c, int rounds) {
  __m512 sums[kRows][kVectors] = {};
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < kSteps; ++k)
      _Pragma("unroll") for (int i = 0; i < kRows; ++i) {
        auto left =
            reinterpret_cast<__m512bh>(_mm512_set1_ps(a[k * kRows + i]));
        _Pragma("unroll") for (int j = 0; j < kVectors; ++j) sums[i][j] =
            _mm512_dpbf16_ps(sums[i][j], left,
                             reinterpret_cast<__m512bh>(_mm512_loadu_ps(
                                 b + (k % 8 * kVectors + j) * 16)));
      }
  std::memcpy(c, sums, sizeof sums);
}

/// Floats of one operand tile of multiplyTiles; steps along k, whose tiles fit
/// into L1.
constexpr int kTileFloats = 16 * 16, kTileSteps = 4;

/// The inner loop of a bf16 matrix product in AMX tile registers, with 2 x 2
/// accumulator tiles.
__attribute__((noinline, target("amx-tile,amx-bf16"))) void
multiplyTiles(const float *a, const float *b, float *c, int rounds) {
  struct alignas(64) {
    uint8_t palette = 1, rest[15] = {};
    uint16_t lineBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t lines[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < kTileSteps; ++k) {
      const float *rows = a + 2 * k * kTileFloats;
      const float *columns = b + 2 * k * kTileFloats;
      _tile_loadd(4, rows, 64);
      _tile_loadd(6, columns, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(7, columns + kTileFloats, 64);
      _tile_dpbf16ps(1, 4, 7);
      _tile_loadd(5, rows + kTileFloats, 64);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  _tile_stored(0, c, 64);
  _tile_stored(1, c + kTileFloats, 64);
  _tile_stored(2, c + 2 * kTileFloats, 64);
  _tile_stored(3, c + 3 * kTileFloats, 64);
  _tile_release();
}
#endif

/// One vector width and its loops.
struct Width {
  unsigned bits;
  double MachineModel::*fmaRate;
  void (*multiply)(const float *, const float *, float *, int);
  void (*map)(const float *, float *, int);
  void (*sum)(const float *, size_t, float *);
  void (*copy)(const float *, size_t, float *);
  void (*copyPast)(const float *, size_t, float *);
};

template <typename Loops>
Width widthOf(unsigned bits, double MachineModel::*rate) {
  return {bits,       rate,        Loops::multiply, Loops::map,
          Loops::sum, Loops::copy, Loops::copyPast};
}

/// The vector widths that this machine supports, in ascending order.
std::vector<Width> getWidths() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    std::vector<Width> widths{
        widthOf<Fused128>(128, &MachineModel::fmaRate128),
        widthOf<Fused256>(256, &MachineModel::fmaRate256)};
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
      widths.push_back(widthOf<Fused512>(512, &MachineModel::fmaRate512));
    return widths;
  }
#endif
  return {widthOf<Plain>(128, &MachineModel::fmaRate128)};
}

/// Measures all widths and returns the fastest. Of widths that are equally
/// fast, returns the widest, because it needs fewer instructions.
const Width &chooseWidth(const std::vector<Width> &widths,
                         MachineModel &model) {
  Memory a = allocate(4 * kFloats), b = allocate(4 * kFloats),
         c = allocate(4 * kFloats);
  if (!a || !b || !c)
    return widths.front();
  std::fill_n(a.get(), kFloats, 0.0f);
  std::fill_n(b.get(), kFloats, 0.0f);
  constexpr double kAsFast = 0.97;
  const Width *best = nullptr;
  for (const Width &width : widths) {
    // Warm up for 20 ms: wide vectors lower the clock only after some
    // milliseconds.
    constexpr int kRounds = 1000;
    auto run = [&] { width.multiply(a.get(), b.get(), c.get(), kRounds); };
    for (double end = now() + 20e6; now() < end;)
      run();
    double floats =
        double(kRounds) * kSteps * kRows * kVectors * width.bits / 32;
    model.*width.fmaRate = floats / timeOf(40, run);
    if (!best || model.*width.fmaRate >= kAsFast * model.*best->fmaRate)
      best = &width;
  }
  constexpr int kRounds = 200;
  model.operationRate = double(kRounds) * kFloats / timeOf(40, [&] {
                          best->map(a.get(), c.get(), kRounds);
                        });
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16") && best->bits == 512) {
    auto run = [&] { multiplyPairs(a.get(), b.get(), c.get(), 1000); };
    model.pairRate = 1000.0 * kSteps * kRows * kVectors * 32 / timeOf(40, run);
  }
  // The system may refuse permission although the processor supports AMX.
  if (checkCpuFeatures({"amx-tile", "amx-bf16"})) {
    constexpr int kTileRounds = 5000;
    auto run = [&] { multiplyTiles(a.get(), b.get(), c.get(), kTileRounds); };
    model.tileRate =
        double(kTileRounds) * kTileSteps * 32 * 32 * 32 / timeOf(40, run);
  }
#endif
  model.vectorBits = best->bits;
  model.vectorRegisters = best->bits == 512 ? 32 : 16;
  return *best;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The arguments of the measurement in which all workers read memory.
struct SharedRead {
  void (*sum)(const float *, size_t, float *);
  const float *memory;
  /// Floats per chunk.
  size_t floats;
};

int32_t readPieces(void *data, int64_t begin, int64_t end, unsigned) {
  auto &read = *static_cast<SharedRead *>(data);
  alignas(64) float sums[8 * 16];
  read.sum(read.memory + begin * read.floats, (end - begin) * read.floats,
           sums);
  return 0;
}

/// Returns the smallest result size, in bytes, from which non-temporal stores
/// followed by a read are faster than regular ones; 0 if never. A power of two,
/// so that the generated code does not depend on timing noise. `memory` is
/// `bytes` long.
int64_t measureStores(const Width &width, float *memory, size_t bytes) {
  constexpr size_t kLeast = 1 << 20, kMost = 64 << 20;
  constexpr double kPays = 0.95;
  alignas(64) float sums[8 * 16];
  float *result = memory + bytes / 8;
  auto timeWith = [&](auto copy, size_t size) {
    return timeOf(1, [&] {
      copy(memory, size / 4, result);
      width.sum(result, size / 4, sums);
    });
  };
  int64_t least = 0;
  // From the largest size down to the second consecutive one without a gain, in
  // case one measurement was disturbed.
  bool paid = true;
  for (size_t size = std::bit_floor(std::min(bytes / 2, kMost)); size >= kLeast;
       size /= 2) {
    // Interleaved, so that other load affects both alike.
    double usual = INFINITY, past = INFINITY;
    for (size_t i = 0, n = std::min<size_t>(16, 2 * kMost / size); i < n; ++i) {
      usual = std::min(usual, timeWith(width.copy, size));
      past = std::min(past, timeWith(width.copyPast, size));
    }
    bool pays = past <= kPays * usual;
    if (!pays && !paid)
      break;
    if (pays)
      least = static_cast<int64_t>(size);
    paid = pays;
  }
  return least;
}

/// Measures read and copy bandwidth of one worker and of all, and the size from
/// which non-temporal stores pay.
void measureMemory(const Width &width, MachineModel &model) {
  // More than the last-level cache holds.
  constexpr size_t kLeast = 64 << 20, kMost = 256 << 20;
  size_t bytes = std::clamp<size_t>(4 * static_cast<size_t>(getCache(3).bytes),
                                    kLeast, kMost);
  Memory memory = allocate(bytes);
  if (!memory)
    return;
  std::memset(memory.get(), 0, bytes);
  alignas(64) float sums[8 * 16];
  model.readRate = double(bytes) /
                   timeOf(4, [&] { width.sum(memory.get(), bytes / 4, sums); });
  float *half = memory.get() + bytes / 8;
  // Half of the bytes are read, half are written.
  model.copyRate = double(bytes) / timeOf(4, [&] {
                     std::memcpy(half, memory.get(), bytes / 2);
                   });
  model.nontemporalBytes = measureStores(width, memory.get(), bytes);
  // Many chunks, since workers start at different times.
  constexpr int64_t kPieces = 256;
  SharedRead read{width.sum, memory.get(), bytes / 4 / kPieces};
  model.sharedReadRate = model.readRate;
  ThreadPool &pool = ThreadPool::get();
  if (model.workers == 1 || !pool.tryAcquire(model.workers))
    return;
  double time = timeOf(8, [&] {
    pool.parallelFor(kPieces, 1, model.workers, readPieces, &read);
  });
  pool.release();
  model.sharedReadRate = std::max(model.readRate, double(bytes) / time);
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// A chunk that takes `*data` nanoseconds.
int32_t spin(void *data, int64_t, int64_t, unsigned) {
  double end = now() + *static_cast<double *>(data);
  while (now() < end)
    ;
  return 0;
}

int32_t nothing(void *, int64_t, int64_t, unsigned) { return 0; }

/// Measures the time to start a job, alone and with a second worker.
void measureWorkers(MachineModel &model) {
  ThreadPool &pool = ThreadPool::get();
  // The latency is the time that two workers take beyond half of a job.
  unsigned threads = std::min(availableThreads(), 2u);
  if (!pool.tryAcquire(threads))
    return;
  constexpr int kCalls = 1000;
  model.launchTime = timeOf(10,
                            [&] {
                              for (int i = 0; i < kCalls; ++i)
                                pool.parallelFor(1, 1, 1, nothing, nullptr);
                            }) /
                     kCalls;
  // A worker that waits for a free core gives no measurement: try long enough
  // for one to become free. If no worker ever joins, the default stays.
  double half = 20e3, best = half, end = now() + 400e6;
  while (threads > 1 && now() < end) {
    double begin = now();
    pool.parallelFor(2, 1, 2, spin, &half);
    best = std::min(best, now() - begin - half);
  }
  if (best < half)
    model.handOverTime = std::max(best, 0.0);
  pool.release();
}
} // namespace

void runtime::askSystem(MachineModel &model) {
  Cache first = getCache(1);
  if (first.bytes > 0)
    model.l1Bytes = first.bytes;
  if (first.lineBytes > 0)
    model.lineBytes = first.lineBytes;
  if (first.bytes > 0 && first.ways > 0)
    model.l1WayBytes = first.bytes / first.ways;
  if (int64_t bytes = getCache(2).bytes) {
    model.l2Bytes = bytes;
    // A system that reports an L2 also reports the L3, if there is one.
    model.l3Bytes = getCache(3).bytes;
  }
  model.workers = availableThreads();
}

MachineModel runtime::measureMachine() {
  MachineModel model;
  askSystem(model);
  std::vector<Width> widths = getWidths();
  const Width &width = chooseWidth(widths, model);
  measureMemory(width, model);
  measureWorkers(model);
  // Distributing work may cost a tenth of the work itself. A power of two, so
  // that the generated code does not depend on timing noise.
  double operations = 10 * model.handOverTime * model.operationRate;
  model.grain =
      int64_t(1) << std::clamp(
          static_cast<int>(std::lround(std::log2(operations + 1))), 14, 20);
  return model;
}
