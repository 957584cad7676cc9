//===- RulePrograms.cpp - Programs that make every rule fire --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RulePrograms.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

namespace {

using C = hlir::Composer;
using Vs = ArrayRef<Value>;
using Names = std::vector<std::string>;

constexpr const char *kFloats[] = {"f16", "bf16", "f32", "f64"};
constexpr const char *kNumbers[] = {"f16", "bf16", "f32", "f64", "i32", "i64"};
constexpr const char *kComputed[] = {"f16", "bf16", "f32", "f64",
                                     "i32", "i64",  "i1"};
constexpr const char *kAny[] = {"f16",    "bf16", "f32",  "f64", "i32",
                                "i64",    "i1",   "i8",   "ui8", "f8E4M3FN",
                                "f8E5M2", "i16",  "ui16", "ui32"};
/// For each width, the types whose bits are read as another type.
constexpr std::pair<const char *, const char *> kBits[] = {
    {"f64", "i64"},     {"i64", "f64"},      {"f32", "i32"},
    {"i32", "f32"},     {"ui32", "f32"},     {"f16", "bf16"},
    {"bf16", "i16"},    {"i16", "f16"},      {"ui16", "f16"},
    {"i8", "f8E4M3FN"}, {"ui8", "f8E4M3FN"}, {"f8E4M3FN", "i8"},
    {"f8E5M2", "i8"}};

/// The type in which a program is built before it is respelled in `type`: f32
/// represents the constants of narrower types exactly.
const char *builtIn(StringRef type) { return type == "f64" ? "f64" : "f32"; }

Type typeOf(Vs v, StringRef name) {
  return hlir::getElementType(v[0].getContext(),
                              *dtypeFromName(std::string_view(name)));
}

std::vector<RuleProgram> scalarFunctions() {
  std::vector<RuleProgram> list;
  struct Unary {
    const char *fn;
    Value (C::*method)(Value);
  };
  const Unary unary[] = {{"neg", &C::neg},
                         {"abs", &C::abs},
                         {"exp", &C::exp},
                         {"exp2", &C::exp2},
                         {"expm1", &C::expm1},
                         {"log", &C::log},
                         {"log2", &C::log2},
                         {"log1p", &C::log1p},
                         {"sin", &C::sin},
                         {"cos", &C::cos},
                         {"tanh", &C::tanh},
                         {"erf", &C::erf},
                         {"sqrt", &C::sqrt},
                         {"rsqrt", &C::rsqrt},
                         {"recip", &C::recip},
                         {"sigmoid", &C::sigmoid},
                         {"silu", &C::silu},
                         {"gelu", &C::gelu},
                         {"gelu_tanh", &C::geluTanh},
                         {"floor", &C::floor},
                         {"ceil", &C::ceil},
                         {"round", &C::round},
                         {"trunc", &C::trunc},
                         {"is_nan", &C::isNan},
                         {"max", &C::relu}};
  struct Binary {
    const char *fn;
    Value (C::*method)(Value, Value);
  };
  const Binary binary[] = {
      {"add", &C::add},           {"sub", &C::sub},
      {"mul", &C::mul},           {"div", &C::div},
      {"mod", &C::fmod},          {"max", &C::maximum},
      {"min", &C::minimum},       {"pow", &C::pow},
      {"less_than", &C::less},    {"less_equal", &C::lessEqual},
      {"equal", &C::equal},       {"floor_div", &C::floorDiv},
      {"floor_mod", &C::floorMod}};
  for (const char *type : kFloats) {
    // Like a front end that computes nothing in a wider type than its values.
    for (const Unary &u : unary)
      list.push_back({u.fn + std::string(" spelled in ") + type,
                      {{{"60"}, "f32"}},
                      [=](C &c, Vs v) { return (c.*u.method)(v[0]); },
                      std::nullopt,
                      type});
    for (const Binary &b : binary)
      list.push_back({b.fn + std::string(" spelled in ") + type,
                      {{{"60"}, "f32"}, {{"60"}, "f32"}},
                      [=](C &c, Vs v) { return (c.*b.method)(v[0], v[1]); },
                      std::nullopt,
                      type});
    for (std::vector<std::string> shape :
         {std::vector<std::string>{"40"}, {"s0", "7"}}) {
      for (const Unary &u : unary)
        list.push_back({std::string(u.fn) + " of " + type,
                        {{shape, type}},
                        [=](C &c, Vs v) { return (c.*u.method)(v[0]); },
                        {{u.fn}}});
      for (const Binary &b : binary)
        list.push_back({std::string(b.fn) + " of " + type,
                        {{shape, type}, {shape, type}},
                        [=](C &c, Vs v) { return (c.*b.method)(v[0], v[1]); },
                        {{b.fn}}});
    }
    list.push_back({std::string("trunc_div of ") + type,
                    {{{"40"}, type}, {{"40"}, type}},
                    [](C &c, Vs v) { return c.truncDiv(v[0], v[1]); },
                    {{"div", "trunc"}}});
    for (double n : {0.25, 2.0, 5.0, -3.0})
      list.push_back({"pow " + std::to_string(n) + " of " + type,
                      {{{"40"}, type}},
                      [=](C &c, Vs v) { return c.powScalar(v[0], n); },
                      {{n == 2 ? "mul" : "pow"}}});
  }
  const Binary integer[] = {
      {"sub", &C::sub},           {"div", &C::truncDiv},
      {"mod", &C::fmod},          {"max", &C::maximum},
      {"min", &C::minimum},       {"less_equal", &C::lessEqual},
      {"equal", &C::equal},       {"floor_div", &C::floorDiv},
      {"floor_mod", &C::floorMod}};
  for (const char *type : {"i32", "i64"}) {
    for (const Binary &b : integer)
      list.push_back({std::string(b.fn) + " of " + type,
                      {{{"200"}, type}, {{"200"}, type}},
                      [=](C &c, Vs v) { return (c.*b.method)(v[0], v[1]); },
                      {{b.fn}}});
    list.push_back({std::string("abs of ") + type,
                    {{{"20"}, type}},
                    [](C &c, Vs v) { return c.abs(v[0]); },
                    {{"abs"}}});
    list.push_back({std::string("x + 0 of ") + type,
                    {{{"20"}, type}},
                    [](C &c, Vs v) { return c.add(v[0], c.splatInt(v[0], 0)); },
                    {{}}});
  }
  const Binary logic[] = {{"mul", &C::logicalAnd},
                          {"or", &C::logicalOr},
                          {"equal", &C::equal},
                          {"less_equal", &C::lessEqual}};
  for (const Binary &b : logic)
    list.push_back({std::string(b.fn) + " of i1",
                    {{{"20"}, "i1"}, {{"20"}, "i1"}},
                    [=](C &c, Vs v) { return (c.*b.method)(v[0], v[1]); },
                    {{b.fn}}});
  list.push_back({"not of i1",
                  {{{"20"}, "i1"}},
                  [](C &c, Vs v) { return c.logicalNot(v[0]); },
                  {{"not"}}});
  return list;
}

/// Spellings found in models, in the given type.
void modelSpellings(const char *type, bool isSpelled,
                    std::vector<RuleProgram> &list) {
  auto unary = [&](const char *name, Build build, std::optional<Names> left) {
    list.push_back(
        {name + std::string(isSpelled ? " spelled in " : " of ") + type,
         {{{"40"}, isSpelled ? builtIn(type) : type}},
         std::move(build),
         std::move(left),
         isSpelled ? type : ""});
  };
  auto half = [](C &c, Value x) { return c.mul(x, c.splat(x, 0.5)); };
  auto onePlus = [](C &c, Value x) { return c.add(x, c.splat(x, 1)); };
  auto erfOf = [=](C &c, Value x) {
    return onePlus(c, c.erf(c.mul(x, c.splat(x, std::sqrt(0.5)))));
  };
  auto erfOfQuotient = [=](C &c, Value x) {
    return onePlus(c, c.erf(c.div(x, c.splat(x, std::sqrt(2.0)))));
  };
  auto tanhOf = [=](C &c, Value x) {
    Value cube = c.mul(c.powScalar(x, 3), c.splat(x, 0.044715));
    Value inner = c.mul(c.add(x, cube), c.splat(x, std::sqrt(2 / M_PI)));
    return onePlus(c, c.tanh(inner));
  };
  unary(
      "silu by sigmoid",
      [](C &c, Vs v) { return c.mul(v[0], c.sigmoid(v[0])); }, Names{"silu"});
  unary(
      "gelu, half first",
      [=](C &c, Vs v) { return c.mul(half(c, v[0]), erfOf(c, v[0])); },
      Names{"gelu"});
  unary(
      "gelu, half last",
      [=](C &c, Vs v) { return half(c, c.mul(v[0], erfOf(c, v[0]))); },
      Names{"gelu"});
  unary(
      "gelu by division, half first",
      [=](C &c, Vs v) { return c.mul(half(c, v[0]), erfOfQuotient(c, v[0])); },
      Names{"gelu"});
  unary(
      "gelu by division, half last",
      [=](C &c, Vs v) { return half(c, c.mul(v[0], erfOfQuotient(c, v[0]))); },
      Names{"gelu"});
  // The composer computes the cube of a half in f32, and rounds it once.
  std::optional<Names> geluTanh = Names{"gelu_tanh"};
  if (!isSpelled && llvm::is_contained({"f16", "bf16"}, StringRef(type)))
    geluTanh.reset();
  unary(
      "gelu_tanh, half first",
      [=](C &c, Vs v) { return c.mul(half(c, v[0]), tanhOf(c, v[0])); },
      geluTanh);
  unary(
      "gelu_tanh, half last",
      [=](C &c, Vs v) { return half(c, c.mul(v[0], tanhOf(c, v[0]))); },
      geluTanh);
  unary(
      "clamp",
      [](C &c, Vs v) {
        Value low = c.splat(v[0], -1), high = c.splat(v[0], 2);
        Value x = c.select(c.less(v[0], low), low, v[0]);
        return c.select(c.less(high, x), high, x);
      },
      Names{"max", "min"});
  unary(
      "x * 1", [](C &c, Vs v) { return c.mul(v[0], c.splat(v[0], 1)); },
      Names{});
  unary(
      "x - 0", [](C &c, Vs v) { return c.sub(v[0], c.splat(v[0], 0)); },
      Names{});
  unary("-(-x)", [](C &c, Vs v) { return c.neg(c.neg(v[0])); }, Names{});
  unary(
      "a select of one thing",
      [](C &c, Vs v) {
        return c.select(c.less(v[0], c.splat(v[0], 1)), v[0], v[0]);
      },
      Names{});
}

/// Computed in other types than the operands.
std::vector<RuleProgram> conversions() {
  std::vector<RuleProgram> list;
  for (const char *n : {"f16", "bf16", "f32", "i32", "i1"})
    for (const char *w : {"f32", "f64", "i64"}) {
      bool isFloat = n[0] != 'i', isWide = w[0] == 'f';
      if (n == std::string(w) || (isFloat && !isWide) ||
          (n == std::string("i32") && w == std::string("f32")))
        continue;
      std::string name = n + std::string(" in ") + w;
      Operand x{{"40"}, n};
      auto wide = [&](const char *what, Value (*fn)(C &, Value, Value),
                      std::optional<std::vector<std::string>> left) {
        list.push_back({what + (" of " + name),
                        {x, x},
                        [=](C &c, Vs v) {
                          Value a = c.cast(v[0], typeOf(v, w));
                          Value b = c.cast(v[1], typeOf(v, w));
                          return c.cast(fn(c, a, b), typeOf(v, n));
                        },
                        std::move(left)});
      };
      wide("there and back", [](C &, Value a, Value) { return a; }, {{}});
      wide(
          "select and less",
          [](C &c, Value a, Value b) { return c.select(c.less(a, b), a, b); },
          std::nullopt);
      list.push_back({"less of " + name,
                      {x, x},
                      [=](C &c, Vs v) {
                        return c.less(c.cast(v[0], typeOf(v, w)),
                                      c.cast(v[1], typeOf(v, w)));
                      },
                      {{"less_than"}}});
      for (const char *t : kAny)
        if (t != std::string(w))
          list.push_back({name + " to " + t,
                          {x},
                          [=](C &c, Vs v) {
                            return c.cast(c.cast(v[0], typeOf(v, w)),
                                          typeOf(v, t));
                          },
                          std::nullopt});
      if (!isFloat)
        continue;
      wide("mod", [](C &c, Value a, Value b) { return c.fmod(a, b); },
           {{"mod"}});
      wide("max", [](C &c, Value a, Value b) { return c.maximum(a, b); },
           {{"max"}});
      wide("add", [](C &c, Value a, Value b) { return c.add(a, b); },
           {{"add"}});
      wide("sqrt", [](C &c, Value a, Value) { return c.sqrt(a); }, {{"sqrt"}});
      wide("neg", [](C &c, Value a, Value) { return c.neg(a); }, {{"neg"}});
      wide("abs", [](C &c, Value a, Value) { return c.abs(a); }, {{"abs"}});
      wide("pow", [](C &c, Value a, Value b) { return c.pow(a, b); },
           {{"pow"}});
    }
  for (auto [from, to] : kBits)
    list.push_back({std::string("bits of ") + from,
                    {{{"4", "6"}, from}},
                    [=](C &c, Vs v) { return c.bitcast(v[0], typeOf(v, to)); },
                    {{"bitcast"}}});
  for (const char *t : kAny)
    for (const char *from : {"f32", "i64"})
      if (t != std::string(from)) {
        list.push_back({std::string("to ") + t + " after a view",
                        {{{"4", "6"}, from}},
                        [=](C &c, Vs v) {
                          return c.cast(c.permute(v[0], {1, 0}), typeOf(v, t));
                        },
                        {{"cast"}}});
        list.push_back({std::string("from ") + t + " after a view",
                        {{{"4", "6"}, t}},
                        [=](C &c, Vs v) {
                          return c.cast(c.permute(v[0], {1, 0}),
                                        typeOf(v, from));
                        },
                        {{"cast"}}});
      }
  return list;
}

std::vector<RuleProgram> tensorFunctions() {
  std::vector<RuleProgram> list;
  std::pair<int64_t, int64_t> tame{-4, 4};
  for (const char *type : kFloats) {
    for (bool isSpelled : {false, true})
      modelSpellings(type, isSpelled, list);
    for (const char *rows : {"4", "s0"}) {
      Operand x{{rows, "9"}, type, tame};
      list.push_back({std::string("softmax of ") + type,
                      {x},
                      [](C &c, Vs v) { return c.softmax(v[0], 1); },
                      {{"softmax"}}});
      list.push_back({std::string("layer_norm of ") + type,
                      {x},
                      [](C &c, Vs v) { return c.layerNorm(v[0], 1e-5); },
                      {{"layer_norm"}}});
      list.push_back({std::string("rms_norm of ") + type,
                      {x},
                      [](C &c, Vs v) { return c.rmsNorm(v[0], 1e-6); },
                      {{"rms_norm"}}});
      list.push_back({std::string("linear of ") + type,
                      {x, {{"5", "9"}, type, tame}},
                      [](C &c, Vs v) { return c.linear(v[0], v[1]); },
                      {{"gemm"}}});
      list.push_back(
          {std::string("matmul of ") + type,
           {{{"2", rows, "9"}, type, tame}, {{"2", "9", "5"}, type, tame}},
           [](C &c, Vs v) { return c.matmul(v[0], v[1]); },
           {{"gemm"}}});
    }
  }
  // Products that a softmax weights, rounded to the type of the values.
  for (const char *type : {"f16", "bf16"})
    for (bool isSafe : {false, true})
      list.push_back(
          {std::string(isSafe ? "safely weighted " : "weighted ") + type,
           {{{"s0", "9"}, "f32", tame}, {{"9", "5"}, type, tame}},
           [=](C &c, Vs v) {
             Value weights = c.softmax(v[0], 1), zero = c.splat(v[0], 0);
             if (isSafe)
               weights = c.select(c.less(v[0], zero), zero, weights);
             Type narrow = getElementTypeOrSelf(v[1]);
             Value values = c.cast(v[1], getElementTypeOrSelf(v[0]));
             return c.cast(c.matmul(weights, values), narrow);
           }});
  // Products with other groupings, of small integers: sums of them are exact in
  // any order.
  const std::pair<int64_t, int64_t> few{-3, 3};
  for (const char *type : {"f32", "f64"}) {
    auto tensor = [&](std::vector<std::string> extents, bool isWeight = false) {
      return Operand{std::move(extents), type, few, isWeight,
                     /*isIntegral=*/true};
    };
    auto matrix = [&](const char *rows, const char *columns) {
      return tensor({rows, columns});
    };
    auto back = [](C &c, Value v) { return c.permute(v, {1, 0}); };
    auto add = [&](const char *name, std::vector<Operand> operands,
                   std::function<Value(C &, Vs)> build, size_t products) {
      list.push_back(
          {std::string(name) + " of " + type, std::move(operands),
           std::move(build),
           products ? std::optional(std::vector<std::string>(products, "gemm"))
                    : std::nullopt});
    };
    add(
        "(a b) c", {matrix("s0", "2"), matrix("2", "9"), matrix("9", "3")},
        [](C &c, Vs v) { return c.matmul(c.matmul(v[0], v[1]), v[2]); }, 2);
    add(
        "c (a b)", {matrix("3", "9"), matrix("9", "2"), matrix("2", "s0")},
        [](C &c, Vs v) { return c.matmul(v[0], c.matmul(v[1], v[2])); }, 2);
    add(
        "(a b)^T c", {matrix("9", "2"), matrix("2", "s0"), matrix("9", "3")},
        [=](C &c, Vs v) {
          return c.matmul(back(c, c.matmul(v[0], v[1])), v[2]);
        },
        2);
    add(
        "c (a b)^T", {matrix("s0", "2"), matrix("2", "9"), matrix("3", "9")},
        [=](C &c, Vs v) {
          return c.matmul(v[2], back(c, c.matmul(v[0], v[1])));
        },
        2);
    add(
        "(a b) c in batches",
        {tensor({"2", "s0", "2"}), tensor({"2", "2", "9"}),
         tensor({"2", "9", "3"})},
        [](C &c, Vs v) { return c.matmul(c.matmul(v[0], v[1]), v[2]); }, 2);
    add(
        "x w + (x a) b",
        {matrix("40", "8"), matrix("6", "8"), matrix("2", "8"),
         matrix("6", "2")},
        [](C &c, Vs v) {
          return c.add(c.linear(v[0], v[1]),
                       c.linear(c.linear(v[0], v[2]), v[3]));
        },
        0);
    add(
        "w x + v x", {matrix("6", "8"), matrix("6", "8"), matrix("8", "40")},
        [](C &c, Vs v) {
          return c.add(c.matmul(v[0], v[2]), c.matmul(v[1], v[2]));
        },
        0);
    for (bool isRight : {true, false})
      add(
          isRight ? "x w / 2" : "w x / 2",
          {matrix("40", "8"), tensor({"8", "6"}, isRight),
           tensor({"3", "40"}, !isRight)},
          [=](C &c, Vs v) {
            Value r = isRight ? c.matmul(v[0], v[1]) : c.matmul(v[2], v[0]);
            return c.mul(r, c.splat(r, 0.5));
          },
          0);
  }
  // Means that keep the dim, as models write them; the row length is a symbol.
  auto variance = [](C &c, Value x, unsigned axis) {
    return c.mean(c.mul(x, x), {axis}, true);
  };
  auto normalise = [=](C &c, Value x, double eps) {
    unsigned last = hlir::getExtents(x).size() - 1;
    Value v = variance(c, x, last);
    Value scale = c.rsqrt(c.add(v, c.splat(v, eps)));
    SmallVector<Expr> extents = hlir::getExtents(x);
    return c.mul(x, c.broadcastTo(scale, extents));
  };
  for (std::vector<std::string> shape :
       {std::vector<std::string>{"2", "3", "8"},
        {"2", "s0"},
        {"2", "1"},
        {"s0", "3 * s0"}})
    for (const char *type : kFloats) {
      Operand x{shape, builtIn(type), tame};
      // An extent that a half is cast from may be rounded.
      auto left = [&](const char *what) {
        std::optional<std::vector<std::string>> names;
        StringRef t = type;
        if (shape.back() == "1")
          return names;
        if (shape.back() == "8" || t == "f32" || t == "f64")
          names = {what};
        return names;
      };
      list.push_back({"rms_norm that keeps dims",
                      {x},
                      [=](C &c, Vs v) { return normalise(c, v[0], 1e-6); },
                      left("rms_norm"),
                      type});
      list.push_back({"layer_norm that keeps dims",
                      {x},
                      [=](C &c, Vs v) {
                        SmallVector<Expr> extents = hlir::getExtents(v[0]);
                        unsigned last = extents.size() - 1;
                        Value mean = c.mean(v[0], {last}, true);
                        return normalise(
                            c, c.sub(v[0], c.broadcastTo(mean, extents)), 1e-5);
                      },
                      left("layer_norm"),
                      type});
      list.push_back(
          {"softmax that keeps dims",
           {x},
           [=](C &c, Vs v) {
             SmallVector<Expr> extents = hlir::getExtents(v[0]);
             unsigned last = extents.size() - 1;
             Value top = c.reduceMax(v[0], {last}, true);
             Value e = c.exp(c.sub(v[0], c.broadcastTo(top, extents)));
             return c.div(e,
                          c.broadcastTo(c.reduceSum(e, {last}, true), extents));
           },
           {{"softmax"}},
           type});
    }
  return list;
}

/// Programs of every type over shapes of every kind.
void structureOf(const char *type, std::vector<std::string> shape,
                 std::vector<RuleProgram> &list) {
  StringRef t = type;
  bool isBool = t == "i1", isFloat = llvm::is_contained(kFloats, t);
  bool isNumber = llvm::is_contained(kNumbers, t);
  std::string of = " of " + t.str() + " [" + shape[0] + "][" + shape[1] + "]";
  Operand x{shape, type}, vector{{shape[0]}, type}, scalar{{}, type};
  Operand condition{shape, "i1"};
  auto add = [&](const char *name, std::vector<Operand> operands, Build build) {
    list.push_back({name + of, std::move(operands), std::move(build)});
  };
  auto addSpelled = [&](const char *name, Build build) {
    list.push_back({name + of,
                    {{shape, isFloat ? "f32" : type}},
                    std::move(build),
                    std::nullopt,
                    isFloat ? type : ""});
  };

  add("views of views", {x}, [](C &c, Vs v) {
    return c.permute(c.unsqueeze(c.permute(v[0], {1, 0}), 1), {1, 2, 0});
  });
  add("a permutation and its inverse", {x},
      [](C &c, Vs v) { return c.permute(c.permute(v[0], {1, 0}), {1, 0}); });
  add("select of one thing", {condition, x},
      [](C &c, Vs v) { return c.select(v[0], v[1], v[1]); });
  add("select", {condition, x, x},
      [](C &c, Vs v) { return c.select(v[0], v[1], v[2]); });
  add("a constant", {condition}, [=](C &c, Vs v) {
    auto scalarType = RankedTensorType::get({}, typeOf(v, type));
    OpBuilder &b = c.getBuilder();
    Value one = hlir::ConstantOp::create(
        b, c.getLoc(), scalarType,
        DenseElementsAttr::get(scalarType,
                               b.getZeroAttr(scalarType.getElementType())));
    return c.full(hlir::getExtents(v[0]), one);
  });
  if (!isNumber && !isBool)
    return;
  auto broadcast = [](C &c, Value x, Value like) {
    return c.view(x, hlir::getExtents(like), {Expr::dim(0)});
  };
  auto both = [=](C &c, Value a, Value b) {
    return isBool ? c.logicalAnd(a, b) : c.add(a, b);
  };
  add("repeated operands", {vector, vector, condition}, [=](C &c, Vs v) {
    return both(c, broadcast(c, v[0], v[2]), broadcast(c, v[1], v[2]));
  });
  add("repeated operand and scalar", {vector, scalar, condition},
      [=](C &c, Vs v) {
        Value a = broadcast(c, v[0], v[2]);
        Value s = c.full(hlir::getExtents(v[2]), v[1]);
        return isBool ? c.less(a, s) : c.fmod(a, s);
      });
  add("scalar and repeated operand", {vector, scalar, condition},
      [=](C &c, Vs v) {
        Value a = broadcast(c, v[0], v[2]);
        Value s = c.full(hlir::getExtents(v[2]), v[1]);
        return isBool ? c.less(s, a) : c.fmod(s, a);
      });
  addSpelled("x * 1",
             [=](C &c, Vs v) { return c.mul(v[0], c.splatInt(v[0], 1)); });
  addSpelled("constants fold", [=](C &c, Vs v) {
    Value k = c.splatInt(v[0], isBool ? 0 : 3);
    if (isFloat)
      k = c.recip(k);
    Value square = c.mul(k, k);
    return both(c, v[0], isBool ? square : c.add(square, k));
  });
  for (const char *from : {"f64", "i64"})
    if (t != from)
      add("a constant cast", {x}, [=](C &c, Vs v) {
        Value k = c.splatInt(v[0], 2, typeOf(v, from));
        return both(c, v[0], c.cast(k, typeOf(v, type)));
      });
  add("maximum of rows", {x},
      [](C &c, Vs v) { return c.reduceMax(v[0], {1}, false); });
  if (!isNumber)
    return;
  addSpelled("-(-x)", [](C &c, Vs v) { return c.neg(c.neg(v[0])); });
  addSpelled("x - 0", [=](C &c, Vs v) {
    return isFloat ? c.sub(v[0], c.splat(v[0], 0))
                   : c.add(v[0], c.splatInt(v[0], 0));
  });
  addSpelled("x + x * x",
             [](C &c, Vs v) { return c.add(c.mul(v[0], v[0]), v[0]); });
  std::pair<int64_t, int64_t> tame{-4, 4};
  Operand a{shape, isFloat ? "f32" : type, tame};
  Operand b{{"5", shape[1]}, isFloat ? "f32" : type, tame};
  std::string spelled = isFloat ? type : "";
  auto sum = [](C &c, Value x) {
    unsigned last = hlir::getExtents(x).size() - 1;
    return c.reduceSum(x, {last}, false);
  };
  list.push_back({"sum of rows" + of,
                  {a},
                  [=](C &c, Vs v) { return sum(c, v[0]); },
                  std::nullopt,
                  spelled});
  auto product = [](C &c, Value a, Value b, bool isWhole) {
    SmallVector<Expr> m = hlir::getExtents(a), n = hlir::getExtents(b);
    if (isWhole)
      return c.mul(a, c.view(b, m, {Expr(0), Expr::dim(1)}));
    SmallVector<Expr> extents{m[0], n[0], m[1]};
    return c.mul(c.view(a, extents, {Expr::dim(0), Expr::dim(2)}),
                 c.view(b, extents, {Expr::dim(1), Expr::dim(2)}));
  };
  for (bool isWhole : {false, true})
    list.push_back(
        {(isWhole ? "product by a whole operand" : "product") + of,
         {a, b},
         [=](C &c, Vs v) { return sum(c, product(c, v[0], v[1], isWhole)); },
         std::nullopt,
         spelled});
}

/// Softmax along each axis, without a transpose.
void softmaxAlong(const char *type, std::vector<std::string> shape,
                  std::vector<RuleProgram> &list) {
  for (unsigned axis = 0; axis != shape.size(); ++axis)
    list.push_back(
        {"softmax along axis " + std::to_string(axis) + " spelled in " + type,
         {{shape, builtIn(type), {{-4, 4}}}},
         [=](C &c, Vs v) {
           SmallVector<Expr> extents = hlir::getExtents(v[0]);
           Value top = c.reduceMax(v[0], {axis}, true);
           Value e = c.exp(c.sub(v[0], c.broadcastTo(top, extents)));
           Value sum = c.reduceSum(e, {axis}, true);
           return c.div(e, c.broadcastTo(sum, extents));
         },
         {{"softmax"}},
         type});
}

std::vector<RuleProgram> structure() {
  std::vector<RuleProgram> list;
  for (const char *type : kFloats) {
    softmaxAlong(type, {"2", "3", "5"}, list);
    softmaxAlong(type, {"s0", "4"}, list);
  }
  softmaxAlong("f32", {"1", "3", "s0"}, list);
  softmaxAlong("f32", {"3", "1", "2", "5"}, list);
  using Shape = std::vector<std::string>;
  for (const char *type : kAny)
    for (const Shape &shape : {Shape{"4", "6"}, Shape{"s0", "1"}})
      structureOf(type, shape, list);
  for (const char *type : {"f32", "i64"})
    for (const Shape &shape :
         {Shape{"1", "6"}, Shape{"4", "1"}, Shape{"0", "6"}, Shape{"4", "0"},
          Shape{"4", "s0"}, Shape{"s0", "s0 + 1"}})
      structureOf(type, shape, list);

  std::pair<int64_t, int64_t> tame{-4, 4};
  Operand x{{"4", "6"}, "f32", tame};
  list.push_back({"views of views",
                  {x},
                  [](C &c, Vs v) {
                    Value t = c.permute(v[0], {1, 0});
                    return c.permute(c.reshape(t, {Expr(6), Expr(2), Expr(2)}),
                                     {1, 2, 0});
                  },
                  {{}}});
  list.push_back(
      {"a permutation and its inverse",
       {x},
       [](C &c, Vs v) { return c.permute(c.permute(v[0], {1, 0}), {1, 0}); },
       {{}}});
  list.push_back({"a view of an index",
                  {},
                  [](C &c, Vs) {
                    Value i = c.iota({Expr(4), Expr(6)},
                                     Expr::dim(0) * Expr(6) + Expr::dim(1));
                    return c.permute(i, {1, 0});
                  },
                  {{"iota"}}});
  list.push_back(
      {"a view of an index of i32",
       {},
       [](C &c, Vs) {
         OpBuilder &b = c.getBuilder();
         auto map = hlir::MapAttr::get(b.getContext(), 2,
                                       {Expr::dim(0) * Expr(6) + Expr::dim(1)});
         Value i = hlir::IotaOp::create(
             b, c.getLoc(),
             hlir::getTensorType({Expr(4), Expr(6)}, b.getI32Type()), map);
         return c.permute(i, {1, 0});
       },
       {{"iota"}}});
  Operand y{{"4", "6"}, "f32", {{1, 4}}};
  list.push_back({"arithmetic after views",
                  {y, y},
                  [](C &c, Vs v) {
                    Value a = c.permute(v[0], {1, 0});
                    Value b = c.permute(v[1], {1, 0});
                    Value sum = c.add(c.mul(a, b), c.splat(a, 3));
                    return c.fmod(c.splat(a, 2), c.add(sum, b));
                  },
                  {{"mul", "add", "add", "mod"}}});
  for (Value (C::*method)(Value) :
       {&C::log2, &C::exp2, &C::sin, &C::sqrt, &C::recip, &C::tanh})
    list.push_back(
        {"a function after a view",
         {y},
         [=](C &c, Vs v) { return (c.*method)(c.permute(v[0], {1, 0})); },
         std::nullopt});
  list.push_back({"a cast after a view",
                  {y},
                  [=](C &c, Vs v) {
                    Type f64 = Float64Type::get(v[0].getContext());
                    return c.cast(c.permute(v[0], {1, 0}), f64);
                  },
                  {{"cast"}}});
  list.push_back(
      {"a view that drops elements stays before the function",
       {y},
       [=](C &c, Vs v) { return c.sin(c.slice(v[0], 1, Expr(2), Expr(3))); },
       {{"sin"}}});
  list.push_back({"a product by one whole operand",
                  {{{"50", "8"}, "f32", tame}, {{"8"}, "f32", tame}},
                  [](C &c, Vs v) {
                    SmallVector<Expr> extents = hlir::getExtents(v[0]);
                    return c.reduceSum(
                        c.mul(v[0], c.broadcastTo(v[1], extents)), {1}, false);
                  },
                  {{"gemm"}}});
  list.push_back(
      {"a sum of squares is no gemm",
       {x},
       [](C &c, Vs v) { return c.reduceSum(c.mul(v[0], v[0]), {1}, false); },
       {{"mul", "reduce"}}});
  list.push_back(
      {"an attention of grouped queries",
       {{{"2", "4", "3", "8"}, "f32", tame},
        {{"2", "2", "5", "8"}, "f32", tame}},
       [](C &c, Vs v) {
         // Two queries a key head: the keys are repeated, then transposed.
         Value k =
             c.view(v[1], {Expr(2), Expr(2), Expr(2), Expr(5), Expr(8)},
                    {Expr::dim(0), Expr::dim(1), Expr::dim(3), Expr::dim(4)});
         k = c.reshape(k, {Expr(2), Expr(4), Expr(5), Expr(8)});
         return c.matmul(v[0], c.permute(k, {0, 1, 3, 2}));
       },
       {{"gemm"}}});
  list.push_back({"maximum along an inner axis",
                  {x},
                  [](C &c, Vs v) { return c.reduceMax(v[0], {0}, true); },
                  {{"reduce"}}});
  list.push_back({"minimum of integers",
                  {{{"4", "6"}, "i64"}},
                  [](C &c, Vs v) { return c.reduceMin(v[0], {1}, false); },
                  std::nullopt});
  for (const char *type : kAny) {
    Operand data{{"10", "3"}, type}, updates{{"4", "3"}, type};
    Operand indices{{"4"}, StringRef(type) == "i32" ? "i32" : "i64", {{0, 9}}};
    list.push_back({"rows by index",
                    {data, indices},
                    [](C &c, Vs v) { return c.gather(v[0], v[1]); },
                    {{"gather"}}});
    list.push_back({"rows by known index",
                    {data},
                    [](C &c, Vs v) {
                      return c.gather(
                          v[0], c.iota({Expr::symbol("s0")}, Expr::dim(0) + 2));
                    },
                    {{"iota", "gather"}}});
    if (!llvm::is_contained(kComputed, StringRef(type)))
      continue;
    for (hlir::Combine combine :
         {hlir::Combine::Set, hlir::Combine::Add, hlir::Combine::Max}) {
      if (combine == hlir::Combine::Add && StringRef(type) == "i1")
        continue;
      list.push_back(
          {"rows updated by index",
           {data, indices, updates},
           [=](C &c, Vs v) { return c.scatter(combine, v[0], v[1], v[2]); },
           {{"scatter"}}});
    }
    list.push_back({"rows updated by known index",
                    {data, updates},
                    [](C &c, Vs v) {
                      return c.scatter(
                          hlir::Combine::Set, v[0],
                          c.iota({Expr(4)}, Expr::dim(0) * Expr(2)), v[1]);
                    },
                    {{"iota", "scatter"}}});
  }
  return list;
}

} // namespace

std::vector<RuleProgram> luminal::test::allRulePrograms() {
  std::vector<RuleProgram> list = scalarFunctions();
  for (auto more : {conversions, tensorFunctions, structure, orderPrograms,
                    scanPrograms, updatePrograms, anglePrograms})
    llvm::append_range(list, more());
  return list;
}
