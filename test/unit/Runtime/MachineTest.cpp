//===- MachineTest.cpp - Models of machines, and their files --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Machine.h"
#include "luminal/Runtime/ThreadPool.h"
#include "gtest/gtest.h"
#include <ctime>
#include <filesystem>
#include <fstream>

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// A model with no default value in it.
MachineFile makeFile() {
  MachineFile file;
  file.processor = Processor::getHost();
  double next = 33;
  visitMachineFields(file.model,
                     [&](const char *, auto &field, double, double) {
                       using Field = std::remove_reference_t<decltype(field)>;
                       if constexpr (std::is_same_v<Field, bool>)
                         field = !field;
                       else
                         field = static_cast<Field>(++next * 1024 / 1000);
                     });
  file.model.l1Bytes = 1 << 20;
  file.model.l1WayBytes = 1 << 16;
  file.model.l2Bytes = 1 << 21;
  return file;
}

// Nothing is measured: other fields stay.
TEST(Machine, IsAskedOfTheSystem) {
  MachineModel model;
  model.l1Bytes = model.l2Bytes = model.lineBytes = model.l1WayBytes = 1;
  model.workers = 12345;
  double rate = model.readRate = 77;
  askSystem(model);
  EXPECT_EQ(model.workers, availableThreads());
  EXPECT_EQ(model.readRate, rate);
  std::ifstream size("/sys/devices/system/cpu/cpu0/cache/index2/size");
  int64_t kilobytes = 0;
  if (size >> kilobytes)
    EXPECT_EQ(model.l2Bytes, kilobytes << 10);
  else
    EXPECT_EQ(model.l2Bytes, 1);
  // A power of two, of which a way has several.
  if (model.lineBytes != 1) {
    EXPECT_EQ(model.lineBytes & (model.lineBytes - 1), 0);
    EXPECT_EQ(model.l1WayBytes % model.lineBytes, 0);
    EXPECT_EQ(model.l1Bytes % model.l1WayBytes, 0);
  }
}

TEST(MachineFile, RoundTrips) {
  MachineFile file = makeFile();
  Result<MachineFile> read = MachineFile::parse(file.str(), "file");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->str(), file.str());
  EXPECT_EQ(read->processor, file.processor);
  EXPECT_EQ(read->model.readRate, file.model.readRate);
  EXPECT_FALSE(read->model.hasScratch);
}

// Whatever is missing, of another type or beyond reason is one error.
TEST(MachineFile, RefusesWhatIsWrong) {
  std::string text = makeFile().str();
  EXPECT_FALSE(MachineFile::parse("", "file"));
  EXPECT_FALSE(MachineFile::parse("[]", "file"));
  auto refuses = [&](const std::string &from, const std::string &to,
                     const std::string &message) {
    std::string changed = text;
    size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    Result<MachineFile> read = MachineFile::parse(changed, "file");
    ASSERT_FALSE(read) << from;
    EXPECT_NE(read.error().message.find(message), std::string::npos)
        << read.error().message;
  };
  refuses("\"format\": 6", "\"format\": 5", "file.format: is 5, expected 6");
  refuses("\"line_bytes\": ", "\"line_bytes\": -", "is out of range");
  refuses("\"workers\": ", "\"workers\": -", "is out of range");
  refuses("\"shared_read_rate\"", "\"rate\"", "shared_read_rate");
  refuses("\"l1_bytes\": ", "\"l1_bytes\": -", "is out of range");
  refuses("\"l1_bytes\": ", "\"l1_bytes\": 99999999999", "is out of range");
  refuses("\"vector_bits\"", "\"vector_bat\"", "vector_bits");
  refuses("\"cores\": ", "\"cores\": \"x\", \"c\": ", "expected");
  refuses("\"vendor\"", "\"wender\"", "vendor");
  for (size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_FALSE(MachineFile::parse(text.substr(0, length), "file"));
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

// An architecture is the one with the slower memory; a name, and what a driver
// tells, are more than that.
TEST(GPUModel, IsOfTheArchitectureAndOfWhatTheDriverSays) {
  MachineModel hopper = MachineModel::getGPU("sm_90a");
  EXPECT_EQ(hopper.workers, 132u);
  EXPECT_TRUE(hopper.hasWarpGroups);
  EXPECT_NEAR(hopper.getReadRate(hopper.workers), 3000, 100);
  // 60 TFLOP/s in f32.
  EXPECT_NEAR(2 * hopper.workers * hopper.getFmaRate(), 60e3, 1e3);
  EXPECT_EQ(hopper.getLeastWorkers(), 132);
  EXPECT_EQ(hopper.lineBytes, 128);
  EXPECT_EQ(hopper.residentBlocks, 32u);
  EXPECT_EQ(hopper.getBusyBlocks(), 128);
  EXPECT_EQ(hopper.getAllThreads(), 1 << 18);
  EXPECT_FALSE(MachineModel::getGPU("sm_90").hasWarpGroups);

  EXPECT_EQ(MachineModel::getArchOfGPU("h200"), "sm_90");
  EXPECT_EQ(MachineModel::getArchOfGPU("sm_90"), "");
  GPUFacts facts;
  facts.name = "NVIDIA H200";
  EXPECT_NEAR(MachineModel::getGPU("sm_90a", facts).sharedReadRate, 4320, 1);
  facts.multiprocessors = 114;
  facts.clock = 1.7;
  facts.memoryRate = 2000;
  facts.cacheBytes = 40 << 20;
  MachineModel own = MachineModel::getGPU("sm_90a", facts);
  EXPECT_EQ(own.workers, 114u);
  EXPECT_EQ(own.sharedReadRate, 1800);
  EXPECT_EQ(own.l3Bytes, 40 << 20);
  EXPECT_LT(own.products.library.f16, hopper.products.library.f16);

  MachineModel small = MachineModel::getGPU("sm_89");
  EXPECT_EQ(small.workers, 58u);
  EXPECT_NEAR(small.sharedReadRate, 270, 1);
  EXPECT_EQ(small.sharedBytes, 99 << 10);
  EXPECT_EQ(small.residentBlocks, 24u);
  EXPECT_EQ(small.getBusyBlocks(), 64);
  // The name of another architecture's is not looked at, nor a part of a word.
  EXPECT_EQ(MachineModel::getGPU("sm_89", facts).sharedBytes, 99 << 10);
  facts = GPUFacts();
  facts.name = "NVIDIA L40S";
  EXPECT_EQ(MachineModel::getGPU("sm_89", facts).workers, 142u);
  // What has no row is like the last one before it, but for its blocks.
  MachineModel later = MachineModel::getGPU("sm_120");
  EXPECT_EQ(later.workers, 148u);
  EXPECT_EQ(later.sharedBytes, 99 << 10);
  EXPECT_EQ(MachineModel::getGPU("sm_75").workers, 108u);
}

TEST(GPUModel, RoundTrips) {
  MachineModel model = MachineModel::getGPU("sm_90a");
  std::string text = model.str();
  auto document = JsonDocument::parse(text, "file");
  ASSERT_TRUE(document);
  Result<MachineModel> read = MachineModel::parse(document->root());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->str(), text);
  EXPECT_EQ(read->products.staged.f16, model.products.staged.f16);
  EXPECT_FALSE(read->hasScratch);
  EXPECT_TRUE(read->hasWarpGroups);
  // Those of a GPU are no processor's.
  EXPECT_EQ(MachineModel().str().find("resident_threads"), std::string::npos);
  EXPECT_NE(text.find("resident_threads"), std::string::npos);
  text.replace(text.find("library_time"), 7, "looking");
  auto other = JsonDocument::parse(text, "file");
  ASSERT_TRUE(other);
  EXPECT_FALSE(MachineModel::parse(other->root()));
}

class MachineFiles : public testing::Test {
protected:
  MachineFiles() {
    folder = std::filesystem::temp_directory_path() /
             ("machine-" + std::to_string(::getpid()));
    path = getMachineFile(folder);
  }
  ~MachineFiles() override { std::filesystem::remove_all(folder); }
  void write(const std::string &text) {
    std::filesystem::create_directories(folder);
    std::ofstream(path) << text;
  }
  std::string folder, path;
};

TEST_F(MachineFiles, AreOfOneProcessor) {
  auto none = readMachineModel(path);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  MachineFile file = makeFile();
  write(file.str());
  auto read = readMachineModel(path);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->str(), file.model.str());
  file.processor.microcode += "1";
  write(file.str());
  auto other = readMachineModel(path);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another processor"), std::string::npos);
  // A folder in its place.
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_FALSE(readMachineModel(path));
}

TEST_F(MachineFiles, HoldWhatIsMeasured) {
  // Of the processor: other work may hold it up.
  std::clock_t begin = std::clock();
  Result<MachineModel> model = calibrate(path);
  [[maybe_unused]] double took = double(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(model) << model.error().message;
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(took, 3.0);
#endif
  auto read = readMachineModel(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->str(), model->str());
  EXPECT_GT(model->fmaRate128, 0);
  EXPECT_EQ(model->workers, availableThreads());
  // All workers together read at least as fast as one of them.
  EXPECT_GE(model->sharedReadRate, model->readRate);
  EXPECT_GE(model->l2Bytes, model->l1Bytes);
  // The width that pays is not slower than any other.
  double best = model->vectorBits == 512   ? model->fmaRate512
                : model->vectorBits == 256 ? model->fmaRate256
                                           : model->fmaRate128;
  for (double rate : {model->fmaRate128, model->fmaRate256, model->fmaRate512})
    EXPECT_GE(best, 0.9 * rate);
}
} // namespace
