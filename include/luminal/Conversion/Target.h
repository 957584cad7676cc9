//===- Target.h - What code can be made for -------------------------------===//
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

/// The code of a kernel that a target wrote, for the steps that call it.
struct EmittedKernel {
  /// What `launch` of a step is to be.
  llir::LaunchAttrInterface launch;
  /// The same as arguments of a remark.
  llvm::SmallVector<Reporter::Arg> remark;
  /// Requirements of the code on the symbols, besides those of its ops.
  std::vector<Requirement> requirements;
};

/// The machine code of one kernel, which a compile may take from an earlier
/// one.
struct KernelObject {
  /// The function that `bytes`, a relocatable object, holds.
  std::string symbol;
  std::string bytes;
  /// Features that it uses of those that an artifact lists only where they are
  /// used.
  std::vector<std::string> features;
};

/// A member of an artifact that holds code.
struct CodeMember {
  std::string name;
  std::string bytes;
};

/// The code of a program.
struct TargetCode {
  /// What the manifest says of the device that it is for.
  runtime::TargetSpec spec;
  std::vector<CodeMember> members;
};

/// Code that a user supplies, as it is read.
struct UserCode {
  llvm::StringRef bytes;
  /// The function that is called.
  llvm::StringRef entry;
  /// The device that it is said to be for; empty where nothing is said.
  llvm::StringRef arch;
};

/// A kind of device, and which one of that kind.
class TargetInterface {
public:
  virtual ~TargetInterface();

  /// The name of its kind, as `--target` has it.
  virtual llvm::StringRef getName() const = 0;
  /// One worker of it, as schedules see it, and how many there are.
  MachineModel getMachine() const;
  /// From here on schedules are for so many workers; 0: those that it has.
  void setWorkers(unsigned count) { workers = count; }
  /// From here on schedules leave out what does not compute as IEEE says.
  void setExact() { isExact = true; }
  /// Memory for what is prepared from weights, in bytes a byte of them.
  virtual double getPrepareShare() const { return 1.0; }

  /// Libraries that its artifacts may call, the preferred first.
  virtual llvm::SmallVector<const llir::Library *> getLibraries() const {
    return {};
  }

  /// The schedule for `kernel`, where symbols have `ranges`.
  virtual llir::ProposedLoops
  propose(llir::KernelOp kernel,
          const KernelAnalysis::SymbolRanges &ranges) const;
  /// Schedules that are worth a measurement, the one that `propose` gives
  /// first.
  virtual llvm::SmallVector<llir::ProposedLoops>
  proposeAll(llir::KernelOp kernel,
             const KernelAnalysis::SymbolRanges &ranges) const;
  /// Those near one of them, by price.
  virtual llvm::SmallVector<llir::ProposedLoops>
  refine(llir::KernelOp kernel, llir::LoopsAttr loops,
         const KernelAnalysis::SymbolRanges &ranges) const;
  /// Checks the schedule that `kernel` has. The error is at the kernel.
  virtual mlir::LogicalResult
  verify(llir::KernelOp kernel,
         const KernelAnalysis::SymbolRanges &ranges) const;

  /// Writes the function `symbol` that runs `kernel`, as its schedule says, to
  /// the end of `dest`. `symbols` are the program's. Equal kernels give equal
  /// functions. On failure the error is at the op, and `dest` is as before.
  virtual mlir::FailureOr<EmittedKernel>
  emit(llir::KernelOp kernel, llvm::StringRef symbol, mlir::ModuleOp dest,
       llvm::ArrayRef<hlir::SymbolEntry> symbols) const = 0;
  /// Lowers the functions that `emit` wrote to the llvm dialect, and those of
  /// LLVM's targets.
  virtual mlir::LogicalResult lower(mlir::ModuleOp module) const = 0;
  /// What the object of a kernel depends on besides the kernel; empty where no
  /// kernel has an object of its own.
  virtual std::string describeObjects() const { return {}; }
  /// The objects of the functions of a lowered module, in their order; each
  /// depends on its function alone. On failure the error is at the module.
  virtual mlir::FailureOr<std::vector<KernelObject>>
  assemble(mlir::ModuleOp module, unsigned threads) const;
  /// The code of `objects` and of the functions of a lowered module, which may
  /// hold a schedule besides; the same bytes for any number of `threads` (0:
  /// the context's), whoever assembled the functions. On failure the error is
  /// at the module.
  virtual mlir::FailureOr<TargetCode>
  compile(mlir::ModuleOp module, unsigned threads,
          std::vector<KernelObject> objects = {}) const = 0;

  /// Checks that the device runs the code of a user, as far as the bytes tell,
  /// which may be anything. The extension that a file of this form has ("so");
  /// an error says what is wrong.
  virtual Result<std::string> checkUserCode(const UserCode &code) const = 0;

protected:
  /// What is known of the device.
  virtual MachineModel getDeviceModel() const = 0;

private:
  unsigned workers = 0;
  bool isExact = false;
};

/// A kind of device that code can be made for.
struct TargetKind {
  llvm::StringRef name;
  /// The device `arch`; null with the reason in *error. `machine` may name a
  /// file with its model: of a processor, that of the machine at hand
  /// (luminal/Runtime/Machine.h); of a GPU, of any one.
  std::unique_ptr<TargetInterface> (*create)(llvm::StringRef arch,
                                             llvm::StringRef machine,
                                             std::string *error);
  /// Dialects that `emit` and `lower` build ops of.
  void (*registerDialects)(mlir::DialectRegistry &registry);
  /// Whether a calibration measures the one at hand.
  bool isCalibrated = false;
};

/// All kinds, in the order in which messages list them.
llvm::ArrayRef<TargetKind> getTargetKinds();
/// "cpu, cuda"
std::string listTargetKinds();

/// The device `arch` of the kind `name`, by the model in the file `machine`
/// where that is not empty, with `workers` workers where that is not 0; null
/// with the reason in *error.
std::unique_ptr<TargetInterface>
createTarget(llvm::StringRef name, llvm::StringRef arch,
             llvm::StringRef machine, std::string *error, unsigned workers = 0);

/// A launch as the manifest has it: the same fields by the same names; a list
/// is all fields of its name.
runtime::LaunchSpec toLaunchSpec(llir::LaunchAttrInterface launch);

/// The dialects of all kinds.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace luminal

#endif // LUMINAL_CONVERSION_TARGET_H
