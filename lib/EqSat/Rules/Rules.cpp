//===- Rules.cpp - The built-in rule sets ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A promise is about the right side. exact: both sides have the same bits.
// rounding(n): the right side is within n ulp of the exact value (in ulps of
// the element for scalar functions, of the sum of absolute terms for sums),
// assuming that the left side is exact arithmetic. rounding(0): the same
// number, with a zero of either sign. A rule fires only for the element types
// that it claims; LuminalEqSatRulesTests checks each promise for each of them.
//
//===----------------------------------------------------------------------===//

#include "luminal/EqSat/Rules/Rules.h"
#include "Rules.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"

namespace luminal::eqsat::views {
#include "Views.h.inc"
}
namespace luminal::eqsat::arithmetic {
#include "Arithmetic.h.inc"
}
namespace luminal::eqsat::math {
#include "Math.h.inc"
}
namespace luminal::eqsat::narrow {
#include "Narrow.h.inc"
}
namespace luminal::eqsat::matmul {
#include "Matmul.h.inc"
}
namespace luminal::eqsat::norm {
#include "Norm.h.inc"
}
namespace luminal::eqsat::order {
#include "Order.h.inc"
}
namespace luminal::eqsat::scan {
#include "Scan.h.inc"
}
namespace luminal::eqsat::update {
#include "Update.h.inc"
}
namespace luminal::eqsat::lowering {
#include "Lowering.h.inc"
}
namespace luminal::eqsat::alternatives {
#include "Alternatives.h.inc"
}

using namespace luminal::eqsat;
using luminal::DType;
using luminal::llir::Fn;

namespace {
/// Element types that a rule claims.
class DTypes {
public:
  DTypes(std::initializer_list<DType> list) : list(list) {}
  DTypes operator+(const DTypes &other) const {
    DTypes sum = *this;
    sum.list.append(other.list);
    return sum;
  }
  llvm::SmallVector<mlir::Type> get(mlir::MLIRContext *context) const {
    llvm::SmallVector<mlir::Type> types;
    for (DType dtype : list)
      types.push_back(luminal::hlir::getElementType(context, dtype));
    return types;
  }

private:
  llvm::SmallVector<DType> list;
};

const DTypes kHalf{DType::F16, DType::BF16};
const DTypes kF32{DType::F32}, kF64{DType::F64};
const DTypes kNarrowFloat = kHalf + kF32, kFloat = kNarrowFloat + kF64;
const DTypes kI32{DType::I32}, kInteger = kI32 + DTypes{DType::I64};
const DTypes kBool{DType::I1};
const DTypes kNumber = kFloat + kInteger, kComputed = kNumber + kBool;
/// Types whose values f32, f64, i32 or i64 represent exactly.
const DTypes kNarrow = kNarrowFloat + kI32 + kBool;
const DTypes kStored{DType::I8,  DType::U8,     DType::I16,   DType::U16,
                     DType::U32, DType::F8E4M3, DType::F8E5M2};
const DTypes kAny = kComputed + kStored;

/// States the promises of the rules of one file and stratum.
class Statement {
public:
  Statement(RuleSetBuilder &set, Stratum stratum)
      : set(set), stratum(stratum) {}
  void operator()(Promise promise, const DTypes &dtypes,
                  std::initializer_list<llvm::StringRef> names) {
    for (llvm::StringRef name : names) {
      RuleInfo info{name, promise, stratum, /*matchLimit=*/0,
                    dtypes.get(set.patterns().getContext())};
      if (stratum == Stratum::Alternatives)
        info.growth = kGrowth;
      set.rule(info);
    }
  }
  /// For rules that make one of these functions, which are as accurate as its
  /// code. If there are several functions, native functions of the rules test
  /// which are admitted.
  void operator()(llvm::ArrayRef<Fn> functions, const DTypes &dtypes,
                  std::initializer_list<llvm::StringRef> names) {
    RuleInfo info{"", Promise::rounding(/*least=*/1e300, /*most=*/0), stratum,
                  /*matchLimit=*/0, dtypes.get(set.patterns().getContext())};
    info.asksPolicy = functions.size() > 1;
    for (mlir::Type dtype : info.dtypes) {
      double &most = info.ulps.emplace_back(0);
      for (Fn fn : functions) {
        double ulps = luminal::llir::getUlps(fn, dtype);
        most = std::max(most, ulps);
        info.promise.leastUlps = std::min(info.promise.leastUlps, ulps);
      }
      info.promise.ulps = std::max(info.promise.ulps, most);
    }
    for (llvm::StringRef name : names) {
      info.name = name;
      set.rule(info);
    }
  }

private:
  /// Alternatives may add twice as many nodes as recovery and lowering left.
  static constexpr double kGrowth = 2;
  RuleSetBuilder &set;
  Stratum stratum;
};
} // namespace

static void populateViews(RuleSetBuilder &set) {
  views::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  Statement state(set, Stratum::Canonical);
  state(Promise::exact(), kAny,
        {"ViewIdentity", "ViewOfView", "UnaryOfView", "SelectSame"});
  state(Promise::exact(), kInteger, {"ViewOfIota"});
  state(Promise::exact(), kComputed,
        {"BinaryOfViews", "BinaryOfViewAndScalar", "BinaryOfScalarAndView",
         "MulOne", "FoldCast", "FoldMul"});
  state(Promise::exact(), kNumber, {"NegNeg", "FoldAdd"});
  state(Promise::exact(), kFloat, {"AddNegativeZero", "FoldRecip"});
  state(Promise::exact(), kInteger, {"AddZeroInteger"});
}

static void populateArithmetic(RuleSetBuilder &set) {
  arithmetic::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  Statement state(set, Stratum::Recovery);
  state(Promise::exact(), kComputed, {"Commute"});
  state(Promise::exact(), kNumber, {"Neg", "Sub", "FloorMod"});
  state(Promise::exact(), kBool, {"Not", "Or"});
  state(Promise::exact(), kFloat + kBool, {"IsNan", "LessEqual", "Equal"});
  state(Promise::exact(), kInteger + kBool,
        {"LessEqualInteger", "EqualInteger"});
  state(Promise::exact(), kInteger,
        {"MaxInteger", "MinInteger", "AbsInteger", "DivInteger",
         "FloorDivInteger"});
  state(Promise::exact(), kFloat, {"Abs", "Trunc", "Floor", "Ceil", "Round"});
  state(Fn::Max, kFloat, {"Max", "MaxNumber"});
  state(Fn::Min, kFloat, {"Min", "MinNumber"});
  // Half an ulp for the division, and half an ulp for a reciprocal that is a
  // constant of its own: a * a becomes a / 3 if a is 1 / 3, rounded.
  state(Promise::rounding(1), kFloat, {"Div"});
  state(Fn::FloorDiv, kFloat, {"FloorDiv"});
  state(Fn::Div, kF64, {"DivScaled"});
}

static void populateMath(RuleSetBuilder &set) {
  math::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  Statement state(set, Stratum::Recovery);
  state(Fn::Rsqrt, kFloat, {"Rsqrt"});
  state(Fn::Exp, kFloat, {"Exp"});
  state(Fn::Log, kFloat, {"Log"});
  state(Fn::Sigmoid, kFloat, {"Sigmoid"});
  state(Fn::Silu, kFloat, {"Silu"});
  state(Fn::Tanh, kFloat, {"Tanh"});
  state(Fn::Expm1, kFloat, {"Expm1"});
  state(Fn::Log1p, kFloat, {"Log1p"});
  state(Fn::Cos, kFloat, {"Cos"});
  state(Fn::Erf, kFloat, {"Erf"});
  state(Fn::Atan, kFloat, {"Atan"});
  state(Fn::Asin, kFloat, {"Asin"});
  state(Fn::Acos, kFloat, {"Acos"});
  state(Fn::Gelu, kFloat,
        {"Gelu", "GeluHalfLast", "GeluDiv", "GeluDivHalfLast"});
  state(Fn::GeluTanh, kFloat, {"GeluSigmoid", "GeluTanh", "GeluTanhHalfLast"});
  state(Fn::Pow, kFloat, {"Pow"});
  state(Promise::exact(), kInteger,
        {"BitAnd", "BitOr", "BitXor", "PowerOfTwo", "ShiftLeft", "ShiftRight"});
}

static void populateNarrow(RuleSetBuilder &set) {
  mlir::MLIRContext *context = set.patterns().getContext();
  narrow::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  Statement state(set, Stratum::Recovery);
  state(roundingFunctions(context, 1), kNarrowFloat, {"NarrowUnary"});
  state(roundingFunctions(context, 2), kNarrowFloat, {"NarrowBinary"});
  state(Promise::exact(), kNarrowFloat,
        {"NarrowUnaryArithmetic", "NarrowBinaryArithmetic",
         "NarrowUnarySelective", "NarrowBinarySelective"});
  state(Promise::exact(), kNarrow,
        {"NarrowSelect", "NarrowLessThan", "CastRoundTrip"});
  state(Promise::exact(), kAny, {"CastTwice"});
}

static void populateMatmul(RuleSetBuilder &set) {
  matmul::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  Statement state(set, Stratum::Recovery);
  state(Promise::rounding(2), kNumber, {"Gemm", "GemmWholeOperand"});
  state(Promise::rounding(2), kHalf,
        {"GemmNarrow", "NarrowWeights", "NarrowSafeWeights"});
}

static void populateNorm(RuleSetBuilder &set) {
  norm::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  Statement state(set, Stratum::Recovery);
  state(Promise::rounding(4), kFloat,
        {"Softmax", "SoftmaxAlong", "RMSNorm", "LayerNorm"});
  state(Promise::rounding(1), kHalf,
        {"NarrowSoftmax", "NarrowRMSNorm", "NarrowLayerNorm"});
}

static void populateOrder(RuleSetBuilder &set) {
  order::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  addOrderNatives(set);
  Statement state(set, Stratum::Recovery);
  state(Promise::exact(), kComputed, {"Sort", "SortFirst"});
}

static void populateScan(RuleSetBuilder &set) {
  scan::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  addScanNatives(set);
  addProductNatives(set);
  Statement state(set, Stratum::Recovery);
  // Sums in another order and, for f16 and bf16, without intermediate rounding
  // to f32.
  state(Promise::rounding(1), kNumber, {"ScanSum"});
  state(Promise::rounding(1), kNarrowFloat, {"ScanWidened", "NarrowScan"});
  state(Promise::rounding(2), kF32 + kF64, {"ScanLogSumExp"});
  state(Promise::rounding(0), kNumber, {"ScanMax"});
  state(Promise::exact(), kInteger, {"ScanProductInteger"});
  // Multiplied from the left, in the type of the elements.
  state(Promise::rounding(1), kNarrowFloat, {"ScanProductRounded"});
  state(Promise::rounding(4), kF64, {"ScanProductDouble"});
  // Exact, except that extrema that are zero may have either sign.
  state(Promise::rounding(0), kFloat, {"ScanMin"});
  state(Promise::rounding(0), kFloat + DTypes{DType::I64}, {"ScanPlaces"});
  state(Promise::rounding(0), kInteger,
        {"ScanMinInteger", "ScanPlacesInteger"});
}

static void populateUpdate(RuleSetBuilder &set) {
  update::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  addUpdateNatives(set);
  Statement state(set, Stratum::Recovery);
  state(Promise::exact(), kComputed, {"UpdateRows", "UpdateColumn"});
}

/// The same function as an op of LLIR.
static void populateLowering(RuleSetBuilder &set) {
  lowering::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  Statement state(set, Stratum::Lowering);
  state(Promise::exact(), kFloat,
        {"LowerLog2", "LowerExp2", "LowerSin", "LowerSqrt", "LowerRecip"});
  state(Promise::exact(), kNumber, {"LowerAdd", "LowerMod", "LowerReduceSum"});
  state(Promise::exact(), kComputed,
        {"LowerMul", "LowerLessThan", "LowerReduceMax", "LowerScatter",
         "LowerScatterInside"});
  state(Promise::exact(), kAny,
        {"LowerCast", "LowerConstant", "LowerView", "LowerGather",
         "LowerGatherInside", "LowerSelect"});
  state(Promise::exact(), kFloat + kInteger + kStored, {"LowerBitcast"});
  state(Promise::exact(), kInteger, {"LowerIota"});
}

/// f16 and bf16 are excluded because regrouped products would be rounded in
/// between. The bounds are relative to the sum of absolute terms of all
/// factors, as long as no product leaves the range of the type: two ulps for
/// each product, one for each sum or scale.
static void populateAlternatives(RuleSetBuilder &set) {
  alternatives::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  addAlternativeNatives(set);
  Statement state(set, Stratum::Alternatives);
  state(Promise::rounding(4), kF32 + kF64,
        {"ProductAssociate", "ProductAssociateBack",
         "ProductAssociateBackTransposed"});
  state(Promise::rounding(3), kF32 + kF64,
        {"ProductsJoinRight", "ProductsJoinLeft", "ScaleIntoRight",
         "ScaleIntoLeft"});
}

void luminal::eqsat::registerAllRuleSets() {
  static bool done = false;
  if (std::exchange(done, true))
    return;
  registerRuleDialects([](mlir::DialectRegistry &registry) {
    registry.insert<llir::LLIRDialect>();
  });
  registerFacts();
  registerStaticCost();
  registerRuleSet("views", populateViews);
  registerRuleSet("arithmetic", populateArithmetic);
  registerRuleSet("math", populateMath);
  registerRuleSet("narrow", populateNarrow);
  registerRuleSet("matmul", populateMatmul);
  registerRuleSet("norm", populateNorm);
  registerRuleSet("order", populateOrder);
  registerRuleSet("scan", populateScan);
  registerRuleSet("update", populateUpdate);
  registerRuleSet("lowering", populateLowering);
  registerRuleSet("alternatives", populateAlternatives);
}
