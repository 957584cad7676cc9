//===- Expr.h - Integer expressions over symbols and indices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents of dynamic dims, index maps of views, buffer sizes and loop bounds
// are all values of one type. An `Expr` is an immutable integer expression over
//   - symbols (`s77`: a dim of the program, non-negative unless a range says
//   more), and
//   - dims (`d0`: an index of the iteration space in which the expression is
//   read)
// built by +, *, floordiv, mod, max and min. Construction keeps one normal
// form: a sum of products in a fixed order of terms, constants folded, so that
// equal polynomials compare equal and print the same. What needs facts about
// ranges
// (`(d0 * s + d1) floordiv s` is `d0` where d1 < s) is `Assumptions::simplify`.
//
// Nothing here includes LLVM: the runtime evaluates the same expressions. An
// Expr is one counted pointer to an interned node: equal normal forms are one
// address, and a node is freed with the last Expr that refers to it. Any thread
// may make, copy and destroy Exprs; one Expr object is shared as an int is.
//
// Arithmetic is exact: where a coefficient or constant leaves int64_t at
// construction (or the tree its size limits), the result is the undefined
// expression (printed `1 floordiv 0`), which absorbs every operation and has no
// value and no bounds.
//
// Grammar of the text form (`str` and `parse` are inverse on normal forms):
//   expr := term (('+' | '-') term)* ; term := factor (('*' | 'floordiv' |
//   'ceildiv' | 'mod') factor)* factor := integer | name | '-' factor | '('
//   expr ')' | ('max' | 'min') '(' expr ',' expr ')'
// A name `d` followed by digits is a dim; every other name is a symbol.
// floordiv and mod round toward minus infinity (as Python's // and %);
// ceildiv(a, b) is read as -((-a) floordiv b).
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
    // First retained, then released: `other` may be an operand of this.
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
  /// Number of live nodes in the process, without the few constants that are
  /// never freed; for tests of lifetimes.
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

  /// Equality of normal forms: true proves equality, false proves nothing (see
  /// Assumptions::equal).
  bool operator==(const Expr &other) const { return node == other.node; }
  bool operator!=(const Expr &other) const { return !(*this == other); }
  /// A total order by content (not by address): sorts terms and keeps output
  /// deterministic.
  static int compare(const Expr &a, const Expr &b);
  bool operator<(const Expr &other) const { return compare(*this, other) < 0; }
  size_t hash() const;

  Kind kind() const;
  /// Whether this is the undefined expression: an overflow at construction.
  bool isUndefined() const;
  std::optional<int64_t> asConstant() const;
  bool isConstant(int64_t value) const { return asConstant() == value; }
  /// Set only for a bare symbol / a bare dim. The name lives as long as an Expr
  /// of this symbol.
  std::optional<std::string_view> asSymbol() const &;
  std::optional<std::string_view> asSymbol() const && = delete;
  std::optional<unsigned> asDim() const;
  /// Terms of an Add, factors of a Mul (a constant factor first), the two
  /// operands of the others; empty for leaves.
  const std::vector<Expr> &operands() const &;
  std::vector<Expr> operands() const &&;

  /// True if a dim (this dim) occurs anywhere.
  bool hasDims() const;
  bool usesDim(unsigned index) const;
  bool usesSymbol(std::string_view name) const;
  /// Adds the symbols that occur, sorted and unique.
  void collectSymbols(std::vector<std::string> &symbols) const;

  /// Replaces dim i by dims[i] (all dims that occur must be covered).
  Expr substituteDims(const std::vector<Expr> &dims) const;
  /// Replaces leaves: `fn` returns the replacement of a symbol or dim leaf, or
  /// nothing to keep it.
  Expr substitute(
      const std::function<std::optional<Expr>(const Expr &leaf)> &fn) const;

  /// If this is `stride * d_index + rest` with `rest` and `stride` free of
  /// d_index: that pair (stride 0 where the dim does not occur). Nothing if the
  /// dim occurs under floordiv, mod, max, min or in a higher power.
  struct Linear;
  std::optional<Linear> linearIn(unsigned index) const;

  /// Value under given dims and symbols; nothing if a name is unknown, on
  /// overflow or on division by zero.
  using SymbolValues = std::function<std::optional<int64_t>(std::string_view)>;
  std::optional<int64_t> evaluate(const SymbolValues &symbols,
                                  const std::vector<int64_t> &dims = {}) const;

  /// Whether a name reads as a dim (`d` and digits), and whether it can name a
  /// symbol (no dim, no word of the grammar).
  static bool isDimName(std::string_view name);
  static bool isSymbolName(std::string_view name);

  std::string str() const;
  /// Depth, length and work are limited; on failure nothing, and the reason in
  /// *error.
  static std::optional<Expr> parse(std::string_view text,
                                   std::string *error = nullptr);

private:
  /// The reference count of a node. From kForever on the count no longer
  /// changes, and the node is never freed.
  struct Counted {
    static constexpr uint32_t kForever = uint32_t(1) << 31;
    std::atomic<uint32_t> references{0};
  };
  static void retain(Counted *node) {
    // The Expr that is copied keeps the node alive meanwhile.
    if (node &&
        node->references.load(std::memory_order_relaxed) < Counted::kForever)
      node->references.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(Counted *node);

  /// Takes over the caller's reference to the node.
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

/// Facts about an expression's context: ranges of symbols, and extents of dims
/// (0 <= d_i < extent_i). An index expression is only ever evaluated where its
/// iteration space is not empty, so extents given to Assumptions count as at
/// least 1; callers that compare *sizes* make Assumptions without dims.
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

  /// An equal expression, with every floordiv, mod, max and min that the facts
  /// decide removed, and (x floordiv c) * c + x mod c joined to x. Idempotent.
  /// Equal wherever every symbol and dim is in range; a division by a value
  /// that may be zero stays, so that no error is lost.
  Expr simplify(const Expr &e) const;

  /// Yes, no or unknown. `equal` is yes or no only if it holds for *all* values
  /// in range.
  std::optional<bool> equal(const Expr &a, const Expr &b) const;
  /// True only if proved for all values in range.
  bool provablyNonNegative(const Expr &e) const;
  bool provablyLess(const Expr &a, const Expr &b) const {
    return provablyNonNegative(b - a - Expr(1));
  }
  bool provablyLessEqual(const Expr &a, const Expr &b) const {
    return provablyNonNegative(b - a);
  }
  /// Constant bounds that hold for all values in range, where known.
  std::optional<int64_t> lowerBound(const Expr &e) const;
  std::optional<int64_t> upperBound(const Expr &e) const;

private:
  std::map<std::string, SymbolRange> symbols;
  std::vector<Expr> extents;
};

/// Product of extents; 1 for none.
Expr product(const std::vector<Expr> &extents);
/// Row-major linear index: ((i0 * e1 + i1) * e2 + i2) ...; `index` and
/// `extents` of one length.
Expr linearize(const std::vector<Expr> &index,
               const std::vector<Expr> &extents);
/// The inverse: indices of the row-major position `linear` (the first index
/// takes no mod).
std::vector<Expr> delinearize(const Expr &linear,
                              const std::vector<Expr> &extents);

} // namespace luminal

#endif // LUMINAL_SUPPORT_EXPR_H
