//===- OutputFileTest.cpp - Files that are complete or not there ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/OutputFile.h"
#include "luminal/Support/MemoryFile.h"
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace luminal;

/// Counts calls of umask, which change the mask for all threads.
static int maskCalls = 0;
extern "C" mode_t umask(mode_t mask) noexcept {
  ++maskCalls;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace {
class Folder {
public:
  Folder() {
    char name[] = "/tmp/luminal-output-XXXXXX";
    EXPECT_TRUE(::mkdtemp(name));
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char *name) const { return path + "/" + name; }
  size_t count() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path), {}));
  }
  std::string path;
};

std::string contents(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(OutputFile, HasTheModeOfAnyNewFileAndLeavesTheMaskAlone) {
  Folder folder;
  for (mode_t mask : {0022u, 0077u, 0u}) {
    mode_t before = static_cast<mode_t>(::syscall(SYS_umask, mask));
    maskCalls = 0;
    EXPECT_TRUE(writeFileAtomically(folder.file("new"), {"text"}));
    EXPECT_EQ(maskCalls, 0);
    EXPECT_EQ(::syscall(SYS_umask, before), mask);
    struct stat info;
    ASSERT_EQ(::stat(folder.file("new").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask);
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST(OutputFile, IsThereOnlyWhenItIsKept) {
  Folder folder;
  std::string path = folder.file("file");
  EXPECT_TRUE(writeFileAtomically(path, {"old"}));
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file);
    OutputFile moved = std::move(*file);
    EXPECT_TRUE(moved.write("new"));
    EXPECT_EQ(contents(path), "old");
    EXPECT_EQ(folder.count(), 2u);
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(folder.count(), 1u);
  // An existing name is not reused.
  auto first = OutputFile::create(path), second = OutputFile::create(path);
  EXPECT_EQ(folder.count(), 3u);
  EXPECT_TRUE(second->write("second") && second->keep());
  EXPECT_TRUE(first->write("first") && first->keep());
  EXPECT_EQ(contents(path), "first");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(OutputFile, GoesWithASignalWhereTheProcessAsksForIt) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Folder folder;
    pid_t child = ::fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      removeTemporaryFilesOnSignals();
      auto kept = OutputFile::create(folder.file("kept")),
           one = OutputFile::create(folder.file("one")),
           two = OutputFile::create(folder.file("two"));
      bool ok = kept->write("text") && kept->keep() && folder.count() == 3;
      ::raise(ok ? signal : SIGKILL);
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(folder.count(), 1u);
    EXPECT_EQ(contents(folder.file("kept")), "text");
  }
}

TEST(OutputFile, GoesWithASignalThatComesWhileFilesAreCreated) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    Folder folder;
    pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGTERM, SIG_DFL);
      removeTemporaryFilesOnSignals();
      auto create = [&](const char *name) {
        while (true)
          (void)OutputFile::create(folder.file(name));
      };
      std::thread other(create, "other");
      create("one");
    }
    while (folder.count() == 0)
      ::usleep(10);
    ::usleep(static_cast<useconds_t>(attempt * 7));
    ::kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
    ASSERT_EQ(folder.count(), 0u) << "attempt " << attempt;
  }
}

TEST(MemoryFile, HasAPathWhileItLives) {
  auto file = MemoryFile::create();
  ASSERT_TRUE(file);
  std::string path = file->getPath();
  EXPECT_TRUE(writeFileAtomically(path, {"some ", "text"}));
  EXPECT_EQ(file->read()->text(), "some text");
  EXPECT_TRUE(file->renumber());
  EXPECT_NE(file->getPath(), path);
  EXPECT_EQ(file->read()->text(), "some text");
  EXPECT_FALSE(mapFile(path));
}
} // namespace
