//===- PlanCacheTest.cpp - What was measured, on disk ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Search/PlanCache.h"
#include "luminal/Search/DeviceLock.h"
#include "luminal/Support/Sha256.h"
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace luminal;
using namespace luminal::search;
namespace fs = std::filesystem;

namespace {
struct Plans : testing::Test {
  Plans() {
    char name[] = "/tmp/luminal-plans-XXXXXX";
    EXPECT_TRUE(::mkdtemp(name));
    folder = name;
  }
  ~Plans() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }

  PlanCache open(CacheMode mode = CacheMode::Update,
                 uint64_t mostBytes = 1 << 20) {
    return PlanCache({folder, mode, mostBytes, [this](const std::string &note) {
                        notes.push_back(note);
                      }});
  }
  static std::string keyOf(const std::string &text) {
    Sha256 hash;
    hash.update(text);
    return hash.hex();
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        found.push_back(entry.path());
    return found;
  }
  static void write(const fs::path &path, const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string read(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder;
  std::vector<std::string> notes;
};
} // namespace

TEST_F(Plans, WhatWasStoredIsFoundLater) {
  std::string key = keyOf("a"), other = keyOf("b");
  open().store("kernel", key, "1.5\n2");
  PlanCache later = open();
  EXPECT_EQ(later.find("kernel", key), "1.5\n2");
  EXPECT_EQ(later.find("kernel", other), std::nullopt);
  EXPECT_EQ(later.find("program", key), std::nullopt);
  later.store("kernel", key, "3");
  EXPECT_EQ(open().find("kernel", key), "3");
  EXPECT_EQ(files().size(), 1u);
  EXPECT_TRUE(notes.empty());
}

TEST_F(Plans, BrokenEntriesAreDiscarded) {
  std::string key = keyOf("a");
  open().store("kernel", key, "a payload of some length");
  fs::path path = files().front();
  std::string whole = read(path);
  std::string flipped = whole;
  flipped.back() ^= 1;
  // Another entry's file under this name.
  open().store("kernel", keyOf("b"), "b");
  std::string foreign;
  for (const fs::path &file : files())
    if (file != path)
      foreign = read(file);
  std::vector<std::string> broken = {"", "not an entry", flipped, foreign,
                                     whole + "x"};
  for (size_t size = 1; size < whole.size(); size += 7)
    broken.push_back(whole.substr(0, size));
  for (const std::string &text : broken) {
    notes.clear();
    write(path, text);
    EXPECT_EQ(open(CacheMode::ReadOnly).find("kernel", key), std::nullopt);
    EXPECT_TRUE(fs::exists(path));
    EXPECT_EQ(open().find("kernel", key), std::nullopt) << text;
    EXPECT_FALSE(fs::exists(path));
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_NE(notes[0].find("discarded"), std::string::npos);
    open().store("kernel", key, "new");
    EXPECT_EQ(open().find("kernel", key), "new");
  }
}

TEST_F(Plans, OnlyUpdateWrites) {
  std::string key = keyOf("a");
  for (CacheMode mode : {CacheMode::ReadOnly, CacheMode::Frozen}) {
    PlanCache cache = open(mode);
    cache.store("kernel", key, "1");
    // It serves this process all the same.
    EXPECT_EQ(cache.find("kernel", key), "1");
    cache.trim();
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Plans, AFolderThatCannotBeWrittenIsANote) {
  // A file stands where the folder of the entries would be.
  write(folder + "/kernel", "");
  PlanCache cache = open();
  cache.store("kernel", keyOf("a"), "1");
  cache.store("kernel", keyOf("b"), "2");
  EXPECT_EQ(cache.find("kernel", keyOf("a")), "1");
  EXPECT_EQ(cache.find("kernel", keyOf("b")), "2");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("cannot be written"), std::string::npos);
}

TEST_F(Plans, TheOldestGoFirst) {
  std::string payload(1000, 'x');
  auto store = [&](int i, int hoursAgo) {
    open().store("kernel", keyOf(std::to_string(i)), payload);
    for (const fs::path &file : files())
      if (file.string().find(keyOf(std::to_string(i)).substr(2)) !=
          std::string::npos)
        fs::last_write_time(file, fs::file_time_type::clock::now() -
                                      std::chrono::hours(hoursAgo));
  };
  for (int i = 0; i < 10; ++i)
    store(i, 20 - i);
  // What is used is young again.
  EXPECT_TRUE(open().find("kernel", keyOf("0")));
  // What a writer left behind goes, unless it may still be written.
  write(folder + "/kernel/old.1-2", "");
  fs::last_write_time(folder + "/kernel/old.1-2",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  write(folder + "/kernel/new.1-2", "");
  open(CacheMode::Update, 5 * 1200).trim();
  EXPECT_FALSE(fs::exists(folder + "/kernel/old.1-2"));
  EXPECT_TRUE(fs::exists(folder + "/kernel/new.1-2"));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(open().find("kernel", keyOf(std::to_string(i))).has_value(),
              i == 0 || i >= 6)
        << i;
}

TEST_F(Plans, TenProcessesCorruptNothing) {
  constexpr int kProcesses = 10, kKeys = 20;
  auto payloadOf = [](int key, int writer) {
    return std::string(200 * (key + 1), char('a' + writer));
  };
  std::vector<pid_t> children;
  for (int writer = 0; writer < kProcesses; ++writer) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int bad = 0;
      for (int round = 0; round < 3; ++round)
        for (int i = 0; i < kKeys; ++i) {
          std::string key = keyOf(std::to_string(i));
          PlanCache cache = open();
          if (auto found = cache.find("kernel", key))
            bad |= *found != payloadOf(i, (*found)[0] - 'a');
          open().store("kernel", key, payloadOf(i, writer));
          open().trim();
        }
      ::_exit(bad || !notes.empty());
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), size_t(kKeys));
  for (int i = 0; i < kKeys; ++i) {
    auto found = open().find("kernel", keyOf(std::to_string(i)));
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, payloadOf(i, (*found)[0] - 'a'));
  }
  EXPECT_TRUE(notes.empty());
}

TEST(DeviceLock, OneHolderAtATime) {
  std::string device = "test-" + std::to_string(::getpid());
  std::atomic<bool> isTaken{false};
  std::thread other;
  {
    auto held = DeviceLock::take(device);
    ASSERT_TRUE(held) << held.error().message;
    other = std::thread([&] {
      auto taken = DeviceLock::take(device);
      isTaken = bool(taken);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(isTaken);
  }
  other.join();
  EXPECT_TRUE(isTaken);
  fs::remove(fs::temp_directory_path() / ("luminal-" + device + ".lock"));
}
