//===- Product.cpp - Matrix products and attention ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Status productOf(OpCall &o, Value a, Value b) {
  LUMINAL_TRY(result, matmulAny(o, a, b));
  return o.ret(o.c.cast(result, o.element(a)));
}
/// A product with fixed ranks, as mm, bmm and mv; matmul takes any ranks.
template <unsigned rankA, unsigned rankB>
static Status fixedProduct(OpCall &o, StringRef b) {
  Value x = o.tensor("self"), y = o.tensor(b);
  if (o.rank(x) != rankA || o.rank(y) != rankB)
    return o.fail("the operands have other ranks than the op takes");
  return productOf(o, x, y);
}
static Status mm(OpCall &o) { return fixedProduct<2, 2>(o, "mat2"); }
static Status bmm(OpCall &o) { return fixedProduct<3, 3>(o, "mat2"); }
static Status mv(OpCall &o) { return fixedProduct<2, 1>(o, "vec"); }
static Status dot(OpCall &o) { return fixedProduct<1, 1>(o, "tensor"); }
static Status vdot(OpCall &o) { return fixedProduct<1, 1>(o, "other"); }
static Status matmul(OpCall &o) {
  return productOf(o, o.tensor("self"), o.tensor("other"));
}
static Status outer(OpCall &o) {
  Value a = o.tensor("self"), b = o.tensor("vec2");
  if (o.rank(a) != 1 || o.rank(b) != 1)
    return o.fail("takes two vectors");
  Type type = o.promote({a, b});
  SmallVector<Expr> shape = {o.extents(a)[0], o.extents(b)[0]};
  Value x = o.broadcastTo(o.c.unsqueeze(o.c.cast(a, type), 1), shape);
  return o.ret(o.c.mul(x, o.broadcastTo(o.c.cast(b, type), shape)));
}

static Status linear(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("input"), w = o.tensor("weight");
  auto b = o.tensorOrNone("bias");
  Type type = o.element(x);
  if (o.rank(w) != 2 || o.rank(x) == 0 || o.element(w) != type ||
      (b && o.element(*b) != type))
    return o.fail("the operands differ in dtype, or have other ranks than the "
                  "op takes");
  if (!o.agree(o.extents(x).back(), o.extents(w)[1]))
    return o.fail("inner extents " + o.extents(x).back().str() + " and " +
                  o.extents(w)[1].str() + " differ");
  Type wide = o.opmath(type);
  Value y = c.linear(c.cast(x, wide), c.cast(w, wide));
  if (b)
    y = c.add(y, o.as(*b, wide, o.extents(y)));
  return o.ret(c.cast(y, type));
}

/// beta * self + alpha * (a @ b)
static Status addProduct(OpCall &o, Value x, Value y) {
  Composer &c = o.c;
  Value self = o.tensor("self");
  Number beta = o.number("beta"), alpha = o.number("alpha");
  Type type = o.element(x);
  LUMINAL_TRY(product, matmulAny(o, x, y));
  if (o.element(self) != type)
    return o.fail("the operands differ in dtype");
  Type wide = o.element(product);
  SmallVector<Expr> shape = o.extents(product);
  LUMINAL_TRY(joined, o.broadcast({o.extents(self), shape}));
  if (joined.size() != shape.size())
    return o.fail("self cannot be broadcast to the product");
  auto scale = [&](Value v, const Number &n) {
    return n.asDouble() == 1.0
               ? v
               : c.mul(v, o.broadcastTo(o.materialize(n, wide), shape));
  };
  product = scale(product, alpha);
  // With beta 0, a NaN in self has no effect.
  if (beta.asDouble() != 0.0)
    product =
        c.add(scale(o.broadcastTo(c.cast(self, wide), shape), beta), product);
  return o.ret(c.cast(product, type));
}
static Status addProductOf(OpCall &o, StringRef a, StringRef b) {
  return addProduct(o, o.tensor(a), o.tensor(b));
}
static Status addmm(OpCall &o) { return addProductOf(o, "mat1", "mat2"); }
static Status baddbmm(OpCall &o) { return addProductOf(o, "batch1", "batch2"); }
static Status addmv(OpCall &o) { return addProductOf(o, "mat", "vec"); }

/// The outer product: a column times a row.
static Status addr(OpCall &o) {
  Value a = o.tensor("vec1"), b = o.tensor("vec2");
  if (o.rank(a) != 1 || o.rank(b) != 1 || !o.isFloat(a))
    return o.fail("takes two vectors of floats");
  return addProduct(o, o.c.unsqueeze(a, 1), o.c.unsqueeze(b, 0));
}

/// The sum over batches is one product: the batch dim becomes part of the inner
/// dim.
static Status addbmm(OpCall &o) {
  Composer &c = o.c;
  Value a = o.tensor("batch1"), b = o.tensor("batch2");
  if (o.rank(a) != 3 || o.rank(b) != 3)
    return o.fail("the operands have other ranks than the op takes");
  SmallVector<Expr> ea = o.extents(a), eb = o.extents(b);
  if (!o.agree(ea[0], eb[0]) || !o.agree(ea[2], eb[1]))
    return o.fail("the batches have other extents than each other");
  Value x = c.reshape(c.permute(a, {1, 0, 2}), {ea[1], ea[0] * ea[2]});
  return addProduct(o, x, c.reshape(b, {eb[0] * eb[1], eb[2]}));
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

namespace {
/// One label per dim: a letter, or -1 - i for the i-th dim from the right that
/// "..." covers.
using Labels = SmallVector<int>;
} // namespace

/// The labels of a term whose "..." covers `dots` dims; std::nullopt if
/// malformed.
static std::optional<Labels> parseLabels(StringRef term, unsigned dots) {
  Labels labels;
  while (!term.empty()) {
    if (term.consume_front("...")) {
      for (int i = dots; i-- > 0;)
        labels.push_back(-1 - i);
      if (term.contains('.'))
        return std::nullopt;
      continue;
    }
    if (!llvm::isAlpha(term.front()))
      return std::nullopt;
    labels.push_back(term.front());
    term = term.drop_front();
  }
  return labels;
}

/// Every operand is viewed over one index space, with the output's dims first
/// and the summed ones last. Operands are multiplied from the left.
static Status einsum(OpCall &o) {
  Composer &c = o.c;
  std::string equation;
  for (char ch : o.string("equation"))
    if (ch != ' ')
      equation += ch;
  auto malformed = [&] {
    return o.fail("equation '" + equation + "' does not fit the operands");
  };
  SmallVector<Value> operands = o.tensors("tensors");
  o.ignore({"path"}); // The compiler chooses the contraction order.
  auto [lhs, rhs] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  lhs.split(terms, ',');
  if (terms.size() != operands.size() || operands.empty())
    return malformed();

  SmallVector<Labels> inputs;
  std::map<int, Expr> extents;
  std::map<int, unsigned> uses;
  unsigned mostDots = 0;
  for (auto [term, v] : llvm::zip(terms, operands)) {
    unsigned letters = llvm::count_if(term, llvm::isAlpha);
    bool dotted = term.contains("...");
    if (o.rank(v) < letters || (!dotted && o.rank(v) != letters))
      return malformed();
    unsigned dots = o.rank(v) - letters;
    mostDots = std::max(mostDots, dots);
    auto labels = parseLabels(term, dots);
    if (!labels || labels->size() != o.rank(v))
      return malformed();
    for (auto [label, extent] : llvm::zip(*labels, o.extents(v))) {
      ++uses[label];
      auto [it, inserted] = extents.emplace(label, extent);
      if (inserted || extent.isConstant(1))
        continue;
      if (it->second.isConstant(1))
        it->second = extent;
      else if (!o.agree(it->second, extent))
        return malformed();
    }
    inputs.push_back(*labels);
  }

  Labels space;
  if (equation.find("->") != std::string::npos) {
    auto labels = parseLabels(rhs, rhs.contains("...") ? mostDots : 0);
    if (!labels)
      return malformed();
    space = *labels;
  } else {
    // Without an explicit output: the dims of "...", then the letters that
    // occur once, sorted.
    for (int i = mostDots; i-- > 0;)
      space.push_back(-1 - i);
    for (auto [label, count] : uses)
      if (label > 0 && count == 1)
        space.push_back(label);
  }
  for (int label : space)
    if (!extents.count(label) || llvm::count(space, label) != 1)
      return malformed();
  unsigned kept = space.size();
  for (const auto &[label, extent] : extents)
    if (!llvm::is_contained(space, label))
      space.push_back(label);
  SmallVector<Expr> shape;
  for (int label : space)
    shape.push_back(extents[label]);

  Type type = o.element(operands.front());
  Value product;
  for (auto [labels, v] : llvm::zip(inputs, operands)) {
    if (o.element(v) != type || o.isBool(v))
      return o.fail("the operands differ in dtype, or are bool");
    SmallVector<Expr> map;
    for (auto [label, extent] : llvm::zip(labels, o.extents(v)))
      map.push_back(extent.isConstant(1)
                        ? Expr(0)
                        : Expr::dim(llvm::find(space, label) - space.begin()));
    Value read = c.view(c.cast(v, o.opmath(type)), shape, map);
    product = product ? c.mul(product, read) : read;
  }
  auto summed = llvm::to_vector(llvm::seq<unsigned>(kept, space.size()));
  return o.ret(c.cast(c.reduceSum(product, summed, false), type));
}

//===----------------------------------------------------------------------===//
// Products over named dims
//===----------------------------------------------------------------------===//

/// Sums of products over pairs of dims; the other dims stay in order.
static Status contractDims(OpCall &o, Value a, Value b, ArrayRef<unsigned> da,
                           ArrayRef<unsigned> db) {
  Composer &c = o.c;
  Type type = o.element(a);
  if (o.element(b) != type || o.isBool(a) || da.size() != db.size())
    return o.fail("the operands differ in dtype or number of dims");
  SmallVector<Expr> ea = o.extents(a), eb = o.extents(b), shape;
  SmallVector<Expr> aMap(ea.size()), bMap(eb.size());
  auto keep = [&](ArrayRef<Expr> extents, ArrayRef<unsigned> dims,
                  SmallVector<Expr> &map) {
    for (unsigned i = 0; i < extents.size(); ++i)
      if (!llvm::is_contained(dims, i)) {
        map[i] = Expr::dim(shape.size());
        shape.push_back(extents[i]);
      }
  };
  keep(ea, da, aMap);
  keep(eb, db, bMap);
  unsigned kept = shape.size();
  for (auto [x, y] : llvm::zip(da, db)) {
    if (!o.agree(ea[x], eb[y]))
      return o.fail("extents " + ea[x].str() + " and " + eb[y].str() +
                    " differ");
    aMap[x] = bMap[y] = Expr::dim(shape.size());
    shape.push_back(ea[x]);
  }
  Type wide = o.opmath(type);
  Value y = c.mul(c.view(c.cast(a, wide), shape, aMap),
                  c.view(c.cast(b, wide), shape, bMap));
  auto summed = llvm::to_vector(llvm::seq<unsigned>(kept, shape.size()));
  return o.ret(c.cast(c.reduceSum(y, summed, false), type));
}
static Status tensordot(OpCall &o) {
  Value a = o.tensor("self"), b = o.tensor("other");
  auto read = [&](StringRef name, Value v) -> Result<SmallVector<unsigned>> {
    SmallVector<unsigned> dims;
    for (int64_t dim : o.integers(name)) {
      LUMINAL_TRY(axis, o.axis(dim, o.rank(v)));
      if (llvm::is_contained(dims, axis))
        return o.fail("names a dim twice");
      dims.push_back(axis);
    }
    return dims;
  };
  LUMINAL_TRY(da, read("dims_self", a));
  LUMINAL_TRY(db, read("dims_other", b));
  return contractDims(o, a, b, da, db);
}
static Status inner(OpCall &o) {
  Value a = o.tensor("self"), b = o.tensor("other");
  if (o.rank(a) == 0 || o.rank(b) == 0)
    return o.fail("takes tensors with dims");
  return contractDims(o, a, b, {o.rank(a) - 1}, {o.rank(b) - 1});
}
/// By repeated squaring; an inverse is not supported.
static Status matrixPower(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  int64_t n = o.integer("n");
  if (n < 0)
    return o.fail("the power of a matrix is negative, which needs an inverse");
  if (o.rank(x) < 2 || !o.isFloat(x) ||
      !o.agree(o.extents(x)[o.rank(x) - 1], o.extents(x)[o.rank(x) - 2]))
    return o.fail("takes square matrices of floats");
  Type type = o.element(x);
  std::optional<Value> result;
  auto multiply = [&](Value a, Value b) -> Result<Value> {
    LUMINAL_TRY(y, matmulAny(o, a, b));
    return c.cast(y, type);
  };
  if (n == 0) {
    Value row = indexAlong(o, x, o.rank(x) - 2),
          column = indexAlong(o, x, o.rank(x) - 1);
    return o.ret(c.cast(c.equal(row, column), type));
  }
  for (Value square = x; n > 0; n /= 2) {
    if (n % 2 != 0) {
      if (result) {
        LUMINAL_TRY(y, multiply(*result, square));
        result = y;
      } else {
        result = square;
      }
    }
    if (n > 1) {
      LUMINAL_TRY(y, multiply(square, square));
      square = y;
    }
  }
  return o.ret(*result);
}
static Status chainMatmul(OpCall &o) {
  StringRef name =
      StringRef(o.entry.name).starts_with("chain") ? "matrices" : "tensors";
  SmallVector<Value> factors = o.tensors(name);
  if (factors.empty())
    return o.fail("multiplies no matrices");
  Value product = factors.front();
  for (Value v : ArrayRef(factors).drop_front()) {
    LUMINAL_TRY(next, matmulAny(o, product, v));
    product = next;
  }
  return o.ret(product);
}
static Status vecdot(OpCall &o) {
  Composer &c = o.c;
  Value a = o.tensor("x"), b = o.tensor("y");
  LUMINAL_TRY(shape, o.commonShape({a, b}));
  LUMINAL_TRY(axis, o.axis(o.integer("dim"), shape.size()));
  if (shape.empty() || o.element(a) != o.element(b) || o.isBool(a))
    return o.fail("takes tensors of one dtype with a dim");
  Type type = o.element(a), wide = o.opmath(type);
  Value y = c.mul(o.broadcastTo(c.cast(a, wide), shape),
                  o.broadcastTo(c.cast(b, wide), shape));
  return o.ret(c.cast(c.reduceSum(y, {axis}, false), type));
}

/// a[i + 1] b[i + 2] - a[i + 2] b[i + 1] along a dim of extent 3.
static Status cross(OpCall &o) {
  Composer &c = o.c;
  Value a = o.tensor("self"), b = o.tensor("other");
  LUMINAL_TRY(shape, o.commonShape({a, b}));
  Type type = o.promote({a, b});
  if (type.isInteger(1))
    return o.fail("takes numbers");
  auto dim = o.integerOrNone("dim");
  if (!dim)
    dim = llvm::find_if(shape, [](const Expr &e) { return e.isConstant(3); }) -
          shape.begin();
  LUMINAL_TRY(axis, o.axis(*dim, shape.size()));
  if (shape.empty() || !shape[axis].isConstant(3))
    return o.fail("takes a dim of three");
  Type wide = o.opmath(type);
  auto turned = [&](Value v, int64_t by) {
    SmallVector<Expr> map;
    for (unsigned i = 0; i < shape.size(); ++i)
      map.push_back(i == axis ? Expr::mod(Expr::dim(i) + Expr(by), Expr(3))
                              : Expr::dim(i));
    return c.view(o.broadcastTo(c.cast(v, wide), shape), shape, map);
  };
  Value y = c.sub(c.mul(turned(a, 1), turned(b, 2)),
                  c.mul(turned(a, 2), turned(b, 1)));
  return o.ret(c.cast(y, type));
}

/// x1 W x2 for each matrix W of the weight, plus the bias.
static Status bilinear(OpCall &o) {
  Composer &c = o.c;
  Value a = o.tensor("input1"), b = o.tensor("input2"), w = o.tensor("weight");
  auto bias = o.tensorOrNone("bias");
  Type type = o.element(a), wide = o.opmath(type);
  unsigned rank = o.rank(a);
  bool fits = rank >= 1 && o.rank(b) == rank && o.rank(w) == 3 &&
              o.element(b) == type && o.element(w) == type &&
              isa<FloatType>(type);
  for (unsigned i = 0; fits && i + 1 < rank; ++i)
    fits = o.agree(o.extents(a)[i], o.extents(b)[i]);
  if (!fits || !o.agree(o.extents(a).back(), o.extents(w)[1]) ||
      !o.agree(o.extents(b).back(), o.extents(w)[2]))
    return o.fail("the operands do not fit each other");
  SmallVector<Expr> ea = o.extents(a), ew = o.extents(w);
  Expr columns = ew[0] * ew[1];
  // First [..., out, in1] from in2, then the sum over in1.
  Value part =
      c.linear(c.cast(b, wide), c.reshape(c.cast(w, wide), {columns, ew[2]}));
  SmallVector<Expr> space(ea.begin(), ea.end() - 1), map;
  space.append({ew[0], ew[1]});
  part = c.reshape(part, space);
  for (unsigned i = 0; i + 1 < rank; ++i)
    map.push_back(Expr::dim(i));
  map.push_back(Expr::dim(rank));
  Value y = c.reduceSum(c.mul(part, c.view(c.cast(a, wide), space, map)),
                        {rank}, false);
  if (bias)
    y = c.add(y, o.as(*bias, wide, o.extents(y)));
  return o.ret(c.cast(y, type));
}

/// Sums the product of three tensors over some dims. Each tensor gets new dims
/// where the others have theirs.
static Status trilinear(OpCall &o) {
  Composer &c = o.c;
  o.ignore({"unroll_dim"}); // The order of summation is the compiler's choice.
  SmallVector<Value> parts;
  SmallVector<SmallVector<Expr>> shapes;
  Type type = o.element(o.tensor("i1"));
  for (auto [name, dims] :
       {std::pair("i1", "expand1"), std::pair("i2", "expand2"),
        std::pair("i3", "expand3")}) {
    Value v = o.tensor(name);
    if (o.element(v) != type || !isa<FloatType>(type))
      return o.fail("takes floats of one dtype");
    SmallVector<int64_t> expand = o.integers(dims);
    for (int64_t dim : expand) {
      LUMINAL_TRY(axis, o.axis(dim, o.rank(v) + 1));
      v = c.unsqueeze(v, axis);
    }
    parts.push_back(c.cast(v, o.opmath(type)));
    shapes.push_back(o.extents(v));
  }
  LUMINAL_TRY(shape, o.broadcast(shapes));
  LUMINAL_TRY(axes, o.axes(o.integers("sumdim"), shape.size()));
  Value y = o.broadcastTo(parts[0], shape);
  for (Value v : ArrayRef(parts).drop_front())
    y = c.mul(y, o.broadcastTo(v, shape));
  return o.ret(c.cast(c.reduceSum(y, axes, false), type));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// softmax(q k^T * scale + mask) v; f16 and bf16 in f32, rounded once.
static Status attention(OpCall &o) {
  Composer &c = o.c;
  bool flash = StringRef(o.entry.name).starts_with("_scaled");
  Value q = o.tensor("query"), k = o.tensor("key"), v = o.tensor("value");
  auto mask = o.tensorOrNone("attn_mask");
  if (o.real("dropout_p") != 0)
    return o.fail("draws random numbers (dropout_p is not 0)");
  // The CPU op shares heads even without enable_gqa.
  bool causal = o.flag("is_causal"), grouped = flash || o.flag("enable_gqa");
  Type type = o.element(q), wide = o.opmath(type);
  unsigned rank = o.rank(q);
  if (rank < 2 || o.rank(k) != rank || o.rank(v) != rank ||
      o.element(k) != type || o.element(v) != type || !isa<FloatType>(type))
    return o.fail("the operands differ in dtype or rank");
  if (causal && mask)
    return o.fail("is_causal and attn_mask exclude each other");
  SmallVector<Expr> eq = o.extents(q), ek = o.extents(k), ev = o.extents(v);
  q = c.cast(q, wide), k = c.cast(k, wide), v = c.cast(v, wide);

  if (grouped && rank >= 3) {
    // Each head of k and v serves consecutive heads of q.
    unsigned head = rank - 3;
    auto repeat = [&](Value x) -> Result<Value> {
      SmallVector<Expr> e = o.extents(x);
      if (o.provablyEqual(e[head], eq[head]))
        return x;
      if (!o.atMost(Expr(1), e[head]))
        return o.fail("extent " + e[head].str() + " is zero");
      Expr ratio = o.assumptions().simplify(Expr::floorDiv(eq[head], e[head]));
      if (!o.agree(ratio * e[head], eq[head]))
        return o.fail("the heads of key and value do not divide the query's");
      SmallVector<Expr> map;
      for (unsigned i = 0; i < rank; ++i)
        map.push_back(i == head ? Expr::floorDiv(Expr::dim(i), ratio)
                                : Expr::dim(i));
      e[head] = eq[head];
      return c.view(x, e, map);
    };
    LUMINAL_TRY(keys, repeat(k));
    LUMINAL_TRY(values, repeat(v));
    k = keys, v = values;
  }
  // The scale is a double in PyTorch, rounded to the type of the scores.
  Value scale;
  if (auto given = o.realOrNone("scale")) {
    scale = c.scalar(wide, *given);
  } else if (auto width = eq.back().asConstant()) {
    if (*width == 0)
      return o.fail("the default scale needs a head size above 0");
    scale = c.scalar(wide, 1.0 / std::sqrt(static_cast<double>(*width)));
  } else {
    Type f64 = c.getBuilder().getF64Type();
    scale = c.cast(c.recip(c.sqrt(extentValue(o, eq.back(), f64))), wide);
  }
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  LUMINAL_TRY(scores, matmulAny(o, q, c.permute(k, order)));
  scores = c.mul(scores, c.full(o.extents(scores), scale));
  SmallVector<Expr> shape = o.extents(scores);
  double inf = std::numeric_limits<double>::infinity();
  // A masked score that is infinite or NaN makes its row NaN, as in PyTorch.
  auto asAddend = [&](Value seen) {
    return c.select(seen, c.splat(scores, 0), c.splat(scores, -inf));
  };
  if (causal) {
    Value row = indexAlong(o, scores, rank - 2),
          column = indexAlong(o, scores, rank - 1);
    Value seen = c.lessEqual(column, row);
    // PyTorch's kernel for four dims skips masked scores; its formula for other
    // ranks adds a mask.
    scores = rank == 4 ? c.select(seen, scores, c.splat(scores, -inf))
                       : c.add(scores, asAddend(seen));
  }
  if (mask) {
    LUMINAL_TRY(joined, o.broadcast({o.extents(*mask), shape}));
    if (joined.size() != shape.size())
      return o.fail("the mask cannot be broadcast to the scores");
    if (!o.agree(joined, shape))
      return o.fail("the mask cannot be broadcast to the scores");
    scores =
        c.add(scores, o.isBool(*mask) ? asAddend(o.broadcastTo(*mask, shape))
                                      : o.as(*mask, wide, shape));
  }
  Value weights = c.softmax(scores, rank - 1);
  if (mask) {
    // A row that is masked entirely gives zeros.
    Value most = c.reduceMax(scores, {rank - 1}, false);
    Value none = c.equal(most, c.splat(most, -inf));
    SmallVector<Expr> map;
    for (unsigned i = 0; i + 1 < rank; ++i)
      map.push_back(Expr::dim(i));
    weights = c.select(c.view(none, shape, map), c.splat(weights, 0), weights);
  }
  LUMINAL_TRY(result, matmulAny(o, weights, v));
  // The log-sum-exp results are only used by gradients.
  return flash ? o.retFirst(c.cast(result, type)) : o.ret(c.cast(result, type));
}

//===----------------------------------------------------------------------===//
// Grouped products
//===----------------------------------------------------------------------===//

/// For each of `count` indices, the number of groups that end at or before it:
/// offs[g] is one past the last index of group g.
static Value groupsBefore(OpCall &o, Value offs, const Expr &count) {
  Composer &c = o.c;
  SmallVector<Expr> space = {count, o.extents(offs)[0]};
  Value at = c.iota(space, Expr::dim(0));
  Value end = c.view(c.cast(offs, o.i64()), space, {Expr::dim(1)});
  Value past = c.cast(c.lessEqual(end, at), o.i64());
  return c.reduceSum(past, {1}, false);
}

/// Multiplies each row of x[s, k], sorted by group, by its group's matrix w[g,
/// k, n]. A row past the last offset belongs to no group; PyTorch leaves it
/// undefined, here it uses the last group.
static Result<Value> multiplyGroups(OpCall &o, Value x, Value w, Value offs) {
  Composer &c = o.c;
  SmallVector<Expr> ex = o.extents(x), ew = o.extents(w);
  Expr rows = ex[0], groups = ew[0];
  if (!o.agree(ex[1], ew[1]) || !o.agree(o.extents(offs)[0], groups) ||
      !o.atMost(Expr(1), groups, {rows}))
    return o.fail("the extents do not fit each other");
  Value last = o.broadcastTo(extentValue(o, groups - Expr(1), o.i64()), {rows});
  Value group = c.minimum(groupsBefore(o, offs, rows), last);
  // Gather one matrix per row.
  Value chosen = c.gather(w, group);
  Type wide = o.opmath(o.element(x));
  Value product =
      c.matmul(c.unsqueeze(c.cast(x, wide), 1), c.cast(chosen, wide));
  return c.cast(c.squeeze(product, 1), o.element(x));
}

/// x[m, k] y[k, n], where each group consists of a range of k.
static Result<Value> multiplyInGroups(OpCall &o, Value x, Value y, Value offs) {
  Composer &c = o.c;
  SmallVector<Expr> ex = o.extents(x), ey = o.extents(y);
  if (!o.agree(ex[1], ey[0]))
    return o.fail("the extents do not fit each other");
  Expr groups = o.extents(offs)[0], m = ex[0], k = ex[1], n = ey[1];
  Value group = groupsBefore(o, offs, k);
  Type wide = o.opmath(o.element(x));
  // Zero the elements of other groups in both operands, since 0 times infinity
  // is NaN.
  auto keepOwn = [&](Value v, ArrayRef<Expr> shape, unsigned kDim,
                     ArrayRef<Expr> map) {
    Value own = c.equal(c.view(group, shape, {Expr::dim(kDim)}),
                        c.iota(shape, Expr::dim(0)));
    Value all = c.view(c.cast(v, wide), shape, map);
    return c.select(own, all, c.splat(all, 0));
  };
  Value left = keepOwn(x, {groups, m, k}, 2, {Expr::dim(1), Expr::dim(2)});
  Value right = keepOwn(y, {groups, k, n}, 1, {Expr::dim(1), Expr::dim(2)});
  return c.cast(c.matmul(left, right), o.element(x));
}

/// An op of the transformers library: rows of rank 2, one matrix per group.
static Status groupedMMFallback(OpCall &o) {
  Value x = o.tensor("input"), w = o.tensor("weight"), offs = o.tensor("offs");
  if (o.rank(x) != 2 || o.rank(w) != 3 || o.rank(offs) != 1 ||
      o.element(x) != o.element(w))
    return o.fail("takes rows, a matrix for each group, and offsets");
  LUMINAL_TRY(result, multiplyGroups(o, x, w, offs));
  return o.ret(result);
}

/// Groups of rows, of columns, or of k, depending on the operands' ranks;
/// without offsets, one product per group.
static Status groupedMM(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self"), y = o.tensor("mat2");
  auto offs = o.tensorOrNone("offs");
  Type type = o.element(x);
  auto rank = [&](Value v, unsigned n) { return o.rank(v) == n; };
  if (!(rank(x, 2) || rank(x, 3)) || !(rank(y, 2) || rank(y, 3)) ||
      o.element(y) != type || (offs && o.rank(*offs) != 1))
    return o.fail("takes matrices, or a matrix for each group, of one dtype, "
                  "and offsets");
  if (o.has("bias"))
    return o.fail("a bias is not supported, as in PyTorch");
  if (std::optional<Type> out = o.dtypeOrNone("out_dtype"); out && *out != type)
    return o.fail("a result of another dtype is not supported, as in PyTorch");
  if (rank(x, 3) && rank(y, 3)) {
    if (offs)
      return o.fail("has a matrix for each group on both sides, and offsets");
    return productOf(o, x, y);
  }
  if (!offs)
    return o.fail("has groups, but no offsets");
  if (rank(y, 3)) {
    LUMINAL_TRY(result, multiplyGroups(o, x, y, *offs));
    return o.ret(result);
  }
  if (rank(x, 2)) {
    LUMINAL_TRY(result, multiplyInGroups(o, x, y, *offs));
    return o.ret(result);
  }
  // Groups of columns are groups of rows of the transposed product.
  LUMINAL_TRY(result, multiplyGroups(o, c.permute(y, {1, 0}),
                                     c.permute(x, {0, 2, 1}), *offs));
  return o.ret(c.permute(result, {1, 0}));
}

llvm::ArrayRef<OpRow> pt2::getProductOps() {
  static const OpRow rows[] = {
      {"_scaled_dot_product_flash_attention_for_cpu(Tensor query, "
       "Tensor key, Tensor value, float dropout_p=0.0, "
       "bool is_causal=False, *, Tensor? attn_mask=None, "
       "float? scale=None)",
       attention},
      {"tensordot(Tensor self, Tensor other, int[] dims_self, "
       "int[] dims_other)",
       tensordot},
      {"inner(Tensor self, Tensor other)", inner},
      {"_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, "
       "int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1)",
       trilinear},
      {"chain_matmul(Tensor[] matrices)", chainMatmul},
      {"linalg_multi_dot(Tensor[] tensors)", chainMatmul},
      {"linalg_vecdot(Tensor x, Tensor y, *, int dim=-1)", vecdot},
      {"cross(Tensor self, Tensor other, int? dim=None)", cross},
      {"linalg_cross(Tensor self, Tensor other, *, int dim=-1)", cross},
      {"bilinear(Tensor input1, Tensor input2, Tensor weight, "
       "Tensor? bias=None)",
       bilinear},
      {"linear(Tensor input, Tensor weight, Tensor? bias=None)", linear},
      {"mm(Tensor self, Tensor mat2)", mm},
      {"bmm(Tensor self, Tensor mat2)", bmm},
      {"mv(Tensor self, Tensor vec)", mv},
      {"dot(Tensor self, Tensor tensor)", dot},
      {"matrix_power(Tensor self, int n)", matrixPower},
      {"vdot(Tensor self, Tensor other)", vdot},
      {"addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, "
       "Scalar alpha=1)",
       addr},
      {"matmul(Tensor self, Tensor other)", matmul},
      {"outer(Tensor self, Tensor vec2)", outer},
      {"addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
       "Scalar alpha=1)",
       addmm},
      {"baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
       "Scalar alpha=1)",
       baddbmm},
      {"addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
       "Scalar alpha=1)",
       addbmm},
      {"addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
       "Scalar alpha=1)",
       addmv},
      {"einsum(str equation, Tensor[] tensors, *, int[]? path=None)", einsum},
      {"scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
       "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
       "float? scale=None, bool enable_gqa=False)",
       attention},
      {"transformers::grouped_mm_fallback(Tensor input, Tensor weight, "
       "Tensor offs)",
       groupedMMFallback},
      {"_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, "
       "Tensor? bias=None, ScalarType? out_dtype=None)",
       groupedMM},
  };
  return rows;
}
