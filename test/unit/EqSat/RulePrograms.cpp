//===- RulePrograms.cpp - Programs that make every rule fire --------------===//

#include "RulePrograms.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

namespace {

using C = hlir::Composer;
using Vs = ArrayRef<Value>;

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
  for (const char *type : {"f16", "bf16", "f32", "f64"}) {
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

/// As models spell them, in the type at hand.
std::vector<RuleProgram> modelSpellings() {
  std::vector<RuleProgram> list;
  auto unary = [&](const char *name, Build build,
                   std::vector<std::string> left) {
    list.push_back(
        {name, {{{"40"}, "f32"}}, std::move(build), std::move(left)});
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
  unary("silu of f32 by sigmoid",
        [](C &c, Vs v) { return c.mul(v[0], c.sigmoid(v[0])); }, {"silu"});
  unary("gelu of f32, half first",
        [=](C &c, Vs v) { return c.mul(half(c, v[0]), erfOf(c, v[0])); },
        {"gelu"});
  unary("gelu of f32, half last",
        [=](C &c, Vs v) { return half(c, c.mul(v[0], erfOf(c, v[0]))); },
        {"gelu"});
  unary(
      "gelu of f32 by division, half first",
      [=](C &c, Vs v) { return c.mul(half(c, v[0]), erfOfQuotient(c, v[0])); },
      {"gelu"});
  unary(
      "gelu of f32 by division, half last",
      [=](C &c, Vs v) { return half(c, c.mul(v[0], erfOfQuotient(c, v[0]))); },
      {"gelu"});
  unary("gelu_tanh of f32, half first",
        [=](C &c, Vs v) { return c.mul(half(c, v[0]), tanhOf(c, v[0])); },
        {"gelu_tanh"});
  unary("gelu_tanh of f32, half last",
        [=](C &c, Vs v) { return half(c, c.mul(v[0], tanhOf(c, v[0]))); },
        {"gelu_tanh"});
  unary("clamp of f32",
        [](C &c, Vs v) {
          Value low = c.splat(v[0], -1), high = c.splat(v[0], 2);
          Value x = c.select(c.less(v[0], low), low, v[0]);
          return c.select(c.less(high, x), high, x);
        },
        {"max", "min"});
  unary("x * 1 of f32",
        [](C &c, Vs v) { return c.mul(v[0], c.splat(v[0], 1)); }, {});
  unary("x - 0 of f32",
        [](C &c, Vs v) { return c.sub(v[0], c.splat(v[0], 0)); }, {});
  unary("-(-x) of f32", [](C &c, Vs v) { return c.neg(c.neg(v[0])); }, {});
  unary("a select of one thing",
        [](C &c, Vs v) {
          return c.select(c.less(v[0], c.splat(v[0], 1)), v[0], v[0]);
        },
        {});
  unary("casts there and back",
        [](C &c, Vs v) {
          MLIRContext *ctx = v[0].getContext();
          Value wide = c.cast(v[0], Float64Type::get(ctx));
          return c.cast(wide, Float32Type::get(ctx));
        },
        {});
  unary("constants fold",
        [](C &c, Vs v) {
          Type f64 = Float64Type::get(v[0].getContext()),
               f32 = Float32Type::get(v[0].getContext());
          Value k = c.recip(c.splat(v[0], 3, f64));
          k = c.add(c.mul(k, k), k);
          return c.add(v[0], c.cast(k, f32));
        },
        {"add"});
  list.push_back({"casts of casts",
                  {{{"40"}, "f16"}},
                  [](C &c, Vs v) {
                    MLIRContext *ctx = v[0].getContext();
                    return c.cast(c.cast(v[0], Float32Type::get(ctx)),
                                  Float64Type::get(ctx));
                  },
                  {{"cast"}}});
  auto wide = [&](const char *name, Value (*fn)(C &, Value, Value),
                  const char *left) {
    list.push_back({name,
                    {{{"40"}, "f32"}, {{"40"}, "f32"}},
                    [=](C &c, Vs v) {
                      MLIRContext *ctx = v[0].getContext();
                      Type f64 = Float64Type::get(ctx);
                      Value y = fn(c, c.cast(v[0], f64), c.cast(v[1], f64));
                      return c.cast(y, Float32Type::get(ctx));
                    },
                    {{left}}});
  };
  wide(
      "a wide maximum", [](C &c, Value a, Value b) { return c.maximum(a, b); },
      "max");
  wide("a wide sum", [](C &c, Value a, Value b) { return c.add(a, b); }, "add");
  wide("a wide root", [](C &c, Value a, Value) { return c.sqrt(a); }, "sqrt");
  wide(
      "a wide magnitude", [](C &c, Value a, Value) { return c.abs(a); }, "abs");
  list.push_back({"a wide comparison and select",
                  {{{"40"}, "f32"}, {{"40"}, "f32"}},
                  [](C &c, Vs v) {
                    MLIRContext *ctx = v[0].getContext();
                    Type f64 = Float64Type::get(ctx),
                         f32 = Float32Type::get(ctx);
                    Value a = c.cast(v[0], f64), b = c.cast(v[1], f64);
                    return c.cast(c.select(c.less(a, b), a, b), f32);
                  },
                  {{"less_than", "select"}}});
  return list;
}

std::vector<RuleProgram> tensorFunctions() {
  std::vector<RuleProgram> list;
  std::pair<int64_t, int64_t> tame{-4, 4};
  for (const char *type : {"f16", "bf16", "f32", "f64"}) {
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
        {"s0", "3 * s0"}}) {
    Operand x{shape, "f32", tame};
    list.push_back({"rms_norm that keeps dims",
                    {x},
                    [=](C &c, Vs v) { return normalise(c, v[0], 1e-6); },
                    {{"rms_norm"}}});
    list.push_back({"layer_norm that keeps dims",
                    {x},
                    [=](C &c, Vs v) {
                      SmallVector<Expr> extents = hlir::getExtents(v[0]);
                      unsigned last = extents.size() - 1;
                      Value mean = c.mean(v[0], {last}, true);
                      return normalise(
                          c, c.sub(v[0], c.broadcastTo(mean, extents)), 1e-5);
                    },
                    {{"layer_norm"}}});
    list.push_back({"softmax that keeps dims",
                    {x},
                    [=](C &c, Vs v) {
                      SmallVector<Expr> extents = hlir::getExtents(v[0]);
                      unsigned last = extents.size() - 1;
                      Value top = c.reduceMax(v[0], {last}, true);
                      Value e = c.exp(c.sub(v[0], c.broadcastTo(top, extents)));
                      return c.div(
                          e,
                          c.broadcastTo(c.reduceSum(e, {last}, true), extents));
                    },
                    {{"softmax"}}});
  }
  return list;
}

std::vector<RuleProgram> structure() {
  std::vector<RuleProgram> list;
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
  for (const char *type : {"f32", "i64"}) {
    Operand data{{"10", "3"}, type, tame}, updates{{"4", "3"}, type, tame};
    Operand indices{{"4"}, "i64", {{0, 9}}};
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
    for (hlir::Combine combine :
         {hlir::Combine::Set, hlir::Combine::Add, hlir::Combine::Max})
      list.push_back(
          {"rows updated by index",
           {data, indices, updates},
           [=](C &c, Vs v) { return c.scatter(combine, v[0], v[1], v[2]); },
           {{"scatter"}}});
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
  for (auto more : {modelSpellings, tensorFunctions, structure})
    llvm::append_range(list, more());
  return list;
}
