//===- OutputFile.h - Files that are complete or not there ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_OUTPUTFILE_H
#define LUMINAL_SUPPORT_OUTPUTFILE_H

#include "luminal/Support/Result.h"
#include <initializer_list>
#include <string>
#include <string_view>

namespace luminal {

/// Written beside its path and moved there by `keep`; one that is not kept
/// leaves nothing, and what stood at the path stays. Devices, pipes and links
/// are written where they are.
class OutputFile {
public:
  static Result<OutputFile> create(std::string path);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  Status keep();

private:
  OutputFile() = default;
  Error failed() const;

  /// `temporary` is empty where the file is written in place.
  std::string path, temporary;
  int fd = -1;
};

/// Writes `pieces` to a file that appears at `path` only when it is complete.
Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::string_view> pieces);

} // namespace luminal

#endif // LUMINAL_SUPPORT_OUTPUTFILE_H
