//===- KernelObjects.h - Machine code that an earlier compile made --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_CONVERSION_KERNELOBJECTS_H
#define LUMINAL_CONVERSION_KERNELOBJECTS_H

#include "luminal/Conversion/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace luminal {

struct ConvertLLIRToLLVMPassOptions;

/// Keeps the code of kernels from one compile to the next.
class KernelStore {
public:
  virtual ~KernelStore();
  /// What was kept under `key`, 64 hexadecimal digits.
  virtual std::optional<std::string> find(const std::string &key) = 0;
  virtual void keep(const std::string &key, llvm::StringRef entry) = 0;
};

/// A kernel whose code is complete.
struct FinishedKernel {
  EmittedKernel emitted;
  KernelObject object;

  /// As an entry of a store, which knows neither the name of the function nor
  /// the `place` of its kernel, with which requirements begin.
  std::string str(llvm::StringRef place, mlir::MLIRContext *context) const;
  /// std::nullopt where the entry is of another form.
  static std::optional<FinishedKernel> parse(llvm::StringRef entry,
                                             llvm::StringRef symbol,
                                             llvm::StringRef place,
                                             mlir::MLIRContext *context);
};

/// The digest of all that the code of the only kernel of `func` depends on.
std::string getObjectKey(mlir::func::FuncOp func,
                         const TargetInterface &device);

/// The code of a program's kernels.
struct KernelObjects {
  KernelStore &store;
  /// To assemble with; 0: the context's.
  unsigned threads = 0;
  /// In the order of the kernels' functions.
  std::vector<KernelObject> objects;
  /// How many of them were kept before.
  unsigned numKnown = 0;
};

/// The pass that takes the code of kernels from a store, makes and keeps what
/// is missing there, and leaves a declaration of each.
std::unique_ptr<mlir::Pass>
createConvertLLIRToLLVMPass(ConvertLLIRToLLVMPassOptions options,
                            KernelObjects *objects);

} // namespace luminal

#endif // LUMINAL_CONVERSION_KERNELOBJECTS_H
