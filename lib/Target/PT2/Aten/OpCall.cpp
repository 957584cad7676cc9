//===- OpCall.cpp - One node while it is being built ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpCall.h"
#include "../Importer.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

std::optional<double> Number::asDouble() const {
  if (kind == Float)
    return real;
  if (auto value = integer.asConstant())
    return static_cast<double>(*value);
  return std::nullopt;
}

OpCall::OpCall(Importer &importer, const Node &node, const OpEntry &entry,
               Composer &composer)
    : c(composer), node(node), entry(entry), importer(importer) {}

LogicalResult OpCall::fail(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return failure();
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static bool isNumber(Argument::Kind kind) {
  return kind == Argument::Int || kind == Argument::Float ||
         kind == Argument::Bool;
}

/// The argument if it is what the parameter may be, else null and a reason.
const Argument *OpCall::check(const Parameter &p, const Argument &arg) {
  auto tensorsKnown = [&] {
    return llvm::all_of(arg.names, [&](const std::string &name) {
      return name.empty() || importer.isTensor(name);
    });
  };
  bool ok = false;
  switch (p.type) {
  case Parameter::Tensor:
    ok = (arg.kind == Argument::Tensor && tensorsKnown()) || isNumber(arg.kind);
    break;
  case Parameter::TensorList:
    ok = arg.kind == Argument::Tensors && tensorsKnown();
    break;
  case Parameter::OptionalTensorList:
    ok = (arg.kind == Argument::Tensors ||
          arg.kind == Argument::OptionalTensors) &&
         tensorsKnown();
    break;
  case Parameter::Int:
    ok = arg.kind == Argument::Int;
    break;
  case Parameter::IntList:
    ok = arg.kind == Argument::Ints || arg.kind == Argument::Int;
    break;
  case Parameter::Float:
    ok = arg.kind == Argument::Float || arg.kind == Argument::Int;
    break;
  case Parameter::FloatList:
    ok = arg.kind == Argument::Floats;
    break;
  case Parameter::Scalar:
    ok = isNumber(arg.kind);
    break;
  case Parameter::Bool:
    ok = arg.kind == Argument::Bool;
    break;
  case Parameter::BoolList:
    ok = arg.kind == Argument::Bools;
    break;
  case Parameter::String:
    ok = arg.kind == Argument::String;
    break;
  case Parameter::ScalarType:
    ok = arg.kind == Argument::ScalarType;
    break;
  case Parameter::Device:
    ok = arg.kind == Argument::Device;
    break;
  case Parameter::Layout:
    ok = arg.kind == Argument::Layout && arg.exprs[0].isConstant(7);
    break;
  case Parameter::MemoryFormat:
    ok = arg.kind == Argument::MemoryFormat;
    break;
  }
  if (arg.kind == Argument::None && p.optional)
    ok = true;
  if (ok)
    return &arg;
  if (arg.kind == Argument::Unsupported)
    (void)fail("argument '" + p.name + "' is of kind " + arg.names[0]);
  else if (arg.kind == Argument::None)
    (void)fail("argument '" + p.name + "' may not be None");
  else if (!tensorsKnown())
    (void)fail("argument '" + p.name + "' names an unknown tensor");
  else
    (void)fail("argument '" + p.name +
               "' has a kind or value that the op "
               "does not take");
  return nullptr;
}

LogicalResult OpCall::bind() {
  unsigned n = entry.parameters.size();
  bound.assign(n, nullptr);
  given.assign(n, false);
  read.assign(n, false);
  for (const NamedArgument &input : node.inputs) {
    unsigned i = 0;
    while (i < n && entry.parameters[i].name != input.name)
      ++i;
    if (i == n)
      return fail("has an argument '" + input.name + "' that is not known");
    if (given[i])
      return fail("has argument '" + input.name + "' twice");
    given[i] = true;
    bound[i] = check(entry.parameters[i], input.value);
    if (!bound[i])
      return failure();
  }
  for (unsigned i = 0; i < n; ++i) {
    const Parameter &p = entry.parameters[i];
    if (!given[i] && !p.hasDefault)
      return fail("lacks argument '" + p.name + "'");
    if (!bound[i])
      bound[i] = &p.defaultValue;
    // Where a tensor lives, and what keeps it there, does not change it.
    if (p.type == Parameter::Device || p.type == Parameter::Layout ||
        p.type == Parameter::MemoryFormat || p.name == "pin_memory" ||
        p.name == "non_blocking")
      read[i] = true;
  }
  return success();
}

const Argument &OpCall::get(StringRef name) {
  for (auto [i, p] : llvm::enumerate(entry.parameters))
    if (p.name == name) {
      read[i] = true;
      return *bound[i];
    }
  llvm::report_fatal_error("a handler reads an argument that its schema lacks");
}

std::string OpCall::findUnread() const {
  for (auto [i, p] : llvm::enumerate(entry.parameters))
    if (given[i] && !read[i] && bound[i]->kind != Argument::None)
      return p.name;
  return {};
}

void OpCall::ignore(std::initializer_list<StringRef> names) {
  for (StringRef name : names)
    (void)get(name);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Number toNumber(const Argument &arg) {
  Number n;
  if (arg.kind == Argument::Float) {
    n.kind = Number::Float;
    n.real = arg.doubles[0];
  } else {
    n.kind = arg.kind == Argument::Bool ? Number::Bool : Number::Int;
    n.integer = arg.exprs[0];
  }
  return n;
}

bool OpCall::has(StringRef name) { return get(name).kind != Argument::None; }

Operand OpCall::operand(StringRef name) {
  const Argument &arg = get(name);
  Operand o;
  if (arg.kind == Argument::Tensor)
    o.value = importer.read(arg.names[0]);
  else if (arg.kind != Argument::None)
    o.number = toNumber(arg);
  return o;
}

Value OpCall::tensor(StringRef name) {
  if (!has(name))
    return {};
  Operand o = operand(name);
  if (o.value)
    return o.value;
  return materialize(o.number, promote(o));
}

SmallVector<Value> OpCall::tensors(StringRef name) {
  SmallVector<Value> values;
  for (const std::string &n : get(name).names)
    values.push_back(n.empty() ? Value() : importer.read(n));
  return values;
}

std::optional<Number> OpCall::number(StringRef name) {
  const Argument &arg = get(name);
  if (arg.kind == Argument::None)
    return std::nullopt;
  return toNumber(arg);
}

std::optional<Expr> OpCall::expr(StringRef name) {
  const Argument &arg = get(name);
  if (arg.kind == Argument::None)
    return std::nullopt;
  return arg.exprs[0];
}

std::optional<int64_t> OpCall::integer(StringRef name) {
  auto e = expr(name);
  if (!e)
    return std::nullopt;
  auto value = e->asConstant();
  if (!value)
    (void)fail("argument '" + name + "' is symbolic (" + e->str() + ")");
  return value.value_or(0);
}

std::optional<SmallVector<Expr>> OpCall::exprs(StringRef name) {
  const Argument &arg = get(name);
  if (arg.kind == Argument::None)
    return std::nullopt;
  return SmallVector<Expr>(arg.exprs.begin(), arg.exprs.end());
}

std::optional<SmallVector<int64_t>> OpCall::integers(StringRef name) {
  auto all = exprs(name);
  if (!all)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const Expr &e : *all) {
    if (!e.asConstant())
      (void)fail("argument '" + name + "' is symbolic (" + e.str() + ")");
    values.push_back(e.asConstant().value_or(0));
  }
  return values;
}

std::optional<double> OpCall::real(StringRef name) {
  auto n = number(name);
  if (!n)
    return std::nullopt;
  auto value = n->asDouble();
  if (!value)
    (void)fail("argument '" + name + "' is symbolic");
  return value.value_or(0);
}

std::optional<ArrayRef<double>> OpCall::reals(StringRef name) {
  const Argument &arg = get(name);
  if (arg.kind == Argument::None)
    return std::nullopt;
  return ArrayRef<double>(arg.doubles);
}

bool OpCall::flag(StringRef name) {
  const Argument &arg = get(name);
  return arg.kind == Argument::Bool && arg.exprs[0].isConstant(1);
}

StringRef OpCall::string(StringRef name) {
  const Argument &arg = get(name);
  return arg.kind == Argument::String ? StringRef(arg.names[0]) : StringRef();
}

Type OpCall::dtype(StringRef name) {
  const Argument &arg = get(name);
  if (arg.kind == Argument::None)
    return {};
  DTypeCode code{static_cast<int>(arg.exprs[0].asConstant().value_or(0))};
  if (auto dtype = code.dtype())
    return getElementType(c.getBuilder().getContext(), *dtype);
  (void)fail("dtype " + code.name() + " is not supported");
  return f32();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

unsigned OpCall::rank(Value v) const {
  return mlir::cast<RankedTensorType>(v.getType()).getRank();
}
Type OpCall::element(Value v) const {
  return mlir::cast<RankedTensorType>(v.getType()).getElementType();
}
Type OpCall::f32() const { return c.getBuilder().getF32Type(); }
Type OpCall::i64() const { return c.getBuilder().getI64Type(); }
Type OpCall::i1() const { return c.getBuilder().getI1Type(); }

std::optional<unsigned> OpCall::axis(int64_t dim, unsigned rank) {
  // A rank-0 tensor counts as having one dim here.
  int64_t n = std::max(rank, 1u);
  if (dim < -n || dim >= n) {
    (void)fail("dim " + Twine(dim) + " is outside a tensor of rank " +
               Twine(rank));
    return std::nullopt;
  }
  return static_cast<unsigned>(dim < 0 ? dim + n : dim);
}

std::optional<SmallVector<unsigned>> OpCall::axes(ArrayRef<int64_t> dims,
                                                  unsigned rank) {
  SmallVector<unsigned> result;
  if (dims.empty())
    return llvm::to_vector(llvm::seq<unsigned>(0, rank));
  for (int64_t dim : dims) {
    auto a = axis(dim, rank);
    if (!a)
      return std::nullopt;
    if (rank != 0)
      result.push_back(*a);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    (void)fail("names a dim twice");
    return std::nullopt;
  }
  return result;
}

std::optional<SmallVector<Expr>>
OpCall::broadcast(ArrayRef<SmallVector<Expr>> all) {
  size_t rank = 0;
  for (const auto &extents : all)
    rank = std::max(rank, extents.size());
  SmallVector<Expr> result(rank, Expr(1));
  for (const auto &extents : all)
    for (size_t i = 0; i < extents.size(); ++i) {
      const Expr &e = extents[i];
      Expr &r = result[rank - extents.size() + i];
      if (e.isConstant(1))
        continue;
      if (r.isConstant(1)) {
        r = e;
        continue;
      }
      if (!provablyEqual(r, e)) {
        (void)fail("extents " + r.str() + " and " + e.str() +
                   " cannot be broadcast to each other");
        return std::nullopt;
      }
      // Of two equal forms the constant one says more.
      if (e.asConstant())
        r = e;
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Type promotion
//===----------------------------------------------------------------------===//

/// Bool, integer, float.
static int category(Type t) {
  return t.isInteger(1) ? 0 : isa<FloatType>(t) ? 2 : 1;
}

static Type promoteTypes(Type a, Type b) {
  if (!a || !b)
    return a ? a : b;
  if (a == b)
    return a;
  int ca = category(a), cb = category(b);
  if (ca != cb)
    return ca > cb ? a : b;
  if (ca == 2) {
    // f16 and bf16 hold none of the other's values only in f32.
    if (a.getIntOrFloatBitWidth() == b.getIntOrFloatBitWidth())
      return Float32Type::get(a.getContext());
  }
  return a.getIntOrFloatBitWidth() >= b.getIntOrFloatBitWidth() ? a : b;
}

Type OpCall::promote(ArrayRef<Operand> operands) {
  Type dims, zero, wrapped;
  for (const Operand &o : operands) {
    if (o.value)
      (rank(o.value) ? dims : zero) =
          promoteTypes(rank(o.value) ? dims : zero, element(o.value));
    else
      wrapped = promoteTypes(wrapped, o.number.kind == Number::Float ? f32()
                                      : o.number.kind == Number::Int ? i64()
                                                                     : i1());
  }
  auto combine = [](Type higher, Type lower) -> Type {
    if (!higher || !lower)
      return higher ? higher : lower;
    if (category(higher) == 2)
      return higher;
    if (category(higher) == 0 || category(lower) == 2)
      return promoteTypes(higher, lower);
    return higher;
  };
  return combine(dims, combine(zero, wrapped));
}

Value OpCall::materialize(const Number &number, Type type) {
  if (number.kind == Number::Float) {
    if (isa<FloatType>(type))
      return c.scalar(type, number.real);
    return c.scalarInt(type, type.isInteger(1)
                                 ? number.real != 0
                                 : static_cast<int64_t>(number.real));
  }
  if (auto value = number.integer.asConstant())
    return isa<FloatType>(type)
               ? c.scalar(type, static_cast<double>(*value))
               : c.scalarInt(type, type.isInteger(1) ? *value != 0 : *value);
  return c.cast(c.iota({}, number.integer), type);
}

Value OpCall::as(const Operand &operand, Type type, ArrayRef<Expr> extents) {
  Value v = operand.value ? c.cast(operand.value, type)
                          : materialize(operand.number, type);
  return c.broadcastTo(v, extents);
}

bool OpCall::promotePair(const Operand &a, const Operand &b, Value &x,
                         Value &y) {
  Type type = promote({a, b});
  // The 8-bit integers are storage types: i32 holds all their values.
  if (type.isInteger(8))
    type = c.getBuilder().getI32Type();
  auto shape = broadcast({a.value ? extents(a.value) : SmallVector<Expr>(),
                          b.value ? extents(b.value) : SmallVector<Expr>()});
  if (!shape)
    return false;
  x = as(a, type, *shape);
  y = as(b, type, *shape);
  return true;
}

Value OpCall::toFloat(Value v) { return isFloat(v) ? v : c.cast(v, f32()); }

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult OpCall::ret(ArrayRef<Value> values) {
  for (Value v : values) {
    Returned r;
    r.value = v;
    results.push_back(std::move(r));
  }
  return success();
}

LogicalResult OpCall::retViews(
    ArrayRef<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views,
    StringRef of) {
  const Argument &arg = get(of);
  Value source = tensor(of);
  for (const auto &[extents, map] : views) {
    Returned r;
    r.value = c.view(source, extents, map);
    if (arg.kind == Argument::Tensor)
      r.viewOf = arg.names[0];
    r.extents = extents;
    r.map = map;
    results.push_back(std::move(r));
  }
  return success();
}

LogicalResult OpCall::retView(ArrayRef<Expr> extents, ArrayRef<Expr> map,
                              StringRef of) {
  return retViews({{SmallVector<Expr>(extents), SmallVector<Expr>(map)}}, of);
}

LogicalResult OpCall::retAlias(StringRef of) {
  Value source = tensor(of);
  SmallVector<Expr> map;
  for (unsigned i = 0; i < rank(source); ++i)
    map.push_back(Expr::dim(i));
  return retView(extents(source), map, of);
}

const TensorMeta *OpCall::argumentMeta(StringRef name) const {
  for (auto [i, p] : llvm::enumerate(entry.parameters))
    if (p.name == name && bound[i]->kind == Argument::Tensor)
      return importer.getMeta(bound[i]->names[0]);
  return nullptr;
}

/// Whether a tensor of these strides can be read in another shape without a
/// copy, as PyTorch decides it; nothing where an extent or stride is symbolic.
static std::optional<bool> isViewable(const TensorMeta &meta,
                                      ArrayRef<Expr> shape) {
  SmallVector<int64_t> sizes, strides, view;
  auto constants = [](ArrayRef<Expr> exprs, SmallVector<int64_t> &values) {
    for (const Expr &e : exprs) {
      auto value = e.asConstant();
      if (!value)
        return false;
      values.push_back(*value);
    }
    return true;
  };
  if (!constants(meta.sizes, sizes) || !constants(meta.strides, strides) ||
      !constants(shape, view) || sizes.size() != strides.size())
    return std::nullopt;
  if (sizes.empty() || llvm::is_contained(sizes, 0))
    return true;
  // Dims that lie one behind the other in memory form a block; each block must
  // be a run of the new dims.
  int64_t last = static_cast<int64_t>(view.size()) - 1, base = strides.back();
  int64_t block = 1, run = 1;
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    block *= sizes[d];
    if (d > 0 && (sizes[d - 1] == 1 || strides[d - 1] == block * base))
      continue;
    while (last >= 0 && (run < block || view[last] == 1))
      run *= view[last--];
    if (run != block)
      return false;
    if (d > 0)
      base = strides[d - 1];
    block = run = 1;
  }
  return last == -1;
}

LogicalResult OpCall::retReshaped(Value value, ArrayRef<Expr> shape,
                                  StringRef of) {
  Value source = tensor(of);
  std::vector<Expr> from = {}, to(shape.begin(), shape.end()), index;
  for (const Expr &e : extents(source))
    from.push_back(e);
  for (unsigned i = 0; i < to.size(); ++i)
    index.push_back(Expr::dim(i));
  std::vector<Expr> map = delinearize(linearize(index, to), from);
  Returned r;
  r.value = value;
  r.extents.assign(to.begin(), to.end());
  r.map.assign(map.begin(), map.end());
  const Argument &arg = get(of);
  if (arg.kind == Argument::Tensor) {
    r.viewOf = arg.names[0];
    const TensorMeta *meta = importer.getMeta(r.viewOf);
    auto viewable = meta ? isViewable(*meta, shape) : std::nullopt;
    Expr expected(1);
    r.maybeView = !meta;
    for (size_t i = meta && !viewable ? meta->sizes.size() : 0; i-- > 0;) {
      r.maybeView |= !meta->sizes[i].isConstant(1) &&
                     !provablyEqual(meta->strides[i], expected);
      expected = expected * meta->sizes[i];
    }
    if (viewable == false)
      r.viewOf.clear();
  }
  results.push_back(std::move(r));
  return success();
}

const TensorMeta *OpCall::resultMeta(unsigned i) const {
  unsigned seen = 0;
  for (const Argument &output : node.outputs)
    for (const std::string &name : output.names)
      if (seen++ == i)
        return importer.getMeta(name);
  return nullptr;
}

unsigned OpCall::getNumResults() const {
  unsigned n = 0;
  for (const Argument &output : node.outputs)
    n += output.names.size();
  return n;
}
