//===- DeviceLock.h - One measurement on a device at a time ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SEARCH_DEVICELOCK_H
#define LUMINAL_SEARCH_DEVICELOCK_H

#include "luminal/Support/Result.h"

#include <string>

namespace luminal::search {

/// Held while a device is timed: other processes that search wait meanwhile. It
/// ends with the process, however that ends.
class DeviceLock {
public:
  /// `device` is a word ("cpu-0"). Where there is no place for the lock, an
  /// error; one may measure without it.
  static Result<DeviceLock> take(const std::string &device);
  DeviceLock(DeviceLock &&other) : fd(std::exchange(other.fd, -1)) {}
  DeviceLock &operator=(DeviceLock &&) = delete;
  ~DeviceLock();

private:
  explicit DeviceLock(int fd) : fd(fd) {}
  int fd;
};

} // namespace luminal::search

#endif // LUMINAL_SEARCH_DEVICELOCK_H
