//===- Requests.h - What schedules are to compute -------------------------===//
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
  /// The argument whose new value it is.
  std::optional<unsigned> updates;
  /// The message of an assertion, or null.
  mlir::StringAttr assertion;
  /// What makes it writes it to the memory of that argument.
  bool isInState = false;
};

/// What a schedule is to do.
struct Request {
  std::string name;
  llvm::SmallVector<Output> outputs;
  llvm::SmallVector<mlir::BlockArgument> arguments;
  llvm::SmallVector<mlir::Operation *> ops;
  /// It runs when weights are bound.
  bool isPrepare = false;
  /// By `llir.prepare` op: the output of the other schedule that it is.
  llvm::DenseMap<mlir::Operation *, unsigned> prepared;
};

/// The name that attributes of an argument or result give it, else `prefix` and
/// its index.
mlir::StringAttr getName(mlir::DictionaryAttr attributes,
                         llvm::StringRef prefix, unsigned index,
                         mlir::MLIRContext *context);
/// The name of a prepared value in both schedules.
mlir::StringAttr getPreparedName(mlir::MLIRContext *context, unsigned index);

/// What a program computes when it is called.
Request getProgram(mlir::func::FuncOp func);
/// A function, without a place, of what the `llir.prepare` ops of all programs
/// take: each equal value once. Gives programs their places among its results.
mlir::func::FuncOp
joinPreparations(llvm::MutableArrayRef<mlir::func::FuncOp> funcs,
                 llvm::MutableArrayRef<Request> programs);
/// What is prepared for the programs that `joined` was made of; without outputs
/// where there is nothing.
mlir::FailureOr<Request> getPreparation(mlir::func::FuncOp joined);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_REQUESTS_H
