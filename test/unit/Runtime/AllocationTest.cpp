//===- AllocationTest.cpp - A repeated call allocates nothing -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts every allocation and every mapping of the process. Sanitizers have
// their own allocator, whose hooks count there.
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"
#include <atomic>
#include <dlfcn.h>
#include <sys/mman.h>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

static std::atomic<long> allocations{0}, mappings{0};

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LUMINAL_HOOKS 1
extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc)(const volatile void *, size_t),
    void (*free)(const volatile void *));
// Tests request more memory than there is, which must be a clean error.
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char *__tsan_default_options() {
  return "allocator_may_return_null=1";
}
#else
#define LUMINAL_HOOKS 0
// glibc's internal entry points; the usual ones are replaced here.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void *realloc(void *p, size_t size) {
  ++allocations;
  return __libc_realloc(p, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void *memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
  ++allocations;
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : 12;
}
void *mmap(void *address, size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  using Fn = void *(*)(void *, size_t, int, int, int, off_t);
  static Fn next = reinterpret_cast<Fn>(::dlsym(RTLD_NEXT, "mmap"));
  ++mappings;
  return next(address, size, protection, flags, file, offset);
}
}
#endif

namespace {
using Shape = std::vector<int64_t>;

TEST(Allocation, CountsAreReal) {
#if LUMINAL_HOOKS
  static int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void *, size_t) { ++allocations; },
      [](const volatile void *) {});
  ASSERT_NE(installed, 0);
#endif
  long before = allocations;
  // Through a volatile pointer, or the compiler removes them.
  void *volatile memory = std::malloc(100);
  std::free(memory);
  memory = std::aligned_alloc(64, 64);
  std::free(memory);
  memory = ::operator new(100);
  ::operator delete(memory);
  // The hooks of some sanitizers do not cover aligned_alloc.
  EXPECT_GE(allocations - before, LUMINAL_HOOKS ? 2 : 3);
#if !LUMINAL_HOOKS
  before = mappings;
  void *p =
      ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::munmap(p, 4096);
  EXPECT_EQ(mappings - before, 1);
#endif
}

TEST(Allocation, NoneInSteadyState) {
  auto c = chain(s("n"), /*grain=*/8).context(2);
  alignas(64) static float x[4096], w[4096], y[4096];
  const int64_t large[] = {4096}, small[] = {100}, odd[] = {77};
  auto call = [&](std::span<const int64_t> shape, size_t offset) {
    return bool(c->bindInput(0, x + offset, DType::F32, shape)) &&
           bool(c->bindInput(1, w, DType::F32, shape)) &&
           bool(c->bindOutput(0, y, DType::F32, shape)) && bool(c->run());
  };
  // The largest dims seen so far, and memory for misaligned inputs.
  ASSERT_TRUE(call(large, 0));
  ASSERT_TRUE(call(odd, 1));
  uint64_t memory = c->getMemoryBytes();
  EXPECT_GE(memory, 4096 * sizeof(float));
  bool good = true;
  // What every call allocated would be in every round. A worker's first job
  // allocates thread-local state, and on a busy machine may come late.
  long allocated = 1, mapped = 1;
  for (int round = 0; round < 50 && (allocated || mapped); ++round) {
    long allocatedBefore = allocations, mappedBefore = mappings;
    for (int i = 0; i < 100; ++i) {
      good &= call(large, 0);  // the same again
      good &= bool(c->run());  // without binding
      good &= call(small, 0);  // other dims
      good &= call(small, 16); // other pointers
      good &= call(odd, 1);    // copied
    }
    allocated = allocations - allocatedBefore;
    mapped = mappings - mappedBefore;
  }
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(mapped, 0);
  EXPECT_TRUE(good);
  EXPECT_EQ(c->getMemoryBytes(), memory);
}
} // namespace
