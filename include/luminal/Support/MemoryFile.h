//===- MemoryFile.h - A file that is in memory only -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_MEMORYFILE_H
#define LUMINAL_SUPPORT_MEMORYFILE_H

#include "luminal/Support/ZipArchive.h"
#include <string>

namespace luminal {

/// A file in memory, for consumers that need a path (a pass, another process,
/// the loader): the path is valid while this object lives, and nothing stays on
/// disk.
class MemoryFile {
public:
  /// `inherited`: the path means the same in processes that this one starts.
  static Result<MemoryFile> create(bool inherited = false);
  MemoryFile(MemoryFile &&other)
      : fd(std::exchange(other.fd, -1)), path(std::move(other.path)) {}
  MemoryFile &operator=(MemoryFile &&other);
  ~MemoryFile();

  /// "/proc/self/fd/7".
  const std::string &getPath() const { return path; }
  /// Gives the file a path that it never had before.
  Status renumber();
  Result<Bytes> read() const { return mapFile(path); }

private:
  explicit MemoryFile(int fd);

  int fd;
  std::string path;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_MEMORYFILE_H
