//===- MachineModel.h - What the compiler needs to know of a machine ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing here includes LLVM: the runtime measures and prints models.
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

/// What the driver of a GPU tells of it; 0: nothing.
struct GPUFacts {
  /// The product's name.
  std::string name;
  unsigned multiprocessors = 0;
  /// GHz; GB/s by width and clock of the bus; bytes.
  double clock = 0;
  double memoryRate = 0;
  int64_t cacheBytes = 0;
};

/// One worker of a machine: a core of a CPU, or a multiprocessor of a GPU; and
/// how many there are. Prices of ops, schedules and the grain of
/// threads follow from it; no other place knows a size or a rate of a machine.
/// The values here are round numbers for a machine of which nothing is known; a
/// calibration (luminal/Runtime/Machine.h) measures the one at hand.
struct MachineModel {
  /// Units of work that run at a time: usable cores of a CPU, multiprocessors
  /// of a GPU.
  unsigned workers = 16;
  /// Bits of the widest vectors that pay; 32: scalar code.
  unsigned vectorBits = 128;
  /// Registers that hold them; 0: no tiles of sums in registers.
  unsigned vectorRegisters = 16;
  /// Bytes of a line: what a cache brings from memory at a time.
  int64_t lineBytes = 64;
  /// Bytes of the caches that a worker has for itself; and of a way of the
  /// first: lines so far apart share a set of it.
  int64_t l1Bytes = 32 << 10;
  int64_t l1WayBytes = 4096;
  int64_t l2Bytes = 1 << 20;
  /// Bytes of the cache that workers share; 0: none.
  int64_t l3Bytes = 32 << 20;
  /// Bytes of a result from which on it is faster to write it past the caches,
  /// which will not hold it until it is read; 0: never.
  int64_t nontemporalBytes = 0;
  /// Bytes of the smallest vectors that are written so, and of which those
  /// begin at a multiple.
  int64_t nontemporalVectorBytes = 16;
  /// Whether a worker has memory for what it keeps while it does a unit.
  bool hasScratch = true;
  /// Elements of a map that one unit of work takes, at most.
  int64_t unitElements = 4096;
  /// Simple operations that are worth handing to another worker: about ten
  /// microseconds of vector code.
  int64_t grain = 1 << 17;
  /// Of a GPU: threads that a block has at most, and those that run in step and
  /// exchange values at no cost; 0 where there are no blocks.
  unsigned blockThreads = 0;
  unsigned warpThreads = 0;
  /// Of a GPU: threads and blocks that a multiprocessor holds at a time, and
  /// threads that it takes without slowing each other down.
  unsigned residentThreads = 0;
  unsigned residentBlocks = 0;
  unsigned smoothThreads = 0;
  /// Of a GPU: bytes of the memory that the threads of a block share, at most;
  /// those that any block may have; and those that its banks give at a time.
  int64_t sharedBytes = 0;
  int64_t plainSharedBytes = 0;
  int64_t bankBytes = 0;
  /// Of a GPU: 32-bit registers that the blocks of a multiprocessor have
  /// together, and that a thread has at most; 0 where there are no blocks.
  int64_t blockRegisters = 0;
  int64_t threadRegisters = 0;
  /// Whether four warps together multiply by tensor cores what is in shared
  /// memory (wgmma).
  bool hasWarpGroups = false;

  /// Bytes per nanosecond that one worker reads from memory, and that it reads
  /// and writes when it copies.
  double readRate = 10;
  double copyRate = 10;
  /// Bytes per nanosecond that all workers together read from memory.
  double sharedReadRate = 40;
  /// Simple f32 operations per nanosecond on what is in the first cache.
  double operationRate = 20;
  /// f32 multiplications with addition per nanosecond, by bits of the vectors;
  /// 0: not known, or not there.
  double fmaRate128 = 0;
  double fmaRate256 = 0;
  double fmaRate512 = 0;
  /// bf16 multiplications with addition to f32 sums per nanosecond, by the
  /// instruction that takes a pair of them; 0: there is none.
  double pairRate = 0;
  /// The same by the instruction that multiplies tiles of them, loads of the
  /// tiles included.
  double tileRate = 0;
  /// Bytes per nanosecond that one worker reads from its own cache, and from
  /// the one that workers share; 0: not known.
  double cacheRate = 0;
  double sharedCacheRate = 0;
  /// Of a GPU: nanoseconds from a read of memory to what it gives, while others
  /// read as well.
  double memoryLatency = 0;
  /// Nanoseconds until a kernel begins (of a GPU: behind another one in a
  /// graph), and until other workers share it.
  double launchTime = 0;
  double handOverTime = 1000;

  /// Bytes for what a unit of work keeps between its stages; 0 where kernels
  /// have none.
  int64_t getChipBytes() const {
    return hasScratch && vectorRegisters > 0 ? l2Bytes / 2 : 0;
  }
  /// f32 multiplications with addition per nanosecond of one worker, with the
  /// vectors that pay.
  double getFmaRate() const {
    double measured = vectorBits >= 512   ? fmaRate512
                      : vectorBits >= 256 ? fmaRate256
                                          : fmaRate128;
    return measured > 0 ? measured : 2 * operationRate;
  }
  /// Multiplications of vectors with addition in whose time one element is
  /// loaded and spread to a vector. Processors with vectors of 256 bits load as
  /// many as they multiply (measured on Zen 3); those that multiply wider ones
  /// in two halves have twice the time (Zen 4).
  double getSpreadTime() const {
    return vectorBits >= 512 && fmaRate256 > 0
               ? std::min(1.0, getFmaRate() / (2 * fmaRate256))
               : 1;
  }
  /// Bytes per nanosecond that `count` workers read from memory.
  double getReadRate(double count) const {
    return std::min(count * readRate, std::max(readRate, sharedReadRate));
  }
  /// Bytes per nanosecond that one worker reads from its own cache, and from
  /// the one that workers share. What is not known follows from the operations.
  /// A worker waits for what others share: it does not look so far ahead
  /// (measured on Sapphire Rapids, where a second pass over 4 to 9 MB takes a
  /// product 0.03 to 0.09 ns a byte more).
  double getCacheRate() const {
    return cacheRate > 0 ? cacheRate : 2 * operationRate;
  }
  double getSharedCacheRate() const {
    return sharedCacheRate > 0 ? sharedCacheRate : operationRate;
  }
  /// Bytes per nanosecond at which `count` workers move so many of a kernel's
  /// operands and results: kernels before it left them in the caches that hold
  /// as many. A GPU's multiprocessors keep nothing from kernel to kernel.
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
  /// Workers that share a kernel whatever the caller asks for: all of a GPU. Of
  /// a CPU threads are the caller's, who may have one.
  double getLeastWorkers() const { return blockThreads ? workers : 1; }
  /// Of a GPU: blocks, or threads in blocks of 256, that keep all its
  /// multiprocessors busy, and all threads that these hold. Powers of two, as
  /// the numbers are that they are compared with.
  int64_t getBusyBlocks() const {
    return int64_t(1) << std::lround(std::log2(std::max(1u, workers)));
  }
  int64_t getBusyThreads() const { return 256 * getBusyBlocks(); }
  int64_t getAllThreads() const {
    return int64_t(residentThreads) * getBusyBlocks();
  }
  /// Nanoseconds that a kernel more takes, however little it does.
  double getKernelTime() const { return launchTime + handOverTime; }
  /// Elements of `bits` bits in one vector.
  unsigned getLanes(unsigned bits) const {
    return std::max(1u, vectorBits / bits);
  }

  /// Multiplications with addition per nanosecond in matrix products, by
  /// elements of 16, 32 and 64 bits.
  struct Rates {
    double f16 = 0, f32 = 0, f64 = 0;
    double of(unsigned bits) const {
      return bits > 32 ? f64 : bits > 16 ? f32 : f16;
    }
  };
  /// Of a whole GPU: what products cost by generated kernels, by those whose
  /// operands are copied to shared memory as they are, and by a library.
  struct Products {
    Rates kernels, staged, library;
    /// Nanoseconds of one step along the summed dim in a block of a kernel that
    /// has several rows, however little there is to do.
    Rates step;
    /// Nanoseconds of the smallest call of the library; what a call between
    /// kernels takes more than one behind another call; and what a small kernel
    /// between two calls takes, of which none begins before the last one ends.
    double libraryTime = 0;
    double libraryEdge = 0;
    double betweenCalls = 0;
  };
  Products products;

  /// The GPU `arch`, as PTX spells it, by GPUs.def: the first one of the
  /// architecture, or of the last one before it, and what `facts` say.
  static MachineModel getGPU(std::string_view arch, const GPUFacts &facts = {});
  /// The architecture of the GPU that GPUs.def calls `name`; empty where it has
  /// none.
  static std::string_view getArchOfGPU(std::string_view name);
  /// What all GPUs have that code is made for.
  static MachineModel getLeastGPU();

  /// A JSON object with every field, in order; `indent` spaces before each, or
  /// one line where it is negative.
  std::string str(int indent = -1) const;
  /// Checks that every field is there and within reason.
  static Result<MachineModel> parse(const JsonRef &json);
};

/// Calls fn(name, field, least, greatest) for every field of a model; those of
/// GPUs only where it has threads in blocks.
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
