//===- ContextTest.cpp - Binding, shapes, states, running -----------------===//

#include "ArtifactBuilder.h"

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;
struct alignas(64) Floats {
  float v[64] = {};
  float &operator[](size_t i) { return v[i]; }
};

TEST(Context, RunsStepsOverTheArena) {
  auto c = chain(4).context();
  Floats x, w, y;
  for (int i = 0; i < 4; ++i)
    x[i] = i, w[i] = 10 * i;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(1, w.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(0, y.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(y[i], 11 * i + 1);
  // Unbound outputs lie in memory of the context.
  c->unbindOutput(0);
  x[2] = 5;
  EXPECT_OK(c->run());
  EXPECT_EQ(static_cast<const float *>(c->getOutputData(0))[2], 26);
  EXPECT_EQ(y[2], 23);
}

TEST(Context, BindsSymbolsFromShapes) {
  auto c = chain(s("n")).context(2);
  for (int64_t n : {3, 50, 7}) {
    Floats x, w;
    for (int i = 0; i < n; ++i)
      x[i] = i, w[i] = n;
    EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{n}));
    EXPECT_OK(c->bindInput(1, w.v, DType::F32, Shape{n}));
    EXPECT_OK(c->prepare());
    ASSERT_EQ(c->getOutputShape(0).size(), 1u);
    EXPECT_EQ(c->getOutputShape(0)[0], n);
    EXPECT_OK(c->run());
    auto *y = static_cast<const float *>(c->getOutputData(0));
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(y[i], i + n + 1);
  }
}
} // namespace
