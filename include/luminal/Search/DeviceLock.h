//===- DeviceLock.h - One measurement on a device at a time ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SEARCH_DEVICELOCK_H
#define LUMINAL_SEARCH_DEVICELOCK_H

#include "luminal/Support/Result.h"

#include <string>

namespace luminal::search {

/// An exclusive lock that is held while a device is timed, so that other
/// searching processes wait. The system releases it when the process ends, even
/// after a crash.
class DeviceLock {
public:
  /// Waits for the lock. `device` names it ("cpu-0"). Returns an error if the
  /// lock file cannot be created; measuring without a lock is then acceptable.
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
