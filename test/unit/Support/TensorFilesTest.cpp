//===- TensorFilesTest.cpp - .npy, .safetensors and written zips ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Npy.h"
#include "luminal/Support/SafeTensors.h"
#include "luminal/Support/ZipWriter.h"
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

using namespace luminal;

namespace {
constexpr DType kAll[] = {DType::F32, DType::F16,    DType::BF16,   DType::F64,
                          DType::I32, DType::I64,    DType::I1,     DType::I8,
                          DType::U8,  DType::F8E4M3, DType::F8E5M2, DType::I16,
                          DType::U16, DType::U32};

struct TemporaryPath {
  std::string path;
  explicit TemporaryPath(const char *suffix)
      : path(::testing::TempDir() + "luminal-files-" +
             std::to_string(::getpid()) + suffix) {}
  ~TemporaryPath() { ::unlink(path.c_str()); }
};

HostTensor makeTensor(DType dtype, std::vector<int64_t> shape) {
  HostTensor tensor{"t", dtype, std::move(shape), {}};
  uint8_t *data = allocateTensor(tensor);
  for (uint64_t i = 0; i < tensor.bytes.size; ++i)
    data[i] = dtype == DType::I1 ? i % 2 : static_cast<uint8_t>(7 * i + 1);
  return tensor;
}

Bytes bytesOf(std::string text) {
  auto copy = std::make_shared<std::string>(std::move(text));
  Bytes bytes;
  bytes.data = reinterpret_cast<const uint8_t *>(copy->data());
  bytes.size = copy->size();
  bytes.owner = copy;
  return bytes;
}

std::string npy(const std::string &dict, const std::string &data,
                char version = 1) {
  std::string text = std::string("\x93NUMPY") + version + '\0';
  text += static_cast<char>(dict.size() & 255);
  text += static_cast<char>(dict.size() >> 8);
  if (version > 1)
    text += std::string(2, '\0');
  return text + dict + data;
}

template <typename T>
std::string failure(const T &result) {
  return result ? std::string() : result.error().message;
}

TEST(Npy, RoundTripsEveryType) {
  for (DType dtype : kAll)
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, {5}, {2, 3}, {2, 0, 3}}) {
      TemporaryPath file(".npy");
      HostTensor tensor = makeTensor(dtype, shape);
      ASSERT_TRUE(writeNpy(file.path, tensor));
      auto read = readNpy(file.path, dtype);
      ASSERT_TRUE(read) << failure(read);
      EXPECT_EQ(read->dtype, dtype);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->bytes.text(), tensor.bytes.text());
      if (tensor.bytes.size > 0)
        EXPECT_EQ(reinterpret_cast<uintptr_t>(read->bytes.data) % 64, 0u);
    }
}

TEST(Npy, ReadsWhatNumPyWrites) {
  std::string six;
  for (float f : {0, 1, 2, 3, 4, 5})
    six.append(reinterpret_cast<const char *>(&f), 4);
  // NumPy may choose the order of keys, spaces, and the comma.
  auto read = readNpyBytes(
      bytesOf(npy("{\"shape\": (2,3), 'fortran_order':False,'descr':'<f4'}\n",
                  six)),
      "a.npy");
  ASSERT_TRUE(read) << failure(read);
  EXPECT_EQ(read->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(toDoubles(*read), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  read = readNpyBytes(
      bytesOf(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }",
                  six, 2)),
      "a.npy");
  ASSERT_TRUE(read) << failure(read);
  EXPECT_EQ(toDoubles(*read), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

// These agree with numpy.load on the same header.
TEST(Npy, ReadsShapesAsNumPyDoes) {
  using Shape = std::vector<int64_t>;
  auto read = [](const char *shape, int64_t count,
                 char version) -> std::optional<Shape> {
    auto tensor = readNpyBytes(
        bytesOf(npy(std::string("{'descr': '<f4', 'fortran_order': False, ") +
                        "'shape': " + shape + ", }",
                    std::string(static_cast<size_t>(4 * count), '\0'),
                    version)),
        "a.npy");
    return tensor ? std::optional<Shape>(tensor->shape) : std::nullopt;
  };
  struct Case {
    const char *text;
    std::optional<Shape> shape;
  };
  const Case cases[] = {{"()", Shape{}},
                        {"(3,)", Shape{3}},
                        {"( 3 , )", Shape{3}},
                        {"(\n3,\t2)", Shape{3, 2}},
                        {"(3,2,)", Shape{3, 2}},
                        {"(0,)", Shape{0}},
                        {"(00,)", Shape{0}},
                        {"(0_0,)", Shape{0}},
                        {"(1_0,)", Shape{10}},
                        {"(3)", {}},
                        {"(,)", {}},
                        {"(3,,2)", {}},
                        {"(03,)", {}},
                        {"(1__0,)", {}},
                        {"(10_,)", {}},
                        {"(_10,)", {}},
                        {"(-1,)", {}},
                        {"(3.0,)", {}},
                        {"(True,)", {}},
                        {"(3;)", {}},
                        {"((3,),)", {}},
                        {"[3]", {}},
                        {"3", {}}};
  for (const Case &c : cases) {
    int64_t count = 1;
    for (int64_t size : c.shape.value_or(Shape{3}))
      count *= size;
    for (char version : {1, 2, 3})
      EXPECT_EQ(read(c.text, count, version), c.shape) << c.text;
  }
  // Integers of Python 2.
  for (char version : {1, 2}) {
    EXPECT_EQ(read("(3L, 2 L)", 6, version), (Shape{3, 2}));
    EXPECT_EQ(read("(0L,)", 0, version), Shape{0});
    EXPECT_EQ(read("(010L,)", 10, version), std::nullopt);
    EXPECT_EQ(read("(3LL,)", 3, version), std::nullopt);
    EXPECT_EQ(read("(3l,)", 3, version), std::nullopt);
  }
  EXPECT_EQ(read("(3L, 2L)", 6, 3), std::nullopt);
}

TEST(Npy, BFloat16) {
  TemporaryPath file(".npy");
  HostTensor wide{"", DType::F32, {4}, {}};
  auto *values = reinterpret_cast<float *>(allocateTensor(wide));
  values[0] = 1.00390625f; // halfway: to even
  values[1] = -3.0f;
  values[2] = NAN;
  values[3] = 3.4e38f; // rounds to infinity
  ASSERT_TRUE(writeNpy(file.path, wide));
  auto read = readNpy(file.path, DType::BF16);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->dtype, DType::BF16);
  std::vector<double> got = toDoubles(*read);
  EXPECT_EQ(got[0], 1.0);
  EXPECT_EQ(got[1], -3.0);
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_TRUE(std::isinf(got[3]));
  EXPECT_EQ(readNpy(file.path)->dtype, DType::F32);
  std::string two("\x80\x3f", 2);
  std::string rest = "', 'fortran_order': False, 'shape': (1,), }";
  for (const char *code : {"|V2", "<V2", "<u2"}) {
    auto half = readNpyBytes(
        bytesOf(npy("{'descr': '" + std::string(code) + rest, two)), "a",
        DType::BF16);
    ASSERT_TRUE(half) << failure(half);
    EXPECT_EQ(toDoubles(*half), std::vector<double>{1.0});
  }
  auto integer = readNpyBytes(bytesOf(npy("{'descr': '<u2" + rest, two)), "a");
  ASSERT_TRUE(integer) << failure(integer);
  EXPECT_EQ(integer->dtype, DType::U16);
  EXPECT_EQ(toDoubles(*integer), std::vector<double>{0x3f80});
}

TEST(Npy, RefusesLies) {
  auto expect = [](const std::string &text, const char *message) {
    auto read = readNpyBytes(bytesOf(text), "a.npy");
    EXPECT_NE(failure(read).find(message), std::string::npos) << failure(read);
    EXPECT_EQ(failure(read).rfind("a.npy: ", 0), 0u);
  };
  auto header = [](const char *descr, const char *order, const char *shape,
                   size_t data) {
    return npy(std::string("{'descr': '") + descr + "', 'fortran_order': " +
                   order + ", 'shape': " + shape + ", }",
               std::string(data, '\0'));
  };
  expect("", "is not an .npy file");
  expect("\x93NUMPX\x01\x00\x00\x00", "is not an .npy file");
  expect(header("<f4", "False", "(3,)", 8),
         "says f32[3], but it holds 8 bytes");
  expect(header("<f4", "False", "(3,)", 16), "says f32[3], but it holds 16");
  expect(header("<f4", "False", "(-3,)", 16), "not a tuple of sizes");
  expect(header("<f4", "False", "(4611686018427387904, 4)", 16),
         "but it holds");
  expect(header("<f4", "False", "(99999999999999999999,)", 16), "not a tuple");
  expect(header("<f4", "False", "(4", 16), "not a tuple");
  expect(header("<f4", "Maybe", "(4,)", 16), "neither True nor False");
  expect(header(">f4", "False", "(4,)", 16), "is big-endian");
  expect(header("<c8", "False", "(2,)", 16), "'<c8' is not supported");
  expect(header("|O", "False", "(2,)", 16), "'|O' is not supported");
  expect(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
             "1234"),
         "structured or malformed");
  expect(npy("{'descr': '<f4'}", ""), "lacks");
  expect(npy("{'descr': '<f4', 'descr': '<f4'}", ""), "repeated");
  expect(npy("{", ""), "malformed");
  expect(npy("(1, 2)", ""), "is not a dict");
  std::string lied = header("|b1", "False", "(2,)", 1) + '\x02';
  expect(lied, "element 1 of a boolean array is 2");
  std::string good = header("<f4", "False", "(4,)", 16);
  for (size_t size = 0; size < good.size(); ++size)
    expect(good.substr(0, size), "");
  std::string longHeader = good;
  longHeader[9] = '\x7f';
  expect(longHeader, "is truncated in its header");
}

TEST(SafeTensors, RoundTripsEveryType) {
  TemporaryPath file(".safetensors");
  std::vector<HostTensor> tensors;
  for (DType dtype : kAll) {
    tensors.push_back(makeTensor(dtype, {3, 2}));
    tensors.back().name = std::string("t.") + std::string(dtypeName(dtype));
  }
  tensors.push_back(makeTensor(DType::F32, {0}));
  tensors.back().name = "empty \"quoted\"";
  ASSERT_TRUE(writeSafeTensors(file.path, tensors));
  auto read = SafeTensors::open(file.path);
  ASSERT_TRUE(read) << failure(read);
  EXPECT_EQ(read->getTensors().size(), tensors.size());
  for (const HostTensor &tensor : tensors) {
    const HostTensor *found = read->find(tensor.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->dtype, tensor.dtype);
    EXPECT_EQ(found->shape, tensor.shape);
    EXPECT_EQ(found->bytes.text(), tensor.bytes.text());
  }
  EXPECT_EQ(read->find("t"), nullptr);
  tensors.push_back(tensors.front());
  EXPECT_NE(failure(writeSafeTensors(file.path, tensors)).find("two tensors"),
            std::string::npos);
}

TEST(SafeTensors, RefusesLies) {
  auto file = [](std::string json, size_t data) {
    std::string text;
    for (unsigned i = 0; i < 8; ++i)
      text += static_cast<char>(json.size() >> (8 * i));
    return text + json + std::string(data, '\0');
  };
  auto expect = [](const std::string &text, const char *message) {
    auto read = SafeTensors::fromBytes(bytesOf(text), "a");
    EXPECT_NE(failure(read).find(message), std::string::npos) << failure(read);
  };
  auto one = [](const char *dtype, const char *shape, const char *range) {
    return std::string("{\"t\":{\"dtype\":\"") + dtype +
           "\",\"shape\":" + shape + ",\"data_offsets\":" + range + "}}";
  };
  EXPECT_TRUE(SafeTensors::fromBytes(
      bytesOf(file(one("F32", "[2]", "[0,8]"), 8)), "a"));
  expect("abc", "is not a .safetensors file");
  expect(std::string(8, '\xff') + "{}", "is not a .safetensors file");
  expect(file("{", 0), "a");
  expect(file("[]", 0), "a: expected an object");
  expect(file(one("F33", "[2]", "[0,8]"), 8), "a.t.dtype: element type 'F33'");
  expect(file(one("F32", "[2]", "[0,12]"), 12),
         "holds 12 bytes, but f32[2] has 8");
  expect(file(one("F32", "[2]", "[0,8]"), 7), "lies outside the file");
  expect(file(one("F32", "[2]", "[8,0]"), 8), "lies outside the file");
  expect(file(one("F32", "[2]", "[-8,0]"), 8), "lies outside the file");
  expect(file(one("F32", "[-2]", "[0,8]"), 8), "a.t.shape: is not a shape");
  expect(file(one("F32", "[4611686018427387904,4]", "[0,8]"), 8),
         "is not a shape");
  expect(file(one("F32", "[2]", "[0]"), 8), "is not a pair of offsets");
  expect(file("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
              "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[3,7]}}",
              8),
         "has tensors that overlap");
}

TEST(ZipWriter, WritesWhatTheReaderTakes) {
  TemporaryPath file(".zip");
  std::string_view pieces[] = {"hello ", "world"}, empty[] = {""};
  auto write = [&] {
    auto zip = ZipWriter::create(file.path);
    ASSERT_TRUE(zip) << failure(zip);
    EXPECT_TRUE(zip->add("a.txt", pieces));
    EXPECT_TRUE(zip->add("b.bin", pieces, 64));
    EXPECT_TRUE(zip->add("c.bin", empty, 4096));
    EXPECT_TRUE(zip->add("d.bin", pieces, 4096));
    // The file exists only after it is finished.
    EXPECT_NE(::access(file.path.c_str(), F_OK), 0);
    EXPECT_TRUE(zip->finish());
  };
  write();
  auto archive = ZipArchive::open(file.path);
  ASSERT_TRUE(archive) << failure(archive);
  ASSERT_EQ(archive->getMembers().size(), 4u);
  for (const ZipArchive::Member &member : archive->getMembers()) {
    auto bytes = archive->readChecked(member);
    ASSERT_TRUE(bytes) << failure(bytes);
    EXPECT_EQ(bytes->text(), member.name == "c.bin" ? "" : "hello world");
  }
  EXPECT_EQ(archive->find("b.bin")->offset % 64, 0u);
  EXPECT_EQ(archive->find("c.bin")->offset % 4096, 0u);
  EXPECT_EQ(archive->find("d.bin")->offset % 4096, 0u);
  auto read = [&] {
    std::ifstream in(file.path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::string first = read();
  ::unlink(file.path.c_str());
  write();
  EXPECT_EQ(read(), first);
  // An unfinished one leaves nothing.
  ::unlink(file.path.c_str());
  {
    auto zip = ZipWriter::create(file.path);
    EXPECT_TRUE(zip->add("a", pieces));
  }
  EXPECT_NE(::access(file.path.c_str(), F_OK), 0);
}
} // namespace
