//===- Buffer.cpp - Arrays that count their bytes -------------------------===//

#include "luminal/EqSat/Buffer.h"

#include <cstdlib>
#include <cstring>

#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace luminal::eqsat;

#ifdef __linux__
/// Large memory is mapped by itself: it grows without a copy, what is given
/// back is gone, and what fills a large page lies in one.
static void *resizeMapping(void *old, size_t oldBytes, size_t newBytes) {
  constexpr size_t kThreshold = size_t(1) << 20;
  bool wasMapped = oldBytes >= kThreshold, isMapped = newBytes >= kThreshold;
  if (!wasMapped && !isMapped)
    return realloc(old, newBytes);
  if (!isMapped) {
    void *memory = newBytes ? malloc(newBytes) : nullptr;
    if (memory)
      memcpy(memory, old, newBytes);
    munmap(old, oldBytes);
    return memory;
  }
  void *memory = wasMapped ? mremap(old, oldBytes, newBytes, MREMAP_MAYMOVE)
                           : mmap(nullptr, newBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  if (!wasMapped && old) {
    memcpy(memory, old, oldBytes);
    free(old);
  }
  if (!wasMapped)
    madvise(memory, newBytes, MADV_HUGEPAGE);
  return memory;
}
#else
static void *resizeMapping(void *old, size_t, size_t newBytes) {
  return realloc(old, newBytes);
}
#endif

void *luminal::eqsat::resizeMemory(void *old, size_t oldBytes,
                                   size_t newBytes) {
  if (newBytes == 0 && oldBytes == 0)
    return nullptr;
  void *memory = resizeMapping(old, oldBytes, newBytes);
  if (!memory && newBytes != 0)
    abort();
  return memory;
}
