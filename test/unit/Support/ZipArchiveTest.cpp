//===- ZipArchiveTest.cpp - Tests of the zip reader -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/ZipArchive.h"
#include "luminal/Support/Sha256.h"
#include <cstring>
#include <gtest/gtest.h>
#include <zip.h>

using namespace luminal;

namespace {
using Data = std::vector<uint8_t>;

void put(Data &out, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    out.push_back(uint8_t(value >> (8 * i)));
}

/// Writes stored members by hand, so that tests know the offset of every field.
struct Writer {
  Data out;
  Data directory;
  unsigned count = 0;
  std::vector<size_t> locals, entries;

  void add(const std::string &name, const std::string &text) {
    uint32_t crc =
        crc32(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    size_t local = out.size();
    locals.push_back(local);
    put(out, 0x04034b50, 4), put(out, 20, 2), put(out, 0, 2), put(out, 0, 2),
        put(out, 0, 4), put(out, crc, 4);
    put(out, text.size(), 4), put(out, text.size(), 4),
        put(out, name.size(), 2), put(out, 0, 2);
    out.insert(out.end(), name.begin(), name.end());
    out.insert(out.end(), text.begin(), text.end());
    entries.push_back(directory.size());
    put(directory, 0x02014b50, 4), put(directory, 20, 2), put(directory, 20, 2),
        put(directory, 0, 2);
    put(directory, 0, 2), put(directory, 0, 4), put(directory, crc, 4),
        put(directory, text.size(), 4);
    put(directory, text.size(), 4), put(directory, name.size(), 2),
        put(directory, 0, 2), put(directory, 0, 2);
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4),
        put(directory, local, 4);
    directory.insert(directory.end(), name.begin(), name.end());
    ++count;
  }
  Data finish(bool zip64 = false) const {
    Data all = out;
    all.insert(all.end(), directory.begin(), directory.end());
    if (zip64) {
      size_t end64 = all.size();
      put(all, 0x06064b50, 4), put(all, 44, 8), put(all, 45, 2),
          put(all, 45, 2), put(all, 0, 4), put(all, 0, 4);
      put(all, count, 8), put(all, count, 8), put(all, directory.size(), 8),
          put(all, out.size(), 8);
      put(all, 0x07064b50, 4), put(all, 0, 4), put(all, end64, 8),
          put(all, 1, 4);
    }
    put(all, 0x06054b50, 4), put(all, 0, 2), put(all, 0, 2);
    put(all, zip64 ? 0xffff : count, 2), put(all, zip64 ? 0xffff : count, 2);
    put(all, zip64 ? 0xffffffff : directory.size(), 4),
        put(all, zip64 ? 0xffffffff : out.size(), 4), put(all, 0, 2);
    return all;
  }
};

Result<ZipArchive> open(Data data) {
  auto owner = std::make_shared<Data>(std::move(data));
  Bytes bytes;
  bytes.data = owner->data();
  bytes.size = owner->size();
  bytes.owner = owner;
  return ZipArchive::fromBytes(bytes, "a.zip");
}

void expectError(Data data, const std::string &message) {
  auto archive = open(std::move(data));
  ASSERT_FALSE(archive) << "expected: " << message;
  EXPECT_NE(archive.error().message.find(message), std::string::npos)
      << archive.error().message;
}

Writer sample() {
  Writer w;
  w.add("model/data/weights/weight_0", "0123456789");
  w.add("model/models/model.json", "{}");
  return w;
}
} // namespace

TEST(ZipArchive, StoredMembersPointIntoTheBytes) {
  for (bool zip64 : {false, true}) {
    Data data = sample().finish(zip64);
    auto archive = open(data);
    ASSERT_TRUE(archive) << archive.error().message;
    EXPECT_EQ(archive->getMembers().size(), 2u);
    EXPECT_EQ(archive->getRoot(), "model/");
    auto bytes = archive->resolve("data/weights/weight_0", 0);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->text(), "0123456789");
    EXPECT_FALSE(archive->resolve("data/weights/weight_1", 10));
    EXPECT_TRUE(archive->readChecked(archive->getMembers()[0]));
  }
}

TEST(ZipArchive, NestedArchives) {
  Writer inner;
  inner.add("archive/data.pkl", "p");
  inner.add("archive/data/0", "weights");
  Data innerData = inner.finish();
  Writer outer;
  outer.add("serialized_state_dict.pt",
            std::string(innerData.begin(), innerData.end()));
  outer.add("version", "1");
  auto archive = open(outer.finish());
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(archive->getRoot(), "");
  auto bytes = archive->resolve("serialized_state_dict.pt!data/0", 7);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(bytes->text(), "weights");
  EXPECT_FALSE(archive->resolve("version!data/0", 7));
}

TEST(ZipArchive, DeflatedMembers) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t *zip = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  ASSERT_TRUE(zip);
  zip_source_keep(target);
  std::string text(5000, 'x');
  zip_int64_t index = zip_file_add(
      zip, "big", zip_source_buffer(zip, text.data(), text.size(), 0), 0);
  ASSERT_GE(index, 0);
  zip_set_file_compression(zip, index, ZIP_CM_DEFLATE, 9);
  ASSERT_EQ(zip_close(zip), 0);
  zip_stat_t stat;
  zip_source_stat(target, &stat);
  Data data(stat.size);
  zip_source_open(target);
  zip_source_read(target, data.data(), data.size());
  zip_source_close(target);
  zip_source_free(target);

  auto archive = open(data);
  ASSERT_TRUE(archive) << archive.error().message;
  ASSERT_FALSE(archive->getMembers()[0].isStored());
  auto bytes = archive->readChecked(archive->getMembers()[0]);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(bytes->text(), text);
  // More bytes than allowed are refused before decompression.
  const ZipArchive::Member &member = archive->getMembers()[0];
  EXPECT_TRUE(archive->read(member, 5000));
  for (auto refused :
       {archive->read(member, 4999), archive->readChecked(member, 4999)}) {
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find(
                  "member 'big' has 5000 bytes when decompressed, more than "
                  "the limit of 4999"),
              std::string::npos)
        << refused.error().message;
  }
  // A flipped bit in the data is an error, not other bytes.
  Data damaged = data;
  damaged[archive->getMembers()[0].offset + 4] ^= 0x55;
  auto second = open(damaged);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->readChecked(second->getMembers()[0]));
}

TEST(ZipArchive, TruncationIsAnErrorEverywhere) {
  for (bool zip64 : {false, true}) {
    Data data = sample().finish(zip64);
    for (size_t size = 0; size < data.size(); ++size)
      EXPECT_FALSE(open(Data(data.begin(), data.begin() + size))) << size;
  }
}

TEST(ZipArchive, EveryDamagedByteIsSurvived) {
  // Any outcome but a crash or an access outside the bytes (which the
  // sanitizers see).
  for (bool zip64 : {false, true}) {
    Data data = sample().finish(zip64);
    for (size_t at = 0; at < data.size(); ++at)
      for (uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
        Data damaged = data;
        damaged[at] = value;
        auto archive = open(damaged);
        if (archive)
          for (const auto &member : archive->getMembers())
            if (auto bytes = archive->read(member, kMaxMemberBytes);
                bytes && bytes->size)
              EXPECT_GE(crc32(bytes->data, bytes->size) | 1u, 1u);
      }
  }
}

TEST(ZipArchive, RefusesDamagedFields) {
  expectError({}, "is not a zip archive");
  expectError(Data(100, 'x'), "is not a zip archive");
  auto damage = [](size_t entryOffset, uint64_t value, unsigned size,
                   unsigned which = 0) {
    Writer w = sample();
    for (unsigned i = 0; i < size; ++i)
      w.directory[w.entries[which] + entryOffset + i] =
          uint8_t(value >> (8 * i));
    return w.finish();
  };
  expectError(damage(42, 0x7fffffff, 4), "lies outside the file");
  expectError(damage(42, 3, 4), "no local header");
  expectError(damage(20, 11, 4), "another size");
  expectError(damage(24, 11, 4), "another size");
  expectError(damage(10, 8, 2), "another compression method");
  expectError(damage(8, 1, 2), "is encrypted");
  expectError(damage(42, 0, 4, 1), "another name");
  Writer overlap = sample();
  size_t size = 10 + 30 + std::strlen("model/models/model.json") + 2;
  for (auto [at, part] :
       {std::pair<Data *, size_t>{&overlap.out, overlap.locals[0] + 18},
        {&overlap.directory, overlap.entries[0] + 20}})
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned i = 0; i < 4; ++i)
        (*at)[part + 4 * half + i] = uint8_t(size >> (8 * i));
  expectError(overlap.finish(), "overlap");

  for (const char *name : {"../x", "a/../b", "/x", "a\\b", "", "a\nb"}) {
    Writer w;
    w.add(name, "x");
    EXPECT_FALSE(open(w.finish())) << name;
  }
  Writer twice;
  twice.add("a", "1");
  twice.add("a", "2");
  expectError(twice.finish(), "appears twice");
}

TEST(ZipArchive, ChecksumIsRead) {
  Writer w = sample();
  w.out[w.locals[0] + 30 + std::strlen("model/data/weights/weight_0")] ^= 1;
  auto archive = open(w.finish());
  ASSERT_TRUE(archive);
  EXPECT_TRUE(archive->read(archive->getMembers()[0], 0));
  EXPECT_FALSE(archive->readChecked(archive->getMembers()[0]));
}

TEST(ZipArchive, DigestDependsOnWeightsOnly) {
  auto digest = [](const char *root, const char *weight, const char *program) {
    Writer w;
    w.add(std::string(root) + "models/model.json", program);
    w.add(std::string(root) + "data/weights/weight_0", weight);
    return open(w.finish())->getWeightsDigest();
  };
  std::string base = digest("a/", "abc", "{}");
  EXPECT_EQ(base.size(), 64u);
  EXPECT_EQ(base, digest("b/", "abc", "{ }"));
  EXPECT_NE(base, digest("a/", "abd", "{}"));
}

TEST(Sha256, KnownValues) {
  auto hash = [](std::string_view text) {
    Sha256 h;
    h.update(text);
    return h.hex();
  };
  EXPECT_EQ(hash(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(crc32(reinterpret_cast<const uint8_t *>("123456789"), 9),
            0xcbf43926u);
}
