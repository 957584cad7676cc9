//===- Archive.h - The members of a torch.export archive ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_ARCHIVE_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_ARCHIVE_H

#include "Graph.h"
#include "luminal/Support/ModulePaths.h"
#include "luminal/Support/ZipArchive.h"

namespace luminal::pt2 {

/// A tensor that the archive holds: a strided view of a storage.
struct StoredTensor {
  DTypeCode dtype;
  std::vector<int64_t> sizes, strides; ///< in elements
  int64_t offset = 0;                  ///< in elements
  /// Path of the whole storage, for ZipArchive::resolve.
  std::string member;
  Bytes storage;

  int64_t getNumElements() const;
  bool isContiguous() const;
  /// Index of the first element of the storage that is read, and one past the
  /// last.
  std::pair<int64_t, int64_t> getSpan() const;
  /// The tensor's elements, in row-major order.
  std::vector<char> copyElements() const;
};

/// A torch.export archive: its program as JSON, its tensors by name. Which of
/// the two layouts it has follows from its members.
class Archive {
public:
  static Result<Archive> read(ZipArchive zip);

  const JsonRef &getProgram() const { return *program; }
  const std::string &getName() const { return zip->getName(); }
  /// Module paths of nodes, for nodes that do not state them.
  const ModuleTable &getModules() const { return modules; }
  /// Source lines of the user's code, "model.py:7", for nodes that state
  /// others.
  const ModuleTable &getPlaces() const { return places; }
  /// Finds a parameter or persistent buffer, or else a constant or other
  /// buffer; an archive may hold a buffer in either place.
  const StoredTensor *find(const std::string &fqn) const;

  /// The example inputs that the program was exported with, in the order of its
  /// inputs, without numbers; empty if the archive holds none.
  static Result<std::vector<StoredTensor>> readSamples(const ZipArchive &zip);

private:
  Status readConfig(std::string_view folder, const std::string &model,
                    std::map<std::string, StoredTensor> &tensors);
  Status readPickle(const std::string &member,
                    std::map<std::string, StoredTensor> &tensors,
                    const std::string &onlyName = {});

  std::shared_ptr<ZipArchive> zip;
  std::shared_ptr<JsonDocument> document;
  std::shared_ptr<JsonRef> program;
  std::map<std::string, StoredTensor> weights, constants;
  ModuleTable modules, places;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_ARCHIVE_H
