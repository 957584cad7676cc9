//===- DeviceLock.cpp - One measurement on a device at a time -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Search/DeviceLock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

using namespace luminal;
using namespace luminal::search;

Result<DeviceLock> DeviceLock::take(const std::string &device) {
  // The lock file is shared by all users and caches of the machine, because
  // they share the device.
  std::error_code code;
  std::filesystem::path folder = std::filesystem::temp_directory_path(code);
  if (code)
    return Error("no folder for temporary files: " + code.message());
  std::string path = (folder / ("luminal-" + device + ".lock")).string();
  auto failed = [&] {
    return Error(path + ": cannot be locked: " + std::strerror(errno));
  };
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW;
  // Open an existing file for reading only: it may belong to another user.
  int fd = ::open(path.c_str(), O_RDONLY | kFlags);
  if (fd < 0 && errno == ENOENT)
    fd = ::open(path.c_str(), O_RDONLY | O_CREAT | kFlags, 0644);
  if (fd < 0)
    return failed();
  DeviceLock lock(fd);
  while (::flock(fd, LOCK_EX) != 0)
    if (errno != EINTR)
      return failed();
  return lock;
}

DeviceLock::~DeviceLock() {
  if (fd >= 0)
    ::close(fd);
}
