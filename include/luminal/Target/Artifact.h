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
  /// ZipArchive::getWeightsDigest of the archive that the weights come from;
  /// empty if any archive is accepted.
  std::string weightsDigest;
  /// See runtime::Manifest::weightsFile.
  std::string weightsFile;
  /// Returns the bytes of the weights to embed; null if weights stay outside
  /// the artifact.
  std::function<Result<std::vector<Bytes>>(llvm::ArrayRef<runtime::WeightSpec>)>
      embed;
};

/// The schedules of a module that are programs of their own, excluding those
/// that prepare weights for another schedule.
llvm::SmallVector<llir::ScheduleOp> getPrograms(mlir::ModuleOp module);

/// Builds the manifest of a schedule in phase `lowered`, and the bytes of its
/// constants. On failure reports an error at the op.
mlir::FailureOr<runtime::Manifest>
buildManifest(llir::ScheduleOp schedule, const runtime::TargetSpec &target,
              std::string &constants);

/// Writes the artifact of a schedule to `path`. On failure reports an error at
/// the schedule and leaves no file at `path`.
mlir::LogicalResult writeArtifact(llir::ScheduleOp schedule,
                                  const ArtifactOptions &options,
                                  const std::string &path);

} // namespace luminal

#endif // LUMINAL_TARGET_ARTIFACT_H
