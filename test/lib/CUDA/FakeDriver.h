//===- FakeDriver.h - A CUDA driver without a GPU -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libluminal-fake-cuda.so exports what of libcuda.so.1 the runtime uses, so
// that its CUDA device is tested where there is no GPU (LUMINAL_LIBCUDA names
// it). It is stricter than a driver: device memory is not readable by the host,
// copies and kernels take place when a stream is waited for, the nodes of a
// graph run in the order that is furthest from the program's, and every access
// is checked against the allocations. Kernels are lines of the module's text:
//
//   // luminal-test NAME OP C0 C1 S
//
// A line `// luminal-user NAME` is a function of a user, which scales: it takes
// the addresses of x and y, their length (i64) and the factor (i32).
//
// It also exports what of cuBLASLt the runtime uses (LUMINAL_CUBLASLT names it
// then), FakeCublasLt.cpp.
//
// OP is a kernel of test/unit/Runtime/Kernels.c, its work C0 + C1 * symbol S.
//
// LUMINAL_FAKE_CUDA="version=11040,count=0" sets what the driver says of
// itself; FakeDriver.cpp lists the names.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_LIB_CUDA_FAKEDRIVER_H
#define LUMINAL_TEST_LIB_CUDA_FAKEDRIVER_H

#include "../../../lib/Runtime/CUDA/DriverTypes.h"
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

/// What was asked of the fake driver so far.
struct FakeCounts {
  int graphs = 0;
  int graphLaunches = 0;
  /// Kernels launched outside graphs.
  int launches = 0;
  int kernelsRun = 0;
  int copies = 0;
  /// Bytes of the last copy to the device.
  size_t bytesIn = 0;
  /// Questions whether a stream is captured.
  int captureQueries = 0;
  /// Events recorded.
  int events = 0;
  /// Questions what memory is.
  int pointerQueries = 0;
  /// Allocations alive, of the device and of the host.
  int allocations = 0;
  /// Of the graph made last: blocks by node, and (earlier, later) by number.
  std::vector<unsigned> grids;
  std::vector<std::pair<int, int>> edges;
  /// Those of them over which the later one starts early.
  std::vector<std::pair<int, int>> programmatic;
  /// Of cuBLASLt: products computed, by which of the proposals the last was,
  /// descriptors alive.
  int products = 0;
  int64_t algorithm = -1;
  /// So many of the next products take longer than by any proposal.
  int slowProducts = 0;
  int descriptors = 0;
};

extern "C" FakeCounts *luminalFakeCounts();

namespace luminal::runtime::cuda {
/// For libraries on top of the fake driver: device memory as the host reads it,
/// null if it is none; and work for a stream, which may be captured.
uint8_t *fakeMemory(DevicePointer memory, size_t bytes);
int fakeWork(StreamHandle stream, std::function<int()> work);
} // namespace luminal::runtime::cuda

#endif // LUMINAL_TEST_LIB_CUDA_FAKEDRIVER_H
