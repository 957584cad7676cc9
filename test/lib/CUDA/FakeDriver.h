//===- FakeDriver.h - A CUDA driver without a GPU -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libluminal-fake-cuda.so exports the functions of libcuda.so.1 that the
// runtime uses, so that its CUDA device can be tested without a GPU (set
// LUMINAL_LIBCUDA to it). It is stricter than a driver: the host cannot read
// device memory; copies and kernels run only when a stream is waited for; the
// nodes of a graph run in an order as different from the program's as possible;
// every access is checked against the allocations. Kernels are lines of the
// module's text:
//
//   // luminal-test NAME OP C0 C1 S
//
// OP is a kernel of test/unit/Runtime/Kernels.c, and its work is
// C0 + C1 * symbol S.
//
// A line `// luminal-user NAME` is a user function that scales a vector: it
// takes the addresses of x and y, their length (i64) and the factor (i32).
//
// The library also exports the functions of cuBLASLt that the runtime uses
// (LUMINAL_CUBLASLT names it then), see FakeCublasLt.cpp.
//
// LUMINAL_FAKE_CUDA="version=11040,count=0" sets the properties that the driver
// reports; FakeDriver.cpp lists their names.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_LIB_CUDA_FAKEDRIVER_H
#define LUMINAL_TEST_LIB_CUDA_FAKEDRIVER_H

#include "../../../lib/Runtime/CUDA/DriverTypes.h"
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

/// Counts of the requests to the fake driver so far.
struct FakeCounts {
  int graphs = 0;
  int graphLaunches = 0;
  /// Kernels launched outside graphs.
  int launches = 0;
  int kernelsRun = 0;
  int copies = 0;
  /// Bytes of the last copy to the device.
  size_t bytesIn = 0;
  /// Queries whether a stream is being captured.
  int captureQueries = 0;
  /// Events recorded.
  int events = 0;
  /// Queries of the type of memory.
  int pointerQueries = 0;
  /// Number of live allocations of the device and of the host.
  int allocations = 0;
  /// Of the last graph created: the number of blocks of each node, and the
  /// edges (earlier, later) by node number.
  std::vector<unsigned> grids;
  std::vector<std::pair<int, int>> edges;
  /// Edges over which the later node may start early.
  std::vector<std::pair<int, int>> programmatic;
  /// Of cuBLASLt: number of products, the proposal that the last one used, and
  /// number of live descriptors.
  int products = 0;
  int64_t algorithm = -1;
  /// Number of next products that take longer than with any proposal.
  int slowProducts = 0;
  int descriptors = 0;
};

extern "C" FakeCounts *luminalFakeCounts();

namespace luminal::runtime::cuda {
/// For libraries on top of the fake driver: the host address of device memory,
/// or null if it is not device memory; and work for a stream, which may be
/// captured.
uint8_t *fakeMemory(DevicePointer memory, size_t bytes);
int fakeWork(StreamHandle stream, std::function<int()> work);
} // namespace luminal::runtime::cuda

#endif // LUMINAL_TEST_LIB_CUDA_FAKEDRIVER_H
