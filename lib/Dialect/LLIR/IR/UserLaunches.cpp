//===- UserLaunches.cpp - Launches of user code ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"
#include "luminal/Dialect/LLIR/IR/UserKernels.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

//===----------------------------------------------------------------------===//
// What targets have in common
//===----------------------------------------------------------------------===//

namespace {
/// A field of a launch, other than the location of its code.
struct Fact {
  StringRef name;
  bool (*isRight)(Attribute);
};
} // namespace

static constexpr StringLiteral kCode = "code", kEntry = "entry";

static bool isCount(Attribute fact) {
  auto number = dyn_cast<IntegerAttr>(fact);
  return number && number.getType().isInteger(64) && number.getInt() >= 1;
}

static bool isFlag(Attribute fact) { return isa<BoolAttr>(fact); }
static bool isText(Attribute fact) { return isa<StringAttr>(fact); }

static LogicalResult verifyLaunch(function_ref<InFlightDiagnostic()> emitError,
                                  hlir::MapAttr quantities,
                                  DictionaryAttr facts,
                                  ArrayRef<StringLiteral> names,
                                  ArrayRef<Fact> known) {
  if (quantities.getNumDims() != 0 ||
      quantities.getResults().size() < names.size())
    return emitError() << "has at least " << names.size()
                       << " quantities of a map without dims";
  for (const Fact &fact : known)
    if (Attribute value = facts.get(fact.name); !value || !fact.isRight(value))
      return emitError() << "has no valid '" << fact.name << "'";
  for (NamedAttribute fact : facts) {
    StringRef name = fact.getName();
    if (name == kCode || name == kEntry) {
      if (!isText(fact.getValue()))
        return emitError() << "has no valid '" << name << "'";
    } else if (llvm::none_of(known,
                             [&](const Fact &f) { return f.name == name; })) {
      return emitError() << "has an unknown fact '" << name << "'";
    }
  }
  return success();
}

/// Returns a text field; empty if it is not stated.
static StringRef getText(DictionaryAttr facts, StringRef name) {
  auto text = facts.getAs<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

static DictionaryAttr setCode(DictionaryAttr facts, StringRef code,
                              StringRef entry) {
  NamedAttrList list(facts);
  Builder b(facts.getContext());
  list.set(kCode, b.getStringAttr(code));
  list.set(kEntry, b.getStringAttr(entry));
  return list.getDictionary(facts.getContext());
}

/// Adds the quantities by name, one field `values` for each value, and the
/// location of the code.
static void addFields(SmallVectorImpl<LaunchField> &fields,
                      hlir::MapAttr quantities, DictionaryAttr facts,
                      ArrayRef<StringLiteral> names) {
  ArrayRef<Expr> all = quantities.getResults();
  for (auto [name, e] : llvm::zip(names, all))
    fields.push_back({name, e});
  for (const Expr &value : all.drop_front(names.size()))
    fields.push_back({"values", value});
  for (StringRef name : {kCode, kEntry})
    fields.push_back({name, getText(facts, name).str()});
}

/// Parses `<name = e, ..., values = [e, ...], {facts}>`.
static ParseResult parseParts(AsmParser &parser, ArrayRef<StringLiteral> names,
                              hlir::MapAttr &quantities,
                              DictionaryAttr &facts) {
  SmallVector<Expr> all;
  if (parser.parseLess() || parseNamedQuantities(parser, names, all))
    return failure();
  auto parseValue = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    FailureOr<Expr> e = hlir::parseExpr(parser);
    if (failed(e))
      return failure();
    if (e->isUndefined() || e->hasDims())
      return parser.emitError(loc, "expected an expression over symbols");
    all.push_back(*e);
    return success();
  };
  if (parser.parseKeyword("values") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseValue) ||
      parser.parseComma() || parser.parseAttribute(facts) ||
      parser.parseGreater())
    return failure();
  quantities = hlir::MapAttr::get(parser.getContext(), 0, all);
  return success();
}

static void printParts(AsmPrinter &printer, ArrayRef<StringLiteral> names,
                       hlir::MapAttr quantities, DictionaryAttr facts) {
  ArrayRef<Expr> all = quantities.getResults();
  printer << '<';
  for (auto [name, e] : llvm::zip(names, all))
    printer << name << " = " << e.str() << ", ";
  printer << "values = [";
  llvm::interleaveComma(all.drop_front(names.size()), printer.getStream(),
                        [&](const Expr &e) { printer.getStream() << e.str(); });
  printer << "], " << facts << '>';
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kCPUQuantities[] = {"work", "grain", "scratch"};
static constexpr Fact kCPUFacts[] = {{"parallel", isFlag}};

LogicalResult
CPUCustomLaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            hlir::MapAttr quantities, DictionaryAttr facts) {
  return verifyLaunch(emitError, quantities, facts, kCPUQuantities, kCPUFacts);
}

StringRef CPUCustomLaunchAttr::getTargetName() const { return "cpu"; }
StringRef CPUCustomLaunchAttr::getLibrary() const { return "custom"; }

Expr CPUCustomLaunchAttr::getWork() const {
  return getQuantities().getResults()[0];
}

SmallVector<LaunchField> CPUCustomLaunchAttr::getFields() const {
  SmallVector<LaunchField> fields;
  addFields(fields, getQuantities(), getFacts(), kCPUQuantities);
  fields.push_back(
      {"parallel", getFacts().getAs<BoolAttr>("parallel").getValue()});
  return fields;
}

StringRef CPUCustomLaunchAttr::getCode() const {
  return getText(getFacts(), kCode);
}

CustomLaunchAttrInterface CPUCustomLaunchAttr::withCode(StringRef code,
                                                        StringRef entry) const {
  return get(getContext(), getQuantities(), setCode(getFacts(), code, entry));
}

Attribute CPUCustomLaunchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  hlir::MapAttr quantities;
  DictionaryAttr facts;
  if (parseParts(parser, kCPUQuantities, quantities, facts))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    quantities, facts);
}

void CPUCustomLaunchAttr::print(AsmPrinter &printer) const {
  printParts(printer, kCPUQuantities, getQuantities(), getFacts());
}

//===----------------------------------------------------------------------===//
// CUDA
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kCUDAQuantities[] = {"grid_x", "grid_y",
                                                    "grid_z", "shared"};
static constexpr Fact kCUDAFacts[] = {{"block_x", isCount},
                                      {"block_y", isCount},
                                      {"block_z", isCount},
                                      {"parameters", isText}};

LogicalResult
CUDACustomLaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             hlir::MapAttr quantities, DictionaryAttr facts) {
  return verifyLaunch(emitError, quantities, facts, kCUDAQuantities,
                      kCUDAFacts);
}

StringRef CUDACustomLaunchAttr::getTargetName() const { return "cuda"; }
StringRef CUDACustomLaunchAttr::getLibrary() const { return "custom"; }

Expr CUDACustomLaunchAttr::getWork() const {
  ArrayRef<Expr> q = getQuantities().getResults();
  return q[0] * q[1] * q[2];
}

SmallVector<LaunchField> CUDACustomLaunchAttr::getFields() const {
  SmallVector<LaunchField> fields = {{"work", getWork()}};
  addFields(fields, getQuantities(), getFacts(), kCUDAQuantities);
  for (StringRef name : {"block_x", "block_y", "block_z"})
    fields.push_back({name, getFacts().getAs<IntegerAttr>(name).getInt()});
  fields.push_back({"parameters", getText(getFacts(), "parameters").str()});
  return fields;
}

StringRef CUDACustomLaunchAttr::getCode() const {
  return getText(getFacts(), kCode);
}

CustomLaunchAttrInterface
CUDACustomLaunchAttr::withCode(StringRef code, StringRef entry) const {
  return get(getContext(), getQuantities(), setCode(getFacts(), code, entry));
}

Attribute CUDACustomLaunchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  hlir::MapAttr quantities;
  DictionaryAttr facts;
  if (parseParts(parser, kCUDAQuantities, quantities, facts))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    quantities, facts);
}

void CUDACustomLaunchAttr::print(AsmPrinter &printer) const {
  printParts(printer, kCUDAQuantities, getQuantities(), getFacts());
}
