//===- Rules.cpp - The compiled-in rule sets and what they promise --------===//
//
// A promise is of the right side: exact where both sides have the same bits;
// rounding(n) where the right side is within n ulp of the exact value (of the
// element for scalar functions, of the sum of absolute terms for sums), as the
// left side is in exact arithmetic. rounding(0) is the same number, a zero of
// either sign.
//
//===----------------------------------------------------------------------===//

#include "luminal/EqSat/Rules.h"
#include "Rules.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
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
namespace luminal::eqsat::lowering {
#include "Lowering.h.inc"
}

using namespace luminal::eqsat;

static void promise(RuleSetBuilder &set, Stratum stratum, Promise promise,
                    std::initializer_list<llvm::StringRef> names) {
  for (llvm::StringRef name : names)
    set.rule({name, promise, stratum});
}

static void populateViews(RuleSetBuilder &set) {
  views::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  promise(set, Stratum::Canonical, Promise::exact(),
          {"ViewIdentity", "ViewOfView", "ViewOfIota", "UnaryOfView",
           "BinaryOfViews", "BinaryOfViewAndScalar", "BinaryOfScalarAndView",
           "MulOne", "AddNegativeZero", "AddZeroInteger", "NegNeg",
           "SelectSame", "FoldCast", "FoldRecip", "FoldAdd", "FoldMul"});
}

static void populateArithmetic(RuleSetBuilder &set) {
  arithmetic::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  promise(set, Stratum::Algebra, Promise::exact(),
          {"Commute",
           "Neg",
           "Sub",
           "Not",
           "Or",
           "IsNan",
           "LessEqual",
           "LessEqualInteger",
           "Equal",
           "EqualInteger",
           "MaxInteger",
           "MinInteger",
           "Abs",
           "AbsInteger",
           "Trunc",
           "Floor",
           "Ceil",
           "Round",
           "DivInteger",
           "FloorMod",
           "FloorDivInteger"});
  promise(set, Stratum::Algebra, Promise::rounding(0),
          {"Max", "Min", "MaxNumber", "MinNumber"});
  promise(set, Stratum::Algebra, Promise::rounding(1),
          {"Div", "DivScaled", "FloorDiv"});
}

static void populateMath(RuleSetBuilder &set) {
  math::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  promise(set, Stratum::Algebra, Promise::rounding(1),
          {"Rsqrt", "Exp", "Log", "Sigmoid", "Silu", "Tanh", "Expm1", "Log1p",
           "Cos", "Erf", "Gelu", "GeluHalfLast", "GeluDiv", "GeluDivHalfLast",
           "GeluSigmoid", "GeluTanh", "GeluTanhHalfLast", "Pow"});
}

static void populateNarrow(RuleSetBuilder &set) {
  narrow::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  promise(set, Stratum::Algebra, Promise::rounding(1),
          {"NarrowUnary", "NarrowBinary"});
  promise(set, Stratum::Algebra, Promise::exact(),
          {"NarrowUnaryArithmetic", "NarrowBinaryArithmetic",
           "NarrowUnarySelective", "NarrowBinarySelective", "NarrowSelect",
           "NarrowLessThan", "CastRoundTrip", "CastTwice"});
}

static void populateMatmul(RuleSetBuilder &set) {
  matmul::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  promise(set, Stratum::Algebra, Promise::rounding(2),
          {"Gemm", "GemmWholeOperand", "GemmNarrow"});
}

static void populateNorm(RuleSetBuilder &set) {
  norm::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  promise(set, Stratum::Algebra, Promise::rounding(4),
          {"Softmax", "RMSNorm", "LayerNorm"});
  promise(set, Stratum::Algebra, Promise::rounding(1),
          {"NarrowSoftmax", "NarrowRMSNorm", "NarrowLayerNorm"});
}

static void populateLowering(RuleSetBuilder &set) {
  lowering::populateGeneratedPDLLPatterns(set.patterns());
  addNatives(set);
  promise(set, Stratum::Lowering, Promise::exact(),
          {"LowerSqrt", "LowerRecip", "LowerAdd", "LowerMul", "LowerMod",
           "LowerLessThan", "LowerSelect", "LowerCast", "LowerConstant",
           "LowerView", "LowerIota", "LowerReduceMax", "LowerGather",
           "LowerGatherInside", "LowerScatter", "LowerScatterInside"});
  promise(set, Stratum::Lowering, Promise::rounding(1),
          {"LowerLog2", "LowerExp2", "LowerSin"});
  promise(set, Stratum::Lowering, Promise::rounding(2), {"LowerReduceSum"});
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
  registerRuleSet("lowering", populateLowering);
}
