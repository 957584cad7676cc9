//===- ZipArchive.h - A memory-mapped zip archive, read defensively -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a zip archive without reading its contents: the file is mapped, the
// central directory is checked against the file's bounds and against every
// local header, and a stored member is a pointer into the mapping. Deflated
// members are decompressed through libzip. No hostile file can cause an access
// outside the mapping: offsets, sizes and names are checked when the archive is
// opened, members must not overlap, and a declared size beyond what deflate can
// produce is rejected before memory is allocated. Every read states the maximum
// size of the member; a larger one is rejected before it is decompressed.
//
// Zip archives inside zip archives (torch.save) are opened from the bytes of a
// member.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_ZIPARCHIVE_H
#define LUMINAL_SUPPORT_ZIPARCHIVE_H

#include "luminal/Support/Result.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luminal {

/// A range of read-only bytes that stay valid while `owner` lives.
struct Bytes {
  const uint8_t *data = nullptr;
  uint64_t size = 0;
  std::shared_ptr<const void> owner;
  /// Offset in the outermost file, if the bytes are an unmodified part of its
  /// mapping.
  std::optional<uint64_t> fileOffset;

  std::string_view text() const {
    return {reinterpret_cast<const char *>(data), static_cast<size_t>(size)};
  }
};

/// Maps a file read-only. An empty file gives no bytes.
Result<Bytes> mapFile(const std::string &path);

/// CRC-32 as used by zip files.
uint32_t crc32(const uint8_t *data, uint64_t size, uint32_t start = 0);

/// Default maximum size of a member: JSON, code, and compressed archives in
/// archives.
constexpr uint64_t kMaxMemberBytes = uint64_t(256) << 20;

/// An opened zip archive. Immutable, so threads may share it.
class ZipArchive {
public:
  struct Member {
    std::string name;
    uint64_t size = 0;           ///< bytes after decompression
    uint64_t compressedSize = 0; ///< bytes in the archive
    uint64_t offset = 0;         ///< of the data, in the archive's bytes
    uint32_t crc = 0;
    uint16_t method = 0; ///< 0 stored, 8 deflated
    uint32_t index = 0;  ///< position in the central directory
    bool isStored() const { return method == 0; }
  };

  static Result<ZipArchive> open(const std::string &path);
  /// Opens an archive in memory; `name` stands for the file in error messages.
  static Result<ZipArchive> fromBytes(Bytes bytes, std::string name);

  const std::string &getName() const { return name; }
  /// In the order of the central directory.
  const std::vector<Member> &getMembers() const { return members; }
  const Member *find(std::string_view memberName) const;

  /// The member's bytes: part of the mapping if stored, else decompressed, at
  /// most `limit` bytes. The checksum of a stored member is not verified
  /// (weights may be gigabytes).
  Result<Bytes> read(const Member &member, uint64_t limit) const;
  /// The same, with the checksum verified and the limit applied to stored
  /// members too.
  Result<Bytes> readChecked(const Member &member,
                            uint64_t limit = kMaxMemberBytes) const;

  /// The top-level folder that holds every member ("model/"); empty if there is
  /// none. torch.export archives have such a folder, named after the file that
  /// was saved.
  std::string_view getRoot() const { return root; }
  /// Finds the bytes of `path`, a member name without the root folder.
  /// `a.pt!data/0` is the member `data/0` (below the root folder) of the zip
  /// archive that is the member `a.pt`. `limit` applies to the bytes found, as
  /// for `read`.
  Result<Bytes> resolve(std::string_view path, uint64_t limit) const;

  /// Hash, as 64 hexadecimal digits, of the names (without the root folder),
  /// sizes and checksums of the members that hold weights and constants of a
  /// torch.export archive. It identifies the archive whose weights an artifact
  /// reads.
  std::string getWeightsDigest() const;

private:
  ZipArchive() = default;
  Status readDirectory();
  Status checkSize(const Member &member, uint64_t limit) const;

  std::string name;
  Bytes bytes;
  std::vector<Member> members;
  std::map<std::string, uint32_t, std::less<>> byName;
  std::string root;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_ZIPARCHIVE_H
