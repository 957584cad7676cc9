//===- PT2.h - Import of torch.export archives ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TARGET_PT2_H
#define LUMINAL_TARGET_PT2_H

#include "luminal/Support/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace luminal {

struct PT2ImportOptions {
  /// Weights that the archive does not hold become arguments without
  /// `hlir.source`, which the caller binds. Off: they are an error.
  bool allowMissingWeights = false;
  /// Names of kernels that a user supplies: an op without another meaning here
  /// becomes an `hlir.custom` where one has its name ("space::name").
  std::vector<std::string> kernels;
  /// Ops whose cost grows faster than what they read and write, for more than
  /// kCostlyElements elements or an unbounded number of them: an error as for
  /// an op that is not supported. Off: a warning.
  bool refuseCostly = false;
  /// Whether rules find scans (llir.scan) in what is imported, so that running
  /// sums and extrema, which are spelled with all pairs of elements, do not
  /// cost so much. Off: sums are spelled in blocks, whose cost is bounded.
  bool scansRows = false;
};

/// So many elements along a dim are few for an op that compares all pairs.
inline constexpr int64_t kCostlyElements = 2048;

/// Reads a torch.export archive (`torch.export.save`; the layouts of torch 2.6
/// and of 2.7 and later, training IR or decomposed) and returns it as the
/// function `main` in phase `imported`: one `func.func` of `hlir` ops.
///
/// Arguments are weights and states in the order of the archive's signature,
/// then the user's inputs; a weight's bytes stay in the archive
/// (`hlir.source`). Results are the new values of mutated arguments
/// (`hlir.updates`), then the user's outputs. Inputs that the program was
/// specialised to (plain Python numbers) are listed on the function as
/// `hlir.literal_inputs`, and outputs that are not tensors as
/// `hlir.literal_outputs`, each with its position.
///
/// On failure null, after exactly one error was emitted; unsupported ops are
/// all listed in that one error, each with its location in a note.
mlir::OwningOpRef<mlir::ModuleOp>
importPT2(mlir::MLIRContext *context, const std::string &path,
          const PT2ImportOptions &options = {});
/// As above, from the archive's bytes; `name` appears in messages.
mlir::OwningOpRef<mlir::ModuleOp>
importPT2(mlir::MLIRContext *context, Bytes bytes, const std::string &name,
          const PT2ImportOptions &options = {});

/// The tensors that a torch.export archive was exported with, in the order of
/// the user's inputs (plain numbers are left out); none where it holds none.
/// They are read as data. `name` appears in errors.
Result<std::vector<HostTensor>> readPT2Samples(Bytes bytes,
                                               const std::string &name);

/// Registers `--import-pt2` with mlir-translate's driver.
void registerImportPT2Translation();

} // namespace luminal

#endif // LUMINAL_TARGET_PT2_H
