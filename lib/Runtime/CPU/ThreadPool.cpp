//===- ThreadPool.cpp - Worker threads that share the work of a step ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <sched.h>
#include <thread>

using namespace luminal::runtime;

namespace {
constexpr uint64_t kOpen = 1ull << 31, kEntered = 1ull << 16, kLeft = 1;
constexpr uint64_t kMaxWorkers = 0x7fff;

uint64_t epochOf(uint64_t state) { return state >> 32; }
uint64_t enteredOf(uint64_t state) { return (state >> 16) & 0x7fff; }
uint64_t leftOf(uint64_t state) { return state & 0xffff; }

void cpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How long a worker spins before it sleeps: longer than serial steps between
/// two parallel ones usually take, but short enough to waste little CPU time.
constexpr std::chrono::microseconds kSpin(60);

/// Polls `done` until it returns true or kSpin has passed.
template <typename Fn>
bool spinFor(Fn done) {
  auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      cpuRelax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

std::atomic<uint64_t> forks{0};

/// A number that changes in a forked child; std::nullopt if the fork handler
/// cannot be registered. Cheaper than getpid, which takes longer than a job of
/// a microsecond allows.
std::optional<uint64_t> getGeneration() {
  static const bool isTold =
      ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); }) == 0;
  return isTold ? std::optional(forks.load(std::memory_order_relaxed))
                : std::nullopt;
}
} // namespace

unsigned luminal::runtime::availableThreads() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool &ThreadPool::get() {
  static ThreadPool pool;
  return pool;
}

ThreadPool::~ThreadPool() {
  if (generation && generation != getGeneration()) {
    // After a fork, the child has the thread handles but not the threads.
    return;
  }
  stop();
  for (pthread_t worker : workers)
    ::pthread_join(worker, nullptr);
}

void ThreadPool::stop() {
  stopping.store(true);
  bell.fetch_add(1);
  bell.notify_all();
}

static std::atomic<ThreadPool::Team> teamOfProcess{nullptr};

void ThreadPool::setTeam(Team team) { teamOfProcess.store(team); }

ThreadPool::Team ThreadPool::getTeam() {
  return teamOfProcess.load(std::memory_order_relaxed);
}

void ThreadPool::runInTeam(Team team, unsigned threads,
                           void (*function)(void *, ThreadPool &), void *data) {
  struct Call {
    std::thread::id caller;
    void (*function)(void *, ThreadPool &);
    void *data;
    ThreadPool pool;
  } call{std::this_thread::get_id(), function, data, {}};
  auto main = [](void *argument) {
    Call &call = *static_cast<Call *>(argument);
    if (std::this_thread::get_id() != call.caller)
      return call.pool.workerMain();
    call.function(call.data, call.pool);
    call.pool.stop();
  };
  team(main, &call, threads, /*flags=*/0);
}

bool ThreadPool::tryAcquire(unsigned threads) {
  if (!owner.try_lock())
    return false;
  const std::optional<uint64_t> now = getGeneration();
  if (!generation)
    generation = now;
  if (!now || generation != now) {
    owner.unlock();
    return false;
  }
  size_t wanted = std::min<uint64_t>(threads - 1, kMaxWorkers);
  while (workers.size() < wanted) {
    pthread_t worker;
    auto main = [](void *pool) -> void * {
      static_cast<ThreadPool *>(pool)->workerMain();
      return nullptr;
    };
    // With fewer workers, or none, the caller does more of the work.
    if (::pthread_create(&worker, nullptr, main, this) != 0)
      break;
    workers.push_back(worker);
  }
  return true;
}

void ThreadPool::release() { owner.unlock(); }

/// The next chunk: a fraction of the remaining work, so that chunks shrink and
/// all threads end at about the same time. Few large chunks are better at
/// first, because data computed for one work item may serve the next ones.
int64_t ThreadPool::getShare(int64_t left) const {
  int64_t share = left / (2 * int64_t(limit)) / chunk * chunk;
  return std::min(left, std::max(share, chunk));
}

void ThreadPool::takeChunks(unsigned slot) {
  int64_t begin = next.load(std::memory_order_relaxed);
  while (begin < work && status.load(std::memory_order_relaxed) == 0) {
    int64_t end = begin + getShare(work - begin);
    if (!next.compare_exchange_weak(begin, end, std::memory_order_relaxed))
      continue;
    if (int32_t result = body(data, begin, end, slot))
      status.store(result, std::memory_order_relaxed);
    begin = next.load(std::memory_order_relaxed);
  }
}

void ThreadPool::workerMain() {
  // UINT64_MAX is not an epoch: a worker can join a job that was published
  // before the worker started.
  uint64_t seen = UINT64_MAX;
  auto somethingNew = [&] {
    uint64_t s = state.load();
    return ((s & kOpen) && epochOf(s) != seen) ||
           stopping.load(std::memory_order_relaxed);
  };
  for (;;) {
    if (!spinFor(somethingNew)) {
      // Either this worker sees the new job here, or the publisher sees a
      // sleeper.
      sleepers.fetch_add(1);
      uint32_t ring = bell.load();
      if (!somethingNew())
        bell.wait(ring);
      sleepers.fetch_sub(1);
    }
    if (stopping.load())
      return;
    uint64_t s = state.load();
    while ((s & kOpen) && epochOf(s) != seen) {
      // `limit` belongs to this job if the exchange below succeeds.
      if (!state.compare_exchange_weak(s, s + kEntered,
                                       std::memory_order_acq_rel))
        continue;
      seen = epochOf(s);
      unsigned slot = static_cast<unsigned>(enteredOf(s)) + 1;
      if (slot < limit)
        takeChunks(slot);
      state.fetch_add(kLeft, std::memory_order_release);
      break;
    }
  }
}

int32_t ThreadPool::parallelFor(int64_t total, int64_t part, unsigned threads,
                                Body fn, void *arguments) {
  body = fn;
  data = arguments;
  work = total;
  chunk = part;
  limit = threads;
  next.store(0, std::memory_order_relaxed);
  status.store(0, std::memory_order_relaxed);
  uint64_t epoch = epochOf(state.load(std::memory_order_relaxed)) + 1;
  state.store(epoch << 32 | kOpen);
  if (uint32_t asleep = sleepers.load()) {
    bell.fetch_add(1);
    if (threads - 1 >= asleep)
      bell.notify_all();
    else
      for (unsigned i = 1; i < threads; ++i)
        bell.notify_one();
  }
  takeChunks(0);
  // No worker can join from here on; wait for those that did.
  uint64_t s = state.fetch_and(~kOpen, std::memory_order_acq_rel);
  unsigned spins = 0;
  while (leftOf(s) != enteredOf(s)) {
    if (++spins < 4096)
      cpuRelax();
    else
      std::this_thread::yield();
    s = state.load(std::memory_order_acquire);
  }
  return status.load(std::memory_order_relaxed);
}
