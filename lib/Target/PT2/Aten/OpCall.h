//===- OpCall.h - A node that is being translated -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_OPCALL_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_OPCALL_H

#include "OpTable.h"
#include "luminal/Dialect/HLIR/Utils/Composites.h"
#include "luminal/Support/IndexCheck.h"
#include "luminal/Support/Result.h"

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
  /// The value as a double; std::nullopt for symbolic integers.
  std::optional<double> asDouble() const;
};

/// A tensor operand, or a Python number in its place, which takes part in type
/// promotion with the lowest priority.
struct Operand {
  /*implicit*/ Operand(Value tensor) : tensor(tensor) {}
  /*implicit*/ Operand(Number number) : number(number) {}

  std::optional<Value> tensor; ///< std::nullopt for a number
  Number number;
};

/// The arguments of a node, bound to the op's schema and checked against its
/// types, and its results. A handler must read every argument: one that is
/// given but not read is an error after the handler returns.
///
/// Accessors that can fail return a Result, to be unwrapped by LUMINAL_TRY;
/// arguments that may be None are optionals. So a plain value is always valid.
class OpCall {
public:
  OpCall(Importer &importer, const Node &node, const OpEntry &entry,
         hlir::Composer &composer);

  hlir::Composer &c;
  const Node &node;
  const OpEntry &entry;

  /// Binds the arguments; afterwards each has its parameter's type.
  Status bind();

  // Arguments by the schema's name. The plain forms are for parameters that are
  // never None; `int` and `float` values are constants.
  Value tensor(StringRef name);
  std::optional<Value> tensorOrNone(StringRef name);
  Operand operand(StringRef name);
  std::optional<Operand> operandOrNone(StringRef name);
  SmallVector<Value> tensors(StringRef name);
  SmallVector<std::optional<Value>> tensorsOrNone(StringRef name);
  Number number(StringRef name);
  std::optional<Number> numberOrNone(StringRef name);
  Expr expr(StringRef name);
  std::optional<Expr> exprOrNone(StringRef name);
  int64_t integer(StringRef name);
  std::optional<int64_t> integerOrNone(StringRef name);
  SmallVector<Expr> exprs(StringRef name);
  std::optional<SmallVector<Expr>> exprsOrNone(StringRef name);
  SmallVector<int64_t> integers(StringRef name);
  std::optional<SmallVector<int64_t>> integersOrNone(StringRef name);
  double real(StringRef name);
  std::optional<double> realOrNone(StringRef name);
  std::optional<ArrayRef<double>> realsOrNone(StringRef name);
  /// None is false.
  bool flag(StringRef name);
  /// None is empty.
  StringRef string(StringRef name);
  /// The element type of a ScalarType argument.
  Type dtype(StringRef name);
  std::optional<Type> dtypeOrNone(StringRef name);
  bool has(StringRef name);
  /// Marks arguments as read that cannot change the result's elements.
  void ignore(std::initializer_list<StringRef> names);

  // Shapes and types. A number has those of a rank-0 tensor.
  SmallVector<Expr> extents(Value v) const { return hlir::getExtents(v); }
  SmallVector<Expr> extents(const Operand &v) const {
    return v.tensor ? extents(*v.tensor) : SmallVector<Expr>();
  }
  unsigned rank(Value v) const;
  unsigned rank(const Operand &v) const {
    return v.tensor ? rank(*v.tensor) : 0;
  }
  SmallVector<unsigned> allDims(Value v) const;
  /// The number of elements of a tensor.
  Expr numElements(Value v) const { return numElements(extents(v)); }
  static Expr numElements(ArrayRef<Expr> extents);
  Type element(Value v) const;
  bool isFloat(Value v) const { return llvm::isa<mlir::FloatType>(element(v)); }
  bool isBool(Value v) const { return element(v).isInteger(1); }
  bool isReduced(Type t) const { return t.isF16() || t.isBF16(); }
  Type f32() const;
  Type i64() const;
  Type i1() const;
  /// The type in which PyTorch computes: f32 for f16 and bf16.
  Type opmath(Type t) const { return isReduced(t) ? f32() : t; }
  /// A dim; negative values count from the end.
  Result<unsigned> axis(int64_t dim, unsigned rank) const;
  /// The dim of `v` that the argument `name` states.
  Result<unsigned> axis(StringRef name, Value v) {
    return axis(integer(name), rank(v));
  }
  /// The dims counted from 0, ascending, without duplicates; all dims for an
  /// empty list.
  Result<SmallVector<unsigned>> axes(ArrayRef<int64_t> dims,
                                     unsigned rank) const;
  const Assumptions &assumptions() const { return c.getAssumptions(); }
  bool provablyEqual(const Expr &a, const Expr &b) const {
    return assumptions().equal(a, b) == true;
  }
  /// Whether two extents are equal in every call, as the trace assumed. If that
  /// can be neither proved nor refuted, it becomes a requirement: a call in
  /// which they differ is rejected.
  bool agree(const Expr &a, const Expr &b);
  /// The same for two shapes.
  bool agree(ArrayRef<Expr> a, ArrayRef<Expr> b);
  /// Whether `lesser` is at most `greater` in every call in which `space` has
  /// elements; may add a requirement, as `agree`.
  bool atMost(const Expr &lesser, const Expr &greater,
              ArrayRef<Expr> space = {});
  /// Whether that is proved, or is a requirement already.
  bool isKnownAtMost(const Expr &lesser, const Expr &greater) const;
  Result<SmallVector<Expr>> broadcast(ArrayRef<SmallVector<Expr>> all);
  /// The shape to which all operands are broadcast.
  Result<SmallVector<Expr>> commonShape(ArrayRef<Operand> all);

  // Type promotion as in torch.result_type.
  Type promote(ArrayRef<Operand> operands);
  /// A number as a rank-0 tensor of the given type. A float that no integer
  /// holds is an error that checkOperands returns.
  Value materialize(const Number &number, Type type);
  /// The operand in `type`; a number becomes a rank-0 tensor.
  Value as(const Operand &operand, Type type);
  /// The operand in `type`, broadcast to the given extents.
  Value as(const Operand &operand, Type type, ArrayRef<Expr> extents);
  /// Both operands, promoted and broadcast.
  Result<std::pair<Value, Value>> promotePair(const Operand &a,
                                              const Operand &b);
  /// The operand as a float; integers become f32.
  Value toFloat(Value v);
  /// Whether each element is nonzero; NaN is.
  Value isNonZero(Value v) { return c.cast(v, i1()); }
  /// Broadcasts an operand. If that is not possible, checkOperands returns the
  /// error.
  Value broadcastTo(Value v, ArrayRef<Expr> extents);
  /// Broadcasts a vector with one element per index of dim `dim` to the shape
  /// and type of `like`; errors as for broadcastTo.
  Value spreadAlong(Value v, Value like, unsigned dim);

  /// Declares that the op's cost grows faster than its reads and writes: `how`
  /// ("with the square of") the number of elements `n` along a dim.
  void grows(StringRef how, const Expr &n) { growths.push_back({how, n}); }
  /// The same, unless rules replace the spelling by a scan.
  void growsUnlessScanned(StringRef how, const Expr &n);
  /// Whether rules find scans.
  bool scansRows() const;

  // Results.
  Status ret(Value value) { return ret(ArrayRef<Value>(value)); }
  Status ret(ArrayRef<Value> values);
  /// Returns the first results only: a program that reads another one is
  /// rejected.
  Status retFirst(ArrayRef<Value> values);
  /// Returns a view of the tensor argument `of`: element i of the result is its
  /// element map(i).
  Status retView(ArrayRef<Expr> extents, ArrayRef<Expr> map,
                 StringRef of = "self");
  Status
  retViews(ArrayRef<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views,
           StringRef of = "self");
  Status retAlias(StringRef of = "self");
  /// Returns a view if the argument is known to be contiguous, else a copy that
  /// may share its memory.
  Status retReshaped(Value value, ArrayRef<Expr> extents,
                     StringRef of = "self");
  /// Returns a value that may share memory with the tensor argument `of` in a
  /// way that no map of elements states: later writes to either are rejected.
  Status retMaybeView(Value value, StringRef of = "self");
  /// Creates no ops: for an assertion that holds, or a node without results.
  Status retNothing() { return {}; }
  Error fail(const llvm::Twine &why) const { return Error(why.str()); }

  /// The type that the archive states for result `i`; null if none.
  const TensorMeta *resultMeta(unsigned i = 0) const;
  /// The type that the archive states for the tensor argument `name`.
  const TensorMeta *argumentMeta(StringRef name) const;
  /// Number of results of the node.
  unsigned getNumResults() const;
  /// The first error for which an accessor returned a substitute: a float that
  /// its integer type does not hold, or a shape that cannot be broadcast.
  Status checkOperands() const;
  /// The name of a given argument that no accessor read; empty if all were
  /// read.
  std::string findUnread() const;

  struct Returned {
    Value value;
    /// Set for views: the name of the graph's tensor, and the map to it.
    std::string viewOf;
    SmallVector<Expr> extents, map;
    /// Whether it may share memory with `viewOf`: the strides that decide it
    /// are unknown.
    bool maybeView = false;
  };
  SmallVector<Returned> results;
  bool othersLeftOut = false;
  /// Conditions under which the op behaves in a call as it was traced.
  SmallVector<Requirement> required;
  struct Growth {
    StringRef how;
    Expr elements;
  };
  SmallVector<Growth, 1> growths;

private:
  unsigned find(StringRef name) const;
  const Argument &get(StringRef name);
  /// An argument that `bind` has checked; `promiseKnown` asserts that it is not
  /// symbolic. If a handler's schema does not guarantee that, the handler fails
  /// at its first use, whatever the program.
  const Argument &given(StringRef name);
  void promiseKnown(StringRef name) const;
  Operand toOperand(const Argument &arg);
  Value toTensor(const Argument &arg);
  Type toType(const Argument &arg) const;
  Status check(const Parameter &p, const Argument &arg) const;

  Importer &importer;
  SmallVector<const Argument *> bound;
  SmallVector<bool> isGiven, read;
  /// Records an error and returns zeros of those extents instead.
  Value standIn(const std::string &error, Type type, ArrayRef<Expr> extents);

  std::optional<std::string> operandError;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_OPCALL_H
