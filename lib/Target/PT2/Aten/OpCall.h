//===- OpCall.h - One node while it is being built ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_OPCALL_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_OPCALL_H

#include "OpTable.h"
#include "luminal/Dialect/HLIR/Utils/Composites.h"

namespace luminal::pt2 {

class Importer;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::Type;
using mlir::Value;

/// A Python number: bool, int (maybe symbolic) or double.
struct Number {
  enum Kind { Bool, Int, Float } kind = Int;
  Expr integer;
  double real = 0;
  /// The value as a double; symbolic integers have none.
  std::optional<double> asDouble() const;
};

/// A tensor operand, or a Python number in a tensor's place, which takes part
/// in type promotion with the lowest priority.
struct Operand {
  Value value; ///< null for a number
  Number number;
};

/// The arguments of a node, bound to the op's schema and checked against its
/// types, and the place for its results. A handler reads every argument: one
/// that was given and not read is an error after the handler returns.
class OpCall {
public:
  OpCall(Importer &importer, const Node &node, const OpEntry &entry,
         hlir::Composer &composer);

  hlir::Composer &c;
  const Node &node;
  const OpEntry &entry;

  /// Binds arguments; on failure the reason stands in getReason().
  mlir::LogicalResult bind();

  // Arguments by the schema's name. None reads as null or nothing.
  Value tensor(StringRef name);
  Operand operand(StringRef name);
  /// Elements of Tensor?[] may be null.
  SmallVector<Value> tensors(StringRef name);
  std::optional<Number> number(StringRef name);
  std::optional<Expr> expr(StringRef name);
  /// A plain integer; the handler fails if it is symbolic.
  std::optional<int64_t> integer(StringRef name);
  std::optional<SmallVector<Expr>> exprs(StringRef name);
  std::optional<SmallVector<int64_t>> integers(StringRef name);
  std::optional<double> real(StringRef name);
  std::optional<ArrayRef<double>> reals(StringRef name);
  bool flag(StringRef name);
  StringRef string(StringRef name);
  /// The element type of a ScalarType argument; null for None.
  Type dtype(StringRef name);
  bool has(StringRef name);
  /// Arguments that cannot change the result's elements.
  void ignore(std::initializer_list<StringRef> names);

  // Shapes and types.
  SmallVector<Expr> extents(Value v) const { return hlir::getExtents(v); }
  unsigned rank(Value v) const;
  Type element(Value v) const;
  bool isFloat(Value v) const { return llvm::isa<mlir::FloatType>(element(v)); }
  bool isBool(Value v) const { return element(v).isInteger(1); }
  bool isReduced(Type t) const { return t.isF16() || t.isBF16(); }
  Type f32() const;
  Type i64() const;
  Type i1() const;
  /// f16 and bf16 give f32: the type in which PyTorch computes.
  Type opmath(Type t) const { return isReduced(t) ? f32() : t; }
  /// Wraps a negative dim; nothing (and a reason) if it is outside.
  std::optional<unsigned> axis(int64_t dim, unsigned rank);
  /// Normalised, ascending, without duplicates; all dims for an empty list.
  std::optional<SmallVector<unsigned>> axes(ArrayRef<int64_t> dims,
                                            unsigned rank);
  const Assumptions &assumptions() const { return c.getAssumptions(); }
  bool provablyEqual(const Expr &a, const Expr &b) const {
    return assumptions().equal(a, b) == true;
  }
  std::optional<SmallVector<Expr>> broadcast(ArrayRef<SmallVector<Expr>> all);

  // Type promotion as torch.result_type.
  Type promote(ArrayRef<Operand> operands);
  /// A number as a rank-0 tensor of the given type.
  Value materialize(const Number &number, Type type);
  /// The operand in `type`, of the given extents.
  Value as(const Operand &operand, Type type, ArrayRef<Expr> extents);
  /// Both operands promoted and broadcast; false (and a reason) on failure.
  bool promotePair(const Operand &a, const Operand &b, Value &x, Value &y);
  /// An operand that is a float, integers as f32.
  Value toFloat(Value v);
  Value broadcastTo(Value v, ArrayRef<Expr> extents) {
    return c.broadcastTo(v, extents);
  }

  // Results.
  mlir::LogicalResult ret(Value value) { return ret(ArrayRef<Value>(value)); }
  mlir::LogicalResult ret(ArrayRef<Value> values);
  /// A result that shares memory with the tensor argument `of`: element i of
  /// the result is element map(i) of it.
  mlir::LogicalResult retView(ArrayRef<Expr> extents, ArrayRef<Expr> map,
                              StringRef of = "self");
  mlir::LogicalResult
  retViews(ArrayRef<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views,
           StringRef of = "self");
  mlir::LogicalResult retAlias(StringRef of = "self");
  /// A view if the argument is known to be contiguous, else a copy whose
  /// sharing is unknown.
  mlir::LogicalResult retReshaped(Value value, ArrayRef<Expr> extents,
                                  StringRef of = "self");
  /// Nothing is built: an assertion that holds, or a node without results.
  mlir::LogicalResult retNothing() { return mlir::success(); }
  mlir::LogicalResult fail(const llvm::Twine &why);
  const std::string &getReason() const { return reason; }

  /// The archive's own statement about result `i`; null if there is none.
  const TensorMeta *resultMeta(unsigned i = 0) const;
  /// The archive's statement about the tensor argument `name`.
  const TensorMeta *argumentMeta(StringRef name) const;
  /// How many results the node has.
  unsigned getNumResults() const;
  /// A given argument that no accessor read; empty if all were.
  std::string findUnread() const;

  struct Returned {
    Value value;
    /// Set for views: name of the graph's tensor, and the map to it.
    std::string viewOf;
    SmallVector<Expr> extents, map;
    /// Shares memory with viewOf, or not: decided by strides that the archive
    /// does not settle.
    bool maybeView = false;
  };
  SmallVector<Returned> results;

private:
  const Argument &get(StringRef name);
  const Argument *check(const Parameter &p, const Argument &arg);

  Importer &importer;
  SmallVector<const Argument *> bound;
  SmallVector<bool> given, read;
  std::string reason;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_OPCALL_H
