//===- Access.cpp - Code of indices and memory accesses -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/Analysis/AlignedRuns.h"
#include "luminal/Dialect/LLIR/Analysis/ClampedAccess.h"
#include "luminal/Dialect/LLIR/Utils/BufferAlignment.h"
#include "luminal/Runtime/Manifest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace luminal;
using namespace mlir;

static_assert(llir::kBufferAlignment == runtime::kBufferAlignment);

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getConstant(Value v) {
  if (auto c = v.getDefiningOp<arith::ConstantOp>())
    if (auto attr = dyn_cast<IntegerAttr>(c.getValue()))
      return attr.getInt();
  return std::nullopt;
}

Value Emitter::constant(int64_t v) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(v));
}

/// The values of both if they are constants. Folding here avoids ops that a
/// later pass would have to fold.
static std::optional<std::pair<int64_t, int64_t>> getConstants(Value x,
                                                               Value y) {
  std::optional<int64_t> a = getConstant(x), b = getConstant(y);
  if (!a || !b)
    return std::nullopt;
  return std::pair(*a, *b);
}

Value Emitter::add(Value x, Value y) {
  if (getConstant(x) == 0)
    return y;
  if (getConstant(y) == 0)
    return x;
  int64_t sum;
  if (auto known = getConstants(x, y);
      known && !llvm::AddOverflow(known->first, known->second, sum))
    return constant(sum);
  return arith::AddIOp::create(b, x, y, arith::IntegerOverflowFlags::nsw);
}
Value Emitter::sub(Value x, Value y) {
  if (getConstant(y) == 0)
    return x;
  int64_t difference;
  if (auto known = getConstants(x, y);
      known && !llvm::SubOverflow(known->first, known->second, difference))
    return constant(difference);
  // The length of a range that was given by its beginning and length.
  if (auto sum = x.getDefiningOp<arith::AddIOp>(); sum && sum.getLhs() == y)
    return sum.getRhs();
  return arith::SubIOp::create(b, x, y, arith::IntegerOverflowFlags::nsw);
}
Value Emitter::mul(Value x, Value y) {
  if (getConstant(x) == 1)
    return y;
  if (getConstant(y) == 1)
    return x;
  int64_t result;
  if (auto known = getConstants(x, y);
      known && !llvm::MulOverflow(known->first, known->second, result))
    return constant(result);
  return arith::MulIOp::create(b, x, y, arith::IntegerOverflowFlags::nsw);
}
Value Emitter::divU(Value x, Value y) {
  if (getConstant(y) == 1)
    return x;
  return arith::DivUIOp::create(b, x, y);
}
Value Emitter::remU(Value x, Value y) {
  if (getConstant(y) == 1)
    return constant(0);
  if (auto known = getConstants(x, y);
      known && known->first >= 0 && known->second > 0)
    return constant(known->first % known->second);
  return arith::RemUIOp::create(b, x, y);
}
/// floordiv or mod of i64 values, or vectors of them, that are below 2^32.
static Value divideNarrow(ImplicitLocOpBuilder &b, bool isDiv, Value x,
                          Value y) {
  Type type = x.getType(), narrow = b.getI32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    narrow = vector.clone(narrow);
  x = arith::TruncIOp::create(b, narrow, x);
  y = arith::TruncIOp::create(b, narrow, y);
  Value result = isDiv ? Value(arith::DivUIOp::create(b, x, y))
                       : Value(arith::RemUIOp::create(b, x, y));
  return arith::ExtUIOp::create(b, type, result);
}

Value Emitter::divNarrow(Value x, Value y) {
  if (getConstant(x) || getConstant(y) == 1)
    return divU(x, y);
  return divideNarrow(b, /*isDiv=*/true, x, y);
}
Value Emitter::remNarrow(Value x, Value y) {
  if (getConstant(x) || getConstant(y) == 1)
    return remU(x, y);
  return divideNarrow(b, /*isDiv=*/false, x, y);
}
bool Emitter::isNarrow(const Expr &e) const {
  std::optional<int64_t> most = getAssumptions().upperBound(e);
  return most && *most < int64_t(1) << 32;
}
Value Emitter::minS(Value x, Value y) {
  if (auto known = getConstants(x, y))
    return constant(std::min(known->first, known->second));
  return arith::MinSIOp::create(b, x, y);
}
Value Emitter::maxS(Value x, Value y) {
  if (auto known = getConstants(x, y))
    return constant(std::max(known->first, known->second));
  return arith::MaxSIOp::create(b, x, y);
}
Value Emitter::less(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}

//===----------------------------------------------------------------------===//
// Dims and expressions
//===----------------------------------------------------------------------===//

void Emitter::setDim(unsigned dim, Value value) {
  Value &own = getDim(dim).value;
  if (own && own != value)
    for (Memo &m : memo)
      std::erase_if(m.numbers, [&](const auto &number) {
        return number.first.usesDim(dim);
      });
  own = value;
}

void Emitter::setDimByLane(unsigned dim, Value value) {
  if (isa<VectorType>(value.getType()))
    getDim(dim).lanes = value;
  else
    setDim(dim, value);
}

void Emitter::setLane(unsigned dim, unsigned width, Value count) {
  lane = Lane{dim, width, count, {}};
  if (!count || width == 1)
    return;
  auto indices = VectorType::get({width}, b.getI64Type());
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, width));
  Value iota = arith::ConstantOp::create(
      b, DenseElementsAttr::get(indices, ArrayRef(numbers)));
  Value bound = vector::BroadcastOp::create(b, indices, count);
  lane.mask = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iota, bound);
}

Type Emitter::laneType(Type element) const {
  return isVector() ? Type(VectorType::get({lane.width}, element)) : element;
}

Value Emitter::spread(Value v) {
  if (!isVector() || isa<VectorType>(v.getType()))
    return v;
  Type element = v.getType();
  if (element.isBF16())
    v = toStorage(v, element);
  v = vector::BroadcastOp::create(b, laneType(v.getType()), v);
  return element.isBF16() ? fromStorage(v, element) : v;
}

bool Emitter::isLaneDim(unsigned dim) {
  return isVector() && (dim == lane.dim || getDim(dim).lanes);
}

bool Emitter::usesLanes(const Expr &e) {
  if (!isVector())
    return false;
  if (std::optional<unsigned> dim = e.asDim())
    return isLaneDim(*dim);
  return llvm::any_of(e.operands(),
                      [&](const Expr &x) { return usesLanes(x); });
}

Value Emitter::laneIndices() {
  auto type = VectorType::get({lane.width}, b.getI64Type());
  SmallVector<int64_t> numbers =
      llvm::to_vector(llvm::seq<int64_t>(0, lane.width));
  Value v = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef(numbers)));
  if (lane.count) {
    Value last = sub(lane.count, constant(1));
    v = arith::MinSIOp::create(b, v,
                               vector::BroadcastOp::create(b, type, last));
  }
  return v;
}

Value Emitter::clampLane(unsigned l) {
  Value v = constant(l);
  if (lane.count && l)
    v = minS(v, sub(lane.count, constant(1)));
  return v;
}

namespace {
/// Known facts about a floordiv or mod.
struct Division {
  /// The dividend is non-negative and the divisor a positive constant, so signs
  /// do not matter.
  bool isPlain = false;
  /// Both operands are below 2^32.
  bool isNarrow = false;
};
} // namespace

/// floordiv or mod of two values of the same type.
static Value floorDivide(ImplicitLocOpBuilder &b, bool isDiv, Division known,
                         Value x, Value y) {
  if (known.isPlain && known.isNarrow)
    return divideNarrow(b, isDiv, x, y);
  if (known.isPlain)
    return isDiv ? Value(arith::DivUIOp::create(b, x, y))
                 : Value(arith::RemUIOp::create(b, x, y));
  auto number = [&](int64_t v) -> Value {
    TypedAttr attr = b.getI64IntegerAttr(v);
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  };
  Value zero = number(0), one = number(1);
  auto cmp = [&](arith::CmpIPredicate p, Value l, Value r) -> Value {
    return arith::CmpIOp::create(b, p, l, r);
  };
  // A divisor is zero only if nothing is read, so any nonzero value will do.
  Value isZero = cmp(arith::CmpIPredicate::eq, y, zero);
  y = arith::SelectOp::create(b, isZero, one, y);
  Value q = arith::DivSIOp::create(b, x, y);
  Value r = arith::RemSIOp::create(b, x, y);
  Value signs =
      cmp(arith::CmpIPredicate::slt, arith::XOrIOp::create(b, r, y), zero);
  Value off =
      arith::AndIOp::create(b, cmp(arith::CmpIPredicate::ne, r, zero), signs);
  if (isDiv)
    return arith::SelectOp::create(b, off, arith::SubIOp::create(b, q, one), q);
  return arith::SelectOp::create(b, off, arith::AddIOp::create(b, r, y), r);
}

static Value combineTwo(ImplicitLocOpBuilder &b, Expr::Kind kind,
                        Division known, Value x, Value y) {
  switch (kind) {
  case Expr::Kind::Add:
    return arith::AddIOp::create(b, x, y);
  case Expr::Kind::Mul:
    return arith::MulIOp::create(b, x, y);
  case Expr::Kind::Max:
    return arith::MaxSIOp::create(b, x, y);
  case Expr::Kind::Min:
    return arith::MinSIOp::create(b, x, y);
  case Expr::Kind::FloorDiv:
    return floorDivide(b, /*isDiv=*/true, known, x, y);
  default:
    return floorDivide(b, /*isDiv=*/false, known, x, y);
  }
}

static Division analyzeDivision(const Emitter &emitter, const Expr &e) {
  if (e.kind() != Expr::Kind::FloorDiv && e.kind() != Expr::Kind::Mod)
    return {};
  std::optional<int64_t> divisor = e.operands()[1].asConstant();
  const Expr &dividend = e.operands()[0];
  if (!divisor || *divisor <= 0 ||
      !emitter.getAssumptions().provablyNonNegative(dividend))
    return {};
  return {true, emitter.isNarrow(dividend) && *divisor < int64_t(1) << 32};
}

/// Composed maps are new expressions. That their operands stay in range was
/// proved for the original maps, and must be proved again.
void Emitter::checkArithmetic(const Expr &e) {
  if (failed || e.kind() < Expr::Kind::FloorDiv ||
      !checkedExprs.insert({e, product(repeats)}).second)
    return;
  // An extent is known to be nonzero only inside a loop over it: the loops of
  // the expression's own dims, and the enclosing ones.
  std::vector<Expr> space;
  for (auto [i, extent] : llvm::enumerate(getExtents()))
    space.push_back(e.usesDim(i) ? extent : Expr(1));
  space.insert(space.end(), repeats.begin(), repeats.end());
  IndexChecker checker(Assumptions(getRanges()), std::move(space));
  if (std::optional<std::string> error = checker.checkOperands(e))
    return fail(kernel, "computes an index of which " + *error);
  for (Requirement &requirement : checker.requirements) {
    requirement.what = hlir::describePlace(kernel.getLoc()) +
                       ": 'llir.kernel' op computes " + e.str();
    hlir::addRequirements(requirements, requirement);
  }
}

Value Emitter::findNumber(const Expr &e) const {
  // The scope does not suffice: some regions have no scope of their own, and
  // code may be inserted ahead of existing code.
  Block *block = b.getInsertionBlock();
  Block::iterator point = b.getInsertionPoint();
  auto isVisible = [&](Value v) {
    if (v.getParentBlock() == block) {
      Operation *op = v.getDefiningOp();
      return !op || point == block->end() || op->isBeforeInBlock(&*point);
    }
    Region *region = block->getParent();
    while (region && region != v.getParentRegion())
      region = region->getParentRegion();
    return region != nullptr;
  };
  for (const Memo &m : llvm::reverse(memo))
    if (auto it = m.numbers.find(e);
        it != m.numbers.end() && isVisible(it->second))
      return it->second;
  return {};
}

Value Emitter::value(const Expr &e) {
  if (std::optional<std::string_view> s = e.asSymbol()) {
    auto it = symbols.find(std::string(*s));
    if (it != symbols.end())
      return it->second;
    fail(kernel, "uses the symbol " + Twine(llvm::StringRef(*s)) +
                     ", which the program does not have");
    return constant(0);
  }
  if (std::optional<unsigned> d = e.asDim()) {
    assert(getDim(*d).value && "a dim outside its loop");
    return getDim(*d).value;
  }
  if (Value known = findNumber(e))
    return known;
  auto remembered = [&](Value v) {
    memo.back().numbers.insert_or_assign(e, v);
    return v;
  };
  if (std::optional<int64_t> c = e.asConstant())
    return remembered(constant(*c));
  checkArithmetic(e);
  // Addresses of neighbours differ in the constant, which is last in a sum.
  if (e.kind() == Expr::Kind::Add)
    if (std::optional<int64_t> last = e.operands().back().asConstant())
      return remembered(add(value(e - *last), value(e.operands().back())));
  Division known = analyzeDivision(*this, e);
  Value v = value(e.operands()[0]);
  for (const Expr &x : llvm::drop_begin(e.operands()))
    v = combineTwo(b, e.kind(), known, v, value(x));
  return remembered(v);
}

Value Emitter::laneValues(const Expr &e) {
  auto type = VectorType::get({lane.width}, b.getI64Type());
  if (!usesLanes(e))
    return vector::BroadcastOp::create(b, type, value(e));
  if (std::optional<unsigned> d = e.asDim()) {
    if (getDim(*d).lanes)
      return getDim(*d).lanes;
    Value base = vector::BroadcastOp::create(b, type, getDim(*d).value);
    return arith::AddIOp::create(b, base, laneIndices());
  }
  checkArithmetic(e);
  Division known = analyzeDivision(*this, e);
  Value v = laneValues(e.operands()[0]);
  for (const Expr &x : llvm::drop_begin(e.operands()))
    v = combineTwo(b, e.kind(), known, v, laneValues(x));
  return v;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::address(Value base, Value index, Type type) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::GEPOp::create(b, ptr, type, base, ArrayRef<LLVM::GEPArg>{index});
}

/// Bitcasts `v` to `element`, lane by lane.
static Value bitcastLanes(ImplicitLocOpBuilder &b, Value v, Type element) {
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    type = vector.clone(element);
  return arith::BitcastOp::create(b, type, v);
}

Value Emitter::fromStorage(Value v, Type element) {
  if (element.isBF16())
    return bitcastLanes(b, v, element);
  if (!element.isInteger(1))
    return v;
  Type type = element;
  TypedAttr zero = b.getIntegerAttr(b.getI8Type(), 0);
  if (auto vector = dyn_cast<VectorType>(v.getType())) {
    type = vector.clone(element);
    zero = DenseElementsAttr::get(vector, Attribute(zero));
  }
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, v,
                               arith::ConstantOp::create(b, zero));
}

Value Emitter::toStorage(Value v, Type element) {
  if (element.isBF16())
    return bitcastLanes(b, v, b.getIntegerType(16));
  if (!element.isInteger(1))
    return v;
  Type type = b.getI8Type();
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    type = vector.clone(type);
  return arith::ExtUIOp::create(b, type, v);
}

static unsigned alignmentOf(Type storage) {
  return std::max(1u, storage.getIntOrFloatBitWidth() / 8);
}

/// Whether `v` is provably a multiple of `n`, a power of two.
static bool isMultiple(Value v, int64_t n, unsigned depth = 0) {
  if (n == 1)
    return true;
  constexpr unsigned kDeepest = 8;
  if (std::optional<int64_t> c = getConstant(v))
    return *c % n == 0;
  if (depth == kDeepest)
    return false;
  auto is = [&](Value x) { return isMultiple(x, n, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == v && is(loop.getLowerBound()) &&
           is(loop.getStep());
  }
  Operation *op = v.getDefiningOp();
  // Such values are below 2^32: they come from divideNarrow.
  if (isa<arith::ExtUIOp, arith::TruncIOp>(op))
    return is(op->getOperand(0));
  if (isa<arith::MulIOp>(op)) {
    // The factors may share the power of two.
    for (int64_t part = n; part > 0; part /= 2)
      if (isMultiple(op->getOperand(0), part, depth + 1) &&
          isMultiple(op->getOperand(1), n / part, depth + 1))
        return true;
    return false;
  }
  return isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::RemSIOp,
             arith::MinSIOp, arith::MaxSIOp>(op) &&
         is(op->getOperand(0)) && is(op->getOperand(1));
}

/// The provable alignment, in bytes, of the vector that begins at element
/// `index` of a buffer.
unsigned Emitter::alignmentOfVector(Value index, Type storage,
                                    unsigned ofBuffer) {
  unsigned bytes = alignmentOf(storage);
  int64_t elements = std::max(1u, std::min(lane.width, ofBuffer / bytes));
  while (elements > 1 && !isMultiple(index, elements))
    elements /= 2;
  return bytes * elements;
}

Value Emitter::loadScalar(Value base, Value index, Type storage,
                          bool invariant) {
  auto load = LLVM::LoadOp::create(b, storage, address(base, index, storage),
                                   alignmentOf(storage));
  load.setInvariant(invariant);
  return load;
}

/// A vector whose elements are consecutive or clamped to one element
/// (ClampedAccess.h), or consecutive or one element although their index is
/// divided (AlignedRuns.h). Null if neither is proved.
Value Emitter::loadClamped(Value base, Type storage, const Expr &e,
                           bool invariant) {
  Expr others = e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    return leaf.asDim() == lane.dim ? std::optional<Expr>(0) : std::nullopt;
  });
  std::optional<int64_t> step;
  if (!usesLanes(others) && isMultiple(getDim(lane.dim).value, lane.width))
    step = findAlignedStep(e, lane.dim, lane.width, getAssumptions());
  if (step == 0)
    return vector::BroadcastOp::create(
        b, VectorType::get({lane.width}, storage),
        loadScalar(base, value(e), storage, invariant));
  if (step == 1 && !lane.mask && !lane.count) {
    Value start = value(e);
    auto load = LLVM::LoadOp::create(b, VectorType::get({lane.width}, storage),
                                     address(base, start, storage),
                                     alignmentOfVector(start, storage));
    load.setInvariant(invariant);
    return load;
  }
  std::optional<ClampedAccess> access =
      findClampedAccess(e, lane.dim, getAssumptions());
  if (!access || lane.mask || usesLanes(access->rest) ||
      usesLanes(access->offset) ||
      !access->isWholeFor(lane.width, getExtents()[lane.dim],
                          getAssumptions()) ||
      !isMultiple(getDim(lane.dim).value, lane.width))
    return {};
  Value wanted = add(getDim(lane.dim).value, value(access->offset));
  Value start = wanted;
  for (const ClampedAccess::Clamp &clamp : access->clamps)
    start = clamp.isMin
                ? minS(start, value(clamp.bound + Expr(1 - int(lane.width))))
                : maxS(start, value(clamp.bound));
  Value index = add(value(access->rest), start);
  auto type = VectorType::get({lane.width}, storage);
  auto load = LLVM::LoadOp::create(b, type, address(base, index, storage),
                                   alignmentOfVector(index, storage));
  load.setInvariant(invariant);
  // Lanes beyond a bound get the element at the bound.
  Value result = load;
  for (const ClampedAccess::Clamp &clamp : access->clamps) {
    Value isBeyond = clamp.isMin ? less(start, wanted) : less(wanted, start);
    Value edge = vector::ExtractOp::create(
        b, load, int64_t(clamp.isMin ? lane.width - 1 : 0));
    result = arith::SelectOp::create(
        b, isBeyond, vector::BroadcastOp::create(b, type, edge), result);
  }
  return result;
}

/// The largest stride at which a vector is loaded as contiguous vectors that
/// include the elements between.
static constexpr int64_t kMostApart = 4;

/// Loads elements `stride` apart, from `start` on, as `stride` vectors. The
/// last one ends with the last element.
Value Emitter::loadApart(Value base, Type storage, Value start, int64_t stride,
                         bool invariant) {
  auto type = VectorType::get({lane.width}, storage);
  const int64_t width = lane.width, last = (width - 1) * stride + 1 - width;
  Value result;
  for (int64_t i = 0; i < stride; ++i) {
    const int64_t begin = std::min(i * width, last);
    Value at = add(start, constant(begin));
    auto load = LLVM::LoadOp::create(b, type, address(base, at, storage),
                                     alignmentOf(storage));
    load.setInvariant(invariant);
    if (!result) {
      result = load;
      continue;
    }
    // Elements of earlier vectors are in place already, except those of the
    // first vector.
    SmallVector<int64_t> order;
    for (int64_t l = 0; l < width; ++l)
      order.push_back(l * stride >= i * width
                          ? std::min(width + l * stride - begin, 2 * width - 1)
                      : i == 1 ? l * stride
                               : l);
    result = vector::ShuffleOp::create(b, result, load, order);
  }
  return result;
}

/// Loads the element at each of `positions`. LLVM decides whether the processor
/// does so by one instruction or lane by lane.
static Value lookUpLanes(ImplicitLocOpBuilder &b, Value base, Type storage,
                         Value positions) {
  auto type = cast<VectorType>(positions.getType());
  auto pointers = type.clone(LLVM::LLVMPointerType::get(b.getContext()));
  Value at = LLVM::GEPOp::create(b, pointers, storage, base,
                                 ArrayRef<LLVM::GEPArg>{positions});
  Value all = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type.clone(b.getI1Type()), true));
  return LLVM::masked_gather::create(b, type.clone(storage), at, all,
                                     /*pass_thru=*/ValueRange(),
                                     b.getI32IntegerAttr(alignmentOf(storage)));
}

Value Emitter::loadFrom(Value base, Type element, const Expr &e,
                        bool invariant) {
  Type storage = getStorageType(element);
  if (!usesLanes(e))
    return fromStorage(loadScalar(base, value(e), storage, invariant), element);
  auto type = VectorType::get({lane.width}, storage);
  std::optional<Expr::Linear> linear = e.linearIn(lane.dim);
  bool isLinear =
      linear && !usesLanes(linear->rest) && !usesLanes(linear->stride);
  Value start = isLinear ? value(e) : Value();
  if (isLinear && linear->stride.isConstant(1)) {
    Value at = address(base, start, storage);
    if (lane.mask) {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
      return fromStorage(LLVM::MaskedLoadOp::create(b, type, at, lane.mask,
                                                    zero, alignmentOf(storage)),
                         element);
    }
    auto load =
        LLVM::LoadOp::create(b, type, at, alignmentOfVector(start, storage));
    load.setInvariant(invariant);
    return fromStorage(load, element);
  }
  std::optional<int64_t> apart =
      isLinear ? linear->stride.asConstant() : std::nullopt;
  if (apart && *apart > 1 &&
      *apart <= std::min<int64_t>(kMostApart, lane.width) && !lane.mask)
    return fromStorage(loadApart(base, storage, start, *apart, invariant),
                       element);
  if (!linear)
    if (Value clamped = loadClamped(base, storage, e, invariant))
      return fromStorage(clamped, element);
  Value positions = isLinear ? Value() : laneValues(e);
  // Processors have no gather instructions for shorter elements.
  if (positions && machine.blockThreads == 0 && alignmentOf(storage) >= 4) {
    // A gather instruction takes twice as many lanes with narrow indices.
    std::optional<int64_t> most = getAssumptions().upperBound(e);
    if (most && *most <= std::numeric_limits<int32_t>::max() &&
        getAssumptions().provablyNonNegative(e))
      positions = arith::TruncIOp::create(
          b, VectorType::get({lane.width}, b.getI32Type()), positions);
    return fromStorage(lookUpLanes(b, base, storage, positions), element);
  }
  Value stride = isLinear ? value(linear->stride) : Value();
  Value result = LLVM::PoisonOp::create(b, type);
  for (unsigned l = 0; l < lane.width; ++l) {
    Value at = isLinear
                   ? add(start, mul(clampLane(l), stride))
                   : Value(vector::ExtractOp::create(b, positions, int64_t(l)));
    Value x = loadScalar(base, at, storage, invariant);
    result = vector::InsertOp::create(b, x, result, int64_t(l));
  }
  return fromStorage(result, element);
}

void Emitter::storeVector(Value base, Type storage, Value start, Value v,
                          bool nontemporal) {
  // Processors have non-temporal stores only for aligned vectors of at least 16
  // bytes. The runtime guarantees that alignment for results.
  unsigned aligned =
      alignmentOfVector(start, storage, runtime::kBufferAlignment);
  bool past = nontemporal && aligned == runtime::kBufferAlignment;
  LLVM::StoreOp::create(b, v, address(base, start, storage),
                        past ? aligned : alignmentOfVector(start, storage),
                        /*isVolatile=*/false, /*isNonTemporal=*/past);
}

void Emitter::storeTo(Value base, Type element, const Expr &e, Value v,
                      bool nontemporal) {
  Type storage = getStorageType(element);
  v = toStorage(v, element);
  auto storeScalar = [&](Value x, Value index) {
    LLVM::StoreOp::create(b, x, address(base, index, storage),
                          alignmentOf(storage));
  };
  if (!usesLanes(e)) {
    if (isa<VectorType>(v.getType()))
      v = vector::ExtractOp::create(b, v, int64_t(0));
    storeScalar(v, value(e));
    return;
  }
  v = spread(v);
  std::optional<Expr::Linear> linear = e.linearIn(lane.dim);
  bool isLinear =
      linear && !usesLanes(linear->rest) && !usesLanes(linear->stride);
  Value start = isLinear ? value(e) : Value();
  if (isLinear && linear->stride.isConstant(1)) {
    Value at = address(base, start, storage);
    if (lane.mask) {
      LLVM::MaskedStoreOp::create(b, v, at, lane.mask, alignmentOf(storage));
      return;
    }
    return storeVector(base, storage, start, v, nontemporal);
  }
  Value positions = isLinear ? Value() : laneValues(e);
  Value stride = isLinear ? value(linear->stride) : Value();
  for (unsigned l = 0; l < lane.width; ++l) {
    // Inactive lanes repeat the store of the last active one.
    Value from = clampLane(l);
    Value x = lane.count && l
                  ? Value(LLVM::ExtractElementOp::create(b, v, from))
                  : Value(vector::ExtractOp::create(b, v, int64_t(l)));
    Value at = isLinear
                   ? add(start, mul(from, stride))
                   : Value(vector::ExtractOp::create(b, positions, int64_t(l)));
    storeScalar(x, at);
  }
}

Value Emitter::load(unsigned number, const Expr &e) {
  // Operands do not change while the kernel runs, except those that it writes.
  bool invariant = haveConstantOperands && !kernel.writesOperand(number);
  return loadFrom(buffers[number], getElementType(kernel.getInputs()[number]),
                  e, invariant);
}

Value Emitter::getOperandAddress(Value v, Index index) {
  while (!isa<BlockArgument>(v)) {
    if (auto view = v.getDefiningOp<llir::ViewOp>()) {
      index = mapIndex(view.getMap(), index);
      v = view.getOperand();
      continue;
    }
    auto gather = v.getDefiningOp<llir::GatherOp>();
    assert(gather && "no operand that is moved");
    index = lookUpRow(gather, index);
    v = gather.getData();
  }
  return address(buffers[cast<BlockArgument>(v).getArgNumber()],
                 value(simplify(linearize(index, getExtentsOf(v)))),
                 getStorageType(getElementType(v)));
}

void Emitter::storeAt(unsigned number, const Expr &e, Value v) {
  storeTo(buffers[kernel.getInputs().size() + number],
          getElementType(kernel.getResults()[number]), e, v,
          loopCase && loopCase.getNontemporal());
}

Value Emitter::loadResult(unsigned number, const Expr &e) {
  return loadFrom(buffers[kernel.getInputs().size() + number],
                  getElementType(kernel.getResults()[number]), e,
                  /*invariant=*/false);
}

void Emitter::store(unsigned number, const Index &index, Value v) {
  storeAt(number, getResultAddress(number, index), v);
}

void Emitter::storeBeside(unsigned number, ArrayRef<Index> places,
                          ValueRange elements) {
  const int64_t count = places.size(), width = lane.width;
  Expr first = getResultAddress(number, places[0]);
  std::optional<Expr::Linear> linear = first.linearIn(lane.dim);
  bool takeTurns = count > 1 && isVector() && !lane.mask && !lane.count &&
                   linear && linear->stride.isConstant(count) &&
                   !usesLanes(linear->rest);
  for (int64_t i = 1; takeTurns && i < count; ++i)
    takeTurns =
        simplify(getResultAddress(number, places[i]) - first).isConstant(i);
  if (!takeTurns) {
    for (auto [index, v] : llvm::zip_equal(places, elements))
      store(number, index, v);
    return;
  }
  Type element = getElementType(kernel.getResults()[number]),
       storage = getStorageType(element);
  SmallVector<Value> vectors;
  for (Value v : elements)
    vectors.push_back(spread(toStorage(v, element)));
  Value base = buffers[kernel.getInputs().size() + number];
  for (int64_t part = 0; part < count; ++part) {
    // Lane l gets element `part * width + l`.
    Value joined;
    for (auto [i, v] : llvm::enumerate(vectors)) {
      SmallVector<int64_t> order;
      for (int64_t l = 0; l < width; ++l) {
        int64_t at = part * width + l, from = at % count, place = at / count;
        order.push_back(from == int64_t(i) ? place + (i ? width : 0)
                        : i == 1           ? place
                                           : l);
      }
      joined = i == 0 ? v : vector::ShuffleOp::create(b, joined, v, order);
    }
    storeVector(base, storage, value(simplify(first + part * width)), joined,
                loopCase && loopCase.getNontemporal());
  }
}

std::pair<Value, Expr> Emitter::findMemory(Value v, Index index) const {
  while (!isPlaced(v)) {
    if (auto argument = dyn_cast<BlockArgument>(v))
      return {buffers[argument.getArgNumber()],
              simplify(linearize(index, getExtentsOf(v)))};
    auto view = v.getDefiningOp<llir::ViewOp>();
    assert(view && "a value that is computed");
    index = mapIndex(view.getMap(), index);
    v = view.getOperand();
  }
  return {bases.lookup(v), getPlace(v, index)};
}

void Emitter::keep(Value v, const Expr &place, Value element) {
  Lane saved = lane;
  if (keepsVectors)
    lane.mask = lane.count = {};
  storeTo(bases.at(v), getElementType(v), simplify(place), element);
  lane = saved;
}

Value Emitter::loadKept(Value v, const Index &index) {
  Lane saved = lane;
  if (keepsVectors)
    lane.mask = lane.count = {};
  Value element = loadFrom(bases.at(v), getElementType(v), getPlace(v, index),
                           /*invariant=*/false);
  lane = saved;
  return element;
}
