//===- RuleFixture.cpp - The compiled-in rules, and values for programs ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuleFixture.h"
#include "Patterns/Registry.h"
#include "luminal/Dialect/HLIR/Utils/CompositeConstants.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using namespace luminal::test;

RuleFixture::RuleFixture() {
  registerAllRuleSets();
  context.loadDialect<func::FuncDialect, pdl::PDLDialect, hlir::HLIRDialect,
                      llir::LLIRDialect>();
  collectLiterals();
  EXPECT_TRUE(
      succeeded(loader.loadSets(UnknownLoc::get(&context), {}, /*all=*/true)));
}

Type RuleFixture::elementType(StringRef name) {
  std::optional<DType> dtype = dtypeFromName(std::string_view(name));
  return hlir::getElementType(&context, *dtype);
}

void RuleFixture::collectLiterals() {
  literals.assign(std::begin(hlir::kErfExponents),
                  std::end(hlir::kErfExponents));
  literals.insert(literals.end(), std::begin(hlir::kErfWeights),
                  std::end(hlir::kErfWeights));
  for (auto &[name, populate] : Registry::get().ruleSets) {
    RewritePatternSet patterns(&context);
    RuleSetBuilder builder(patterns);
    populate(builder);
    patterns.getPDLPatterns().getModule()->walk([&](pdl::AttributeOp op) {
      if (auto number = dyn_cast_or_null<FloatAttr>(op.getValueAttr()))
        if (number.getType().isF64() &&
            std::isfinite(number.getValueAsDouble()))
          literals.push_back(number.getValueAsDouble());
    });
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The largest number below a half differs between types.
static APFloat inType(APFloat x, const llvm::fltSemantics &semantics) {
  APFloat next = x;
  next.next(/*nextDown=*/false);
  bool isBelowHalf = next.isExactlyValue(0.5), loses;
  (isBelowHalf ? next : x)
      .convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  if (isBelowHalf)
    next.next(/*nextDown=*/true);
  return isBelowHalf ? next : x;
}

/// Writes every float of a function in one type.
static void respell(func::FuncOp function, FloatType type) {
  auto isFloat = [](Type t) {
    return isa<FloatType>(getElementTypeOrSelf(t)) &&
           !hlir::isStorageType(getElementTypeOrSelf(t));
  };
  auto change = [&](Value value) {
    if (isFloat(value.getType()))
      value.setType(
          hlir::withElementType(cast<RankedTensorType>(value.getType()), type));
  };
  for (Value argument : function.getArguments())
    change(argument);
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (auto constant = dyn_cast<hlir::ConstantOp>(op)) {
      auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
      if (elements) {
        SmallVector<APFloat> numbers(elements.getValues<APFloat>());
        for (APFloat &x : numbers)
          x = inType(x, type.getFloatSemantics());
        constant.setValueAttr(DenseElementsAttr::get(
            RankedTensorType::get(elements.getType().getShape(), type),
            numbers));
      }
    }
    for (Value result : op.getResults())
      change(result);
    if (isa<hlir::CastOp>(op) &&
        op.getOperand(0).getType() == op.getResult(0).getType()) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    }
  }
}

OwningOpRef<ModuleOp> RuleFixture::build(const RuleProgram &instance) {
  Location loc = NameLoc::get(StringAttr::get(&context, instance.name));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types;
  for (const Operand &operand : instance.operands) {
    SmallVector<Expr> extents;
    for (const std::string &text : operand.extents)
      extents.push_back(*Expr::parse(text));
    types.push_back(hlir::getTensorType(extents, elementType(operand.element)));
  }
  // Sets the value of the symbol for any program.
  types.push_back(
      hlir::getTensorType({Expr::symbol("s0")}, builder.getI1Type()));
  auto function = func::FuncOp::create(builder, loc, "f",
                                       builder.getFunctionType(types, {}));
  hlir::SymbolEntry symbol{"s0", {0, 8}};
  function->setAttr(hlir::kSymbolsAttr,
                    hlir::SymbolsAttr::get(&context, ArrayRef(symbol)));
  for (auto [i, operand] : llvm::enumerate(instance.operands))
    if (operand.isWeight)
      function.setArgAttr(i, hlir::kKindAttr, builder.getStringAttr("weight"));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Assumptions assumptions = hlir::getAssumptions(function);
  hlir::Composer composer(builder, loc, assumptions);
  SmallVector<Value> arguments(body->args_begin(), body->args_end());
  arguments.pop_back();
  Value result = instance.build(composer, arguments);
  func::ReturnOp::create(builder, loc, result);
  if (!instance.spelledIn.empty())
    respell(function, cast<FloatType>(elementType(instance.spelledIn)));
  function.setFunctionType(builder.getFunctionType(
      body->getArgumentTypes(), body->getTerminator()->getOperandTypes()));
  EXPECT_TRUE(succeeded(verify(*module))) << instance.name;
  return module;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static APFloat convert(double x, const llvm::fltSemantics &semantics) {
  APFloat value(x);
  bool loses;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  return value;
}

reference::Tensor RuleFixture::random(const Operand &operand,
                                      RankedTensorType type,
                                      const reference::SymbolValues &symbols) {
  auto valueOf = [&](std::string_view name) -> std::optional<int64_t> {
    auto it = symbols.find(name);
    if (it == symbols.end())
      return std::nullopt;
    return it->second;
  };
  SmallVector<int64_t> shape;
  int64_t n = 1;
  for (const Expr &e : hlir::getExtents(type))
    n *= shape.emplace_back(*e.evaluate(valueOf));
  Type element = type.getElementType();
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(rng);
  };
  auto staticType = RankedTensorType::get(shape, element);
  if (auto floatType = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    SmallVector<APFloat> specials;
    for (double x : {0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 0.5, -0.5, 7.0, -8.0,
                     0.49999, 65504.0, -1e30, 1e-40})
      specials.push_back(convert(x, semantics));
    for (bool negative : {false, true}) {
      specials.push_back(convert(negative ? -INFINITY : INFINITY, semantics));
      specials.push_back(APFloat::getSmallest(semantics, negative));
      specials.push_back(APFloat::getSmallestNormalized(semantics, negative));
      specials.push_back(APFloat::getLargest(semantics, negative));
    }
    specials.push_back(APFloat::getNaN(semantics));
    SmallVector<APFloat> values;
    for (int64_t k = 0; k != n; ++k) {
      double x = std::normal_distribution<double>(0, 3)(rng);
      if (operand.range) {
        x = std::uniform_real_distribution<double>(operand.range->first,
                                                   operand.range->second)(rng);
        if (operand.isIntegral)
          x = std::round(x);
      } else if (pick(0, 2) == 0) {
        values.push_back(specials[pick(0, specials.size() - 1)]);
        continue;
      } else if (pick(0, 7) == 0) {
        x = std::ldexp(x, pick(-20, 20));
      }
      values.push_back(convert(x, semantics));
    }
    return *reference::fromAttribute(
        DenseElementsAttr::get(staticType, values));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  SmallVector<APInt> values;
  for (int64_t k = 0; k != n; ++k) {
    int64_t x = pick(-9, 9);
    if (operand.range)
      x = pick(operand.range->first, operand.range->second);
    else if (pick(0, 3) == 0)
      x = pick(INT64_MIN, INT64_MAX);
    else if (pick(0, 7) == 0)
      x = pick(0, 1) ? llvm::minIntN(width) : llvm::maxIntN(width);
    values.emplace_back(width, x, /*isSigned=*/true, /*implicitTrunc=*/true);
  }
  return *reference::fromAttribute(DenseElementsAttr::get(staticType, values));
}

std::vector<reference::Tensor>
RuleFixture::arguments(const RuleProgram &instance, func::FuncOp function,
                       int64_t extent) {
  std::vector<reference::Tensor> list;
  Operand symbol;
  for (auto [i, type] : llvm::enumerate(function.getFunctionType().getInputs()))
    list.push_back(
        random(i < instance.operands.size() ? instance.operands[i] : symbol,
               cast<RankedTensorType>(type), {{"s0", extent}}));
  return list;
}
