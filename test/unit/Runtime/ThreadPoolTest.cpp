//===- ThreadPoolTest.cpp - Splitting work --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/ThreadPool.h"
#include <chrono>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace luminal::runtime;

namespace {
/// Counts how often each element was done, and that slots are not shared.
struct Work {
  std::vector<std::atomic<int>> done;
  std::vector<std::atomic<int>> inSlot;
  std::atomic<int> problems{0};
  int64_t failAt = -1;
  explicit Work(size_t n, unsigned threads) : done(n), inSlot(threads) {}

  static int32_t part(void *data, int64_t begin, int64_t end, unsigned slot) {
    auto &work = *static_cast<Work *>(data);
    if (slot >= work.inSlot.size() || work.inSlot[slot].fetch_add(1) != 0) {
      ++work.problems;
      return 0;
    }
    int32_t result = 0;
    for (int64_t i = begin; i < end; ++i) {
      ++work.done[i];
      if (i == work.failAt)
        result = 7;
    }
    work.inSlot[slot].fetch_sub(1);
    return result;
  }
};

TEST(ThreadPool, CoversTheRangeOnce) {
  ThreadPool pool;
  for (unsigned threads : {1u, 2u, 4u, 9u}) {
    ASSERT_TRUE(pool.tryAcquire(threads));
    for (int64_t n : {1, 2, 17, 1000})
      for (int64_t chunk : {1, 3, 64})
        for (int repeat = 0; repeat < 20; ++repeat) {
          Work work(n, threads);
          EXPECT_EQ(pool.parallelFor(n, chunk, threads, Work::part, &work), 0);
          EXPECT_EQ(work.problems, 0);
          for (auto &count : work.done)
            ASSERT_EQ(count, 1);
        }
    pool.release();
  }
}

// All end at about the same time, whatever the number is a multiple of.
TEST(ThreadPool, PartsBecomeSmaller) {
  ThreadPool pool;
  ASSERT_TRUE(pool.tryAcquire(2));
  struct Parts {
    std::array<std::atomic<int64_t>, 110> sizes{};
    static int32_t part(void *data, int64_t begin, int64_t end, unsigned) {
      static_cast<Parts *>(data)->sizes[begin] = end - begin;
      return 0;
    }
  } parts;
  EXPECT_EQ(pool.parallelFor(110, 3, 2, Parts::part, &parts), 0);
  std::vector<int64_t> sizes;
  for (const auto &size : parts.sizes)
    if (size)
      sizes.push_back(size);
  EXPECT_EQ(sizes, (std::vector<int64_t>{27, 18, 15, 12, 9, 6, 3, 3, 3, 3, 3, 3,
                                         3, 2}));
  pool.release();
}

TEST(ThreadPool, WorkersWakeAfterSleep) {
  ThreadPool pool;
  ASSERT_TRUE(pool.tryAcquire(3));
  for (int repeat = 0; repeat < 5; ++repeat) {
    // Much longer than workers spin.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Work work(50, 3);
    EXPECT_EQ(pool.parallelFor(50, 1, 3, Work::part, &work), 0);
    for (auto &count : work.done)
      ASSERT_EQ(count, 1);
  }
  pool.release();
}

TEST(ThreadPool, WorkersTakePart) {
  ThreadPool pool;
  ASSERT_TRUE(pool.tryAcquire(2));
  // The caller's chunk waits for another thread: with a pool that left
  // everything to the caller this would take the whole ten seconds.
  struct Meeting {
    std::atomic<int> present{0};
    static int32_t part(void *data, int64_t, int64_t, unsigned) {
      auto &meeting = *static_cast<Meeting *>(data);
      ++meeting.present;
      auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (meeting.present < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      return meeting.present < 2;
    }
  } meeting;
  EXPECT_EQ(pool.parallelFor(2, 1, 2, Meeting::part, &meeting), 0);
  pool.release();
}

TEST(ThreadPool, AFailureStopsTheRest) {
  ThreadPool pool;
  ASSERT_TRUE(pool.tryAcquire(2));
  Work work(1'000'000, 2);
  work.failAt = 3;
  EXPECT_EQ(pool.parallelFor(1'000'000, 1, 2, Work::part, &work), 7);
  EXPECT_EQ(work.done[999'999], 0);
  // The next job starts clean.
  Work next(10, 2);
  EXPECT_EQ(pool.parallelFor(10, 1, 2, Work::part, &next), 0);
  pool.release();
}

TEST(ThreadPool, HasOneOwner) {
  ThreadPool pool;
  ASSERT_TRUE(pool.tryAcquire(2));
  std::thread([&] { EXPECT_FALSE(pool.tryAcquire(2)); }).join();
  pool.release();
  std::thread([&] {
    EXPECT_TRUE(pool.tryAcquire(2));
    pool.release();
  }).join();
}

#if !__has_feature(thread_sanitizer)
TEST(ThreadPool, AForkWorksAlone) {
  ASSERT_TRUE(ThreadPool::get().tryAcquire(2));
  ThreadPool::get().release();
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(ThreadPool::get().tryAcquire(2) ? 1 : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif
/// A team of threads that are started for each call, one fewer than wanted.
void startTeam(void (*function)(void *), void *data, unsigned threads,
               unsigned) {
  std::vector<std::thread> others;
  for (unsigned i = 2; i < threads; ++i)
    others.emplace_back(function, data);
  function(data);
  for (std::thread &other : others)
    other.join();
}

TEST(ThreadPool, ATeamOfTheProgramTakesPart) {
  ThreadPool::setTeam(startTeam);
  EXPECT_EQ(ThreadPool::getTeam(), startTeam);
  for (unsigned threads : {2u, 3u, 5u})
    for (int repeat = 0; repeat < 20; ++repeat) {
      struct Call {
        unsigned threads;
        std::thread::id caller = std::this_thread::get_id();
        int jobs = 0;
      } call{threads};
      ThreadPool::runInTeam(
          startTeam, threads,
          [](void *data, ThreadPool &pool) {
            auto &call = *static_cast<Call *>(data);
            EXPECT_EQ(call.caller, std::this_thread::get_id());
            for (int64_t n : {1, 17, 1000}) {
              Work work(n, call.threads);
              EXPECT_EQ(pool.parallelFor(n, 1, call.threads, Work::part, &work),
                        0);
              EXPECT_EQ(work.problems, 0);
              for (auto &count : work.done)
                ASSERT_EQ(count, 1);
              ++call.jobs;
              // Workers sleep meanwhile.
              if (n == 17 && call.threads == 3)
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            }
          },
          &call);
      EXPECT_EQ(call.jobs, 3);
    }
  ThreadPool::setTeam(nullptr);
}

// A slow part waits until a thread of the team has another one.
TEST(ThreadPool, ThreadsOfTheTeamWork) {
  struct Call {
    std::atomic<int> inside{0};
    std::atomic<bool> met{false};
  } call;
  auto part = [](void *data, int64_t, int64_t, unsigned) -> int32_t {
    auto &call = *static_cast<Call *>(data);
    ++call.inside;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (call.inside < 2 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    call.met = call.inside == 2;
    return 0;
  };
  static ThreadPool::Body body = part;
  ThreadPool::runInTeam(
      startTeam, 3,
      [](void *data, ThreadPool &pool) {
        pool.parallelFor(2, 1, 2, body, data);
      },
      &call);
  EXPECT_TRUE(call.met);
}

} // namespace
