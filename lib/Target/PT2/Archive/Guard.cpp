//===- Guard.cpp - Parses guards into conditions --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive descent parser for the Python expressions that torch prints
// guards in, by precedence from `or` down to atoms. Ops and comparisons are
// those of SymExpr.
//
//===----------------------------------------------------------------------===//

#include "Guard.h"
#include "Scanner.h"
#include "SymExpr.h"
#include <algorithm>
#include <optional>

using namespace luminal;
using namespace luminal::pt2;

namespace {
constexpr size_t kMaxLength = 1 << 16;
constexpr unsigned kMaxDepth = 64;

/// A number, or a condition that is true iff its expression is not negative.
struct Term {
  Fraction number;
  std::optional<Expr> condition;
};

class Parser : Scanner {
public:
  Parser(std::string_view text,
         const std::function<Result<Expr>(const GuardSource &)> &lookup)
      : Scanner(text), lookup(lookup) {}

  Result<Expr> parse() {
    LUMINAL_TRY(term, disjunction(0));
    LUMINAL_CHECK(end());
    return asCondition(term);
  }

private:
  Result<Expr> asCondition(const Term &term) const {
    if (!term.condition)
      return fail("a condition before this");
    return *term.condition;
  }
  Result<Fraction> asNumber(const Term &term) const {
    if (term.condition)
      return fail("a number before this");
    return term.number;
  }
  /// Applies an op that is only defined for integers.
  Result<Term> applyWhole(const std::string &op,
                          const std::vector<Fraction> &args) const {
    for (const Fraction &arg : args)
      if (!arg.isInteger())
        return fail("integers only before this");
    LUMINAL_TRY(value, applySymOp(op, args));
    return Term{value, {}};
  }

  Result<Term> disjunction(unsigned depth) {
    if (depth > kMaxDepth)
      return Error("is nested deeper than 64");
    LUMINAL_TRY(first, conjunction(depth));
    while (eatWord("or")) {
      LUMINAL_TRY(second, conjunction(depth));
      LUMINAL_TRY(a, asCondition(first));
      LUMINAL_TRY(b, asCondition(second));
      first = Term{{}, Expr::max(a, b)};
    }
    return first;
  }

  Result<Term> conjunction(unsigned depth) {
    LUMINAL_TRY(first, inversion(depth));
    while (eatWord("and")) {
      LUMINAL_TRY(second, inversion(depth));
      LUMINAL_TRY(a, asCondition(first));
      LUMINAL_TRY(b, asCondition(second));
      first = Term{{}, Expr::min(a, b)};
    }
    return first;
  }

  Result<Term> inversion(unsigned depth) {
    bool inverted = false;
    while (eatWord("not"))
      inverted = !inverted;
    LUMINAL_TRY(term, comparison(depth));
    if (!inverted)
      return term;
    LUMINAL_TRY(condition, asCondition(term));
    return Term{{}, Expr(-1) - condition};
  }

  Result<Term> comparison(unsigned depth) {
    LUMINAL_TRY(left, sum(depth));
    static constexpr std::pair<std::string_view, std::string_view> ops[] = {
        {"==", "Equality"},         {"!=", "Unequality"},
        {">=", "GreaterThan"},      {"<=", "LessThan"},
        {">", "StrictGreaterThan"}, {"<", "StrictLessThan"}};
    for (auto [token, op] : ops) {
      if (!eat(token))
        continue;
      LUMINAL_TRY(right, sum(depth));
      LUMINAL_TRY(a, asNumber(left));
      LUMINAL_TRY(b, asNumber(right));
      LUMINAL_TRY(holds, compareSym(std::string(op), {a, b}));
      return Term{{}, holds};
    }
    return left;
  }

  Result<Term> sum(unsigned depth) {
    LUMINAL_TRY(first, product(depth));
    while (true) {
      bool minus = eat("-");
      if (!minus && !eat("+"))
        return first;
      LUMINAL_TRY(second, product(depth));
      LUMINAL_TRY(a, asNumber(first));
      LUMINAL_TRY(b, asNumber(second));
      if (minus)
        b.num = -b.num;
      LUMINAL_TRY(value, applySymOp("Add", {a, b}));
      first = Term{value, {}};
    }
  }

  Result<Term> product(unsigned depth) {
    LUMINAL_TRY(first, factor(depth));
    while (true) {
      std::string op = eat("//")  ? "FloorDiv"
                       : eat("*") ? "Mul"
                       : eat("/") ? "IntTrueDiv"
                       : eat("%") ? "PythonMod"
                                  : "";
      if (op.empty())
        return first;
      LUMINAL_TRY(second, factor(depth));
      LUMINAL_TRY(a, asNumber(first));
      LUMINAL_TRY(b, asNumber(second));
      if (op == "PythonMod") {
        LUMINAL_TRY(rest, applyWhole(op, {a, b}));
        first = rest;
        continue;
      }
      LUMINAL_TRY(value, applySymOp(op, {a, b}));
      first = Term{value, {}};
    }
  }

  /// A sign binds weaker than a power: -2**2 is -4.
  Result<Term> factor(unsigned depth) {
    bool negative = false;
    while (eat("-"))
      negative = !negative;
    LUMINAL_TRY(term, atom(depth));
    if (eat("**")) {
      LUMINAL_TRY(exponent, atom(depth));
      LUMINAL_TRY(base, asNumber(term));
      LUMINAL_TRY(power, asNumber(exponent));
      LUMINAL_TRY(value, applySymOp("Pow", {base, power}));
      term = Term{value, {}};
    }
    if (!negative)
      return term;
    LUMINAL_TRY(value, asNumber(term));
    value.num = -value.num;
    return Term{value, {}};
  }

  Result<Term> atom(unsigned depth) {
    skip();
    if (eat("(")) {
      LUMINAL_TRY(inside, disjunction(depth + 1));
      LUMINAL_CHECK(need(")"));
      return inside;
    }
    if (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
      return number();
    size_t begin = at;
    std::string_view id = name();
    if (id == "L")
      return source(begin);
    if (id == "True" || id == "False")
      return Term{{}, Expr(id == "True" ? 0 : -1)};
    if (id == "math" && eat("."))
      id = name();
    LUMINAL_CHECK(need("("));
    std::vector<Fraction> args;
    do {
      LUMINAL_TRY(arg, disjunction(depth + 1));
      LUMINAL_TRY(value, asNumber(arg));
      args.push_back(value);
    } while (eat(","));
    LUMINAL_CHECK(need(")"));
    return call(id, args);
  }

  Result<Term> call(std::string_view function,
                    const std::vector<Fraction> &args) const {
    if (function == "min" || function == "max")
      return applyWhole(function == "min" ? "Min" : "Max", args);
    if (args.size() == 1 && function == "float")
      return Term{args[0], {}};
    if (args.size() == 1 && (function == "trunc" || function == "int"))
      return Term{{truncate(args[0], Assumptions())}, {}};
    if (args.size() == 1 && (function == "floor" || function == "ceil")) {
      LUMINAL_TRY(value,
                  applySymOp(function == "floor" ? "floor" : "ceiling", args));
      return Term{value, {}};
    }
    return Error("uses '" + std::string(function) + "' of " +
                 std::to_string(args.size()) + " operands, which is not known");
  }

  /// Decimals are exact: 1.2 is 12 / 10.
  Result<Term> number() {
    LUMINAL_TRY(whole, integer());
    Fraction value{Expr(whole)};
    if (at < text.size() && text[at] == '.') {
      size_t begin = ++at;
      while (at < text.size() && text[at] == '0')
        ++at;
      int64_t decimals = 0;
      if (at < text.size() &&
          std::isdigit(static_cast<unsigned char>(text[at]))) {
        LUMINAL_TRY(rest, integer());
        decimals = rest;
      }
      if (at - begin > 15)
        return Error("has a number of more than 15 decimals");
      int64_t unit = 1;
      for (size_t i = begin; i < at; ++i)
        unit *= 10;
      if (decimals)
        value = {Expr(whole) * Expr(unit) + Expr(decimals), Expr(unit)};
    }
    return Term{value, {}};
  }

  /// Parses what follows `L`: the path of an argument, then its property unless
  /// it is an int.
  Result<Term> source(size_t begin) {
    GuardSource result;
    while (true) {
      std::string key;
      if (eat("['")) {
        size_t end = text.find('\'', at);
        if (end == std::string_view::npos)
          return fail("a quoted key");
        key = text.substr(at, end - at);
        at = end + 1;
        LUMINAL_CHECK(need("]"));
      } else if (eat("[")) {
        LUMINAL_TRY(index, integer());
        key = std::to_string(index);
        LUMINAL_CHECK(need("]"));
      } else if (eat(".")) {
        key = name();
        if (eat("()")) {
          result.property = key;
          break;
        }
      } else {
        break;
      }
      // The name that torch gives to the graph's input.
      for (char &c : key)
        c = isNameChar(c)
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '_';
      result.name += (result.name.empty() ? "" : "_") + key;
      result.path = text.substr(begin, at - begin);
    }
    if (result.name.empty())
      return fail("the key of an argument");
    if (result.property != "storage_offset" && !result.property.empty()) {
      if (result.property != "size" && result.property != "stride")
        return Error("reads '" + result.property + "()', which is not known");
      LUMINAL_CHECK(need("["));
      LUMINAL_TRY(dim, integer());
      result.dim = dim;
      LUMINAL_CHECK(need("]"));
    }
    LUMINAL_TRY(value, lookup(result));
    return Term{{value}, {}};
  }

  const std::function<Result<Expr>(const GuardSource &)> &lookup;
};
} // namespace

Result<Expr> pt2::parseGuard(
    std::string_view text,
    const std::function<Result<Expr>(const GuardSource &)> &lookup) {
  if (text.size() > kMaxLength)
    return Error("is longer than 65536 characters");
  return Parser(text, lookup).parse();
}
