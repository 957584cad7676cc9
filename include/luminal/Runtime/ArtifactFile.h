//===- ArtifactFile.h - Writes the .lum file ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_ARTIFACTFILE_H
#define LUMINAL_RUNTIME_ARTIFACTFILE_H

#include "luminal/Runtime/Manifest.h"
#include <string>
#include <string_view>
#include <vector>

namespace luminal::runtime {

/// A member of the artifact that holds code, such as host.so.
struct CodePart {
  std::string name;
  std::string_view bytes;
};

/// The members of an artifact. The views refer to memory of the caller.
struct ArtifactParts {
  Manifest manifest;
  std::vector<CodePart> code;
  std::string_view constants;
  /// If `Manifest::weightsEmbedded` is set, the bytes of each weight; the
  /// writer fills in the weights' offsets in the manifest.
  std::vector<std::string_view> weights;
};

/// Verifies the manifest and writes the .lum file. Equal parts give equal
/// bytes. On failure no file is left at `path`.
Status writeArtifact(ArtifactParts parts, const std::string &path);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_ARTIFACTFILE_H
