//===- AtenOpsIndex.cpp - Reads and writes by index -----------------------===//

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

static Expr productOf(ArrayRef<Expr> extents) {
  return product(std::vector<Expr>(extents.begin(), extents.end()));
}

static bool isInteger(OpCall &o, Value v) {
  return o.element(v).isInteger(64) || o.element(v).isInteger(32);
}

//===----------------------------------------------------------------------===//
// index.Tensor, index_put
//===----------------------------------------------------------------------===//

namespace {
/// Several index tensors as one: `self` with the indexed dims first and merged,
/// and the position in the merged dim for each element of the indices' common
/// shape.
struct JointIndex {
  SmallVector<unsigned> order; ///< dims of self, indexed ones first
  unsigned indexed = 0;        ///< how many dims are indexed
  SmallVector<Expr> shape;     ///< of the indices, broadcast
  SmallVector<Expr> rest;      ///< extents of the other dims
  Expr rows;                   ///< product of the indexed extents
  Value position;
  /// Where the indices' dims stand in the result: at the first indexed dim if
  /// the indexed dims are adjacent, else in front.
  unsigned at = 0;
};
} // namespace

static std::optional<JointIndex> joinIndices(OpCall &o, Value self,
                                             ArrayRef<Value> indices) {
  Composer &c = o.c;
  unsigned rank = o.rank(self);
  JointIndex joint;
  SmallVector<unsigned> dims;
  SmallVector<SmallVector<Expr>> shapes;
  if (indices.size() > rank) {
    (void)o.fail("has more indices than dims");
    return std::nullopt;
  }
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    if (!isInteger(o, index)) {
      (void)o.fail(o.isBool(index)
                       ? "is indexed by a bool mask, whose number of elements "
                         "is known only at run time"
                       : "is indexed by something other than integers");
      return std::nullopt;
    }
    dims.push_back(i);
    shapes.push_back(o.extents(index));
  }
  if (dims.empty()) {
    (void)o.fail("has no index");
    return std::nullopt;
  }
  auto shape = o.broadcast(shapes);
  if (!shape)
    return std::nullopt;
  joint.shape = *shape;
  joint.indexed = dims.size();
  bool adjacent = dims.back() - dims.front() + 1 == dims.size();
  joint.at = adjacent ? dims.front() : 0;
  joint.order = dims;
  SmallVector<Expr> extents = o.extents(self);
  for (unsigned i = 0; i < rank; ++i)
    if (!llvm::is_contained(dims, i)) {
      joint.order.push_back(i);
      joint.rest.push_back(extents[i]);
    }
  joint.rows = Expr(1);
  for (unsigned dim : dims) {
    Value index =
        o.broadcastTo(wrapIndices(o, indices[dim], extents[dim]), joint.shape);
    if (joint.position) {
      Value n =
          o.broadcastTo(extentValue(o, extents[dim], o.i64()), joint.shape);
      joint.position = c.add(c.mul(joint.position, n), index);
    } else {
      joint.position = index;
    }
    joint.rows = joint.rows * extents[dim];
  }
  return joint;
}

static Value mergeIndexed(OpCall &o, Value self, const JointIndex &joint) {
  SmallVector<Expr> merged = {joint.rows};
  merged.append(joint.rest.begin(), joint.rest.end());
  return o.c.reshape(o.c.permute(self, joint.order), merged);
}

/// The permutation from [indices..., rest...] to the result's order.
static SmallVector<unsigned> resultOrder(const JointIndex &joint) {
  unsigned s = joint.shape.size();
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < joint.at; ++i)
    order.push_back(s + i);
  for (unsigned i = 0; i < s; ++i)
    order.push_back(i);
  for (unsigned i = joint.at; i < joint.rest.size(); ++i)
    order.push_back(s + i);
  return order;
}

static LogicalResult index(OpCall &o) {
  Value self = o.tensor("self");
  auto joint = joinIndices(o, self, o.tensors("indices"));
  if (!joint)
    return failure();
  Value rows = o.c.gather(mergeIndexed(o, self, *joint), joint->position);
  return o.ret(o.c.permute(rows, resultOrder(*joint)));
}

static SmallVector<unsigned> inverse(ArrayRef<unsigned> order) {
  SmallVector<unsigned> result(order.size());
  for (auto [i, axis] : llvm::enumerate(order))
    result[axis] = i;
  return result;
}

/// `self` with the elements at the indices replaced by, or summed with,
/// `values`.
static LogicalResult indexPut(OpCall &o) {
  Composer &c = o.c;
  Value self = o.tensor("self"), values = o.tensor("values");
  SmallVector<Value> indices = o.tensors("indices");
  bool accumulate = o.flag("accumulate");
  if (o.element(values) != o.element(self))
    return o.fail("the values differ in dtype");
  // A mask of one value needs no positions.
  if (indices.size() == 1 && indices[0] && o.isBool(indices[0])) {
    Value mask = indices[0];
    unsigned lead = o.rank(mask);
    if (o.rank(values) != 0 &&
        !o.provablyEqual(productOf(o.extents(values)), Expr(1)))
      return o.fail("is indexed by a bool mask with more than one value");
    SmallVector<Expr> extents = o.extents(self), map;
    for (unsigned i = 0; i < lead; ++i) {
      if (i >= extents.size() ||
          !o.provablyEqual(o.extents(mask)[i], extents[i]))
        return o.fail("the mask has another shape than what it covers");
      map.push_back(Expr::dim(i));
    }
    Value spread = c.view(mask, extents, map);
    Value fill =
        c.view(values, extents, SmallVector<Expr>(o.rank(values), Expr(0)));
    return o.ret(c.select(spread, accumulate ? c.add(self, fill) : fill, self));
  }
  auto joint = joinIndices(o, self, indices);
  if (!joint)
    return failure();
  if (accumulate && o.isBool(self))
    return o.fail("sums of bool are not supported");
  SmallVector<Expr> shape = joint->shape;
  shape.append(joint->rest.begin(), joint->rest.end());
  SmallVector<unsigned> order = resultOrder(*joint);
  SmallVector<Expr> resultShape;
  for (unsigned axis : order)
    resultShape.push_back(shape[axis]);
  auto joined = o.broadcast({o.extents(values), resultShape});
  if (!joined || joined->size() != resultShape.size())
    return o.fail("the values cannot be broadcast to the indexed part");
  Value updates = c.permute(o.broadcastTo(values, resultShape), inverse(order));
  Value merged = mergeIndexed(o, self, *joint);
  Value result = c.scatter(accumulate ? Combine::Add : Combine::Set, merged,
                           joint->position, updates);
  SmallVector<Expr> permuted, extents = o.extents(self);
  for (unsigned axis : joint->order)
    permuted.push_back(extents[axis]);
  return o.ret(c.permute(c.reshape(result, permuted), inverse(joint->order)));
}

//===----------------------------------------------------------------------===//
// Along one dim, by a vector
//===----------------------------------------------------------------------===//

static std::optional<unsigned> indexedAxis(OpCall &o, Value self, Value index) {
  auto axis = o.axis(*o.integer("dim"), o.rank(self));
  if (!axis)
    return std::nullopt;
  if (o.rank(self) == 0 || o.rank(index) > 1 || !isInteger(o, index)) {
    (void)o.fail("takes a vector of integers and a tensor with dims");
    return std::nullopt;
  }
  return axis;
}
/// The dims with `axis` in front; its own inverse.
static SmallVector<unsigned> swapFront(unsigned rank, unsigned axis) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(order[0], order[axis]);
  return order;
}
static Value asVector(OpCall &o, Value index, const Expr &extent) {
  Value i = wrapIndices(o, index, extent);
  return o.rank(i) == 0 ? o.c.unsqueeze(i, 0) : i;
}

static LogicalResult indexSelect(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("index");
  auto axis = indexedAxis(o, self, index);
  if (!axis)
    return failure();
  auto order = swapFront(o.rank(self), *axis);
  Value rows = o.c.gather(o.c.permute(self, order),
                          asVector(o, index, o.extents(self)[*axis]));
  return o.ret(o.c.permute(rows, order));
}

/// Rows along the dim written or added at the index.
static LogicalResult indexWrite(OpCall &o, Combine combine, Value source) {
  Composer &c = o.c;
  Value self = o.tensor("self"), index = o.tensor("index");
  auto axis = indexedAxis(o, self, index);
  if (!axis)
    return failure();
  if (o.element(source) != o.element(self))
    return o.fail("the source differs in dtype");
  auto order = swapFront(o.rank(self), *axis);
  Value rows = asVector(o, index, o.extents(self)[*axis]);
  SmallVector<Expr> shape = o.extents(self);
  shape[*axis] = o.extents(rows)[0];
  SmallVector<Expr> given = o.extents(source);
  bool same = given.size() == shape.size();
  for (unsigned i = 0; same && i < shape.size(); ++i)
    same = o.provablyEqual(given[i], shape[i]);
  if (!same)
    return o.fail("the source has another shape than the indexed part");
  Value result = c.scatter(combine, c.permute(self, order), rows,
                           c.permute(o.broadcastTo(source, shape), order));
  return o.ret(c.permute(result, order));
}
static LogicalResult indexCopy(OpCall &o) {
  return indexWrite(o, Combine::Set, o.tensor("source"));
}
static LogicalResult indexAdd(OpCall &o) {
  Value source = o.tensor("source");
  Number alpha = *o.number("alpha");
  if (o.isBool(source))
    return o.fail("sums of bool are not supported");
  if (alpha.asDouble() != 1.0)
    source =
        o.c.mul(source, o.broadcastTo(o.materialize(alpha, o.element(source)),
                                      o.extents(source)));
  return indexWrite(o, Combine::Add, source);
}
static LogicalResult indexFill(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("index");
  Operand value = o.operand("value");
  auto axis = indexedAxis(o, self, index);
  if (!axis)
    return failure();
  if (value.value && o.rank(value.value))
    return o.fail("the value has more than one element");
  SmallVector<Expr> shape = o.extents(self);
  shape[*axis] = o.rank(index) ? o.extents(index)[0] : Expr(1);
  return indexWrite(o, Combine::Set, o.as(value, o.element(self), shape));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// The row-major position in `self` of each element of `index`, whose value
/// replaces its own coordinate along `axis`.
static Value elementPositions(OpCall &o, Value self, Value index,
                              unsigned axis) {
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(self), shape = o.extents(index);
  Value along = wrapIndices(o, index, extents[axis]);
  // The other coordinates are one expression; the stride of `axis` a factor.
  std::vector<Expr> place, all(extents.begin(), extents.end());
  Expr stride(1);
  for (unsigned i = 0; i < extents.size(); ++i) {
    place.push_back(i == axis ? Expr(0) : Expr::dim(i));
    if (i > axis)
      stride = stride * extents[i];
  }
  Value rest = c.iota(shape, linearize(place, all));
  Value factor = o.broadcastTo(extentValue(o, stride, o.i64()), shape);
  return c.add(c.mul(along, factor), rest);
}

static std::optional<unsigned> elementAxis(OpCall &o, Value self, Value index) {
  auto axis = o.axis(*o.integer("dim"), o.rank(self));
  if (!axis)
    return std::nullopt;
  bool ok =
      isInteger(o, index) && o.rank(index) == o.rank(self) && o.rank(self) != 0;
  // No coordinate may leave the other dims.
  for (unsigned i = 0; ok && i < o.rank(self); ++i)
    ok = i == *axis ||
         o.scope().provablyLessEqual(o.extents(index)[i], o.extents(self)[i]);
  if (ok)
    return axis;
  (void)o.fail("takes integers of the tensor's rank and within its extents");
  return std::nullopt;
}

static LogicalResult gather(OpCall &o) {
  o.ignore({"sparse_grad"});
  Value self = o.tensor("self"), index = o.tensor("index");
  if (o.rank(self) == 0 && o.rank(index) == 0)
    return o.ret(self);
  auto axis = elementAxis(o, self, index);
  if (!axis)
    return failure();
  Value flat = o.c.reshape(self, {productOf(o.extents(self))});
  return o.ret(o.c.gather(flat, elementPositions(o, self, index, *axis)));
}

static LogicalResult scatterElements(OpCall &o, Combine combine, Value source,
                                     Value start) {
  Composer &c = o.c;
  Value self = o.tensor("self"), index = o.tensor("index");
  auto axis = elementAxis(o, self, index);
  if (!axis)
    return failure();
  if (o.element(source) != o.element(self))
    return o.fail("the source differs in dtype");
  SmallVector<Expr> shape = o.extents(index), given = o.extents(source), map;
  if (given.size() != shape.size())
    return o.fail("the source has another rank than the index");
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (!o.scope().provablyLessEqual(shape[i], given[i]))
      return o.fail("the source is smaller than the index");
    map.push_back(Expr::dim(i));
  }
  Value count =
      c.reshape(elementPositions(o, self, index, *axis), {productOf(shape)});
  Value updates = c.reshape(c.view(source, shape, map), {productOf(shape)});
  Value flat = c.reshape(start, {productOf(o.extents(self))});
  return o.ret(
      c.reshape(c.scatter(combine, flat, count, updates), o.extents(self)));
}
static LogicalResult scatterSrc(OpCall &o) {
  return scatterElements(o, Combine::Set, o.tensor("src"), o.tensor("self"));
}
static LogicalResult scatterValue(OpCall &o) {
  Value self = o.tensor("self");
  Value source =
      o.broadcastTo(o.materialize(*o.number("value"), o.element(self)),
                    o.extents(o.tensor("index")));
  return scatterElements(o, Combine::Set, source, self);
}
static LogicalResult scatterAdd(OpCall &o) {
  Value self = o.tensor("self");
  if (o.isBool(self))
    return o.fail("sums of bool are not supported");
  return scatterElements(o, Combine::Add, o.tensor("src"), self);
}
static LogicalResult scatterReduce(OpCall &o) {
  StringRef reduce = o.string("reduce");
  Value self = o.tensor("self");
  if (!o.flag("include_self"))
    return o.fail("include_self=False is not supported");
  if (reduce == "sum" && !o.isBool(self))
    return scatterElements(o, Combine::Add, o.tensor("src"), self);
  if (reduce == "amax")
    return scatterElements(o, Combine::Max, o.tensor("src"), self);
  return o.fail("reduce '" + reduce + "' is not supported");
}

static LogicalResult takeAlongDim(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("indices");
  if (!o.has("dim")) {
    Value flat = o.c.reshape(self, {productOf(o.extents(self))});
    Value i = o.c.reshape(index, {productOf(o.extents(index))});
    return o.ret(o.c.gather(flat, wrapIndices(o, i, o.extents(flat)[0])));
  }
  auto axis = o.axis(*o.integer("dim"), o.rank(self));
  if (!axis || o.rank(index) != o.rank(self) || !isInteger(o, index))
    return o.fail("takes integers of the tensor's rank");
  SmallVector<Expr> a = o.extents(self), b = o.extents(index);
  a[*axis] = b[*axis] = Expr(1);
  auto shape = o.broadcast({a, b});
  if (!shape)
    return failure();
  SmallVector<Expr> selfShape = *shape, indexShape = *shape;
  selfShape[*axis] = o.extents(self)[*axis];
  indexShape[*axis] = o.extents(index)[*axis];
  self = o.broadcastTo(self, selfShape);
  index = o.broadcastTo(index, indexShape);
  Value flat = o.c.reshape(self, {productOf(selfShape)});
  return o.ret(o.c.gather(flat, elementPositions(o, self, index, *axis)));
}

llvm::ArrayRef<OpRow> pt2::getIndexOps() {
  static const OpRow rows[] = {
      {"index.Tensor(Tensor self, Tensor?[] indices)", index},
      {"_unsafe_index.Tensor(Tensor self, Tensor?[] indices)", index},
      {"index_put(Tensor self, Tensor?[] indices, Tensor values, "
       "bool accumulate=False)",
       indexPut},
      {"_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, "
       "bool accumulate=False)",
       indexPut},
      {"index_select(Tensor self, int dim, Tensor index)", indexSelect},
      {"index_copy(Tensor self, int dim, Tensor index, Tensor source)",
       indexCopy},
      {"index_add(Tensor self, int dim, Tensor index, Tensor source, *, "
       "Scalar alpha=1)",
       indexAdd},
      {"index_fill.int_Scalar(Tensor self, int dim, Tensor index, "
       "Tensor value)",
       indexFill},
      {"index_fill.int_Tensor(Tensor self, int dim, Tensor index, "
       "Tensor value)",
       indexFill},
      {"gather(Tensor self, int dim, Tensor index, *, "
       "bool sparse_grad=False)",
       gather},
      {"scatter.src(Tensor self, int dim, Tensor index, Tensor src)",
       scatterSrc},
      {"scatter.value(Tensor self, int dim, Tensor index, Scalar value)",
       scatterValue},
      {"scatter_add(Tensor self, int dim, Tensor index, Tensor src)",
       scatterAdd},
      {"scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, "
       "str reduce, *, bool include_self=True)",
       scatterReduce},
      {"take_along_dim(Tensor self, Tensor indices, int? dim=None)",
       takeAlongDim},
  };
  return rows;
}
