//===- ZipWriter.cpp - Writes a zip archive of stored members -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/ZipWriter.h"
#include "luminal/Support/ZipArchive.h"

using namespace luminal;

namespace {
constexpr uint64_t kMax32 = 0xffffffffu;
/// 1980-01-01, the earliest date that the format can represent.
constexpr uint16_t kDate = 0x21;

void put(std::string &out, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

std::string zip64Field(std::initializer_list<uint64_t> values) {
  std::string field;
  put(field, 1, 2);
  put(field, 8 * values.size(), 2);
  for (uint64_t value : values)
    put(field, value, 8);
  return field;
}
} // namespace

Result<ZipWriter> ZipWriter::create(std::string path) {
  LUMINAL_TRY(file, OutputFile::create(std::move(path)));
  return ZipWriter(std::move(file));
}

Status ZipWriter::write(std::string_view bytes) {
  LUMINAL_CHECK(file.write(bytes));
  size += bytes.size();
  return {};
}

Status ZipWriter::add(std::string_view name,
                      std::span<const std::string_view> pieces,
                      uint32_t alignment) {
  uint32_t crc = 0;
  uint64_t bytes = 0;
  for (std::string_view piece : pieces) {
    crc = crc32(reinterpret_cast<const uint8_t *>(piece.data()), piece.size(),
                crc);
    bytes += piece.size();
  }
  const uint64_t local = size;
  const bool wide = bytes >= kMax32;
  std::string extra = wide ? zip64Field({bytes, bytes}) : "";
  // Padding is a separate extra field of at least four bytes.
  uint64_t data = local + 30 + name.size() + extra.size();
  if (uint64_t gap = (alignment - data % alignment) % alignment) {
    while (gap < 4)
      gap += alignment;
    put(extra, 0xd935, 2);
    put(extra, gap - 4, 2);
    extra.append(gap - 4, '\0');
  }
  std::string common;
  put(common, wide ? 45 : 20, 2);
  put(common, 0, 2); // flags
  put(common, 0, 2); // stored
  put(common, 0, 2); // time
  put(common, kDate, 2);
  put(common, crc, 4);
  put(common, wide ? kMax32 : bytes, 4);
  put(common, wide ? kMax32 : bytes, 4);
  put(common, name.size(), 2);

  std::string header;
  put(header, 0x04034b50, 4);
  header += common;
  put(header, extra.size(), 2);
  header += name;
  header += extra;
  LUMINAL_CHECK(write(header));
  for (std::string_view piece : pieces)
    LUMINAL_CHECK(write(piece));

  const bool far = local >= kMax32;
  std::string wideFields;
  if (wide && far)
    wideFields = zip64Field({bytes, bytes, local});
  else if (wide)
    wideFields = zip64Field({bytes, bytes});
  else if (far)
    wideFields = zip64Field({local});
  put(directory, 0x02014b50, 4);
  put(directory, 45, 2);
  directory += common;
  put(directory, wideFields.size(), 2);
  put(directory, 0, 2); // comment
  put(directory, 0, 2); // disk
  put(directory, 0, 2); // internal attributes
  put(directory, 0, 4); // external attributes
  put(directory, far ? kMax32 : local, 4);
  directory += name;
  directory += wideFields;
  ++count;
  return {};
}

Status ZipWriter::finish() {
  const uint64_t start = size, length = directory.size();
  std::string end;
  if (start >= kMax32 || length >= kMax32 || count >= 0xffff) {
    put(end, 0x06064b50, 4);
    put(end, 44, 8);
    put(end, 45, 2);
    put(end, 45, 2);
    put(end, 0, 4);
    put(end, 0, 4);
    put(end, count, 8);
    put(end, count, 8);
    put(end, length, 8);
    put(end, start, 8);
    put(end, 0x07064b50, 4);
    put(end, 0, 4);
    put(end, start + length, 8);
    put(end, 1, 4);
  }
  put(end, 0x06054b50, 4);
  put(end, 0, 2);
  put(end, 0, 2);
  put(end, std::min<uint64_t>(count, 0xffff), 2);
  put(end, std::min<uint64_t>(count, 0xffff), 2);
  put(end, std::min(length, kMax32), 4);
  put(end, std::min(start, kMax32), 4);
  put(end, 0, 2);
  LUMINAL_CHECK(write(directory));
  LUMINAL_CHECK(write(end));
  return file.keep();
}
