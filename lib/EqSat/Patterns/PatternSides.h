//===- PatternSides.h - The compiled sides of a pattern -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PatternCompiler.cpp compiles the left side, PatternRewrite.cpp the right
// side.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_PATTERNSIDES_H
#define LUMINAL_LIB_EQSAT_PATTERNS_PATTERNSIDES_H

#include "PatternCompiler.h"
#include "llvm/ADT/MapVector.h"

namespace luminal::eqsat {

/// A value or a list of values in a pattern. It is one of: result `index` of
/// the operation `op`, if the pattern determines its number of results; result
/// `index` of the operation `value`, if only the right side knows that number;
/// value `index` of the range `value` of the left side; or another single
/// value. With `isList`, it is all results of the operation `value`, or a range
/// that a native made.
struct Part {
  mlir::Value value;
  mlir::pdl::OperationOp op;
  unsigned index = 0;
  bool isList = false;
};

class PatternCompiler {
public:
  PatternCompiler(mlir::pdl::PatternOp pattern, const RuleInfo &info,
                  OpTable &ops, NativeBridge &natives, NativeScopes scopes,
                  Form &form)
      : pattern(pattern), info(info), ops(ops), natives(natives),
        scopes(scopes), form(form), b(info.name.str()) {}

  mlir::FailureOr<Rule> compile(bool explained);

private:
  mlir::LogicalResult refuse(mlir::Location loc, const llvm::Twine &reason) {
    return mlir::emitError(loc)
           << "rule '" << info.name << "' cannot be used: " << reason;
  }
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason) {
    return refuse(op->getLoc(), reason);
  }

  // For both sides.
  /// Registers, and whether each holds a list.
  struct Regs {
    std::vector<Reg> regs;
    llvm::SmallVector<bool> isList;
    bool hasList() const { return llvm::is_contained(isList, true); }
    void push(Reg reg, bool list) {
      regs.push_back(reg);
      isList.push_back(list);
    }
  };
  mlir::LogicalResult checkTypes();
  std::optional<unsigned> knownResults(mlir::pdl::OperationOp op);
  mlir::LogicalResult expand(mlir::Operation *user, mlir::ValueRange values,
                             llvm::SmallVectorImpl<Part> &parts);
  std::optional<NativeValue::Kind> kindOf(mlir::Value v);
  mlir::LogicalResult checkName(mlir::pdl::OperationOp op);
  /// `numOperands` is nullopt if the number of operands is unknown.
  mlir::LogicalResult checkSignature(mlir::pdl::OperationOp op,
                                     std::optional<unsigned> numOperands);
  /// Arguments of a native function, and the registers that hold them.
  struct Arguments {
    llvm::SmallVector<ArgInfo> infos;
    std::vector<Reg> regs;
    /// Those of `regs` that hold classes.
    std::vector<Reg> classes;
  };
  /// False if an argument is not bound yet, which is possible only on the left
  /// side.
  mlir::FailureOr<bool> gatherArguments(mlir::Operation *user,
                                        mlir::ValueRange values, bool isLeft,
                                        Arguments &args);
  std::optional<Reg> matchedReg(Part part);

  // For the left side.
  mlir::LogicalResult compileMatch();
  mlir::LogicalResult enter(mlir::pdl::OperationOp op, std::optional<Reg> cls);
  mlir::LogicalResult testOp(mlir::pdl::OperationOp op,
                             const RuleBuilder::Op &at);
  mlir::LogicalResult testTypes(mlir::pdl::OperationOp op,
                                const RuleBuilder::Op &at);
  void bindOrEqual(mlir::Value v, Reg reg, unsigned index = 0);
  bool isBound(mlir::Value v) const { return bound.count({v, 0}); }
  mlir::LogicalResult bindAttr(mlir::Value v, Reg reg);
  mlir::LogicalResult bindType(mlir::Value v, Reg reg);
  mlir::LogicalResult bindOperand(Part part, Reg reg);
  mlir::LogicalResult bindOperandTypes(mlir::pdl::OperationOp op);
  mlir::LogicalResult testConstraints();
  void testClaim();
  Reg nodeTypeOf(mlir::pdl::OperationOp op);

  // For the right side.
  mlir::LogicalResult compileRewrite();
  mlir::LogicalResult compileNode(mlir::pdl::OperationOp op);
  mlir::FailureOr<Reg>
  typeOfNode(mlir::pdl::OperationOp op, const Regs &operands,
             llvm::ArrayRef<std::pair<NameId, Reg>> fields);
  mlir::LogicalResult compileNative(mlir::pdl::ApplyNativeRewriteOp op);
  mlir::LogicalResult compileReplace(mlir::pdl::ReplaceOp op);
  mlir::LogicalResult checkReplaced(mlir::pdl::ReplaceOp op, unsigned n,
                                    unsigned by);
  mlir::LogicalResult replaceWhole(mlir::pdl::ReplaceOp op, mlir::Value by);
  mlir::FailureOr<Reg> valueReg(mlir::Operation *user, mlir::Value v);
  mlir::FailureOr<Reg> operationReg(mlir::Operation *user, mlir::Value v);
  mlir::FailureOr<Reg> partReg(mlir::Operation *user, Part part);
  mlir::LogicalResult partRegs(mlir::Operation *user,
                               llvm::ArrayRef<Part> parts, Regs &regs);
  /// One register that holds a list of all these values.
  Reg listReg(const Regs &regs);
  mlir::LogicalResult typeRegs(mlir::Operation *user, mlir::ValueRange types,
                               Regs &regs);
  mlir::FailureOr<Reg> resultType(mlir::Operation *user,
                                  mlir::pdl::OperationOp op, unsigned index);
  Reg projection(Reg cls, unsigned index, Reg type);

  mlir::pdl::PatternOp pattern;
  const RuleInfo &info;
  OpTable &ops;
  NativeBridge &natives;
  NativeScopes scopes;
  Form &form;
  RuleBuilder b;

  mlir::pdl::OperationOp root;
  /// Match registers of attributes, types and operands, and of the values in
  /// ranges by their index.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, Reg> bound;
  llvm::DenseMap<mlir::Operation *, RuleBuilder::Op> entered;
  llvm::DenseMap<mlir::Operation *, Reg> nodeTypes;
  /// Class registers of results that are still to be entered, by operation and
  /// index.
  llvm::MapVector<std::pair<mlir::Operation *, unsigned>, Reg> awaited;
  llvm::DenseSet<std::pair<mlir::Operation *, unsigned>> projected;
  /// Ranges of operands whose types have been tested.
  llvm::DenseSet<mlir::Value> typedRanges;
  llvm::SmallVector<mlir::Operation *> constraintsLeft;

  /// Right-side registers of values that the right side makes.
  llvm::DenseMap<mlir::Value, Reg> made;
  /// Classes of operations that the right side makes.
  llvm::DenseMap<mlir::Operation *, Reg> madeOps;
  llvm::DenseMap<mlir::Operation *, Reg> madeTypes;
  mlir::pdl::OperationOp replacement;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_PATTERNSIDES_H
