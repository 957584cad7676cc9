//===- Loops.cpp - Schedules of kernels as attributes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The limit for numbers of dims, ops and lanes: larger than in any kernel.
static constexpr unsigned kLargestNumber = 1 << 30;
/// The limit for split-k parts: the last part to finish reads all states.
static constexpr unsigned kMostParts = 1 << 16;

/// Returns the number after `prefix` in a keyword such as `d3`; std::nullopt
/// for any other keyword.
static std::optional<unsigned> getNumberAfter(StringRef prefix,
                                              StringRef keyword) {
  unsigned number;
  if (!keyword.consume_front(prefix) || keyword.empty() ||
      keyword.getAsInteger(10, number) || number > kLargestNumber ||
      (keyword.size() > 1 && keyword.front() == '0'))
    return std::nullopt;
  return number;
}

/// Parses a keyword that is `prefix` followed by a number.
static ParseResult parseNumbered(AsmParser &parser, StringRef prefix,
                                 StringRef what, unsigned &number) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseOptionalKeyword(&keyword))
    return parser.emitError(loc) << "expected " << what;
  std::optional<unsigned> parsed = getNumberAfter(prefix, keyword);
  if (!parsed)
    return parser.emitError(loc)
           << "expected " << what << ", found " << keyword;
  number = *parsed;
  return success();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Parses an axis such as d0*d1:4096 v16. Lanes end an axis, so the parser
/// consumes the keyword after it only if it states lanes.
static FailureOr<LoopAxisAttr> parseAxis(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<unsigned> dims;
  do {
    if (parseNumbered(parser, "d", "a dim such as d0", dims.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalStar()));
  int64_t block = 1;
  if (succeeded(parser.parseOptionalColon())) {
    if (succeeded(parser.parseOptionalKeyword("all")))
      block = 0;
    else if (parser.parseInteger(block))
      return failure();
    else if (block < 1)
      return parser.emitError(loc) << "a block is at least 1, found " << block;
  }
  unsigned lanes = 1;
  SMLoc lanesLoc = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    std::optional<unsigned> parsed = getNumberAfter("v", keyword);
    if (!parsed)
      return parser.emitError(lanesLoc)
             << "expected lanes such as v16, found " << keyword;
    lanes = *parsed;
  }
  auto axis = LoopAxisAttr::getChecked([&] { return parser.emitError(loc); },
                                       parser.getContext(),
                                       ArrayRef<unsigned>(dims), block, lanes);
  if (!axis)
    return failure();
  return axis;
}

static void printAxis(AsmPrinter &printer, LoopAxisAttr axis) {
  llvm::interleave(
      axis.getDims(), printer.getStream(),
      [&](unsigned dim) { printer << 'd' << dim; }, "*");
  if (axis.getBlock() == 0)
    printer << ":all";
  else if (axis.getBlock() != 1)
    printer << ':' << axis.getBlock();
  if (axis.getLanes() != 1)
    printer << " v" << axis.getLanes();
}

LogicalResult LoopAxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<unsigned> dims, int64_t block,
                                   unsigned lanes) {
  if (dims.empty())
    return emitError() << "an axis has a dim";
  // A block, and the index after it, must fit into 64 bits with room to spare.
  constexpr int64_t kMostIndices = std::numeric_limits<int32_t>::max();
  if (block < 0 || block > kMostIndices)
    return emitError() << "a block is from 1 to " << kMostIndices << ", found "
                       << block;
  if (!llvm::isPowerOf2_32(lanes))
    return emitError() << "the number of lanes is a power of two, found "
                       << lanes;
  if (lanes > 1 && block == 1)
    return emitError() << "lanes run over more than one index";
  return success();
}

Attribute LoopAxisAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<LoopAxisAttr> axis = parseAxis(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void LoopAxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxis(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Parses {rows = 14, pack = columns}: numbers are i64, words are strings.
static ParseResult parseNumbers(AsmParser &parser, NamedAttrList &numbers) {
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name, word;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (numbers.get(name))
      return parser.emitError(loc) << name << " appears twice";
    if (succeeded(parser.parseOptionalKeyword(&word))) {
      numbers.set(name, parser.getBuilder().getStringAttr(word));
      return success();
    }
    int64_t number;
    if (parser.parseInteger(number))
      return failure();
    numbers.set(name, parser.getBuilder().getI64IntegerAttr(number));
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces,
                                        parseOne);
}

/// Parses the rest of `opN = form {numbers}`, after `opN`.
static FailureOr<LoopFormAttr> parseForm(AsmParser &parser, SMLoc loc,
                                         unsigned op) {
  StringRef form;
  NamedAttrList numbers;
  if (parser.parseEqual() || parser.parseKeyword(&form) ||
      parseNumbers(parser, numbers))
    return failure();
  auto result = LoopFormAttr::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(), op,
      parser.getBuilder().getStringAttr(form),
      numbers.getDictionary(parser.getContext()));
  if (!result)
    return failure();
  return result;
}

/// Prints `opN = form {numbers}`.
static void printForm(AsmPrinter &printer, LoopFormAttr form) {
  printer << "op" << form.getOp() << " = " << form.getForm().getValue();
  if (form.getNumbers().empty())
    return;
  printer << " {";
  llvm::interleaveComma(
      form.getNumbers(), printer.getStream(), [&](NamedAttribute number) {
        printer << number.getName().getValue() << " = ";
        if (auto integer = dyn_cast<IntegerAttr>(number.getValue()))
          printer << integer.getInt();
        else
          printer << cast<StringAttr>(number.getValue()).getValue();
      });
  printer << '}';
}

LogicalResult LoopFormAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   unsigned op, StringAttr form,
                                   DictionaryAttr numbers) {
  if (!form || form.empty())
    return emitError() << "op" << op << " has no form";
  for (NamedAttribute number : numbers)
    if (auto integer = dyn_cast<IntegerAttr>(number.getValue());
        !(integer && integer.getType().isInteger(64)) &&
        !isa<StringAttr>(number.getValue()))
      return emitError() << number.getName().getValue()
                         << " is a number or a word, found "
                         << number.getValue();
  return success();
}

int64_t LoopFormAttr::getNumber(StringRef name, int64_t otherwise) const {
  auto integer = getNumbers().getAs<IntegerAttr>(name);
  return integer ? integer.getInt() : otherwise;
}

StringRef LoopFormAttr::getWord(StringRef name) const {
  auto word = getNumbers().getAs<StringAttr>(name);
  return word ? word.getValue() : StringRef();
}

Attribute LoopFormAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned op;
  if (parser.parseLess() ||
      parseNumbered(parser, "op", "an op such as op0", op))
    return {};
  FailureOr<LoopFormAttr> form = parseForm(parser, loc, op);
  if (failed(form) || parser.parseGreater())
    return {};
  return *form;
}

void LoopFormAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printForm(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// Parses (2 * s: [0, 4], s1: [8, ]).
static ParseResult parseGuard(AsmParser &parser, hlir::MapAttr &guard,
                              SmallVector<int64_t> &bounds) {
  SmallVector<Expr> quantities;
  auto parseOne = [&]() -> ParseResult {
    int64_t lo, hi = std::numeric_limits<int64_t>::max();
    FailureOr<Expr> quantity = hlir::parseExpr(parser);
    if (failed(quantity) || parser.parseColon() || parser.parseLSquare() ||
        parser.parseInteger(lo) || parser.parseComma())
      return failure();
    OptionalParseResult upper = parser.parseOptionalInteger(hi);
    if ((upper.has_value() && failed(*upper)) || parser.parseRSquare())
      return failure();
    quantities.push_back(*quantity);
    bounds.append({lo, hi});
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  guard = hlir::MapAttr::get(parser.getContext(), 0, quantities);
  return success();
}

static ParseResult parseAxes(AsmParser &parser,
                             SmallVector<LoopAxisAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        FailureOr<LoopAxisAttr> axis = parseAxis(parser);
        if (succeeded(axis))
          axes.push_back(*axis);
        return failure(failed(axis));
      });
}

/// Parses parts(16).
static ParseResult parseParts(AsmParser &parser, unsigned &parts) {
  if (failed(parser.parseOptionalKeyword("parts")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseInteger(parts) ||
      parser.parseRParen())
    return failure();
  if (parts < 2)
    return parser.emitError(loc)
           << "a dim is cut into at least 2 parts, found " << parts;
  return success();
}

/// Parses threads(256) or threads(256, 32).
static ParseResult parseThreads(AsmParser &parser, unsigned &threads,
                                unsigned &team) {
  if (failed(parser.parseOptionalKeyword("threads")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseInteger(threads) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseInteger(team)) ||
      parser.parseRParen())
    return failure();
  if (threads == 0)
    return parser.emitError(loc) << "a block has a thread";
  return success();
}

/// Sets `isLast` unless `else` follows the case.
static FailureOr<LoopCaseAttr> parseCase(AsmParser &parser, bool &isLast) {
  SMLoc loc = parser.getCurrentLocation();
  hlir::MapAttr guard;
  SmallVector<int64_t> bounds;
  SmallVector<LoopAxisAttr> grid, stream;
  SmallVector<LoopFormAttr> forms;
  if (succeeded(parser.parseOptionalKeyword("if")) &&
      parseGuard(parser, guard, bounds))
    return failure();
  if (parser.parseKeyword("grid") || parseAxes(parser, grid))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("stream")) &&
      parseAxes(parser, stream))
    return failure();
  unsigned parts = 1, threads = 0, team = 1;
  if (parseParts(parser, parts) || parseThreads(parser, threads, team))
    return failure();
  bool nontemporal = succeeded(parser.parseOptionalKeyword("nontemporal"));
  isLast = true;
  SMLoc wordLoc = parser.getCurrentLocation();
  StringRef word;
  while (succeeded(parser.parseOptionalKeyword(&word))) {
    if (word == "else") {
      isLast = false;
      break;
    }
    std::optional<unsigned> op = getNumberAfter("op", word);
    if (!op)
      return parser.emitError(wordLoc)
             << "expected an op such as op0, found " << word;
    FailureOr<LoopFormAttr> form = parseForm(parser, wordLoc, *op);
    if (failed(form))
      return failure();
    forms.push_back(*form);
    wordLoc = parser.getCurrentLocation();
  }
  // Each schedule has one spelling, so that equal kernels have equal text.
  llvm::sort(forms, [](LoopFormAttr a, LoopFormAttr b) {
    return a.getOp() < b.getOp();
  });
  auto result = LoopCaseAttr::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(), guard,
      ArrayRef<int64_t>(bounds), ArrayRef<LoopAxisAttr>(grid),
      ArrayRef<LoopAxisAttr>(stream), parts, threads, team, nontemporal,
      ArrayRef<LoopFormAttr>(forms));
  if (!result)
    return failure();
  return result;
}

/// Prints a case as parseCase reads it.
static void printCase(AsmPrinter &printer, LoopCaseAttr loopCase) {
  auto printAxes = [&](StringRef name, ArrayRef<LoopAxisAttr> axes) {
    printer << name << '(';
    llvm::interleaveComma(axes, printer.getStream(),
                          [&](LoopAxisAttr axis) { printAxis(printer, axis); });
    printer << ')';
  };
  if (hlir::MapAttr guard = loopCase.getGuard()) {
    printer << "if (";
    for (auto [i, quantity] : llvm::enumerate(guard.getResults())) {
      int64_t lo = loopCase.getBounds()[2 * i];
      int64_t hi = loopCase.getBounds()[2 * i + 1];
      printer << (i ? ", " : "") << quantity.str() << ": [" << lo << ", ";
      if (hi != std::numeric_limits<int64_t>::max())
        printer << hi;
      printer << ']';
    }
    printer << ") ";
  }
  printAxes("grid", loopCase.getGrid());
  if (!loopCase.getStream().empty()) {
    printer << ' ';
    printAxes("stream", loopCase.getStream());
  }
  if (loopCase.getParts() > 1)
    printer << " parts(" << loopCase.getParts() << ')';
  if (unsigned threads = loopCase.getThreads()) {
    printer << " threads(" << threads;
    if (loopCase.getTeam() > 1)
      printer << ", " << loopCase.getTeam();
    printer << ')';
  }
  if (loopCase.getNontemporal())
    printer << " nontemporal";
  for (LoopFormAttr form : loopCase.getForms()) {
    printer << ' ';
    printForm(printer, form);
  }
}

LogicalResult
LoopCaseAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                     hlir::MapAttr guard, ArrayRef<int64_t> bounds,
                     ArrayRef<LoopAxisAttr> grid, ArrayRef<LoopAxisAttr> stream,
                     unsigned parts, unsigned threads, unsigned team,
                     bool nontemporal, ArrayRef<LoopFormAttr> forms) {
  if (bounds.size() != (guard ? 2 * guard.getResults().size() : 0))
    return emitError() << "a guard has two bounds for each of its quantities";
  if (guard && guard.getNumDims() != 0)
    return emitError() << "a guard is about quantities, a map without dims";
  llvm::SmallDenseSet<unsigned> seen;
  unsigned withLanes = 0;
  for (LoopAxisAttr axis : llvm::concat<const LoopAxisAttr>(grid, stream)) {
    withLanes += axis.getLanes() > 1;
    for (unsigned dim : axis.getDims()) {
      if (!seen.insert(dim).second)
        return emitError() << "d" << dim << " appears twice";
    }
  }
  if (parts < 1 || parts > kMostParts)
    return emitError() << "a dim is cut into at most " << kMostParts
                       << " parts, found " << parts;
  if (withLanes > 1)
    return emitError() << "lanes run over one axis, found " << withLanes;
  if (team == 0 || (threads == 0 ? team != 1 : threads % team != 0))
    return emitError() << "a block of " << threads
                       << " threads is no number of teams of " << team;
  for (unsigned i = 1; i < forms.size(); ++i)
    if (forms[i - 1].getOp() >= forms[i].getOp())
      return emitError() << "op" << forms[i].getOp()
                         << (forms[i - 1].getOp() == forms[i].getOp()
                                 ? " appears twice"
                                 : " is not in order");
  return success();
}

LoopFormAttr LoopCaseAttr::getForm(unsigned op) const {
  auto it = llvm::find_if(
      getForms(), [&](LoopFormAttr form) { return form.getOp() == op; });
  return it == getForms().end() ? LoopFormAttr() : *it;
}

Attribute LoopCaseAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  bool isLast;
  if (parser.parseLess())
    return {};
  FailureOr<LoopCaseAttr> result = parseCase(parser, isLast);
  if (failed(result))
    return {};
  if (!isLast)
    return parser.emitError(loc, "expected one case"), Attribute();
  if (parser.parseGreater())
    return {};
  return *result;
}

void LoopCaseAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printCase(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult LoopsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<LoopCaseAttr> cases) {
  if (cases.empty())
    return emitError() << "a schedule has a case";
  for (LoopCaseAttr loopCase : cases.drop_back())
    if (!loopCase.getGuard())
      return emitError() << "only the last case has no guard";
  if (cases.back().getGuard())
    return emitError() << "the last case has no guard";
  return success();
}

Attribute LoopsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<LoopCaseAttr> cases;
  bool isLast = false;
  if (parser.parseLess())
    return {};
  while (!isLast) {
    FailureOr<LoopCaseAttr> parsed = parseCase(parser, isLast);
    if (failed(parsed))
      return {};
    cases.push_back(*parsed);
  }
  if (parser.parseGreater())
    return {};
  return LoopsAttr::getChecked([&] { return parser.emitError(loc); },
                               parser.getContext(),
                               ArrayRef<LoopCaseAttr>(cases));
}

void LoopsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleave(
      getCases(), printer.getStream(),
      [&](LoopCaseAttr loopCase) { printCase(printer, loopCase); }, " else ");
  printer << '>';
}
