//===- SymExpr.cpp - Parses SymPy's srepr into expressions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A condition is parsed into an expression that is not negative iff it holds:
// `a >= b` is a - b, `p and q` is the minimum of both. So conditions need no
// other representation than expressions.
//
//===----------------------------------------------------------------------===//

#include "SymExpr.h"
#include "Scanner.h"

using namespace luminal;
using namespace luminal::pt2;

namespace {
constexpr size_t kMaxLength = 1 << 16;
constexpr unsigned kMaxDepth = 128;
constexpr int64_t kMaxPower = 8;

class Parser : Scanner {
public:
  explicit Parser(std::string_view text) : Scanner(text) {}

  Result<Expr> readInteger() {
    LUMINAL_TRY(value, parse(0));
    LUMINAL_CHECK(end());
    return value.floor();
  }

  Result<Expr> readCondition() {
    readsFloats = true;
    LUMINAL_TRY(value, condition(0));
    LUMINAL_CHECK(end());
    return value;
  }

private:
  /// `Float('3.5', precision=53)`, after the opening parenthesis.
  Result<Fraction> real() {
    if (!eat("'"))
      return fail("a quoted number");
    while (!eat("'"))
      if (!eat("+") && !eat("-") && !eat(".") && name().empty())
        return fail("a quoted number");
    if (eat(",") && (name() != "precision" || !eat("=") || !integer()))
      return fail("a precision");
    if (!eat(")"))
      return fail("')'");
    return Fraction{undefined()};
  }

  /// The result of anything that is not an integer expression.
  static Expr undefined() { return Expr::floorDiv(Expr(1), Expr(0)); }
  static bool isOnFloats(std::string_view op) {
    return op == "ToFloat" || op == "FloatTrueDiv" || op == "FloatPow" ||
           op == "TruncToFloat" || op == "RoundDecimal" ||
           op.starts_with("OpaqueUnaryFn_");
  }

  Result<Fraction> symbol() {
    if (!eat("'"))
      return fail("a quoted name");
    std::string_view id = name();
    if (id.empty() || std::isdigit(static_cast<unsigned char>(id[0])) ||
        !eat("'"))
      return fail("a name of letters, digits and underscores");
    // In the text form of expressions, `d0` is an index.
    if (id.size() > 1 && id[0] == 'd' &&
        id.find_first_not_of("0123456789", 1) == std::string_view::npos)
      return fail("another name than d and digits");
    bool isSize = false;
    while (eat(",")) {
      std::string_view key = name();
      if (key.empty() || !eat("="))
        return fail("an assumption like integer=True");
      std::string_view value = name();
      if (value.empty())
        return fail("an assumption like integer=True");
      isSize |= (key == "positive" || key == "nonnegative") && value == "True";
    }
    if (!eat(")"))
      return fail("')'");
    symbols[std::string(id)] = {isSize ? 0 : INT64_MIN, std::nullopt};
    return Fraction{Expr::symbol(id)};
  }

  Result<Fraction> parse(unsigned depth) {
    if (depth > kMaxDepth)
      return Error("is nested deeper than 128");
    skip();
    std::string op(name());
    if (op.empty() || !eat("("))
      return fail("a name and '('");
    if (op == "Symbol")
      return symbol();
    if (op == "Integer") {
      LUMINAL_TRY(value, integer());
      if (!eat(")"))
        return fail("')'");
      return Fraction{Expr(value)};
    }
    if (op == "Rational") {
      LUMINAL_TRY(num, integer());
      if (!eat(","))
        return fail("','");
      LUMINAL_TRY(den, integer());
      if (den <= 0 || !eat(")"))
        return fail("a positive denominator and ')'");
      return Fraction{Expr(num), Expr(den)};
    }
    if (op == "Piecewise")
      return piecewise(depth);
    if (readsFloats && op == "Float")
      return real();
    LUMINAL_TRY(args, operands(depth));
    if (readsFloats && isOnFloats(op))
      return Fraction{undefined()};
    if (op == "TruncToInt" && args.size() == 1)
      return Fraction{truncate(args[0], Assumptions(symbols))};
    return applySymOp(op, args);
  }

  /// After an opening parenthesis: a list of integers, and the closing
  /// parenthesis.
  Result<std::vector<Fraction>> operands(unsigned depth) {
    std::vector<Fraction> args;
    do {
      LUMINAL_TRY(arg, parse(depth + 1));
      args.push_back(arg);
    } while (eat(","));
    if (!eat(")"))
      return fail("')'");
    return args;
  }

  /// Cases in order, the last of which always holds.
  Result<Fraction> piecewise(unsigned depth) {
    std::vector<std::pair<Expr, Expr>> cases;
    do {
      if (name() != "ExprCondPair" || !eat("("))
        return fail("'ExprCondPair('");
      LUMINAL_TRY(value, parse(depth + 1));
      if (!eat(","))
        return fail("','");
      LUMINAL_TRY(holds, condition(depth + 1));
      if (!eat(")"))
        return fail("')'");
      cases.emplace_back(value.floor(), holds);
    } while (eat(","));
    if (!eat(")"))
      return fail("')'");
    if (cases.back().second != Expr(0))
      return Error("has cases of which the last is not 'true'");
    Expr result = cases.back().first;
    cases.pop_back();
    for (; !cases.empty(); cases.pop_back()) {
      const auto &[value, holds] = cases.back();
      Expr one = Expr::min(Expr(1), Expr::max(Expr(0), holds + Expr(1)));
      result = one * value + (Expr(1) - one) * result;
    }
    return Fraction{result};
  }

  Result<Expr> condition(unsigned depth) {
    if (depth > kMaxDepth)
      return Error("is nested deeper than 128");
    std::string op(name());
    if (op == "true" || op == "false")
      return Expr(op == "true" ? 0 : -1);
    if (op.empty() || !eat("("))
      return fail("a condition");
    if (op == "And" || op == "Or" || op == "Not") {
      LUMINAL_TRY(result, condition(depth + 1));
      if (op == "Not")
        result = Expr(-1) - result;
      else
        while (eat(",")) {
          LUMINAL_TRY(next, condition(depth + 1));
          result =
              op == "And" ? Expr::min(result, next) : Expr::max(result, next);
        }
      if (!eat(")"))
        return fail("')'");
      return result;
    }
    LUMINAL_TRY(args, operands(depth));
    return compareSym(op, args);
  }

  /// Set if the text contains floats or functions of them, which are parsed to
  /// the undefined expression: the nodes that compute such a condition
  /// represent it.
  bool readsFloats = false;
  /// The assumptions in the text about each symbol.
  std::map<std::string, SymbolRange> symbols;
};
} // namespace

Result<Expr> pt2::compareSym(const std::string &op,
                             const std::vector<Fraction> &args) {
  for (const Fraction &arg : args)
    if (arg.den.asConstant().value_or(0) <= 0)
      return Error("compares a fraction whose denominator is not a positive "
                   "number");
  if (args.size() == 2) {
    Expr over = args[0].num * args[1].den - args[1].num * args[0].den;
    if (op == "GreaterThan")
      return over;
    if (op == "LessThan")
      return -over;
    if (op == "StrictGreaterThan")
      return over - Expr(1);
    if (op == "StrictLessThan")
      return -over - Expr(1);
    if (op == "Equality")
      return Expr::min(over, -over);
    if (op == "Unequality")
      return Expr::max(over, -over) - Expr(1);
  }
  return Error("uses '" + op + "' of " + std::to_string(args.size()) +
               " operands as a condition, which is not known");
}

Expr pt2::truncate(const Fraction &value, const Assumptions &symbols) {
  Expr floor = value.floor();
  if (value.isInteger() || symbols.provablyNonNegative(floor))
    return floor;
  return Expr::max(floor, Expr(0)) +
         Expr::min(Expr::ceilDiv(value.num, value.den), Expr(0));
}

Result<Fraction> pt2::applySymOp(const std::string &op,
                                 const std::vector<Fraction> &args) {
  auto sum = [](const Fraction &a, const Fraction &b) {
    if (a.den == b.den)
      return Fraction{a.num + b.num, a.den};
    return Fraction{a.num * b.den + b.num * a.den, a.den * b.den};
  };
  Fraction result = args[0];
  if (op == "Add") {
    for (size_t i = 1; i < args.size(); ++i)
      result = sum(result, args[i]);
    return result;
  }
  if (op == "Mul") {
    for (size_t i = 1; i < args.size(); ++i)
      result = {result.num * args[i].num, result.den * args[i].den};
    return result;
  }
  if (op == "Max" || op == "Min") {
    Expr e = args[0].floor();
    for (size_t i = 1; i < args.size(); ++i)
      e = op == "Max" ? Expr::max(e, args[i].floor())
                      : Expr::min(e, args[i].floor());
    return Fraction{e};
  }
  if (args.size() == 1) {
    if (op == "CeilToInt" || op == "ceiling")
      return Fraction{Expr::ceilDiv(result.num, result.den)};
    if (op == "FloorToInt" || op == "floor")
      return Fraction{Expr::floorDiv(result.num, result.den)};
  }
  if (args.size() == 2) {
    const Fraction &b = args[1];
    if (op == "FloorDiv")
      return Fraction{Expr::floorDiv(result.num * b.den, result.den * b.num)};
    if (op == "CeilDiv")
      return Fraction{Expr::ceilDiv(result.num * b.den, result.den * b.num)};
    if (op == "CleanDiv" || op == "IntTrueDiv")
      return Fraction{result.num * b.den, result.den * b.num};
    if (op == "Mod" || op == "PythonMod")
      return Fraction{Expr::mod(result.floor(), b.floor())};
    if (op == "Pow" || op == "PowByNatural") {
      auto n = b.floor().asConstant();
      if (n == -1)
        return Fraction{result.den, result.num};
      if (!n || *n < 0 || *n > kMaxPower)
        return Error("has a power other than -1 and 0 to 8");
      Fraction power{Expr(1)};
      for (int64_t i = 0; i < *n; ++i)
        power = {power.num * result.num, power.den * result.den};
      return power;
    }
  }
  if (op == "ModularIndexing" && args.size() == 3)
    return Fraction{Expr::mod(Expr::floorDiv(args[0].floor(), args[1].floor()),
                              args[2].floor())};
  return Error("uses '" + op + "' of " + std::to_string(args.size()) +
               " operands, which is not known");
}

static Result<Expr> read(std::string_view text,
                         Result<Expr> (Parser::*parse)()) {
  if (text.size() > kMaxLength)
    return Error("an expression is longer than 65536 characters");
  Result<Expr> result = (Parser(text).*parse)();
  if (!result)
    return Error("expression '" + std::string(text.substr(0, 80)) + "' " +
                 result.error().message);
  return result;
}

Result<Expr> pt2::parseSymExpr(std::string_view text) {
  return read(text, &Parser::readInteger);
}

Result<Expr> pt2::parseSymCondition(std::string_view text) {
  return read(text, &Parser::readCondition);
}
