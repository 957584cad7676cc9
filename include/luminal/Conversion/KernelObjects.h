//===- KernelObjects.h - A store of kernels' machine code -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_CONVERSION_KERNELOBJECTS_H
#define LUMINAL_CONVERSION_KERNELOBJECTS_H

#include "luminal/Conversion/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace luminal {

struct ConvertLLIRToLLVMPassOptions;

/// A store of kernels' machine code that outlives a compile.
class KernelStore {
public:
  virtual ~KernelStore();
  /// The entry kept under `key` (64 hexadecimal digits), if there is one.
  virtual std::optional<std::string> find(const std::string &key) = 0;
  virtual void keep(const std::string &key, llvm::StringRef entry) = 0;
};

/// A kernel whose machine code was made.
struct FinishedKernel {
  EmittedKernel emitted;
  KernelObject object;

  /// Serialises the kernel for a store. The entry depends neither on the name
  /// of the function nor on `place`, the kernel's location, with which its
  /// requirements begin.
  std::string str(llvm::StringRef place, mlir::MLIRContext *context) const;
  /// std::nullopt if the entry has another format.
  static std::optional<FinishedKernel> parse(llvm::StringRef entry,
                                             llvm::StringRef symbol,
                                             llvm::StringRef place,
                                             mlir::MLIRContext *context);
};

/// A digest of everything that the machine code of the only kernel of `func`
/// depends on.
std::string getObjectKey(mlir::func::FuncOp func,
                         const TargetInterface &device);

/// The machine code of a program's kernels.
struct KernelObjects {
  KernelStore &store;
  /// Threads to assemble with; 0: the context's.
  unsigned threads = 0;
  /// In the order of the kernels' functions.
  std::vector<KernelObject> objects;
  /// How many of them came from the store.
  unsigned numKnown = 0;
};

/// The pass that looks up the code of kernels in a store, makes and keeps what
/// is missing, and leaves a declaration of each function.
std::unique_ptr<mlir::Pass>
createConvertLLIRToLLVMPass(ConvertLLIRToLLVMPassOptions options,
                            KernelObjects *objects);

} // namespace luminal

#endif // LUMINAL_CONVERSION_KERNELOBJECTS_H
