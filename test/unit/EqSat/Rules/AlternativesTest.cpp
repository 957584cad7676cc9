//===- AlternativesTest.cpp - Orders of products, their prices and errors -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of products are computed in the order that dynamic programming finds
// with the same prices, and every order that a session draws is as accurate as
// the rules promise, relative to the sum of absolute terms in f64.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Program/CostModel.h"
#include "luminal/EqSat/Program/SaturationSession.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "luminal/Reference/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using reference::Tensor;

namespace {

class Alternatives : public testing::Test {
protected:
  Alternatives() {
    registerAllRuleSets();
    context.loadDialect<func::FuncDialect, pdl::PDLDialect, hlir::HLIRDialect,
                        llir::LLIRDialect>();
  }

  /// ((m0 m1) m2) ..., where matrix i has extents dims[i] x dims[i + 1].
  std::string chain(ArrayRef<int64_t> dims, StringRef element) {
    auto type = [&](int64_t rows, int64_t columns) {
      return llvm::formatv("tensor<{0}x{1}x{2}>", rows, columns, element).str();
    };
    std::string args, body, last = "%m0";
    for (size_t i = 0; i + 1 != dims.size(); ++i) {
      args += (i ? ", %m" : "%m") + std::to_string(i) + ": " +
              type(dims[i], dims[i + 1]);
      if (i == 0)
        continue;
      std::string next = "%r" + std::to_string(i);
      body +=
          llvm::formatv("{0} = llir.gemm {1}, %m{2} k({3}) <(d0, d1, d2) "
                        "-> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : {4}, "
                        "{5} -> {6}\n",
                        next, last, i, dims[i], type(dims[0], dims[i]),
                        type(dims[i], dims[i + 1]), type(dims[0], dims[i + 1]))
              .str();
      last = next;
    }
    std::string result = type(dims.front(), dims.back());
    return "func.func @f(" + args + ") -> " + result + " {\n" + body +
           "return " + last + " : " + result + "\n}";
  }

  static func::FuncOp functionOf(ModuleOp module) {
    return *module.getOps<func::FuncOp>().begin();
  }

  /// The price of the first product of a chain of two.
  double priceOf(int64_t m, int64_t k, int64_t n) {
    auto module =
        parseSourceString<ModuleOp>(chain({m, k, n}, "f32"), &context);
    func::FuncOp function = functionOf(*module);
    Operation *op = &function.front().front();
    SmallVector<Type> operands(op->getOperandTypes()),
        results(op->getResultTypes());
    NodeView view;
    view.name = op->getName();
    view.attributes = op->getAttrDictionary();
    view.operandTypes = operands;
    view.resultTypes = results;
    return (*lookupCostModel("static"))(function, {})->cost(view);
  }

  MLIRContext context;
};

TEST_F(Alternatives, ChainsComeOutInTheBestOrder) {
  std::mt19937 rng(11);
  // Vectors at the ends; outer products and numbers stay as they are.
  const int64_t extents[] = {1, 3, 8, 20, 64, 150, 400};
  unsigned better = 0;
  for (unsigned seed = 0; seed != 12; ++seed) {
    SmallVector<int64_t> dims;
    for (unsigned i = 0; i != 6; ++i)
      dims.push_back(i % 5 == 0 ? extents[rng() % 7] : extents[1 + rng() % 6]);
    auto module = parseSourceString<ModuleOp>(chain(dims, "f32"), &context);
    ASSERT_TRUE(module);
    auto session = SaturationSession::create(functionOf(*module), {});
    ASSERT_TRUE(succeeded(session));
    auto best = (*session)->best();
    ASSERT_TRUE(succeeded(best));
    double least[5][5] = {}, given = 0;
    for (unsigned length = 2; length <= 5; ++length)
      for (unsigned i = 0; i + length <= 5; ++i) {
        unsigned j = i + length - 1;
        least[i][j] = kInfiniteCost;
        for (unsigned k = i; k != j; ++k)
          least[i][j] = std::min(
              least[i][j], least[i][k] + least[k + 1][j] +
                               priceOf(dims[i], dims[k + 1], dims[j + 1]));
      }
    for (unsigned j = 1; j != 5; ++j)
      given += priceOf(dims[0], dims[j], dims[j + 1]);
    EXPECT_NEAR(best->cost, least[0][4], 1e-6 * least[0][4])
        << "chain " << seed;
    better += best->cost < 0.9 * given;
  }
  EXPECT_GT(better, 4u);
}

TEST_F(Alternatives, EveryOrderIsAccurate) {
  const SmallVector<int64_t> dims{9, 2, 17, 3, 11, 1};
  auto value = [&](StringRef element) {
    return parseSourceString<ModuleOp>(chain(dims, element), &context);
  };
  auto narrow = value("f32"), wide = value("f64");
  std::mt19937 rng(3);
  std::normal_distribution<float> normal;
  SmallVector<Tensor> given, exact, absolute;
  for (unsigned i = 0; i != 5; ++i) {
    SmallVector<int64_t> shape{dims[i], dims[i + 1]};
    given.push_back(*Tensor::allocate(DType::F32, shape));
    exact.push_back(*Tensor::allocate(DType::F64, shape));
    absolute.push_back(*Tensor::allocate(DType::F64, shape));
    for (int64_t e = 0; e != shape[0] * shape[1]; ++e) {
      float x = normal(rng);
      reinterpret_cast<float *>(given[i].mutableData())[e] = x;
      reinterpret_cast<double *>(exact[i].mutableData())[e] = x;
      reinterpret_cast<double *>(absolute[i].mutableData())[e] = std::fabs(x);
    }
  }
  auto expected = reference::evaluate(functionOf(*wide), exact);
  auto terms = reference::evaluate(functionOf(*wide), absolute);
  ASSERT_TRUE(succeeded(expected) && succeeded(terms));
  auto session = SaturationSession::create(functionOf(*narrow), {});
  ASSERT_TRUE(succeeded(session));
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed != 60; ++seed) {
    auto candidate = (*session)->draw(seed, 8);
    if (!orders.insert(candidate->digest).second)
      continue;
    auto made = (*session)->materialise(*candidate);
    ASSERT_TRUE(succeeded(made));
    auto results = reference::evaluate(functionOf(**made), given);
    ASSERT_TRUE(succeeded(results));
    for (int64_t e = 0; e != dims.front() * dims.back(); ++e) {
      double error =
          std::fabs(reinterpret_cast<const float *>((*results)[0].data())[e] -
                    reinterpret_cast<const double *>((*expected)[0].data())[e]);
      double sum = reinterpret_cast<const double *>((*terms)[0].data())[e];
      // Four products, each of half an ulp.
      EXPECT_LE(error, 4 * sum * 0x1p-24) << "seed " << seed;
    }
  }
  EXPECT_GT(orders.size(), 4u);
}

} // namespace
