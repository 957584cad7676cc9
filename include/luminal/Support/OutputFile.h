//===- OutputFile.h - Files that are complete or not there ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_OUTPUTFILE_H
#define LUMINAL_SUPPORT_OUTPUTFILE_H

#include "luminal/Support/Result.h"
#include <csignal>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace luminal {
namespace detail {
struct TemporaryEntry;
}

/// Holds back the signals of removeTemporaryFilesOnSignals: none ends the
/// process between the creation of a file and the entry of its name.
class TemporaryFileScope {
public:
  TemporaryFileScope();
  TemporaryFileScope(const TemporaryFileScope &) = delete;
  ~TemporaryFileScope();

private:
  /// The calling thread's own signal mask.
  sigset_t before;
};

/// The path of a temporary file: the file is removed with its owner, and by
/// a signal that ends the process if removeTemporaryFilesOnSignals was
/// called.
class TemporaryFile {
public:
  /// A new empty file in the system's folder for them, whose name ends in
  /// `.suffix`.
  static Result<TemporaryFile> create(const std::string &suffix);
  /// Takes ownership of a file that was created within the scope.
  TemporaryFile(std::string_view path, const TemporaryFileScope &);
  TemporaryFile(TemporaryFile &&other)
      : entry(std::exchange(other.entry, nullptr)),
        path(std::move(other.path)) {}
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile() { remove(); }

  const std::string &getPath() const { return path; }
  void remove();
  /// Renames the file, which then stays; on failure false, with errno set.
  bool moveTo(const std::string &target);

private:
  detail::TemporaryEntry *entry;
  std::string path;
};

/// Called by a tool's main: SIGINT, SIGTERM and SIGHUP then remove the
/// temporary files of the process before they end it. Libraries must not change
/// the signal handlers of their host.
void removeTemporaryFilesOnSignals();

/// Written beside its path and moved there by `keep`; one that is not kept
/// leaves nothing, and the old file at the path stays. Devices, pipes and links
/// are written where they are; "-" is the standard output.
class OutputFile {
public:
  static Result<OutputFile> create(std::string path);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  /// What was written is on the disk when this returns, and survives a loss of
  /// power; the file's name does once its folder is synchronised too.
  Status sync();
  /// Writes the rest and keeps the file.
  Status keep(std::string_view rest = {});

private:
  OutputFile() = default;
  Status makeTemporary();
  Error failed() const;

  std::string path;
  /// Absent where the file is written in place.
  std::optional<TemporaryFile> temporary;
  int fd = -1;
};

/// Writes `pieces` to a file that appears at `path` only when it is complete.
Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::string_view> pieces);
/// The same, and once it returns the file survives a loss of power.
Status writeFileDurably(const std::string &path,
                        std::initializer_list<std::string_view> pieces);

} // namespace luminal

#endif // LUMINAL_SUPPORT_OUTPUTFILE_H
