//===- NarrowSymbols.cpp - Narrow the ranges of a program's symbols -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/HLIR/narrow-symbols.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace luminal::hlir {
#define GEN_PASS_DEF_NARROWSYMBOLSPASS
#include "luminal/Dialect/HLIR/Transforms/Passes.h.inc"
} // namespace luminal::hlir

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

namespace {
class NarrowSymbols : public hlir::impl::NarrowSymbolsPassBase<NarrowSymbols> {
public:
  using NarrowSymbolsPassBase::NarrowSymbolsPassBase;
  void runOnOperation() override;

private:
  LogicalResult narrow(SmallVectorImpl<SymbolEntry> &entries, StringRef text);
};
} // namespace

/// Parses `7`, `2..16` or `2..`; bounds may be negative.
static std::optional<SymbolRange> parseRange(StringRef text) {
  SymbolRange range;
  auto [least, most] = text.split("..");
  if (least.getAsInteger(10, range.lo))
    return std::nullopt;
  if (!text.contains("..")) {
    range.hi = range.lo;
    return range;
  }
  if (most.empty())
    return range;
  if (most.getAsInteger(10, range.hi.emplace()) || *range.hi < range.lo)
    return std::nullopt;
  return range;
}

LogicalResult NarrowSymbols::narrow(SmallVectorImpl<SymbolEntry> &entries,
                                    StringRef text) {
  auto error = [&] {
    return emitError(getOperation().getLoc()) << "range '" << text << "' ";
  };
  auto [name, rangeText] = text.split('=');
  std::optional<SymbolRange> range = parseRange(rangeText);
  if (!range)
    return error() << "is not NAME=VALUE, NAME=LEAST..MOST or NAME=LEAST..";
  auto *entry = llvm::find_if(
      entries, [&](const SymbolEntry &e) { return e.name == name; });
  if (entry == entries.end()) {
    std::string known;
    for (const SymbolEntry &e : entries)
      known += (known.empty() ? "" : ", ") + e.name.str();
    return error() << "names no symbol of the program ("
                   << (known.empty() ? "it has none" : "known are: " + known)
                   << ")";
  }
  const SymbolRange &whole = entry->range;
  // An open bound is that of the symbol.
  if (!range->hi)
    range->hi = whole.hi;
  if (range->lo < whole.lo ||
      (whole.hi && (*range->hi > *whole.hi || range->lo > *whole.hi)))
    return error() << "is not within that of the symbol, [" << whole.lo << ", "
                   << (whole.hi ? std::to_string(*whole.hi) : "") << "]";
  entry->range = *range;
  return success();
}

/// Substitutes numbers for symbols in all types and attributes of a function.
static void substitute(func::FuncOp func,
                       const llvm::StringMap<Expr> &numbers) {
  auto replace = [&](ArrayRef<Expr> exprs) {
    return llvm::map_to_vector(exprs, [&](const Expr &e) {
      return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
        std::optional<std::string_view> name = leaf.asSymbol();
        auto it = name ? numbers.find(StringRef(*name)) : numbers.end();
        return it == numbers.end() ? std::nullopt : std::optional(it->second);
      });
    });
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    if (!isa_and_nonnull<DimsAttr>(type.getEncoding()))
      return std::nullopt;
    return getTensorType(replace(getExtents(type)), type.getElementType());
  });
  replacer.addReplacement([&](DimsAttr dims) -> std::optional<Attribute> {
    return DimsAttr::get(dims.getContext(), replace(dims.getExprs()));
  });
  replacer.addReplacement([&](MapAttr map) -> std::optional<Attribute> {
    return MapAttr::get(map.getContext(), map.getNumDims(),
                        replace(map.getResults()));
  });
  replacer.recursivelyReplaceElementsIn(func, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

void NarrowSymbols::runOnOperation() {
  func::FuncOp func = getOperation();
  if (ranges.empty())
    return markAllAnalysesPreserved();
  SmallVector<SymbolEntry> entries;
  if (auto table = func->getAttrOfType<SymbolsAttr>(kSymbolsAttr))
    llvm::append_range(entries, table.getEntries());
  for (const std::string &text : ranges)
    if (failed(narrow(entries, text)))
      return signalPassFailure();
  llvm::StringMap<Expr> numbers;
  for (const SymbolEntry &entry : entries)
    if (entry.range.hi == entry.range.lo)
      numbers.insert({entry.name, Expr(entry.range.lo)});
  if (!numbers.empty())
    substitute(func, numbers);
  func->setAttr(kSymbolsAttr, SymbolsAttr::get(&getContext(), entries));
}
