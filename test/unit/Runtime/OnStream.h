//===- OnStream.h - Streams and memory of a program around the runtime ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fake driver does nothing until a stream is waited for.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_UNIT_RUNTIME_ONSTREAM_H
#define LUMINAL_TEST_UNIT_RUNTIME_ONSTREAM_H

#include "../../lib/CUDA/FakeDriver.h"
#include "ArtifactBuilder.h"
#include <dlfcn.h>

namespace luminal::runtime::testing {

using Shape = std::vector<int64_t>;

template <typename Fn>
Fn *driver(const char *name) {
  return reinterpret_cast<Fn *>(
      ::dlsym(::dlopen(LUMINAL_FAKE_CUDA_DRIVER, RTLD_NOW), name));
}

/// A stream as the program around the runtime makes it.
class Stream {
public:
  Stream() {
    driver<int(cuda::StreamHandle *, unsigned)>("cuStreamCreate")(&handle, 0);
  }
  ~Stream() { driver<int(cuda::StreamHandle)>("cuStreamDestroy_v2")(handle); }
  void wait() {
    driver<int(cuda::StreamHandle)>("cuStreamSynchronize")(handle);
  }
  cuda::StreamHandle handle = nullptr;
};

/// Floats in memory of the device.
class OnDevice {
public:
  explicit OnDevice(std::vector<float> values) : size(values.size()) {
    EXPECT_TRUE(memory.reserve(*device, 4 * size));
    EXPECT_OK(device->copy({values.data(), data(), 4 * size, Copy::Kind::In}));
  }
  uint8_t *data() const { return memory.data(); }
  /// What is there now, whatever streams have still to do.
  std::vector<float> read() const {
    std::vector<float> values(size);
    EXPECT_OK(device->copy({data(), values.data(), 4 * size, Copy::Kind::Out}));
    return values;
  }

private:
  Device *device = *openDevice("cuda");
  Memory memory;
  uint64_t size;
};

using Values = std::vector<float>;

inline void bind(Context &c, const OnDevice &x, const OnDevice &w,
                 const OnDevice &y, int64_t n) {
  EXPECT_OK(c.bindInput(0, x.data(), DType::F32, Shape{n}));
  EXPECT_OK(c.bindInput(1, w.data(), DType::F32, Shape{n}));
  EXPECT_OK(c.bindOutput(0, y.data(), DType::F32, Shape{n}));
}

} // namespace luminal::runtime::testing

#endif // LUMINAL_TEST_UNIT_RUNTIME_ONSTREAM_H
