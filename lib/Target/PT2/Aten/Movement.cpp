//===- Movement.cpp - Views -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Replaces a -1 by the extent that follows from the others.
static Result<SmallVector<Expr>> inferShape(OpCall &o, Value x,
                                            SmallVector<Expr> shape) {
  Expr total = o.numElements(x);
  std::optional<unsigned> open;
  Expr known(1);
  for (auto [i, e] : llvm::enumerate(shape)) {
    if (!e.isConstant(-1)) {
      known = known * e;
      continue;
    }
    if (open)
      return o.fail("the shape has two open extents");
    open = i;
  }
  if (open) {
    // Use the archive's extent if it is provably equal, else the quotient.
    const TensorMeta *meta = o.resultMeta();
    Expr quotient =
        known.isConstant(0)
            ? Expr(0)
            : o.assumptions().simplify(Expr::floorDiv(total, known));
    shape[*open] = quotient;
    if (meta && meta->sizes.size() == shape.size() &&
        !o.provablyEqual(known * quotient, total))
      shape[*open] = meta->sizes[*open];
  }
  if (!o.agree(o.numElements(shape), total))
    return o.fail("a tensor of " + total.str() + " elements is not one of " +
                  o.numElements(shape).str());
  return shape;
}

static Status reshapeTo(OpCall &o, ArrayRef<Expr> shape) {
  Value x = o.tensor("self");
  return o.retReshaped(o.c.reshape(x, shape), shape);
}
static Status reshape(OpCall &o, StringRef name) {
  Value x = o.tensor("self");
  LUMINAL_TRY(shape, inferShape(o, x, o.exprs(name)));
  return reshapeTo(o, shape);
}
static Status view(OpCall &o) { return reshape(o, "size"); }
static Status reshapeOp(OpCall &o) { return reshape(o, "shape"); }
static Status viewAs(OpCall &o) {
  SmallVector<Expr> shape = o.extents(o.tensor("other"));
  LUMINAL_TRY(checked, inferShape(o, o.tensor("self"), shape));
  return reshapeTo(o, checked);
}
static Status ravel(OpCall &o) {
  return reshapeTo(o, {o.numElements(o.tensor("self"))});
}

static Status flatten(OpCall &o) {
  Value x = o.tensor("self");
  unsigned rank = o.rank(x);
  LUMINAL_TRY(first, o.axis(o.integer("start_dim"), rank));
  LUMINAL_TRY(last, o.axis(o.integer("end_dim"), rank));
  if (first > last)
    return o.fail("the range of dims is empty");
  if (rank == 0)
    return reshapeTo(o, {Expr(1)});
  SmallVector<Expr> from = o.extents(x),
                    shape(from.begin(), from.begin() + first);
  shape.push_back(o.numElements(ArrayRef(from).slice(first, last - first + 1)));
  shape.append(from.begin() + last + 1, from.end());
  return reshapeTo(o, shape);
}

static Status unflatten(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("has no dim to split");
  SmallVector<Expr> from = o.extents(x), sizes = o.exprs("sizes"), shape;
  shape.append(from.begin(), from.begin() + axis);
  shape.append(sizes.begin(), sizes.end());
  shape.append(from.begin() + axis + 1, from.end());
  LUMINAL_TRY(inferred, inferShape(o, x, shape));
  return reshapeTo(o, inferred);
}

static Status squeezeDims(OpCall &o, ArrayRef<unsigned> dims) {
  SmallVector<Expr> extents, map, from = o.extents(o.tensor("self"));
  for (unsigned i = 0; i < from.size(); ++i) {
    if (llvm::is_contained(dims, i) && from[i].isConstant(1)) {
      map.push_back(Expr(0));
      continue;
    }
    map.push_back(Expr::dim(extents.size()));
    extents.push_back(from[i]);
  }
  return o.retView(extents, map);
}
static Status squeeze(OpCall &o) {
  unsigned rank = o.rank(o.tensor("self"));
  return squeezeDims(o, llvm::to_vector(llvm::seq<unsigned>(0, rank)));
}
static Status squeezeDim(OpCall &o) {
  LUMINAL_TRY(axis, o.axis("dim", o.tensor("self")));
  return squeezeDims(o, axis);
}
static Status squeezeList(OpCall &o) {
  SmallVector<int64_t> dims = o.integers("dim");
  if (dims.empty())
    return o.retAlias();
  LUMINAL_TRY(axes, o.axes(dims, o.rank(o.tensor("self"))));
  return squeezeDims(o, axes);
}
static Status unsqueeze(OpCall &o) {
  Value x = o.tensor("self");
  unsigned rank = o.rank(x);
  LUMINAL_TRY(axis, o.axis(o.integer("dim"), rank + 1));
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < rank; ++i)
    map.push_back(Expr::dim(i < axis ? i : i + 1));
  extents.insert(extents.begin() + axis, Expr(1));
  return o.retView(extents, map);
}

//===----------------------------------------------------------------------===//
// Permutations and broadcasts
//===----------------------------------------------------------------------===//

static Status permuteTo(OpCall &o, ArrayRef<unsigned> order) {
  SmallVector<Expr> from = o.extents(o.tensor("self")), extents,
                    map(from.size());
  for (auto [i, axis] : llvm::enumerate(order)) {
    extents.push_back(from[axis]);
    map[axis] = Expr::dim(i);
  }
  return o.retView(extents, map);
}
static Status permute(OpCall &o) {
  unsigned rank = o.rank(o.tensor("self"));
  SmallVector<unsigned> order;
  SmallVector<int64_t> dims = o.integers("dims");
  for (int64_t dim : dims) {
    LUMINAL_TRY(axis, o.axis(dim, rank));
    if (llvm::is_contained(order, axis))
      return o.fail("the dims are not a permutation");
    order.push_back(axis);
  }
  if (order.size() != rank)
    return o.fail("the dims are not a permutation");
  return permuteTo(o, order);
}
static Status swapDims(OpCall &o, int64_t first, int64_t second) {
  unsigned rank = o.rank(o.tensor("self"));
  LUMINAL_TRY(a, o.axis(first, rank));
  LUMINAL_TRY(b, o.axis(second, rank));
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  if (rank)
    std::swap(order[a], order[b]);
  return permuteTo(o, order);
}
static Status transpose(OpCall &o) {
  return swapDims(o, o.integer("dim0"), o.integer("dim1"));
}
static Status swapAxes(OpCall &o) {
  return swapDims(o, o.integer("axis0"), o.integer("axis1"));
}
static Status transposed(OpCall &o) {
  unsigned rank = o.rank(o.tensor("self"));
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::reverse(order.begin(), order.end());
  return permuteTo(o, order);
}
static Status t(OpCall &o) {
  if (o.rank(o.tensor("self")) > 2)
    return o.fail("takes at most two dims");
  return transposed(o);
}
static Status adjoint(OpCall &o) {
  unsigned rank = o.rank(o.tensor("self"));
  if (rank < 2)
    return o.fail("takes at least two dims");
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return permuteTo(o, order);
}
static Status movedim(OpCall &o) {
  unsigned rank = o.rank(o.tensor("self"));
  SmallVector<int64_t> source = o.integers("source"),
                       target = o.integers("destination");
  if (source.size() != target.size())
    return o.fail("source and destination differ in length");
  SmallVector<std::optional<unsigned>> order(rank);
  SmallVector<bool> used(rank, false);
  for (auto [s, d] : llvm::zip(source, target)) {
    LUMINAL_TRY(from, o.axis(s, rank));
    LUMINAL_TRY(to, o.axis(d, rank));
    if (rank == 0 || order[to] || used[from])
      return o.fail("the dims are not a permutation");
    order[to] = from;
    used[from] = true;
  }
  SmallVector<unsigned> result;
  unsigned next = 0;
  for (auto &slot : order) {
    while (!slot && used[next])
      ++next;
    result.push_back(slot ? *slot : next++);
  }
  return permuteTo(o, result);
}

static Status expandTo(OpCall &o, ArrayRef<Expr> shape) {
  SmallVector<Expr> from = o.extents(o.tensor("self")), extents, map;
  if (shape.size() < from.size())
    return o.fail("the shape has fewer dims than the tensor");
  unsigned lead = shape.size() - from.size();
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (i < lead) {
      extents.push_back(shape[i]);
      continue;
    }
    const Expr &e = from[i - lead];
    bool keep = shape[i].isConstant(-1) || o.provablyEqual(shape[i], e);
    if (!keep && !e.isConstant(1) && !o.agree(shape[i], e))
      return o.fail("extent " + e.str() + " cannot be expanded to " +
                    shape[i].str());
    extents.push_back(keep ? e : shape[i]);
    map.push_back(e.isConstant(1) ? Expr(0) : Expr::dim(i));
  }
  return o.retView(extents, map);
}
static Status expand(OpCall &o) {
  o.ignore({"implicit"});
  return expandTo(o, o.exprs("size"));
}
static Status expandAs(OpCall &o) {
  return expandTo(o, o.extents(o.tensor("other")));
}
static Status broadcastTo(OpCall &o) { return expandTo(o, o.exprs("size")); }

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Adds the extent to a negative index.
static Expr fromEnd(OpCall &o, const Expr &index, const Expr &extent) {
  const Assumptions &assumptions = o.assumptions();
  if (assumptions.provablyNonNegative(index))
    return index;
  if (assumptions.provablyNonNegative(-index - Expr(1)))
    return assumptions.simplify(index + extent);
  // 1 if the index is negative, else 0.
  Expr sign = Expr::min(Expr::max(-index, Expr(0)), Expr(1));
  return assumptions.simplify(index + sign * extent);
}

/// Clamps the bound of a Python slice to [0, extent].
static Expr clampBound(OpCall &o, Expr bound, const Expr &extent) {
  const Assumptions &assumptions = o.assumptions();
  if (bound.isConstant(INT64_MAX))
    return extent;
  bound = fromEnd(o, bound, extent);
  if (!assumptions.provablyNonNegative(bound))
    bound = Expr::max(bound, Expr(0));
  if (!assumptions.provablyLessEqual(bound, extent))
    bound = assumptions.provablyLessEqual(extent, bound)
                ? extent
                : Expr::min(bound, extent);
  return assumptions.simplify(bound);
}

namespace {
struct SliceRange {
  unsigned axis;
  Expr start, extent, step;
};
} // namespace

static Result<SliceRange> sliceRange(OpCall &o, Value x) {
  LUMINAL_TRY(axis, o.axis("dim", x));
  int64_t step = o.integer("step");
  if (o.rank(x) == 0 || step <= 0)
    return o.fail("slices no dim, or by a step that is not positive");
  Expr n = o.extents(x)[axis];
  Expr start = clampBound(o, o.exprOrNone("start").value_or(Expr(0)), n),
       end = clampBound(o, o.exprOrNone("end").value_or(Expr(INT64_MAX)), n);
  Expr length = end - start;
  if (!o.assumptions().provablyNonNegative(length))
    length = Expr::max(length, Expr(0));
  Expr count = o.assumptions().simplify(Expr::ceilDiv(length, Expr(step)));
  return SliceRange{axis, start, count, Expr(step)};
}

static Status slice(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(range, sliceRange(o, x));
  SmallVector<Expr> extents = o.extents(x), map = identityMap(extents.size());
  extents[range.axis] = range.extent;
  map[range.axis] = range.start + Expr::dim(range.axis) * range.step;
  return o.retView(extents, map);
}

/// Whether `x` is a constant fill, or slices inserted into one. Such values are
/// not memory that a call keeps.
static bool isFilled(Value x) {
  while (auto view = x.getDefiningOp<hlir::ViewOp>())
    x = view.getOperand();
  if (auto select = x.getDefiningOp<hlir::SelectOp>())
    return isFilled(select.getOnFalse());
  return bool(x.getDefiningOp<hlir::ConstantOp>());
}

/// If `v` is a view of slices inserted into a filled tensor, reads the slices'
/// elements directly. If it lies in a single slice, the select folds away.
static Value readThrough(OpCall &o, Value v) {
  auto view = v.getDefiningOp<hlir::ViewOp>();
  auto select = view ? view.getOperand().getDefiningOp<hlir::SelectOp>()
                     : hlir::SelectOp();
  if (!select || !isFilled(select))
    return v;
  auto read = [&](Value part) {
    return readThrough(
        o, o.c.view(part, o.extents(v), view.getMap().getResults()));
  };
  Value condition = read(select.getCondition());
  return o.c.select(condition, read(select.getOnTrue()),
                    read(select.getOnFalse()));
}

/// Replaces a slice of a tensor by rows along the axis. In a filled tensor,
/// which is written entirely anyway, selects by whether an element is in the
/// slice.
static Status sliceScatter(OpCall &o) {
  Value x = o.tensor("self"), src = o.tensor("src");
  LUMINAL_TRY(range, sliceRange(o, x));
  unsigned rank = o.rank(x);
  SmallVector<Expr> shape = o.extents(x);
  shape[range.axis] = range.extent;
  LUMINAL_TRY(joined, o.broadcast({shape, o.extents(src)}));
  if (joined.size() != rank)
    return o.fail("the source cannot be broadcast to the slice");
  src = o.broadcastTo(o.c.cast(src, o.element(x)), shape);
  if (range.step.isConstant(1) && isFilled(x) &&
      o.isKnownAtMost(Expr(1), range.extent)) {
    Expr after = o.extents(x)[range.axis] - range.start - range.extent;
    return o.ret(placeInside(o, readThrough(o, src),
                             {{range.axis, range.start, after}},
                             [&](ArrayRef<Expr>) { return x; }));
  }
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(order[0], order[range.axis]);
  Value rows =
      o.c.iota({range.extent}, range.start + Expr::dim(0) * range.step);
  Value result = o.c.scatter(Combine::Set, o.c.permute(x, order), rows,
                             o.c.permute(src, order));
  return o.ret(o.c.permute(result, order));
}

/// An index along `axis` in [0, extent); negative ones count from the end.
static Result<Expr> wrapIndex(OpCall &o, Expr index, const Expr &extent) {
  index = fromEnd(o, index, extent);
  if (!o.atMost(Expr(0), index) || !o.atMost(index + Expr(1), extent))
    return o.fail("index " + index.str() + " is not inside extent " +
                  extent.str());
  return index;
}

static Status select(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("selects from a tensor without dims");
  SmallVector<Expr> extents = o.extents(x), map;
  LUMINAL_TRY(index, wrapIndex(o, o.expr("index"), extents[axis]));
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == axis ? index : Expr::dim(i < axis ? i : i - 1));
  extents.erase(extents.begin() + axis);
  return o.retView(extents, map);
}

static Status selectScatter(OpCall &o) {
  Value x = o.tensor("self"), src = o.tensor("src");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("selects from a tensor without dims");
  LUMINAL_TRY(index, wrapIndex(o, o.expr("index"), o.extents(x)[axis]));
  if (o.rank(src) + 1 != o.rank(x))
    return o.fail("the source has another rank than the selected part");
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, o.rank(x)));
  std::swap(order[0], order[axis]);
  Value update = o.c.unsqueeze(o.c.cast(src, o.element(x)), axis);
  Value result =
      o.c.scatter(Combine::Set, o.c.permute(x, order),
                  o.c.iota({Expr(1)}, index), o.c.permute(update, order));
  return o.ret(o.c.permute(result, order));
}

static Status narrow(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("narrows a tensor without dims");
  SmallVector<Expr> extents = o.extents(x), map = identityMap(extents.size());
  Expr start = o.expr("start"), length = o.expr("length");
  start = fromEnd(o, start, extents[axis]);
  if (!o.atMost(Expr(0), start) || !o.atMost(Expr(0), length) ||
      !o.atMost(start + length, extents[axis]))
    return o.fail("the range is not inside the dim");
  extents[axis] = length;
  map[axis] = start + Expr::dim(axis);
  return o.retView(extents, map);
}

/// Views of consecutive ranges of the given lengths.
static Status splitBy(OpCall &o, unsigned axis, ArrayRef<Expr> lengths) {
  SmallVector<Expr> from = o.extents(o.tensor("self"));
  SmallVector<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views;
  Expr start(0);
  for (const Expr &length : lengths) {
    SmallVector<Expr> extents = from, map = identityMap(from.size());
    extents[axis] = length;
    map[axis] = start + Expr::dim(axis);
    views.emplace_back(extents, map);
    start = start + length;
  }
  if (!o.agree(start, from[axis]))
    return o.fail("the parts do not add up to extent " + from[axis].str());
  return o.retViews(views);
}

/// Splits into parts of length `size`, the last one shorter; the archive states
/// their number.
static Status splitInto(OpCall &o, unsigned axis, const Expr &size) {
  Expr n = o.extents(o.tensor("self"))[axis];
  unsigned parts = o.getNumResults();
  if (parts == 0)
    return o.fail("has no parts");
  SmallVector<Expr> lengths(parts - 1, size);
  Expr rest = o.assumptions().simplify(n - size * Expr(int64_t(parts) - 1));
  // Require that every call has this number of parts: another number would be
  // another program.
  bool mayBeEmpty = parts == 1 || size.isConstant(0);
  if (!o.atMost(Expr(mayBeEmpty ? 0 : 1), rest) || !o.atMost(rest, size))
    return o.fail("the number of parts is not that of extent " + n.str());
  lengths.push_back(rest);
  return splitBy(o, axis, lengths);
}
static Status split(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("splits a tensor without dims");
  return splitInto(o, axis, o.expr("split_size"));
}
static Status splitWithSizes(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("splits a tensor without dims");
  return splitBy(
      o, axis,
      o.exprs(o.entry.name == "split.sizes" ? "split_size" : "split_sizes"));
}
static Status chunk(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  int64_t chunks = o.integer("chunks");
  if (o.rank(x) == 0 || chunks <= 0)
    return o.fail("splits a tensor without dims, or into no parts");
  Expr n = o.extents(x)[axis];
  return splitInto(o, axis,
                   o.assumptions().simplify(Expr::ceilDiv(n, Expr(chunks))));
}
static Status unbind(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("splits a tensor without dims");
  SmallVector<Expr> from = o.extents(x);
  int64_t n = o.getNumResults();
  if (!o.agree(from[axis], Expr(n)))
    return o.fail("the number of parts is not extent " + from[axis].str());
  SmallVector<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views;
  for (int64_t part = 0; part < n; ++part) {
    SmallVector<Expr> extents = from, map;
    for (unsigned i = 0; i < from.size(); ++i)
      map.push_back(i == axis ? Expr(part) : Expr::dim(i < axis ? i : i - 1));
    extents.erase(extents.begin() + axis);
    views.emplace_back(extents, map);
  }
  return o.retViews(views);
}

/// Splits into `sections` parts; if they do not divide the dim evenly, the
/// first ones are longer by one.
static Status splitSections(OpCall &o, unsigned axis, int64_t sections) {
  Expr n = o.extents(o.tensor("self"))[axis];
  if (sections <= 0)
    return o.fail("splits into no parts");
  if (sections != o.getNumResults())
    return o.fail("gives " + Twine(sections) + " parts, but the archive has " +
                  Twine(o.getNumResults()));
  SmallVector<Expr> lengths;
  for (int64_t i = 0; i < sections; ++i)
    lengths.push_back(o.assumptions().simplify(
        Expr::floorDiv(n + Expr(sections - 1 - i), Expr(sections))));
  return splitBy(o, axis, lengths);
}
static Status splitIndices(OpCall &o, unsigned axis,
                           ArrayRef<int64_t> indices) {
  Expr n = o.extents(o.tensor("self"))[axis], start(0);
  SmallVector<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views;
  SmallVector<Expr> from = o.extents(o.tensor("self"));
  for (unsigned i = 0; i <= indices.size(); ++i) {
    Expr end = i < indices.size() ? clampBound(o, Expr(indices[i]), n) : n;
    SmallVector<Expr> extents = from, map = identityMap(from.size());
    extents[axis] = o.assumptions().simplify(Expr::max(end - start, Expr(0)));
    map[axis] = start + Expr::dim(axis);
    views.emplace_back(extents, map);
    start = end;
  }
  return o.retViews(views);
}
static Status tensorSplit(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0)
    return o.fail("splits a tensor without dims");
  if (o.entry.name == "tensor_split.sections")
    return splitSections(o, axis, o.integer("sections"));
  return splitIndices(o, axis, o.integers("indices"));
}
/// Splits along the dim that the op's name implies; a vector has only one.
template <unsigned dim>
static Status splitAlong(OpCall &o) {
  unsigned rank = o.rank(o.tensor("self"));
  unsigned axis = dim == 1 && rank == 1 ? 0 : dim;
  if (rank <= axis)
    return o.fail("has fewer dims than the op takes");
  if (StringRef(o.entry.name).ends_with(".int"))
    return splitSections(o, axis, o.integer("sections"));
  return splitIndices(o, axis, o.integers("indices"));
}

/// The map of a view given by strides in memory, on a tensor that is known to
/// be contiguous.
static Result<SmallVector<Expr>> stridedMap(OpCall &o, Value x,
                                            ArrayRef<Expr> size) {
  SmallVector<Expr> stride = o.exprs("stride"), from = o.extents(x);
  const TensorMeta *meta = o.argumentMeta("self");
  Expr expected(1);
  bool contiguous = meta && meta->sizes.size() == from.size() &&
                    meta->storageOffset.isConstant(0);
  for (unsigned i = from.size(); contiguous && i-- > 0;) {
    contiguous =
        from[i].isConstant(1) || o.provablyEqual(meta->strides[i], expected);
    expected = expected * from[i];
  }
  if (!contiguous || size.size() != stride.size())
    return o.fail("takes strides of a tensor that is not known to be "
                  "contiguous");
  Expr first = o.exprOrNone("storage_offset").value_or(Expr(0)), place = first,
       last = first;
  for (unsigned i = 0; i < size.size(); ++i) {
    place = place + Expr::dim(i) * stride[i];
    last = last + (size[i] - Expr(1)) * stride[i];
    if (!o.atMost(Expr(0), stride[i]) || !o.atMost(Expr(0), size[i]))
      return o.fail("a stride or an extent is negative");
  }
  if (!o.atMost(Expr(0), first) ||
      !o.atMost(last + Expr(1), o.numElements(from), size))
    return o.fail("the strides leave the tensor");
  std::vector<Expr> map =
      delinearize(place, std::vector<Expr>(from.begin(), from.end()));
  return SmallVector<Expr>(map.begin(), map.end());
}
static Status asStrided(OpCall &o) {
  SmallVector<Expr> size = o.exprs("size");
  LUMINAL_TRY(map, stridedMap(o, o.tensor("self"), size));
  return o.retView(size, map);
}
static Status asStridedScatter(OpCall &o) {
  Value x = o.tensor("self"), src = o.tensor("src");
  SmallVector<Expr> size = o.exprs("size");
  LUMINAL_TRY(map, stridedMap(o, x, size));
  LUMINAL_TRY(joined, o.broadcast({size, o.extents(src)}));
  if (joined.size() != size.size())
    return o.fail("the source cannot be broadcast to the window");
  Value update = o.broadcastTo(o.c.cast(src, o.element(x)), size);
  return o.ret(writeWindow(o.c, x, size, map, update));
}

static Status unfold(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dimension", x));
  int64_t size = o.integer("size"), step = o.integer("step");
  if (o.rank(x) == 0 || size < 0 || step <= 0)
    return o.fail("unfolds no dim, or by a step that is not positive");
  SmallVector<Expr> extents = o.extents(x), map = identityMap(extents.size());
  Expr n = extents[axis];
  if (!o.atMost(Expr(size), n))
    return o.fail("the window is not inside extent " + n.str());
  map[axis] = Expr::dim(axis) * Expr(step) + Expr::dim(extents.size());
  extents[axis] = o.assumptions().simplify(
      Expr::floorDiv(n - Expr(size), Expr(step)) + Expr(1));
  extents.push_back(Expr(size));
  return o.retView(extents, map);
}

namespace {
/// A part of a tensor: its extents and its map into the tensor.
struct Part {
  SmallVector<Expr> extents, map;
};
} // namespace

static Result<Part> diagonalOf(OpCall &o, Value x) {
  unsigned rank = o.rank(x);
  LUMINAL_TRY(a, o.axis(o.integer("dim1"), rank));
  LUMINAL_TRY(b, o.axis(o.integer("dim2"), rank));
  int64_t offset = o.integer("offset");
  if (rank < 2 || a == b)
    return o.fail("takes two different dims");
  SmallVector<Expr> from = o.extents(x);
  Part part;
  part.map.resize(rank);
  for (unsigned i = 0; i < rank; ++i) {
    if (i == a || i == b)
      continue;
    part.map[i] = Expr::dim(part.extents.size());
    part.extents.push_back(from[i]);
  }
  Expr d = Expr::dim(part.extents.size());
  Expr below = offset < 0 ? -Expr(offset) : Expr(0),
       right(offset > 0 ? offset : 0);
  part.map[a] = d + below;
  part.map[b] = d + right;
  part.extents.push_back(o.assumptions().simplify(
      Expr::max(Expr::min(from[a] - below, from[b] - right), Expr(0))));
  return part;
}
static Status diagonal(OpCall &o) {
  LUMINAL_TRY(part, diagonalOf(o, o.tensor("self")));
  return o.retView(part.extents, part.map);
}
static Status diagonalScatter(OpCall &o) {
  Value x = o.tensor("self"), src = o.tensor("src");
  LUMINAL_TRY(part, diagonalOf(o, x));
  LUMINAL_TRY(joined, o.broadcast({part.extents, o.extents(src)}));
  if (joined.size() != part.extents.size())
    return o.fail("the source cannot be broadcast to the diagonal");
  Value update = o.broadcastTo(o.c.cast(src, o.element(x)), part.extents);
  return o.ret(writeWindow(o.c, x, part.extents, part.map, update));
}

llvm::ArrayRef<OpRow> pt2::getMovementOps() {
  static const OpRow rows[] = {
      {"view(Tensor self, SymInt[] size)", view},
      {"_unsafe_view(Tensor self, SymInt[] size)", view},
      {"reshape(Tensor self, SymInt[] shape)", reshapeOp},
      {"view_copy(Tensor self, SymInt[] size)", view},
      {"view_as(Tensor self, Tensor other)", viewAs},
      {"reshape_as(Tensor self, Tensor other)", viewAs},
      {"ravel(Tensor self)", ravel},
      {"flatten.using_ints(Tensor self, int start_dim=0, int end_dim=-1)",
       flatten},
      {"unflatten.int(Tensor self, int dim, SymInt[] sizes)", unflatten},
      {"squeeze(Tensor self)", squeeze},
      {"squeeze.dim(Tensor self, int dim)", squeezeDim},
      {"squeeze.dims(Tensor self, int[] dim)", squeezeList},
      {"unsqueeze(Tensor self, int dim)", unsqueeze},
      {"permute(Tensor self, int[] dims)", permute},
      {"permute_copy(Tensor self, int[] dims)", permute},
      {"transpose.int(Tensor self, int dim0, int dim1)", transpose},
      {"swapaxes(Tensor self, int axis0, int axis1)", swapAxes},
      {"swapdims(Tensor self, int dim0, int dim1)", transpose},
      {"t(Tensor self)", t},
      {"numpy_T(Tensor self)", transposed},
      {"mT(Tensor self)", adjoint},
      {"mH(Tensor self)", adjoint},
      {"adjoint(Tensor self)", adjoint},
      {"movedim.int(Tensor self, int[] source, int[] destination)", movedim},
      {"movedim.intlist(Tensor self, int[] source, int[] destination)",
       movedim},
      {"expand(Tensor self, SymInt[] size, *, bool implicit=False)", expand},
      {"expand_as(Tensor self, Tensor other)", expandAs},
      {"broadcast_to(Tensor self, SymInt[] size)", broadcastTo},
      {"slice.Tensor(Tensor self, int dim=0, SymInt? start=None, "
       "SymInt? end=None, int step=1)",
       slice},
      {"slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, "
       "SymInt? end=None, int step=1)",
       slice},
      {"slice_scatter(Tensor self, Tensor src, int dim=0, "
       "SymInt? start=None, SymInt? end=None, int step=1)",
       sliceScatter},
      {"select.int(Tensor self, int dim, SymInt index)", select},
      {"select_copy.int(Tensor self, int dim, SymInt index)", select},
      {"select_scatter(Tensor self, Tensor src, int dim, SymInt index)",
       selectScatter},
      {"narrow(Tensor self, int dim, SymInt start, SymInt length)", narrow},
      {"split.Tensor(Tensor self, SymInt split_size, int dim=0)", split},
      {"split.sizes(Tensor self, SymInt[] split_size, int dim=0)",
       splitWithSizes},
      {"split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0)",
       splitWithSizes},
      {"chunk(Tensor self, int chunks, int dim=0)", chunk},
      {"tensor_split.sections(Tensor self, int sections, int dim=0)",
       tensorSplit},
      {"tensor_split.indices(Tensor self, int[] indices, int dim=0)",
       tensorSplit},
      {"hsplit.int(Tensor self, int sections)", splitAlong<1>},
      {"hsplit.array(Tensor self, int[] indices)", splitAlong<1>},
      {"vsplit.int(Tensor self, int sections)", splitAlong<0>},
      {"vsplit.array(Tensor self, int[] indices)", splitAlong<0>},
      {"dsplit.int(Tensor self, int sections)", splitAlong<2>},
      {"dsplit.array(Tensor self, int[] indices)", splitAlong<2>},
      {"as_strided(Tensor self, SymInt[] size, SymInt[] stride, "
       "SymInt? storage_offset=None)",
       asStrided},
      {"as_strided_scatter(Tensor self, Tensor src, SymInt[] size, "
       "SymInt[] stride, SymInt? storage_offset=None)",
       asStridedScatter},
      {"unbind.int(Tensor self, int dim=0)", unbind},
      {"unfold(Tensor self, int dimension, int size, int step)", unfold},
      {"diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, "
       "int dim2=1)",
       diagonalScatter},
      {"diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1)", diagonal},
  };
  return rows;
}
