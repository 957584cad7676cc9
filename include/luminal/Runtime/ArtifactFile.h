//===- ArtifactFile.h - Writes the .lum file ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_ARTIFACTFILE_H
#define LUMINAL_RUNTIME_ARTIFACTFILE_H

#include "luminal/Runtime/Manifest.h"
#include <string>
#include <string_view>
#include <vector>

namespace luminal::runtime {

/// A member that holds code, such as host.so.
struct CodePart {
  std::string name;
  std::string_view bytes;
};

/// The members of an artifact. The caller owns the bytes.
struct ArtifactParts {
  Manifest manifest;
  std::vector<CodePart> code;
  std::string_view constants;
  /// With weightsEmbedded: the bytes of each weight. The writer then sets the
  /// manifest's offsets.
  std::vector<std::string_view> weights;
};

/// Verifies the manifest and writes the file; the same parts give the same
/// bytes. On failure nothing is left at `path`.
Status writeArtifact(ArtifactParts parts, const std::string &path);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_ARTIFACTFILE_H
