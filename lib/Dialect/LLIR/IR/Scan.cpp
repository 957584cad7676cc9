//===- Scan.cpp - Scans ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  const ScanKind kind = getKind();
  const bool isExtremum = kind == ScanKind::Max || kind == ScanKind::Min;
  auto isFloat = [](Type type) {
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
  };
  Type from = elementOf(getOperand()), to = elementOf(getResult());
  const bool isInteger = from.isSignlessInteger(32) || from.isInteger(64);
  if (!isFloat(from) && (!isInteger || kind == ScanKind::LogSumExp))
    return emitOpError() << "has no " << stringifyScanKind(kind) << " of "
                         << from;
  const bool fits = getPositions()            ? to.isInteger(64)
                    : isInteger || isExtremum ? to == from
                                              : isFloat(to);
  if (!fits)
    return emitOpError() << "cannot result in " << to << ", of " << from;
  if (getPositions() && (!isExtremum || getReverse() || getExclusive()))
    return emitOpError() << "has positions of a maximum or a minimum of all "
                         << "elements up to each one alone";
  SmallVector<Expr> extents = hlir::getExtents(getOperand()),
                    results = hlir::getExtents(getResult());
  if (extents.size() != results.size() || getAxis() >= extents.size())
    return emitOpError() << "expects a result of the rank of its operand, and "
                         << "an axis below it";
  Assumptions symbols = hlir::getAssumptions(*this);
  for (auto [extent, result] : llvm::zip_equal(extents, results))
    if (symbols.equal(extent, result) == false)
      return emitOpError() << "expects a result of the operand's shape";
  return success();
}

/// The cost in simple operations, fitted to measured times of an element: 0.5
/// ns, with exponentials 15. Without a launch if the extent is unbounded: the
/// alternatives cost the square of a row's length.
std::optional<Cost> ScanOp::getCostOf(TypeRange operands, TypeRange results,
                                      DictionaryAttr attributes) {
  constexpr int64_t kStep = 10, kExp = 300;
  auto kind = attributes.getAs<ScanKindAttr>("kind");
  auto axis = attributes.getAs<IntegerAttr>("axis");
  const int64_t step =
      kind && kind.getValue() == ScanKind::LogSumExp ? kExp : kStep;
  SmallVector<Expr> extents =
      hlir::getExtents(cast<RankedTensorType>(results[0]));
  const bool isKnown = axis && axis.getValue().ult(extents.size()) &&
                       extents[axis.getInt()].asConstant().has_value();
  return Cost{countBytes(operands[0]), countBytes(results[0]),
              isKnown ? countElements(results[0]) * Expr(step) : Expr(0),
              isKnown};
}

LogicalResult ScanOp::checkLibrary() { return success(); }

LaunchAttrInterface ScanOp::getLaunch() {
  SmallVector<Expr> extents = hlir::getExtents(getOperand());
  auto axis = extents.begin() + static_cast<int64_t>(getAxis());
  Expr quantities[] = {product({extents.begin(), axis}), *axis,
                       product({axis + 1, extents.end()})};
  Builder b(getContext());
  NamedAttribute facts[] = {
      {"type", TypeAttr::get(elementOf(getOperand()))},
      {"result_type", TypeAttr::get(elementOf(getResult()))},
      {"kind", b.getStringAttr(stringifyScanKind(getKind()))},
      {"reverse", b.getBoolAttr(getReverse())},
      {"exclusive", b.getBoolAttr(getExclusive())},
      {"positions", b.getBoolAttr(getPositions())}};
  return CPUScanLaunchAttr::get(getContext(),
                                hlir::MapAttr::get(getContext(), 0, quantities),
                                b.getDictionaryAttr(facts));
}

//===----------------------------------------------------------------------===//
// Its launch
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kQuantities[] = {"outer", "length", "inner"};
static constexpr StringLiteral kTypes[] = {"type", "result_type"};
static constexpr StringLiteral kFlags[] = {"reverse", "exclusive", "positions"};

LogicalResult
CPUScanLaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          hlir::MapAttr quantities, DictionaryAttr facts) {
  if (failed(
          verifyQuantities(emitError, quantities, "outer, length and inner")))
    return failure();
  for (StringRef name : kTypes) {
    auto type = facts.getAs<TypeAttr>(name);
    if (!type || !hlir::getDType(type.getValue()))
      return emitError() << "has no valid '" << name << "'";
  }
  auto kind = facts.getAs<StringAttr>("kind");
  if (!kind || !symbolizeScanKind(kind.getValue()))
    return emitError() << "has no valid 'kind'";
  for (StringRef flag : kFlags)
    if (!facts.getAs<BoolAttr>(flag))
      return emitError() << "has no valid '" << flag << "'";
  if (facts.size() != 1 + std::size(kTypes) + std::size(kFlags))
    return emitError() << "has unknown facts";
  return success();
}

StringRef CPUScanLaunchAttr::getTargetName() const { return "cpu"; }
StringRef CPUScanLaunchAttr::getLibrary() const { return "scan"; }

Expr CPUScanLaunchAttr::getWork() const {
  ArrayRef<Expr> q = getQuantities().getResults();
  return q[0] * q[1] * q[2];
}

SmallVector<LaunchField> CPUScanLaunchAttr::getFields() const {
  SmallVector<LaunchField> fields = {{"work", getWork()}};
  for (auto [name, value] :
       llvm::zip_equal(kQuantities, getQuantities().getResults()))
    fields.push_back({name, value});
  for (StringRef name : kTypes)
    fields.push_back(
        {name, *hlir::getDType(getFacts().getAs<TypeAttr>(name).getValue())});
  fields.push_back({"kind", getFacts().getAs<StringAttr>("kind").str()});
  for (StringRef flag : kFlags)
    fields.push_back({flag, getFacts().getAs<BoolAttr>(flag).getValue()});
  return fields;
}

Attribute CPUScanLaunchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  auto [quantities, facts] = parseQuantitiesAndFacts(parser, kQuantities);
  if (!facts)
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    quantities, facts);
}

void CPUScanLaunchAttr::print(AsmPrinter &printer) const {
  printQuantitiesAndFacts(printer, kQuantities, getQuantities(), getFacts());
}
