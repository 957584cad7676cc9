//===- CublasLtLaunch.cpp - A matrix product by cuBLASLt ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static constexpr StringLiteral kQuantities[] = {
    "batch",         "rows",         "columns",    "inner",
    "lhs_offset",    "lhs_batch",    "lhs_row",    "lhs_column",
    "rhs_offset",    "rhs_batch",    "rhs_row",    "rhs_column",
    "addend_offset", "addend_batch", "addend_row", "addend_column",
    "result_offset", "result_batch", "result_row", "result_column"};

LogicalResult
CublasLtLaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           hlir::MapAttr quantities, DictionaryAttr facts) {
  if (quantities.getNumDims() != 0 ||
      quantities.getResults().size() != std::size(kQuantities))
    return emitError() << "has " << std::size(kQuantities)
                       << " quantities of a map without dims";
  auto expect = [&](StringRef name, auto isRight) -> LogicalResult {
    Attribute fact = facts.get(name);
    if (fact && isRight(fact))
      return success();
    return emitError() << "has no valid '" << name << "'";
  };
  for (StringRef name : {"type", "result_type"})
    if (failed(expect(name, [](Attribute fact) {
          auto type = dyn_cast<TypeAttr>(fact);
          return type && hlir::getDType(type.getValue());
        })))
      return failure();
  for (StringRef name : {"addend", "bias"})
    if (failed(expect(name, llvm::IsaPred<BoolAttr>)))
      return failure();
  if (failed(expect("epilogue",
                    [](Attribute fact) {
                      auto text = dyn_cast<StringAttr>(fact);
                      return text && symbolizeEpilogue(text.getValue());
                    })) ||
      failed(expect("workspace",
                    [](Attribute fact) {
                      auto bytes = dyn_cast<IntegerAttr>(fact);
                      return bytes && bytes.getType().isInteger(64) &&
                             bytes.getInt() >= 0;
                    })) ||
      failed(expect("alpha", [](Attribute fact) {
        auto scale = dyn_cast<FloatAttr>(fact);
        return scale && scale.getType().isF64();
      })))
    return failure();
  if (facts.size() != 7)
    return emitError() << "has unknown facts";
  return success();
}

StringRef CublasLtLaunchAttr::getTargetName() const { return "cuda"; }
StringRef CublasLtLaunchAttr::getLibrary() const { return "cublaslt"; }

Expr CublasLtLaunchAttr::getWork() const {
  ArrayRef<Expr> q = getQuantities().getResults();
  return q[0] * q[1] * q[2];
}

SmallVector<LaunchField> CublasLtLaunchAttr::getFields() const {
  SmallVector<LaunchField> fields = {{"work", getWork()}};
  for (auto [name, value] :
       llvm::zip_equal(kQuantities, getQuantities().getResults()))
    fields.push_back({name, value});
  DictionaryAttr facts = getFacts();
  for (StringRef name : {"type", "result_type"})
    fields.push_back(
        {name, *hlir::getDType(facts.getAs<TypeAttr>(name).getValue())});
  fields.push_back(
      {"alpha", facts.getAs<FloatAttr>("alpha").getValueAsDouble()});
  for (StringRef name : {"addend", "bias"})
    fields.push_back({name, facts.getAs<BoolAttr>(name).getValue()});
  fields.push_back(
      {"epilogue", facts.getAs<StringAttr>("epilogue").getValue().str()});
  fields.push_back(
      {"workspace", facts.getAs<IntegerAttr>("workspace").getInt()});
  return fields;
}

Attribute CublasLtLaunchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  auto [quantities, facts] = parseQuantitiesAndFacts(parser, kQuantities);
  if (!facts)
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    quantities, facts);
}

void CublasLtLaunchAttr::print(AsmPrinter &printer) const {
  printQuantitiesAndFacts(printer, kQuantities, getQuantities(), getFacts());
}
