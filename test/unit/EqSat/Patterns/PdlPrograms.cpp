//===- PdlPrograms.cpp - Random programs and random patterns --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PdlPrograms.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace luminal::eqsat::test;

namespace {

struct Symbol {
  const char *name;
  unsigned arity, results;
  bool commutative = false;
};
/// Names with several arities and numbers of results among them.
constexpr Symbol kSymbols[] = {
    {"test.c", 0, 1}, {"test.n", 1, 1}, {"test.f", 2, 1},
    {"test.f", 3, 1}, {"test.d", 1, 2}, {"test.d", 1, 1},
    {"test.m", 2, 3}, {"test.m", 2, 1}, {"arith.addi", 2, 1, true}};
constexpr const char *kTypes[] = {"i32", "f32", "tensor<?xf32>"};
/// Of several types, or of none.
constexpr const char *kAttributes[] = {"0 : i64", "1 : i64", "0 : i32",
                                       "\"s\"",   "unit",    "[0]"};
constexpr const char *kAttributeTypes[] = {"i64",  "i64",   "i32",
                                           "none", nullptr, nullptr};
constexpr unsigned kArguments = 3;

std::string spell(const Source &s, unsigned value) {
  if (value < kArguments)
    return "%a" + std::to_string(value);
  return "%d" + std::to_string(s.values[value].def) + "#" +
         std::to_string(s.values[value].index);
}

/// Names of ranges and of lists of types begin alike.
std::string listOf(const std::vector<std::string> &names,
                   const std::string &type) {
  std::string list, types;
  for (const std::string &name : names) {
    bool isRange = name.rfind("%range", 0) == 0;
    list += (list.empty() ? "" : ", ") + name;
    types += (types.empty() ? "" : ", ") +
             (isRange ? "!pdl.range<" + type + ">" : "!pdl." + type);
  }
  return names.empty() ? "" : list + " : " + types;
}

struct Random {
  std::mt19937_64 &rng;
  unsigned below(unsigned n) { return rng() % n; }
  bool oneIn(unsigned n) { return below(n) == 0; }
  template <typename T>
  const T &any(const std::vector<T> &from) {
    return from[below(from.size())];
  }
};

class PatternWriter : Random {
public:
  PatternWriter(const Source &source, std::mt19937_64 &rng)
      : Random{rng}, s(source) {}

  Pattern write(unsigned number) {
    unsigned at = below(s.defs.size());
    std::string root = operation(at, 0);
    for (unsigned i = 0, n = below(3); i != n; ++i)
      constraint();
    Pattern p{"Hit" + std::to_string(number), {}, false};
    std::string rhs = rewrite(s.defs[at], root, number, p.byOperation);
    unsigned swaps = 0;
    for (const Line &line : lines)
      swaps += !line.swapped.empty();
    for (unsigned mask = 0; mask >> swaps == 0; ++mask) {
      std::string text =
          "pdl.pattern @" + p.name +
          " : benefit(1) attributes {eqsat.promise = \"exact\"} {\n";
      unsigned bit = 0;
      for (const Line &line : lines)
        text += !line.swapped.empty() && (mask >> bit++ & 1) ? line.swapped
                                                             : line.text;
      p.texts.push_back(text + "  pdl.rewrite " + root + " {\n" + rhs +
                        "  }\n}\n");
    }
    return p;
  }

private:
  struct Line {
    std::string text, swapped;
  };

  std::string fresh(const char *stem) {
    return std::string("%") + stem + std::to_string(numNames++);
  }
  void line(const std::string &text) {
    lines.push_back({"  " + text + "\n", ""});
  }
  /// A new name for the given text.
  std::string define(const char *stem, const std::string &text) {
    std::string name = fresh(stem);
    line(name + " = " + text);
    return name;
  }

  /// The driver compares the result of a constraint with at most one place.
  bool isUnused(const std::string &name) {
    return name.rfind("%made", 0) != 0 || used.insert(name).second;
  }

  /// A variable of any type, of this type, or of types equal to it.
  std::string type(const char *is) {
    unsigned how = below(4);
    if (is && how == 0)
      return types.emplace_back(
          define("type", std::string("pdl.type : ") + (oneIn(16) ? "i8" : is)));
    if (is && how == 1) {
      std::string &shared = sharedTypes[is];
      if (shared.empty())
        shared = types.emplace_back(define("type", "pdl.type"));
      return shared;
    }
    if (!madeTypes.empty() && oneIn(8))
      if (std::string made = any(madeTypes); isUnused(made))
        return made;
    return types.emplace_back(define("type", "pdl.type"));
  }

  std::string attribute(unsigned value) {
    if (oneIn(8))
      value = below(std::size(kAttributes));
    switch (below(5)) {
    case 0:
      return define("attr",
                    std::string("pdl.attribute = ") + kAttributes[value]);
    case 1: {
      // For an op without the attribute, the driver sees a null type.
      std::string of = type(kAttributeTypes[value]);
      std::string name = define("attr", "pdl.attribute : " + of);
      line("pdl.apply_native_constraint \"IsTyped\"(" + name +
           " : !pdl.attribute)");
      return attributes.emplace_back(name);
    }
    case 2: {
      std::string &shared = sharedAttributes[value];
      if (shared.empty())
        shared = attributes.emplace_back(define("attr", "pdl.attribute"));
      return shared;
    }
    case 3:
      if (!madeAttributes.empty())
        if (std::string made = any(madeAttributes); isUnused(made))
          return made;
      break;
    }
    return attributes.emplace_back(define("attr", "pdl.attribute"));
  }

  /// Uses a value again. A result is written again as a new pdl.result, because
  /// the driver compares the operations behind two results, but treats two uses
  /// of one pdl.result as results that may differ.
  std::string again(std::string name) {
    auto it = results.find(name);
    return it == results.end() ? name : define("value", it->second);
  }

  std::string operand(unsigned v, unsigned depth) {
    if (!operands.empty() && oneIn(24)) // mostly wrong
      if (std::string other = any(operands); isUnused(other))
        return again(other);
    auto known = names.find(v);
    if (known != names.end() && !oneIn(4))
      return again(known->second);
    std::string name;
    if (v >= kArguments && depth < 2 && !oneIn(3)) {
      unsigned def = s.values[v].def;
      auto there = entered.find(def);
      // The same op for another of its results, or as if it were another op.
      std::string op = there != entered.end() && !oneIn(4)
                           ? there->second
                           : operation(def, depth + 1);
      std::string text =
          "pdl.result " + std::to_string(s.values[v].index) + " of " + op;
      name = define("value", text);
      results[name] = text;
    } else if (oneIn(3)) {
      std::string of = type(kTypes[s.values[v].type]);
      name = define("value", "pdl.operand : " + of);
    } else {
      name = define("value", "pdl.operand");
    }
    operands.push_back(name);
    names.try_emplace(v, name);
    return name;
  }

  /// A range of these values and all later ones, of any types or of their own.
  std::string range(std::vector<unsigned> values) {
    if (!ranges.empty() && oneIn(24)) // mostly wrong
      return any(ranges);
    std::string &shared = sharedRanges[values];
    if (!shared.empty() && !oneIn(4))
      return shared;
    std::string text = "pdl.operands";
    if (oneIn(3)) {
      std::string list;
      for (unsigned v : values)
        list += (list.empty() ? "" : ", ") +
                std::string(oneIn(16) ? "i8" : kTypes[s.values[v].type]);
      text +=
          " : " + (oneIn(3) ? define("rangeTypes", "pdl.types")
                            : define("types", "pdl.types : [" + list + "]"));
      if (lines.back().text.rfind("  %rangeTypes", 0) == 0)
        typeRanges.push_back(text.substr(text.find('%')));
    }
    return shared = ranges.emplace_back(define("range", text));
  }

  /// Whether the operands are all results of one op, in their order.
  bool isWhole(const Source::Def &d) const {
    for (unsigned i = 0; i != d.operands.size(); ++i) {
      unsigned v = d.operands[i];
      if (v < kArguments || s.values[v].index != i ||
          s.values[v].def != s.values[d.operands[0]].def)
        return false;
    }
    return !d.operands.empty() &&
           s.defs[s.values[d.operands[0]].def].types.size() ==
               d.operands.size();
  }

  std::string operation(unsigned at, unsigned depth) {
    const Source::Def &d = s.defs[at];
    std::string list, swapped;
    if (isWhole(d) && !kSymbols[d.symbol].commutative && depth < 2 &&
        !oneIn(3)) {
      std::string of = operation(s.values[d.operands[0]].def, depth + 1);
      list = define("values", "pdl.results of " + of) + " : !pdl.range<value>";
    } else {
      std::vector<std::string> args;
      unsigned single = d.operands.size();
      if (!kSymbols[d.symbol].commutative && oneIn(4))
        single = below(single + 1);
      for (unsigned v = 0; v != single; ++v)
        args.push_back(operand(d.operands[v], depth));
      if (single != d.operands.size() || (args.empty() && oneIn(2)))
        args.push_back(range({d.operands.begin() + single, d.operands.end()}));
      list = listOf(args, "value");
      std::reverse(args.begin(), args.end());
      if (kSymbols[d.symbol].commutative && args[0] != args[1])
        swapped = listOf(args, "value");
    }
    std::string attrs;
    std::set<char> tested;
    for (auto [name, value] : d.attributes) {
      char tests = oneIn(16) ? char('k' + 'm' - name) : name;
      if (!oneIn(3) && tested.insert(tests).second)
        attrs += std::string(attrs.empty() ? "{" : ", ") + "\"" + tests +
                 "\" = " + attribute(value);
    }
    std::string results;
    if (std::vector<std::string> named; !oneIn(4)) {
      for (unsigned t : d.types)
        named.push_back(type(kTypes[t]));
      results = listOf(named, "type");
      rootTypes = named;
    } else {
      // A list, alone or after single types; a list without a constraint
      // matches any number of types.
      std::vector<std::string> parts;
      std::string rest;
      unsigned single = oneIn(2) ? 0 : below(d.types.size() + 1);
      for (unsigned i = 0; i != d.types.size(); ++i)
        if (i < single)
          parts.push_back(type(kTypes[d.types[i]]));
        else
          rest += (rest.empty() ? "" : ", ") + std::string(kTypes[d.types[i]]);
      parts.push_back(define(
          "rangeTypes", oneIn(2) ? "pdl.types : [" + rest + "]" : "pdl.types"));
      results = listOf(parts, "type");
      rootTypes.clear();
    }
    rootResults = results;
    std::string op = fresh("op");
    auto text = [&](const std::string &in) {
      return "  " + op + " = pdl.operation \"" + kSymbols[d.symbol].name +
             "\"" + (in.empty() ? "" : "(" + in + ")") +
             (attrs.empty() ? "" : " " + attrs + "}") + " -> (" + results +
             ")\n";
    };
    lines.push_back({text(list), swapped.empty() ? "" : text(swapped)});
    ops.push_back(op);
    if (!kSymbols[d.symbol].commutative)
      ordered.push_back(op);
    entered.try_emplace(at, op);
    if (oneIn(4))
      constraint();
    return op;
  }

  void constraint() {
    auto apply = [&](const char *name, const std::string &args) {
      return std::string("pdl.apply_native_constraint \"") + name + "\"(" +
             args + ")";
    };
    // The driver crashes on the same call three times.
    auto test = [&](const char *name, const std::string &args) {
      if (called.insert(apply(name, args)).second)
        line(apply(name, args) + (oneIn(3) ? " {isNegated = true}" : ""));
    };
    auto result = [&](std::vector<std::string> &to, const char *name,
                      const std::string &args, const char *type,
                      const char *stem = "made") {
      if (called.insert(apply(name, args)).second)
        to.push_back(define(stem, apply(name, args) + " : " + type));
    };
    switch (below(11)) {
    case 9:
      if (!ranges.empty())
        test("SomeI32", any(ranges) + " : !pdl.range<value>");
      break;
    case 10:
      if (!ordered.empty())
        result(ranges, "Tail", any(ordered) + " : !pdl.operation",
               "!pdl.range<value>", "range");
      break;
    case 0:
      if (!attributes.empty())
        test(oneIn(2) ? "IsZero" : "FastIsZero",
             any(attributes) + " : !pdl.attribute");
      break;
    case 1:
      if (!operands.empty())
        test("IsI32", any(operands) + " : !pdl.value");
      break;
    case 2:
      if (!types.empty())
        test("IsFloat", any(types) + " : !pdl.type");
      break;
    case 3:
      test("HasK", any(ops) + " : !pdl.operation");
      break;
    case 4:
      if (!operands.empty())
        test("SameType", any(operands) + ", " + any(operands) +
                             " : !pdl.value, !pdl.value");
      break;
    case 5:
      if (!attributes.empty())
        result(madeAttributes, "Next", any(attributes) + " : !pdl.attribute",
               "!pdl.attribute");
      break;
    case 6:
      if (!operands.empty())
        result(madeTypes, oneIn(2) ? "TypeOf" : "FastTypeOf",
               any(operands) + " : !pdl.value", "!pdl.type");
      break;
    case 7:
      if (!ordered.empty())
        result(operands, "First", any(ordered) + " : !pdl.operation",
               "!pdl.value");
      break;
    case 8:
      if (!madeAttributes.empty())
        test("IsZero", any(madeAttributes) + " : !pdl.attribute");
      break;
    }
  }

  /// The replacement of the root; its type stays the same.
  std::string rewrite(const Source::Def &d, const std::string &root,
                      unsigned number, bool &byOperation) {
    std::string text;
    auto make = [&](const char *stem, const std::string &what) {
      std::string name = fresh(stem);
      text += "    " + name + " = " + what + "\n";
      return name;
    };
    // The matched ops without the root, and the new ones.
    std::vector<std::string> values = operands, attrs = attributes,
                             kinds = types;
    attrs.insert(attrs.end(), madeAttributes.begin(), madeAttributes.end());
    kinds.insert(kinds.end(), madeTypes.begin(), madeTypes.end());
    attrs.push_back(make("attr", "pdl.attribute = 7 : i64"));
    if (kinds.empty())
      kinds.push_back(make("type", "pdl.type : i32"));
    if (oneIn(3))
      attrs.push_back(make("attr", "pdl.apply_native_rewrite \"Bump\"(" +
                                       any(attrs) +
                                       " : !pdl.attribute) : !pdl.attribute"));
    std::vector<std::string> lists = ranges;
    auto aRange = [&](const std::string &range) {
      return range + " : !pdl.range<value>";
    };
    if (!lists.empty() && oneIn(3))
      lists.push_back(make("range", "pdl.apply_native_rewrite \"Reverse\"(" +
                                        aRange(any(lists)) +
                                        ") : !pdl.range<value>"));
    auto operation = [&](const std::string &name, const std::string &results) {
      std::vector<std::string> args;
      for (unsigned i = 0, n = below(4); i != n && !values.empty(); ++i)
        args.push_back(!lists.empty() && oneIn(3) ? any(lists) : any(values));
      std::string what = "pdl.operation \"" + name + "\"";
      if (!args.empty())
        what += "(" + listOf(args, "value") + ")";
      if (oneIn(2))
        what += " {\"k\" = " + any(attrs) + "}";
      return make("new", what + " -> (" + results + ")");
    };
    for (unsigned i = 0, n = below(3); i != n; ++i) {
      if (oneIn(3) && !values.empty()) {
        values.push_back(
            make("wrapped", "pdl.apply_native_rewrite \"Wrap\"(" + any(values) +
                                ", " + any(kinds) +
                                " : !pdl.value, !pdl.type) : !pdl.value"));
        continue;
      }
      // Without a dialect: the driver does not verify what a registered op
      // would.
      bool two = oneIn(3);
      std::vector<std::string> results{any(kinds)};
      if (two)
        results.push_back(any(kinds));
      if (!typeRanges.empty() && oneIn(2))
        results.push_back(any(typeRanges));
      else if (!lists.empty() && oneIn(3))
        results.push_back(make(
            "rangeTypes", "pdl.apply_native_rewrite \"Types\"(" +
                              aRange(any(lists)) + ") : !pdl.range<type>"));
      std::string types = listOf(results, "type");
      std::string op = operation("test.mid", types);
      // All of its results, however many there are.
      if (oneIn(4))
        lists.push_back(make("range", "pdl.results of " + op));
      values.push_back(make("value", std::string("pdl.result ") +
                                         (two && oneIn(2) ? "1" : "0") +
                                         " of " + op));
    }
    std::string hit = "test.hit" + std::to_string(number), by;
    if (d.types.size() == 1 && rootTypes.size() == 1 && !values.empty() &&
        oneIn(6)) {
      by = make("built", "pdl.apply_native_rewrite \"Build\"(" + any(values) +
                             ", " + rootTypes[0] +
                             " : !pdl.value, !pdl.type) : !pdl.operation");
      byOperation = true;
    } else if (rootTypes.empty() || oneIn(2)) {
      by = operation(hit, rootResults);
      byOperation = true;
    } else {
      std::vector<std::string> results;
      for (const std::string &t : rootTypes)
        results.push_back(make(
            "value", "pdl.result 0 of " + operation(hit, t + " : !pdl.type")));
      by = "(" + listOf(results, "value") + ")";
    }
    return text + "    pdl.replace " + root + " with " + by + "\n";
  }

  const Source &s;
  std::vector<Line> lines;
  unsigned numNames = 0;
  std::vector<std::string> types, attributes, operands, ops;
  /// Values for which the first operand is well defined.
  std::vector<std::string> ordered;
  /// Results of constraints.
  std::vector<std::string> madeTypes, madeAttributes;
  std::set<std::string> called, used;
  std::vector<std::string> ranges, typeRanges;
  std::map<std::vector<unsigned>, std::string> sharedRanges;
  std::map<std::string, std::string> sharedTypes;
  std::map<unsigned, std::string> sharedAttributes;
  /// Of values and defs of the program.
  std::map<unsigned, std::string> names, entered;
  /// What defines a result, by its name.
  std::map<std::string, std::string> results;
  /// Types of the operation written last; in the end, of the root.
  std::vector<std::string> rootTypes;
  std::string rootResults;
};

} // namespace

std::string Source::text() const {
  std::string text = "func.func @f(", list, types;
  auto add = [&](unsigned v) {
    list += (list.empty() ? "" : ", ") + spell(*this, v);
    types += (types.empty() ? "" : ", ") + std::string(kTypes[values[v].type]);
  };
  for (unsigned i = 0; i != kArguments; ++i)
    text += (i ? ", " : "") + spell(*this, i) + ": " + kTypes[values[i].type];
  text += ") {\n";
  for (unsigned d = 0; d != defs.size(); ++d) {
    list.clear();
    types.clear();
    for (unsigned v : defs[d].operands)
      add(v);
    text += "  %d" + std::to_string(d) + ":" +
            std::to_string(defs[d].types.size()) + " = \"" +
            kSymbols[defs[d].symbol].name + "\"(" + list + ") {";
    list.clear();
    for (auto [name, value] : defs[d].attributes)
      list += std::string(list.empty() ? "" : ", ") + name + " = " +
              kAttributes[value];
    text += list + "} : (" + types + ") -> (";
    list.clear();
    for (unsigned t : defs[d].types)
      list += std::string(list.empty() ? "" : ", ") + kTypes[t];
    text += list + ")\n";
  }
  list.clear();
  types.clear();
  for (unsigned v = kArguments; v != values.size(); ++v)
    add(v);
  return text + "  \"test.end\"(" + list + ") : (" + types + ") -> ()\n}\n";
}

Source luminal::eqsat::test::makeSource(std::mt19937_64 &rng) {
  Random random{rng};
  auto below = [&](unsigned n) { return random.below(n); };
  auto oneIn = [&](unsigned n) { return random.oneIn(n); };
  Source s;
  for (unsigned i = 0; i != kArguments; ++i)
    s.values.push_back({0, i, i % 2});
  std::set<Source::Def> seen;
  for (unsigned i = 0; i != 14; ++i) {
    Source::Def d{below(std::size(kSymbols)), {}, {}, {}};
    const Symbol &is = kSymbols[d.symbol];
    for (unsigned k = 0; k != is.arity; ++k)
      d.operands.push_back(below(s.values.size()));
    // All results of an op as operands, in their order.
    if (const auto &last = s.values.back();
        is.arity == last.index + 1 && last.index && oneIn(2))
      for (unsigned k = 0; k != is.arity; ++k)
        d.operands[k] = s.values.size() - is.arity + k;
    for (unsigned k = 0; k != is.results; ++k)
      d.types.push_back(below(4) % 3);
    if (!is.commutative) // a registered op has its own
      for (char name : {'k', 'm'})
        if (!oneIn(3))
          d.attributes[name] = below(below(2) ? 2 : std::size(kAttributes));
    Source::Def key = d;
    if (is.commutative)
      std::sort(key.operands.begin(), key.operands.end());
    if (!seen.insert(key).second)
      continue;
    for (unsigned k = 0; k != is.results; ++k)
      s.values.push_back({unsigned(s.defs.size()), k, d.types[k]});
    s.defs.push_back(d);
  }
  return s;
}

Pattern luminal::eqsat::test::makePattern(const Source &source, unsigned number,
                                          std::mt19937_64 &rng) {
  return PatternWriter(source, rng).write(number);
}
