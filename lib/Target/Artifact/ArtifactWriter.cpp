//===- ArtifactWriter.cpp - Writes a schedule and its code as a .lum ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/ArtifactFile.h"
#include "luminal/Target/Artifact.h"

using namespace mlir;
using namespace luminal;

LogicalResult luminal::writeArtifact(llir::ScheduleOp schedule,
                                     const ArtifactOptions &options,
                                     const std::string &path) {
  std::string constants;
  FailureOr<runtime::Manifest> manifest =
      buildManifest(schedule, options.code.spec, constants);
  if (failed(manifest))
    return failure();
  runtime::ArtifactParts parts;
  parts.manifest = std::move(*manifest);
  parts.manifest.weightsDigest = options.weightsDigest;
  if (!options.embed && !parts.manifest.weights.empty())
    parts.manifest.weightsFile = options.weightsFile;
  for (const CodeMember &member : options.code.members)
    parts.code.push_back({member.name, member.bytes});
  parts.constants = constants;
  // Keeps the weights mapped until the file is written.
  std::vector<Bytes> owners;
  if (options.embed) {
    parts.manifest.weightsEmbedded = true;
    Result<std::vector<Bytes>> found = options.embed(parts.manifest.weights);
    if (!found)
      return schedule.emitError(found.error().message);
    owners = std::move(*found);
    for (const Bytes &bytes : owners)
      parts.weights.push_back(bytes.text());
  }
  if (Status status = runtime::writeArtifact(std::move(parts), path); !status)
    return schedule.emitError(status.error().message);
  return success();
}
