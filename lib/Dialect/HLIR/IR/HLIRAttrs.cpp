//===- HLIRAttrs.cpp - Dims, maps and symbols as attributes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

// Exprs own heap nodes, so the arrays are members of the storage: when a
// context is destroyed, it runs the destructors of attribute storage, but not
// those of objects in its allocator.
namespace luminal::hlir::detail {
struct DimsAttrStorage : AttributeStorage {
  using KeyTy = ArrayRef<Expr>;
  explicit DimsAttrStorage(KeyTy key) : exprs(key) {}
  bool operator==(const KeyTy &key) const { return KeyTy(exprs) == key; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine_range(key);
  }
  static DimsAttrStorage *construct(AttributeStorageAllocator &allocator,
                                    const KeyTy &key) {
    return new (allocator.allocate<DimsAttrStorage>()) DimsAttrStorage(key);
  }
  std::vector<Expr> exprs;
};

struct MapAttrStorage : AttributeStorage {
  using KeyTy = std::pair<unsigned, ArrayRef<Expr>>;
  explicit MapAttrStorage(const KeyTy &key)
      : numDims(key.first), results(key.second) {}
  bool operator==(const KeyTy &key) const {
    return numDims == key.first && ArrayRef<Expr>(results) == key.second;
  }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(key.first, llvm::hash_combine_range(key.second));
  }
  static MapAttrStorage *construct(AttributeStorageAllocator &allocator,
                                   const KeyTy &key) {
    return new (allocator.allocate<MapAttrStorage>()) MapAttrStorage(key);
  }
  unsigned numDims;
  std::vector<Expr> results;
};

struct SymbolsAttrStorage : AttributeStorage {
  using KeyTy = ArrayRef<SymbolEntry>;
  explicit SymbolsAttrStorage(KeyTy key) : entries(key) {}
  bool operator==(const KeyTy &key) const { return KeyTy(entries) == key; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine_range(key);
  }
  static SymbolsAttrStorage *construct(AttributeStorageAllocator &allocator,
                                       const KeyTy &key) {
    return new (allocator.allocate<SymbolsAttrStorage>())
        SymbolsAttrStorage(key);
  }
  std::vector<SymbolEntry> entries;
};
} // namespace luminal::hlir::detail

#define GET_ATTRDEF_CLASSES
#include "luminal/Dialect/HLIR/IR/HLIRAttrs.cpp.inc"

ArrayRef<Expr> DimsAttr::getExprs() const { return getImpl()->exprs; }
unsigned MapAttr::getNumDims() const { return getImpl()->numDims; }
ArrayRef<Expr> MapAttr::getResults() const { return getImpl()->results; }
ArrayRef<SymbolEntry> SymbolsAttr::getEntries() const {
  return getImpl()->entries;
}

void HLIRDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "luminal/Dialect/HLIR/IR/HLIRAttrs.cpp.inc"
      >();
}

llvm::hash_code luminal::hash_value(const Expr &e) {
  return llvm::hash_code(e.hash());
}

llvm::hash_code hlir::hash_value(const SymbolEntry &e) {
  return llvm::hash_combine(e.name, e.range.lo, e.range.hi.has_value(),
                            e.range.hi.value_or(0));
}

//===----------------------------------------------------------------------===//
// Expressions in the text of an attribute
//===----------------------------------------------------------------------===//

/// Collects the tokens; Expr::parse interprets them.
FailureOr<Expr> hlir::parseExpr(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  unsigned open = 0;
  while (true) {
    APInt integer;
    StringRef keyword;
    if (succeeded(parser.parseOptionalLParen())) {
      text += '(';
      ++open;
    } else if (open && succeeded(parser.parseOptionalRParen())) {
      text += ')';
      --open;
    } else if (open && succeeded(parser.parseOptionalComma())) {
      text += ',';
    } else if (succeeded(parser.parseOptionalStar())) {
      text += '*';
    } else if (succeeded(parser.parseOptionalPlus())) {
      text += '+';
    } else if (succeeded(parser.parseOptionalMinus())) {
      text += '-';
    } else if (OptionalParseResult result =
                   parser.parseOptionalInteger(integer);
               result.has_value()) {
      if (failed(*result))
        return failure();
      text += ' ' + llvm::toString(integer, 10, /*Signed=*/false);
    } else if (succeeded(parser.parseOptionalKeyword(&keyword))) {
      text += ' ' + keyword.str();
    } else {
      break;
    }
  }
  std::string error;
  std::optional<Expr> e = Expr::parse(text, &error);
  if (!e)
    return parser.emitError(loc, error);
  return *e;
}

static void printExprs(AsmPrinter &printer, ArrayRef<Expr> exprs) {
  llvm::interleaveComma(exprs, printer.getStream(),
                        [&](const Expr &e) { printer.getStream() << e.str(); });
}

//===----------------------------------------------------------------------===//
// #hlir.dims
//===----------------------------------------------------------------------===//

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Expr> exprs;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<Expr> e = parseExpr(parser);
    if (succeeded(e))
      exprs.push_back(*e);
    return failure(failed(e));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseOne))
    return {};
  return DimsAttr::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), exprs);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printExprs(printer, getExprs());
  printer << '>';
}

LogicalResult DimsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<Expr> exprs) {
  for (const Expr &e : exprs) {
    if (e.isUndefined())
      return emitError() << "expected an extent, found an expression that "
                            "overflows 64 bits";
    if (e.hasDims())
      return emitError() << "expected an extent over symbols, found '"
                         << e.str() << "', which uses a dim";
    if (e.asConstant())
      return emitError() << "expected an extent over symbols, found the "
                            "constant "
                         << e.str() << ", which is a static dim";
  }
  return success();
}

LogicalResult
DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                         function_ref<InFlightDiagnostic()> emitError) const {
  size_t dynamic =
      static_cast<size_t>(llvm::count_if(shape, ShapedType::isDynamic));
  if (dynamic == 0)
    return emitError() << "expected no #hlir.dims on a static shape";
  if (dynamic != getExprs().size())
    return emitError() << "expected " << dynamic
                       << " expressions in #hlir.dims, one for each dynamic "
                          "dim, found "
                       << getExprs().size();
  return success();
}

//===----------------------------------------------------------------------===//
// #hlir.map
//===----------------------------------------------------------------------===//

Attribute MapAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned numDims = 0;
  SmallVector<Expr> results;
  auto parseDim = [&]() -> ParseResult {
    return parser.parseKeyword("d" + std::to_string(numDims++));
  };
  auto parseResult = [&]() -> ParseResult {
    FailureOr<Expr> e = parseExpr(parser);
    if (succeeded(e))
      results.push_back(*e);
    return failure(failed(e));
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseDim,
                                     " in the dims of a map") ||
      parser.parseArrow() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseResult,
                                     " in the results of a map") ||
      parser.parseGreater())
    return {};
  return MapAttr::getChecked([&] { return parser.emitError(loc); },
                             parser.getContext(), numDims, results);
}

void MapAttr::print(AsmPrinter &printer) const {
  printer << "<(";
  llvm::interleaveComma(llvm::seq(0u, getNumDims()), printer.getStream(),
                        [&](unsigned i) { printer.getStream() << 'd' << i; });
  printer << ") -> (";
  printExprs(printer, getResults());
  printer << ")>";
}

/// One past the greatest dim that occurs in `e`.
static unsigned numDimsOf(const Expr &e) {
  unsigned numDims = 0;
  e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    if (std::optional<unsigned> dim = leaf.asDim())
      numDims = std::max(numDims, *dim + 1);
    return std::nullopt;
  });
  return numDims;
}

LogicalResult MapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              unsigned numDims, ArrayRef<Expr> results) {
  for (const Expr &e : results) {
    if (e.isUndefined())
      return emitError() << "expected an index, found an expression that "
                            "overflows 64 bits";
    if (e.hasDims() && numDimsOf(e) > numDims)
      return emitError() << "expected at most " << numDims
                         << " dims in a map, found d" << numDimsOf(e) - 1;
  }
  return success();
}

MapAttr MapAttr::getSimplified(MLIRContext *context, ArrayRef<Expr> results,
                               const Assumptions &assumptions) {
  SmallVector<Expr> simplified;
  for (const Expr &e : results)
    simplified.push_back(assumptions.simplify(e));
  // A dim of extent 1 is replaced by 0; the identity map is left as it is, so
  // that it has one form.
  const std::vector<Expr> &extents = assumptions.getExtents();
  auto rank = static_cast<unsigned>(extents.size());
  bool identity = rank == simplified.size();
  for (unsigned i = 0; identity && i < rank; ++i)
    identity = simplified[i].asDim() == i ||
               (simplified[i].isConstant(0) && extents[i].isConstant(1));
  return identity ? getIdentity(context, rank)
                  : MapAttr::get(context, rank, simplified);
}

MapAttr MapAttr::getIdentity(MLIRContext *context, unsigned rank) {
  SmallVector<Expr> results;
  for (unsigned i = 0; i < rank; ++i)
    results.push_back(Expr::dim(i));
  return MapAttr::get(context, rank, results);
}

bool MapAttr::usesDim(unsigned dim) const {
  return llvm::any_of(getResults(),
                      [&](const Expr &e) { return e.usesDim(dim); });
}

bool MapAttr::isIdentity() const {
  if (getNumDims() != getResults().size())
    return false;
  for (auto [i, e] : llvm::enumerate(getResults()))
    if (e.asDim() != i)
      return false;
  return true;
}

SmallVector<Expr> MapAttr::composeResults(MapAttr inner) const {
  std::vector<Expr> middle(getResults().begin(), getResults().end());
  SmallVector<Expr> results;
  for (const Expr &e : inner.getResults())
    results.push_back(e.substituteDims(middle));
  return results;
}

//===----------------------------------------------------------------------===//
// #hlir.symbols
//===----------------------------------------------------------------------===//

Attribute SymbolsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<SymbolEntry> entries;
  auto parseOne = [&]() -> ParseResult {
    StringRef name;
    int64_t lo, hi;
    if (parser.parseKeyword(&name) || parser.parseKeyword("in") ||
        parser.parseLSquare() || parser.parseInteger(lo) || parser.parseComma())
      return failure();
    SymbolRange range{lo, std::nullopt};
    OptionalParseResult result = parser.parseOptionalInteger(hi);
    if (result.has_value()) {
      if (failed(*result))
        return failure();
      range.hi = hi;
    }
    entries.emplace_back(name, range);
    return parser.parseRSquare();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseOne))
    return {};
  return SymbolsAttr::getChecked([&] { return parser.emitError(loc); },
                                 parser.getContext(), entries);
}

void SymbolsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      getEntries(), printer.getStream(), [&](const SymbolEntry &entry) {
        printer << entry.name << " in [" << entry.range.lo << ", ";
        if (entry.range.hi)
          printer << *entry.range.hi;
        printer << ']';
      });
  printer << '>';
}

LogicalResult SymbolsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<SymbolEntry> entries) {
  for (auto [i, entry] : llvm::enumerate(entries)) {
    if (!Expr::isSymbolName(entry.name))
      return emitError() << "expected the name of a symbol, found '"
                         << entry.name << "'";
    if (i && entries[i - 1].name >= entry.name)
      return emitError() << "expected symbols in ascending order, found '"
                         << entry.name << "' after '" << entries[i - 1].name
                         << "'";
    if (entry.range.hi && *entry.range.hi < entry.range.lo)
      return emitError() << "expected a range that is not empty for '"
                         << entry.name << "', found [" << entry.range.lo << ", "
                         << *entry.range.hi << "]";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// #hlir.requirement
//===----------------------------------------------------------------------===//

Attribute RequirementAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Expr> space;
  std::string what;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<Expr> e = parseExpr(parser);
    if (succeeded(e))
      space.push_back(*e);
    return failure(failed(e));
  };
  auto parseField = [&](StringRef name) {
    return failure(parser.parseKeyword(name) || parser.parseEqual());
  };
  auto parseValue = [&](StringRef name) -> FailureOr<Expr> {
    if (failed(parseField(name)))
      return failure();
    FailureOr<Expr> value = parseExpr(parser);
    if (failed(value) || parser.parseComma())
      return failure();
    return value;
  };
  if (parser.parseLess())
    return {};
  FailureOr<Expr> lesser = parseValue("lesser");
  if (failed(lesser))
    return {};
  FailureOr<Expr> greater = parseValue("greater");
  if (failed(greater) || failed(parseField("over")) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne,
                                     " in the space of a requirement") ||
      parser.parseComma() || parser.parseString(&what) || parser.parseGreater())
    return {};
  space.insert(space.begin(), {*lesser, *greater});
  auto emitError = [&] { return parser.emitError(loc); };
  auto values = MapAttr::getChecked(emitError, parser.getContext(), 0u,
                                    ArrayRef<Expr>(space));
  if (!values)
    return {};
  return RequirementAttr::getChecked(emitError, parser.getContext(), values,
                                     what);
}

void RequirementAttr::print(AsmPrinter &printer) const {
  ArrayRef<Expr> values = getValues().getResults();
  printer << "<lesser = " << values[0].str()
          << ", greater = " << values[1].str() << ", over = (";
  printExprs(printer, values.drop_front(2));
  printer << "), ";
  printer.printString(getWhat());
  printer << '>';
}

LogicalResult
RequirementAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        MapAttr values, StringRef) {
  if (values.getNumDims() != 0 || values.getResults().size() < 2)
    return emitError() << "expected expressions over symbols in a requirement";
  return success();
}

RequirementAttr RequirementAttr::get(MLIRContext *context,
                                     const Requirement &requirement) {
  SmallVector<Expr> values = {requirement.lesser, requirement.greater};
  llvm::append_range(values, requirement.space);
  return get(context, MapAttr::get(context, 0, values), requirement.what);
}

Requirement RequirementAttr::getRequirement() const {
  ArrayRef<Expr> values = getValues().getResults();
  ArrayRef<Expr> space = values.drop_front(2);
  return {values[0], values[1], std::vector<Expr>(space.begin(), space.end()),
          getWhat().str()};
}
