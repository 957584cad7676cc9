//===- Forms.cpp - Helpers for forms of loops -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Forms.h"

#include <numeric>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Threads of a block by default.
static constexpr unsigned kBlockThreads = 256;

CaseBuilder::CaseBuilder(MLIRContext *context, const MachineModel &machine)
    : context(context), threads(std::min(kBlockThreads, machine.blockThreads)) {
}

LoopAxisAttr CaseBuilder::axis(ArrayRef<unsigned> dims, int64_t block,
                               unsigned lanes) const {
  return LoopAxisAttr::get(context, dims, block, block == 1 ? 1 : lanes);
}

void CaseBuilder::addForm(Operation *op, StringRef form,
                          ArrayRef<Number> numbers, ArrayRef<Word> words) {
  Builder b(context);
  NamedAttrList all;
  for (auto [name, number] : numbers)
    all.set(name, b.getI64IntegerAttr(number));
  for (auto [name, word] : words)
    all.set(name, b.getStringAttr(word));
  forms.push_back(LoopFormAttr::get(context, getPosition(op),
                                    b.getStringAttr(form),
                                    all.getDictionary(context)));
}

bool CaseBuilder::hasForm(Operation *op) const {
  return llvm::any_of(forms, [position = getPosition(op)](LoopFormAttr form) {
    return form.getOp() == position;
  });
}

LoopCaseAttr CaseBuilder::build() const {
  hlir::MapAttr guard;
  SmallVector<int64_t> bounds;
  if (!atMost.empty() || !atLeast.empty()) {
    SmallVector<Expr> quantities;
    for (const auto &[quantity, most] : atMost) {
      quantities.push_back(quantity);
      bounds.append({0, most});
    }
    for (const auto &[quantity, least] : atLeast) {
      quantities.push_back(quantity);
      bounds.append({least, std::numeric_limits<int64_t>::max()});
    }
    guard = hlir::MapAttr::get(context, 0, quantities);
  }
  SmallVector<LoopFormAttr> sorted(forms);
  llvm::sort(sorted, [](LoopFormAttr a, LoopFormAttr b) {
    return a.getOp() < b.getOp();
  });
  return LoopCaseAttr::getChecked(
      [&] { return emitError(UnknownLoc::get(context)); }, context, guard,
      ArrayRef(bounds), ArrayRef(grid), ArrayRef(stream), parts, threads, team,
      /*nontemporal=*/false, ArrayRef(sorted));
}

LoopCaseAttr llir::withNontemporal(LoopCaseAttr c,
                                   ArrayRef<LoopFormAttr> forms) {
  return LoopCaseAttr::get(
      c.getContext(), c.getGuard(), c.getBounds(), c.getGrid(), c.getStream(),
      c.getParts(), c.getThreads(), c.getTeam(), /*nontemporal=*/true, forms);
}

/// Returns the op of type `T` of a kernel that has no other op with loops; or
/// null.
template <typename T>
static T getOnly(KernelOp kernel) {
  T found;
  for (Operation &op : kernel.getOps())
    if (hasLoops(&op)) {
      auto other = dyn_cast<T>(op);
      if (found || !other)
        return {};
      found = other;
    }
  return found;
}

ProductOpInterface llir::getOnlyProduct(KernelOp kernel) {
  return getOnly<ProductOpInterface>(kernel);
}

ScatterOp llir::getOnlyScatter(KernelOp kernel) {
  return getOnly<ScatterOp>(kernel);
}

bool llir::fitsProduct(KernelOp kernel) {
  return getOnlyProduct(kernel) != nullptr;
}

unsigned llir::chooseLanes(const Expr &extent, unsigned most) {
  std::optional<int64_t> n = extent.asConstant();
  while (n && most > 1 && int64_t(most / 2) >= *n)
    most /= 2;
  return most;
}

int64_t llir::chooseUnroll(const Expr &extent, unsigned lanes, int64_t most) {
  std::optional<int64_t> n = extent.asConstant();
  return n && *n < int64_t(lanes) * most * 2 ? 1 : most;
}

int64_t llir::countLinesInCache(int64_t apart, const MachineModel &machine) {
  const int64_t way = machine.l1WayBytes;
  int64_t sets = way / std::gcd(way, apart);
  return std::max<int64_t>(1, machine.l1Bytes / way * sets);
}

int64_t llir::chooseBlock(const Expr &extent, int64_t most) {
  std::optional<int64_t> n = extent.asConstant();
  if (most > 1 && n && *n <= 2 * most)
    return 0;
  return most;
}

LogicalResult llir::verifyAxes(ArrayRef<LoopAxisAttr> axes,
                               ArrayRef<Expr> extents, unsigned skipped,
                               function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<unsigned> expected, found;
  for (unsigned i = skipped; i < extents.size(); ++i)
    if (!extents[i].isConstant(1))
      expected.push_back(i);
  // Axes may be in any order; the dims of an axis must be in ascending order.
  SmallVector<LoopAxisAttr> sorted(axes);
  llvm::sort(sorted, [](LoopAxisAttr a, LoopAxisAttr b) {
    return a.getDims().front() < b.getDims().front();
  });
  for (LoopAxisAttr axis : sorted)
    llvm::append_range(found, axis.getDims());
  if (expected == found)
    return success();
  InFlightDiagnostic diagnostic = emitError() << "has axes over ";
  auto list = [&](ArrayRef<unsigned> dims) {
    if (dims.empty())
      diagnostic << "no dim";
    for (auto [i, dim] : llvm::enumerate(dims))
      diagnostic << (i ? ", d" : "d") << dim;
  };
  list(found);
  diagnostic << ", the kernel's are ";
  list(expected);
  return diagnostic;
}

LogicalResult
llir::verifyNumbers(LoopFormAttr form, ArrayRef<NumberRule> rules,
                    function_ref<InFlightDiagnostic()> emitError) {
  for (NamedAttribute number : form.getNumbers()) {
    StringRef name = number.getName().getValue();
    auto rule = llvm::find_if(
        rules, [&](const NumberRule &rule) { return rule.name == name; });
    if (rule == rules.end())
      return emitError() << "gives op" << form.getOp() << " " << name
                         << ", which the form " << form.getForm().getValue()
                         << " does not have";
    auto integer = dyn_cast<IntegerAttr>(number.getValue());
    if (integer ? !rule->words.empty() || integer.getInt() < rule->least ||
                      integer.getInt() > rule->limit
                : !llvm::is_contained(rule->words, form.getWord(name)))
      return emitError() << "gives op" << form.getOp() << " " << name << " = "
                         << number.getValue() << ", which is out of range";
  }
  return success();
}

LogicalResult
llir::verifyScatterForms(ScatterOp op, LoopCaseAttr loopCase,
                         ArrayRef<NumberRule> rules,
                         function_ref<InFlightDiagnostic()> emitError) {
  for (LoopFormAttr form : loopCase.getForms()) {
    if (form.getOp() != getPosition(op))
      return emitError() << "gives op" << form.getOp() << " the form "
                         << form.getForm().getValue()
                         << ", only a scatter has one here";
    if (failed(verifyNumbers(form, rules, emitError)))
      return failure();
  }
  return success();
}

SmallVector<SmallVector<unsigned>>
llir::getGroups(ArrayRef<LoopAxisAttr> axes) {
  SmallVector<SmallVector<unsigned>> groups;
  for (LoopAxisAttr axis : axes)
    groups.emplace_back(axis.getDims());
  return groups;
}
