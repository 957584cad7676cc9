//===- OutputFile.cpp - Files that are complete or not there --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/OutputFile.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace luminal;

Result<OutputFile> OutputFile::create(std::string path) {
  OutputFile file;
  file.path = std::move(path);
  struct stat info;
  bool isThere = ::lstat(file.path.c_str(), &info) == 0;
  if (isThere && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return file.failed();
  }
  if (isThere && !S_ISREG(info.st_mode)) {
    file.fd = ::open(file.path.c_str(),
                     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  } else {
    file.temporary = file.path + ".XXXXXX";
    file.fd = ::mkostemp(file.temporary.data(), O_CLOEXEC);
  }
  if (file.fd < 0)
    return file.failed();
  return file;
}

OutputFile::OutputFile(OutputFile &&other)
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      fd(std::exchange(other.fd, -1)) {}

OutputFile::~OutputFile() {
  if (fd < 0)
    return;
  ::close(fd);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Error OutputFile::failed() const {
  return Error(path + ": cannot be written: " + std::strerror(errno));
}

Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(),
                        std::min<size_t>(bytes.size(), size_t(1) << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return failed();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status OutputFile::keep() {
  // The temporary is private; it gets the mode that any new file has.
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (!temporary.empty() && (::fchmod(fd, 0666 & ~mask) != 0 ||
                             ::rename(temporary.c_str(), path.c_str()) != 0))
    return failed();
  temporary.clear();
  if (::close(std::exchange(fd, -1)) != 0)
    return failed();
  return {};
}

Status
luminal::writeFileAtomically(const std::string &path,
                             std::initializer_list<std::string_view> pieces) {
  LUMINAL_TRY(file, OutputFile::create(path));
  for (std::string_view piece : pieces)
    LUMINAL_CHECK(file.write(piece));
  return file.keep();
}
