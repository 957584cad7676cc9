//===- ArtifactBuilder.h - Artifacts made by hand -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_RUNTIME_ARTIFACTBUILDER_H
#define LUMINAL_TEST_UNIT_RUNTIME_ARTIFACTBUILDER_H

#include "DeviceCode.h"
#include "luminal/Runtime/ArtifactFile.h"
#include "luminal/Runtime/Context.h"
#include "luminal/Runtime/CpuFeatures.h"
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace luminal::runtime::testing {

using Kind = BufferSpec::Kind;

/// The kind of device that artifacts are made for. Each binary of tests sets
/// its own before the tests begin.
inline const char *deviceKind = "cpu";
inline bool isOnCPU() { return std::string_view(deviceKind) == "cpu"; }

/// A file that is removed with the object.
struct TemporaryPath {
  std::string path;
  explicit TemporaryPath(const std::string &suffix) {
    static int count = 0;
    path = ::testing::TempDir() + "luminal-" + std::to_string(::getpid()) +
           "-" + std::to_string(count++) + suffix;
  }
  TemporaryPath(const TemporaryPath &) = delete;
  ~TemporaryPath() { ::unlink(path.c_str()); }
};

inline std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void writeFile(const std::string &path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), text.size());
}

/// The kernels of Kernels.c as a shared object.
inline const std::string &kernelObject() {
  static const std::string object = readFile(LUMINAL_TEST_KERNELS);
  return object;
}

inline Expr s(const char *text) { return *Expr::parse(text); }

/// How a step for the CPU is started.
inline CPULaunch &launchOf(StepSpec &step) {
  return std::get<CPULaunch>(step.launch);
}

struct Builder {
  Manifest m;
  std::string constants;
  std::vector<std::string> weightData;
  /// Code of users, by the name of the member.
  std::vector<std::pair<std::string, std::string>> custom;

  Builder() {
    m.producer = "test";
    m.target.kind = deviceKind;
    if (isOnCPU())
      m.target.arch = hostArch();
    else
      m.target.arch = "sm_80";
  }

  uint32_t buffer(Kind kind, Expr offset = 0, Expr bytes = 0, uint32_t of = 0) {
    m.buffers.push_back({kind, offset, bytes, of});
    return static_cast<uint32_t>(m.buffers.size() - 1);
  }
  void symbol(const char *name, int64_t lo, std::optional<int64_t> hi) {
    m.symbols.push_back({name, {lo, hi}});
  }
  uint32_t input(const char *name, DType dtype, std::vector<Expr> shape) {
    InputSpec spec;
    spec.name = name;
    spec.dtype = dtype;
    spec.shape = std::move(shape);
    spec.buffer = buffer(Kind::Input);
    m.inputs.push_back(spec);
    return spec.buffer;
  }
  void outputOf(const char *name, DType dtype, std::vector<Expr> shape,
                uint32_t of, std::optional<uint32_t> updates = {}) {
    OutputSpec spec;
    spec.name = name;
    spec.dtype = dtype;
    spec.shape = std::move(shape);
    spec.buffer = of;
    spec.updates = updates;
    m.outputs.push_back(spec);
  }
  uint32_t output(const char *name, DType dtype, std::vector<Expr> shape) {
    uint32_t b = buffer(Kind::Output);
    outputOf(name, dtype, std::move(shape), b);
    return b;
  }
  /// A float32 weight; its buffer.
  uint32_t weight(const char *name, std::vector<float> values,
                  bool hasBuffer = true) {
    WeightSpec spec;
    spec.name = name;
    spec.shape = {static_cast<int64_t>(values.size())};
    spec.bytes = values.size() * sizeof(float);
    spec.member = std::string("data/weights/") + name;
    if (hasBuffer)
      spec.buffer = buffer(Kind::Weight);
    m.weights.push_back(spec);
    m.weightsEmbedded = true;
    weightData.emplace_back(reinterpret_cast<const char *>(values.data()),
                            spec.bytes);
    return spec.buffer.value_or(0);
  }
  StepSpec &step(const char *kernel, std::vector<uint32_t> buffers, Expr work) {
    StepSpec spec;
    spec.kernel = spec.name = kernel;
    spec.buffers = std::move(buffers);
    spec.launch = *makeLaunch(deviceKind);
    if (isOnCPU()) {
      launchOf(spec).work = work;
    } else {
      std::get<CUDALaunch>(spec.launch) = {work, Expr::floorDiv(work, 64) + 1,
                                           0, 64};
      // Code for a work range is a kernel of its own.
      for (const StepSpec &other : m.steps)
        if (other.kernel == spec.kernel)
          spec.kernel =
              std::string(kernel) + "$" + std::to_string(m.steps.size());
    }
    m.steps.push_back(spec);
    return m.steps.back();
  }

  Status write(const std::string &path) {
    const std::string ptx = isOnCPU() ? "" : makeDeviceCode(m);
    ArtifactParts parts{m, {}, constants, {}};
    if (isOnCPU())
      parts.code = {{"host.so", kernelObject()}};
    else
      parts.code = {{"device.ptx", ptx}};
    for (const auto &[name, bytes] : custom)
      parts.code.push_back({name, bytes});
    for (const std::string &data : weightData)
      parts.weights.push_back(data);
    return writeArtifact(std::move(parts), path);
  }

  Result<std::shared_ptr<const Artifact>>
  load(const LoadOptions &options = {}) {
    TemporaryPath file(".lum");
    LUMINAL_CHECK(write(file.path));
    return Artifact::load(file.path, options);
  }

  /// Loads and creates a context; fails the test on an error.
  std::unique_ptr<Context> context(unsigned threads = 1) {
    auto artifact = load();
    EXPECT_TRUE(artifact) << artifact.error().message;
    if (!artifact)
      return nullptr;
    auto context = Context::create(*artifact, {threads});
    EXPECT_TRUE(context) << context.error().message;
    return context ? std::move(*context) : nullptr;
  }
};

/// y = (x + w) + 1 over [n].
inline Builder chain(Expr n, int64_t grain = 1) {
  Builder b;
  if (n.asSymbol())
    b.symbol("n", 1, int64_t(1) << 24);
  uint32_t x = b.input("x", DType::F32, {n}), w = b.input("w", DType::F32, {n});
  uint32_t t = b.buffer(Kind::Arena, 0, n * 4);
  b.m.arenaBytes = n * 4;
  uint32_t y = b.output("y", DType::F32, {n});
  b.step("add_f32", {x, w, t}, n);
  b.step("increment_f32", {t, y}, n);
  if (isOnCPU()) {
    for (StepSpec &step : b.m.steps)
      launchOf(step).grain = grain;
    launchOf(b.m.steps[1]).scratch = 4;
  }
  return b;
}

/// y[0] = the sum of x over [n], in n parts.
inline Builder sumInParts() {
  Builder b;
  b.symbol("n", 1, 1 << 20);
  uint32_t x = b.input("x", DType::F32, {s("n")});
  uint32_t y = b.output("y", DType::F32, {1});
  uint32_t states = b.buffer(Kind::Arena, 0, s("4*n"));
  b.m.arenaBytes = s("4*n");
  uint32_t counters = b.buffer(Kind::Counters, 0, s("4*n"));
  b.step("sum_parts_f32", {x, y, states, counters}, s("n")).workspace = 2;
  return b;
}

#define EXPECT_OK(status)                                                      \
  do {                                                                         \
    auto expectedOk = (status);                                                \
    EXPECT_TRUE(expectedOk) << expectedOk.error().message;                     \
  } while (false)

/// The message of a failure, "" for success.
template <typename T>
std::string failure(const T &result) {
  return result ? std::string() : result.error().message;
}

#define EXPECT_FAILS(result, text)                                             \
  do {                                                                         \
    std::string message = failure(result);                                     \
    EXPECT_NE(message.find(text), std::string::npos) << "got: " << message;    \
  } while (false)

struct alignas(64) Floats {
  float v[64] = {};
  float &operator[](size_t i) { return v[i]; }
};

/// state += x in place; y is the state.
inline Builder counter() {
  Builder b;
  uint32_t x = b.input("x", DType::F32, {4});
  b.weight("start", {1, 2, 3, 4}, /*hasBuffer=*/false);
  uint32_t state = b.input("state", DType::F32, {4});
  b.m.inputs[1].state = true;
  b.m.inputs[1].initial = 0;
  b.step("accumulate_f32", {x, state}, 4);
  b.outputOf("new state", DType::F32, {4}, state, 1);
  b.outputOf("y", DType::F32, {4}, state);
  return b;
}

/// Changes a chain over n elements and calls it: the error, "" for none.
template <typename Fn>
std::string runWith(int64_t n, Fn change) {
  Builder b = chain(s("n"));
  b.m.symbols[0].range.hi.reset();
  change(b);
  auto c = b.context();
  if (!c)
    return "";
  // Never touched: the call is refused.
  Floats x;
  for (uint32_t i : {0, 1})
    if (Status status =
            c->bindInput(i, x.v, DType::F32, std::vector<int64_t>{n});
        !status)
      return status.error().message;
  return failure(c->run());
}

} // namespace luminal::runtime::testing

#endif // LUMINAL_TEST_UNIT_RUNTIME_ARTIFACTBUILDER_H
