//===- ArtifactTest.cpp - Loading artifacts and weights -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArtifactBuilder.h"
#include "luminal/Support/SafeTensors.h"
#include "luminal/Support/ZipWriter.h"
#include <cstring>
#include <random>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;

/// y = x + w.
Builder withWeight(bool embedded) {
  Builder b;
  uint32_t x = b.input("x", DType::F32, {4}),
           w = b.weight("w", {10, 20, 30, 40});
  uint32_t y = b.output("y", DType::F32, {4});
  b.step("add_f32", {x, w, y}, 4);
  b.m.weightsEmbedded = embedded;
  return b;
}

/// Runs with x = 1: the second element, or the error.
std::string second(const std::shared_ptr<const Artifact> &artifact) {
  auto c = Context::create(artifact, {1});
  alignas(64) float x[4] = {1, 1, 1, 1};
  if (Status status = (*c)->bindInput(0, x, DType::F32, Shape{4}); !status)
    return status.error().message;
  if (Status status = (*c)->run(); !status)
    return status.error().message;
  return std::to_string(
      int(static_cast<const float *>(*(*c)->getOutputData(0))[1]));
}

std::string weightBytes(std::vector<float> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * 4};
}

/// An archive as torch.export lays it out; `lead` bytes precede the weight in
/// its member.
void writeArchive(const std::string &path, std::vector<float> values,
                  uint32_t alignment = 64) {
  auto zip = ZipWriter::create(path);
  std::string data = weightBytes(values);
  std::string_view piece = data, json = "{}";
  EXPECT_OK(zip->add("m/models/model.json", {&json, 1}));
  EXPECT_OK(zip->add("m/data/weights/w", {&piece, 1}, alignment));
  EXPECT_OK(zip->finish());
}

TEST(Artifact, EmbedsWeights) {
  auto artifact = withWeight(true).load();
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(second(*artifact), "21");
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*artifact)->getWeight(0)) % 64, 0u);
  // The file is removed (Builder::load), the mapping stays.
  EXPECT_EQ(second(*artifact), "21");
}

TEST(Artifact, StepsHaveTheNamesOfTheModulesBesideThem) {
  auto nameOf = [](Builder &b) {
    auto artifact = b.load();
    EXPECT_TRUE(artifact) << artifact.error().message;
    return (*artifact)->getManifest().steps[0].name;
  };
  Builder b = withWeight(true);
  b.m.steps[0].name = "map at model.py:3";
  b.m.steps[0].nodes = {"mul", "add"};
  EXPECT_EQ(nameOf(b), "map at model.py:3");
  const std::string without = b.m.str();
  b.m.modules = {{"mul", "layers.0.gate"}, {"add", "layers.0.up"}};
  EXPECT_EQ(nameOf(b), "layers.0: gate, up (map)");
  // The manifest is the same for models of other names.
  EXPECT_EQ(b.m.str(), without);
  b.m.modules = {{"add", "head"}};
  EXPECT_EQ(nameOf(b), "head (map)");
  b.m.modules = {{"sub", "head"}};
  EXPECT_EQ(nameOf(b), "map at model.py:3");
  // Of variants and of what is prepared, too.
  auto other = std::make_shared<Manifest>(b.m);
  other->variants = {std::make_shared<const Manifest>(b.m)};
  other->nameSteps({{"add", "tail"}});
  EXPECT_EQ(other->variants[0]->steps[0].name, "tail (map)");
}

TEST(Artifact, TheSamePartsGiveTheSameBytes) {
  TemporaryPath a(".lum"), b(".lum");
  EXPECT_OK(withWeight(true).write(a.path));
  EXPECT_OK(withWeight(true).write(b.path));
  EXPECT_EQ(readFile(a.path), readFile(b.path));
  // No file is written if the manifest is invalid.
  TemporaryPath c(".lum");
  Builder bad = withWeight(true);
  bad.m.steps[0].buffers[0] = 50;
  EXPECT_FAILS(bad.write(c.path), "there is no buffer 50");
  EXPECT_NE(::access(c.path.c_str(), F_OK), 0);
  EXPECT_FAILS(withWeight(true).write("/no/such/folder/x.lum"),
               "/no/such/folder/x.lum: cannot be written");
}

TEST(Artifact, MapsWeightsOfAnArchive) {
  TemporaryPath right(".pt2"), other(".pt2"), odd(".pt2");
  writeArchive(right.path, {10, 20, 30, 40});
  writeArchive(other.path, {10, 21, 30, 40});
  Builder b = withWeight(false);
  b.m.weightsDigest = ZipArchive::open(right.path)->getWeightsDigest();
  EXPECT_EQ(second(*b.load()), "weight 'w' is not bound: name the file that "
                               "holds the weights, or bind it");
  EXPECT_EQ(second(*b.load({right.path})), "21");
  EXPECT_FAILS(b.load({other.path}), "holds the weights of another model");
  // Copied once if misaligned in the file.
  writeArchive(odd.path, {10, 20, 30, 40}, 1);
  b.m.weightsDigest = "";
  auto artifact = b.load({odd.path});
  ASSERT_TRUE(artifact);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*artifact)->getWeight(0)) % 16, 0u);
  EXPECT_EQ(second(*artifact), "21");
  // Shorter than the manifest states, and missing.
  TemporaryPath shorter(".pt2");
  writeArchive(shorter.path, {10, 20, 30});
  EXPECT_FAILS(b.load({shorter.path}), "member 'data/weights/w' has 12 bytes, "
                                       "but weight 'w' needs 16 at 0");
  b.m.weights[0].offset = 4;
  EXPECT_FAILS(b.load({right.path}), "needs 16 at 4");
  b.m.weights[0].offset = 0;
  b.m.weights[0].member = "data/weights/v";
  EXPECT_FAILS(b.load({right.path}), "data/weights/v");
  EXPECT_FAILS(b.load({"/no/such/file"}), "/no/such/file");
}

TEST(Artifact, FindsTheFileThatItWasCompiledWith) {
  TemporaryPath path(".lum"), file(".pt2");
  writeArchive(file.path, {10, 20, 30, 40});
  Builder b = withWeight(false);
  b.m.weightsDigest = ZipArchive::open(file.path)->getWeightsDigest();
  b.m.weightsFile = file.path.substr(file.path.rfind('/') + 1);
  EXPECT_OK(b.write(path.path));
  EXPECT_EQ(second(*Artifact::load(path.path)), "21");
  // If the caller binds weights, no file is searched; bytes have no folder.
  const std::string unbound =
      "weight 'w' is not bound: name the file that holds the weights, or bind "
      "it (the artifact was compiled with '" +
      b.m.weightsFile + "', which was not found beside it)";
  EXPECT_EQ(second(*Artifact::load(path.path, {"", false})), unbound);
  EXPECT_EQ(second(*Artifact::fromBytes(*mapFile(path.path), "a")), unbound);
  // An explicit path has priority, and another file of that name is refused.
  TemporaryPath named(".pt2");
  writeArchive(named.path, {10, 20, 30, 40});
  writeArchive(file.path, {10, 21, 30, 40});
  EXPECT_EQ(second(*Artifact::load(path.path, {named.path})), "21");
  EXPECT_FAILS(Artifact::load(path.path),
               "holds the weights of another model than");
  ::unlink(file.path.c_str());
  EXPECT_EQ(second(*Artifact::load(path.path)), unbound);
}

TEST(Artifact, MapsWeightsOfSafeTensors) {
  TemporaryPath file(".safetensors");
  HostTensor w{"w", DType::F32, {4}, {}};
  std::memcpy(allocateTensor(w), weightBytes({10, 20, 30, 40}).data(), 16);
  Builder b = withWeight(false);
  b.m.weightsDigest = "of the archive";
  EXPECT_OK(writeSafeTensors(file.path, {w}));
  EXPECT_EQ(second(*b.load({file.path})), "21");
  w.name = "v";
  EXPECT_OK(writeSafeTensors(file.path, {w}));
  EXPECT_FAILS(b.load({file.path}), "it has no tensor 'w'");
  w.name = "w";
  w.shape = {2, 2};
  EXPECT_OK(writeSafeTensors(file.path, {w}));
  EXPECT_FAILS(b.load({file.path}), "'w' is f32[2, 2], expected f32[4]");
  w.shape = {4};
  w.dtype = DType::I32;
  EXPECT_OK(writeSafeTensors(file.path, {w}));
  EXPECT_FAILS(b.load({file.path}), "'w' is i32[4], expected f32[4]");
}

TEST(Artifact, RunsItsOwnCodeWhereOthersStays) {
  // The loader identifies code by path, and keeps libraries that cannot be
  // unloaded.
  const std::string objects[] = {readFile(LUMINAL_TEST_KERNELS_THAT_STAY),
                                 kernelObject()};
  for (int load = 0; load < 6; ++load) {
    Builder b = withWeight(true);
    TemporaryPath file(".lum");
    EXPECT_OK(writeArtifact(
        {b.m, {{"host.so", objects[load % 2]}}, "", {b.weightData[0]}},
        file.path));
    auto artifact = Artifact::load(file.path);
    ASSERT_TRUE(artifact) << artifact.error().message;
    EXPECT_EQ(second(*artifact), load % 2 ? "21" : "1021");
  }
}

TEST(Artifact, BindsWeightsOfTheCaller) {
  auto artifact = withWeight(false).load();
  auto c = Context::create(*artifact, {1});
  alignas(64) float x[4] = {1, 1, 1, 1}, w[8] = {0, 5, 6, 7, 8, 9};
  EXPECT_OK((*c)->bindInput(0, x, DType::F32, Shape{4}));
  for (int offset : {0, 1}) {
    EXPECT_OK((*c)->bindWeight(0, w + offset, DType::F32, Shape{4}));
    EXPECT_OK((*c)->run());
    auto *y = static_cast<const float *>(*(*c)->getOutputData(0));
    EXPECT_EQ(y[1], w[1 + offset] + 1);
  }
  (*c)->unbindWeight(0);
  EXPECT_FAILS((*c)->run(), "weight 'w' is not bound");
}

TEST(Artifact, RefusesWhatItCannotRun) {
  auto expect = [](auto change, const char *text) {
    Builder b = withWeight(true);
    change(b.m);
    EXPECT_FAILS(b.load(), text);
  };
  expect([](Manifest &m) { m.target.kind = "cuda", m.steps.clear(); },
         "is compiled for 'cuda'");
  expect([](Manifest &m) { m.target.arch = "riscv64"; },
         "is compiled for 'riscv64', this machine is");
  expect(
      [](Manifest &m) { m.target.features = {"levitation"}; },
      "needs the CPU feature 'levitation', which this runtime does not know");
  expect([](Manifest &m) { m.steps[0].kernel = "no_such_kernel"; },
         "steps[0].kernel: host.so has no symbol 'no_such_kernel'");
  // A symbol of the process, but not of the object.
  expect([](Manifest &m) { m.steps[0].kernel = "system"; },
         "host.so has no symbol 'system'");
  expect([](Manifest &m) { m.symbols.push_back({"n", {0, 5}}); },
         "the value of 'n' does not follow from the shape of any input");
  expect([](Manifest &m) { m.buffers.push_back({Kind::Constant, 0, 1, 0}); },
         "lies outside constants.bin");
#if defined(__x86_64__)
  for (const char *name : {"avx512f", "sse2", "amx-tile"})
    EXPECT_TRUE(isIsaFeature(name));
  EXPECT_OK(checkCpuFeatures({"sse2"}));
#endif
  EXPECT_FALSE(isIsaFeature("fast-lzcnt"));
  EXPECT_FALSE(isIsaFeature(""));
}

TEST(Artifact, RefusesDamagedFiles) {
  TemporaryPath file(".lum");
  Builder b = withWeight(true);
  EXPECT_OK(b.write(file.path));
  const std::string good = readFile(file.path);
  auto load = [&](const std::string &text) {
    Bytes bytes;
    // A separate allocation, so that a sanitizer sees reads beyond it.
    auto copy =
        std::make_shared<std::vector<uint8_t>>(text.begin(), text.end());
    bytes.data = copy->data();
    bytes.size = copy->size();
    bytes.owner = copy;
    return Artifact::fromBytes(bytes, "a.lum");
  };
  EXPECT_TRUE(load(good));
  EXPECT_FAILS(load(""), "a.lum: is not a zip archive");
  EXPECT_FAILS(load("hello"), "a.lum: is not a zip archive");
  for (int tenth = 0; tenth < 10; ++tenth)
    EXPECT_FAILS(load(good.substr(0, good.size() * tenth / 10)), "a.lum: ");
  // One byte of the manifest or the code: their checksums are wrong.
  for (const char *text : {"\"producer\"", "\x7f"
                                           "ELF"}) {
    std::string bad = good;
    bad[bad.find(text) + 1] ^= 1;
    EXPECT_FAILS(load(bad), "a.lum: ");
  }
  auto zip = ZipWriter::create(file.path);
  std::string_view nothing;
  EXPECT_OK(zip->add("x", {&nothing, 1}));
  EXPECT_OK(zip->finish());
  EXPECT_FAILS(Artifact::load(file.path), "it has no member 'manifest.json'");
  EXPECT_FAILS(Artifact::load("/no/such/file.lum"), "/no/such/file.lum: ");

  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    // The directory, headers and manifest; the code is checked as a whole.
    for (int k = 0; k < 3; ++k) {
      size_t span = std::min<size_t>(bad.size(), 600);
      size_t at = random() % span;
      bad[random() % 2 ? at : bad.size() - 1 - at] =
          static_cast<char>(random());
    }
    auto result = load(bad);
    if (!result)
      EXPECT_EQ(result.error().message.rfind("a.lum: ", 0), 0u);
  }
}

TEST(Artifact, HostObjectsDoNotMixUp) {
  // Two artifacts one after the other get the same file descriptor.
  Builder plus = withWeight(true);
  EXPECT_EQ(second(*plus.load()), "21");
  TemporaryPath file(".lum");
  ArtifactParts parts{plus.m,
                      {{"host.so", "\x7f"
                                   "ELF but not really"}},
                      "",
                      {}};
  parts.weights.push_back(plus.weightData[0]);
  EXPECT_OK(writeArtifact(std::move(parts), file.path));
  EXPECT_FAILS(Artifact::load(file.path), "host.so: cannot be loaded");
  EXPECT_EQ(second(*plus.load()), "21");
}
} // namespace
