//===- Facts.cpp - Facts about classes ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rules.h"
#include "luminal/Dialect/HLIR/IR/IntegerRange.h"
#include "luminal/Dialect/HLIR/Transforms/FoldIntegers.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

static Type elementOf(Type type) {
  return cast<RankedTensorType>(type).getElementType();
}

template <typename... Ops>
static bool is(const NodeView &node) {
  return node.name && ((node.name->getTypeID() == TypeID::get<Ops>()) || ...);
}

//===----------------------------------------------------------------------===//
// number
//===----------------------------------------------------------------------===//

TypedAttr luminal::eqsat::numberOfType(double value, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat x(value);
    bool loses;
    x.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
              &loses);
    return FloatAttr::get(floatType, x);
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 64)
    return {};
  unsigned width = integer.getWidth();
  bool isSigned = width > 1 && !integer.isUnsigned();
  double low = isSigned ? -std::ldexp(1.0, width - 1) : 0.0;
  double high = std::ldexp(1.0, isSigned ? width - 1 : width);
  if (!(value >= low && value < high) || value != std::trunc(value))
    return {};
  uint64_t bits = isSigned ? static_cast<uint64_t>(static_cast<int64_t>(value))
                           : static_cast<uint64_t>(value);
  return IntegerAttr::get(type, APInt(width, bits, isSigned));
}

namespace {
/// The number that every element equals.
class NumberAnalysis : public ClassAnalysis {
public:
  Attribute make(const NodeView &node) override {
    if (is<hlir::ConstantOp, llir::ConstantOp>(node)) {
      auto elements = node.attributes.getAs<DenseElementsAttr>("value");
      if (!elements || !elements.isSplat() ||
          !hlir::getDType(elements.getElementType()))
        return {};
      return elements.getSplatValue<TypedAttr>();
    }
    if (node.operandFacts.empty() ||
        llvm::is_contained(node.operandFacts, Attribute()))
      return {};
    if (is<hlir::ViewOp, llir::ViewOp>(node))
      return node.operandFacts[0];
    // Fold only ops that every machine rounds in the same way.
    if (!is<hlir::CastOp, hlir::AddOp, hlir::MulOp, hlir::RecipOp>(node))
      return {};
    SmallVector<Attribute, 2> operands;
    for (Attribute fact : node.operandFacts) {
      Type type = cast<TypedAttr>(fact).getType();
      // The generated code need not compute storage types in the same way.
      if (hlir::isStorageType(type))
        return {};
      operands.push_back(
          DenseElementsAttr::get(RankedTensorType::get({}, type), fact));
    }
    Type type = elementOf(node.resultTypes[0]);
    if (hlir::isStorageType(type))
      return {};
    auto folded = cast<DenseElementsAttr>(hlir::foldConstants(
        *node.name, operands, RankedTensorType::get({}, type)));
    return folded.getSplatValue<Attribute>();
  }

  /// Two numbers of one class can differ only in the sign of zero, in the bits
  /// of NaN, or by what a rounding rule permits.
  std::optional<Attribute> join(Attribute a, Attribute) override { return a; }
};

//===----------------------------------------------------------------------===//
// extent
//===----------------------------------------------------------------------===//

/// The expression over symbols that every element equals, as i64 or cast from
/// it.
class ExtentAnalysis : public ClassAnalysis {
public:
  Attribute make(const NodeView &node) override {
    if (is<hlir::IotaOp, llir::IotaOp>(node)) {
      auto map = node.attributes.getAs<hlir::MapAttr>("map");
      if (!map || map.getResults()[0].hasDims() ||
          !elementOf(node.resultTypes[0]).isInteger(64))
        return {};
      return hlir::MapAttr::get(map.getContext(), 0, map.getResults());
    }
    if (is<hlir::ViewOp, llir::ViewOp>(node))
      return node.operandFacts[0];
    if (is<hlir::CastOp>(node)) {
      Type type = elementOf(node.resultTypes[0]);
      return type.isF32() || type.isF64() ? node.operandFacts[0] : Attribute();
    }
    return {};
  }
  std::optional<Attribute> join(Attribute a, Attribute) override { return a; }
};

//===----------------------------------------------------------------------===//
// range
//===----------------------------------------------------------------------===//

/// Inclusive bounds of integer elements.
class ClassRanges : public ClassAnalysis {
public:
  explicit ClassRanges(Operation *function) : function(function) {}

  Attribute make(const NodeView &node) override {
    if (node.resultTypes.size() != 1)
      return {};
    auto type = dyn_cast<RankedTensorType>(node.resultTypes[0]);
    if (!type)
      return {};
    Type element = type.getElementType();
    if (!element.isSignlessInteger(32) && !element.isInteger(64))
      return {};
    if (is<hlir::ConstantOp>(node)) {
      auto range =
          hlir::getRange(node.attributes.getAs<DenseIntElementsAttr>("value"));
      return range ? bounds(type, range->lo, range->hi) : Attribute();
    }
    if (is<hlir::IotaOp>(node)) {
      auto map = node.attributes.getAs<hlir::MapAttr>("map");
      Assumptions assumptions =
          hlir::getAssumptions(function, hlir::getExtents(type));
      auto range =
          map ? hlir::getRange(map.getResults()[0], assumptions) : std::nullopt;
      return range ? bounds(type, range->lo, range->hi) : Attribute();
    }
    if (is<llir::ArgsortOp>(node)) {
      Expr length =
          hlir::getExtents(cast<RankedTensorType>(node.operandTypes[0])).back();
      auto range =
          hlir::getRange(length - Expr(1), hlir::getAssumptions(function));
      return range ? bounds(type, 0, std::max<int64_t>(range->hi, 0))
                   : Attribute();
    }
    auto operand = [&](unsigned i) {
      return dyn_cast_or_null<DenseI64ArrayAttr>(node.operandFacts[i]);
    };
    if (is<hlir::ViewOp, hlir::GatherOp>(node))
      return operand(0);
    if (is<hlir::CastOp>(node)) {
      DenseI64ArrayAttr x = operand(0);
      return x ? bounds(type, x[0], x[1]) : Attribute();
    }
    if (is<hlir::AddOp>(node)) {
      DenseI64ArrayAttr x = operand(0), y = operand(1);
      int64_t lo, hi;
      if (!x || !y || llvm::AddOverflow(x[0], y[0], lo) ||
          llvm::AddOverflow(x[1], y[1], hi))
        return {};
      return bounds(type, lo, hi);
    }
    if (is<hlir::SelectOp>(node)) {
      DenseI64ArrayAttr x = operand(1), y = operand(2);
      if (!x || !y)
        return {};
      return bounds(type, std::min(x[0], y[0]), std::max(x[1], y[1]));
    }
    return {};
  }

  /// The intersection of both ranges. It may be empty, because every range is
  /// true for a tensor without elements.
  std::optional<Attribute> join(Attribute a, Attribute b) override {
    auto x = cast<DenseI64ArrayAttr>(a), y = cast<DenseI64ArrayAttr>(b);
    int64_t lo = std::max(x[0], y[0]), hi = std::min(x[1], y[1]);
    if (lo > hi)
      return a;
    return DenseI64ArrayAttr::get(a.getContext(), {lo, hi});
  }

private:
  /// Null if the element type cannot hold the bounds, that is, wraps.
  static Attribute bounds(RankedTensorType type, int64_t lo, int64_t hi) {
    if (!hlir::holds(type.getElementType(), {lo, hi}))
      return {};
    return DenseI64ArrayAttr::get(type.getContext(), {lo, hi});
  }

  Operation *function;
};
} // namespace

//===----------------------------------------------------------------------===//
// weight
//===----------------------------------------------------------------------===//

/// Whether a leaf is a weight, or an argument of a loop body that is a weight
/// in each trip.
static bool isWeight(Value leaf) {
  auto argument = dyn_cast<BlockArgument>(leaf);
  if (!argument)
    return false;
  auto repeat = dyn_cast<hlir::RepeatOp>(argument.getOwner()->getParentOp());
  if (!repeat)
    return llir::isWeight(argument);
  unsigned number = argument.getArgNumber();
  unsigned carried = repeat.getCarried().size();
  if (number < carried)
    return false;
  number -= carried;
  const unsigned lists = repeat.getNumLists();
  if (number >= lists)
    return isWeight(repeat.getRows()[number - lists]);
  unsigned trips = repeat.getTrips();
  return llvm::all_of(repeat.getEach().slice(number * trips, trips), isWeight);
}

namespace {
/// Set (as a unit attribute) for values that are computed from weights and
/// constants alone: unknown at compile time, but the same in every call.
class WeightAnalysis : public ClassAnalysis {
public:
  Attribute make(const NodeView &node) override {
    bool isKnown;
    if (node.leaf)
      isKnown = isWeight(node.leaf);
    else if (node.operandFacts.empty())
      isKnown = is<hlir::ConstantOp, llir::ConstantOp>(node);
    else
      isKnown = !llvm::is_contained(node.operandFacts, Attribute());
    return isKnown ? UnitAttr::get(node.attributes.getContext()) : Attribute();
  }
  std::optional<Attribute> join(Attribute a, Attribute) override { return a; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
/// Equates tensor types whose dynamic dims are written differently. Spellings
/// are chosen for extents instead of types, so tensors of f32 and i1 with equal
/// dims also have equal dims after respelling.
class TensorSpellings final : public TypeSpellings {
public:
  explicit TensorSpellings(Operation *function)
      : assumptions(hlir::getAssumptions(function)) {}

  std::optional<Equality> compare(Type a, Type b) override {
    RankedTensorType x = known(a), y = known(b);
    if (!x || !y)
      return std::nullopt;
    if (x.getElementType() != y.getElementType() || x.getRank() != y.getRank())
      return Equality::No;
    Equality result = Equality::Yes;
    SmallVector<Expr> p = hlir::getExtents(x), q = hlir::getExtents(y);
    for (auto [e, f] : llvm::zip_equal(p, q)) {
      std::optional<bool> equal = assumptions.equal(e, f);
      if (equal == false)
        return Equality::No;
      if (!equal)
        result = Equality::Unknown;
    }
    if (result == Equality::Yes)
      for (auto [e, f] : llvm::zip_equal(p, q))
        unite(e, f);
    return result;
  }

  Type chosen(Type type) const override {
    RankedTensorType tensor = simpler.empty() ? nullptr : known(type);
    if (!tensor)
      return type;
    SmallVector<Expr> given = hlir::getExtents(tensor), extents = given;
    for (Expr &e : extents)
      e = find(e);
    if (extents == given)
      return type;
    return hlir::getTensorType(extents, tensor.getElementType());
  }

  SmallVector<Conversion> conversions(Type from, Type to) const override {
    RankedTensorType x = known(from), y = known(to);
    if (!x || !y)
      return {};
    Builder b(from.getContext());
    DictionaryAttr identity = b.getDictionaryAttr(b.getNamedAttr(
        "map", hlir::MapAttr::getIdentity(from.getContext(), x.getRank())));
    return {{hlir::ViewOp::getOperationName(), identity},
            {llir::ViewOp::getOperationName(), identity}};
  }

private:
  /// Null for a tensor whose encoding is not a list of extents.
  static RankedTensorType known(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool isKnown = tensor && (!tensor.getEncoding() ||
                              isa<hlir::DimsAttr>(tensor.getEncoding()));
    return isKnown ? tensor : nullptr;
  }

  Expr find(Expr e) const {
    for (auto it = simpler.find(e); it != simpler.end(); it = simpler.find(e))
      e = it->second;
    return e;
  }
  /// Keeps the smaller expression. Constants compare less than symbols, and
  /// symbols less than compound expressions, so static dims stay static.
  void unite(Expr e, Expr f) {
    e = find(e);
    f = find(f);
    if (e != f)
      simpler.emplace(std::max(e, f), std::min(e, f));
  }

  Assumptions assumptions;
  /// Maps an extent to a smaller extent that was found equal.
  std::map<Expr, Expr> simpler;
};
} // namespace

static bool isConstant(Value v) {
  if (auto view = v.getDefiningOp<hlir::ViewOp>())
    v = view.getOperand();
  return v.getDefiningOp<hlir::ConstantOp>() != nullptr;
}

void luminal::eqsat::registerFacts() {
  registerAnalysis(
      "number", [](Operation *) { return std::make_unique<NumberAnalysis>(); });
  registerAnalysis(
      "extent", [](Operation *) { return std::make_unique<ExtentAnalysis>(); });
  registerAnalysis("range", [](Operation *function) {
    return std::make_unique<ClassRanges>(function);
  });
  registerAnalysis(
      "weight", [](Operation *) { return std::make_unique<WeightAnalysis>(); });
  registerEqualities([](Operation *function, auto found) {
    // Skip values that are computed from constants alone: rules fold them.
    llvm::DenseSet<Value> folded;
    auto isFolded = [&](Value v) {
      return isConstant(v) || folded.contains(v);
    };
    hlir::findKnownIntegers(
        cast<func::FuncOp>(function), [&](Value value, Value same) {
          if (llvm::all_of(value.getDefiningOp()->getOperands(), isFolded))
            folded.insert(value);
          else
            found(value, same);
        });
  });
  registerTypeSpellings([](Operation *function) {
    return std::make_unique<TensorSpellings>(function);
  });
}
