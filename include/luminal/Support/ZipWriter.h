//===- ZipWriter.h - Writes a zip archive of stored members ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_ZIPWRITER_H
#define LUMINAL_SUPPORT_ZIPWRITER_H

#include "luminal/Support/OutputFile.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace luminal {

/// Writes a zip archive. Members are stored uncompressed, so a reader can map
/// them; dates are fixed, so equal members give equal bytes. The file appears
/// at its path only when `finish` succeeds.
class ZipWriter {
public:
  static Result<ZipWriter> create(std::string path);

  /// Adds a member whose contents are the concatenated `pieces`. Its data
  /// begins at a multiple of `alignment` (a power of two below 2^15) in the
  /// file.
  Status add(std::string_view name, std::span<const std::string_view> pieces,
             uint32_t alignment = 1);
  /// Writes the central directory and moves the file to its path.
  Status finish();

private:
  explicit ZipWriter(OutputFile file) : file(std::move(file)) {}
  Status write(std::string_view bytes);

  OutputFile file;
  uint64_t size = 0;
  uint64_t count = 0;
  std::string directory;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_ZIPWRITER_H
