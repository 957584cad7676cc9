//===- OpCall.h - One node while it is being built ------------------------===//
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
  /// The value as a double; symbolic integers have none.
  std::optional<double> asDouble() const;
};

/// A tensor operand, or a Python number in a tensor's place, which takes part
/// in type promotion with the lowest priority.
struct Operand {
  /*implicit*/ Operand(Value tensor) : tensor(tensor) {}
  /*implicit*/ Operand(Number number) : number(number) {}

  std::optional<Value> tensor; ///< nothing for a number
  Number number;
};

/// The arguments of a node, bound to the op's schema and checked against its
/// types, and the place for its results. A handler reads every argument: one
/// that was given and not read is an error after the handler returns.
///
/// Accessors that can fail return a Result, whose value only LUMINAL_TRY
/// unwraps; arguments that may be None are optionals. So a plain value is
/// always valid: a handler that continues has every value it uses.
class OpCall {
public:
  OpCall(Importer &importer, const Node &node, const OpEntry &entry,
         hlir::Composer &composer);

  hlir::Composer &c;
  const Node &node;
  const OpEntry &entry;

  /// Binds arguments; afterwards each is of its parameter's type.
  Status bind();

  // Arguments by the schema's name. The plain forms are for parameters that are
  // never None; of `int` and `float` ones the value is known.
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
  /// None reads as false.
  bool flag(StringRef name);
  /// None reads as empty.
  StringRef string(StringRef name);
  /// The element type of a ScalarType argument.
  Type dtype(StringRef name);
  std::optional<Type> dtypeOrNone(StringRef name);
  bool has(StringRef name);
  /// Arguments that cannot change the result's elements.
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
  /// How many elements a tensor has.
  Expr numElements(Value v) const { return numElements(extents(v)); }
  static Expr numElements(ArrayRef<Expr> extents);
  Type element(Value v) const;
  bool isFloat(Value v) const { return llvm::isa<mlir::FloatType>(element(v)); }
  bool isBool(Value v) const { return element(v).isInteger(1); }
  bool isReduced(Type t) const { return t.isF16() || t.isBF16(); }
  Type f32() const;
  Type i64() const;
  Type i1() const;
  /// f16 and bf16 give f32: the type in which PyTorch computes.
  Type opmath(Type t) const { return isReduced(t) ? f32() : t; }
  /// A dim, where negative values count from the end.
  Result<unsigned> axis(int64_t dim, unsigned rank) const;
  /// The dim of `v` that the argument `name` states.
  Result<unsigned> axis(StringRef name, Value v) {
    return axis(integer(name), rank(v));
  }
  /// Normalised, ascending, without duplicates; all dims for an empty list.
  Result<SmallVector<unsigned>> axes(ArrayRef<int64_t> dims,
                                     unsigned rank) const;
  const Assumptions &assumptions() const { return c.getAssumptions(); }
  bool provablyEqual(const Expr &a, const Expr &b) const {
    return assumptions().equal(a, b) == true;
  }
  /// Whether two extents are the same in every call: the trace took them for
  /// equal. Where that can be neither proved nor refuted, a call in which they
  /// differ is refused.
  bool agree(const Expr &a, const Expr &b);
  /// The same of two shapes.
  bool agree(ArrayRef<Expr> a, ArrayRef<Expr> b);
  /// Whether `lesser` is at most `greater` in every call whose `space` has
  /// elements, as agree.
  bool atMost(const Expr &lesser, const Expr &greater,
              ArrayRef<Expr> space = {});
  /// Whether that is proved, or required already of every call.
  bool isKnownAtMost(const Expr &lesser, const Expr &greater) const;
  Result<SmallVector<Expr>> broadcast(ArrayRef<SmallVector<Expr>> all);
  /// The shape that all are broadcast to.
  Result<SmallVector<Expr>> commonShape(ArrayRef<Operand> all);

  // Type promotion as torch.result_type.
  Type promote(ArrayRef<Operand> operands);
  /// A number as a rank-0 tensor of the given type. A float that no integer
  /// holds is an error of the op, which checkOperands tells.
  Value materialize(const Number &number, Type type);
  /// The operand in `type`, a number as a rank-0 tensor.
  Value as(const Operand &operand, Type type);
  /// The operand in `type`, of the given extents.
  Value as(const Operand &operand, Type type, ArrayRef<Expr> extents);
  /// Both operands promoted and broadcast.
  Result<std::pair<Value, Value>> promotePair(const Operand &a,
                                              const Operand &b);
  /// An operand that is a float, integers as f32.
  Value toFloat(Value v);
  /// Whether each element is nonzero (NaN is).
  Value isNonZero(Value v) { return c.cast(v, i1()); }
  /// An operand that cannot be broadcast is an error of the op, which
  /// checkOperands tells.
  Value broadcastTo(Value v, ArrayRef<Expr> extents);
  /// One element for each index of dim `dim` of `like`, in its shape and type;
  /// errors as broadcastTo.
  Value spreadAlong(Value v, Value like, unsigned dim);

  /// States that the cost grows faster than what is read and written: `how`
  /// ("with the square of") the number of elements `n` along a dim.
  void grows(StringRef how, const Expr &n) { growths.push_back({how, n}); }
  /// The same of a spelling in which the rules find a scan.
  void growsUnlessScanned(StringRef how, const Expr &n);
  /// Whether the rules find scans.
  bool scansRows() const;

  // Results.
  Status ret(Value value) { return ret(ArrayRef<Value>(value)); }
  Status ret(ArrayRef<Value> values);
  /// The first results only: a program that reads another one is refused.
  Status retFirst(ArrayRef<Value> values);
  /// A result that shares memory with the tensor argument `of`: element i of
  /// the result is element map(i) of it.
  Status retView(ArrayRef<Expr> extents, ArrayRef<Expr> map,
                 StringRef of = "self");
  Status
  retViews(ArrayRef<std::pair<SmallVector<Expr>, SmallVector<Expr>>> views,
           StringRef of = "self");
  Status retAlias(StringRef of = "self");
  /// A view if the argument is known to be contiguous, else a copy whose
  /// sharing is unknown.
  Status retReshaped(Value value, ArrayRef<Expr> extents,
                     StringRef of = "self");
  /// A value whose sharing with the tensor argument `of` no map of elements can
  /// state: later writes to either are refused.
  Status retMaybeView(Value value, StringRef of = "self");
  /// Nothing is built: an assertion that holds, or a node without results.
  Status retNothing() { return {}; }
  Error fail(const llvm::Twine &why) const { return Error(why.str()); }

  /// What the archive states about result `i`; null if nothing.
  const TensorMeta *resultMeta(unsigned i = 0) const;
  /// What the archive states about the tensor argument `name`.
  const TensorMeta *argumentMeta(StringRef name) const;
  /// Number of results of the node.
  unsigned getNumResults() const;
  /// The first error of an operand that a value stood in for: a float that was
  /// to become an integer that does not hold it, or a shape that does not fit.
  Status checkOperands() const;
  /// A given argument that no accessor read; empty if all were.
  std::string findUnread() const;

  struct Returned {
    Value value;
    /// Set for views: name of the graph's tensor, and the map to it.
    std::string viewOf;
    SmallVector<Expr> extents, map;
    /// May share memory with viewOf: the strides that decide it are
    /// unknown.
    bool maybeView = false;
  };
  SmallVector<Returned> results;
  bool othersLeftOut = false;
  /// What must hold in a call for the op to be what was traced.
  SmallVector<Requirement> required;
  struct Growth {
    StringRef how;
    Expr elements;
  };
  SmallVector<Growth, 1> growths;

private:
  unsigned find(StringRef name) const;
  const Argument &get(StringRef name);
  /// An argument that binding has checked; `promiseKnown` adds that it is not
  /// symbolic. A handler whose schema does not promise that fails at its first
  /// use, whatever the program.
  const Argument &given(StringRef name);
  void promiseKnown(StringRef name) const;
  Operand toOperand(const Argument &arg);
  Value toTensor(const Argument &arg);
  Type toType(const Argument &arg) const;
  Status check(const Parameter &p, const Argument &arg) const;

  Importer &importer;
  SmallVector<const Argument *> bound;
  SmallVector<bool> isGiven, read;
  /// Notes an error; the result is a zero of those extents in its place.
  Value standIn(const std::string &error, Type type, ArrayRef<Expr> extents);

  std::optional<std::string> operandError;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_OPCALL_H
