//===- Target.h - The interface of compilation targets --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One implementation of TargetInterface is one kind of device. Passes, the
// pipeline and the writer of artifacts know this interface only: which kinds
// there are stands in one table (lib/Conversion/Targets/Targets.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_TARGET_H
#define LUMINAL_CONVERSION_TARGET_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Libraries/Libraries.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Runtime/Manifest.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace luminal {

/// The code that a target emitted for a kernel, for the steps that call it.
struct EmittedKernel {
  /// The `launch` attribute of those steps.
  llir::LaunchAttrInterface launch;
  /// The same as arguments of a remark.
  llvm::SmallVector<Reporter::Arg> remark;
  /// Requirements of the code on the symbols, besides those of the ops.
  std::vector<Requirement> requirements;
};

/// The machine code of one kernel; a later compile may reuse it.
struct KernelObject {
  /// The function in `bytes`, a relocatable object.
  std::string symbol;
  std::string bytes;
  /// Optional processor features that the code uses; an artifact lists them
  /// only then.
  std::vector<std::string> features;
};

/// A file of an artifact that holds code.
struct CodeMember {
  std::string name;
  std::string bytes;
};

/// The code of a program.
struct TargetCode {
  /// The device, as the manifest describes it.
  runtime::TargetSpec spec;
  std::vector<CodeMember> members;
};

/// Code supplied by a user.
struct UserCode {
  llvm::StringRef bytes;
  /// The function to call.
  llvm::StringRef entry;
  /// The device that the user says it is for; empty if unknown.
  llvm::StringRef arch;
};

/// A device: its kind, and the architecture of that kind.
class TargetInterface {
public:
  virtual ~TargetInterface();

  /// The name of the kind, as `--target` takes it.
  virtual llvm::StringRef getName() const = 0;
  /// One worker (core, or thread of a GPU), as schedules see it, and the number
  /// of workers.
  MachineModel getMachine() const;
  /// Schedules made from here on are for `count` workers; 0: those of the
  /// device.
  void setWorkers(unsigned count) { workers = count; }
  /// Schedules made from here on use no instruction that departs from IEEE.
  void setExact() { isExact = true; }
  /// Bytes that may be used for prepared weights per byte of weights.
  virtual double getPrepareShare() const { return 1.0; }

  /// Libraries that artifacts may call, in order of preference.
  virtual llvm::SmallVector<const llir::Library *> getLibraries() const {
    return {};
  }

  /// The schedule for `kernel`, whose symbols have `ranges`.
  virtual llir::ProposedLoops
  propose(llir::KernelOp kernel,
          const KernelAnalysis::SymbolRanges &ranges) const;
  /// Schedules that are worth measuring; the first is that of `propose`.
  virtual llvm::SmallVector<llir::ProposedLoops>
  proposeAll(llir::KernelOp kernel,
             const KernelAnalysis::SymbolRanges &ranges) const;
  /// Schedules near `loops`, in order of price.
  virtual llvm::SmallVector<llir::ProposedLoops>
  refine(llir::KernelOp kernel, llir::LoopsAttr loops,
         const KernelAnalysis::SymbolRanges &ranges) const;
  /// Verifies the kernel's schedule. The error is at the kernel.
  virtual mlir::LogicalResult
  verify(llir::KernelOp kernel,
         const KernelAnalysis::SymbolRanges &ranges) const;

  /// Appends the function `symbol`, which runs `kernel` as its schedule says,
  /// to `dest`. `symbols` are the program's. Equal kernels give equal
  /// functions. On failure the error is at the op, and `dest` is unchanged.
  virtual mlir::FailureOr<EmittedKernel>
  emit(llir::KernelOp kernel, llvm::StringRef symbol, mlir::ModuleOp dest,
       llvm::ArrayRef<hlir::SymbolEntry> symbols) const = 0;
  /// Lowers functions of `emit` to the llvm dialect and those of LLVM's
  /// targets.
  virtual mlir::LogicalResult lower(mlir::ModuleOp module) const = 0;
  /// A description of everything that a kernel's object depends on besides the
  /// kernel; empty if kernels have no objects of their own.
  virtual std::string describeObjects() const { return {}; }
  /// The objects of the functions of a lowered module, in order; each depends
  /// on its function alone. On failure the error is at the module.
  virtual mlir::FailureOr<std::vector<KernelObject>>
  assemble(mlir::ModuleOp module, unsigned threads) const;
  /// Links `objects` and the functions of a lowered module, which may also hold
  /// a schedule of steps. The bytes do not depend on `threads` (0: the
  /// context's) nor on who assembled the functions. On failure the error is at
  /// the module.
  virtual mlir::FailureOr<TargetCode>
  compile(mlir::ModuleOp module, unsigned threads,
          std::vector<KernelObject> objects = {}) const = 0;

  /// Checks, as far as the bytes tell, that the device can run a user's code,
  /// which may be anything. Returns the file extension of the format ("so"), or
  /// an error.
  virtual Result<std::string> checkUserCode(const UserCode &code) const = 0;

protected:
  /// The model of the device.
  virtual MachineModel getDeviceModel() const = 0;

private:
  unsigned workers = 0;
  bool isExact = false;
};

/// A kind of device that code can be generated for.
struct TargetKind {
  llvm::StringRef name;
  /// Creates the target for device `arch`; null with the reason in *error.
  /// `machine` may name a file with its model. For a CPU that is the calibrated
  /// model of this machine (luminal/Runtime/Machine.h); for a GPU any one.
  std::unique_ptr<TargetInterface> (*create)(llvm::StringRef arch,
                                             llvm::StringRef machine,
                                             std::string *error);
  /// Registers the dialects that `emit` and `lower` use.
  void (*registerDialects)(mlir::DialectRegistry &registry);
  /// Whether `--calibrate` measures the device of this machine.
  bool isCalibrated = false;
};

/// All kinds, in the order in which messages list them.
llvm::ArrayRef<TargetKind> getTargetKinds();
/// "cpu, cuda"
std::string listTargetKinds();

/// Creates the target for device `arch` of kind `name`. `machine`: a file with
/// its model, if not empty. `workers`: the number of workers, if not 0. Null
/// with the reason in *error.
std::unique_ptr<TargetInterface>
createTarget(llvm::StringRef name, llvm::StringRef arch,
             llvm::StringRef machine, std::string *error, unsigned workers = 0);
/// The same for a pass on `op`. Null after an error at `op`.
std::unique_ptr<TargetInterface>
createTarget(mlir::Operation *op, llvm::StringRef name, llvm::StringRef arch,
             llvm::StringRef machine, unsigned workers = 0);

/// A launch attribute in the form of the manifest: fields keep their names; a
/// list holds all fields of one name.
runtime::LaunchSpec toLaunchSpec(llir::LaunchAttrInterface launch);

/// Registers the dialects of all kinds.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace luminal

#endif // LUMINAL_CONVERSION_TARGET_H
