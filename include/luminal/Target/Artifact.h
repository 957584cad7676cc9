//===- Artifact.h - Writing of compiled programs --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TARGET_ARTIFACT_H
#define LUMINAL_TARGET_ARTIFACT_H

#include "luminal/Conversion/Target.h"
#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/ZipArchive.h"

namespace luminal {

/// The contents of an artifact besides its schedule.
struct ArtifactOptions {
  TargetCode code;
  /// Identifies the archive that the weights come from (see
  /// ZipArchive::getWeightsDigest); empty if any will do.
  std::string weightsDigest;
  /// See runtime::Manifest.
  std::string weightsFile;
  /// Finds the bytes of the weights, to embed them; null if they stay
  /// outside.
  std::function<Result<std::vector<Bytes>>(llvm::ArrayRef<runtime::WeightSpec>)>
      embed;
};

/// The schedules of a module that are programs: not what prepares the weights
/// of another.
llvm::SmallVector<llir::ScheduleOp> getPrograms(mlir::ModuleOp module);

/// The manifest of a schedule in phase `lowered`, and the bytes of its
/// constants. On failure empty, with an error at the op.
mlir::FailureOr<runtime::Manifest>
buildManifest(llir::ScheduleOp schedule, const runtime::TargetSpec &target,
              std::string &constants);

/// Writes the artifact of a schedule. On failure the error is at
/// the schedule, and nothing is left at `path`.
mlir::LogicalResult writeArtifact(llir::ScheduleOp schedule,
                                  const ArtifactOptions &options,
                                  const std::string &path);

} // namespace luminal

#endif // LUMINAL_TARGET_ARTIFACT_H
