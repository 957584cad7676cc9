//===- Requests.h - Requests of fusion to schedules -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_REQUESTS_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_REQUESTS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace luminal::llir {

/// A value that a schedule computes.
struct Output {
  mlir::Value value;
  mlir::StringAttr name;
  /// The argument that the output updates, if any.
  std::optional<unsigned> updates;
  /// The message of an assertion, or null.
  mlir::StringAttr assertion;
  /// Its producer writes it to the memory of that argument.
  bool isInState = false;
};

/// What a schedule has to compute.
struct Request {
  std::string name;
  llvm::SmallVector<Output> outputs;
  llvm::SmallVector<mlir::BlockArgument> arguments;
  llvm::SmallVector<mlir::Operation *> ops;
  /// Whether the schedule runs when weights are bound.
  bool isPrepare = false;
  /// For each `llir.prepare` op, the number of the output of the other schedule
  /// that holds its value.
  llvm::DenseMap<mlir::Operation *, unsigned> prepared;
};

/// Returns the name that the attributes of an argument or result state,
/// otherwise `prefix` and its index.
mlir::StringAttr getName(mlir::DictionaryAttr attributes,
                         llvm::StringRef prefix, unsigned index,
                         mlir::MLIRContext *context);
/// Returns the name of a prepared value, which is the same in both schedules.
mlir::StringAttr getPreparedName(mlir::MLIRContext *context, unsigned index);

/// Returns what a program computes when it is called.
Request getProgram(mlir::func::FuncOp func);
/// Builds a detached function that computes the operands of all `llir.prepare`
/// ops of all programs, each equal value once. Sets the programs' result
/// numbers in `programs`.
mlir::func::FuncOp
joinPreparations(llvm::MutableArrayRef<mlir::func::FuncOp> funcs,
                 llvm::MutableArrayRef<Request> programs);
/// Returns what is prepared for the programs that `joined` was made of; without
/// outputs if nothing is.
mlir::FailureOr<Request> getPreparation(mlir::func::FuncOp joined);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_REQUESTS_H
