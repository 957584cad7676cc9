//===- StreamTest.cpp - Random kernels with a streamed dim ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of scores, what programs do to them, a maximum, terms relative to it,
// their sum, and products of the terms; each with a random schedule that walks
// them jointly. Sizes include none, one, and tails of chunks. Every element is
// held to the kernel's definition.
//
//===----------------------------------------------------------------------===//

#include "KernelOracle.h"
#include "Rounds.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace luminal::test;

namespace {
class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  std::string make();
  /// Of the elements, and what the results may differ by.
  std::string element;
  double tolerance = 0;

private:
  int64_t pick(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <typename T>
  T choose(std::initializer_list<T> values) {
    return values.begin()[pick(0, values.size() - 1)];
  }
  static std::string number(int64_t n) { return std::to_string(n); }

  /// tensor<...> of these extents, of which m and n are symbols.
  static std::string type(std::vector<std::string> extents,
                          const std::string &element);
  /// A line of the body; the result is its value.
  std::string add(const std::string &op);
  std::string apply(const std::string &fn, std::vector<std::string> args,
                    std::vector<std::string> types, const std::string &to);
  /// The value of the domain that is `v` everywhere.
  std::string splat(const std::string &v);
  std::string product(bool alongK, int64_t height, int64_t chunk,
                      bool isScores);
  std::string joint() {
    return "joint {lanes = " + number(choose({1, 4, 16})) +
           ", unroll = " + number(pick(1, 3)) + "}";
  }
  std::string comparison(const std::string &places);
  std::string mask(const std::string &scores);

  std::mt19937_64 random;
  std::string body, domain, conditions, rows;
  unsigned count = 0;
  /// The forms of ops by their position.
  std::string forms;
  void form(const std::string &value, const std::string &text) {
    forms += " op" + value.substr(2) + " = " + text;
  }
};
} // namespace

std::string Generator::type(std::vector<std::string> extents,
                            const std::string &element) {
  std::string shape;
  std::vector<std::string> symbols;
  for (const std::string &e : extents) {
    bool isSymbol = e == "m" || e == "n";
    shape += (isSymbol ? "?" : e) + "x";
    if (isSymbol)
      symbols.push_back(e);
  }
  std::string dims =
      symbols.empty() ? "" : ", #hlir.dims<" + llvm::join(symbols, ", ") + ">";
  return "tensor<" + shape + element + dims + ">";
}

std::string Generator::add(const std::string &op) {
  std::string name = "%o" + number(count++);
  body += "      " + name + " = " + op + "\n";
  return name;
}

std::string Generator::apply(const std::string &fn,
                             std::vector<std::string> args,
                             std::vector<std::string> types,
                             const std::string &to) {
  return add("llir.elementwise " + fn + "(" + llvm::join(args, ", ") + ") : (" +
             llvm::join(types, ", ") + ") -> " + to);
}

std::string Generator::splat(const std::string &v) {
  std::string scalar = "tensor<" + element + ">";
  std::string c = add("llir.constant dense<" + v + "> : " + scalar);
  return add("llir.view " + c + " <(d0, d1, d2) -> ()> : " + scalar + " -> " +
             domain);
}

std::string Generator::product(bool alongK, int64_t height, int64_t chunk,
                               bool isScores) {
  int64_t lanes = choose({2, 4});
  std::string common = "lanes = " + number(lanes);
  if (chance(50))
    common += ", copy = rows";
  int64_t kind = pick(0, 3);
  // Chunks of scores are whole panels.
  std::string panel = isScores ? "" : ", panel = " + number(pick(1, 9));
  if (kind == 0)
    return "axpy {" + common + ", depth = " + number(pick(1, 9)) +
           (chance(50) ? panel : "") + "}";
  if (kind == 1 && alongK)
    return "dot {" + common + ", rows = " + number(pick(1, 4)) +
           ", width = " + number(pick(1, 8)) +
           ", rest = " + number(pick(1, 8)) + (chance(50) ? panel : "") + "}";
  int64_t vectors = pick(1, 2), width = lanes * vectors;
  int64_t panels = isScores && chunk % (2 * width) == 0 ? 2 : 1;
  return "tile {" + common + ", pack = elements, rows = " + number(height) +
         ", vectors = " + number(vectors) +
         ", panel = " + number(width * panels) + "}";
}

/// A condition on the place of an element.
std::string Generator::comparison(const std::string &places) {
  std::string k = add("llir.iota <(d0, d1, d2) -> (d2 + " + number(pick(0, 9)) +
                      ")> : " + places);
  std::string q = add("llir.iota <(d0, d1, d2) -> (d1 * " + number(pick(1, 3)) +
                      ")> : " + places);
  if (chance(20))
    k = apply("sub", {k, q}, {places, places}, places);
  return apply(choose({"less_equal", "less_than", "less_than", "equal"}),
               chance(60) ? std::vector<std::string>{k, q}
                          : std::vector<std::string>{q, k},
               {places, places}, conditions);
}

/// Scores of which some are -inf: by their place, by a bound, or a row.
std::string Generator::mask(const std::string &scores) {
  std::string places = type({"2", "m", "n"}, "i64");
  std::string lowest = splat(element == "f64"   ? "0xFFF0000000000000"
                             : element == "f32" ? "0xFF800000"
                             : element == "f16" ? "0xFC00"
                                                : "0xFF80");
  std::string condition;
  if (chance(70)) {
    condition = comparison(places);
    if (chance(40))
      condition = apply(choose({"mul", "or"}), {condition, comparison(places)},
                        {conditions, conditions}, conditions);
    if (chance(20))
      condition = apply("not", {condition}, {conditions}, conditions);
  } else {
    condition = apply("less_than", {scores, splat("0.5")}, {domain, domain},
                      conditions);
  }
  return apply("select", {condition, scores, lowest},
               {conditions, domain, domain}, domain);
}

std::string Generator::make() {
  body.clear(), forms.clear(), count = 0;
  element = choose({"f32", "f32", "f64", "f16", "bf16"});
  tolerance = element == "f64"   ? 1e-12
              : element == "f32" ? 2e-5
              : element == "f16" ? 8e-3
                                 : 6e-2;
  std::string depth = number(pick(1, 9)), width = number(pick(1, 11));
  bool isShared = chance(30);
  std::string q = type({"2", "m", depth}, element),
              k = isShared ? type({"n", depth}, element)
                           : type({"2", "n", depth}, element),
              v = type({"2", "n", width}, element),
              bias = type({"2", "m", "n"}, element),
              out = type({"2", "m", width}, element);
  rows = type({"2", "m"}, element);
  domain = bias;
  conditions = type({"2", "m", "n"}, "i1");
  int64_t height = pick(1, 5), chunk = 8 * pick(1, 5);
  std::string s = add("llir.gemm %q, %k k(" + depth +
                      ") <(d0, d1, d2, d3) -> (d0, d1, d3)>, " +
                      (isShared ? "<(d0, d1, d2, d3) -> (d2, d3)>"
                                : "<(d0, d1, d2, d3) -> (d0, d2, d3)>") +
                      " : " + q + ", " + k + " -> " + domain);
  form(s, product(true, height, chunk, true));
  if (chance(40))
    s = apply("mul", {s, splat("0.25")}, {domain, domain}, domain);
  if (chance(30))
    s = apply("tanh", {s}, {domain}, domain);
  if (chance(40))
    s = apply("add", {s, "%b"}, {domain, domain}, domain);
  if (chance(60))
    s = mask(s);
  std::string m = add("llir.reduce max " + s + " : " + domain + " -> " + rows);
  form(m, joint());
  // Programs may take an empty row's maximum for 0.
  std::string reference = m;
  if (chance(40)) {
    std::string scalar = "tensor<" + element + ">";
    std::string flags = type({"2", "m"}, "i1");
    auto row = [&](const std::string &value) {
      std::string c = add("llir.constant dense<" + value + "> : " + scalar);
      return add("llir.view " + c + " <(d0, d1) -> ()> : " + scalar + " -> " +
                 rows);
    };
    std::string isLow =
        apply("less_than", {m, row("-1.000000e+04")}, {rows, rows}, flags);
    reference = apply("select", {isLow, row("0.000000e+00"), m},
                      {flags, rows, rows}, rows);
  }
  std::string spread =
      add("llir.view " + reference + " <(d0, d1, d2) -> (d0, d1)> : " + rows +
          " -> " + domain);
  std::string d = apply("sub", {s, spread}, {domain, domain}, domain);
  std::string e =
      apply(choose({"exp", "exp_fast", "exp2"}), {d}, {domain}, domain);
  std::string sum =
      add("llir.reduce sum " + e + " : " + domain + " -> " + rows);
  form(sum, joint());
  std::string p = e;
  if (chance(20))
    p = apply("mul", {"%b", p}, {domain, domain}, domain);
  if (chance(20))
    p = apply("neg", {p}, {domain}, domain);
  std::string o = add("llir.gemm " + p + ", %v k(n) " +
                      "<(d0, d1, d2, d3) -> (d0, d1, d3)>, "
                      "<(d0, d1, d2, d3) -> (d0, d3, d2)> : " +
                      domain + ", " + v + " -> " + out);
  form(o, product(false, height, chunk, false));
  std::string r = o;
  if (chance(70)) {
    std::string by =
        add("llir.view " + sum + " <(d0, d1, d2) -> (d0, d1)> : " + rows +
            " -> " + out);
    r = apply("div", {r, by}, {out, out}, out);
  }
  std::string results = out, values = r;
  if (chance(30)) {
    std::string log = apply("log", {sum}, {rows}, rows);
    values += ", " + apply("add", {log, reference}, {rows, rows}, rows);
    results += ", " + rows;
  }
  // Where keys are shared, d0 would be rows as well, of which there is one
  // axis.
  std::string blocks[] = {
      "d0" + std::string(isShared ? "" : choose({"", ":all", ":2"})),
      "d1" + std::string(choose({"", ":all", ":"}))};
  if (blocks[1].back() == ':')
    blocks[1] += number(height * pick(2, 4));
  std::string grid =
      chance(50) ? blocks[0] + ", " + blocks[1] : blocks[1] + ", " + blocks[0];
  std::string parts = chance(40) ? " parts(" + number(pick(2, 6)) + ")" : "";
  std::string types = q + ", " + k + ", " + v + ", " + bias;
  return R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<m in [0, 4096], n in [0, 4096]>} {
    %a0, %a1, %a2, %a3 = "test.source"() : () -> ()" +
         types + ")\n    %r" +
         (llvm::StringRef(values).contains(',') ? ":2" : "") +
         " = llir.kernel(%a0, %a1, %a2, %a3) loops<grid(" + grid +
         ") stream(d2:" + number(chunk) + ")" + parts + forms + "> : (" +
         types + ") -> (" + results + ") {\n    ^bb0(%q: " + q + ", %k: " + k +
         ", %v: " + v + ", %b: " + bias + "):\n" + body + "      llir.yield " +
         values + " : " + results + "\n    }\n    return\n    }";
}

/// Every so many elements of the values are not finite: where a mask has made
/// the probability 0, the product is NaN all the same.
static void spoil(Array &values, size_t step) {
  const double specials[] = {INFINITY, -INFINITY, NAN};
  for (size_t i = step / 2; i < values.data.size(); i += step)
    values.data[i].f = specials[i % 3];
}

TEST(RandomStreams, ComputeWhatTheirBodiesSay) {
  Generator g(7);
  for (uint64_t i = 0, n = countRounds(40, 4); i < n; ++i) {
    std::string text = g.make();
    SCOPED_TRACE(text);
    checkKernel(text,
                {{{"m", 0}, {"n", 3}},
                 {{"m", 3}, {"n", 0}},
                 {{"m", 1}, {"n", 1}},
                 {{"m", 7}, {"n", 41}},
                 {{"m", 13}, {"n", 90}}},
                g.tolerance, /*indexLimit=*/3, [&](std::vector<Array> &inputs) {
                  if (i % 4 == 0)
                    spoil(inputs[2], 97 + i);
                });
    if (HasFatalFailure())
      return;
  }
}
