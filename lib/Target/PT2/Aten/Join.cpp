//===- Join.cpp - Joins and padding ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

static Status joinAlong(OpCall &o, ArrayRef<Value> given, int64_t dim) {
  SmallVector<Operand> operands;
  SmallVector<Value> parts;
  for (Value v : given) {
    operands.push_back(v);
    // PyTorch concatenates an empty tensor of rank 1 with any other (legacy
    // behavior).
    if (o.rank(v) != 1 || !o.extents(v)[0].isConstant(0))
      parts.push_back(v);
  }
  if (given.empty())
    return o.fail("joins no tensors");
  Type type = o.promote(operands);
  if (parts.empty())
    return o.ret(o.c.cast(given.front(), type));
  unsigned rank = o.rank(parts.front());
  LUMINAL_TRY(axis, o.axis(dim, rank));
  if (rank == 0)
    return o.fail("joins tensors without dims");
  SmallVector<Expr> first = o.extents(parts.front());
  for (Value &v : parts) {
    SmallVector<Expr> extents = o.extents(v);
    bool same = extents.size() == rank;
    for (unsigned i = 0; same && i < rank; ++i)
      same = i == axis || o.agree(extents[i], first[i]);
    if (!same)
      return o.fail("the tensors differ in another dim than the joined one");
    v = o.c.cast(v, type);
    for (unsigned i = 0; i < rank; ++i)
      if (i != axis)
        extents[i] = first[i];
    v = o.c.view(v, extents, identityMap(rank));
  }
  return o.ret(concatenate(o, parts, axis));
}
static Status cat(OpCall &o) {
  return joinAlong(o, o.tensors("tensors"), o.integer("dim"));
}
static Status stack(OpCall &o) {
  SmallVector<Value> parts = o.tensors("tensors");
  if (parts.empty())
    return o.fail("joins no tensors");
  LUMINAL_TRY(axis, o.axis(o.integer("dim"), o.rank(parts.front()) + 1));
  for (Value &v : parts) {
    if (o.rank(v) < axis)
      return o.fail("the tensors differ in rank");
    v = o.c.unsqueeze(v, axis);
  }
  return joinAlong(o, parts, axis);
}

/// Adds dims of extent 1 until `v` has `rank` dims, in the places where
/// torch.atleast_*d adds them.
static Value atLeast(OpCall &o, Value v, unsigned rank) {
  // [] -> [1, 1, 1]; [n] -> [1, n] or [1, n, 1]; [n, m] -> [n, m, 1]
  while (o.rank(v) < rank) {
    bool front = o.rank(v) == 0 || (o.rank(v) == 1 && rank >= 2);
    v = o.c.unsqueeze(v, front ? 0 : o.rank(v));
  }
  return v;
}
template <unsigned rank>
static Status atLeastOne(OpCall &o) {
  Value x = o.tensor("self");
  return o.ret(atLeast(o, x, rank));
}
/// The tensors of a stack, each with at least `rank` dims.
static SmallVector<Value> partsAtLeast(OpCall &o, unsigned rank) {
  SmallVector<Value> parts = o.tensors("tensors");
  for (Value &v : parts)
    v = atLeast(o, v, rank);
  return parts;
}
template <unsigned rank>
static Status atLeastEach(OpCall &o) {
  return o.ret(partsAtLeast(o, rank));
}
static Status vstack(OpCall &o) { return joinAlong(o, partsAtLeast(o, 2), 0); }
static Status hstack(OpCall &o) {
  SmallVector<Value> parts = partsAtLeast(o, 1);
  return joinAlong(o, parts, parts.empty() || o.rank(parts[0]) == 1 ? 0 : 1);
}
static Status dstack(OpCall &o) { return joinAlong(o, partsAtLeast(o, 3), 2); }
static Status columnStack(OpCall &o) {
  SmallVector<Value> parts = o.tensors("tensors");
  for (Value &v : parts)
    while (o.rank(v) < 2)
      v = o.c.unsqueeze(v, o.rank(v));
  return joinAlong(o, parts, 1);
}

static Status broadcastTensors(OpCall &o) {
  SmallVector<Value> parts = o.tensors("tensors");
  SmallVector<SmallVector<Expr>> shapes;
  for (Value v : parts)
    shapes.push_back(o.extents(v));
  LUMINAL_TRY(shape, o.broadcast(shapes));
  for (Value &v : parts)
    v = o.broadcastTo(v, shape);
  return o.ret(parts);
}

/// Broadcasts vector i along dim i of a common grid; for "xy", the first two
/// dims are swapped.
static Status gridOf(OpCall &o, bool swap) {
  SmallVector<Value> parts = o.tensors("tensors");
  SmallVector<Expr> extents;
  for (Value v : parts) {
    if (o.rank(v) > 1)
      return o.fail("takes vectors");
    extents.push_back(o.rank(v) ? o.extents(v)[0] : Expr(1));
  }
  swap &= parts.size() > 1;
  if (swap)
    std::swap(extents[0], extents[1]);
  for (auto [i, v] : llvm::enumerate(parts)) {
    unsigned axis = swap && i < 2 ? 1 - i : i;
    v = o.rank(v) ? o.c.view(v, extents, {Expr::dim(axis)})
                  : o.c.view(v, extents, {});
  }
  return o.ret(parts);
}
static Status meshgrid(OpCall &o) { return gridOf(o, false); }
static Status meshgridIndexing(OpCall &o) {
  StringRef indexing = o.string("indexing");
  if (indexing != "ij" && indexing != "xy")
    return o.fail("indexing '" + indexing + "' is not known");
  return gridOf(o, indexing == "xy");
}
static Status cartesianProd(OpCall &o) {
  SmallVector<Value> parts = o.tensors("tensors");
  std::vector<Expr> extents;
  for (Value v : parts) {
    if (o.rank(v) != 1)
      return o.fail("takes vectors");
    extents.push_back(o.extents(v)[0]);
  }
  if (parts.size() == 1)
    return o.ret(parts[0]);
  SmallVector<Value> columns;
  for (auto [i, v] : llvm::enumerate(parts)) {
    Value grid = o.c.view(v, SmallVector<Expr>(extents.begin(), extents.end()),
                          {Expr::dim(i)});
    columns.push_back(o.c.reshape(grid, {product(extents), Expr(1)}));
  }
  return joinAlong(o, columns, 1);
}

/// Places each matrix below and to the right of the previous one, with zeros
/// elsewhere.
static Status blockDiag(OpCall &o) {
  SmallVector<Value> parts = o.tensors("tensors");
  if (parts.empty())
    return o.fail("joins no tensors");
  SmallVector<Operand> operands;
  Expr width(0), left(0);
  for (Value &v : parts) {
    operands.push_back(v);
    v = atLeast(o, v, 2);
    if (o.rank(v) != 2)
      return o.fail("takes matrices");
    width = width + o.extents(v)[1];
  }
  Type type = o.promote(operands);
  SmallVector<Value> rows;
  for (Value v : parts) {
    Expr n = o.extents(v)[1], right = width - left - n;
    LUMINAL_TRY(row, padConstant(o, o.c.cast(v, type), {{1, left, right}},
                                 o.c.scalarInt(type, 0)));
    rows.push_back(row);
    left = left + n;
  }
  return joinAlong(o, rows, 0);
}

static Status padSequence(OpCall &o) {
  SmallVector<Value> parts = o.tensors("sequences");
  bool batchFirst = o.flag("batch_first"),
       left = o.string("padding_side") == "left";
  double fill = o.real("padding_value");
  Expr longest(0);
  for (Value v : parts) {
    if (o.rank(v) == 0)
      return o.fail("takes tensors with a dim");
    longest = o.assumptions().simplify(Expr::max(longest, o.extents(v)[0]));
  }
  for (Value &v : parts) {
    Expr rest = longest - o.extents(v)[0];
    LUMINAL_TRY(padded,
                padConstant(o, v,
                            {{0, left ? rest : Expr(0), left ? Expr(0) : rest}},
                            o.c.scalar(o.element(v), fill)));
    v = o.c.unsqueeze(padded, batchFirst ? 0 : 1);
  }
  return joinAlong(o, parts, batchFirst ? 0 : 1);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Reads the pairs of the pad list, last dim first.
static Result<SmallVector<Padding>> paddingOf(OpCall &o, Value x,
                                              StringRef name = "pad") {
  SmallVector<Expr> pad = o.exprs(name);
  unsigned rank = o.rank(x);
  if (pad.size() % 2 || pad.size() > 2 * rank)
    return o.fail("the pad list has no pair for each padded dim");
  SmallVector<Padding> result;
  for (unsigned i = 0; i < pad.size() / 2; ++i)
    if (!pad[2 * i].isConstant(0) || !pad[2 * i + 1].isConstant(0))
      result.push_back({rank - 1 - i, pad[2 * i], pad[2 * i + 1]});
  return result;
}

static Status constantPad(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(padding, paddingOf(o, x));
  Number value = o.numberOrNone("value").value_or(Number());
  LUMINAL_TRY(padded,
              padConstant(o, x, padding, o.materialize(value, o.element(x))));
  return o.ret(padded);
}

/// max(e, 0).
static Expr positivePart(OpCall &o, const Expr &e) {
  if (o.assumptions().provablyNonNegative(e))
    return e;
  return o.assumptions().provablyNonNegative(-e) ? Expr(0)
                                                 : Expr::max(e, Expr(0));
}

/// The index that result element d reads along a dim, for one of PyTorch's
/// padding modes that repeat elements. Negative pads crop: reflection and
/// replication still refer to the whole dim, while circular padding wraps
/// around the cropped one.
static Result<Expr> readInside(OpCall &o, StringRef mode, const Padding &p,
                               const Expr &n) {
  Expr d = Expr::dim(p.axis), i = d - p.before, last = n - Expr(1);
  auto atMost = [&](const Expr &most) -> Status {
    if (o.atMost(p.before, most) && o.atMost(p.after, most))
      return {};
    return o.fail("pads by more than the dim holds");
  };
  if (!o.atMost(Expr(1), n))
    return o.fail("extent " + n.str() + " is zero");
  if (mode == "reflect") {
    LUMINAL_CHECK(atMost(last));
    Expr a = Expr::max(i, -i);
    return Expr::min(a, Expr(2) * last - a);
  }
  if (mode == "replicate")
    return Expr::max(Expr::min(i, last), Expr(0));
  if (mode != "circular")
    return o.fail("mode '" + mode + "' is not known");
  Expr cut = positivePart(o, -p.before),
       left = o.assumptions().simplify(n - cut - positivePart(o, -p.after));
  LUMINAL_CHECK(atMost(left));
  bool cutsOnly = o.assumptions().provablyNonNegative(-p.before) &&
                  o.assumptions().provablyNonNegative(-p.after);
  if (cutsOnly)
    return i;
  if (!o.atMost(Expr(1), left))
    return o.fail("extent " + left.str() + " is zero");
  return Expr::mod(d - positivePart(o, p.before), left) + cut;
}

static Status padFrom(OpCall &o, StringRef mode, StringRef name) {
  Value x = o.tensor("self");
  LUMINAL_TRY(padding, paddingOf(o, x, name));
  SmallVector<Expr> extents = o.extents(x), map = identityMap(extents.size());
  for (const Padding &p : padding) {
    LUMINAL_TRY(inside, readInside(o, mode, p, extents[p.axis]));
    map[p.axis] = inside;
    extents[p.axis] = extents[p.axis] + p.before + p.after;
    if (!o.atMost(Expr(0), extents[p.axis]))
      return o.fail("extent " + extents[p.axis].str() + " is negative");
  }
  return o.ret(o.c.view(x, extents, map));
}

static Status padMode(OpCall &o) {
  StringRef mode = o.string("mode");
  if (mode == "constant")
    return constantPad(o);
  o.ignore({"value"});
  return padFrom(o, mode, "pad");
}
static Status reflectionPad(OpCall &o) {
  return padFrom(o, "reflect", "padding");
}
static Status replicationPad(OpCall &o) {
  return padFrom(o, "replicate", "padding");
}
static Status circularPad(OpCall &o) { return padFrom(o, "circular", "pad"); }

llvm::ArrayRef<OpRow> pt2::getJoinOps() {
#define LUMINAL_PADDING "(Tensor self, SymInt[] padding)"
  static const OpRow rows[] = {
      {"cat(Tensor[] tensors, int dim=0)", cat},
      {"stack(Tensor[] tensors, int dim=0)", stack},
      {"vstack(Tensor[] tensors)", vstack},
      {"hstack(Tensor[] tensors)", hstack},
      {"dstack(Tensor[] tensors)", dstack},
      {"column_stack(Tensor[] tensors)", columnStack},
      {"atleast_1d(Tensor self)", atLeastOne<1>},
      {"atleast_2d(Tensor self)", atLeastOne<2>},
      {"atleast_3d(Tensor self)", atLeastOne<3>},
      {"atleast_1d.Sequence(Tensor[] tensors)", atLeastEach<1>},
      {"atleast_2d.Sequence(Tensor[] tensors)", atLeastEach<2>},
      {"atleast_3d.Sequence(Tensor[] tensors)", atLeastEach<3>},
      {"broadcast_tensors(Tensor[] tensors)", broadcastTensors},
      {"meshgrid(Tensor[] tensors)", meshgrid},
      {"meshgrid.indexing(Tensor[] tensors, *, str indexing)",
       meshgridIndexing},
      {"cartesian_prod(Tensor[] tensors)", cartesianProd},
      {"block_diag(Tensor[] tensors)", blockDiag},
      {"pad_sequence(Tensor[] sequences, bool batch_first=False, "
       "float padding_value=0.0, str padding_side=right)",
       padSequence},
      {"constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0)",
       constantPad},
      {"pad(Tensor self, SymInt[] pad, str mode=constant, "
       "Scalar? value=None)",
       padMode},
      {"reflection_pad1d" LUMINAL_PADDING, reflectionPad},
      {"reflection_pad2d" LUMINAL_PADDING, reflectionPad},
      {"reflection_pad3d" LUMINAL_PADDING, reflectionPad},
      {"replication_pad1d" LUMINAL_PADDING, replicationPad},
      {"replication_pad2d" LUMINAL_PADDING, replicationPad},
      {"replication_pad3d" LUMINAL_PADDING, replicationPad},
      {"_pad_circular(Tensor self, SymInt[] pad)", circularPad},
  };
  return rows;
}
