//===- ZipArchive.cpp - A memory-mapped zip archive, read defensively -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/ZipArchive.h"
#include "luminal/Support/Sha256.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

using namespace luminal;

//===----------------------------------------------------------------------===//
// Files and checksums
//===----------------------------------------------------------------------===//

Result<Bytes> luminal::mapFile(const std::string &path) {
  // Opening a pipe without a writer must not block; regular files never do.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return Error(path + ": cannot be opened: " + std::strerror(errno));
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Error(path + ": is not a regular file");
  }
  Bytes bytes;
  bytes.size = static_cast<uint64_t>(info.st_size);
  bytes.fileOffset = 0;
  if (bytes.size == 0) {
    ::close(fd);
    return bytes;
  }
  void *memory = ::mmap(nullptr, bytes.size, PROT_READ, MAP_PRIVATE, fd, 0);
  int reason = errno;
  ::close(fd);
  if (memory == MAP_FAILED)
    return Error(path + ": cannot be mapped: " + std::strerror(reason));
  bytes.data = static_cast<const uint8_t *>(memory);
  bytes.owner = std::shared_ptr<const void>(
      memory, [size = bytes.size](void *p) { ::munmap(p, size); });
  return bytes;
}

uint32_t luminal::crc32(const uint8_t *data, uint64_t size, uint32_t start) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k)
        c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  uint32_t c = ~start;
  for (uint64_t i = 0; i < size; ++i)
    c = table[(c ^ data[i]) & 255] ^ (c >> 8);
  return ~c;
}

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

namespace {
/// Reads little-endian fields of a range whose bounds the caller has checked.
struct Fields {
  const uint8_t *p;
  uint16_t u16(size_t at) const { return uint16_t(p[at] | p[at + 1] << 8); }
  uint32_t u32(size_t at) const {
    return uint32_t(u16(at)) | uint32_t(u16(at + 2)) << 16;
  }
  uint64_t u64(size_t at) const {
    return uint64_t(u32(at)) | uint64_t(u32(at + 4)) << 32;
  }
};

constexpr uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50,
                   kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                   kLocator64Signature = 0x07064b50;
constexpr uint64_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22,
                   kEnd64Size = 56, kLocator64Size = 20;

/// Replaces fields with all bits set by their zip64 values; false if the extra
/// field is malformed or too short.
bool readZip64(Fields extra, uint64_t extraSize,
               std::initializer_list<uint64_t *> fields) {
  bool wanted = std::any_of(fields.begin(), fields.end(),
                            [](uint64_t *f) { return *f == 0xffffffffu; });
  if (!wanted)
    return true;
  for (uint64_t at = 0; at + 4 <= extraSize;) {
    uint16_t id = extra.u16(at), size = extra.u16(at + 2);
    if (size > extraSize - at - 4)
      return false;
    if (id == 1) {
      uint64_t used = 0;
      for (uint64_t *field : fields) {
        if (*field != 0xffffffffu)
          continue;
        if (used + 8 > size)
          return false;
        *field = extra.u64(at + 4 + used);
        used += 8;
      }
      return true;
    }
    at += 4 + size;
  }
  return false;
}

/// Says why a member name is rejected; null if it is valid. Names become paths
/// and keys: they must not leave the folder or contain unusual bytes.
const char *badName(std::string_view name) {
  if (name.empty())
    return "a member has an empty name";
  if (name.front() == '/')
    return "a member's name is an absolute path";
  for (char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == 0x7f)
      return "a member's name holds a control character or a backslash";
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..")
      return "a member's name holds '..'";
    begin = end + 1;
  }
  return nullptr;
}
} // namespace

Result<ZipArchive> ZipArchive::open(const std::string &path) {
  LUMINAL_TRY(file, mapFile(path));
  return fromBytes(std::move(file), path);
}

Result<ZipArchive> ZipArchive::fromBytes(Bytes bytes, std::string name) {
  ZipArchive archive;
  archive.bytes = std::move(bytes);
  archive.name = std::move(name);
  if (Status status = archive.readDirectory(); !status)
    return status.takeError().within(archive.name);
  return archive;
}

Status ZipArchive::readDirectory() {
  const uint64_t size = bytes.size;
  // The end record is at the end of the file, followed only by a comment of at
  // most 65535 bytes whose length it states.
  if (size < kEndSize)
    return Error("is not a zip archive");
  uint64_t end = 0;
  bool found = false;
  for (uint64_t back = kEndSize;
       back <= std::min<uint64_t>(size, kEndSize + 0xffff) && !found; ++back) {
    end = size - back;
    Fields f{bytes.data + end};
    found = f.u32(0) == kEndSignature && f.u16(20) == back - kEndSize;
  }
  if (!found)
    return Error("is not a zip archive, or is truncated (no end record)");
  Fields record{bytes.data + end};
  uint64_t count = record.u16(10), directorySize = record.u32(12),
           directory = record.u32(16), limit = end;
  if (record.u16(4) != 0 && record.u16(4) != 0xffff)
    return Error("is one part of a zip archive in several files");
  if (count == 0xffff || directorySize == 0xffffffffu ||
      directory == 0xffffffffu) {
    if (end < kLocator64Size ||
        Fields{bytes.data + end - kLocator64Size}.u32(0) != kLocator64Signature)
      return Error("has no zip64 locator");
    uint64_t end64 = Fields{bytes.data + end - kLocator64Size}.u64(8);
    if (size < kEnd64Size || end64 > end - kLocator64Size ||
        end - kLocator64Size - end64 < kEnd64Size)
      return Error("has its zip64 end record outside the file");
    Fields record64{bytes.data + end64};
    if (record64.u32(0) != kEnd64Signature)
      return Error("has no zip64 end record where its locator points");
    count = record64.u64(32), directorySize = record64.u64(40),
    directory = record64.u64(48), limit = end64;
  }
  if (directory > limit || directorySize > limit - directory)
    return Error("has its directory outside the file");
  if (count > directorySize / kEntrySize)
    return Error("states more members than its directory can hold");

  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  uint64_t at = directory;
  const uint64_t directoryEnd = directory + directorySize;
  for (uint64_t i = 0; i < count; ++i) {
    if (directoryEnd - at < kEntrySize)
      return Error("has a truncated directory");
    Fields entry{bytes.data + at};
    if (entry.u32(0) != kEntrySignature)
      return Error("has a damaged directory entry");
    uint64_t nameSize = entry.u16(28), extraSize = entry.u16(30),
             commentSize = entry.u16(32);
    if (directoryEnd - at - kEntrySize < nameSize + extraSize + commentSize)
      return Error("has a truncated directory");
    Member member;
    member.name.assign(
        reinterpret_cast<const char *>(bytes.data + at + kEntrySize), nameSize);
    if (const char *reason = badName(member.name))
      return Error(reason);
    std::string where = "member '" + member.name + "'";
    member.method = entry.u16(10);
    member.crc = entry.u32(16);
    member.compressedSize = entry.u32(20);
    member.size = entry.u32(24);
    member.index = static_cast<uint32_t>(i);
    uint64_t local = entry.u32(42);
    if (!readZip64(Fields{bytes.data + at + kEntrySize + nameSize}, extraSize,
                   {&member.size, &member.compressedSize, &local}))
      return Error(where + " has a damaged zip64 field");
    if (entry.u16(8) & 1)
      return Error(where + " is encrypted");
    at += kEntrySize + nameSize + extraSize + commentSize;

    if (local > directory || directory - local < kLocalSize)
      return Error(where + " lies outside the file");
    Fields header{bytes.data + local};
    if (header.u32(0) != kLocalSignature)
      return Error(where + " has no local header where the directory points");
    uint64_t localName = header.u16(26), localExtra = header.u16(28);
    if (directory - local - kLocalSize < localName + localExtra)
      return Error(where + " lies outside the file");
    if (std::string_view(
            reinterpret_cast<const char *>(bytes.data + local + kLocalSize),
            localName) != member.name)
      return Error(where + " has another name in its local header");
    member.offset = local + kLocalSize + localName + localExtra;
    if (member.compressedSize > directory - member.offset)
      return Error(where + " lies outside the file");
    // If bit 3 is set, the sizes are in a descriptor after the data instead.
    if (!(header.u16(6) & 8)) {
      uint64_t localCompressed = header.u32(18), localFull = header.u32(22);
      if (!readZip64(Fields{bytes.data + local + kLocalSize + localName},
                     localExtra, {&localFull, &localCompressed}))
        return Error(where + " has a damaged zip64 field in its local header");
      if (localCompressed != member.compressedSize || localFull != member.size)
        return Error(where + " has another size in its local header");
    }
    if (header.u16(8) != member.method)
      return Error(where +
                   " has another compression method in its local header");
    if (member.isStored() && member.size != member.compressedSize)
      return Error(where + " is stored but has two sizes");
    // Deflate expands by a factor of at most 1032.
    if (member.method == 8 && member.size / 1032 > member.compressedSize + 1)
      return Error(where + " states more bytes than its data can hold");
    ranges.emplace_back(local, member.offset + member.compressedSize);
    if (!byName.emplace(member.name, static_cast<uint32_t>(members.size()))
             .second)
      return Error(where + " appears twice in the directory");
    members.push_back(std::move(member));
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return Error("has members that overlap");

  if (!members.empty()) {
    size_t slash = members.front().name.find('/');
    if (slash != std::string::npos)
      root = members.front().name.substr(0, slash + 1);
    for (const Member &member : members)
      if (member.name.compare(0, root.size(), root) != 0)
        root.clear();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

const ZipArchive::Member *ZipArchive::find(std::string_view memberName) const {
  auto it = byName.find(memberName);
  return it == byName.end() ? nullptr : &members[it->second];
}

Status ZipArchive::checkSize(const Member &member, uint64_t limit) const {
  if (member.size <= limit)
    return {};
  return Error(name + ": member '" + member.name + "' has " +
               std::to_string(member.size) + " bytes" +
               (member.isStored() ? "" : " when decompressed") +
               ", more than the limit of " + std::to_string(limit));
}

Result<Bytes> ZipArchive::read(const Member &member, uint64_t limit) const {
  std::string where = name + ": member '" + member.name + "'";
  if (member.isStored()) {
    Bytes range;
    range.data = bytes.data + member.offset;
    range.size = member.size;
    range.owner = bytes.owner;
    if (bytes.fileOffset)
      range.fileOffset = *bytes.fileOffset + member.offset;
    return range;
  }
  if (member.method != 8)
    return Error(where + " uses compression method " +
                 std::to_string(member.method) +
                 "; only stored and deflated members are read");

  LUMINAL_CHECK(checkSize(member, limit));
  struct Deleter {
    void operator()(zip_t *z) const { zip_discard(z); }
    void operator()(zip_file_t *f) const { zip_fclose(f); }
  };
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source =
      zip_source_buffer_create(bytes.data, bytes.size, 0, &error);
  zip_t *opened =
      source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (!opened) {
    Error result(where + ": " + zip_error_strerror(&error));
    if (source)
      zip_source_free(source);
    zip_error_fini(&error);
    return result;
  }
  zip_error_fini(&error);
  std::unique_ptr<zip_t, Deleter> zip(opened);
  zip_stat_t stat;
  zip_stat_init(&stat);
  // libzip must agree with this reader about the member.
  if (zip_stat_index(zip.get(), member.index, ZIP_FL_UNCHANGED, &stat) != 0 ||
      !stat.name || member.name != stat.name || stat.size != member.size ||
      stat.comp_size != member.compressedSize)
    return Error(where + ": the directory can be read in two ways");
  std::unique_ptr<zip_file_t, Deleter> file(
      zip_fopen_index(zip.get(), member.index, ZIP_FL_UNCHANGED));
  if (!file)
    return Error(where + ": " + zip_strerror(zip.get()));
  auto buffer = std::make_shared<std::vector<uint8_t>>(member.size);
  uint64_t done = 0;
  while (done < member.size) {
    zip_int64_t n =
        zip_fread(file.get(), buffer->data() + done, member.size - done);
    if (n <= 0)
      return Error(where + " cannot be decompressed");
    done += static_cast<uint64_t>(n);
  }
  uint8_t extra;
  if (zip_fread(file.get(), &extra, 1) != 0)
    return Error(where +
                 " holds more or other bytes than the directory states");
  Bytes range;
  range.data = buffer->data();
  range.size = buffer->size();
  range.owner = buffer;
  return range;
}

Result<Bytes> ZipArchive::readChecked(const Member &member,
                                      uint64_t limit) const {
  LUMINAL_CHECK(checkSize(member, limit));
  LUMINAL_TRY(range, read(member, limit));
  if (crc32(range.data, range.size) != member.crc)
    return Error(name + ": member '" + member.name +
                 "' does not match its checksum");
  return std::move(range);
}

Result<Bytes> ZipArchive::resolve(std::string_view path, uint64_t limit) const {
  size_t bang = path.find('!');
  std::string memberName = root + std::string(path.substr(0, bang));
  const Member *member = find(memberName);
  if (!member)
    return Error(name + ": has no member '" + memberName + "'");
  const bool isLast = bang == std::string_view::npos;
  LUMINAL_TRY(range, read(*member, isLast ? limit : kMaxMemberBytes));
  if (isLast)
    return std::move(range);
  LUMINAL_TRY(inner, fromBytes(std::move(range), name + "!" + memberName));
  return inner.resolve(path.substr(bang + 1), limit);
}

std::string ZipArchive::getWeightsDigest() const {
  static constexpr std::string_view prefixes[] = {
      "data/weights/", "data/constants/", "serialized_state_dict.",
      "serialized_constants."};
  Sha256 hash;
  // byName is sorted, so the order of the central directory does not matter.
  for (const auto &[memberName, index] : byName) {
    std::string_view local = std::string_view(memberName).substr(root.size());
    if (std::none_of(
            std::begin(prefixes), std::end(prefixes),
            [&](std::string_view p) { return local.substr(0, p.size()) == p; }))
      continue;
    const Member &member = members[index];
    hash.update(std::string(local) + '\0' + std::to_string(member.size) + '\0' +
                std::to_string(member.crc) + '\0');
  }
  return hash.hex();
}
