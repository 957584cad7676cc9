//===- Expr.h - Integer expressions over symbols and indices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents of dynamic dims, index maps of views, buffer sizes and loop bounds
// are all values of one type. An `Expr` is an immutable integer expression over
//   - symbols (`s77`: a dynamic extent of the program, non-negative unless its
//     range says otherwise), and
//   - dims (`d0`: an index of the iteration space in which the expression is
//     evaluated)
// with the operators +, *, floordiv, mod, max and min. Construction normalizes:
// an expression is a sum of products in a fixed order of terms with constants
// folded, so equal polynomials compare equal and print the same.
// Simplifications that depend on ranges (`(d0 * s + d1) floordiv s` is `d0` if
// d1 < s) are made by `Assumptions::simplify`.
//
// Does not include LLVM: the runtime evaluates the same expressions. An Expr is
// one reference-counted pointer to an interned node: equal normal forms have
// the same address, and a node is freed with the last Expr that refers to it.
// Any thread may create, copy and destroy Exprs; concurrent accesses to one
// Expr object need synchronization, as for an int.
//
// Arithmetic is exact. If a coefficient or constant overflows int64_t at
// construction, or the tree exceeds its size limits, the result is the
// undefined expression (printed `1 floordiv 0`). It absorbs every operation and
// has no value and no bounds.
//
// Grammar of the text form (`str` and `parse` are inverse on normal forms):
//   expr   := term (('+' | '-') term)*
//   term   := factor (('*' | 'floordiv' | 'ceildiv' | 'mod') factor)*
//   factor := integer | name | '-' factor | '(' expr ')'
//           | ('max' | 'min') '(' expr ',' expr ')'
// A name `d` followed by digits is a dim; every other name is a symbol.
// floordiv and mod round toward minus infinity (as Python's // and %);
// ceildiv(a, b) is parsed as -((-a) floordiv b).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_EXPR_H
#define LUMINAL_SUPPORT_EXPR_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal {

class Expr {
public:
  enum class Kind : uint8_t {
    Constant,
    Symbol,
    Dim,
    Add,
    Mul,
    FloorDiv,
    Mod,
    Max,
    Min
  };
  struct Node;

  /// The constant 0.
  Expr();
  /*implicit*/ Expr(int64_t value);

  Expr(const Expr &other) noexcept : node(other.node) { retain(node); }
  /// A moved-from Expr may only be assigned to or destroyed.
  Expr(Expr &&other) noexcept : node(std::exchange(other.node, nullptr)) {}
  Expr &operator=(const Expr &other) noexcept {
    // Retain before release: `other` may be an operand of this expression.
    Expr copy(other);
    std::swap(node, copy.node);
    return *this;
  }
  Expr &operator=(Expr &&other) noexcept {
    Expr taken(std::move(other));
    std::swap(node, taken.node);
    return *this;
  }
  ~Expr() {
    if (node)
      release(node);
  }
  /// Number of live nodes in the process, excluding the constants that are
  /// never freed. For tests of lifetimes.
  static size_t countNodes();

  static Expr symbol(std::string_view name);
  static Expr dim(unsigned index);
  static Expr floorDiv(const Expr &a, const Expr &b);
  static Expr ceilDiv(const Expr &a, const Expr &b);
  static Expr mod(const Expr &a, const Expr &b);
  static Expr max(const Expr &a, const Expr &b);
  static Expr min(const Expr &a, const Expr &b);

  friend Expr operator+(const Expr &a, const Expr &b);
  friend Expr operator-(const Expr &a, const Expr &b);
  friend Expr operator*(const Expr &a, const Expr &b);
  Expr operator-() const;

  /// Equality of normal forms: true proves that the values are equal, false
  /// proves nothing (see Assumptions::equal).
  bool operator==(const Expr &other) const { return node == other.node; }
  bool operator!=(const Expr &other) const { return !(*this == other); }
  /// A total order by content, not by address: sorts terms and keeps output
  /// deterministic.
  static int compare(const Expr &a, const Expr &b);
  bool operator<(const Expr &other) const { return compare(*this, other) < 0; }
  size_t hash() const;

  Kind kind() const;
  /// Whether this is the undefined expression (overflow at construction).
  bool isUndefined() const;
  std::optional<int64_t> asConstant() const;
  bool isConstant(int64_t value) const { return asConstant() == value; }
  /// The name of a symbol or the number of a dim; absent for all other
  /// expressions. The name is valid while an Expr of this symbol lives.
  std::optional<std::string_view> asSymbol() const &;
  std::optional<std::string_view> asSymbol() const && = delete;
  std::optional<unsigned> asDim() const;
  /// The terms of an Add, the factors of a Mul (a constant factor first), the
  /// two operands of any other operator; empty for leaves.
  const std::vector<Expr> &operands() const &;
  std::vector<Expr> operands() const &&;

  /// Whether any dim, or this dim, occurs in the expression.
  bool hasDims() const;
  bool usesDim(unsigned index) const;
  bool usesSymbol(std::string_view name) const;
  /// Adds the symbols that occur; keeps `symbols` sorted and unique.
  void collectSymbols(std::vector<std::string> &symbols) const;

  /// Replaces dim i by dims[i]; `dims` must cover every dim that occurs.
  Expr substituteDims(const std::vector<Expr> &dims) const;
  /// Replaces leaves: `fn` returns the replacement of a symbol or dim, or
  /// std::nullopt to keep it.
  Expr substitute(
      const std::function<std::optional<Expr>(const Expr &leaf)> &fn) const;

  /// Writes this as `stride * d_index + rest`, with `stride` and `rest` free of
  /// d_index (stride 0 if the dim does not occur). std::nullopt if the dim
  /// occurs under floordiv, mod, max or min, or in a higher power.
  struct Linear;
  std::optional<Linear> linearIn(unsigned index) const;

  /// The value under given dims and symbols; std::nullopt if a name is unknown,
  /// on overflow and on division by zero.
  using SymbolValues = std::function<std::optional<int64_t>(std::string_view)>;
  std::optional<int64_t> evaluate(const SymbolValues &symbols,
                                  const std::vector<int64_t> &dims = {}) const;

  /// Whether a name denotes a dim (`d` and digits); whether it can denote a
  /// symbol (neither a dim nor a keyword of the grammar).
  static bool isDimName(std::string_view name);
  static bool isSymbolName(std::string_view name);

  std::string str() const;
  /// Parses the text form, with limits on depth, length and work. On failure
  /// returns std::nullopt and sets *error to the reason.
  static std::optional<Expr> parse(std::string_view text,
                                   std::string *error = nullptr);

private:
  /// The reference count of a node. A count of kForever or more is no longer
  /// updated, and the node is never freed.
  struct Counted {
    static constexpr uint32_t kForever = uint32_t(1) << 31;
    std::atomic<uint32_t> references{0};
  };
  static void retain(Counted *node) {
    // The Expr being copied keeps the node alive during the call.
    if (node &&
        node->references.load(std::memory_order_relaxed) < Counted::kForever)
      node->references.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(Counted *node);

  /// A node whose reference is passed from the caller to the Expr.
  struct Interned {
    Counted *node;
  };
  explicit Expr(Interned interned) : node(interned.node) {}
  friend struct ExprBuilder;
  Counted *node;
};

struct Expr::Linear {
  Expr stride;
  Expr rest;
};

/// Inclusive bounds of a symbol; hi is absent where the symbol is unbounded.
struct SymbolRange {
  int64_t lo = 0;
  std::optional<int64_t> hi;
  bool operator==(const SymbolRange &) const = default;
};

/// Facts under which expressions are evaluated: ranges of symbols, and extents
/// of dims (0 <= d_i < extent_i). An index expression is only evaluated if its
/// iteration space is not empty, so extents given to Assumptions count as at
/// least 1. Callers that compare *sizes* must create Assumptions without dims.
class Assumptions {
public:
  Assumptions() = default;
  explicit Assumptions(std::map<std::string, SymbolRange> symbols,
                       std::vector<Expr> extents = {})
      : symbols(std::move(symbols)), extents(std::move(extents)) {}

  const std::vector<Expr> &getExtents() const { return extents; }
  const std::map<std::string, SymbolRange> &getSymbols() const {
    return symbols;
  }

  /// An equal expression without the floordiv, mod, max and min that the facts
  /// decide, and with (x floordiv c) * c + x mod c combined into x. Idempotent.
  /// It is equal wherever every symbol and dim is in range; a division by a
  /// value that may be zero is kept, so that its error is not lost.
  Expr simplify(const Expr &e) const;

  /// Yes, no or unknown (std::nullopt). `equal` is yes or no only if that holds
  /// for *all* values in range.
  std::optional<bool> equal(const Expr &a, const Expr &b) const;
  /// True only if proved for all values in range.
  bool provablyNonNegative(const Expr &e) const;
  bool provablyLess(const Expr &a, const Expr &b) const {
    return provablyNonNegative(b - a - Expr(1));
  }
  bool provablyLessEqual(const Expr &a, const Expr &b) const {
    return provablyNonNegative(b - a);
  }
  /// Constant bounds that hold for all values in range; absent if none is
  /// found.
  std::optional<int64_t> lowerBound(const Expr &e) const;
  std::optional<int64_t> upperBound(const Expr &e) const;

private:
  std::map<std::string, SymbolRange> symbols;
  std::vector<Expr> extents;
};

/// Product of the extents; 1 if there are none.
Expr product(const std::vector<Expr> &extents);
/// Row-major linear index ((i0 * e1 + i1) * e2 + i2) ...; `index` and `extents`
/// must have the same length.
Expr linearize(const std::vector<Expr> &index,
               const std::vector<Expr> &extents);
/// The inverse: the indices of the row-major position `linear`. The first index
/// has no mod.
std::vector<Expr> delinearize(const Expr &linear,
                              const std::vector<Expr> &extents);

} // namespace luminal

#endif // LUMINAL_SUPPORT_EXPR_H
