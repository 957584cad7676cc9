//===- ExprParser.cpp - The text form of integer expressions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExprDetail.h"

using namespace luminal;

// Limits for untrusted text; real programs stay far below them.
static constexpr size_t kMaxLength = 1 << 16;
static constexpr unsigned kMaxParseDepth = 200;
static constexpr uint64_t kMaxWork = 1 << 20;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void print(const Expr &e, std::string &out);

/// Prints `e` as a factor, or as an operand of floordiv or mod.
static void printFactor(const Expr &e, std::string &out) {
  bool bare = e.operands().empty() || e.kind() == Expr::Kind::Max ||
              e.kind() == Expr::Kind::Min;
  if (!bare)
    out += '(';
  print(e, out);
  if (!bare)
    out += ')';
}

/// Prints a product without its coefficient. Unexpanded sums are parenthesized
/// as a group, so that parsing multiplies them by each other first.
static void printFactors(const std::vector<Expr> &factors, std::string &out) {
  size_t simple = 0;
  while (simple < factors.size() && factors[simple].kind() != Expr::Kind::Add)
    ++simple;
  bool group = simple != 0 && factors.size() - simple > 1;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (i)
      out += " * ";
    if (i == simple && group)
      out += '(';
    printFactor(factors[i], out);
  }
  if (group)
    out += ')';
}

/// Prints a term with its coefficient.
static void printTerm(const Term &term, std::string &out) {
  if (term.factors.empty()) {
    out += std::to_string(term.coefficient);
    return;
  }
  if (term.coefficient == 1 && term.factors.size() == 1) {
    print(term.factors.front(), out);
    return;
  }
  bool sums =
      term.factors.size() > 1 && term.factors.front().kind() == Expr::Kind::Add;
  if (term.coefficient == -1)
    out += '-';
  else if (term.coefficient != 1)
    out += std::to_string(term.coefficient) + " * ";
  if (sums && term.coefficient != 1) {
    out += '(';
    printFactors(term.factors, out);
    out += ')';
  } else {
    printFactors(term.factors, out);
  }
}

static void print(const Expr &e, std::string &out) {
  switch (e.kind()) {
  case Expr::Kind::Constant:
    out += std::to_string(*e.asConstant());
    return;
  case Expr::Kind::Symbol:
    out += *e.asSymbol();
    return;
  case Expr::Kind::Dim:
    out += 'd' + std::to_string(*e.asDim());
    return;
  case Expr::Kind::Mul:
    printTerm(ExprBuilder::terms(e).front(), out);
    return;
  case Expr::Kind::Add: {
    bool first = true;
    for (Term &term : ExprBuilder::terms(e)) {
      // INT64_MIN keeps its sign, because its magnitude is not an int64_t.
      bool minus =
          !first && term.coefficient < 0 && term.coefficient != INT64_MIN;
      if (!first)
        out += minus ? " - " : " + ";
      if (minus)
        term.coefficient = -term.coefficient;
      printTerm(term, out);
      first = false;
    }
    return;
  }
  case Expr::Kind::FloorDiv:
  case Expr::Kind::Mod:
    printFactor(e.operands()[0], out);
    out += e.kind() == Expr::Kind::Mod ? " mod " : " floordiv ";
    printFactor(e.operands()[1], out);
    return;
  case Expr::Kind::Max:
  case Expr::Kind::Min:
    out += e.kind() == Expr::Kind::Max ? "max(" : "min(";
    print(e.operands()[0], out);
    out += ", ";
    print(e.operands()[1], out);
    out += ')';
    return;
  }
}

std::string Expr::str() const {
  std::string out;
  print(*this, out);
  return out;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::optional<Expr> parse() {
    if (text.size() > kMaxLength)
      return fail("expression is longer than " + std::to_string(kMaxLength) +
                  " characters");
    std::optional<Expr> e = parseSum(0);
    if (!e)
      return std::nullopt;
    skipSpace();
    if (position != text.size())
      return fail("expected an operator or the end of the expression" + at());
    return e;
  }

  std::string error;

private:
  static bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool isDigit(char c) { return c >= '0' && c <= '9'; }
  static bool isNameCharacter(char c) {
    return isLetter(c) || isDigit(c) || c == '.' || c == '$';
  }

  std::nullopt_t fail(std::string message) {
    if (error.empty())
      error = std::move(message);
    return std::nullopt;
  }

  std::string at() const {
    if (position >= text.size())
      return ", found the end";
    return ", found '" + std::string(text.substr(position, 16)) + "'";
  }

  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\t' ||
            text[position] == '\n'))
      ++position;
  }

  bool consume(char c) {
    skipSpace();
    if (position >= text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  std::string_view peekName() {
    skipSpace();
    if (position >= text.size() || !isLetter(text[position]))
      return {};
    size_t end = position;
    while (end < text.size() && isNameCharacter(text[end]))
      ++end;
    return text.substr(position, end - position);
  }

  /// Rejects undefined expressions (overflow), and expressions that grow beyond
  /// the work limit.
  std::optional<Expr> checked(const Expr &e) {
    if (e.isUndefined())
      return fail("the expression overflows 64 bits");
    if (ExprBuilder::depth(e) > 2 * kMaxParseDepth)
      return fail("expression is nested too deeply");
    work += ExprBuilder::weight(e);
    if (work > kMaxWork)
      return fail("expression is too large");
    return e;
  }

  std::optional<Expr> parseSum(unsigned depth) {
    if (depth > kMaxParseDepth)
      return fail("expression is nested too deeply");
    // Terms are summed once, at the end, so a long sum takes linear time.
    std::vector<Term> terms;
    bool minus = false;
    do {
      std::optional<Expr> term = parseTerm(depth);
      if (!term)
        return std::nullopt;
      if (minus)
        term = checked(-*term);
      if (!term)
        return std::nullopt;
      std::vector<Term> more = ExprBuilder::terms(*term);
      terms.insert(terms.end(), more.begin(), more.end());
      minus = false;
      if (consume('+'))
        continue;
      minus = consume('-');
      if (!minus)
        break;
    } while (true);
    return checked(ExprBuilder::sum(std::move(terms)));
  }

  std::optional<Expr> parseTerm(unsigned depth) {
    std::optional<Expr> result = parseFactor(depth);
    while (result) {
      std::string_view name;
      if (!consume('*')) {
        name = peekName();
        if (name != "floordiv" && name != "ceildiv" && name != "mod")
          return result;
        position += name.size();
      }
      std::optional<Expr> factor = parseFactor(depth);
      if (!factor)
        return std::nullopt;
      if (!name.empty() && factor->isConstant(0))
        return fail("a divisor of the expression is 0");
      if (name.empty()) {
        work += uint64_t(ExprBuilder::weight(*result)) *
                ExprBuilder::weight(*factor);
        if (work > kMaxWork)
          return fail("expression is too large");
        result = *result * *factor;
      } else if (name == "mod") {
        result = Expr::mod(*result, *factor);
      } else {
        result = name == "floordiv" ? Expr::floorDiv(*result, *factor)
                                    : Expr::ceilDiv(*result, *factor);
      }
      result = checked(*result);
    }
    return std::nullopt;
  }

  std::optional<Expr> parseInteger(bool negative) {
    // Accumulate the negated value, which can represent INT64_MIN.
    int64_t value = 0;
    for (; position < text.size() && isDigit(text[position]); ++position)
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_sub_overflow(value, int64_t(text[position] - '0'), &value))
        return fail("an integer of the expression overflows 64 bits");
    if (!negative && value == INT64_MIN)
      return fail("an integer of the expression overflows 64 bits");
    return Expr(negative ? value : -value);
  }

  std::optional<Expr> parseFactor(unsigned depth) {
    bool negative = false;
    while (consume('-'))
      negative = !negative;
    skipSpace();
    if (position < text.size() && isDigit(text[position]))
      return parseInteger(negative);
    std::optional<Expr> result;
    if (consume('(')) {
      result = parseSum(depth + 1);
      if (result && !consume(')'))
        return fail("expected ')'" + at());
    } else {
      std::string_view name = peekName();
      if (name.empty())
        return fail("expected an integer, a name or '('" + at());
      result = parseName(name, depth);
    }
    return result && negative ? checked(-*result) : result;
  }

  std::optional<Expr> parseName(std::string_view name, unsigned depth) {
    if (name == "floordiv" || name == "ceildiv" || name == "mod")
      return fail("expected an integer, a name or '('" + at());
    position += name.size();
    if (name == "max" || name == "min") {
      if (!consume('('))
        return fail("expected '('" + at());
      std::optional<Expr> a = parseSum(depth + 1);
      if (!a)
        return std::nullopt;
      if (!consume(','))
        return fail("expected ','" + at());
      std::optional<Expr> b = parseSum(depth + 1);
      if (!b)
        return std::nullopt;
      if (!consume(')'))
        return fail("expected ')'" + at());
      return checked(name == "max" ? Expr::max(*a, *b) : Expr::min(*a, *b));
    }
    if (!Expr::isDimName(name))
      return Expr::symbol(name);
    uint64_t index = 0;
    for (char c : name.substr(1)) {
      index = index * 10 + static_cast<uint64_t>(c - '0');
      if (index > INT32_MAX)
        return fail("the index of a dim is out of range");
    }
    return Expr::dim(static_cast<unsigned>(index));
  }

  std::string_view text;
  size_t position = 0;
  uint64_t work = 0;
};
} // namespace

bool Expr::isDimName(std::string_view name) {
  if (name.size() < 2 || name[0] != 'd')
    return false;
  for (char c : name.substr(1))
    if (c < '0' || c > '9')
      return false;
  return true;
}

bool Expr::isSymbolName(std::string_view name) {
  std::optional<Expr> e = parse(name);
  return e && e->asSymbol() == name;
}

std::optional<Expr> Expr::parse(std::string_view text, std::string *error) {
  Parser parser(text);
  std::optional<Expr> e = parser.parse();
  if (!e && error)
    *error = parser.error;
  return e;
}
