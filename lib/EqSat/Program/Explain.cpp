//===- Explain.cpp - Proofs as text and JSON ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "luminal/EqSat/Core/Proof.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ProgramStack.h"

using namespace mlir;
using namespace luminal::eqsat;

namespace {

/// One equality to be explained.
struct Claim {
  std::string what;
  Location loc;
  bool proved;
  uint32_t chain, from, to; ///< in the explanation, if it is proved
};

/// Numbers the terms and steps that the claims need: operands before terms,
/// proofs of operands before steps.
class Writer {
public:
  Writer(const Explanation &e, OpTable &ops, ArrayRef<Rule> rules,
         llvm::function_ref<SmallVector<Location>(ClassId)> locationsOf)
      : e(e), ops(ops), rules(rules), locationsOf(locationsOf),
        asmState(ops.getContext(),
                 OpPrintingFlags().elideLargeElementsAttrs(16)) {}

  ProofReport write(StringRef function, ArrayRef<Claim> claims);

private:
  void visitTerm(uint32_t term);
  void visitChain(uint32_t chain);
  SmallVector<uint32_t> numbers(uint32_t chain) const {
    SmallVector<uint32_t> list;
    for (uint32_t step : e.chains[chain])
      list.push_back(stepNumber.lookup(step));
    return list;
  }
  std::string name(uint32_t term) const {
    return "%" + llvm::utostr(termNumber.lookup(term));
  }
  template <typename T>
  std::string print(T thing) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    thing.print(os, const_cast<AsmState &>(asmState));
    return text;
  }
  std::string describe(uint32_t term) const;
  SmallVector<Location> locations(uint32_t term) const;
  static std::string list(ArrayRef<uint32_t> steps) {
    return steps.empty() ? "nothing" : llvm::join(texts(steps), ", ");
  }
  static SmallVector<std::string> texts(ArrayRef<uint32_t> steps) {
    SmallVector<std::string> all;
    for (uint32_t s : steps)
      all.push_back(llvm::utostr(s));
    return all;
  }
  StringRef opName(const Explanation::Term &t) const {
    return ops.getGraph().opName(t.op);
  }

  const Explanation &e;
  OpTable &ops;
  ArrayRef<Rule> rules;
  llvm::function_ref<SmallVector<Location>(ClassId)> locationsOf;
  AsmState asmState;
  llvm::SetVector<uint32_t> terms, steps;
  llvm::DenseMap<uint32_t, uint32_t> termNumber, stepNumber;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> proved;
};

} // namespace

void Writer::visitTerm(uint32_t root) {
  SmallVector<std::pair<uint32_t, unsigned>> stack{{root, 0}};
  while (!stack.empty()) {
    auto &[term, next] = stack.back();
    if (termNumber.count(term)) {
      stack.pop_back();
      continue;
    }
    ArrayRef<uint32_t> operands = e.terms[term].operands;
    if (next != operands.size()) {
      uint32_t operand = operands[next++];
      stack.push_back({operand, 0});
      continue;
    }
    termNumber[term] = terms.size();
    terms.insert(term);
    stack.pop_back();
  }
}

void Writer::visitChain(uint32_t chain) {
  for (uint32_t step : e.chains[chain]) {
    if (stepNumber.count(step))
      continue;
    for (uint32_t operand : e.steps[step].operands)
      visitChain(operand);
    visitTerm(e.steps[step].from);
    visitTerm(e.steps[step].to);
    // Write only one proof of each equality.
    uint32_t &number = proved[{e.steps[step].from, e.steps[step].to}];
    if (number == 0) {
      steps.insert(step);
      number = steps.size(); // numbers start at 1
    }
    stepNumber[step] = number;
  }
}

/// The locations of the term in the program; if it has none, those of its
/// operands.
SmallVector<Location> Writer::locations(uint32_t term) const {
  llvm::SetVector<Location> found;
  SmallVector<uint32_t> level{term};
  llvm::DenseSet<uint32_t> seen;
  constexpr unsigned kEnough = 4;
  while (!level.empty() && found.empty()) {
    SmallVector<uint32_t> next;
    for (uint32_t t : level) {
      for (Location loc : locationsOf(e.terms[t].cls))
        if (found.size() < kEnough)
          found.insert(loc);
      for (uint32_t operand : e.terms[t].operands)
        if (seen.insert(operand).second)
          next.push_back(operand);
    }
    level = std::move(next);
  }
  return found.takeVector();
}

std::string Writer::describe(uint32_t term) const {
  const Explanation::Term &t = e.terms[term];
  std::string text = opName(t).str();
  if (!t.operands.empty()) {
    text += "(";
    for (auto [i, operand] : llvm::enumerate(t.operands))
      text += (i ? ", " : "") + name(operand);
    text += ")";
  }
  DictionaryAttr attributes = ops.attributes(t.payload);
  if (!attributes.empty())
    text += " " + print(attributes);
  return text + " : " + print(ops.type(ops.getGraph().payloadType(t.payload)));
}

ProofReport Writer::write(StringRef function, ArrayRef<Claim> claims) {
  for (const Claim &c : claims)
    if (c.proved) {
      visitTerm(c.from);
      visitChain(c.chain);
      visitTerm(c.to);
    }
  ProofReport report;
  llvm::raw_string_ostream os(report.text);
  llvm::json::Array termList, stepList, claimList;
  os << "explanation of @" << function << "\nterms\n";
  for (uint32_t term : terms) {
    os << "  " << name(term) << " = " << describe(term) << "\n";
    const Explanation::Term &t = e.terms[term];
    llvm::json::Array operands;
    for (uint32_t operand : t.operands)
      operands.push_back(termNumber.lookup(operand));
    termList.push_back(llvm::json::Object{
        {"op", opName(t).str()},
        {"operands", std::move(operands)},
        {"attributes", print(ops.attributes(t.payload))},
        {"type", print(ops.type(ops.getGraph().payloadType(t.payload)))}});
  }
  os << "steps\n";
  for (uint32_t step : steps) {
    const Explanation::Step &s = e.steps[step];
    os << "  " << stepNumber.lookup(step) << ": " << name(s.from) << " = "
       << name(s.to) << " ";
    llvm::json::Object object{{"from", termNumber.lookup(s.from)},
                              {"to", termNumber.lookup(s.to)}};
    if (s.rule == kNone) {
      os << "because operands are equal:";
      llvm::json::Array operands;
      for (auto [i, chain] : llvm::enumerate(s.operands)) {
        SmallVector<uint32_t> used = numbers(chain);
        if (!used.empty())
          os << " " << i << " by " << list(used) << ";";
        operands.push_back(llvm::json::Array(used));
      }
      if (s.swapped)
        os << " they change places;";
      object["operands"] = std::move(operands);
      object["swapped"] = s.swapped;
    } else if (s.rule < rules.size()) {
      const Rule &rule = rules[s.rule];
      Type type = ops.type(ops.getGraph().payloadType(e.terms[s.to].payload));
      std::string promise =
          rule.promiseIn(print(getElementTypeOrSelf(type))).str();
      os << "by " << rule.name;
      if (!rule.location.empty())
        os << " (" << rule.location << ")";
      os << ", " << promise << (s.forward ? "" : ", read from right to left");
      object["rule"] = rule.name;
      object["location"] = rule.location;
      object["promise"] = promise;
      object["forward"] = s.forward;
    }
    if (s.rule == kGiven)
      os << "because the program says so";
    if (s.rule == kKnown)
      os << "because both are known to be the same numbers";
    SmallVector<Location> where = locations(s.forward ? s.from : s.to);
    llvm::json::Array places;
    for (Location loc : where) {
      os << " " << loc;
      std::string text;
      llvm::raw_string_ostream(text) << loc;
      places.push_back(text);
    }
    object["locations"] = std::move(places);
    os << "\n";
    stepList.push_back(std::move(object));
  }
  os << "claims\n";
  for (const Claim &c : claims) {
    std::string loc;
    llvm::raw_string_ostream(loc) << c.loc;
    os << "  " << c.what << " " << loc << ": ";
    llvm::json::Object object{
        {"what", c.what}, {"location", loc}, {"proved", c.proved}};
    if (!c.proved) {
      os << "not found equal\n";
    } else {
      SmallVector<uint32_t> used = numbers(c.chain);
      os << name(c.from) << " = " << name(c.to) << " by " << list(used) << "\n";
      object["from"] = termNumber.lookup(c.from);
      object["to"] = termNumber.lookup(c.to);
      object["steps"] = llvm::json::Array(used);
    }
    claimList.push_back(std::move(object));
  }
  report.json = llvm::json::Object{{"terms", std::move(termList)},
                                   {"steps", std::move(stepList)},
                                   {"claims", std::move(claimList)}};
  return report;
}

//===----------------------------------------------------------------------===//
// Claims
//===----------------------------------------------------------------------===//

FailureOr<std::optional<ClassId>> Program::classNamed(StringRef name) {
  std::optional<ClassId> found;
  Location place = function.getLoc();
  bool several = false;
  auto offer = [&](Location loc, ClassId c) {
    auto named = loc->findInstanceOf<NameLoc>();
    if (!named || named.getName() != name)
      return;
    several |= found && graph.find(*found) != graph.find(c);
    found = c;
    place = loc;
  };
  for (Block *block : blocks)
    for (Value arg : block->getArguments())
      offer(arg.getLoc(), classes.lookup(arg));
  // The op itself has no name location if it has several results.
  for (auto &[cls, loc] : givenLocations)
    if (!isa<TupleType>(ops.type(graph.classType(cls))))
      offer(loc, cls);
  if (several)
    return emitError(place)
           << "different values have the name location '" << name << "'";
  return found;
}

FailureOr<ProofReport> Program::explain(ArrayRef<Rule> rules,
                                        ArrayRef<std::string> values,
                                        const Extractor &extractor,
                                        const Selection &selection) {
  // Proofs nest as deep as the program does.
  constexpr uint64_t kBytesPerTerm = 2048, kMaxStack = uint64_t(1) << 30;
  uint64_t stack = std::clamp<uint64_t>(proofs.numTerms() * kBytesPerTerm,
                                        llvm::getDefaultStackSize(), kMaxStack);
  FailureOr<ProofReport> report;
  llvm::runOnNewStack(stack, [&] {
    // Leave a quarter of the stack for functions that are called at the limit.
    report = explainHere(rules, values, extractor, selection, stack / 4 * 3);
  });
  return report;
}

FailureOr<ProofReport> Program::explainHere(ArrayRef<Rule> rules,
                                            ArrayRef<std::string> values,
                                            const Extractor &extractor,
                                            const Selection &selection,
                                            uint64_t stackBytes) {
  Explainer explainer(graph, *graph.proofs,
                      {rules.data(), size_t(rules.size())}, stackBytes);
  SmallVector<Claim> claims;
  if (!values.empty()) {
    FailureOr<std::optional<ClassId>> first = classNamed(values[0]),
                                      second = classNamed(values[1]);
    if (failed(first) || failed(second))
      return failure();
    if (!*first && !*second)
      return ProofReport(); // the values belong to another function
    if (!*first || !*second)
      return emitError(function.getLoc()) << "no value has the name location '"
                                          << values[*first ? 1 : 0] << "'";
    ClassId a = **first, b = **second;
    Claim claim{"'" + values[0] + "' and '" + values[1] + "'",
                function.getLoc(),
                graph.find(a) == graph.find(b),
                0,
                explainer.given(a),
                explainer.given(b)};
    if (claim.proved)
      claim.chain = explainer.explain(a, b);
    claims.push_back(std::move(claim));
  } else {
    for (auto [op, scope] : users())
      for (OpOperand &operand : op->getOpOperands()) {
        ClassId c = classes.lookup(operand.get());
        uint32_t chain = explainer.explain(c, extractor, selection, scope);
        uint32_t from = explainer.given(c);
        claims.push_back(
            {"operand " + llvm::utostr(operand.getOperandNumber()) + " of " +
                 op->getName().getStringRef().str(),
             op->getLoc(), true, chain, from, explainer.endOf(chain, from)});
      }
  }
  if (explainer.isTooDeep())
    return emitError(function.getLoc())
           << "proofs nest too deep to be explained: they take more than "
           << stackBytes << " bytes of stack";
  llvm::DenseMap<ClassId, SmallVector<Location>> places;
  for (auto &[cls, loc] : givenLocations) {
    auto &list = places[graph.find(cls)];
    if (!llvm::is_contained(list, loc))
      list.push_back(loc);
  }
  auto locationsOf = [&](ClassId c) {
    return c == kNone ? SmallVector<Location>() : places.lookup(graph.find(c));
  };
  return Writer(explainer.result, ops, rules, locationsOf)
      .write(function.getSymName(), claims);
}
