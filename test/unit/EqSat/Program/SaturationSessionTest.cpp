//===- SaturationSessionTest.cpp - Programs of one saturation -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Program/SaturationSession.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <set>
#include <thread>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

namespace {

/// Sums and products in a loop and around it, and a function that is recovered.
constexpr const char *kProgram = R"(
module attributes {test.kept} {
  func.func @f(%x: tensor<?x8xf32, #hlir.dims<s0>> loc("x"), %k: tensor<8xf32>, %w0: tensor<8xf32>, %w1: tensor<8xf32>)
      -> tensor<?x8xf32, #hlir.dims<s0>> attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
    %kk = hlir.view %k <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<?x8xf32, #hlir.dims<s0>>
    %r = hlir.repeat 2 carried(%x : tensor<?x8xf32, #hlir.dims<s0>>) each(%w0, %w1 : tensor<8xf32>, tensor<8xf32>) {
    ^bb0(%c: tensor<?x8xf32, #hlir.dims<s0>>, %w: tensor<8xf32>):
      %v = hlir.view %w <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<?x8xf32, #hlir.dims<s0>>
      %p = hlir.mul %c, %v : tensor<?x8xf32, #hlir.dims<s0>>
      %q = hlir.mul %c, %kk : tensor<?x8xf32, #hlir.dims<s0>>
      %s = hlir.add %p, %q : tensor<?x8xf32, #hlir.dims<s0>>
      %t = hlir.add %s, %v : tensor<?x8xf32, #hlir.dims<s0>>
      %u = hlir.add %t, %kk : tensor<?x8xf32, #hlir.dims<s0>>
      hlir.yield %u : tensor<?x8xf32, #hlir.dims<s0>>
    } -> tensor<?x8xf32, #hlir.dims<s0>>
    %a = hlir.add %r, %x : tensor<?x8xf32, #hlir.dims<s0>>
    %b = hlir.add %a, %kk : tensor<?x8xf32, #hlir.dims<s0>> loc("b")
    %m = hlir.sqrt %b : tensor<?x8xf32, #hlir.dims<s0>>
    %n = hlir.recip %m : tensor<?x8xf32, #hlir.dims<s0>>
    return %n : tensor<?x8xf32, #hlir.dims<s0>>
  }
}
)";

/// A rule that is not true for floats, which is irrelevant because nothing is
/// computed.
constexpr const char *kRules = R"(
pdl.pattern @Associate : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %o1 = pdl.operation "hlir.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r1 = pdl.result 0 of %o1
  %o2 = pdl.operation "hlir.add"(%r1, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %o2 {
    %o3 = pdl.operation "hlir.add"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %r3 = pdl.result 0 of %o3
    %o4 = pdl.operation "hlir.add"(%a, %r3 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %o2 with %o4
  }
}
pdl.pattern @Factor : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %o1 = pdl.operation "hlir.mul"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r1 = pdl.result 0 of %o1
  %o2 = pdl.operation "hlir.mul"(%a, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r2 = pdl.result 0 of %o2
  %o3 = pdl.operation "hlir.add"(%r1, %r2 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %o3 {
    %o4 = pdl.operation "hlir.add"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %r4 = pdl.result 0 of %o4
    %o5 = pdl.operation "hlir.mul"(%a, %r4 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %o3 with %o5
  }
}
)";

class Sessions : public testing::Test {
protected:
  Sessions() {
    registerAllRuleSets();
    context.loadDialect<func::FuncDialect, pdl::PDLDialect, hlir::HLIRDialect,
                        llir::LLIRDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &d) {
      llvm::raw_string_ostream(messages) << d << "\n";
    });
    program = parseSourceString<ModuleOp>(kProgram, &context);
    file = parseSourceString<ModuleOp>(kRules, &context);
  }

  void SetUp() override {
    ASSERT_TRUE(program && file) << messages;
    RuleSelection selection;
    selection.modules = {*file};
    auto rules = SessionRules::load(program->getLoc(), selection);
    ASSERT_TRUE(succeeded(rules)) << messages;
    options.rules = *rules;
  }

  std::unique_ptr<SaturationSession> create() {
    auto made = SaturationSession::create(
        *program->getOps<func::FuncOp>().begin(), options);
    EXPECT_TRUE(succeeded(made)) << messages;
    return succeeded(made) ? std::move(*made) : nullptr;
  }

  static std::string textOf(const SaturationSession &session,
                            const Candidate &candidate) {
    auto module = session.materialise(candidate);
    if (failed(module) || failed(verify(**module)))
      return "";
    std::string text;
    llvm::raw_string_ostream(text) << **module;
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> program, file;
  SessionOptions options;
  std::string messages;
};

TEST_F(Sessions, EqualDigestsAreEqualPrograms) {
  auto session = create();
  ASSERT_TRUE(session);
  EXPECT_EQ(session->report().name, "f");
  EXPECT_EQ(session->report().run.stop, StopReason::Saturated);
  auto best = session->best();
  ASSERT_TRUE(succeeded(best));
  std::map<std::string, std::string> byDigest;
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed != 40; ++seed) {
    auto candidate =
        seed % 2 ? session->draw(seed, 3) : session->extract(seed, 3);
    ASSERT_TRUE(succeeded(candidate));
    EXPECT_EQ(candidate->digest.size(), 32u);
    EXPECT_GE(candidate->cost, best->cost);
    EXPECT_DOUBLE_EQ(candidate->cost, session->costOf(*candidate));
    std::string text = textOf(*session, *candidate);
    ASSERT_NE(text, "") << messages;
    EXPECT_EQ(text, textOf(*session, *candidate));
    EXPECT_TRUE(StringRef(text).contains("module attributes {test.kept}"));
    EXPECT_TRUE(StringRef(text).contains("hlir.symbols"));
    auto [it, isNew] = byDigest.try_emplace(candidate->digest, text);
    EXPECT_EQ(it->second, text);
    texts.insert(text);
    // Written and read back.
    auto again = session->choose(session->choices(*candidate));
    ASSERT_TRUE(succeeded(again)) << messages;
    EXPECT_EQ(again->digest, candidate->digest);
  }
  EXPECT_EQ(texts.size(), byDigest.size());
  EXPECT_GT(texts.size(), 8u);
  // Another session of the same function has the same candidates.
  auto other = create();
  EXPECT_EQ(other->draw(5, 3)->digest, session->draw(5, 3)->digest);
}

TEST_F(Sessions, StayAsTheyAre) {
  std::string given;
  llvm::raw_string_ostream(given) << *program;
  auto session = create();
  ASSERT_TRUE(session);
  std::string graph = session->serialize(), digest = session->best()->digest;
  for (uint64_t seed = 0; seed != 10; ++seed)
    EXPECT_NE(textOf(*session, *session->draw(seed, 2)), "");
  EXPECT_EQ(session->serialize(), graph);
  EXPECT_EQ(session->best()->digest, digest);
  std::string after;
  llvm::raw_string_ostream(after) << *program;
  EXPECT_EQ(after, given);
  // A candidate outlives its session.
  auto candidate = session->draw(1, 2);
  session.reset();
  EXPECT_GT(candidate->cost, 0);
}

TEST_F(Sessions, PricesChangeTheBest) {
  auto session = create();
  ASSERT_TRUE(session);
  auto best = session->best();
  ASSERT_TRUE(succeeded(best));
  auto keyOf = [&](const Candidate &candidate, llir::Fn fn) {
    std::string key;
    auto module = session->materialise(candidate);
    (*module)->walk([&](llir::ElementwiseOp op) {
      if (op.getFn() == fn)
        key = SaturationSession::priceKey(op);
    });
    return key;
  };
  // 1 / sqrt(x) is extracted as one function until that costs more than two.
  std::string rsqrt = keyOf(*best, llir::Fn::Rsqrt);
  ASSERT_NE(rsqrt, "");
  auto used = session->setPrice(rsqrt, 1e6);
  ASSERT_TRUE(succeeded(used));
  EXPECT_EQ(*used, 1u);
  auto spelled = session->best();
  EXPECT_NE(spelled->digest, best->digest);
  EXPECT_LT(spelled->cost, 1e5);
  EXPECT_GT(session->costOf(*best), 1e6);
  EXPECT_EQ(keyOf(*spelled, llir::Fn::Rsqrt), "");
  EXPECT_NE(keyOf(*spelled, llir::Fn::Sqrt), "");
  EXPECT_EQ(*session->setPrice(rsqrt, 0), 1u);
  EXPECT_EQ(session->best()->digest, best->digest);
  EXPECT_LT(session->best()->cost, best->cost);

  // c v + c k has two products, c (v + k) one, in each of two trips.
  std::string product = keyOf(*best, llir::Fn::Mul);
  ASSERT_NE(product, "");
  EXPECT_EQ(*session->setPrice(product, 1e9), 1u);
  EXPECT_NEAR(session->best()->cost, 2e9, 1e6);

  // No node has this key; an invalid price changes nothing.
  EXPECT_EQ(*session->setPrice(std::string(32, '0'), 1), 0u);
  std::string now = session->best()->digest;
  EXPECT_TRUE(failed(session->setPrice(rsqrt, std::nan(""))));
  EXPECT_TRUE(failed(session->setPrice(rsqrt, -1)));
  EXPECT_EQ(session->best()->digest, now);
  EXPECT_TRUE(
      StringRef(messages).contains("is not a finite nonnegative number"))
      << messages;
}

TEST_F(Sessions, KeysOfEveryOpAreKnown) {
  auto session = create();
  ASSERT_TRUE(session);
  std::set<std::string> keys;
  for (uint64_t seed = 0; seed != 10; ++seed) {
    auto module = session->materialise(*session->draw(seed, 3));
    (*module)->walk([&](Operation *op) {
      if (isa<llir::LLIRDialect>(op->getDialect()))
        keys.insert(SaturationSession::priceKey(op));
    });
  }
  std::vector<std::pair<std::string, double>> prices;
  for (const std::string &key : keys)
    prices.push_back({key, 1});
  EXPECT_EQ(*session->setPrices(prices), keys.size());
  // Every chosen node then costs 1, those in the body 2.
  auto best = session->best();
  EXPECT_EQ(best->cost, std::floor(best->cost));
}

TEST_F(Sessions, ConstFunctionsRunAtOnce) {
  auto session = create();
  ASSERT_TRUE(session);
  constexpr unsigned kThreads = 8, kSeeds = 12;
  auto work = [&](unsigned seed) {
    auto candidate =
        seed % 3 ? session->draw(seed, 3) : session->extract(seed, 3);
    return candidate->digest + textOf(*session, *candidate) +
           session->choices(*candidate) +
           session->choose(session->choices(*candidate))->digest +
           session->best()->digest;
  };
  std::vector<std::vector<std::string>> results(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != kThreads; ++t)
    threads.emplace_back([&, t] {
      for (unsigned seed = 0; seed != kSeeds; ++seed)
        results[t].push_back(work(seed));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (unsigned seed = 0; seed != kSeeds; ++seed)
    for (unsigned t = 0; t != kThreads; ++t)
      EXPECT_EQ(results[t][seed], work(seed));
}

TEST_F(Sessions, ExplainWhereProofsAreKept) {
  auto without = create();
  EXPECT_TRUE(failed(without->explain(*without->best())));
  EXPECT_TRUE(StringRef(messages).contains("recorded no proofs"));
  options.keepProofs = true;
  auto session = create();
  for (uint64_t seed = 0; seed != 5; ++seed) {
    auto proof = session->explain(*session->draw(seed, 3));
    ASSERT_TRUE(succeeded(proof)) << messages;
    EXPECT_TRUE(StringRef(proof->text).contains("operand 0 of func.return"));
    EXPECT_FALSE(StringRef(proof->text).contains("not found equal"));
  }
  auto two = session->explain("x", "b");
  ASSERT_TRUE(succeeded(two));
  EXPECT_TRUE(StringRef(two->text).contains("not found equal"));
}

TEST_F(Sessions, ErrorsAreLocated) {
  options.costModel = "none";
  EXPECT_TRUE(failed(SaturationSession::create(
      *program->getOps<func::FuncOp>().begin(), options)));
  EXPECT_TRUE(StringRef(messages).contains("no cost model is named 'none'"));
  // Without lowering nothing has a price.
  options.costModel.clear();
  RuleSelection selection;
  selection.noSets = true;
  options.rules = *SessionRules::load(program->getLoc(), selection);
  auto session = create();
  ASSERT_TRUE(session);
  EXPECT_TRUE(failed(session->best()));
  EXPECT_TRUE(failed(session->draw(1, 1)));
  EXPECT_TRUE(StringRef(messages).contains("nothing lowers")) << messages;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&                    \
    !defined(__SANITIZE_THREAD__) && !__has_feature(address_sanitizer) &&      \
    !__has_feature(thread_sanitizer)
TEST_F(Sessions, ReturnTheirMemory) {
  auto use = [&] {
    auto session = create();
    EXPECT_NE(textOf(*session, *session->draw(3, 2)), "");
  };
  // Types and attributes stay in the context; the memory that sessions share
  // stops growing after some hundred sessions.
  for (unsigned i = 0; i != 300; ++i)
    use();
  size_t before = mallinfo2().uordblks;
  for (unsigned i = 0; i != 200; ++i)
    use();
  size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + (size_t(1) << 16));
}
#endif

} // namespace
