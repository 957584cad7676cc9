//===- MemoryFile.h - A file in memory ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_MEMORYFILE_H
#define LUMINAL_SUPPORT_MEMORYFILE_H

#include "luminal/Support/ZipArchive.h"
#include <string>

namespace luminal {

/// A file in memory, for consumers that need a path (a pass, another process,
/// the loader). The path is valid while this object lives; nothing is written
/// to disk.
class MemoryFile {
public:
  /// If `inherited`, child processes can open the path too.
  static Result<MemoryFile> create(bool inherited = false);
  MemoryFile(MemoryFile &&other)
      : fd(std::exchange(other.fd, -1)), path(std::move(other.path)) {}
  MemoryFile &operator=(MemoryFile &&other);
  ~MemoryFile();

  /// "/proc/self/fd/7".
  const std::string &getPath() const { return path; }
  /// Gives the file a path that no other file of this process had before.
  Status renumber();
  Result<Bytes> read() const { return mapFile(path); }

private:
  explicit MemoryFile(int fd);

  int fd;
  std::string path;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_MEMORYFILE_H
