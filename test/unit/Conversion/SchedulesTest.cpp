//===- SchedulesTest.cpp - Random legal schedules of fixed kernels --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every schedule computes what the kernel's definition says; where schedules
// differ in the parallel cut alone, the results are the same bits.
//
//===----------------------------------------------------------------------===//

#include "KernelOracle.h"
#include "Rounds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace luminal::test;

namespace {
/// A kernel whose text has LOOPS where the schedule belongs.
struct Fixed {
  std::string text;
  std::vector<Sizes> sizes;
  double tolerance = 2e-6;
  int64_t indexLimit = 3;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  int64_t pick(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  }
  bool flip() { return pick(0, 1); }
  template <typename T>
  T choose(std::initializer_list<T> values) {
    return values.begin()[pick(0, values.size() - 1)];
  }

  /// Axes over `dims`: runs of them, in any order, any blocks; `lanes` on one
  /// of those that have more than one index where it is not 1.
  std::string axes(std::vector<unsigned> dims, int64_t lanes) {
    std::vector<std::string> parts;
    std::vector<size_t> wide;
    for (size_t i = 0; i < dims.size();) {
      std::string part = "d" + std::to_string(dims[i++]);
      while (i < dims.size() && dims[i] == dims[i - 1] + 1 && flip())
        part += "*d" + std::to_string(dims[i++]);
      int64_t kind = pick(0, 2);
      if (kind)
        part += kind == 1 ? ":all" : ":" + std::to_string(pick(2, 40));
      if (kind)
        wide.push_back(parts.size());
      parts.push_back(part);
    }
    if (lanes > 1 && !wide.empty())
      parts[wide[pick(0, wide.size() - 1)]] += " v" + std::to_string(lanes);
    std::shuffle(parts.begin(), parts.end(), random);
    return llvm::join(parts, ", ");
  }

  std::mt19937_64 random;
};

/// Runs the kernel with `loops` for all sizes: each element as it is defined.
/// The results are those of all sizes.
std::vector<Array> runAll(const Fixed &fixed, const std::string &loops) {
  std::string text = fixed.text;
  text.replace(text.find("LOOPS"), 5,
               loops.empty() ? "" : "loops<" + loops + ">");
  SCOPED_TRACE(loops);
  std::vector<Array> all;
  checkKernel(text, fixed.sizes, fixed.tolerance, fixed.indexLimit, nullptr,
              &all);
  return all;
}

void expectSameBits(const std::vector<Array> &a, const std::vector<Array> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (auto [x, y] : llvm::zip(a, b)) {
    ASSERT_EQ(x.data.size(), y.data.size());
    for (auto [i, element] : llvm::enumerate(x.data)) {
      double other = y.data[i].f;
      ASSERT_TRUE(!std::memcmp(&element.f, &other, sizeof(double)) &&
                  element.i == y.data[i].i)
          << "element " << i << ": " << element.f << " and " << other;
    }
  }
}

/// Schedules of each kernel.
int countSchedules() { return int(countRounds(30, 5)); }
} // namespace

// A transposed read, a broadcast, two results.
TEST(RandomSchedules, Map) {
  Fixed fixed{R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<s in [0, 4096]>} {
    %a, %b = "test.source"() : () -> (tensor<5x?x9xf32, #hlir.dims<s>>, tensor<?xf32, #hlir.dims<s>>)
    %r:2 = llir.kernel(%a, %b) LOOPS : (tensor<5x?x9xf32, #hlir.dims<s>>, tensor<?xf32, #hlir.dims<s>>)
        -> (tensor<9x?x5xf32, #hlir.dims<s>>, tensor<9x?x5xi1, #hlir.dims<s>>) {
    ^bb0(%x: tensor<5x?x9xf32, #hlir.dims<s>>, %y: tensor<?xf32, #hlir.dims<s>>):
      %0 = llir.view %x <(d0, d1, d2) -> (d2, d1, d0)> : tensor<5x?x9xf32, #hlir.dims<s>> -> tensor<9x?x5xf32, #hlir.dims<s>>
      %1 = llir.view %y <(d0, d1, d2) -> (d1)> : tensor<?xf32, #hlir.dims<s>> -> tensor<9x?x5xf32, #hlir.dims<s>>
      %2 = llir.elementwise exp(%0) : (tensor<9x?x5xf32, #hlir.dims<s>>) -> tensor<9x?x5xf32, #hlir.dims<s>>
      %3 = llir.elementwise add(%1, %2) : (tensor<9x?x5xf32, #hlir.dims<s>>, tensor<9x?x5xf32, #hlir.dims<s>>) -> tensor<9x?x5xf32, #hlir.dims<s>>
      %4 = llir.elementwise less_than(%3, %2) : (tensor<9x?x5xf32, #hlir.dims<s>>, tensor<9x?x5xf32, #hlir.dims<s>>) -> tensor<9x?x5xi1, #hlir.dims<s>>
      llir.yield %3, %4 : tensor<9x?x5xf32, #hlir.dims<s>>, tensor<9x?x5xi1, #hlir.dims<s>>
    }
    return
    })",
              {{{"s", 0}}, {{"s", 1}}, {{"s", 23}}}};
  Generator g(1);
  std::vector<Array> proposed = runAll(fixed, "");
  for (int i = 0; i < countSchedules(); ++i) {
    std::string loops =
        "grid(" + g.axes({0, 1, 2}, g.choose({1, 2, 4, 8, 16})) + ")";
    expectSameBits(runAll(fixed, loops), proposed);
  }
}

// A softmax with further results, so that a value may be kept in either place,
// and a sum that may join the second walk.
TEST(RandomSchedules, Rows) {
  Fixed fixed{R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<s in [0, 4096]>} {
    %a = "test.source"() : () -> (tensor<3x7x?xf32, #hlir.dims<s>>)
    %r:3 = llir.kernel(%a) LOOPS : (tensor<3x7x?xf32, #hlir.dims<s>>) -> (tensor<3x7x?xf32, #hlir.dims<s>>, tensor<3x7xf32>, tensor<3x7xf32>) {
    ^bb0(%x: tensor<3x7x?xf32, #hlir.dims<s>>):
      %0 = llir.reduce max %x : tensor<3x7x?xf32, #hlir.dims<s>> -> tensor<3x7xf32>
      %1 = llir.view %0 <(d0, d1, d2) -> (d0, d1)> : tensor<3x7xf32> -> tensor<3x7x?xf32, #hlir.dims<s>>
      %2 = llir.elementwise sub(%x, %1) : (tensor<3x7x?xf32, #hlir.dims<s>>, tensor<3x7x?xf32, #hlir.dims<s>>) -> tensor<3x7x?xf32, #hlir.dims<s>>
      %3 = llir.elementwise exp(%2) : (tensor<3x7x?xf32, #hlir.dims<s>>) -> tensor<3x7x?xf32, #hlir.dims<s>>
      %4 = llir.reduce sum %3 : tensor<3x7x?xf32, #hlir.dims<s>> -> tensor<3x7xf32>
      %5 = llir.elementwise recip(%4) : (tensor<3x7xf32>) -> tensor<3x7xf32>
      %6 = llir.view %5 <(d0, d1, d2) -> (d0, d1)> : tensor<3x7xf32> -> tensor<3x7x?xf32, #hlir.dims<s>>
      %7 = llir.elementwise mul(%3, %6) : (tensor<3x7x?xf32, #hlir.dims<s>>, tensor<3x7x?xf32, #hlir.dims<s>>) -> tensor<3x7x?xf32, #hlir.dims<s>>
      %8 = llir.reduce sum %2 : tensor<3x7x?xf32, #hlir.dims<s>> -> tensor<3x7xf32>
      llir.yield %7, %4, %8 : tensor<3x7x?xf32, #hlir.dims<s>>, tensor<3x7xf32>, tensor<3x7xf32>
    }
    return
    })",
              {{{"s", 1}}, {{"s", 33}}, {{"s", 70}}},
              1e-5};
  Generator g(2);
  for (int i = 0; i < countSchedules(); ++i) {
    bool isAcross = g.flip();
    auto grid = [&] {
      return "grid(" + g.axes({0, 1}, isAcross ? g.choose({2, 4, 8, 16}) : 1) +
             ")";
    };
    std::string first = grid(), second = grid();
    // Lanes that found no axis leave vectors along the row.
    isAcross = first.find(" v") != std::string::npos;
    std::string rest = " stream(d2:all";
    if (!isAcross)
      rest += " v" + std::to_string(g.choose({1, 4, 8, 16}));
    rest += ")";
    for (const char *op : {"op0", "op4"})
      rest += std::string(" ") + op +
              " = pass {lanes = " + std::to_string(g.choose({1, 4, 16})) +
              ", unroll = " + std::to_string(g.pick(1, 4)) +
              (op[2] == '4' && !isAcross && g.flip() ? ", ahead = rows}" : "}");
    if (!isAcross && g.flip())
      rest += g.flip() ? " op3 = keep" : " op3 = keep {result = 0}";
    rest += g.flip() ? " op8 = pass {with = op4}" : " op8 = pass";
    if (rest.find(" v1)") != std::string::npos)
      rest.erase(rest.find(" v1)"), 3);
    std::vector<Array> results = runAll(fixed, first + rest);
    if (!isAcross && second.find(" v") == std::string::npos)
      expectSameBits(runAll(fixed, second + rest), results);
  }
}

// The same with rows of known lengths, whose results go past the caches.
TEST(RandomSchedules, Nontemporal) {
  Generator g(12);
  for (int i = 0; i < countSchedules() / 3; ++i) {
    std::string text = R"(
    func.func @f() {
    %a = "test.source"() : () -> tensor<37xLENGTHxf32>
    %r:2 = llir.kernel(%a) LOOPS : (tensor<37xLENGTHxf32>) -> (tensor<37xLENGTHxf32>, tensor<37xf32>) {
    ^bb0(%x: tensor<37xLENGTHxf32>):
      %0 = llir.elementwise exp(%x) : (tensor<37xLENGTHxf32>) -> tensor<37xLENGTHxf32>
      %1 = llir.reduce sum %0 : tensor<37xLENGTHxf32> -> tensor<37xf32>
      %2 = llir.view %1 <(d0, d1) -> (d0)> : tensor<37xf32> -> tensor<37xLENGTHxf32>
      %3 = llir.elementwise sub(%0, %2) : (tensor<37xLENGTHxf32>, tensor<37xLENGTHxf32>) -> tensor<37xLENGTHxf32>
      llir.yield %3, %1 : tensor<37xLENGTHxf32>, tensor<37xf32>
    }
    return
    })";
    std::string length = std::to_string(4 * g.pick(1, 40));
    for (size_t at = 0; (at = text.find("LENGTH")) != std::string::npos;)
      text.replace(at, 6, length);
    Fixed fixed{text, {{}}, 1e-5};
    std::string before =
        "grid(d0) stream(d1:all v" + std::to_string(g.choose({4, 8})) + ")";
    std::string after =
        std::string(g.flip() ? " op0 = keep" : "") +
        " op1 = pass {lanes = " + std::to_string(g.choose({1, 4, 8})) +
        ", unroll = " + std::to_string(g.pick(1, 4)) + "}";
    expectSameBits(runAll(fixed, before + " nontemporal" + after),
                   runAll(fixed, before + after));
  }
}

// Reductions of every dtype cut into parts, a later one that needs the first,
// and an epilogue; rows of any length, none, and fewer elements than parts.
TEST(RandomSchedules, Parts) {
  Fixed fixed{R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<r in [0, 4096], s in [0, 4096]>} {
    %a, %b, %c = "test.source"() : () -> (tensor<?x3x?xf32, #hlir.dims<r, s>>, tensor<?x3x?xYTYPE, #hlir.dims<r, s>>, tensor<?x3x?xZTYPE, #hlir.dims<r, s>>)
    %r:5 = llir.kernel(%a, %b, %c) LOOPS : (tensor<?x3x?xf32, #hlir.dims<r, s>>, tensor<?x3x?xYTYPE, #hlir.dims<r, s>>, tensor<?x3x?xZTYPE, #hlir.dims<r, s>>)
        -> (tensor<?x3xf32, #hlir.dims<r>>, tensor<?x3xYTYPE, #hlir.dims<r>>, tensor<?x3xf32, #hlir.dims<r>>, tensor<?x3xZTYPE, #hlir.dims<r>>, tensor<?x3xi1, #hlir.dims<r>>) {
    ^bb0(%x: tensor<?x3x?xf32, #hlir.dims<r, s>>, %y: tensor<?x3x?xYTYPE, #hlir.dims<r, s>>, %z: tensor<?x3x?xZTYPE, #hlir.dims<r, s>>):
      %0 = llir.reduce max %x : tensor<?x3x?xf32, #hlir.dims<r, s>> -> tensor<?x3xf32, #hlir.dims<r>>
      %1 = llir.reduce sum %y : tensor<?x3x?xYTYPE, #hlir.dims<r, s>> -> tensor<?x3xYTYPE, #hlir.dims<r>>
      %2 = llir.view %0 <(d0, d1, d2) -> (d0, d1)> : tensor<?x3xf32, #hlir.dims<r>> -> tensor<?x3x?xf32, #hlir.dims<r, s>>
      %3 = llir.elementwise sub(%x, %2) : (tensor<?x3x?xf32, #hlir.dims<r, s>>, tensor<?x3x?xf32, #hlir.dims<r, s>>) -> tensor<?x3x?xf32, #hlir.dims<r, s>>
      %4 = llir.elementwise exp(%3) : (tensor<?x3x?xf32, #hlir.dims<r, s>>) -> tensor<?x3x?xf32, #hlir.dims<r, s>>
      %5 = llir.reduce sum %4 : tensor<?x3x?xf32, #hlir.dims<r, s>> -> tensor<?x3xf32, #hlir.dims<r>>
      %6 = llir.reduce ZKIND %z : tensor<?x3x?xZTYPE, #hlir.dims<r, s>> -> tensor<?x3xZTYPE, #hlir.dims<r>>
      %7 = llir.elementwise less_than(%0, %x_row) : (tensor<?x3xf32, #hlir.dims<r>>, tensor<?x3xf32, #hlir.dims<r>>) -> tensor<?x3xi1, #hlir.dims<r>>
      llir.yield %0, %1, %5, %6, %7 : tensor<?x3xf32, #hlir.dims<r>>, tensor<?x3xYTYPE, #hlir.dims<r>>, tensor<?x3xf32, #hlir.dims<r>>, tensor<?x3xZTYPE, #hlir.dims<r>>, tensor<?x3xi1, #hlir.dims<r>>
    }
    return
    })",
              {{{"r", 0}, {"s", 5}},
               {{"r", 5}, {"s", 0}},
               {{"r", 5}, {"s", 2}},
               {{"r", 2}, {"s", 33}},
               {{"r", 7}, {"s", 130}}},
              1e-2};
  fixed.text.replace(fixed.text.find("%x_row"), 6, "%5");
  const std::string text = fixed.text;
  Generator g(6);
  for (int i = 0; i < countSchedules(); ++i) {
    bool isFlag = g.flip();
    fixed.text = text;
    for (auto [name, with] :
         {std::pair<std::string, std::string>{
              "YTYPE", g.choose({"i32", "i64", "f16", "f64"})},
          {"ZTYPE", isFlag ? "i1" : "bf16"},
          {"ZKIND", isFlag ? "max" : "sum"}})
      for (size_t at = 0; (at = fixed.text.find(name)) != std::string::npos;)
        fixed.text.replace(at, name.size(), with);
    bool isAcross = g.flip();
    auto grid = [&] {
      return "grid(" + g.axes({0, 1}, isAcross ? g.choose({2, 4, 8, 16}) : 1) +
             ")";
    };
    std::string first = grid(), second = grid();
    // Lanes that found no axis leave vectors along the row.
    isAcross = first.find(" v") != std::string::npos;
    std::string rest = " stream(d2:all";
    if (!isAcross)
      rest += g.choose({"", " v4", " v8", " v16"});
    rest += ") parts(" + std::to_string(g.pick(2, 20)) + ")";
    for (std::string op : {"op0", "op1", "op5", "op6"}) {
      rest += " " + op + " = pass {";
      // The third needs what the first finds.
      if (op != "op0" && op != "op5" && g.flip())
        rest += "with = op0}";
      else
        rest += "lanes = " + std::to_string(g.choose({1, 4, 16})) +
                ", unroll = " + std::to_string(g.pick(1, 4)) + "}";
    }
    std::vector<Array> results = runAll(fixed, first + rest);
    if (!isAcross && second.find(" v") == std::string::npos)
      expectSameBits(runAll(fixed, second + rest), results);
  }
}

// A product with an epilogue, one side of it transposed, rows of any number.
TEST(RandomSchedules, Product) {
  Fixed fixed{R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<m in [0, 4096]>} {
    %a, %b, %c = "test.source"() : () -> (tensor<2x?x19xf32, #hlir.dims<m>>, tensor<2x45x19xf32>, tensor<45xf32>)
    %r = llir.kernel(%a, %b, %c) LOOPS : (tensor<2x?x19xf32, #hlir.dims<m>>, tensor<2x45x19xf32>, tensor<45xf32>) -> tensor<2x?x45xf32, #hlir.dims<m>> {
    ^bb0(%x: tensor<2x?x19xf32, #hlir.dims<m>>, %w: tensor<2x45x19xf32>, %bias: tensor<45xf32>):
      %0 = llir.gemm %x, %w k(19) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)>
          : tensor<2x?x19xf32, #hlir.dims<m>>, tensor<2x45x19xf32> -> tensor<2x?x45xf32, #hlir.dims<m>>
      %1 = llir.view %bias <(d0, d1, d2) -> (d2)> : tensor<45xf32> -> tensor<2x?x45xf32, #hlir.dims<m>>
      %2 = llir.elementwise add(%0, %1) : (tensor<2x?x45xf32, #hlir.dims<m>>, tensor<2x?x45xf32, #hlir.dims<m>>) -> tensor<2x?x45xf32, #hlir.dims<m>>
      llir.yield %2 : tensor<2x?x45xf32, #hlir.dims<m>>
    }
    return
    })",
              {{{"m", 0}}, {{"m", 1}}, {{"m", 4}}, {{"m", 5}}, {{"m", 61}}},
              1e-5};
  Generator g(3);
  auto makeCase = [&] {
    bool isSwapped = g.flip();
    std::string common =
        std::string("columns = ") + (isSwapped ? "lhs" : "rhs");
    if (g.flip())
      common += ", copy = rows";
    int64_t lanes = g.choose({2, 4, 8});
    common += ", lanes = " + std::to_string(lanes);
    std::string columns = isSwapped ? "d1:" : "d2:";
    std::string rows = isSwapped ? "d2" : "d1", form;
    auto number = [](int64_t n) { return std::to_string(n); };
    switch (g.pick(0, 3)) {
    case 0:
      columns += g.choose({"all", "7", "32"});
      rows += g.choose({"", ":all", ":3"});
      form = "axpy {" + common + ", depth = " + number(g.pick(1, 9)) + "}";
      break;
    case 1:
      columns += g.choose({"all", "7", "32"});
      rows += g.choose({"", ":all", ":3"});
      form = "dot {" + common + ", rows = " + number(g.pick(1, 4)) +
             ", width = " + number(g.pick(1, 8)) +
             ", rest = " + number(g.pick(1, 8)) + "}";
      break;
    case 2:
      // No product has a form but that of an element.
      return "grid(" + g.axes({0, 1, 2}, lanes) + ")" +
             (g.flip() ? " parts(" + number(g.pick(2, 19)) + ")" : "") +
             " op0 = element {lanes = " + number(g.choose({1, 4, 16})) +
             ", unroll = " + number(g.pick(1, 4)) + "}";
    default:
      int64_t height = g.pick(1, 6), vectors = g.pick(1, 2);
      columns += number(lanes * vectors * g.pick(1, 3));
      rows += g.flip() ? ":all" : ":" + number(height * g.pick(2, 4));
      std::string pack = g.flip() ? "k" : "elements";
      form = std::string("tile {") + (g.flip() ? "ahead = results, " : "") +
             common + ", pack = " + pack + ", rows = " + number(height) +
             ", vectors = " + number(vectors);
      if (pack == "k")
        form += ", square = " +
                number(std::min<int64_t>(lanes, g.choose({2, 4, 8})));
      form += "}";
    }
    std::vector<std::string> axes = {"d0", rows, columns};
    std::shuffle(axes.begin(), axes.end(), g.random);
    return "grid(" + llvm::join(axes, ", ") + ") op0 = " + form;
  };
  for (int i = 0; i < countSchedules(); ++i) {
    std::string loops = makeCase();
    if (g.flip())
      loops = "if (m: [0, " + std::to_string(g.pick(0, 6)) + "]) " + loops +
              " else " + makeCase();
    runAll(fixed, loops);
  }
}

// Two products that one walk over k computes for all elements of a unit, each
// row with each column, and what follows them; blocks that do not divide.
TEST(RandomSchedules, Together) {
  Fixed fixed{R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<r in [0, 64], s in [0, 4096]>} {
    %a, %b, %c, %d = "test.source"() : () -> (tensor<?x?xf32, #hlir.dims<r, s>>, tensor<23x?xbf16, #hlir.dims<s>>, tensor<23x?xf32, #hlir.dims<s>>, tensor<?x23xf32, #hlir.dims<r>>)
    %r:2 = llir.kernel(%a, %b, %c, %d) LOOPS : (tensor<?x?xf32, #hlir.dims<r, s>>, tensor<23x?xbf16, #hlir.dims<s>>, tensor<23x?xf32, #hlir.dims<s>>, tensor<?x23xf32, #hlir.dims<r>>)
        -> (tensor<?x23xf32, #hlir.dims<r>>, tensor<?x23xf32, #hlir.dims<r>>) {
    ^bb0(%x: tensor<?x?xf32, #hlir.dims<r, s>>, %y: tensor<23x?xbf16, #hlir.dims<s>>, %z: tensor<23x?xf32, #hlir.dims<s>>, %w: tensor<?x23xf32, #hlir.dims<r>>):
      %0 = llir.elementwise cast(%y) : (tensor<23x?xbf16, #hlir.dims<s>>) -> tensor<23x?xf32, #hlir.dims<s>>
      %1 = llir.gemm %x, %0 k(s) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x?xf32, #hlir.dims<r, s>>, tensor<23x?xf32, #hlir.dims<s>> -> tensor<?x23xf32, #hlir.dims<r>>
      %2 = llir.gemm %x, %z k(s) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x?xf32, #hlir.dims<r, s>>, tensor<23x?xf32, #hlir.dims<s>> -> tensor<?x23xf32, #hlir.dims<r>>
      %3 = llir.elementwise mul(%1, %2) : (tensor<?x23xf32, #hlir.dims<r>>, tensor<?x23xf32, #hlir.dims<r>>) -> tensor<?x23xf32, #hlir.dims<r>>
      %4 = llir.elementwise add(%3, %w) : (tensor<?x23xf32, #hlir.dims<r>>, tensor<?x23xf32, #hlir.dims<r>>) -> tensor<?x23xf32, #hlir.dims<r>>
      llir.yield %4, %1 : tensor<?x23xf32, #hlir.dims<r>>, tensor<?x23xf32, #hlir.dims<r>>
    }
    return
    })",
              {{{"r", 0}, {"s", 5}},
               {{"r", 3}, {"s", 0}},
               {{"r", 1}, {"s", 64}},
               {{"r", 7}, {"s", 77}}},
              1e-5};
  Generator g(13);
  auto number = [](int64_t n) { return std::to_string(n); };
  for (int i = 0; i < countSchedules() / 15; ++i) {
    auto grid = [&] {
      std::string rows = "d0:" + number(g.pick(1, 4)),
                  columns = "d1:" + number(g.pick(1, 4));
      if (g.pick(0, 3) == 0)
        rows = "d0:2", columns = "d1:23";
      return "grid(" +
             (g.flip() ? rows + ", " + columns : columns + ", " + rows) + ")";
    };
    int64_t lanes = g.choose({1, 4, 8, 16});
    auto form = [&] {
      return " = together {lanes = " + number(lanes) +
             ", sums = " + number(g.flip() ? 1 : std::min<int64_t>(lanes, 4)) +
             ", unroll = " + number(g.pick(1, 4)) + "}";
    };
    std::string forms = " op1" + form(), same = forms.substr(4);
    forms += " op2" + (g.flip() ? same : form());
    expectSameBits(runAll(fixed, grid() + forms),
                   runAll(fixed, grid() + forms));
  }
}

// Windows of an image, whatever lines of it a unit has and whatever the tile.
TEST(RandomSchedules, Windows) {
  Fixed fixed{R"(
    func.func @f() {
    %a, %b = "test.source"() : () -> (tensor<2x5x19x23xf32>, tensor<9x5x3x3xf32>)
    %r = llir.kernel(%a, %b) LOOPS : (tensor<2x5x19x23xf32>, tensor<9x5x3x3xf32>) -> tensor<2x9x9x11xf32> {
    ^bb0(%x: tensor<2x5x19x23xf32>, %w: tensor<9x5x3x3xf32>):
      %0 = llir.gemm %x, %w k(45)
          <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, 2 * d1 + (d4 floordiv 3) mod 3, 2 * d2 + d4 mod 3)>,
          <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
          : tensor<2x5x19x23xf32>, tensor<9x5x3x3xf32> -> tensor<2x9x11x9xf32>
      %1 = llir.view %0 <(d0, d1, d2, d3) -> (d0, d2, d3, d1)> : tensor<2x9x11x9xf32> -> tensor<2x9x9x11xf32>
      llir.yield %1 : tensor<2x9x9x11xf32>
    }
    return
    })",
              {{}},
              1e-5};
  Generator g(7);
  std::vector<Array> first;
  for (int i = 0; i < countSchedules(); ++i) {
    auto number = [](int64_t n) { return std::to_string(n); };
    int64_t height = g.pick(1, 6);
    // The last axis of the images is the columns.
    std::vector<std::string> axes = {
        "d0", "d1*d2:" + (g.flip() ? "all" : number(11 * g.pick(1, 8)))};
    axes.insert(axes.begin() + g.pick(0, 2),
                "d3:" + (g.flip() ? "all" : number(height * g.pick(2, 3))));
    std::vector<Array> results =
        runAll(fixed, "grid(" + llvm::join(axes, ", ") +
                          ") op0 = tile {columns = " + "lhs, " +
                          (g.flip() ? "ahead = results, " : "") +
                          (g.flip() ? "copy = rows, " : "") +
                          "lanes = " + number(g.choose({2, 4, 8})) +
                          ", pack = windows, rows = " + number(height) +
                          ", vectors = " + number(g.pick(1, 2)) + "}");
    if (first.empty())
      first = results;
    expectSameBits(results, first);
  }
}

// Loops are cut at the borders of an image, whatever is left of its lines.
TEST(RandomSchedules, Borders) {
  auto makeBody = [](int64_t width, int64_t before, int64_t after) {
    std::string from = std::to_string(width), last = std::to_string(width - 1),
                more = std::to_string(before),
                all = std::to_string(before + width + after),
                in = "tensor<5x" + from + "xf32>", out = "tensor<5x" + all;
    return R"(
    %a = "test.source"() : () -> ()" +
           in + R"()
    %r = llir.kernel(%a) LOOPS : ()" +
           in + ") -> " + out + R"(xf32> {
    ^bb0(%x: )" +
           in + R"():
      %at = llir.iota <(d0, d1) -> (d1 - )" +
           more + ")> : " + out + R"(xi64>
      %size = llir.constant dense<)" +
           from + R"(> : tensor<i64>
      %sizes = llir.view %size <(d0, d1) -> ()> : tensor<i64> -> )" +
           out + R"(xi64>
      %none = llir.constant dense<-1> : tensor<i64>
      %nones = llir.view %none <(d0, d1) -> ()> : tensor<i64> -> )" +
           out + R"(xi64>
      %c0 = llir.elementwise less_than(%at, %sizes) : ()" +
           out + "xi64>, " + out + "xi64>) -> " + out + R"(xi1>
      %c1 = llir.elementwise less_than(%nones, %at) : ()" +
           out + "xi64>, " + out + "xi64>) -> " + out + R"(xi1>
      %c = llir.elementwise mul(%c0, %c1) : ()" +
           out + "xi1>, " + out + "xi1>) -> " + out + R"(xi1>
      %v = llir.view %x <(d0, d1) -> (d0, max(min(d1 - )" +
           more + ", " + last + "), 0))> : " + in + " -> " + out + R"(xf32>
      %f = llir.constant dense<-3.0> : tensor<f32>
      %fs = llir.view %f <(d0, d1) -> ()> : tensor<f32> -> )" +
           out + R"(xf32>
      %s = llir.elementwise select(%c, %v, %fs) : ()" +
           out + "xi1>, " + out + "xf32>, " + out + "xf32>) -> " + out +
           R"(xf32>
      llir.yield %s : )" +
           out + R"(xf32>
    })";
  };
  Generator g(11);
  for (int i = 0; i < countSchedules(); ++i) {
    Fixed fixed{makeBody(g.pick(1, 30), g.pick(0, 5), g.pick(0, 5)), {{}}};
    std::string lanes = std::to_string(g.choose({1, 2, 4, 8}));
    runAll(fixed, "grid(d0" + std::string(g.flip() ? ":2" : "") +
                      ", d1:" + (g.flip() ? "all" : "8") + " v" + lanes + ")");
  }
}

// Updates meet in order whatever the columns of a unit.
TEST(RandomSchedules, Ordered) {
  Fixed fixed{R"(
    %a, %b, %c = "test.source"() : () -> (tensor<3x6x11xf32>, tensor<8xi64>, tensor<8x6x11xf32>)
    %r = llir.kernel(%a, %b, %c) LOOPS : (tensor<3x6x11xf32>, tensor<8xi64>, tensor<8x6x11xf32>) -> tensor<3x6x11xf32> {
    ^bb0(%x: tensor<3x6x11xf32>, %i: tensor<8xi64>, %u: tensor<8x6x11xf32>):
      %0 = llir.scatter add %x, %i, %u {checked} : tensor<3x6x11xf32>, tensor<8xi64>, tensor<8x6x11xf32>
      llir.yield %0 : tensor<3x6x11xf32>
    })",
              {{}}};
  Generator g(4);
  std::vector<Array> proposed = runAll(fixed, "");
  for (int i = 0; i < countSchedules(); ++i)
    expectSameBits(runAll(fixed, "grid(" +
                                     g.axes({1, 2}, g.choose({1, 4, 16})) +
                                     ") op0 = ordered"),
                   proposed);
}

// Two products and the softmax between them, in stages over a block of rows.
TEST(RandomSchedules, Stages) {
  Fixed fixed{R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<m in [0, 4096]>} {
    %a, %b, %c = "test.source"() : () -> (tensor<2x?x6xf32, #hlir.dims<m>>, tensor<2x9x6xf32>, tensor<2x9x5xf32>)
    %r = llir.kernel(%a, %b, %c) LOOPS : (tensor<2x?x6xf32, #hlir.dims<m>>, tensor<2x9x6xf32>, tensor<2x9x5xf32>) -> tensor<2x?x5xf32, #hlir.dims<m>> {
    ^bb0(%q: tensor<2x?x6xf32, #hlir.dims<m>>, %k: tensor<2x9x6xf32>, %v: tensor<2x9x5xf32>):
      %0 = llir.gemm %q, %k k(6) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x?x6xf32, #hlir.dims<m>>, tensor<2x9x6xf32> -> tensor<2x?x9xf32, #hlir.dims<m>>
      %1 = llir.reduce max %0 : tensor<2x?x9xf32, #hlir.dims<m>> -> tensor<2x?xf32, #hlir.dims<m>>
      %2 = llir.view %1 <(d0, d1, d2) -> (d0, d1)> : tensor<2x?xf32, #hlir.dims<m>> -> tensor<2x?x9xf32, #hlir.dims<m>>
      %3 = llir.elementwise sub(%0, %2) : (tensor<2x?x9xf32, #hlir.dims<m>>, tensor<2x?x9xf32, #hlir.dims<m>>) -> tensor<2x?x9xf32, #hlir.dims<m>>
      %4 = llir.elementwise exp(%3) : (tensor<2x?x9xf32, #hlir.dims<m>>) -> tensor<2x?x9xf32, #hlir.dims<m>>
      %5 = llir.reduce sum %4 : tensor<2x?x9xf32, #hlir.dims<m>> -> tensor<2x?xf32, #hlir.dims<m>>
      %6 = llir.view %5 <(d0, d1, d2) -> (d0, d1)> : tensor<2x?xf32, #hlir.dims<m>> -> tensor<2x?x9xf32, #hlir.dims<m>>
      %7 = llir.elementwise div(%4, %6) : (tensor<2x?x9xf32, #hlir.dims<m>>, tensor<2x?x9xf32, #hlir.dims<m>>) -> tensor<2x?x9xf32, #hlir.dims<m>>
      %8 = llir.gemm %7, %v k(9) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x?x9xf32, #hlir.dims<m>>, tensor<2x9x5xf32> -> tensor<2x?x5xf32, #hlir.dims<m>>
      llir.yield %8 : tensor<2x?x5xf32, #hlir.dims<m>>
    }
    return
    })",
              {{{"m", 0}}, {{"m", 1}}, {{"m", 7}}, {{"m", 30}}},
              1e-5};
  Generator g(5);
  auto number = [](int64_t n) { return std::to_string(n); };
  auto makeProduct = [&](int64_t height, bool alongK) {
    int64_t lanes = g.choose({2, 4, 8});
    std::string common = "lanes = " + number(lanes);
    if (g.flip())
      common += ", copy = rows";
    std::string panel = ", panel = " + number(g.pick(1, 9));
    int64_t kind = g.pick(0, 2);
    if (kind == 0)
      return "axpy {" + common + ", depth = " + number(g.pick(1, 9)) +
             (g.flip() ? panel : "") + "}";
    if (kind == 1 && alongK)
      return "dot {" + common + ", rows = " + number(g.pick(1, 4)) +
             ", width = " + number(g.pick(1, 8)) +
             ", rest = " + number(g.pick(1, 8)) + (g.flip() ? panel : "") + "}";
    int64_t vectors = g.pick(1, 2);
    return "tile {" + common + ", pack = elements, rows = " + number(height) +
           ", vectors = " + number(vectors) +
           ", panel = " + number(lanes * vectors * g.pick(1, 3)) + "}";
  };
  auto makePass = [&] {
    return "pass {lanes = " + number(g.choose({1, 4, 16})) +
           ", unroll = " + number(g.pick(1, 4)) + "}";
  };
  for (int i = 0; i < countSchedules(); ++i) {
    int64_t height = g.pick(1, 5);
    std::vector<std::string> axes = {
        std::string("d0") + g.choose({"", ":all", ":2"}),
        "d1" + std::string(g.choose({"", ":all", ":"}))};
    if (axes[1].back() == ':')
      axes[1] += number(height * g.pick(2, 4));
    std::shuffle(axes.begin(), axes.end(), g.random);
    runAll(fixed, "grid(" + llvm::join(axes, ", ") + ") op0 = " +
                      makeProduct(height, true) + " op1 = " + makePass() +
                      (g.flip() ? " op4 = keep" : "") + " op5 = " + makePass() +
                      " op8 = " + makeProduct(height, false));
  }
}
