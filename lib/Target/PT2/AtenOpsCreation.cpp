//===- AtenOpsCreation.cpp - New tensors, joins, padding, tiling ----------===//

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Filled tensors
//===----------------------------------------------------------------------===//

static LogicalResult filled(OpCall &o, ArrayRef<Expr> extents, Type type,
                            const Number &value) {
  for (const Expr &e : extents)
    if (!o.scope().provablyNonNegative(e))
      return o.fail("extent " + e.str() + " may be negative");
  return o.ret(o.c.full(extents, o.materialize(value, type)));
}
static Number plain(int64_t value) {
  Number n;
  n.integer = Expr(value);
  return n;
}
/// The dtype that a number has by itself.
static Type typeOf(OpCall &o, const Number &n) {
  return n.kind == Number::Float ? o.f32()
         : n.kind == Number::Int ? o.i64()
                                 : o.i1();
}

static LogicalResult full(OpCall &o) {
  Number value = *o.number("fill_value");
  Type type = o.dtype("dtype");
  return filled(o, *o.exprs("size"), type ? type : typeOf(o, value), value);
}
template <int value>
static LogicalResult sized(OpCall &o) {
  Type type = o.dtype("dtype");
  return filled(o, *o.exprs("size"), type ? type : o.f32(), plain(value));
}
template <int value>
static LogicalResult like(OpCall &o) {
  Value self = o.tensor("self");
  Type type = o.dtype("dtype");
  return filled(o, o.extents(self), type ? type : o.element(self),
                plain(value));
}
static LogicalResult fullLike(OpCall &o) {
  Value self = o.tensor("self");
  Type type = o.dtype("dtype");
  return filled(o, o.extents(self), type ? type : o.element(self),
                *o.number("fill_value"));
}
template <int value>
static LogicalResult newSized(OpCall &o) {
  Type type = o.dtype("dtype"), own = o.element(o.tensor("self"));
  return filled(o, *o.exprs("size"), type ? type : own, plain(value));
}
static LogicalResult newFull(OpCall &o) {
  Type type = o.dtype("dtype"), own = o.element(o.tensor("self"));
  return filled(o, *o.exprs("size"), type ? type : own,
                *o.number("fill_value"));
}
/// Strides say where elements lie, not what they are.
static LogicalResult emptyPermuted(OpCall &o) {
  o.ignore({"physical_layout"});
  return sized<0>(o);
}
static LogicalResult emptyStrided(OpCall &o) {
  o.ignore({"stride"});
  return sized<0>(o);
}
static LogicalResult scalarTensor(OpCall &o) {
  Type type = o.dtype("dtype");
  return filled(o, {}, type ? type : o.f32(), *o.number("s"));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static LogicalResult range(OpCall &o, const Number &start, const Number &end,
                           const Number &step) {
  bool floats = start.kind == Number::Float || end.kind == Number::Float ||
                step.kind == Number::Float;
  Type type = o.dtype("dtype");
  if (!type)
    type = floats ? o.f32() : o.i64();
  if (!floats) {
    auto by = step.integer.asConstant();
    if (!by || *by == 0)
      return o.fail("the step is symbolic or zero");
    Expr length = *by > 0
                      ? Expr::ceilDiv(end.integer - start.integer, Expr(*by))
                      : Expr::ceilDiv(start.integer - end.integer, Expr(-*by));
    if (!o.scope().provablyNonNegative(length))
      length = Expr::max(length, Expr(0));
    Value values = o.c.iota({o.scope().simplify(length)},
                            start.integer + Expr::dim(0) * Expr(*by));
    return o.ret(o.c.cast(values, type));
  }
  auto from = start.asDouble(), to = end.asDouble(), by = step.asDouble();
  if (!from || !to || !by || *by == 0)
    return o.fail("a range of floats has a symbolic bound or a step of zero");
  double count = std::ceil((*to - *from) / *by);
  if (!(count >= 0) || count > 1e15)
    return o.fail("the range has no length");
  // start + i * step in f64, rounded once.
  Type f64 = o.c.getBuilder().getF64Type();
  Value i = o.c.cast(
      o.c.iota({Expr(static_cast<int64_t>(count))}, Expr::dim(0)), f64);
  Value scaled = o.c.mul(i, o.c.splat(i, *by));
  return o.ret(o.c.cast(o.c.add(scaled, o.c.splat(i, *from)), type));
}
static LogicalResult arangeEnd(OpCall &o) {
  return range(o, plain(0), *o.number("end"), plain(1));
}
static LogicalResult arangeStart(OpCall &o) {
  return range(o, *o.number("start"), *o.number("end"), plain(1));
}
static LogicalResult arangeStep(OpCall &o) {
  return range(o, *o.number("start"), *o.number("end"), *o.number("step"));
}

static LogicalResult linspace(OpCall &o) {
  auto start = o.real("start"), end = o.real("end");
  int64_t steps = *o.integer("steps");
  Type type = o.dtype("dtype");
  type = type ? type : o.f32();
  if (steps < 0 || !isa<FloatType>(type))
    return o.fail("has a negative length or an integer dtype");
  // From the nearer end, so that both ends are exact.
  Type f64 = o.c.getBuilder().getF64Type();
  double step =
      steps > 1 ? (*end - *start) / static_cast<double>(steps - 1) : 0;
  Value index = o.c.iota({Expr(steps)}, Expr::dim(0));
  Value i = o.c.cast(index, f64);
  Value low = o.c.add(o.c.splat(i, *start), o.c.mul(i, o.c.splat(i, step)));
  Value back = o.c.sub(o.c.splat(i, static_cast<double>(steps - 1)), i);
  Value high = o.c.sub(o.c.splat(i, *end), o.c.mul(back, o.c.splat(i, step)));
  Value first = o.c.less(index, o.c.splatInt(index, steps / 2));
  if (steps == 1)
    return o.ret(o.c.cast(low, type));
  return o.ret(o.c.cast(o.c.select(first, low, high), type));
}

static LogicalResult eye(OpCall &o) {
  Expr n = *o.expr("n"), m = o.entry.name == "eye.m" ? *o.expr("m") : n;
  Type type = o.dtype("dtype");
  type = type ? type : o.f32();
  Value row = o.c.iota({n, m}, Expr::dim(0)),
        column = o.c.iota({n, m}, Expr::dim(1));
  Value equal = o.c.equal(row, column);
  return o.ret(o.c.select(equal, o.c.splatInt(row, 1, type),
                          o.c.splatInt(row, 0, type)));
}

/// Keeps the elements on one side of a diagonal.
template <bool upper>
static LogicalResult triangle(OpCall &o) {
  Value x = o.tensor("self");
  unsigned rank = o.rank(x);
  if (rank < 2)
    return o.fail("takes at least two dims");
  Value row = indexAlong(o, x, rank - 2), column = indexAlong(o, x, rank - 1);
  Value limit =
      o.c.add(row, o.broadcastTo(o.materialize(*o.number("diagonal"), o.i64()),
                                 o.extents(x)));
  Value keep =
      upper ? o.c.lessEqual(limit, column) : o.c.lessEqual(column, limit);
  return o.ret(o.c.select(keep, x, o.c.splatInt(x, 0)));
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

static LogicalResult joinAlong(OpCall &o, ArrayRef<Value> given, int64_t dim) {
  SmallVector<Operand> operands;
  SmallVector<Value> parts;
  for (Value v : given) {
    operands.push_back({v, {}});
    // Since long ago an empty tensor of one dim joins with anything.
    if (o.rank(v) != 1 || !o.extents(v)[0].isConstant(0))
      parts.push_back(v);
  }
  if (given.empty())
    return o.fail("joins no tensors");
  Type type = o.promote(operands);
  if (parts.empty())
    return o.ret(o.c.cast(given.front(), type));
  unsigned rank = o.rank(parts.front());
  auto axis = o.axis(dim, rank);
  if (!axis || rank == 0)
    return o.fail("joins tensors without dims");
  SmallVector<Expr> first = o.extents(parts.front());
  for (Value &v : parts) {
    SmallVector<Expr> extents = o.extents(v);
    bool same = extents.size() == rank;
    for (unsigned i = 0; same && i < rank; ++i)
      same = i == *axis || o.provablyEqual(extents[i], first[i]);
    if (!same)
      return o.fail("the tensors differ in another dim than the joined one");
    v = o.c.cast(v, type);
    for (unsigned i = 0; i < rank; ++i)
      if (i != *axis)
        extents[i] = first[i];
    v = o.c.view(v, extents, [&] {
      SmallVector<Expr> map;
      for (unsigned i = 0; i < rank; ++i)
        map.push_back(Expr::dim(i));
      return map;
    }());
  }
  return o.ret(concatenate(o, parts, *axis));
}
static LogicalResult cat(OpCall &o) {
  return joinAlong(o, o.tensors("tensors"), *o.integer("dim"));
}
static LogicalResult stack(OpCall &o) {
  SmallVector<Value> parts = o.tensors("tensors");
  if (parts.empty())
    return o.fail("joins no tensors");
  auto axis = o.axis(*o.integer("dim"), o.rank(parts.front()) + 1);
  if (!axis)
    return failure();
  for (Value &v : parts) {
    if (o.rank(v) < *axis)
      return o.fail("the tensors differ in rank");
    v = o.c.unsqueeze(v, *axis);
  }
  return joinAlong(o, parts, *axis);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Pairs of the pad list, last dim first.
static std::optional<SmallVector<Padding>> paddingOf(OpCall &o, Value x) {
  SmallVector<Expr> pad = *o.exprs("pad");
  unsigned rank = o.rank(x);
  if (pad.size() % 2 || pad.size() > 2 * rank) {
    (void)o.fail("the pad list has no pair for each padded dim");
    return std::nullopt;
  }
  SmallVector<Padding> result;
  for (unsigned i = 0; i < pad.size() / 2; ++i)
    if (!pad[2 * i].isConstant(0) || !pad[2 * i + 1].isConstant(0))
      result.push_back({rank - 1 - i, pad[2 * i], pad[2 * i + 1]});
  return result;
}

static LogicalResult constantPad(OpCall &o) {
  Value x = o.tensor("self");
  auto padding = paddingOf(o, x);
  if (!padding)
    return failure();
  Number value = o.number("value").value_or(plain(0));
  Value padded =
      padConstant(o, x, *padding, o.materialize(value, o.element(x)));
  return padded ? o.ret(padded) : failure();
}

static LogicalResult padMode(OpCall &o) {
  StringRef mode = o.string("mode");
  if (mode == "constant")
    return constantPad(o);
  o.ignore({"value"});
  Value x = o.tensor("self");
  auto padding = paddingOf(o, x);
  if (!padding)
    return failure();
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(Expr::dim(i));
  for (const Padding &p : *padding) {
    Expr n = extents[p.axis], last = n - Expr(1);
    Expr i = Expr::dim(p.axis) - p.before;
    Expr most = mode == "reflect" ? last : n;
    if (mode != "replicate" && (!o.scope().provablyLessEqual(p.before, most) ||
                                !o.scope().provablyLessEqual(p.after, most)))
      return o.fail("pads by more than the dim holds");
    if (!o.scope().provablyLessEqual(Expr(1), n))
      return o.fail("extent " + n.str() + " may be zero");
    if (mode == "reflect") {
      Expr a = Expr::max(i, -i);
      map[p.axis] = Expr::min(a, Expr(2) * last - a);
    } else if (mode == "replicate") {
      map[p.axis] = Expr::max(Expr::min(i, last), Expr(0));
    } else if (mode == "circular") {
      map[p.axis] = Expr::mod(i, n);
    } else {
      return o.fail("mode '" + mode + "' is not known");
    }
    extents[p.axis] = n + p.before + p.after;
  }
  return o.ret(o.c.view(x, extents, map));
}

//===----------------------------------------------------------------------===//
// Tiling and order
//===----------------------------------------------------------------------===//

static LogicalResult tileBy(OpCall &o, SmallVector<Expr> repeats) {
  SmallVector<Expr> from = o.extents(o.tensor("self")), extents, map;
  while (repeats.size() < from.size())
    repeats.insert(repeats.begin(), Expr(1));
  unsigned lead = repeats.size() - from.size();
  for (unsigned i = 0; i < repeats.size(); ++i) {
    if (i < lead) {
      extents.push_back(repeats[i]);
      continue;
    }
    const Expr &n = from[i - lead];
    extents.push_back(n * repeats[i]);
    map.push_back(repeats[i].isConstant(1) ? Expr::dim(i)
                  : n.isConstant(1)        ? Expr(0)
                  : n.isConstant(0)        ? Expr(0)
                                           : Expr::mod(Expr::dim(i), n));
  }
  return o.ret(o.c.view(o.tensor("self"), extents, map));
}
static LogicalResult repeat(OpCall &o) {
  SmallVector<Expr> repeats = *o.exprs("repeats");
  if (repeats.size() < o.rank(o.tensor("self")))
    return o.fail("has fewer repeats than dims");
  return tileBy(o, repeats);
}
static LogicalResult tile(OpCall &o) { return tileBy(o, *o.exprs("dims")); }

static LogicalResult repeatInterleave(OpCall &o) {
  Value x = o.tensor("self");
  Expr repeats = *o.expr("repeats");
  o.ignore({"output_size"});
  if (!o.has("dim")) {
    x = o.c.reshape(x, {product([&] {
                      SmallVector<Expr> e = o.extents(x);
                      return std::vector<Expr>(e.begin(), e.end());
                    }())});
  }
  auto axis = o.axis(o.integer("dim").value_or(0), o.rank(x));
  if (!axis || !o.scope().provablyLessEqual(Expr(1), repeats))
    return o.fail("the number of repeats may be zero");
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == *axis ? Expr::floorDiv(Expr::dim(i), repeats)
                             : Expr::dim(i));
  extents[*axis] = extents[*axis] * repeats;
  return o.ret(o.c.view(x, extents, map));
}

static LogicalResult flip(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<int64_t> dims = *o.integers("dims");
  if (dims.empty())
    return o.ret(x);
  auto axes = o.axes(dims, o.rank(x));
  if (!axes)
    return failure();
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(llvm::is_contained(*axes, i)
                      ? extents[i] - Expr(1) - Expr::dim(i)
                      : Expr::dim(i));
  return o.ret(o.c.view(x, extents, map));
}

static LogicalResult roll(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<Expr> shifts = *o.exprs("shifts"), original = o.extents(x);
  SmallVector<int64_t> dims = *o.integers("dims");
  bool flat = dims.empty();
  if (flat && shifts.size() != 1)
    return o.fail("has several shifts but no dims");
  Value y = x;
  if (flat) {
    y = o.c.reshape(
        x, {product(std::vector<Expr>(original.begin(), original.end()))});
    dims = {0};
  }
  if (shifts.size() != dims.size())
    return o.fail("has another number of shifts than of dims");
  for (auto [shift, dim] : llvm::zip(shifts, dims)) {
    auto axis = o.axis(dim, o.rank(y));
    if (!axis)
      return failure();
    SmallVector<Expr> extents = o.extents(y), map;
    for (unsigned i = 0; i < extents.size(); ++i) {
      bool rolled = i == *axis && !extents[i].isConstant(0);
      map.push_back(rolled ? Expr::mod(Expr::dim(i) - shift, extents[i])
                           : Expr::dim(i));
    }
    y = o.c.view(y, extents, map);
  }
  return o.ret(flat ? o.c.reshape(y, original) : y);
}

#define LUMINAL_TENSOR_OPTIONS                                                 \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "         \
  "bool? pin_memory=None"
#define LUMINAL_LIKE_OPTIONS                                                   \
  LUMINAL_TENSOR_OPTIONS ", MemoryFormat? memory_format=None"

llvm::ArrayRef<OpRow> pt2::getCreationOps() {
  static const OpRow rows[] = {
      {"full(SymInt[] size, Scalar fill_value, *, " LUMINAL_TENSOR_OPTIONS ")",
       full},
      {"zeros(SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")", sized<0>},
      {"ones(SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")", sized<1>},
      {"empty.memory_format(SymInt[] size, *, " LUMINAL_LIKE_OPTIONS ")",
       sized<0>},
      {"empty_permuted(SymInt[] size, int[] physical_layout, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       emptyPermuted},
      {"empty_strided(SymInt[] size, SymInt[] stride, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       emptyStrided},
      {"zeros_like(Tensor self, *, " LUMINAL_LIKE_OPTIONS ")", like<0>},
      {"ones_like(Tensor self, *, " LUMINAL_LIKE_OPTIONS ")", like<1>},
      {"empty_like(Tensor self, *, " LUMINAL_LIKE_OPTIONS ")", like<0>},
      {"full_like(Tensor self, Scalar fill_value, *, " LUMINAL_LIKE_OPTIONS ")",
       fullLike},
      {"new_zeros(Tensor self, SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")",
       newSized<0>},
      {"new_ones(Tensor self, SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")",
       newSized<1>},
      {"new_empty(Tensor self, SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")",
       newSized<0>},
      {"new_full(Tensor self, SymInt[] size, Scalar fill_value, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       newFull},
      {"scalar_tensor(Scalar s, *, " LUMINAL_TENSOR_OPTIONS ")", scalarTensor},
      {"arange(Scalar end, *, " LUMINAL_TENSOR_OPTIONS ")", arangeEnd},
      {"arange.start(Scalar start, Scalar end, *, " LUMINAL_TENSOR_OPTIONS ")",
       arangeStart},
      {"arange.start_step(Scalar start, Scalar end, Scalar step=1, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       arangeStep},
      {"linspace(Scalar start, Scalar end, int steps, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       linspace},
      {"eye(SymInt n, *, " LUMINAL_TENSOR_OPTIONS ")", eye},
      {"eye.m(SymInt n, SymInt m, *, " LUMINAL_TENSOR_OPTIONS ")", eye},
      {"tril(Tensor self, Scalar diagonal=0)", triangle<false>},
      {"triu(Tensor self, Scalar diagonal=0)", triangle<true>},
      {"cat(Tensor[] tensors, int dim=0)", cat},
      {"concat(Tensor[] tensors, int dim=0)", cat},
      {"stack(Tensor[] tensors, int dim=0)", stack},
      {"constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0)",
       constantPad},
      {"pad(Tensor self, SymInt[] pad, str mode=constant, "
       "Scalar? value=None)",
       padMode},
      {"repeat(Tensor self, SymInt[] repeats)", repeat},
      {"tile(Tensor self, SymInt[] dims)", tile},
      {"repeat_interleave.self_int(Tensor self, SymInt repeats, "
       "int? dim=None, *, SymInt? output_size=None)",
       repeatInterleave},
      {"flip(Tensor self, int[] dims)", flip},
      {"roll(Tensor self, SymInt[] shifts, int[] dims=[])", roll},
  };
  return rows;
}
