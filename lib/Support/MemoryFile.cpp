//===- MemoryFile.cpp - A file in memory ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/MemoryFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace luminal;

static Error noMemoryFile() {
  return Error(std::string("a file in memory cannot be created: ") +
               std::strerror(errno));
}

MemoryFile::MemoryFile(int fd)
    : fd(fd), path("/proc/self/fd/" + std::to_string(fd)) {}

Result<MemoryFile> MemoryFile::create(bool inherited) {
  int fd = ::memfd_create("luminal", inherited ? 0 : MFD_CLOEXEC);
  if (fd < 0)
    return noMemoryFile();
  return MemoryFile(fd);
}

MemoryFile &MemoryFile::operator=(MemoryFile &&other) {
  std::swap(fd, other.fd);
  std::swap(path, other.path);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (fd >= 0)
    ::close(fd);
}

Status MemoryFile::renumber() {
  int other = ::fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
  if (other < 0)
    return noMemoryFile();
  *this = MemoryFile(other);
  return {};
}
