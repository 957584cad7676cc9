//===- ThreadPool.h - Workers that split a step among them ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pool per process. Waking threads through the kernel is too slow for a
// step of tens of microseconds, so workers spin for a moment after each job
// before they sleep, and a job never waits for a worker that has not joined:
// the caller does all of the work if no worker does.
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

/// Threads this process may run on at once (its CPU affinity), at least 1.
unsigned availableThreads();

class ThreadPool {
public:
  /// The pool of the process; workers are started when first needed.
  static ThreadPool &get();

  ThreadPool() = default;
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool();

  /// Acquires the pool for the calling thread and starts missing workers, up to
  /// one less than `threads` (or as many as the system allows); false if
  /// another thread has it, or after a fork: then the caller works alone.
  /// Followed by `release`.
  bool tryAcquire(unsigned threads);
  void release();

  /// Runs body(data, begin, end, slot) for parts that cover [0, work), on the
  /// caller (slot 0) and at most `threads` - 1 workers; no two concurrent calls
  /// have the same slot, and slots are below `threads`. Parts are multiples of
  /// `chunk`, but for the end, and become smaller. A call that returns nonzero
  /// stops further ones from being started; the value is returned.
  /// Only between tryAcquire and release, by the thread that acquired.
  using Body = int32_t (*)(void *data, int64_t begin, int64_t end,
                           unsigned slot);
  int32_t parallelFor(int64_t work, int64_t chunk, unsigned threads, Body body,
                      void *data);

  /// Calls function(data) on the caller and on other threads that the program
  /// lends, at most `threads` in all, and returns once all have returned:
  /// GOMP_parallel, for one. Threads of OpenMP spin for milliseconds
  /// behind each of its loops, and workers of a pool beside them would have
  /// half a processor.
  using Team = void (*)(void (*function)(void *), void *data, unsigned threads,
                        unsigned flags);
  /// Of the process, from the next call on; null: there is none.
  static void setTeam(Team team);
  static Team getTeam();
  /// Runs `function` on the caller, with a pool whose workers are the others of
  /// `threads` of `team` until it returns.
  static void runInTeam(Team team, unsigned threads,
                        void (*function)(void *data, ThreadPool &), void *data);

private:
  void workerMain();
  void stop();
  int64_t getShare(int64_t left) const;
  void takeChunks(unsigned slot);

  // The job. Written by the caller while no worker is in it.
  Body body = nullptr;
  void *data = nullptr;
  int64_t work = 0, chunk = 1;
  unsigned limit = 1;
  alignas(64) std::atomic<int64_t> next{0};
  std::atomic<int32_t> status{0};

  /// epoch << 32 | open << 31 | entered << 16 | left: which job this is,
  /// whether workers may still enter, how many did, how many left again.
  alignas(64) std::atomic<uint64_t> state{0};
  /// Workers asleep on `bell`.
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<uint32_t> bell{0};
  std::atomic<bool> stopping{false};

  std::mutex owner;
  std::vector<pthread_t> workers;
  /// Of the process that started them.
  std::optional<uint64_t> generation;
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_THREADPOOL_H
