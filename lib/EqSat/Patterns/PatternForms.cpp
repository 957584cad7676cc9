//===- PatternForms.cpp - Rules for each length of a range ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PatternForms.h"
#include "PatternSides.h"

using namespace mlir;
using namespace luminal::eqsat;

static bool isRange(Value v) { return isa<pdl::RangeType>(v.getType()); }

/// The operation if `v` is the range of all its results, otherwise null.
static pdl::OperationOp wholeOf(Value v) {
  auto results = v.getDefiningOp<pdl::ResultsOp>();
  if (!results || results.getIndex())
    return nullptr;
  return results.getParent().getDefiningOp<pdl::OperationOp>();
}

LogicalResult PatternForms::refuse(Operation *op, const Twine &reason) {
  return emitError(op->getLoc())
         << "rule '" << info.name << "' cannot be used: " << reason;
}

unsigned PatternForms::endOf(Value v, unsigned atLeast) {
  unsigned i = llvm::find(ends, v) - ends.begin();
  if (i == ends.size()) {
    ends.push_back(v);
    least.push_back(atLeast);
  }
  least[i] = std::max(least[i], atLeast);
  return i;
}

//===----------------------------------------------------------------------===//
// Open numbers
//===----------------------------------------------------------------------===//

/// Finds the operands and results whose number the left side leaves open.
LogicalResult PatternForms::analyse() {
  auto isKnown = [](pdl::OperationOp op) {
    return declaredResults(op).has_value();
  };
  Block &body = pattern.getBodyRegion().front();
  for (auto op : body.getOps<pdl::OperationOp>()) {
    if (!op.getOpName())
      continue; // the compiler reports this
    OperationName name(*op.getOpName(), op.getContext());
    ValueRange values = op.getOperandValues();
    Operands of{name.getStringRef(), 0, {}, fixedOperands(name)};
    for (auto [i, v] : llvm::enumerate(values)) {
      if (auto whole = wholeOf(v)) {
        if (isKnown(whole))
          of.known += *declaredResults(whole);
        else
          of.unknown.push_back(endOf(whole.getOp(), 1));
        continue;
      }
      if (auto result = v.getDefiningOp<pdl::ResultOp>()) {
        auto parent = result.getParent().getDefiningOp<pdl::OperationOp>();
        if (parent && !isKnown(parent))
          endOf(parent.getOp(), result.getIndex() + 1);
      }
      if (!isRange(v) || v.getDefiningOp<pdl::ResultsOp>()) {
        ++of.known;
        continue;
      }
      if (values.size() != 1 &&
          name.hasTrait<OpTrait::AttrSizedOperandSegments>())
        return refuse(op, "a range among the operands of '" +
                              name.getStringRef() +
                              "', which come in segments");
      if (i + 1 != values.size())
        return refuse(op, "a range of operands that is not the last of them, "
                          "which PDL takes for all");
      of.unknown.push_back(endOf(v, 0));
    }
    if (!of.unknown.empty())
      operands.push_back(std::move(of));
  }
  // A constraint can read results of an operation if these are also operands.
  for (auto constraint : body.getOps<pdl::ApplyNativeConstraintOp>())
    for (Value v : constraint.getArgs()) {
      auto result = v.getDefiningOp<pdl::ResultOp>();
      auto op = result ? result.getParent().getDefiningOp<pdl::OperationOp>()
                       : wholeOf(v);
      auto isSame = [&](Value other) {
        if (wholeOf(other) == op)
          return true;
        auto r = other.getDefiningOp<pdl::ResultOp>();
        return r && result && r.getParent() == result.getParent() &&
               r.getIndex() == result.getIndex();
      };
      if (op && !isKnown(op) &&
          llvm::none_of(body.getOps<pdl::OperationOp>(),
                        [&](pdl::OperationOp user) {
                          return llvm::any_of(user.getOperandValues(), isSame);
                        }))
        return refuse(constraint, "result types of '" +
                                      op.getOpName().value_or("") +
                                      "' are not spelled out, so its number of "
                                      "results is unknown");
    }
  // The number of values that a native makes must equal the number of results
  // that they replace.
  auto rewrite = cast<pdl::RewriteOp>(body.getTerminator());
  for (auto replace : rewrite.getBodyRegion().getOps<pdl::ReplaceOp>()) {
    auto root = replace.getOpValue().getDefiningOp<pdl::OperationOp>();
    auto isMade = [&](auto &&self, Value v) -> bool {
      if (auto range = v.getDefiningOp<pdl::RangeOp>())
        return llvm::any_of(range.getArguments(),
                            [&](Value part) { return self(self, part); });
      auto whole = wholeOf(v);
      return isRange(v) && (whole ? !isKnown(whole) &&
                                        !llvm::is_contained(ends, whole.getOp())
                                  : !llvm::is_contained(ends, v));
    };
    bool byAll = replace.getReplValues().size() == 1 &&
                 wholeOf(replace.getReplValues()[0]);
    if (root && !isKnown(root) && !byAll &&
        llvm::any_of(replace.getReplValues(),
                     [&](Value v) { return isMade(isMade, v); }))
      endOf(root.getOp(), 1);
  }
  for (unsigned end = 0; end != ends.size(); ++end)
    open |= llvm::none_of(operands, [&](const Operands &of) {
      return of.fixed && of.unknown.size() == 1 && of.unknown[0] == end;
    });
  return success();
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Collects all combinations of numbers for which the graph has operators,
/// starting with operation number `at`. Without a graph, only the smallest
/// combination.
void PatternForms::enumerate(size_t at, Choice &choice, const OpTable *ops,
                             std::set<Counts> &all) const {
  auto choose = [&](unsigned end, unsigned count) {
    if (count < least[end])
      return;
    choice[end] = count;
    enumerate(at, choice, ops, all);
    choice[end] = std::nullopt;
  };
  auto chooseResults = [&](unsigned end) {
    if (!ops)
      return choose(end, least[end]);
    for (unsigned count : ops->resultCounts())
      choose(end, count);
  };
  if (all.size() > kGiven)
    return; // more forms than there can be rules
  if (at == operands.size()) {
    for (auto [end, count] : llvm::enumerate(choice))
      if (!count)
        return chooseResults(end);
    Counts counts;
    for (std::optional<unsigned> count : choice)
      counts.push_back(*count);
    all.insert(std::move(counts));
    return;
  }
  const Operands &of = operands[at];
  unsigned sum = of.known, times = 0;
  std::optional<unsigned> next;
  bool several = false;
  for (unsigned end : of.unknown) {
    if (choice[end]) {
      sum += *choice[end];
      continue;
    }
    several |= next && *next != end;
    // The only range of this operation that is still open; it may occur twice.
    if (!next || *next == end) {
      next = end;
      ++times;
    }
  }
  if (several)
    return chooseResults(*next);
  SmallVector<unsigned> arities;
  if (of.fixed)
    arities.push_back(*of.fixed);
  else if (!ops)
    arities.push_back(sum + (next ? times * least[*next] : 0));
  else
    for (OpId op : ops->opsNamed(of.name))
      if (ops->getGraph().table(op).numFrozen() != 0)
        arities.push_back(ops->getGraph().arity(op));
  if (!next) {
    // Without a graph, the compiler reports impossible combinations.
    if (!ops || llvm::is_contained(arities, sum))
      enumerate(at + 1, choice, ops, all);
    return;
  }
  for (unsigned arity : arities)
    if (arity >= sum && (arity - sum) % times == 0)
      choose(*next, (arity - sum) / times);
}

Extents PatternForms::extents(const Counts &counts) const {
  Extents extents;
  for (auto [end, count] : llvm::zip_equal(ends, counts))
    extents[end] = count;
  return extents;
}

FailureOr<Rule> PatternForms::first(OpTable &ops, NativeBridge &natives,
                                    NativeScopes scopes, bool explained) {
  if (failed(analyse()))
    return failure();
  std::set<Counts> all;
  Choice choice(ends.size());
  enumerate(0, choice, /*ops=*/nullptr, all);
  const Counts &counts =
      *stated.insert(all.empty() ? Counts(least) : *all.begin()).first;
  Form form{extents(counts), open};
  return compilePattern(pattern, info, ops, natives, scopes, explained, form);
}

void PatternForms::more(OpTable &ops, NativeBridge &natives,
                        NativeScopes scopes, bool explained,
                        std::vector<Rule> &rules) {
  std::set<Counts> all;
  Choice choice(ends.size());
  enumerate(0, choice, &ops, all);
  for (const Counts &counts : all) {
    if (rules.size() > kGiven)
      return;
    if (!stated.insert(counts).second)
      continue;
    Form form{extents(counts), open};
    FailureOr<Rule> rule =
        compilePattern(pattern, info, ops, natives, scopes, explained, form);
    if (succeeded(rule) && !form.never)
      rules.push_back(std::move(*rule));
  }
}
