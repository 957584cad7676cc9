//===- ArtifactFile.cpp - Writes the .lum file ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/ArtifactFile.h"
#include "luminal/Support/ZipWriter.h"

using namespace luminal;
using namespace luminal::runtime;

Status runtime::writeArtifact(ArtifactParts parts, const std::string &path) {
  Manifest &m = parts.manifest;
  if (m.weightsEmbedded) {
    if (parts.weights.size() != m.weights.size())
      return Error(path + ": " + std::to_string(parts.weights.size()) +
                   " weights given for " + std::to_string(m.weights.size()));
    uint64_t offset = 0;
    for (size_t i = 0; i < m.weights.size(); ++i) {
      WeightSpec &weight = m.weights[i];
      if (parts.weights[i].size() != weight.bytes)
        return Error(path + ": weight '" + weight.name + "' has " +
                     std::to_string(parts.weights[i].size()) +
                     " bytes, expected " + std::to_string(weight.bytes));
      weight.member.clear();
      weight.offset = offset;
      offset =
          (offset + weight.bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
  }
  if (Status status = m.verify(); !status)
    return status.takeError().within(path);

  LUMINAL_TRY(zip, ZipWriter::create(path));
  std::string text = m.str();
  std::string_view manifestText = text;
  LUMINAL_CHECK(zip.add("manifest.json", {&manifestText, 1}));
  if (!m.modules.empty()) {
    std::string table = printModuleTable(m.modules);
    std::string_view tableText = table;
    LUMINAL_CHECK(zip.add(std::string(kModulesMember), {&tableText, 1}));
  }
  for (const CodePart &code : parts.code)
    LUMINAL_CHECK(zip.add(code.name, {&code.bytes, 1}, kAlignment));
  LUMINAL_CHECK(zip.add("constants.bin", {&parts.constants, 1}, kAlignment));
  if (m.weightsEmbedded) {
    static const char zeros[kAlignment] = {};
    std::vector<std::string_view> pieces;
    uint64_t end = 0;
    for (size_t i = 0; i < m.weights.size(); ++i) {
      pieces.emplace_back(zeros, m.weights[i].offset - end);
      pieces.push_back(parts.weights[i]);
      end = m.weights[i].offset + m.weights[i].bytes;
    }
    LUMINAL_CHECK(zip.add("weights.bin", pieces, kAlignment));
  }
  return zip.finish();
}
