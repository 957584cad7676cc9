//===- NodePricesTest.cpp - Measured times as prices of nodes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/NodePrices.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "luminal/InitAll.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace luminal;
using namespace mlir;

namespace {
/// (a b) c, where to multiply b and c first is much dearer.
struct NodePricesTest : testing::Test {
  NodePricesTest() {
    eqsat::registerAllRuleSets();
    DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    module = parseSourceString<ModuleOp>(R"(
func.func @f(%a: tensor<4x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<4x64xf32> {
  %0 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %1 = llir.gemm %0, %c k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}
)",
                                         context.get());
    auto made = eqsat::SaturationSession::create(
        cast<func::FuncOp>(module->getBody()->front()), {});
    if (succeeded(made))
      session = std::move(*made);
  }
  void SetUp() override { ASSERT_TRUE(session); }

  func::FuncOp take(const eqsat::Candidate &candidate) {
    found = *session->materialise(candidate);
    return cast<func::FuncOp>(found->getBody()->front());
  }
  static SmallVector<Operation *> opsOf(func::FuncOp function) {
    SmallVector<Operation *> ops;
    for (Operation &op : function.getBody().front().without_terminator())
      ops.push_back(&op);
    return ops;
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module, found;
  std::unique_ptr<eqsat::SaturationSession> session;
};
} // namespace

TEST_F(NodePricesTest, MarksAreFoundThroughLocationsAndTakenOffAgain) {
  func::FuncOp function = take(*session->best());
  SmallVector<Operation *> ops = opsOf(function);
  ASSERT_EQ(ops.size(), 2u);
  Location before = ops[0]->getLoc();
  MarkedNodes nodes;
  nodes.mark(function, *session);
  EXPECT_EQ(MarkedNodes::collect(ops[0]), std::vector<unsigned>{0});
  // As a kernel of both.
  ops[1]->setLoc(
      FusedLoc::get(context.get(), {ops[1]->getLoc(), ops[0]->getLoc()}));
  EXPECT_EQ(MarkedNodes::collect(ops[1]), (std::vector<unsigned>{0, 1}));
  MarkedNodes::unmark(function);
  EXPECT_TRUE(MarkedNodes::collect(function).empty());
  EXPECT_EQ(ops[0]->getLoc(), before);
}

TEST_F(NodePricesTest, TimesChangeWhatIsTheBest) {
  eqsat::Candidate first = *session->best();
  func::FuncOp function = take(first);
  MarkedNodes nodes;
  nodes.mark(function, *session);
  std::vector<unsigned> all = MarkedNodes::collect(function);
  std::vector<std::vector<unsigned>> marks;
  for (Operation *op : opsOf(function))
    marks.push_back(MarkedNodes::collect(op));
  ASSERT_EQ(marks.size(), 2u);

  // As the model has it: the same prices, whatever a second is.
  NodePrices prices;
  prices.learn(nodes, all, {{&marks[0], 5e-6}, {&marks[1], 5e-6}});
  auto learned = prices.take();
  // Both are the same product.
  ASSERT_EQ(learned.size(), 1u);
  EXPECT_NEAR(learned[0].second, session->modelPrice(opsOf(function).front()),
              1e-6 * learned[0].second);
  EXPECT_TRUE(prices.take().empty());
  ASSERT_TRUE(succeeded(session->setPrices(learned)));
  EXPECT_EQ(session->best()->digest, first.digest);

  // Faster is learned, slower is not: another program was better.
  prices.learn(nodes, all, {{&marks[0], 50e-6}, {&marks[1], 50e-6}});
  EXPECT_TRUE(prices.take().empty());
  prices.learn(nodes, all, {{&marks[0], 1e-6}, {&marks[1], 1e-6}});
  auto faster = prices.take();
  ASSERT_EQ(faster.size(), 1u);
  EXPECT_NEAR(faster[0].second, learned[0].second / 5,
              1e-6 * learned[0].second);

  // Far slower than the model's idea of all others: these are better.
  ASSERT_TRUE(
      succeeded(session->setPrice(learned[0].first, 1e6 * learned[0].second)));
  EXPECT_NE(session->best()->digest, first.digest);
}

TEST_F(NodePricesTest, WhatRunsBeforeACallIsFree) {
  func::FuncOp function = take(*session->best());
  MarkedNodes nodes;
  nodes.mark(function, *session);
  std::vector<unsigned> all = MarkedNodes::collect(function);
  std::vector<unsigned> one = MarkedNodes::collect(opsOf(function)[1]);
  NodePrices prices;
  prices.learn(nodes, all, {{&one, 5e-6}});
  auto learned = prices.take();
  ASSERT_EQ(learned.size(), 1u);
  // Half of them ran in no time.
  EXPECT_NEAR(learned[0].second,
              0.5 * session->modelPrice(opsOf(function).front()),
              1e-6 * learned[0].second);
}

TEST_F(NodePricesTest, WhatIsMadeOfWeightsMayBeFree) {
  // x w + (x a) b for few rows x.
  OwningOpRef<ModuleOp> adapter = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<4x512xf32>, %w: tensor<512x512xf32> {hlir.kind = "weight", hlir.name = "w"}, %a: tensor<512x8xf32> {hlir.kind = "weight", hlir.name = "a"}, %b: tensor<8x512xf32> {hlir.kind = "weight", hlir.name = "b"}) -> tensor<4x512xf32> {
  %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x512xf32>, tensor<512x512xf32> -> tensor<4x512xf32>
  %1 = llir.gemm %x, %a k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x512xf32>, tensor<512x8xf32> -> tensor<4x8xf32>
  %2 = llir.gemm %1, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x8xf32>, tensor<8x512xf32> -> tensor<4x512xf32>
  %3 = llir.elementwise add(%0, %2) : (tensor<4x512xf32>, tensor<4x512xf32>) -> tensor<4x512xf32>
  return %3 : tensor<4x512xf32>
}
)",
                                                              context.get());
  auto made = eqsat::SaturationSession::create(
      cast<func::FuncOp>(adapter->getBody()->front()), {});
  ASSERT_TRUE(succeeded(made));
  session = std::move(*made);
  auto countProducts = [&] {
    return llvm::count_if(opsOf(take(*session->best())),
                          [](Operation *op) { return isa<llir::GemmOp>(op); });
  };
  // To multiply a and b in each call takes longer than two thin products.
  EXPECT_EQ(countProducts(), 3);
  session->setWeightsFree(true);
  EXPECT_EQ(countProducts(), 2);
  session->setWeightsFree(false);
  EXPECT_EQ(countProducts(), 3);
}
