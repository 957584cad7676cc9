//===- ThreadPool.h - Worker threads that share the work of a step --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pool per process. Waking threads through the kernel is too slow for a
// step of tens of microseconds, so workers spin briefly after each job before
// they sleep. A job never waits for a worker that has not joined: if no worker
// joins, the caller does all the work.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_THREADPOOL_H
#define LUMINAL_RUNTIME_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <vector>

namespace luminal::runtime {

/// Number of threads that this process may run at once (its CPU affinity), at
/// least 1.
unsigned availableThreads();

/// Threads that run chunks of a step together with the calling thread.
class ThreadPool {
public:
  /// The pool of the process. Workers are started on first use.
  static ThreadPool &get();

  ThreadPool() = default;
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool();

  /// Acquires the pool for the calling thread and starts missing workers, up to
  /// `threads` - 1 of them or as many as the system allows. Returns false if
  /// another thread holds the pool, or after a fork; the caller then works
  /// alone. On success, call `release` afterwards.
  bool tryAcquire(unsigned threads);
  /// Releases the pool for other threads.
  void release();

  /// Calls body(data, begin, end, slot) for ranges that cover [0, work), on the
  /// caller (slot 0) and on at most `threads` - 1 workers. Slots are below
  /// `threads`, and no two concurrent calls share a slot. Ranges are multiples
  /// of `chunk`, except the last, and shrink towards the end. If a call returns
  /// nonzero, no further calls are started and that value is returned. Only for
  /// the thread that acquired the pool.
  using Body = int32_t (*)(void *data, int64_t begin, int64_t end,
                           unsigned slot);
  int32_t parallelFor(int64_t work, int64_t chunk, unsigned threads, Body body,
                      void *data);

  /// A function of the host program that calls function(data) on the caller and
  /// on other threads, at most `threads` in all, and returns when all have
  /// returned; GOMP_parallel, for example. OpenMP threads spin for milliseconds
  /// after each parallel loop, so pool workers beside them would get only half
  /// of each core.
  using Team = void (*)(void (*function)(void *), void *data, unsigned threads,
                        unsigned flags);
  /// Sets the team of the process, used from the next call on; null: none.
  static void setTeam(Team team);
  static Team getTeam();
  /// Runs `function` on the caller with a pool whose workers are the other
  /// threads of `team`, `threads` in all, until it returns.
  static void runInTeam(Team team, unsigned threads,
                        void (*function)(void *data, ThreadPool &), void *data);

private:
  void workerMain();
  void stop();
  int64_t getShare(int64_t left) const;
  void takeChunks(unsigned slot);

  // The current job. The caller writes it while no worker is in it.
  Body body = nullptr;
  void *data = nullptr;
  int64_t work = 0, chunk = 1;
  unsigned limit = 1;
  alignas(64) std::atomic<int64_t> next{0};
  std::atomic<int32_t> status{0};

  /// epoch << 32 | open << 31 | entered << 16 | left: the number of the job,
  /// whether workers may still join, how many joined, how many have left.
  alignas(64) std::atomic<uint64_t> state{0};
  /// Workers asleep on `bell`.
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<uint32_t> bell{0};
  std::atomic<bool> stopping{false};

  std::mutex owner;
  std::vector<pthread_t> workers;
  /// The fork generation of the process that started the workers.
  std::optional<uint64_t> generation;
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_THREADPOOL_H
