//===- MachineModel.h - Sizes and rates of a machine ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes and rates of a machine by which the compiler estimates times. Does
// not include LLVM: the runtime measures and prints models.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_MACHINEMODEL_H
#define LUMINAL_SUPPORT_MACHINEMODEL_H

#include "luminal/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace luminal {

/// What the GPU's driver reports about it; 0: unknown.
struct GPUFacts {
  /// The product's name.
  std::string name;
  unsigned multiprocessors = 0;
  /// GHz; GB/s from the bus's width and clock; bytes of L2.
  double clock = 0;
  double memoryRate = 0;
  int64_t cacheBytes = 0;
};

/// A machine: one worker (a CPU core, or a streaming multiprocessor of a GPU),
/// and the number of workers. Prices of ops, schedules and the work per thread
/// derive from it; sizes and rates of a machine are stated nowhere else. The
/// defaults are round numbers for an unknown machine; a calibration
/// (luminal/Runtime/Machine.h) measures the current one.
struct MachineModel {
  /// Workers that run at once: usable cores of a CPU, SMs of a GPU.
  unsigned workers = 16;
  /// Width in bits of the widest vectors that are worth using; 32: scalar code.
  unsigned vectorBits = 128;
  /// Number of vector registers; 0: no accumulator tiles in registers.
  unsigned vectorRegisters = 16;
  /// Bytes of a cache line.
  int64_t lineBytes = 64;
  /// Bytes of the private caches of a worker, and of one way of L1: addresses
  /// that are a multiple of it apart map to the same cache set.
  int64_t l1Bytes = 32 << 10;
  int64_t l1WayBytes = 4096;
  int64_t l2Bytes = 1 << 20;
  /// Bytes of the cache that the workers share; 0: none.
  int64_t l3Bytes = 32 << 20;
  /// Size in bytes from which results are written with non-temporal stores,
  /// because the caches would not hold them until they are read; 0: never.
  int64_t nontemporalBytes = 0;
  /// Bytes, and alignment, of the smallest vector that non-temporal stores
  /// write.
  int64_t nontemporalVectorBytes = 16;
  /// Whether kernels have scratch memory for intermediate values of a work
  /// item.
  bool hasScratch = true;
  /// Maximum number of elements of an elementwise kernel in one work item.
  int64_t unitElements = 4096;
  /// Number of simple operations that are worth a separate worker: about ten
  /// microseconds of vector code.
  int64_t grain = 1 << 17;
  /// GPU: maximum threads per block; threads per warp. 0 on machines without
  /// thread blocks.
  unsigned blockThreads = 0;
  unsigned warpThreads = 0;
  /// GPU: maximum resident threads and blocks per SM; threads that an SM runs
  /// without slowing each other down.
  unsigned residentThreads = 0;
  unsigned residentBlocks = 0;
  unsigned smoothThreads = 0;
  /// GPU: maximum bytes of shared memory per block; bytes that any block may
  /// use without opting in; bytes that the banks deliver per cycle.
  int64_t sharedBytes = 0;
  int64_t plainSharedBytes = 0;
  int64_t bankBytes = 0;
  /// GPU: 32-bit registers per SM; maximum per thread. 0 on machines without
  /// thread blocks.
  int64_t blockRegisters = 0;
  int64_t threadRegisters = 0;
  /// Whether a warp group (four warps) can multiply operands in shared memory
  /// with tensor cores (wgmma).
  bool hasWarpGroups = false;

  /// Bytes per nanosecond that one worker reads from memory; bytes that it
  /// reads and writes when it copies.
  double readRate = 10;
  double copyRate = 10;
  /// Memory read bandwidth of all workers together, in bytes per nanosecond.
  double sharedReadRate = 40;
  /// Simple f32 operations per nanosecond on data in L1.
  double operationRate = 20;
  /// f32 multiply-adds per nanosecond, by vector width in bits; 0: unknown or
  /// unsupported.
  double fmaRate128 = 0;
  double fmaRate256 = 0;
  double fmaRate512 = 0;
  /// bf16 multiply-adds with f32 accumulation per nanosecond, by the
  /// instruction that takes pairs (dot product); 0: unsupported.
  double pairRate = 0;
  /// The same by the instruction that multiplies tiles, including loads of the
  /// tiles.
  double tileRate = 0;
  /// Bytes per nanosecond that one worker reads from its private cache, and
  /// from the shared cache; 0: unknown.
  double cacheRate = 0;
  double sharedCacheRate = 0;
  /// GPU: latency in nanoseconds of a read from memory, under load.
  double memoryLatency = 0;
  /// Nanoseconds to launch a kernel (on a GPU: after another one in a graph);
  /// latency in nanoseconds of distributing its work to other workers.
  double launchTime = 0;
  double handOverTime = 1000;

  /// Bytes of cache available for intermediate values between the stages of one
  /// work item; 0 if kernels have no scratch memory.
  int64_t getChipBytes() const {
    return hasScratch && vectorRegisters > 0 ? l2Bytes / 2 : 0;
  }
  /// f32 multiply-adds per nanosecond of one worker, with vectors of
  /// `vectorBits`.
  double getFmaRate() const {
    double measured = vectorBits >= 512   ? fmaRate512
                      : vectorBits >= 256 ? fmaRate256
                                          : fmaRate128;
    return measured > 0 ? measured : 2 * operationRate;
  }
  /// Cost of loading one element and broadcasting it to a vector, in vector
  /// multiply-adds. Processors with 256-bit vectors load as many vectors as
  /// they multiply (measured on Zen 3). On those that split wider
  /// multiplications into two halves, the load takes half as long as the
  /// multiply-add (Zen 4).
  double getSpreadTime() const {
    return vectorBits >= 512 && fmaRate256 > 0
               ? std::min(1.0, getFmaRate() / (2 * fmaRate256))
               : 1;
  }
  /// Bytes per nanosecond that `count` workers together read from memory.
  double getReadRate(double count) const {
    return std::min(count * readRate, std::max(readRate, sharedReadRate));
  }
  /// Bytes per nanosecond that one worker reads from its private cache, and
  /// from the shared cache. Unknown rates are derived from `operationRate`.
  /// Reads of the shared cache are slower because a worker does not prefetch
  /// that far ahead (on Sapphire Rapids, a second pass over 4 to 9 MB costs a
  /// product 0.03 to 0.09 ns per byte more).
  double getCacheRate() const {
    return cacheRate > 0 ? cacheRate : 2 * operationRate;
  }
  double getSharedCacheRate() const {
    return sharedCacheRate > 0 ? sharedCacheRate : operationRate;
  }
  /// Bytes per nanosecond at which `count` workers move `bytes` of operands and
  /// results of a kernel. Earlier kernels left data in the smallest cache that
  /// can hold that much. On a GPU, SMs retain nothing between kernels.
  double getTrafficRate(double bytes, double count) const {
    double rate = getReadRate(count);
    if (blockThreads)
      return rate;
    if (bytes <= count * double(l2Bytes))
      return std::max(rate, count * getCacheRate());
    if (bytes <= double(l3Bytes))
      return std::max(rate, count * getSharedCacheRate());
    return rate;
  }
  /// Minimum number of workers that execute a kernel, whatever the caller asks
  /// for: all of a GPU, one of a CPU, whose caller chooses the thread count.
  double getLeastWorkers() const { return blockThreads ? workers : 1; }
  /// GPU: number of blocks that keeps all SMs busy; the threads in that many
  /// blocks of 256; the threads that all SMs hold. Rounded to powers of two,
  /// like the numbers that they are compared with.
  int64_t getBusyBlocks() const {
    return int64_t(1) << std::lround(std::log2(std::max(1u, workers)));
  }
  int64_t getBusyThreads() const { return 256 * getBusyBlocks(); }
  int64_t getAllThreads() const {
    return int64_t(residentThreads) * getBusyBlocks();
  }
  /// Overhead in nanoseconds of one more kernel, regardless of its work.
  double getKernelTime() const { return launchTime + handOverTime; }
  /// Number of elements of `bits` bits in one vector.
  unsigned getLanes(unsigned bits) const {
    return std::max(1u, vectorBits / bits);
  }

  /// Multiply-adds per nanosecond in matrix products, for elements of 16, 32
  /// and 64 bits.
  struct Rates {
    double f16 = 0, f32 = 0, f64 = 0;
    double of(unsigned bits) const {
      return bits > 32 ? f64 : bits > 16 ? f32 : f16;
    }
  };
  /// Rates of a whole GPU in matrix products: generated kernels, generated
  /// kernels that copy both operands to shared memory unchanged, and a library.
  struct Products {
    Rates kernels, staged, library;
    /// Minimum nanoseconds of one step along the summed dim, for a block of a
    /// generated kernel with several rows.
    Rates step;
    /// Nanoseconds of the library's smallest call; extra cost of a library call
    /// between kernels, compared with one after another call; cost of a small
    /// kernel between two calls (each starts only after the previous one has
    /// ended).
    double libraryTime = 0;
    double libraryEdge = 0;
    double betweenCalls = 0;
  };
  Products products;

  /// The model of a GPU of architecture `arch` (PTX's spelling) from GPUs.def,
  /// updated with `facts`. Uses the first entry of the architecture, or of the
  /// latest older one that is listed.
  static MachineModel getGPU(std::string_view arch, const GPUFacts &facts = {});
  /// The architecture of the GPU `name` in GPUs.def; empty if unknown.
  static std::string_view getArchOfGPU(std::string_view name);
  /// Lower bounds that hold for every supported GPU.
  static MachineModel getLeastGPU();

  /// A JSON object with every field in order. `indent` is the number of spaces
  /// before each field; negative: all on one line.
  std::string str(int indent = -1) const;
  /// Parses a model; checks that every field is present and within its limits.
  static Result<MachineModel> parse(const JsonRef &json);
};

/// Calls fn(name, field, least, greatest) for every field of a model; the GPU
/// fields are visited only if `blockThreads` is set.
template <typename Model, typename Fn>
void visitMachineFields(Model &self, Fn fn) {
  constexpr double kMostTime = 1e9, kMostRate = 1e6, kMostProducts = 1e9;
  fn("workers", self.workers, 1, 1 << 16);
  fn("vector_bits", self.vectorBits, 32, 4096);
  fn("vector_registers", self.vectorRegisters, 0, 256);
  fn("line_bytes", self.lineBytes, 16, 1 << 12);
  fn("l1_bytes", self.l1Bytes, 1 << 10, 1 << 30);
  fn("l1_way_bytes", self.l1WayBytes, 1 << 6, 1 << 30);
  fn("l2_bytes", self.l2Bytes, 1 << 10, 1 << 30);
  fn("l3_bytes", self.l3Bytes, 0, 1e12);
  fn("nontemporal_bytes", self.nontemporalBytes, 0, 1e12);
  fn("nontemporal_vector_bytes", self.nontemporalVectorBytes, 1, 1 << 12);
  fn("has_scratch", self.hasScratch, 0, 1);
  fn("unit_elements", self.unitElements, 1, 1 << 30);
  fn("grain", self.grain, 1, 1 << 30);
  fn("block_threads", self.blockThreads, 0, 1 << 16);
  fn("warp_threads", self.warpThreads, 0, 1 << 10);
  fn("read_rate", self.readRate, 1e-3, kMostRate);
  fn("copy_rate", self.copyRate, 1e-3, kMostRate);
  fn("shared_read_rate", self.sharedReadRate, 1e-3, kMostRate);
  fn("operation_rate", self.operationRate, 1e-3, kMostRate);
  fn("fma_rate_128", self.fmaRate128, 0, kMostRate);
  fn("fma_rate_256", self.fmaRate256, 0, kMostRate);
  fn("fma_rate_512", self.fmaRate512, 0, kMostRate);
  fn("pair_rate", self.pairRate, 0, kMostRate);
  fn("tile_rate", self.tileRate, 0, kMostRate);
  fn("launch_time", self.launchTime, 0, kMostTime);
  fn("hand_over_time", self.handOverTime, 0, kMostTime);
  if (!self.blockThreads)
    return;
  fn("resident_threads", self.residentThreads, 1, 1 << 16);
  fn("resident_blocks", self.residentBlocks, 1, 1 << 10);
  fn("smooth_threads", self.smoothThreads, 1, 1 << 16);
  fn("shared_bytes", self.sharedBytes, 0, 1 << 30);
  fn("plain_shared_bytes", self.plainSharedBytes, 0, 1 << 30);
  fn("bank_bytes", self.bankBytes, 1, 1 << 12);
  fn("block_registers", self.blockRegisters, 1, 1 << 30);
  fn("thread_registers", self.threadRegisters, 1, 1 << 16);
  fn("has_warp_groups", self.hasWarpGroups, 0, 1);
  fn("cache_rate", self.cacheRate, 0, kMostRate);
  fn("shared_cache_rate", self.sharedCacheRate, 0, kMostRate);
  fn("memory_latency", self.memoryLatency, 0, kMostTime);
  auto &products = self.products;
  fn("product_rate_f16", products.kernels.f16, 0, kMostProducts);
  fn("product_rate_f32", products.kernels.f32, 0, kMostProducts);
  fn("product_rate_f64", products.kernels.f64, 0, kMostProducts);
  fn("staged_rate_f16", products.staged.f16, 0, kMostProducts);
  fn("staged_rate_f32", products.staged.f32, 0, kMostProducts);
  fn("staged_rate_f64", products.staged.f64, 0, kMostProducts);
  fn("library_rate_f16", products.library.f16, 0, kMostProducts);
  fn("library_rate_f32", products.library.f32, 0, kMostProducts);
  fn("library_rate_f64", products.library.f64, 0, kMostProducts);
  fn("step_time_f16", products.step.f16, 0, kMostTime);
  fn("step_time_f32", products.step.f32, 0, kMostTime);
  fn("step_time_f64", products.step.f64, 0, kMostTime);
  fn("library_time", products.libraryTime, 0, kMostTime);
  fn("library_edge", products.libraryEdge, 0, kMostTime);
  fn("between_calls", products.betweenCalls, 0, kMostTime);
}

} // namespace luminal

#endif // LUMINAL_SUPPORT_MACHINEMODEL_H
