//===- PT2.h - Import of torch.export archives ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TARGET_PT2_H
#define LUMINAL_TARGET_PT2_H

#include "luminal/Support/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace luminal {

/// Options of importPT2.
struct PT2ImportOptions {
  /// If set, weights that the archive does not hold become arguments without
  /// `hlir.source`, which the caller binds; otherwise they are an error.
  bool allowMissingWeights = false;
  /// Names of user kernels ("space::name"). An op that the importer does not
  /// translate becomes an `hlir.custom` if a kernel has its name.
  std::vector<std::string> kernels;
  /// If set, an op whose cost grows faster than the data it reads and writes is
  /// reported like an unsupported op when it has more than kCostlyElements
  /// elements or an unbounded number; otherwise it causes a warning.
  bool refuseCostly = false;
  /// Whether later rules find scans (llir.scan) in the imported program.
  /// Running sums and extrema are then spelled over all pairs of elements,
  /// without being costly. Otherwise sums are spelled in blocks, whose cost is
  /// bounded.
  bool scansRows = false;
};

/// Maximum number of elements along a dim for which an op that compares all
/// pairs counts as cheap.
inline constexpr int64_t kCostlyElements = 2048;

/// Reads a torch.export archive (`torch.export.save`; the layouts of torch 2.6
/// and of 2.7 and later, training IR or decomposed) and returns it as the
/// function `main` in phase `imported`: one `func.func` of `hlir` ops.
///
/// Arguments are weights and states in the order of the archive's signature,
/// then the user's inputs; a weight's bytes stay in the archive
/// (`hlir.source`). Results are the new values of mutated arguments
/// (`hlir.updates`), then the user's outputs. Inputs that the program was
/// specialized to (plain Python numbers) are listed on the function as
/// `hlir.literal_inputs`, and outputs that are not tensors as
/// `hlir.literal_outputs`, each with its position.
///
/// On failure returns null after emitting exactly one error; all unsupported
/// ops are listed in that error, each with its location in a note.
mlir::OwningOpRef<mlir::ModuleOp>
importPT2(mlir::MLIRContext *context, const std::string &path,
          const PT2ImportOptions &options = {});
/// The same for an archive in memory; `name` stands for the file in messages.
mlir::OwningOpRef<mlir::ModuleOp>
importPT2(mlir::MLIRContext *context, Bytes bytes, const std::string &name,
          const PT2ImportOptions &options = {});

/// The example inputs that a torch.export archive was exported with, in the
/// order of the user's inputs, without plain numbers; empty if the archive
/// holds none. Parsed as data: no pickled code is executed. `name` stands for
/// the file in errors.
Result<std::vector<HostTensor>> readPT2Samples(Bytes bytes,
                                               const std::string &name);

/// Registers `--import-pt2` with mlir-translate's driver.
void registerImportPT2Translation();

} // namespace luminal

#endif // LUMINAL_TARGET_PT2_H
