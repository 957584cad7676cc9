//===- PatternSides.h - The two sides of a pattern, compiled --------------===//
//
// PatternCompiler.cpp holds the left side, PatternRewrite.cpp the right one.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_EQSAT_PATTERNSIDES_H
#define LUMINAL_LIB_EQSAT_PATTERNSIDES_H

#include "PatternCompiler.h"
#include "llvm/ADT/MapVector.h"

namespace luminal::eqsat {

/// Result `index` of the operation `op`, which the pattern spells out, or of
/// one that a native made (`value`, an operation); or a value from elsewhere.
struct Part {
  mlir::Value value;
  mlir::pdl::OperationOp op;
  unsigned index = 0;
};

class PatternCompiler {
public:
  PatternCompiler(mlir::pdl::PatternOp pattern, const RuleInfo &info,
                  OpTable &ops, NativeBridge &natives, NativeScopes scopes)
      : pattern(pattern), info(info), ops(ops), natives(natives),
        scopes(scopes), b(info.name.str()) {}

  mlir::FailureOr<Rule> compile(bool explained);

private:
  mlir::LogicalResult refuse(mlir::Location loc, const llvm::Twine &reason) {
    return mlir::emitError(loc)
           << "rule '" << info.name << "' cannot be used: " << reason;
  }
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason) {
    return refuse(op->getLoc(), reason);
  }

  // Both sides.
  mlir::LogicalResult checkTypes();
  std::optional<unsigned> knownResults(mlir::pdl::OperationOp op);
  mlir::FailureOr<unsigned> numResults(mlir::pdl::OperationOp op);
  mlir::LogicalResult expand(mlir::Operation *user, mlir::ValueRange values,
                             llvm::SmallVectorImpl<Part> &parts);
  std::optional<NativeValue::Kind> kindOf(mlir::Value v);
  mlir::LogicalResult checkName(mlir::pdl::OperationOp op);
  mlir::LogicalResult checkSignature(mlir::pdl::OperationOp op,
                                     unsigned numOperands);
  /// Arguments of a native function, and the registers that hold them.
  struct Arguments {
    llvm::SmallVector<ArgInfo> infos;
    std::vector<Reg> regs;
    /// Those of the registers that hold classes.
    std::vector<Reg> classes;
  };
  /// False where one is not bound yet, which only the left side may say.
  mlir::FailureOr<bool> gatherArguments(mlir::Operation *user,
                                        mlir::ValueRange values, bool isLeft,
                                        Arguments &args);
  std::optional<Reg> matchedReg(Part part);

  // Left side.
  mlir::LogicalResult compileMatch();
  mlir::LogicalResult enter(mlir::pdl::OperationOp op, std::optional<Reg> cls);
  mlir::LogicalResult testOp(mlir::pdl::OperationOp op,
                             const RuleBuilder::Op &at);
  mlir::LogicalResult testTypes(mlir::pdl::OperationOp op,
                                const RuleBuilder::Op &at);
  void bindOrEqual(mlir::Value v, Reg reg);
  mlir::LogicalResult bindAttr(mlir::Value v, Reg reg);
  mlir::LogicalResult bindType(mlir::Value v, Reg reg);
  mlir::LogicalResult bindOperand(Part part, Reg reg);
  mlir::LogicalResult testConstraints();
  void testClaim();
  Reg nodeTypeOf(mlir::pdl::OperationOp op);

  // Right side.
  mlir::LogicalResult compileRewrite();
  mlir::LogicalResult compileNode(mlir::pdl::OperationOp op);
  mlir::FailureOr<Reg>
  typeOfNode(mlir::pdl::OperationOp op, llvm::ArrayRef<Reg> operands,
             llvm::ArrayRef<std::pair<NameId, Reg>> fields);
  mlir::LogicalResult compileNative(mlir::pdl::ApplyNativeRewriteOp op);
  mlir::LogicalResult compileReplace(mlir::pdl::ReplaceOp op);
  mlir::LogicalResult replaceWhole(mlir::pdl::ReplaceOp op, mlir::Value by);
  mlir::FailureOr<Reg> valueReg(mlir::Operation *user, mlir::Value v);
  mlir::FailureOr<Reg> partReg(mlir::Operation *user, Part part);
  mlir::LogicalResult
  typeRegs(mlir::Operation *user, mlir::ValueRange types,
           llvm::SmallVectorImpl<std::pair<Reg, bool>> &regs);
  mlir::FailureOr<Reg> resultType(mlir::Operation *user,
                                  mlir::pdl::OperationOp op, unsigned index);
  Reg projection(Reg cls, unsigned index, Reg type);

  mlir::pdl::PatternOp pattern;
  const RuleInfo &info;
  OpTable &ops;
  NativeBridge &natives;
  NativeScopes scopes;
  RuleBuilder b;

  mlir::pdl::OperationOp root;
  /// Match registers of attributes, types and operands.
  llvm::DenseMap<mlir::Value, Reg> bound;
  llvm::DenseMap<mlir::Operation *, RuleBuilder::Op> entered;
  llvm::DenseMap<mlir::Operation *, Reg> nodeTypes;
  /// Class registers of results that will be entered, by operation and index.
  llvm::MapVector<std::pair<mlir::Operation *, unsigned>, Reg> awaited;
  llvm::DenseSet<std::pair<mlir::Operation *, unsigned>> projected;
  llvm::SmallVector<mlir::Operation *> constraintsLeft;

  /// Right-side registers of values made there.
  llvm::DenseMap<mlir::Value, Reg> made;
  /// Class of operations made there.
  llvm::DenseMap<mlir::Operation *, Reg> madeOps;
  llvm::DenseMap<mlir::Operation *, Reg> madeTypes;
  mlir::pdl::OperationOp replacement;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNSIDES_H
