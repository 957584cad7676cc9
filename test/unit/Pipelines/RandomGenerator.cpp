//===- RandomGenerator.cpp - Random ops over random shapes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomGenerator.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace luminal;
using namespace luminal::test;
using llir::Fn;

static std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

const ProgramScale &ProgramScale::small() {
  static const ProgramScale scale = {
      {2, 3, 4, 5, 6, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64},
      4,
      20,
      12000,
      150000};
  return scale;
}

const ProgramScale &ProgramScale::large() {
  static const ProgramScale scale = {{2,  3,  4,   5,   8,   12,  16,  17,
                                      24, 31, 32,  33,  40,  48,  64,  65,
                                      80, 96, 100, 128, 130, 160, 192, 256},
                                     4,
                                     150,
                                     120000,
                                     3000000};
  return scale;
}

void Generator::chooseExtents() {
  if (chance(50)) {
    for (const char *name : {"m", "n"})
      program.symbols[name] = {pick(0, 3),
                               pick(scale.symbolLeast, scale.symbolMost)};
    if (chance(20))
      program.symbols["n"].hi.reset();
    for (const char *name : {"m", "n"}) {
      extents.push_back(Expr::symbol(name));
      if (chance(30))
        extents.push_back(Expr::symbol(name) * Expr(pick(2, 3)));
      if (chance(20))
        extents.push_back(Expr::symbol(name) + Expr(pick(1, 3)));
    }
  }
  for (int64_t i = 0, n = pick(2, 4); i < n; ++i)
    extents.push_back(Expr(choose(scale.extents)));
  if (chance(30))
    extents.push_back(Expr(1));
  if (chance(12))
    extents.push_back(Expr(0));
}

static std::optional<int64_t>
valueAt(const Expr &e, const std::map<std::string, SymbolRange> &symbols,
        bool isMost) {
  return e.evaluate([&](std::string_view name) -> std::optional<int64_t> {
    const SymbolRange &range = symbols.at(std::string(name));
    return isMost ? range.hi.value_or(24) : range.lo;
  });
}

// Extents grow with every symbol.
int64_t Generator::mostOf(const Expr &e) const {
  return valueAt(e, program.symbols, true).value_or(0);
}
int64_t Generator::leastOf(const Expr &e) const {
  return valueAt(e, program.symbols, false).value_or(0);
}

int64_t Generator::mostElements(const Shape &shape) const {
  int64_t count = 1;
  for (const Expr &e : shape)
    count *= mostOf(e);
  return count;
}

Shape Generator::shapeOfRank(int64_t least, int64_t most) {
  Shape shape;
  for (int64_t i = 0, n = pick(least, most); i < n; ++i) {
    shape.push_back(extent());
    if (mostElements(shape) > scale.elements)
      shape.pop_back();
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

unsigned Generator::add(Node node) {
  program.nodes.push_back(std::move(node));
  return static_cast<unsigned>(program.nodes.size() - 1);
}

static bool exactOperands(const std::deque<Node> &nodes, const Node &node) {
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](unsigned n) { return nodes[n].isExact; });
}

static std::string name(unsigned n) { return "%v" + std::to_string(n); }

unsigned Generator::argument(const Shape &shape, DType dtype, int64_t limit) {
  Node node(shape, dtype);
  node.isArgument = true;
  node.limit = limit;
  if (!isFloat(dtype))
    node.most = limit ? static_cast<double>(limit) : 8;
  return add(std::move(node));
}

unsigned Generator::apply(Fn fn, std::vector<unsigned> operands, DType result) {
  Node node(at(operands[0]).shape, result);
  node.operands = operands;
  DType from = at(operands.back()).dtype;
  node.isExact = exactOperands(program.nodes, node) &&
                 (!isFloat(from) || BoundWriter::isExact(fn, from));
  std::vector<std::string> names, types;
  for (unsigned n : operands) {
    names.push_back(name(n));
    types.push_back(getType(at(n)));
  }
  node.text = "llir.elementwise " + llir::stringifyFn(fn).str() + "(" +
              joined(names) + ") : (" + joined(types) + ") -> " + getType(node);
  double a = at(operands[0]).most, b = at(operands.back()).most;
  double x = at(operands[0]).least, y = at(operands.back()).least;
  switch (fn) {
  case Fn::Exp:
  case Fn::ExpApprox:
  case Fn::ExpFast:
    node.most = std::exp(a), node.least = std::exp(-a);
    break;
  case Fn::Exp2:
  case Fn::Exp2Fast:
    node.most = std::exp2(a), node.least = std::exp2(-a);
    break;
  case Fn::Expm1:
    node.most = std::exp(a);
    break;
  case Fn::Sin:
  case Fn::Cos:
  case Fn::Tanh:
  case Fn::Erf:
  case Fn::Sigmoid:
    node.most = 1;
    break;
  case Fn::Atan:
    node.most = 2;
    break;
  case Fn::Log:
  case Fn::Log2:
    node.most = 1.5 * std::max(std::abs(std::log(a)), std::abs(std::log(x)));
    break;
  case Fn::Sqrt:
    node.most = std::max(a, 1.0), node.least = std::sqrt(x);
    break;
  case Fn::Rsqrt:
    node.most = 1 / std::sqrt(x), node.least = 0.5 / std::sqrt(a);
    break;
  case Fn::Recip:
    node.most = 1 / x, node.least = 0.5 / a;
    break;
  case Fn::Abs:
    node.most = a;
    break;
  case Fn::Add:
    node.most = a + b, node.least = x > 0 && y > 0 ? x + y : 0;
    break;
  case Fn::Sub:
    node.most = a + b;
    break;
  case Fn::Mul:
    node.most = a * b, node.least = x * y;
    break;
  case Fn::Div:
    node.most = isFloat(from) ? a / y : a;
    break;
  case Fn::FloorDiv:
    node.most = isFloat(from) ? a / std::max(y, 1e-2) + 1 : a + 1;
    break;
  case Fn::Max:
    node.most = std::max(a, b), node.least = std::max(x, y);
    break;
  case Fn::Min:
    node.most = std::max(a, b), node.least = std::min(x, y);
    break;
  case Fn::Select:
    a = at(operands[1]).most;
    node.most = std::max(a, b);
    node.least = std::min(at(operands[1]).least, y);
    break;
  case Fn::LessThan:
  case Fn::LessEqual:
  case Fn::Equal:
    node.most = 1;
    break;
  case Fn::Cast:
    node.most = a + 1, node.least = isFloat(result) ? x * 0.99 : 0;
    break;
  case Fn::Pow:
    node.most = std::pow(std::max(a, 1 / x), b);
    break;
  case Fn::BitAnd:
  case Fn::BitOr:
  case Fn::BitXor:
    node.most = 2 * std::max(a, b) + 1;
    break;
  case Fn::ShiftRight:
    node.most = a + 1;
    break;
  default:
    node.most = std::max(a, b) + 1;
    break;
  }
  if (!node.isExact) {
    program.nodes.push_back(node);
    BoundWriter writer(program.nodes,
                       static_cast<unsigned>(program.nodes.size() - 1));
    writer.elementwise(fn, from);
    program.nodes.back().bound = writer.take();
    return static_cast<unsigned>(program.nodes.size() - 1);
  }
  return add(std::move(node));
}

/// `node` without its bound, which `write` adds if there is one.
static unsigned addBounded(RandomProgram &program, Node node,
                           const std::function<void(BoundWriter &)> &write) {
  program.nodes.push_back(std::move(node));
  unsigned n = static_cast<unsigned>(program.nodes.size() - 1);
  if (program.nodes[n].isExact)
    return n;
  BoundWriter writer(program.nodes, n);
  write(writer);
  program.nodes[n].bound = writer.take();
  return n;
}

unsigned Generator::view(unsigned n, const Shape &shape, const Shape &map) {
  Node node = at(n);
  node.isArgument = false;
  node.shape = shape;
  node.operands = {n};
  node.bound.clear();
  std::string text = mapText(shape.size(), map);
  node.text = "llir.view " + name(n) + " " + text + " : " + getType(at(n)) +
              " -> " + getType(node);
  return addBounded(program, std::move(node),
                    [&](BoundWriter &w) { w.moved(text); });
}

unsigned Generator::splat(double value, const Shape &shape, DType dtype) {
  Node node({}, dtype);
  node.most = std::abs(value), node.least = std::max(value, 0.0);
  std::string text = isFloat(dtype)
                         ? std::to_string(value)
                         : std::to_string(static_cast<int64_t>(value));
  if (dtype == DType::I1)
    text = value != 0 ? "true" : "false";
  node.text = "llir.constant dense<" + text + "> : " + getType(node);
  unsigned scalar = add(std::move(node));
  return shape.empty() ? scalar : view(scalar, shape, {});
}

unsigned Generator::iota(const Shape &shape, DType dtype) {
  Node node(shape, dtype);
  Expr e = Expr(pick(0, 3));
  for (unsigned i = 0; i < shape.size(); ++i)
    if (chance(70))
      e = e + Expr::dim(i) * Expr(pick(-3, 3));
  int64_t limit = pick(2, 40);
  node.limit = limit;
  node.most = static_cast<double>(limit);
  node.text = "llir.iota " + mapText(shape.size(), {Expr::mod(e, limit)}) +
              " : " + getType(node);
  return add(std::move(node));
}

unsigned Generator::broadcast(unsigned n, const Shape &to) {
  // Each dim of the operand is read by the next dim of the same extent.
  const Shape &from = at(n).shape;
  Shape map;
  unsigned d = 0;
  for (const Expr &e : from) {
    while (d < to.size() && to[d] != e)
      ++d;
    if (d == to.size())
      return n;
    map.push_back(Expr::dim(d++));
  }
  return view(n, to, map);
}

unsigned Generator::spread(unsigned row, const Shape &shape) {
  Shape map;
  for (unsigned i = 0; i + 1 < shape.size(); ++i)
    map.push_back(Expr::dim(i));
  return view(row, shape, map);
}

unsigned Generator::cast(unsigned n, DType to) {
  return at(n).dtype == to ? n : apply(Fn::Cast, {n}, to);
}

unsigned Generator::tame(unsigned n, double most) {
  const Node &node = at(n);
  if (node.most <= most || !isFloat(node.dtype))
    return n;
  // Not a number where an infinite value was multiplied by 0.
  if (!(node.most <= 1e4) || chance(50)) {
    unsigned bounded = apply(Fn::Tanh, {n});
    if (most >= 1)
      return bounded;
    return apply(Fn::Mul, {bounded, splat(most, at(n).shape, at(n).dtype)});
  }
  // A power of two that every type holds.
  double scale = std::exp2(std::floor(std::log2(most / node.most)));
  return apply(Fn::Mul, {n, splat(scale, Shape(node.shape), node.dtype)});
}

unsigned Generator::positive(unsigned n) {
  if (at(n).least >= 0.05)
    return n;
  unsigned size = apply(Fn::Abs, {n});
  return apply(Fn::Add, {size, splat(0.5 * static_cast<double>(pick(1, 3)),
                                     at(n).shape, at(n).dtype)});
}

unsigned Generator::reduce(bool isMax, unsigned n) {
  Node node(at(n).shape, at(n).dtype);
  Expr terms = node.shape.back();
  node.shape.pop_back();
  node.operands = {n};
  node.isExact = at(n).isExact && (isMax || !isFloat(node.dtype));
  node.most =
      at(n).most *
      (isMax ? 1 : std::max<double>(1, static_cast<double>(mostOf(terms))));
  if (isMax && leastOf(terms) > 0)
    node.least = at(n).least;
  // The maximum of nothing is -inf, or the least integer.
  if (isMax && leastOf(terms) == 0)
    node.most = isFloat(node.dtype) ? INFINITY : 1e18;
  node.text = std::string("llir.reduce ") + (isMax ? "max " : "sum ") +
              name(n) + " : " + getType(at(n)) + " -> " + getType(node);
  return addBounded(program, std::move(node), [&](BoundWriter &w) {
    isMax ? w.reduceMax() : w.reduceSum();
  });
}

unsigned Generator::rowOp(unsigned n, unsigned which) {
  Node node(at(n).shape, at(n).dtype);
  node.operands = {n};
  node.isExact = false;
  node.most = which == 0 ? 1
                         : std::sqrt(static_cast<double>(std::max<int64_t>(
                               mostOf(node.shape.back()), 1)));
  static const char *const names[] = {"softmax", "layer_norm", "rms_norm"};
  double eps = chance(50) ? 1e-5 : 1e-2;
  node.text =
      std::string("llir.") + names[which] + " " + name(n) +
      (which ? " {eps = " + std::string(eps < 1e-3 ? "1.0e-5" : "1.0e-2") +
                   " : f64}"
             : "") +
      " : " + getType(node);
  return addBounded(program, std::move(node), [&](BoundWriter &w) {
    which == 0 ? w.softmax() : w.norm(which == 1, eps);
  });
}

unsigned Generator::gemm(unsigned lhs, unsigned rhs, const Expr &k,
                         const Shape &shape, const Shape &lhsMap,
                         const Shape &rhsMap) {
  Node node(shape, at(lhs).dtype);
  node.operands = {lhs, rhs};
  node.isExact = !isFloat(node.dtype);
  node.most = at(lhs).most * at(rhs).most *
              static_cast<double>(std::max<int64_t>(mostOf(k), 1));
  std::string left = mapText(shape.size() + 1, lhsMap),
              right = mapText(shape.size() + 1, rhsMap);
  node.text = "llir.gemm " + name(lhs) + ", " + name(rhs) + " k(" + k.str() +
              ") " + left + ", " + right + " : " + getType(at(lhs)) + ", " +
              getType(at(rhs)) + " -> " + getType(node);
  return addBounded(program, std::move(node),
                    [&](BoundWriter &w) { w.gemm(k, left, right); });
}

/// Integers inside [0, into) at all sizes where `shape` has elements.
unsigned Generator::indices(const Shape &shape, const Expr &into) {
  int64_t limit = std::max<int64_t>(leastOf(into), 1);
  DType dtype = chance(70) ? DType::I64 : DType::I32;
  if (chance(50))
    return argument(shape, dtype, limit);
  unsigned n = chance(50) ? iota(shape, dtype) : argument(shape, dtype, 50);
  unsigned result =
      apply(Fn::FloorMod, {n, splat(static_cast<double>(limit), shape, dtype)});
  program.nodes[result].limit = limit;
  return result;
}

unsigned Generator::gather(unsigned data, unsigned indices,
                           const Shape &shape) {
  Node node = at(data);
  node.isArgument = false;
  node.shape = shape;
  node.operands = {data, indices};
  node.bound.clear();
  node.text = "llir.gather " + name(data) + ", " + name(indices) +
              " {checked} : " + getType(at(data)) + ", " +
              getType(at(indices)) + " -> " + getType(node);
  return addBounded(program, std::move(node),
                    [&](BoundWriter &w) { w.gather(); });
}

unsigned Generator::scatter(const std::string &combine, unsigned dest,
                            unsigned indices, unsigned updates) {
  int64_t count = mostElements(at(indices).shape);
  Node node(at(dest).shape, at(dest).dtype);
  node.operands = {dest, indices, updates};
  // Many floats are added by sorted indices on a GPU, in parts.
  node.isExact = exactOperands(program.nodes, node) &&
                 (combine != "add" || !isFloat(node.dtype));
  node.most = std::max(at(dest).most, at(updates).most);
  if (combine == "add")
    node.most += at(updates).most * static_cast<double>(count);
  node.text = "llir.scatter " + combine + " " + name(dest) + ", " +
              name(indices) + ", " + name(updates) +
              " {checked} : " + getType(at(dest)) + ", " +
              getType(at(indices)) + ", " + getType(at(updates));
  return addBounded(program, std::move(node),
                    [&](BoundWriter &w) { w.scatter(combine, count); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A float value of the program, or a new argument.
unsigned Generator::anyFloat() {
  std::vector<unsigned> found;
  for (unsigned i = 0; i < program.nodes.size(); ++i)
    if (isFloat(at(i).dtype) && !at(i).shape.empty() && at(i).most < 1e6)
      found.push_back(i);
  // Later values are more likely.
  if (!found.empty() && !chance(20)) {
    int64_t last = static_cast<int64_t>(found.size()) - 1;
    return found[static_cast<size_t>(std::max(pick(0, last), pick(0, last)))];
  }
  return argument(shapeOfRank(1, 3), main);
}

/// A value of that type: one of the program where there is one, possibly
/// broadcast or cast.
unsigned Generator::valueOf(const Shape &shape, DType dtype) {
  std::vector<unsigned> same, smaller;
  for (unsigned i = 0; i < program.nodes.size(); ++i) {
    const Node &n = at(i);
    if (isFloat(n.dtype) != isFloat(dtype) || n.most > 1e4 ||
        (!isFloat(dtype) && n.dtype != dtype))
      continue;
    if (n.shape == shape)
      same.push_back(i);
    else if (n.shape.size() < shape.size())
      smaller.push_back(i);
  }
  if (!same.empty() && chance(55))
    return cast(choose(same), dtype);
  if (!smaller.empty() && chance(40)) {
    unsigned n = broadcast(choose(smaller), shape);
    if (at(n).shape == shape)
      return cast(n, dtype);
  }
  if (chance(25)) {
    // A row or a column, as biases and scales are.
    Shape part, map;
    for (unsigned i = 0; i < shape.size(); ++i)
      if (chance(50)) {
        part.push_back(shape[i]);
        map.push_back(Expr::dim(i));
      }
    return view(argument(part, dtype), shape, map);
  }
  if (isFloat(dtype) && chance(15))
    return splat(0.25 * static_cast<double>(pick(-8, 8)), shape, dtype);
  return argument(shape, dtype);
}

unsigned Generator::condition(const Shape &shape) {
  switch (pick(0, 3)) {
  case 0:
    return argument(shape, DType::I1);
  case 1: {
    unsigned i = iota(shape, DType::I64);
    return apply(
        Fn::LessThan,
        {i, splat(static_cast<double>(pick(1, 20)), shape, DType::I64)},
        DType::I1);
  }
  case 2:
    return apply(Fn::Equal,
                 {iota(shape, DType::I32), valueOf(shape, DType::I32)},
                 DType::I1);
  default: {
    unsigned a = argument(shape, main), b = argument(shape, main);
    return apply(chance(50) ? Fn::LessThan : Fn::LessEqual, {a, b}, DType::I1);
  }
  }
}

unsigned Generator::unary(unsigned n) {
  static const std::vector<Fn> smooth = {
      Fn::Neg, Fn::Abs,  Fn::Sin,  Fn::Cos,      Fn::Tanh,   Fn::Atan,
      Fn::Erf, Fn::Silu, Fn::Gelu, Fn::GeluTanh, Fn::Sigmoid};
  static const std::vector<Fn> growing = {Fn::Exp,  Fn::ExpFast,  Fn::ExpApprox,
                                          Fn::Exp2, Fn::Exp2Fast, Fn::Expm1};
  static const std::vector<Fn> ofPositive = {Fn::Log,  Fn::Log2,  Fn::Log1p,
                                             Fn::Sqrt, Fn::Rsqrt, Fn::Recip};
  static const std::vector<Fn> steps = {Fn::Floor, Fn::Ceil, Fn::Round,
                                        Fn::Trunc};
  if (at(n).isExact && chance(10))
    return apply(choose(steps), {n});
  switch (pick(0, 4)) {
  case 0:
    return apply(choose(growing), {tame(n, 4)});
  case 1:
    return apply(choose(ofPositive), {positive(tame(n, 100))});
  case 2: {
    static const std::vector<DType> types = {DType::F32, DType::F16,
                                             DType::BF16, DType::F64};
    return cast(tame(n, 1e4), choose(types));
  }
  default:
    return apply(choose(smooth), {tame(n, 1e3)});
  }
}

unsigned Generator::binary(unsigned n) {
  Shape shape = at(n).shape;
  DType dtype = at(n).dtype;
  n = tame(n, 50);
  unsigned other = tame(valueOf(shape, dtype), 50);
  if (chance(30))
    std::swap(n, other);
  if (at(n).isExact && at(other).isExact && chance(10))
    return apply(chance(50) ? Fn::Mod : Fn::FloorMod, {n, positive(other)});
  switch (pick(0, 7)) {
  case 0:
    return apply(Fn::Div, {n, positive(other)});
  case 1:
    return apply(Fn::Max, {n, other});
  case 2:
    return apply(Fn::Min, {n, other});
  case 3:
    return apply(Fn::Select, {condition(shape), n, other});
  case 4:
    return apply(Fn::Sub, {n, other});
  case 5:
    return apply(Fn::Add, {n, other});
  default:
    return apply(Fn::Mul, {n, other});
  }
}

unsigned Generator::chain(unsigned n, int64_t least, int64_t most) {
  for (int64_t i = 0, count = pick(least, most); i < count; ++i)
    n = chance(50) ? unary(n) : binary(n);
  return n;
}
