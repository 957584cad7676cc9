//===- Rule.cpp - Building of rules ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Rule.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

using namespace luminal::eqsat;

std::string Promise::str() const {
  switch (kind) {
  case Exact:
    return "exact";
  case Finite:
    return "finite";
  case Rounding:
    break;
  }
  char text[64];
  if (leastUlps == ulps)
    snprintf(text, sizeof(text), "rounding(%g)", ulps);
  else
    snprintf(text, sizeof(text), "rounding(%g..%g)", leastUlps, ulps);
  return text;
}

Promise Rule::promiseIn(const std::string &dtype) const {
  for (size_t i = 0; i != ulps.size(); ++i)
    if (dtypes[i] == dtype)
      return Promise::rounding(ulps[i]);
  return promise;
}

const char *luminal::eqsat::stratumName(Stratum s) {
  switch (s) {
  case Stratum::Canonical:
    return "canonical";
  case Stratum::Recovery:
    return "recovery";
  case Stratum::Lowering:
    return "lowering";
  case Stratum::Alternatives:
    return "alternatives";
  }
  return "";
}

RuleBuilder::RuleBuilder(std::string name) { result.name = std::move(name); }

Reg RuleBuilder::fresh(uint32_t n) {
  Reg r = nextMatch;
  nextMatch += n;
  holdsClass.resize(nextMatch);
  return r;
}

RuleBuilder::Op RuleBuilder::root(OpId op, uint32_t arity) {
  assert(result.lhs.empty() && "the root comes first");
  return enter(fresh(), op, arity);
}

RuleBuilder::Op RuleBuilder::enter(Reg cls, OpId op, uint32_t arity) {
  Reg dst = fresh(arity + 1);
  holdsClass[cls] = true;
  std::fill_n(holdsClass.begin() + dst, arity, true);
  result.lhs.push_back({Atom::Enter, cls, op, dst, arity, {}, {}});
  return {cls, dst, arity, dst + arity};
}

void RuleBuilder::equal(Reg a, Reg b) {
  result.lhs.push_back(
      {Atom::Equal, std::min(a, b), std::max(a, b), 0, 0, {}, {}});
}

void RuleBuilder::is(Reg reg, uint32_t constant) {
  result.lhs.push_back({Atom::Is, reg, constant, 0, 0, {}, {}});
}

Reg RuleBuilder::field(Reg payload, NameId name) {
  Reg dst = fresh();
  result.lhs.push_back({Atom::Field, payload, name, dst, 0, {}, {}});
  return dst;
}

Reg RuleBuilder::nodeType(Reg payload) {
  Reg dst = fresh();
  result.lhs.push_back({Atom::NodeType, payload, 0, dst, 0, {}, {}});
  return dst;
}

Reg RuleBuilder::classType(Reg cls) {
  Reg dst = fresh();
  result.lasting = false;
  result.lhs.push_back({Atom::ClassType, cls, 0, dst, 0, {}, {}});
  return dst;
}

Reg RuleBuilder::native(uint32_t fn, std::vector<Reg> args,
                        std::vector<Reg> classArgs, uint32_t numResults) {
  Reg dst = fresh(numResults);
  // The answer of a native that reads only attributes and types never changes.
  if (!classArgs.empty())
    result.lasting = false;
  result.lhs.push_back({Atom::Native, fn, 0, dst, numResults, std::move(args),
                        std::move(classArgs)});
  return dst;
}

Reg RuleBuilder::temp(decltype(Temp::kind) kind, uint32_t index) {
  temps.push_back({kind, index});
  return temps.size() - 1;
}

Reg RuleBuilder::use(Reg matchReg) {
  auto &stored = result.stored;
  for (Reg t = 0; t != temps.size(); ++t)
    if (temps[t].kind == Temp::Stored && stored[temps[t].index] == matchReg)
      return t;
  stored.push_back(matchReg);
  return temp(Temp::Stored, stored.size() - 1);
}

Reg RuleBuilder::constant(uint32_t value) {
  auto &constants = result.constants;
  for (Reg t = 0; t != temps.size(); ++t)
    if (temps[t].kind == Temp::Constant && constants[temps[t].index] == value)
      return t;
  constants.push_back(value);
  return temp(Temp::Constant, constants.size() - 1);
}

Reg RuleBuilder::payload(Reg type, std::vector<std::pair<NameId, Reg>> fields) {
  std::sort(fields.begin(), fields.end());
  Instruction i{Instruction::Payload, 0, type, 0, {}, {}, kNone, false};
  for (auto [name, reg] : fields) {
    i.names.push_back(name);
    i.args.push_back(reg);
  }
  i.dst = temp(Temp::Computed, 0);
  result.rhs.push_back(std::move(i));
  return result.rhs.back().dst;
}

Reg RuleBuilder::node(OpId op, Reg payload, std::vector<Reg> children) {
  Reg dst = temp(Temp::Computed, 0);
  result.rhs.push_back({Instruction::Node,
                        op,
                        payload,
                        dst,
                        std::move(children),
                        {},
                        kNone,
                        false});
  return dst;
}

Reg RuleBuilder::rewrite(uint32_t fn, std::vector<Reg> args,
                         uint32_t numResults, bool creates) {
  result.creates |= creates;
  Reg dst = temp(Temp::Computed, 0);
  for (uint32_t i = 1; i < numResults; ++i)
    temp(Temp::Computed, 0);
  result.rhs.push_back({Instruction::Native,
                        fn,
                        numResults,
                        dst,
                        std::move(args),
                        {},
                        kNone,
                        creates});
  return dst;
}

void RuleBuilder::unite(Reg left, Reg right) {
  result.unions.push_back({left, right});
}

Rule RuleBuilder::finish(bool explained) {
  if (explained)
    for (Reg r = 0; r != nextMatch; ++r)
      use(r);
  // Put the registers that hold classes first.
  std::vector<Reg> order, place(result.stored.size());
  for (bool classes : {true, false}) {
    for (Reg i = 0; i != place.size(); ++i)
      if (holdsClass[result.stored[i]] == classes) {
        place[i] = order.size();
        order.push_back(result.stored[i]);
      }
    if (classes)
      result.numStoredClasses = order.size();
  }
  result.stored = std::move(order);
  // Assign the final numbers: stored, then constants, then computed.
  std::vector<Reg> number(temps.size());
  uint32_t computed = result.stored.size() + result.constants.size();
  for (Reg t = 0; t != temps.size(); ++t) {
    switch (temps[t].kind) {
    case Temp::Stored:
      number[t] = place[temps[t].index];
      break;
    case Temp::Constant:
      number[t] = result.stored.size() + temps[t].index;
      break;
    case Temp::Computed:
      number[t] = computed++;
      break;
    }
  }
  for (Instruction &i : result.rhs) {
    i.dst = number[i.dst];
    if (i.kind != Instruction::Native)
      i.b = number[i.b];
    for (Reg &r : i.args)
      r = number[r];
  }
  for (auto &[a, b] : result.unions) {
    a = number[a];
    b = number[b];
  }
  // A node whose only use is a union with a class of the left side is added to
  // that class instead of getting a new one.
  for (size_t u = 0; u != result.unions.size();) {
    auto [a, b] = result.unions[u];
    const bool isLeft = a >= result.numStored();
    if (isLeft)
      std::swap(a, b);
    Instruction *last = nullptr;
    bool read = false;
    for (Instruction &i : result.rhs) {
      if (i.kind == Instruction::Node && i.dst == b)
        last = &i;
      for (Reg r : i.args)
        read |= r == b;
    }
    for (size_t v = 0; v != result.unions.size(); ++v)
      read |= v != u &&
              (result.unions[v].first == b || result.unions[v].second == b);
    if (a < result.numStored() && last && !read && last->into == kNone) {
      last->into = a;
      last->isLeft = isLeft;
      result.unions.erase(result.unions.begin() + u);
    } else {
      ++u;
    }
  }
  result.numRegs = computed;
  result.numMatchRegs = nextMatch;
  return std::move(result);
}
