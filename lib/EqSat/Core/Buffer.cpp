//===- Buffer.cpp - Arrays that count their bytes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace luminal::eqsat;

#ifdef __linux__

// A large buffer has its own mapping at the beginning of a reserved range of
// addresses, so that it grows in place without a copy. Each large page of which
// the buffer fills at least half is advised to be a huge page: one page fault
// instead of hundreds, and one TLB entry.

static constexpr size_t kThreshold = size_t(1) << 20;
static constexpr size_t kLargePage = size_t(2) << 20;

/// Size of the address range to reserve for a buffer of this many bytes; 0 if
/// the buffer is not mapped.
static size_t roomFor(size_t bytes) {
  if (bytes < kThreshold)
    return 0;
  size_t room = 2 * kLargePage;
  while (room < bytes)
    room *= 4;
  return room;
}

static size_t wholePages(size_t bytes) {
  static const size_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) & ~(page - 1);
}

/// Number of leading bytes that are advised to be in huge pages.
static size_t inLargePages(size_t bytes) {
  return (bytes + kLargePage / 2) & ~(kLargePage - 1);
}

static size_t mappedBytes(size_t bytes) {
  return std::max(wholePages(bytes), inLargePages(bytes));
}

/// Reserves addresses without memory, aligned to a huge page.
static char *mapRoom(size_t room) {
  const size_t all = room + kLargePage;
  void *memory = mmap(nullptr, all, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  size_t before = -reinterpret_cast<uintptr_t>(memory) & (kLargePage - 1);
  char *begin = static_cast<char *>(memory) + before;
  if (before)
    munmap(memory, before);
  munmap(begin + room, kLargePage - before);
  return begin;
}

/// Resizes a mapping within its reserved address range.
static bool resizeInRoom(char *begin, size_t oldBytes, size_t newBytes) {
  const size_t had = mappedBytes(oldBytes), has = mappedBytes(newBytes);
  const size_t hadLarge = inLargePages(oldBytes);
  const size_t hasLarge = inLargePages(newBytes);
  if (has > had &&
      mprotect(begin + had, has - had, PROT_READ | PROT_WRITE) != 0)
    return false;
  // If the system ignores the advice, that only costs time.
  if (hasLarge > hadLarge)
    madvise(begin + hadLarge, hasLarge - hadLarge, MADV_HUGEPAGE);
  if (has < had) {
    madvise(begin + has, had - has, MADV_DONTNEED);
    mprotect(begin + has, had - has, PROT_NONE);
  }
  if (hasLarge < hadLarge)
    madvise(begin + hasLarge, hadLarge - hasLarge, MADV_NOHUGEPAGE);
  return true;
}

/// Moves the pages by remapping them, without copying. Pages with the same
/// advice move together.
static bool movePages(char *from, char *to, size_t bytes) {
  size_t large = inLargePages(bytes), all = mappedBytes(bytes);
  auto move = [&](size_t begin, size_t end) {
    return begin == end ||
           mremap(from + begin, end - begin, end - begin,
                  MREMAP_MAYMOVE | MREMAP_FIXED, to + begin) != MAP_FAILED;
  };
  return move(0, large) && move(large, all);
}

/// Moves a mapping to a new address range.
static char *moveMapping(char *old, size_t oldBytes, size_t newBytes) {
  const size_t kept = std::min(oldBytes, newBytes);
  char *memory = mapRoom(roomFor(newBytes));
  if (!memory || !resizeInRoom(old, oldBytes, kept) ||
      !movePages(old, memory, kept) || !resizeInRoom(memory, kept, newBytes))
    return nullptr;
  // mremap has unmapped the old pages, and their addresses may be in use again:
  // unmap only the rest of the old range.
  munmap(old + mappedBytes(kept), roomFor(oldBytes) - mappedBytes(kept));
  return memory;
}

static void *resizeMapping(void *old, size_t oldBytes, size_t newBytes) {
  const size_t oldRoom = roomFor(oldBytes), newRoom = roomFor(newBytes);
  if (!oldRoom && !newRoom)
    return realloc(old, newBytes);
  if (oldRoom && newRoom) {
    char *const begin = static_cast<char *>(old);
    if (oldRoom != newRoom)
      return moveMapping(begin, oldBytes, newBytes);
    return resizeInRoom(begin, oldBytes, newBytes) ? old : nullptr;
  }
  if (newRoom) {
    char *memory = mapRoom(newRoom);
    if (!memory || !resizeInRoom(memory, 0, newBytes))
      return nullptr;
    if (oldBytes)
      memcpy(memory, old, oldBytes);
    free(old);
    return memory;
  }
  void *memory = newBytes ? malloc(newBytes) : nullptr;
  if (memory)
    memcpy(memory, old, newBytes);
  munmap(old, oldRoom);
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
