//===- RandomParts.cpp - The parts that random programs are made of -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomGenerator.h"

#include <algorithm>
#include <cmath>

using namespace luminal;
using namespace luminal::test;
using llir::Fn;

static Expr d(size_t i) { return Expr::dim(static_cast<unsigned>(i)); }

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

unsigned Generator::permuted(unsigned n) {
  const Shape &from = at(n).shape;
  std::vector<unsigned> order(from.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<size_t>(pick(0, int64_t(i) - 1))]);
  Shape shape(from.size()), map(from.size());
  for (unsigned i = 0; i < order.size(); ++i) {
    shape[i] = from[order[i]];
    map[order[i]] = d(i);
  }
  return view(n, shape, map);
}

unsigned Generator::reshaped(unsigned n) {
  Shape shape = at(n).shape, map;
  for (unsigned i = 0; i < shape.size(); ++i)
    map.push_back(d(i));
  size_t i = size_t(pick(0, int64_t(shape.size()) - 1));
  if (i + 1 < shape.size() && shape[i + 1].asConstant().value_or(0) > 0) {
    // Dims i and i + 1 as one.
    Expr inner = shape[i + 1];
    shape[i] = shape[i] * inner;
    shape.erase(shape.begin() + long(i) + 1);
    map.clear();
    for (unsigned k = 0; k <= shape.size(); ++k)
      map.push_back(k < i        ? d(k)
                    : k == i     ? Expr::floorDiv(d(i), inner)
                    : k == i + 1 ? Expr::mod(d(i), inner)
                                 : d(k - 1));
    return view(n, shape, map);
  }
  for (int64_t part : {2, 3, 4})
    if (std::optional<int64_t> size = shape[i].asConstant();
        size && *size && *size % part == 0) {
      // Dim i as two.
      shape[i] = *size / part;
      shape.insert(shape.begin() + long(i) + 1, Expr(part));
      for (unsigned k = 0; k < map.size(); ++k)
        map[k] = k < i    ? d(k)
                 : k == i ? d(i) * Expr(part) + d(i + 1)
                          : d(k + 1);
      return view(n, shape, map);
    }
  return permuted(n);
}

/// What is left of a dim behind a place at or beyond its end, or near it:
/// often nothing.
unsigned Generator::tail(unsigned n) {
  Shape shape = at(n).shape, map;
  for (unsigned i = 0; i < shape.size(); ++i)
    map.push_back(d(i));
  size_t i = size_t(pick(0, int64_t(shape.size()) - 1));
  Expr size = shape[i];
  Expr begin = chance(50) ? size : Expr(pick(0, leastOf(size) + 3));
  map[i] = d(i) + begin;
  shape[i] = Expr::max(size - begin, 0);
  return view(n, shape, map);
}

unsigned Generator::movement(unsigned n) {
  Shape shape = at(n).shape, map;
  if (shape.empty())
    return n;
  if (chance(8))
    return tail(n);
  for (unsigned i = 0; i < shape.size(); ++i)
    map.push_back(d(i));
  size_t i = size_t(pick(0, int64_t(shape.size()) - 1));
  int64_t least = leastOf(shape[i]);
  switch (pick(0, 6)) {
  case 0:
    return permuted(n);
  case 1:
  case 2:
    return reshaped(n);
  case 3: { // A slice, or every second element.
    if (least < 3)
      return permuted(n);
    int64_t begin = pick(0, 2);
    int64_t stride = shape[i].asConstant() ? pick(1, 2) : 1;
    map[i] = d(i) * Expr(stride) + Expr(begin);
    shape[i] = Expr::ceilDiv(shape[i] - Expr(begin), stride);
    return view(n, shape, map);
  }
  case 4: // Backwards.
    map[i] = shape[i] - Expr(1) - d(i);
    return view(n, shape, map);
  case 5: { // Overlapping windows.
    int64_t width = pick(2, 3);
    Shape windows = shape;
    windows[i] = shape[i] - Expr(width - 1);
    windows.push_back(Expr(width));
    if (least < width || mostElements(windows) > scale.elements)
      return permuted(n);
    map[i] = d(i) + d(windows.size() - 1);
    return view(n, windows, map);
  }
  default: { // A new dim.
    Shape wide = shape;
    wide.insert(wide.begin() + long(i), extent());
    if (mostElements(wide) > scale.elements)
      return permuted(n);
    for (size_t k = i; k < map.size(); ++k)
      map[k] = d(k + 1);
    return view(n, wide, map);
  }
  }
}

/// Along the first dim by scatters, as of parts that may be empty.
unsigned Generator::joinedRows(unsigned n) {
  Shape first = at(n).shape, second = first, both = first;
  second[0] = extent();
  both[0] = first[0] + second[0];
  if (mostElements(both) > scale.elements)
    return n;
  unsigned other = valueOf(second, at(n).dtype);
  auto rows = [&](const Expr &count, const Expr &begin) {
    Node index({count}, DType::I64);
    index.text =
        "llir.iota " + mapText(1, {d(0) + begin}) + " : " + getType(index);
    return add(std::move(index));
  };
  unsigned all = splat(0, both, at(n).dtype);
  all = scatter("set", all, rows(first[0], 0), n);
  return scatter("set", all, rows(second[0], first[0]), other);
}

/// Along the first dim: where an index is below the first part's extent that
/// part, else the other.
unsigned Generator::concatenation(unsigned n) {
  Shape shape = at(n).shape;
  if (shape.empty())
    return n;
  if (leastOf(shape[0]) < 1 || chance(20))
    return joinedRows(n);
  unsigned other = valueOf(shape, at(n).dtype);
  Expr size = shape[0];
  Shape both = shape, first, second;
  both[0] = size + size;
  if (mostElements(both) > scale.elements)
    return n;
  for (unsigned i = 0; i < shape.size(); ++i) {
    first.push_back(i ? d(i) : Expr::min(d(0), size - Expr(1)));
    second.push_back(i ? d(i) : Expr::max(d(0) - size, 0));
  }
  Node position(both, DType::I64);
  position.text =
      "llir.iota " + mapText(both.size(), {d(0)}) + " : " + getType(position);
  Node end(both, DType::I64);
  end.text = "llir.iota " + mapText(both.size(), {size}) + " : " + getType(end);
  unsigned where = add(std::move(position)), limit = add(std::move(end));
  return apply(Fn::Select, {apply(Fn::LessThan, {where, limit}, DType::I1),
                            view(n, both, first), view(other, both, second)});
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

unsigned Generator::softmaxLike(unsigned n) {
  Shape shape = at(n).shape;
  if (chance(25))
    return rowOp(tame(n, 50), 0);
  n = tame(n, 50);
  unsigned scores = n;
  if (chance(40)) {
    // Masked elements weigh nothing; a row of them alone is NaN.
    Node infinite({}, at(n).dtype);
    infinite.most = INFINITY;
    const char *bits = infinite.dtype == DType::F16    ? "0xFC00"
                       : infinite.dtype == DType::BF16 ? "0xFF80"
                       : infinite.dtype == DType::F64  ? "0xFFF0000000000000"
                                                       : "0xFF800000";
    infinite.text =
        std::string("llir.constant dense<") + bits + "> : " + getType(infinite);
    unsigned low = view(add(std::move(infinite)), shape, {});
    scores = apply(Fn::Select, {condition(shape), n, low});
  }
  unsigned largest = reduce(true, scores);
  unsigned e =
      apply(Fn::Exp, {apply(Fn::Sub, {scores, spread(largest, shape)})});
  program.nodes[e].most = 1;
  unsigned sum = reduce(false, e);
  program.nodes[sum].least = 0.9;
  unsigned result =
      chance(50) ? apply(Fn::Mul, {e, spread(apply(Fn::Recip, {sum}), shape)})
                 : apply(Fn::Div, {e, spread(sum, shape)});
  program.nodes[result].most = 1;
  if (chance(10))
    program.results.push_back(sum);
  return result;
}

unsigned Generator::normLike(unsigned n) {
  Shape shape = at(n).shape;
  n = tame(n, 50);
  if (chance(30))
    return rowOp(n, unsigned(pick(1, 2)));
  if (leastOf(shape.back()) == 0)
    return n;
  DType t = at(n).dtype;
  Shape rows = shape;
  rows.pop_back();
  double scale = 1 / double(mostOf(shape.back()));
  auto mean = [&](unsigned x) {
    unsigned sum = reduce(false, x);
    return apply(Fn::Mul, {sum, splat(scale, rows, t)});
  };
  unsigned x = n;
  if (chance(50))
    x = apply(Fn::Sub, {x, spread(mean(x), shape)});
  unsigned square = mean(apply(Fn::Mul, {x, x}));
  // A mean of squares is not negative.
  unsigned shifted = apply(Fn::Add, {square, splat(0.5, rows, t)});
  program.nodes[shifted].least = 0.5;
  unsigned y = apply(Fn::Mul, {x, spread(apply(Fn::Rsqrt, {shifted}), shape)});
  if (chance(60))
    y = apply(Fn::Mul, {y, valueOf(shape, t)});
  return y;
}

void Generator::rows() {
  unsigned n = anyFloat();
  if (at(n).shape.empty())
    return;
  if (chance(30))
    n = permuted(n);
  switch (pick(0, 4)) {
  case 0:
    n = softmaxLike(n);
    break;
  case 1:
    n = normLike(n);
    break;
  case 2: { // Several reductions of one row, and what depends on them.
    Shape shape = at(n).shape;
    n = tame(n, 50);
    unsigned a = reduce(true, n), b = reduce(false, unary(n));
    unsigned c = apply(Fn::Add, {cast(tame(a, 50), at(n).dtype),
                                 cast(tame(b, 50), at(n).dtype)});
    if (at(a).most > 1e6)
      return;
    n = apply(Fn::Sub, {n, spread(c, shape)});
    break;
  }
  case 3: // A reduction of a reduction.
    n = reduce(chance(30), tame(n, 50));
    if (!at(n).shape.empty() && at(n).most < 1e6)
      n = reduce(chance(30), chain(n, 0, 2));
    break;
  default:
    n = reduce(chance(40), chain(tame(n, 50), 0, 2));
    break;
  }
  if (chance(60) && !at(n).shape.empty() && at(n).most < 1e6)
    chain(n, 1, 3);
}

/// A reduction of every element.
void Generator::whole() {
  unsigned n = tame(anyFloat(), 20);
  while (at(n).shape.size() > 1) {
    Shape shape = at(n).shape;
    Expr inner = shape.back();
    shape.pop_back();
    if (!inner.asConstant() || inner.isConstant(0)) {
      n = reduce(false, n);
      continue;
    }
    Expr outer = shape.back();
    shape.back() = outer * inner;
    Shape map;
    for (unsigned i = 0; i < shape.size(); ++i)
      map.push_back(d(i));
    map.back() = Expr::floorDiv(d(shape.size() - 1), inner);
    map.push_back(Expr::mod(d(shape.size() - 1), inner));
    n = view(n, shape, map);
  }
  if (at(n).shape.size() == 1)
    n = reduce(chance(30), chain(tame(n, 20), 0, 2));
  if (chance(50) && at(n).most < 1e6)
    apply(Fn::Tanh, {n});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A value whose dims are those at `places` of `dims`, in any order, and how a
/// product reads it.
unsigned Generator::operandOf(const std::vector<Expr> &dims,
                              const std::vector<unsigned> &places, DType dtype,
                              Shape &map) {
  std::vector<unsigned> order = places;
  for (size_t i = order.size(); i > 1; --i)
    if (chance(50))
      std::swap(order[i - 1],
                order[static_cast<size_t>(pick(0, int64_t(i) - 1))]);
  Shape shape;
  for (unsigned p : order) {
    shape.push_back(dims[p]);
    map.push_back(d(p));
  }
  return tame(valueOf(shape, dtype), 4);
}

/// A product with `n` or without, with any batch dims.
unsigned Generator::product(unsigned n) {
  DType t = n && isFloat(at(n).dtype) ? at(n).dtype : main;
  if (chance(8))
    t = chance(50) ? DType::I64 : DType::I32;
  // Dims: batch, rows, columns, and last k.
  std::vector<Expr> dims;
  std::vector<unsigned> left, right;
  int64_t batch = pick(0, 3) / 2, rows = pick(0, 4) ? 1 : pick(0, 2),
          columns = pick(0, 4) ? 1 : pick(0, 2);
  for (int64_t i = 0; i < batch + rows + columns; ++i) {
    if (i < batch + rows)
      left.push_back(unsigned(dims.size()));
    if (i < batch || i >= batch + rows)
      right.push_back(unsigned(dims.size()));
    dims.push_back(extent());
  }
  dims.push_back(extent());
  left.push_back(unsigned(dims.size() - 1));
  right.push_back(unsigned(dims.size() - 1));
  if (mostElements(dims) > scale.products)
    return n;
  Shape lhsMap, rhsMap;
  unsigned lhs = operandOf(dims, left, t, lhsMap),
           rhs = operandOf(dims, right, t, rhsMap);
  Shape shape(dims.begin(), dims.end() - 1);
  // Rows and columns in any order.
  if (chance(20) && shape.size() > 1) {
    size_t i = size_t(pick(0, int64_t(shape.size()) - 2)), j = i + 1;
    std::swap(shape[i], shape[j]);
    for (Shape *map : {&lhsMap, &rhsMap})
      for (Expr &e : *map)
        e = e == d(i) ? d(j) : e == d(j) ? d(i) : e;
  }
  return gemm(lhs, rhs, dims.back(), shape, lhsMap, rhsMap);
}

/// Attention as models write it, of sizes that one kernel streams keys for.
void Generator::streamedAttention() {
  static const std::vector<int64_t> sizes = {16, 32, 64, 96, 128},
                                    lengths = {64, 80, 127, 128, 160};
  if (chance(70))
    main = chance(50) ? DType::F16 : DType::BF16;
  Expr heads = pick(1, 3), size = choose(sizes);
  Expr queries = chance(30) ? extent() : Expr(choose(lengths)),
       keys = chance(30) ? extent() : Expr(choose(lengths));
  if (leastOf(keys) < 1 ||
      mostElements({heads, queries, keys, size}) > scale.products)
    return;
  Shape scores = {heads, queries, keys};
  unsigned q = argument({heads, queries, size}, main),
           k = argument({heads, keys, size}, main),
           v = argument({heads, keys, size}, main);
  unsigned s = gemm(q, k, size, scores, {d(0), d(1), d(3)}, {d(0), d(2), d(3)});
  bool isWidened = main != DType::F64 && chance(80);
  if (isWidened && chance(50))
    s = cast(s, DType::F32);
  auto wide = [&] { return at(s).dtype; };
  if (chance(80))
    s = apply(Fn::Mul, {s, splat(0.125, scores, wide())});
  if (chance(30))
    s = apply(Fn::Mul, {apply(Fn::Tanh, {s}), splat(16, scores, wide())});
  if (chance(50))
    s = apply(Fn::Add, {s, argument(scores, wide())});
  if (isWidened)
    s = cast(s, DType::F32);
  unsigned p = chance(60) ? rowOp(s, 0) : softmaxLike(s);
  unsigned o = gemm(cast(p, main), v, keys, {heads, queries, size},
                    {d(0), d(1), d(3)}, {d(0), d(3), d(2)});
  program.nodes[o].most = at(v).most;
  if (chance(40))
    chain(o, 1, 2);
}

/// A value beside one, or more, that lie across it in memory.
void Generator::transposition() {
  static const std::vector<int64_t> sizes = {192, 256, 300, 321, 400};
  Shape shape = {choose(sizes), choose(sizes)};
  std::vector<unsigned> places = {1, 0};
  if (chance(40)) {
    shape.insert(shape.begin(), Expr(pick(2, 3)));
    places = {2, 1};
    places.insert(places.begin() + pick(0, 2), 0);
  }
  if (mostElements(shape) > scale.elements)
    return;
  auto turned = [&] {
    Shape across, map;
    for (unsigned place : places) {
      across.push_back(shape[place]);
      map.push_back(d(place));
    }
    return view(valueOf(across, main), shape, map);
  };
  unsigned n = turned();
  for (int64_t i = 0, count = pick(0, 2); i < count; ++i)
    n = apply(Fn::Add, {tame(n, 50), tame(turned(), 50)});
  chain(n, 1, 3);
}

/// softmax(q k / c + mask) v over heads.
void Generator::attention() {
  Expr heads = extent(), queries = extent(), keys = extent(), size = extent();
  if (mostElements({heads, queries, keys, size}) > scale.products ||
      (leastOf(keys) < 1 && chance(70)))
    return;
  Shape map;
  unsigned q = tame(valueOf({heads, queries, size}, main), 4);
  bool isGrouped = chance(30), isTransposed = chance(40);
  Shape keyShape = {heads, keys, size}, keyMap = {d(0), d(2), d(3)};
  if (isGrouped)
    keyShape = {keys, size}, keyMap = {d(2), d(3)};
  else if (isTransposed)
    keyShape = {keys, heads, size}, keyMap = {d(2), d(0), d(3)};
  unsigned k = tame(valueOf(keyShape, main), 4),
           v = tame(valueOf(keyShape, main), 4);
  Shape scoreShape = {heads, queries, keys};
  unsigned s = gemm(q, k, size, scoreShape, {d(0), d(1), d(3)}, keyMap);
  if (chance(70))
    s = apply(Fn::Mul, {s, splat(0.125, scoreShape, main)});
  if (chance(50))
    s = apply(Fn::Add, {s, tame(valueOf(scoreShape, main), 20)});
  if (chance(20))
    s = apply(Fn::Mul, {apply(Fn::Tanh, {s}), splat(16, scoreShape, main)});
  unsigned p = softmaxLike(s);
  Shape valueMap = keyMap;
  // k is now the keys, and columns are the size.
  for (Expr &e : valueMap)
    e = e == d(2) ? d(3) : e == d(3) ? d(2) : e;
  unsigned o =
      gemm(p, v, keys, {heads, queries, size}, {d(0), d(1), d(3)}, valueMap);
  program.nodes[o].most = at(v).most;
  if (chance(40))
    o = view(o, {queries, heads, size}, {d(1), d(0), d(2)});
  if (chance(40))
    chain(o, 1, 2);
}

/// Two products of one operand, joined; often a third after them.
void Generator::gated() {
  Expr rows = extent(), inner = extent(), hidden = extent();
  if (mostElements({rows, inner, hidden}) > scale.products)
    return;
  Shape shape = {rows, hidden}, left = {d(0), d(2)};
  unsigned x = tame(valueOf({rows, inner}, main), 4);
  if (chance(40))
    x = tame(normLike(x), 8);
  auto weight = [&](const Expr &columns, const Expr &terms, Shape &map) {
    bool isTransposed = chance(50);
    map = isTransposed ? Shape{d(2), d(1)} : Shape{d(1), d(2)};
    return argument(
        isTransposed ? Shape{terms, columns} : Shape{columns, terms}, main);
  };
  Shape gateMap, upMap, downMap;
  unsigned g = weight(hidden, inner, gateMap), u = weight(hidden, inner, upMap);
  unsigned gate = gemm(x, g, inner, shape, left, gateMap),
           up = gemm(x, u, inner, shape, left, upMap);
  if (chance(30))
    gate = apply(Fn::Add, {gate, valueOf(shape, main)});
  unsigned h = apply(
      Fn::Mul, {apply(chance(50) ? Fn::Silu : Fn::Gelu, {tame(gate, 100)}),
                tame(up, 100)});
  if (chance(50)) {
    unsigned w = weight(inner, hidden, downMap);
    h = tame(h, 8);
    unsigned out = gemm(h, w, hidden, {rows, inner}, left, downMap);
    if (chance(60))
      apply(Fn::Add, {tame(out, 1e3), x});
  } else if (chance(50)) {
    reduce(chance(40), tame(h, 1e3));
  }
}

/// Rows times the matrix that each looks up, most of them the same as the row
/// before.
void Generator::groupedRows() {
  static const std::vector<int64_t> lengths = {17, 33, 64, 100, 130},
                                    sizes = {16, 24, 32, 64, 96};
  if (chance(60))
    main = chance(50) ? DType::F16 : DType::BF16;
  int64_t run = pick(1, 9), groups = pick(1, 4);
  Expr rows = chance(30) ? extent() : Expr(choose(lengths)),
       inner = chance(30) ? extent() : Expr(choose(sizes)),
       columns = chance(30) ? extent() : Expr(choose(sizes));
  if (mostElements({rows, inner, columns}) > scale.products)
    return;
  unsigned ids = view(indices({Expr::ceilDiv(rows, run)}, groups), {rows},
                      {Expr::floorDiv(d(0), run)});
  bool isTransposed = chance(50);
  Shape matrix = {inner, columns}, map = {d(0), d(2), d(1)};
  if (isTransposed)
    std::swap(matrix[0], matrix[1]), std::swap(map[1], map[2]);
  Shape all = {groups}, chosen = {rows};
  all.insert(all.end(), matrix.begin(), matrix.end());
  chosen.insert(chosen.end(), matrix.begin(), matrix.end());
  unsigned w = gather(argument(all, main), ids, chosen),
           x = argument({rows, inner}, main);
  if (leastOf(rows) > 0 && chance(40))
    x = gather(x, indices({rows}, rows), {rows, inner});
  else if (chance(40))
    x = apply(Fn::Abs, {x});
  Shape left = {d(0), d(2)}, result = {rows, columns};
  x = tame(x, 8);
  unsigned y = chance(80) ? gemm(x, w, inner, result, left, map)
                          : gemm(w, x, inner, result, map, left);
  if (chance(60))
    chain(y, 1, 3);
}

/// Channels x positions, as a product over channels and a window.
void Generator::convolution() {
  Expr channels = extent(), filters = extent(), positions = extent();
  int64_t width = pick(1, 3), stride = pick(1, 2);
  if (!positions.asConstant())
    stride = 1;
  if (!channels.asConstant() || leastOf(positions) < width ||
      mostElements({channels, filters, positions, Expr(width)}) >
          scale.products)
    return;
  Expr outputs = Expr::floorDiv(positions - Expr(width), stride) + Expr(1);
  Expr k = channels * Expr(width);
  unsigned x = tame(valueOf({channels, positions}, main), 4),
           w = argument({filters, channels, Expr(width)}, main);
  Expr channel = Expr::floorDiv(d(2), width), tap = Expr::mod(d(2), width);
  unsigned y = gemm(w, x, k, {filters, outputs}, {d(0), channel, tap},
                    {channel, d(1) * Expr(stride) + tap});
  if (chance(60))
    chain(apply(Fn::Add, {tame(y, 1e3), valueOf({filters, outputs}, main)}), 0,
          2);
}

//===----------------------------------------------------------------------===//
// Integers, indices
//===----------------------------------------------------------------------===//

void Generator::integers() {
  DType t = chance(50) ? DType::I64 : DType::I32;
  Shape shape = shapeOfRank(1, 3);
  unsigned n = chance(50) ? iota(shape, t) : argument(shape, t);
  static const std::vector<Fn> functions = {
      Fn::Add,   Fn::Sub,    Fn::Mul,       Fn::Max,      Fn::Min,
      Fn::Div,   Fn::Mod,    Fn::FloorDiv,  Fn::FloorMod, Fn::BitAnd,
      Fn::BitOr, Fn::BitXor, Fn::ShiftRight};
  for (int64_t i = 0, count = pick(1, 4); i < count; ++i)
    n = apply(choose(functions), {n, valueOf(shape, t)});
  if (chance(40) && !shape.empty())
    n = reduce(chance(50), n);
  if (chance(30))
    n = apply(Fn::FloorMod, {n, splat(37, at(n).shape, t)});
  if (chance(30))
    n = apply(Fn::LessThan, {n, valueOf(at(n).shape, t)}, DType::I1);
  if (at(n).dtype == DType::I1 && chance(50)) {
    n = apply(chance(50) ? Fn::Mul : Fn::Or, {n, condition(at(n).shape)});
    if (!at(n).shape.empty() && chance(40))
      reduce(true, n);
  }
}

/// One part, of values that there are.
void Generator::step() {
  switch (pick(0, 11)) {
  case 0:
  case 1:
    chain(anyFloat(), 1, 4);
    break;
  case 2:
    movement(anyFloat());
    break;
  case 3:
    rows();
    break;
  case 4:
    product(0);
    break;
  case 5: {
    unsigned n = product(0);
    if (n && isFloat(at(n).dtype))
      chain(n, 1, 4);
    break;
  }
  case 6:
    chance(60) ? attention() : gated();
    break;
  case 7:
    gated();
    break;
  case 8:
    chance(50) ? whole() : convolution();
    break;
  case 9:
    chance(60) ? integers() : void(concatenation(anyFloat()));
    break;
  default: {
    unsigned data = anyFloat();
    Shape shape = at(data).shape;
    if (shape.empty() || at(data).most > 1e4)
      break;
    Shape taken = shapeOfRank(0, 2);
    // Of no rows, none are taken.
    if (leastOf(shape[0]) < 1)
      taken.push_back(chance(50) ? shape[0] : Expr(0));
    Shape result = taken;
    result.insert(result.end(), shape.begin() + 1, shape.end());
    if (mostElements(result) > scale.elements)
      break;
    unsigned index = indices(taken, shape[0]);
    if (chance(60))
      gather(data, index, result);
    else
      scatter(choose<std::string>({"set", "add", "max"}), data, index,
              tame(valueOf(result, at(data).dtype), 100));
  }
  }
}

/// What nothing reads, and some of the rest.
void Generator::chooseResults() {
  std::vector<bool> isRead(program.nodes.size());
  for (const Node &n : program.nodes)
    for (unsigned operand : n.operands)
      isRead[operand] = true;
  for (unsigned i = 0; i < program.nodes.size(); ++i)
    if (!at(i).isArgument && (!isRead[i] || chance(6)))
      program.results.push_back(i);
  std::sort(program.results.begin(), program.results.end());
  program.results.erase(
      std::unique(program.results.begin(), program.results.end()),
      program.results.end());
}

RandomProgram Generator::make() {
  static const std::vector<DType> types = {DType::F32, DType::F32,  DType::F32,
                                           DType::F16, DType::BF16, DType::F64};
  main = choose(types);
  chooseExtents();
  // Node 0 is no operand of a product unless it is chosen as any other is.
  argument(shapeOfRank(1, 3), main);
  size_t size = size_t(pick(6, 45));
  // Forms that few programs meet by chance.
  if (chance(25))
    streamedAttention();
  if (chance(20))
    transposition();
  for (unsigned tries = 0; program.nodes.size() < size && tries < 40; ++tries)
    step();
  if (chance(15))
    groupedRows();
  chooseResults();
  return std::move(program);
}

RandomProgram test::makeRandomProgram(uint64_t seed,
                                      const ProgramScale &scale) {
  return Generator(seed, scale).make();
}
