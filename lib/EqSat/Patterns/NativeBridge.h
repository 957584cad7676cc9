//===- NativeBridge.h - Native functions over registers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_NATIVEBRIDGE_H
#define LUMINAL_LIB_EQSAT_PATTERNS_NATIVEBRIDGE_H

#include "OpTable.h"
#include "luminal/EqSat/Patterns/RuleSets.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"

#include <list>
#include <map>

namespace luminal::eqsat {

/// Native functions that rules may call, by name.
struct NativeFunctions {
  llvm::StringMap<FastConstraint> fastConstraints;
  llvm::StringMap<FastRewrite> fastRewrites;
  llvm::StringMap<mlir::PDLConstraintFunction> constraints;
  llvm::StringMap<mlir::PDLRewriteFunction> rewrites;
};

/// Where the names in a rule are looked up, in this order: the rule's own set,
/// then all other sets in the order of registration.
using NativeScopes = llvm::ArrayRef<const NativeFunctions *>;

/// How an argument is stored in registers. A class, an attribute, a type and a
/// list of types take one register each. An operation takes registers for
/// class, payload and operands. A range of values takes `count` registers, or
/// one if a native made it.
struct ArgInfo {
  NativeValue::Kind kind;
  /// An attribute or type that is constant in the pattern and takes no
  /// register.
  uint32_t constant = kNone;
  /// The operator, for an operation.
  OpId op = kNone;
  uint32_t count = 1;
  /// Whether the register holds the number of a list of values.
  bool isList = false;
  bool operator==(const ArgInfo &) const = default;
};

/// Wraps native functions over MLIR as functions over registers. Rules that
/// make equal calls share one wrapper and therefore its cached answers.
class NativeBridge {
public:
  NativeBridge(OpTable &ops, mlir::Operation *function,
               const PrecisionPolicy &policy = {});
  ~NativeBridge();

  /// Number of the function in `natives`; nullopt for an unknown name.
  std::optional<uint32_t> constraint(NativeScopes scopes, llvm::StringRef name,
                                     llvm::ArrayRef<ArgInfo> args,
                                     llvm::ArrayRef<NativeValue::Kind> results,
                                     bool negated);
  std::optional<uint32_t> rewrite(NativeScopes scopes, llvm::StringRef name,
                                  llvm::ArrayRef<ArgInfo> args,
                                  llvm::ArrayRef<NativeValue::Kind> results);
  /// (attribute) -> (type)
  uint32_t typeOfAttr();
  /// (type) -> (); holds if the type, or the element type of the tensor, is one
  /// of `types`. A tuple must consist of such types.
  uint32_t hasElementOf(llvm::ArrayRef<mlir::Type> types);
  /// (type of an operation with `count` results) -> (the types of its
  /// results...)
  uint32_t untuple(unsigned count);
  /// (type of an operation) -> (types of its first results..., list of the
  /// types of the remaining results)
  uint32_t splitTypes(unsigned numSingle);
  /// (types or lists of types...) -> (list of types)
  uint32_t concatTypes(llvm::ArrayRef<bool> isList, bool mayBeEmpty);
  /// (classes or lists of classes...) -> (list of classes)
  uint32_t concatValues(llvm::ArrayRef<bool> isList);
  /// (list of `count` classes) -> (classes...)
  uint32_t unlist(unsigned count);
  /// (class of an operation) -> (class of result `index`); makes a projection
  uint32_t resultOf(unsigned index);
  /// (class of an operation) -> (list of its results); makes projections
  uint32_t resultsOf();
  /// (payload) -> (payload with missing attributes set to the op's defaults)
  uint32_t withDefaults(mlir::OperationName name);
  /// (attribute payload, classes or lists of classes...) -> (result type)
  uint32_t inferTypes(mlir::OperationName name, llvm::ArrayRef<bool> isList);

  /// (payload, operand classes...) -> (payload); holds if the operation
  /// verifies
  uint32_t verified(OpId op, llvm::StringRef rule, mlir::Location loc);
  /// (payload, classes or lists of classes...) -> (class); makes an operation,
  /// which is verified if `verifies`, with any number of operands
  uint32_t makeNode(mlir::OperationName name, llvm::ArrayRef<bool> isList,
                    bool verifies, llvm::StringRef rule, mlir::Location loc);

  std::vector<Native> natives;
  mlir::Operation *scope() const { return shell.get(); }
  const PrecisionPolicy &policy() const { return context.policy; }
  /// Emits one error if a function broke its contract, or a rule made an
  /// invalid operation.
  llvm::LogicalResult checkMisuse() const;
  /// Makes `checkMisuse` report this error, unless it already has one.
  void emitErrorAt(mlir::Location loc, const llvm::Twine &what);

private:
  using Pdl = std::function<mlir::LogicalResult(
      mlir::PatternRewriter &, mlir::PDLResultList &,
      llvm::ArrayRef<mlir::PDLValue>)>;
  using Fast = std::function<bool(MatchContext &, NativeArgs, NativeResults &)>;

  uint32_t addNative(NativeFn fn, uint32_t numArgs, uint32_t numResults,
                     Native::Memory memory);
  uint32_t addNative(NativeFn fn, llvm::ArrayRef<ArgInfo> args,
                     llvm::ArrayRef<NativeValue::Kind> results);
  /// Decodes the arguments of a call from its registers. The elements of lists
  /// that a native made are stored in `lists`.
  void decode(llvm::ArrayRef<ArgInfo> args, std::span<const uint32_t> words,
              std::list<llvm::SmallVector<ClassId>> &lists,
              llvm::SmallVectorImpl<NativeValue> &values) const;
  uint32_t addFast(Fast fn, llvm::ArrayRef<ArgInfo> args,
                   llvm::ArrayRef<NativeValue::Kind> results, bool negated);
  uint32_t addPdl(llvm::StringRef name, Pdl fn, llvm::ArrayRef<ArgInfo> args,
                  llvm::ArrayRef<NativeValue::Kind> results, bool negated);
  std::optional<uint32_t> toWord(const mlir::PDLValue &value,
                                 NativeValue::Kind expected,
                                 llvm::StringRef name);
  void complain(llvm::StringRef name, const llvm::Twine &what);
  /// The reason why the operation does not verify; empty if it does.
  std::string whyInvalid(mlir::Operation *op);
  std::optional<uint32_t> toWord(const NativeValue &value,
                                 NativeValue::Kind expected);
  uint32_t getList(llvm::ArrayRef<ClassId> classes);
  /// The classes in registers, with lists replaced by their elements.
  llvm::SmallVector<ClassId> spread(std::span<const uint32_t> words,
                                    llvm::ArrayRef<bool> isList) const;
  bool canBe(OpId op, PayloadId payload, llvm::ArrayRef<ClassId> operands,
             llvm::StringRef rule, mlir::Location loc);
  mlir::Value standIn(ClassId c);
  /// The value that an ordinary function sees for a class: the constant in the
  /// class, if there is one, otherwise a stand-in.
  mlir::Value shown(ClassId c);
  /// Forgets the constants that `shown` created.
  void dropConstants();
  mlir::Operation *standInOp(OpId op, PayloadId payload,
                             llvm::ArrayRef<mlir::Value> operands);
  ClassId import(mlir::Value value, llvm::StringRef name);
  ClassId import(mlir::Operation *op, llvm::StringRef name);

  /// A call of a function by a rule.
  struct Call {
    const void *function;
    bool negated;
    llvm::SmallVector<ArgInfo> args;
    llvm::SmallVector<NativeValue::Kind> results;
    bool operator==(const Call &) const = default;
  };
  template <typename Make>
  uint32_t share(Call call, Make &&make);

  OpTable &ops;
  EGraph &graph;
  /// The function without its body. It contains the stand-ins.
  mlir::OwningOpRef<mlir::Operation *> shell;
  MatchContext context;
  mlir::Block *block;
  /// Contains the constants that `shown` created.
  mlir::Block *constantBlock;
  llvm::DenseMap<std::pair<OpId, PayloadId>, mlir::Value> constants;
  llvm::DenseMap<ClassId, mlir::Value> standIns;
  llvm::DenseMap<mlir::Value, ClassId> standInClasses;
  llvm::SmallVector<std::pair<Call, uint32_t>> calls;
  /// Lists of values that natives made. Their classes may have been merged
  /// since.
  std::map<std::vector<ClassId>, uint32_t> listIds;
  std::vector<std::vector<ClassId>> lists;
  std::string complaint;
  /// Location of the complaint: the function, or a place in a rule.
  mlir::Location complaintLoc;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_NATIVEBRIDGE_H
