//===- ArgMax.h - An anchor that the library does not know ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `test.argmax`: the largest element of each row and its first position. It
// shows that another library can define an anchor, here with a state of two
// values: fusion, schedules and emission use only the interfaces below.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_LIB_CONVERSION_ARGMAX_H
#define LUMINAL_TEST_LIB_CONVERSION_ARGMAX_H

#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace luminal::test {

class TestDialect : public mlir::Dialect {
public:
  explicit TestDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "test"; }
};

/// (%value, %index) = "test.argmax"(%x): from f32 [rows..., n] to f32 and i64
/// [rows...]; -inf and 0 if n is 0.
class ArgMaxOp
    : public mlir::Op<
          ArgMaxOp, mlir::OpTrait::OneOperand, mlir::OpTrait::NResults<2>::Impl,
          mlir::MemoryEffectOpInterface::Trait, llir::CostOpInterface::Trait,
          llir::CodeOpInterface::Trait, llir::BodyOpInterface::Trait,
          llir::ReductionOpInterface::Trait,
          llir::RowReductionOpInterface::Trait,
          ReductionEmissionOpInterface::Trait> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "test.argmax"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  void
  getEffects(llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &) {}

  // Interfaces of the op's meaning.
  llir::Cost getCost();
  int64_t getCodeSize() { return 6; }
  int64_t getLoopCopies() { return 6; }
  Expr getReducedExtent();
  void getReads(const Index &index, llir::AddDim addDim, llir::ReadAt read);

  // Interfaces of code emission.
  llvm::SmallVector<mlir::Type> getStateTypes();
  llvm::SmallVector<mlir::Value> emitInitial(mlir::ImplicitLocOpBuilder &b,
                                             mlir::TypeRange types);
  llvm::SmallVector<mlir::Value> emitTerms(Emitter &e, const Index &index);
  llvm::SmallVector<mlir::Value> emitStep(mlir::ImplicitLocOpBuilder &b,
                                          mlir::ValueRange state,
                                          mlir::ValueRange terms);
  llvm::SmallVector<mlir::Value> emitMerge(mlir::ImplicitLocOpBuilder &b,
                                           mlir::ValueRange x,
                                           mlir::ValueRange y);
  llvm::SmallVector<mlir::Value> emitResults(mlir::ImplicitLocOpBuilder &b,
                                             mlir::ValueRange state);
};

} // namespace luminal::test

#endif // LUMINAL_TEST_LIB_CONVERSION_ARGMAX_H
