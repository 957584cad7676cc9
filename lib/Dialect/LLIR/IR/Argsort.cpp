//===- Argsort.cpp - Sorts of rows ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// Returns all dims but the last.
static SmallVector<Expr> getRows(Value value) {
  SmallVector<Expr> rows = hlir::getExtents(value);
  rows.pop_back();
  return rows;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

LogicalResult ArgsortOp::verify() {
  Type type = elementOf(getOperand());
  if (!type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64() &&
      !type.isSignlessInteger(32) && !type.isInteger(64))
    return emitOpError() << "orders f16, bf16, f32, f64, i32 and i64, found "
                         << type;
  if (!elementOf(getResult()).isInteger(64))
    return emitOpError() << "returns positions of i64, found "
                         << elementOf(getResult());
  SmallVector<Expr> from = hlir::getExtents(getOperand()),
                    to = hlir::getExtents(getResult());
  if (from.empty() || from.size() != to.size())
    return emitOpError() << "expects rows, and a result of their rank";
  if (getBegin() &&
      (getBegin()->getNumDims() != 0 || getBegin()->getResults().size() != 1))
    return emitOpError() << "begins at one quantity of a map without dims";
  Assumptions symbols = hlir::getAssumptions(*this);
  for (auto [row, result] :
       llvm::zip_equal(getRows(getOperand()), getRows(getResult())))
    if (symbols.equal(row, result) == false)
      return emitOpError() << "expects a result for each row";
  if (symbols.provablyLess(from.back(), getFirst() + to.back()))
    return emitOpError() << "has " << (getFirst() + to.back()).str()
                         << " positions of " << from.back().str()
                         << " elements";
  return success();
}

/// The cost in simple operations, fitted to measured times of a row: 5 ns an
/// element for a whole order. For a part of it 0.6 ns an element and 20 ns for
/// each position returned; 3 ns an element if the part does not begin at rank
/// 0.
std::optional<Cost> ArgsortOp::getCostOf(TypeRange operands, TypeRange results,
                                         DictionaryAttr attributes) {
  constexpr int64_t kSort = 100, kLook = 12, kFind = 400, kPick = 60;
  Expr elements = countElements(operands[0]), found = countElements(results[0]);
  const int64_t look = attributes.get("begin") ? kPick : kLook;
  return Cost{countBytes(operands[0]), countBytes(results[0]),
              Expr::min(elements * Expr(kSort),
                        elements * Expr(look) + found * Expr(kFind)),
              1};
}

LogicalResult ArgsortOp::checkLibrary() { return success(); }

LaunchAttrInterface ArgsortOp::getLaunch() {
  SmallVector<Expr> rows = getRows(getResult());
  Expr quantities[] = {product({rows.begin(), rows.end()}),
                       hlir::getExtents(getOperand()).back(), getFirst(),
                       hlir::getExtents(getResult()).back()};
  Builder b(getContext());
  NamedAttribute facts[] = {{"type", TypeAttr::get(elementOf(getOperand()))},
                            {"descending", b.getBoolAttr(getDescending())},
                            {"nan_first", b.getBoolAttr(getNanFirst())}};
  return CPUArgsortLaunchAttr::get(
      getContext(), hlir::MapAttr::get(getContext(), 0, quantities),
      b.getDictionaryAttr(facts));
}

//===----------------------------------------------------------------------===//
// Its launch
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kQuantities[] = {"rows", "length", "begin",
                                                "count"};
static constexpr StringLiteral kFlags[] = {"descending", "nan_first"};

LogicalResult
CPUArgsortLaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             hlir::MapAttr quantities, DictionaryAttr facts) {
  if (quantities.getNumDims() != 0 ||
      quantities.getResults().size() != std::size(kQuantities))
    return emitError() << "rows, length, begin and count are quantities of a "
                       << "map without dims";
  auto type = facts.getAs<TypeAttr>("type");
  if (!type || !hlir::getDType(type.getValue()))
    return emitError() << "has no valid 'type'";
  for (StringRef flag : kFlags)
    if (!facts.getAs<BoolAttr>(flag))
      return emitError() << "has no valid '" << flag << "'";
  if (facts.size() != 1 + std::size(kFlags))
    return emitError() << "has unknown facts";
  return success();
}

StringRef CPUArgsortLaunchAttr::getTargetName() const { return "cpu"; }
StringRef CPUArgsortLaunchAttr::getLibrary() const { return "argsort"; }

Expr CPUArgsortLaunchAttr::getWork() const {
  ArrayRef<Expr> q = getQuantities().getResults();
  return q[0] * q[3];
}

SmallVector<LaunchField> CPUArgsortLaunchAttr::getFields() const {
  SmallVector<LaunchField> fields = {{"work", getWork()}};
  for (auto [name, value] :
       llvm::zip_equal(kQuantities, getQuantities().getResults()))
    fields.push_back({name, value});
  fields.push_back(
      {"type", *hlir::getDType(getFacts().getAs<TypeAttr>("type").getValue())});
  for (StringRef flag : kFlags)
    fields.push_back({flag, getFacts().getAs<BoolAttr>(flag).getValue()});
  return fields;
}

Attribute CPUArgsortLaunchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  auto [quantities, facts] = parseQuantitiesAndFacts(parser, kQuantities);
  if (!facts)
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    quantities, facts);
}

void CPUArgsortLaunchAttr::print(AsmPrinter &printer) const {
  printQuantitiesAndFacts(printer, kQuantities, getQuantities(), getFacts());
}
