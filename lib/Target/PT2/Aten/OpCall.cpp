//===- OpCall.cpp - A node that is being translated -----------------------===//
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

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static bool isNumber(Argument::Kind kind) {
  return kind == Argument::Int || kind == Argument::Float ||
         kind == Argument::Bool;
}

static DTypeCode codeOf(const Argument &arg) {
  int64_t code = arg.exprs[0].asConstant().value_or(0);
  return {static_cast<int>(std::clamp<int64_t>(code, -1, 1 << 20))};
}

/// Checks that the argument is of the parameter's type.
Status OpCall::check(const Parameter &p, const Argument &arg) const {
  auto refuse = [&](const Twine &why) -> Error {
    return fail("argument '" + p.name + "' " + why);
  };
  bool isTensors = arg.kind == Argument::Tensor ||
                   arg.kind == Argument::Tensors ||
                   arg.kind == Argument::OptionalTensors;
  if (isTensors)
    for (const std::string &name : arg.names) {
      bool none = name.empty() && p.type == Parameter::OptionalTensorList;
      if (!none && !importer.isTensor(name))
        return refuse("names an unknown tensor");
    }
  bool ok = false;
  switch (p.type) {
  case Parameter::Tensor:
    ok = arg.kind == Argument::Tensor || isNumber(arg.kind);
    break;
  case Parameter::TensorList:
    ok = arg.kind == Argument::Tensors;
    break;
  case Parameter::OptionalTensorList:
    ok = arg.kind == Argument::Tensors || arg.kind == Argument::OptionalTensors;
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
  case Parameter::Generator:
    break;
  }
  if (arg.kind == Argument::None && p.optional)
    return {};
  if (arg.kind == Argument::Unsupported)
    return refuse("is of kind " + arg.names[0]);
  if (arg.kind == Argument::Complex)
    return refuse("is a complex number");
  if (arg.kind == Argument::None)
    return refuse("may not be None");
  if (!ok)
    return refuse("has a kind or value that the op does not take");
  bool mayBeSymbolic =
      p.symbolic || p.type == Parameter::Tensor || p.type == Parameter::Scalar;
  if (!mayBeSymbolic)
    for (const Expr &e : arg.exprs)
      if (!e.asConstant())
        return refuse("is symbolic (" + e.str() + ")");
  if (p.type == Parameter::ScalarType)
    if (DTypeCode code = codeOf(arg); !code.dtype())
      return fail("dtype " + code.name() + " is not supported");
  return {};
}

Status OpCall::bind() {
  unsigned n = entry.parameters.size();
  bound.assign(n, nullptr);
  isGiven.assign(n, false);
  read.assign(n, false);
  for (const NamedArgument &input : node.inputs) {
    unsigned i = 0;
    while (i < n && entry.parameters[i].name != input.name)
      ++i;
    // An in-place op always calls the tensor that it writes to `self`, even if
    // its functional variant names it differently.
    if (i == n && n > 0 && input.name == "self" &&
        &input == &node.inputs.front())
      i = 0;
    if (i == n)
      return fail("has an argument '" + input.name + "' that is not known");
    if (isGiven[i])
      return fail("has argument '" + input.name + "' twice");
    LUMINAL_CHECK(check(entry.parameters[i], input.value));
    isGiven[i] = true;
    bound[i] = &input.value;
  }
  for (unsigned i = 0; i < n; ++i) {
    const Parameter &p = entry.parameters[i];
    if (!isGiven[i] && !p.hasDefault)
      return fail("lacks argument '" + p.name + "'");
    if (!bound[i])
      bound[i] = &p.defaultValue;
    // A tensor's device and layout do not change its elements.
    if (p.type == Parameter::Device || p.type == Parameter::Layout ||
        p.type == Parameter::MemoryFormat || p.type == Parameter::Generator ||
        p.name == "pin_memory" || p.name == "non_blocking")
      read[i] = true;
  }
  return {};
}

unsigned OpCall::find(StringRef name) const {
  for (auto [i, p] : llvm::enumerate(entry.parameters))
    if (p.name == name)
      return i;
  llvm::report_fatal_error("a handler reads an argument that its schema lacks");
}

const Argument &OpCall::get(StringRef name) {
  unsigned i = find(name);
  read[i] = true;
  return *bound[i];
}

static void promise(bool holds) {
  if (!holds)
    llvm::report_fatal_error("a handler takes for granted what its schema does "
                             "not promise");
}

const Argument &OpCall::given(StringRef name) {
  promise(!entry.parameters[find(name)].optional);
  return get(name);
}

void OpCall::promiseKnown(StringRef name) const {
  const Parameter &p = entry.parameters[find(name)];
  promise(!p.symbolic && p.type != Parameter::Scalar);
}

std::string OpCall::findUnread() const {
  for (auto [i, p] : llvm::enumerate(entry.parameters))
    if (isGiven[i] && !read[i] && bound[i]->kind != Argument::None)
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

static Expr toExpr(const Argument &arg) { return arg.exprs[0]; }
static int64_t toInteger(const Argument &arg) {
  return *arg.exprs[0].asConstant();
}
static SmallVector<Expr> toExprs(const Argument &arg) {
  return SmallVector<Expr>(arg.exprs.begin(), arg.exprs.end());
}
static SmallVector<int64_t> toIntegers(const Argument &arg) {
  return llvm::map_to_vector(arg.exprs,
                             [](const Expr &e) { return *e.asConstant(); });
}
static double toReal(const Argument &arg) { return *toNumber(arg).asDouble(); }

/// Decodes the argument with `decode`, unless it is None.
template <typename Decode>
static auto unlessNone(const Argument &arg, Decode decode)
    -> std::optional<decltype(decode(arg))> {
  if (arg.kind == Argument::None)
    return std::nullopt;
  return decode(arg);
}

bool OpCall::has(StringRef name) { return get(name).kind != Argument::None; }

Operand OpCall::toOperand(const Argument &arg) {
  if (arg.kind == Argument::Tensor)
    return importer.read(arg.names[0]);
  return toNumber(arg);
}
Operand OpCall::operand(StringRef name) { return toOperand(given(name)); }
std::optional<Operand> OpCall::operandOrNone(StringRef name) {
  return unlessNone(get(name),
                    [&](const Argument &arg) { return toOperand(arg); });
}

Value OpCall::toTensor(const Argument &arg) {
  Operand o = toOperand(arg);
  return as(o, promote(o));
}
Value OpCall::tensor(StringRef name) { return toTensor(given(name)); }
std::optional<Value> OpCall::tensorOrNone(StringRef name) {
  return unlessNone(get(name),
                    [&](const Argument &arg) { return toTensor(arg); });
}

SmallVector<Value> OpCall::tensors(StringRef name) {
  promise(entry.parameters[find(name)].type == Parameter::TensorList);
  return llvm::map_to_vector(
      given(name).names, [&](const auto &name) { return importer.read(name); });
}
SmallVector<std::optional<Value>> OpCall::tensorsOrNone(StringRef name) {
  return llvm::map_to_vector(get(name).names,
                             [&](const auto &name) -> std::optional<Value> {
                               if (name.empty())
                                 return std::nullopt;
                               return importer.read(name);
                             });
}

Number OpCall::number(StringRef name) { return toNumber(given(name)); }
std::optional<Number> OpCall::numberOrNone(StringRef name) {
  return unlessNone(get(name), toNumber);
}

Expr OpCall::expr(StringRef name) { return toExpr(given(name)); }
std::optional<Expr> OpCall::exprOrNone(StringRef name) {
  return unlessNone(get(name), toExpr);
}

SmallVector<Expr> OpCall::exprs(StringRef name) { return toExprs(given(name)); }
std::optional<SmallVector<Expr>> OpCall::exprsOrNone(StringRef name) {
  return unlessNone(get(name), toExprs);
}

int64_t OpCall::integer(StringRef name) {
  promiseKnown(name);
  return toInteger(given(name));
}
std::optional<int64_t> OpCall::integerOrNone(StringRef name) {
  promiseKnown(name);
  return unlessNone(get(name), toInteger);
}

SmallVector<int64_t> OpCall::integers(StringRef name) {
  promiseKnown(name);
  return toIntegers(given(name));
}
std::optional<SmallVector<int64_t>> OpCall::integersOrNone(StringRef name) {
  promiseKnown(name);
  return unlessNone(get(name), toIntegers);
}

double OpCall::real(StringRef name) {
  promiseKnown(name);
  return toReal(given(name));
}
std::optional<double> OpCall::realOrNone(StringRef name) {
  promiseKnown(name);
  return unlessNone(get(name), toReal);
}
std::optional<ArrayRef<double>> OpCall::realsOrNone(StringRef name) {
  return unlessNone(get(name),
                    [](const Argument &arg) { return ArrayRef(arg.doubles); });
}

bool OpCall::flag(StringRef name) {
  const Argument &arg = get(name);
  return arg.kind == Argument::Bool && arg.exprs[0].isConstant(1);
}

StringRef OpCall::string(StringRef name) {
  const Argument &arg = get(name);
  return arg.kind == Argument::String ? StringRef(arg.names[0]) : StringRef();
}

Type OpCall::toType(const Argument &arg) const {
  return getElementType(c.getBuilder().getContext(), *codeOf(arg).dtype());
}
Type OpCall::dtype(StringRef name) { return toType(given(name)); }
std::optional<Type> OpCall::dtypeOrNone(StringRef name) {
  return unlessNone(get(name),
                    [&](const Argument &arg) { return toType(arg); });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

unsigned OpCall::rank(Value v) const {
  return mlir::cast<RankedTensorType>(v.getType()).getRank();
}
SmallVector<unsigned> OpCall::allDims(Value v) const {
  return llvm::to_vector(llvm::seq<unsigned>(0, rank(v)));
}
Expr OpCall::numElements(ArrayRef<Expr> extents) {
  return product({extents.begin(), extents.end()});
}
Type OpCall::element(Value v) const {
  return mlir::cast<RankedTensorType>(v.getType()).getElementType();
}
Type OpCall::f32() const { return c.getBuilder().getF32Type(); }
Type OpCall::i64() const { return c.getBuilder().getI64Type(); }
Type OpCall::i1() const { return c.getBuilder().getI1Type(); }

Result<unsigned> OpCall::axis(int64_t dim, unsigned rank) const {
  // A rank-0 tensor counts as having one dim here.
  int64_t n = std::max(rank, 1u);
  if (dim < -n || dim >= n)
    return fail("dim " + Twine(dim) + " is outside a tensor of rank " +
                Twine(rank));
  return static_cast<unsigned>(dim < 0 ? dim + n : dim);
}

Result<SmallVector<unsigned>> OpCall::axes(ArrayRef<int64_t> dims,
                                           unsigned rank) const {
  if (dims.empty())
    return llvm::to_vector(llvm::seq<unsigned>(0, rank));
  SmallVector<unsigned> result;
  for (int64_t dim : dims) {
    LUMINAL_TRY(a, axis(dim, rank));
    if (rank != 0)
      result.push_back(a);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    return fail("names a dim twice");
  return result;
}

bool OpCall::agree(const Expr &a, const Expr &b) {
  std::optional<bool> equal = assumptions().equal(a, b);
  if (equal)
    return *equal;
  std::string what =
      (Twine(hlir::describePlace(c.getLoc())) + ": " + node.getOp() +
       " was traced where " + a.str() + " is " + b.str())
          .str();
  for (auto [lesser, greater] : {std::pair(a, b), std::pair(b, a)})
    if (!assumptions().provablyLessEqual(lesser, greater))
      required.push_back({lesser, greater, {}, what});
  return true;
}

bool OpCall::agree(ArrayRef<Expr> a, ArrayRef<Expr> b) {
  if (a.size() != b.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (!agree(x, y))
      return false;
  return true;
}

bool OpCall::atMost(const Expr &lesser, const Expr &greater,
                    ArrayRef<Expr> space) {
  if (lesser.isUndefined() || greater.isUndefined())
    return false;
  std::vector<Expr> mayBeZero;
  for (const Expr &extent : space) {
    if (assumptions().provablyLessEqual(extent, Expr(0)))
      return true;
    if (!assumptions().provablyLessEqual(Expr(1), extent))
      mayBeZero.push_back(extent);
  }
  if (assumptions().provablyLessEqual(lesser, greater))
    return true;
  if (mayBeZero.empty() && assumptions().provablyLess(greater, lesser))
    return false;
  required.push_back(
      {lesser, greater, std::move(mayBeZero),
       (Twine(hlir::describePlace(c.getLoc())) + ": " + node.getOp() +
        " was traced where " + lesser.str() + " is at most " + greater.str())
           .str()});
  return true;
}

bool OpCall::scansRows() const { return importer.scansRows(); }

void OpCall::growsUnlessScanned(StringRef how, const Expr &n) {
  if (!scansRows())
    grows(how, n);
}

bool OpCall::isKnownAtMost(const Expr &lesser, const Expr &greater) const {
  return assumptions().provablyLessEqual(lesser, greater) ||
         llvm::any_of(required, [&](const Requirement &known) {
           return known.lesser == lesser && known.greater == greater &&
                  known.space.empty();
         });
}

Result<SmallVector<Expr>> OpCall::broadcast(ArrayRef<SmallVector<Expr>> all) {
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
      if (!agree(r, e))
        return fail("extents " + r.str() + " and " + e.str() +
                    " cannot be broadcast to each other");
      // Of two equal extents, prefer the constant one.
      if (e.asConstant())
        r = e;
    }
  return result;
}

Result<SmallVector<Expr>> OpCall::commonShape(ArrayRef<Operand> all) {
  return broadcast(llvm::map_to_vector(
      all, [&](const Operand &operand) { return extents(operand); }));
}

//===----------------------------------------------------------------------===//
// Type promotion
//===----------------------------------------------------------------------===//

/// Category in type promotion: bool, integer, float.
static int category(Type t) {
  return t.isInteger(1) ? 0 : isa<FloatType>(t) ? 2 : 1;
}

/// The common type of two element types, like torch.promote_types.
static Type promoteTypes(Type a, Type b) {
  if (!a || !b)
    return a ? a : b;
  if (a == b)
    return a;
  int ca = category(a), cb = category(b);
  if (ca != cb)
    return ca > cb ? a : b;
  if (ca == 2) {
    // Only f32 holds all values of both f16 and bf16.
    if (a.getIntOrFloatBitWidth() == b.getIntOrFloatBitWidth())
      return Float32Type::get(a.getContext());
  }
  unsigned wa = a.getIntOrFloatBitWidth(), wb = b.getIntOrFloatBitWidth();
  if (a.isUnsignedInteger() == b.isUnsignedInteger() || ca == 2)
    return wa >= wb ? a : b;
  // The signed type that holds all values of both.
  unsigned width =
      a.isUnsignedInteger() ? std::max(2 * wa, wb) : std::max(wa, 2 * wb);
  return IntegerType::get(a.getContext(), std::min(width, 64u));
}

Type OpCall::promote(ArrayRef<Operand> operands) {
  Type dims, zero, wrapped;
  for (const Operand &o : operands) {
    if (o.tensor)
      (rank(o) ? dims : zero) =
          promoteTypes(rank(o) ? dims : zero, element(*o.tensor));
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
    if (type.isInteger(1))
      return c.scalarInt(type, number.real != 0);
    // Like PyTorch, reject a float that no 64-bit integer holds.
    if (!(number.real >= -0x1p63 && number.real < 0x1p63))
      return standIn("a float argument does not fit into a 64-bit integer",
                     type, {});
    return c.scalarInt(type, static_cast<int64_t>(number.real));
  }
  if (auto value = number.integer.asConstant())
    return isa<FloatType>(type)
               ? c.scalar(type, static_cast<double>(*value))
               : c.scalarInt(type, type.isInteger(1) ? *value != 0 : *value);
  return c.cast(c.iota({}, number.integer), type);
}

Status OpCall::checkOperands() const {
  return operandError ? Status(fail(*operandError)) : Status();
}

Value OpCall::standIn(const std::string &error, Type type,
                      ArrayRef<Expr> extents) {
  if (!operandError)
    operandError = error;
  Value zero = isa<FloatType>(type) ? c.scalar(type, 0) : c.scalarInt(type, 0);
  return c.broadcastTo(zero, extents);
}

Value OpCall::broadcastTo(Value v, ArrayRef<Expr> to) {
  SmallVector<Expr> from = extents(v);
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits =
        from[i].isConstant(1) ||
        assumptions().equal(from[i], to[to.size() - from.size() + i]) != false;
  if (fits)
    return c.broadcastTo(v, to);
  return standIn("an operand cannot be broadcast to the others", element(v),
                 to);
}

Value OpCall::spreadAlong(Value v, Value like, unsigned dim) {
  Type type = element(like);
  SmallVector<Expr> to = extents(like);
  if (rank(v) == 1 && assumptions().equal(extents(v)[0], to[dim]) != false)
    return c.view(c.cast(v, type), to, {Expr::dim(dim)});
  return standIn("an operand does not hold one element for each channel", type,
                 to);
}

Value OpCall::as(const Operand &operand, Type type) {
  return operand.tensor ? c.cast(*operand.tensor, type)
                        : materialize(operand.number, type);
}

Value OpCall::as(const Operand &operand, Type type, ArrayRef<Expr> extents) {
  return broadcastTo(as(operand, type), extents);
}

Result<std::pair<Value, Value>> OpCall::promotePair(const Operand &a,
                                                    const Operand &b) {
  Type type = computedType(promote({a, b}));
  LUMINAL_TRY(shape, commonShape({a, b}));
  Value x = as(a, type, shape), y = as(b, type, shape);
  return std::pair(x, y);
}

Value OpCall::toFloat(Value v) { return isFloat(v) ? v : c.cast(v, f32()); }

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Status OpCall::ret(ArrayRef<Value> values) {
  for (Value v : values) {
    Returned r;
    r.value = v;
    results.push_back(std::move(r));
  }
  return {};
}

Status OpCall::retFirst(ArrayRef<Value> values) {
  othersLeftOut = true;
  return ret(values);
}

Status OpCall::retViews(
    ArrayRef<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views,
    StringRef of) {
  const Argument &arg = given(of);
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
  return {};
}

Status OpCall::retView(ArrayRef<Expr> extents, ArrayRef<Expr> map,
                       StringRef of) {
  return retViews({{SmallVector<Expr>(extents), SmallVector<Expr>(map)}}, of);
}

Status OpCall::retAlias(StringRef of) {
  Value source = tensor(of);
  SmallVector<Expr> map = identityMap(rank(source));
  return retView(extents(source), map, of);
}

const TensorMeta *OpCall::argumentMeta(StringRef name) const {
  for (auto [i, p] : llvm::enumerate(entry.parameters))
    if (p.name == name && bound[i]->kind == Argument::Tensor)
      return importer.getMeta(bound[i]->names[0]);
  return nullptr;
}

/// Whether a tensor with these strides can be viewed in another shape without a
/// copy, by PyTorch's rule; std::nullopt if an extent or stride is symbolic.
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
  // Dims that are contiguous with each other in memory form a block; each block
  // must be a run of the new dims.
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

Status OpCall::retReshaped(Value value, ArrayRef<Expr> shape, StringRef of) {
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
    // Tensors created by the importer's rewrites have no strides.
    if (meta && meta->strides.size() != meta->sizes.size())
      meta = nullptr;
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
  return {};
}

Status OpCall::retMaybeView(Value value, StringRef of) {
  Returned r;
  r.value = value;
  const Argument &arg = given(of);
  if (arg.kind == Argument::Tensor)
    r.viewOf = arg.names[0];
  r.maybeView = true;
  results.push_back(std::move(r));
  return {};
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
