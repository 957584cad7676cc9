//===- CublasLtTest.cpp - Steps that cuBLASLt does ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../lib/CUDA/FakeDriver.h"
#include "ArtifactBuilder.h"
#include "luminal/Support/Scalar.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

static const bool chosen =
    ::setenv("LUMINAL_CUBLASLT", LUMINAL_FAKE_CUDA_DRIVER, 1) == 0;

namespace {
using Shape = std::vector<int64_t>;

FakeCounts &counts() {
  static auto *get = reinterpret_cast<FakeCounts *(*)()>(::dlsym(
      ::dlopen(LUMINAL_FAKE_CUDA_DRIVER, RTLD_NOW), "luminalFakeCounts"));
  return *get();
}

/// A program of one product: x w -> y, the addend and bias where the launch has
/// them. Tensors are as large as the matrices end.
struct Product {
  CublasLtLaunch launch;
  Builder b;
  std::vector<uint32_t> buffers;

  explicit Product(CublasLtLaunch product) : launch(std::move(product)) {
    launch.work = launch.batch * launch.rows * launch.columns;
    launch.workspace = 256;
  }
  static Expr endOf(const MatrixPlace &p, const Expr &batch, const Expr &rows,
                    const Expr &columns) {
    return p.offset + (batch - 1) * p.batch + (rows - 1) * p.row +
           (columns - 1) * p.column + 1;
  }
  Builder &build() {
    const auto &l = launch;
    buffers = {
        b.input("x", l.type, {endOf(l.lhs, l.batch, l.rows, l.inner)}),
        b.input("w", l.type, {endOf(l.rhs, l.batch, l.inner, l.columns)})};
    if (l.addend)
      buffers.push_back(
          b.input("c", l.resultType,
                  {endOf(l.addendPlace, l.batch, l.rows, l.columns)}));
    if (l.bias)
      buffers.push_back(b.input("v", l.resultType, {l.columns}));
    buffers.push_back(b.output("y", l.resultType,
                               {endOf(l.result, l.batch, l.rows, l.columns)}));
    buffers.push_back(b.buffer(Kind::Arena, 0, 256));
    b.m.arenaBytes = 256;
    StepSpec step;
    step.name = "product";
    step.buffers = buffers;
    step.workspace = 1;
    step.launch = l;
    b.m.steps.push_back(step);
    return b;
  }
};

/// [rows, inner] x [inner, columns], all row-major.
CublasLtLaunch plain(Expr rows, Expr columns, Expr inner) {
  CublasLtLaunch l;
  l.rows = rows, l.columns = columns, l.inner = inner;
  l.lhs = {0, 0, inner, 1};
  l.rhs = {0, 0, columns, 1};
  l.result = l.addendPlace = {0, 0, columns, 1};
  return l;
}

/// Elements with values that every type holds.
struct Tensor {
  DType type;
  std::vector<uint64_t> bytes;
  Tensor(DType type, int64_t n, std::mt19937 &random)
      : type(type), bytes(static_cast<size_t>(n) + 8) {
    for (int64_t i = 0; i < n; ++i)
      storeFloat(type, static_cast<double>(random() % 17) / 4 - 2, at(i));
  }
  char *at(int64_t i) {
    return reinterpret_cast<char *>(bytes.data()) +
           static_cast<size_t>(i) * dtypeSize(type);
  }
  double operator[](int64_t i) { return loadFloat(type, at(i)); }
};

int64_t value(const Expr &e) { return e.asConstant().value(); }

/// Runs a product of constant sizes, and compares it with its definition.
void check(const CublasLtLaunch &launch) {
  Product product(launch);
  Builder &b = product.build();
  const auto &l = product.launch;
  auto c = b.context();
  ASSERT_TRUE(c);
  std::mt19937 random(1);
  std::vector<Tensor> in;
  for (const InputSpec &input : b.m.inputs)
    in.emplace_back(input.dtype, value(input.shape[0]), random);
  for (uint32_t i = 0; i < in.size(); ++i)
    EXPECT_OK(c->bindInput(i, in[i].at(0), in[i].type,
                           Shape{value(b.m.inputs[i].shape[0])}));
  ASSERT_EQ(failure(c->run()), "");
  const auto *out = static_cast<const char *>(*c->getOutputData(0));
  auto at = [&](const MatrixPlace &p, int64_t n, int64_t i, int64_t j) {
    return value(p.offset) + n * value(p.batch) + i * value(p.row) +
           j * value(p.column);
  };
  for (int64_t n = 0; n < value(l.batch); ++n)
    for (int64_t i = 0; i < value(l.rows); ++i)
      for (int64_t j = 0; j < value(l.columns); ++j) {
        double sum = 0;
        for (int64_t k = 0; k < value(l.inner); ++k)
          sum += in[0][at(l.lhs, n, i, k)] * in[1][at(l.rhs, n, k, j)];
        sum *= l.alpha;
        size_t next = 2;
        if (l.addend)
          sum += in[next++][at(l.addendPlace, n, i, j)];
        if (l.bias)
          sum += in[next][j];
        if (l.epilogue == "relu")
          sum = std::max(sum, 0.0);
        if (l.epilogue == "gelu_tanh")
          sum = 0.5 * sum *
                (1 + std::tanh(std::sqrt(2 / M_PI) *
                               (sum + 0.044715 * sum * sum * sum)));
        char rounded[8];
        storeFloat(l.resultType, sum, rounded);
        EXPECT_EQ(loadFloat(l.resultType,
                            out + static_cast<size_t>(at(l.result, n, i, j)) *
                                      dtypeSize(l.resultType)),
                  loadFloat(l.resultType, rounded))
            << n << ' ' << i << ' ' << j;
      }
}

TEST(CublasLt, TakesEveryTranspose) {
  for (bool lhs : {false, true})
    for (bool rhs : {false, true}) {
      CublasLtLaunch l = plain(3, 5, 4);
      if (lhs)
        l.lhs = {0, 0, 1, 3};
      if (rhs)
        l.rhs = {0, 0, 1, 4};
      check(l);
    }
}

TEST(CublasLt, TakesPartsOfTensorsAndBatches) {
  CublasLtLaunch l = plain(3, 5, 4);
  l.batch = 2;
  l.lhs = {7, 40, 9, 1};
  // One for all.
  l.rhs = {2, 0, 1, 6};
  // Rows of all batches next to each other.
  l.result = {0, 5, 10, 1};
  l.addend = true;
  l.addendPlace = {1, 20, 6, 1};
  l.alpha = -0.5;
  check(l);
}

TEST(CublasLt, TakesSizesOfOne) {
  for (int64_t rows : {1, 3})
    for (int64_t columns : {1, 3})
      for (int64_t inner : {1, 3})
        check(plain(rows, columns, inner));
}

TEST(CublasLt, AddsAndEndsAsTold) {
  for (DType type : {DType::F32, DType::BF16})
    for (const char *epilogue : {"none", "relu", "gelu_tanh"}) {
      CublasLtLaunch l = plain(3, 5, 4);
      l.type = l.resultType = type;
      l.bias = true;
      l.epilogue = epilogue;
      check(l);
      l.addend = true;
      check(l);
    }
  CublasLtLaunch wide = plain(3, 5, 4);
  wide.type = DType::BF16;
  check(wide);
  CublasLtLaunch f64 = plain(3, 5, 4);
  f64.type = f64.resultType = DType::F64;
  f64.addend = true;
  f64.alpha = 0.1;
  check(f64);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// y = x w + 1 for x [n, 4] and w [4, 4], and so two kernels around a product.
Builder between() {
  Builder b;
  b.symbol("n", 0, 4096);
  uint32_t x = b.input("x", DType::F32, {s("4*n")});
  uint32_t w = b.input("w", DType::F32, {16});
  uint32_t t = b.buffer(Kind::Arena, 0, s("64*n"));
  uint32_t p = b.buffer(Kind::Arena, s("64*n"), s("64*n"));
  uint32_t workspace = b.buffer(Kind::Arena, s("128*n"), 256);
  b.m.arenaBytes = s("128*n + 256");
  uint32_t y = b.output("y", DType::F32, {s("4*n")});
  b.step("copy_f32", {x, t}, s("4*n"));
  CublasLtLaunch l = plain(s("n"), 4, 4);
  l.work = s("4*n");
  l.workspace = 256;
  StepSpec step;
  step.name = "product";
  step.buffers = {t, w, p, workspace};
  step.workspace = 1;
  step.launch = l;
  b.m.steps.push_back(step);
  b.step("increment_f32", {p, y}, s("4*n"));
  return b;
}

struct Call {
  std::unique_ptr<Context> c = between().context();
  alignas(64) float x[256], w[16];
  Call() {
    std::fill(std::begin(x), std::end(x), 1.0f);
    std::fill(std::begin(w), std::end(w), 1.0f);
    EXPECT_OK(c->bindInput(1, w, DType::F32, Shape{16}));
  }
  /// The sum of the results for n rows of ones: 4 * n * 5.
  double run(int64_t n) {
    EXPECT_OK(c->bindInput(0, x, DType::F32, Shape{4 * n}));
    EXPECT_EQ(failure(c->run()), "");
    double sum = 0;
    const auto *y = static_cast<const float *>(*c->getOutputData(0));
    for (int64_t i = 0; i < 4 * n; ++i)
      sum += y[i];
    return sum;
  }
};

TEST(CublasLt, OneGraphHoldsKernelsAndProducts) {
  Call call;
  const int launches = counts().launches, graphs = counts().graphLaunches;
  EXPECT_EQ(call.run(3), 60);
  EXPECT_EQ(counts().edges, (std::vector<std::pair<int, int>>{{0, 1}, {1, 2}}));
  EXPECT_EQ(counts().graphLaunches - graphs, 1);
  EXPECT_EQ(counts().launches, launches);
}

TEST(CublasLt, GraphsAreKeptBySizesAndMemory) {
  Call call;
  auto run = [&](int64_t n) {
    EXPECT_EQ(call.run(n), static_cast<double>(20 * n));
    return call.c->getNumCaptures();
  };
  // The largest first: later ones are in the same memory.
  EXPECT_EQ(run(20), 1u);
  EXPECT_EQ(run(20), 1u);
  EXPECT_EQ(run(3), 2u);
  EXPECT_EQ(run(20), 2u);
  EXPECT_EQ(run(3), 2u);
  // Sixteen are kept: 20 is the one that was not used for longest.
  for (int64_t n = 4; n < 19; ++n)
    EXPECT_EQ(run(n), static_cast<uint64_t>(n - 1));
  EXPECT_EQ(run(18), 17u);
  EXPECT_EQ(run(3), 17u);
  EXPECT_EQ(run(20), 18u);
}

TEST(CublasLt, NothingIsDoneWithoutRows) {
  Call call;
  const int products = counts().products;
  EXPECT_EQ(call.run(0), 0);
  EXPECT_EQ(counts().products, products);
  EXPECT_EQ(call.run(2), 40);
}

TEST(CublasLt, TheFastestOfTheProposalsIsChosenOnce) {
  {
    Call call;
    EXPECT_EQ(call.run(3), 60);
    EXPECT_EQ(counts().algorithm, 2);
    const int products = counts().products;
    EXPECT_EQ(call.run(3), 60);
    EXPECT_EQ(counts().products - products, 1);
  }
  EXPECT_EQ(counts().descriptors, 0);
}

TEST(CublasLt, ASlowFirstRoundDecidesNothing) {
  Call call;
  counts().slowProducts = 4; // of a round
  EXPECT_EQ(call.run(19), 380);
  EXPECT_EQ(counts().slowProducts, 0);
  EXPECT_EQ(counts().algorithm, 2);
}

TEST(CublasLt, ListenersHearOfProducts) {
  struct Listener : StepListener {
    std::vector<int64_t> work;
    void before(const StepReport &report) override {
      work.push_back(report.work);
    }
    Status after(const StepReport &) override { return {}; }
  } listener;
  Call call;
  EXPECT_OK(call.c->bindInput(0, call.x, DType::F32, Shape{12}));
  EXPECT_OK(call.c->run(&listener));
  EXPECT_EQ(listener.work, (std::vector<int64_t>{12, 12, 12}));
  EXPECT_EQ(static_cast<const float *>(*call.c->getOutputData(0))[11], 5);
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST(CublasLt, RefusesWhatManifestsMayNotSay) {
  auto expect = [](auto change, const char *text) {
    Product product(plain(3, 5, 4));
    Builder &b = product.build();
    change(std::get<CublasLtLaunch>(b.m.steps[0].launch), b.m.steps[0]);
    EXPECT_FAILS(b.m.verify(), text);
    EXPECT_FALSE(Manifest::parse(b.m.str(), "m")) << text;
  };
  using L = CublasLtLaunch;
  expect([](L &l, StepSpec &) { l.type = DType::I32; },
         "cuBLASLt multiplies no matrices of i32");
  expect([](L &l, StepSpec &) { l.resultType = DType::BF16; },
         "a product of f32 cannot have a result of bf16");
  expect([](L &l, StepSpec &) { l.epilogue = "gelu"; }, "no epilogue 'gelu'");
  expect([](L &l, StepSpec &) { l.bias = true; },
         "the step has 4 buffers, 1 results and 1 of workspace, expected 5 "
         "buffers");
  expect([](L &l, StepSpec &) { l.workspace = -1; }, "no workspace of -1");
  expect([](L &l, StepSpec &) { l.workspace = 0; },
         "expected 3 buffers, 1 results and 0 of workspace");
  expect([](L &l, StepSpec &) { l.alpha = INFINITY; }, "not finite");
  expect([](L &l, StepSpec &) { l.rows = s("q"); },
         "steps[0].launch.rows: 'q' is not a symbol of the program");
  expect([](L &, StepSpec &step) { step.kernel = "k0"; },
         "steps[0].kernel: is not a symbol name");
  expect(
      [](L &l, StepSpec &) {
        l.type = l.resultType = DType::F64;
        l.epilogue = "relu";
      },
      "a product of f64 has neither bias nor epilogue");
}

TEST(CublasLt, RoundTripsInManifests) {
  CublasLtLaunch l = plain(3, 5, 4);
  l.alpha = 0.1;
  l.epilogue = "relu";
  Product product(l);
  Builder &b = product.build();
  std::string text = b.m.str();
  EXPECT_NE(text.find(R"("launch":{"library":"cublaslt","work":"15")"),
            std::string::npos)
      << text;
  auto parsed = Manifest::parse(text, "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), text);
  EXPECT_EQ(std::get<CublasLtLaunch>(parsed->steps[0].launch).alpha, 0.1);
  auto replaced = [&](const char *from, const char *to) {
    std::string changed = text;
    changed.replace(changed.find(from), std::strlen(from), to);
    return Manifest::parse(changed, "m");
  };
  EXPECT_FAILS(replaced("\"cublaslt\"", "\"cudnn\""),
               "steps[0].launch: the target 'cuda' has no library 'cudnn'");
  EXPECT_FAILS(replaced("\"alpha\":0.1", "\"alpha\":\"0.1\""),
               "steps[0].launch.alpha");
  EXPECT_FAILS(replaced("\"type\":\"f32\"", "\"type\":\"f31\""),
               "is not an element type");
}

/// The error of a call whose launch was changed after the tensors were made.
template <typename Fn>
std::string callWith(Fn change) {
  Product product(plain(3, 5, 4));
  Builder &b = product.build();
  auto &l = std::get<CublasLtLaunch>(b.m.steps[0].launch);
  change(l);
  auto c = b.context();
  if (!c)
    return "no context";
  alignas(64) static float x[64];
  EXPECT_OK(c->bindInput(0, x, DType::F32, Shape{12}));
  EXPECT_OK(c->bindInput(1, x, DType::F32, Shape{20}));
  return failure(c->run());
}

TEST(CublasLt, RefusesProductsOutsideOfTheirBuffers) {
  auto expect = [](auto change, const char *text) {
    std::string message = callWith(change);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  using L = CublasLtLaunch;
  expect([](L &l) { l.lhs.offset = 1; },
         "step 0 (product): its lhs does not end in its buffer of 48 bytes");
  expect([](L &l) { l.rhs.row = 6; }, "its rhs does not end in its buffer");
  expect([](L &l) { l.result.row = 6; }, "its result does not end");
  expect([](L &l) { l.lhs.row = int64_t(1) << 55; }, "its lhs does not end");
  expect(
      [](L &l) {
        l.batch = 2, l.work = 30;
        l.lhs.batch = 12;
      },
      "its lhs does not end");
  expect([](L &l) { l.workspace = 512; }, "its workspace does not end");
  expect([](L &l) { l.work = 16; }, "its work is not batch * rows * columns");
  expect([](L &l) { l.inner = 0; }, "its inner extent is 0");
  expect([](L &l) { l.lhs.row = 3; },
         "step 0 (product, cublaslt): a matrix has strides that cuBLASLt does "
         "not support");
  expect([](L &l) { l.result = {0, 0, 1, 3}; },
         "the result of a product has strides");
}
} // namespace
