//===- other-library.c - Another allocator and other hashes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// To be preloaded. Memory is allocated from high to low addresses, or from low
// to high where LAYOUT is odd, with gaps that LAYOUT chooses, and is never used
// again: what a program sorts or hashes by address comes in another order each
// time. The hash of strings of the C++ library gets another seed, and its
// tables other sizes.
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kRoom = 36 }; // 2^36 bytes of addresses, of which little is touched
static atomic_uintptr_t next;
static uintptr_t base;
static uint64_t layout = ~(uint64_t)0;
static atomic_uint_fast64_t state;

// Before any thread but the first.
static void start(void) {
  const char *text = getenv("LAYOUT");
  layout = text ? strtoull(text, NULL, 10) : 0;
  void *room = mmap(NULL, (size_t)1 << kRoom, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    abort();
  base = (uintptr_t)room;
  next = layout % 2 ? base : base + ((uintptr_t)1 << kRoom);
  state = layout;
}

static void *allocate(size_t alignment, size_t size) {
  if (layout == ~(uint64_t)0)
    start();
  if (alignment < 16)
    alignment = 16;
  // The size is stored before the block.
  size_t gap =
      (atomic_fetch_add(&state, 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u >>
       59) *
      16;
  size_t room = (size + gap + 2 * alignment + 31) / 16 * 16;
  uintptr_t begin = layout % 2 ? atomic_fetch_add(&next, room)
                               : atomic_fetch_sub(&next, room) - room;
  if (begin < base || begin + room > base + ((uintptr_t)1 << kRoom)) {
    errno = ENOMEM;
    return NULL;
  }
  uintptr_t at = (begin + 16 + alignment - 1) / alignment * alignment;
  ((size_t *)at)[-1] = size;
  return (void *)at;
}

void *malloc(size_t size) { return allocate(16, size); }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) { return allocate(16, n * size); }
void *realloc(void *old, size_t size) {
  size_t before = old ? ((size_t *)old)[-1] : 0;
  if (old && size <= before)
    return old;
  void *p = allocate(16, size);
  return p && old ? memcpy(p, old, before) : p;
}
void *memalign(size_t alignment, size_t size) {
  return allocate(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return allocate(alignment, size);
}
int posix_memalign(void **p, size_t alignment, size_t size) {
  *p = allocate(alignment, size);
  return *p ? 0 : ENOMEM;
}
size_t malloc_usable_size(void *p) { return p ? ((size_t *)p)[-1] : 0; }

// std::_Hash_bytes(void const*, unsigned long, unsigned long)
size_t _ZSt11_Hash_bytesPKvmm(const void *bytes, size_t n, size_t seed) {
  uint64_t h = seed ^ (layout + 1) * 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i != n; ++i)
    h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return h;
}

// std::__detail::_Prime_rehash_policy::_M_next_bkt(unsigned long) const
struct Policy {
  float maxLoad;
  size_t nextResize;
};
size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(struct Policy *p,
                                                            size_t n) {
  size_t buckets = n + n / 3 + 3 + layout % 7;
  p->nextResize = (size_t)((double)buckets * p->maxLoad);
  return buckets;
}
