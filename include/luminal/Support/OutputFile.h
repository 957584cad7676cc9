//===- OutputFile.h - Files that appear only when complete ----------------===//
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

/// While it lives, blocks the signals of removeTemporaryFilesOnSignals, so that
/// none can end the process between the creation of a file and its registration
/// for removal.
class TemporaryFileScope {
public:
  TemporaryFileScope();
  TemporaryFileScope(const TemporaryFileScope &) = delete;
  ~TemporaryFileScope();

private:
  /// The thread's signal mask before the scope.
  sigset_t before;
};

/// A temporary file. It is removed when its owner is destroyed, and by a signal
/// that ends the process if removeTemporaryFilesOnSignals was called.
class TemporaryFile {
public:
  /// Creates an empty file, whose name ends in `.suffix`, in the system's
  /// temporary folder.
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
  /// Renames the file and gives up ownership; on failure returns false with
  /// errno set.
  bool moveTo(const std::string &target);

private:
  detail::TemporaryEntry *entry;
  std::string path;
};

/// Makes SIGINT, SIGTERM and SIGHUP remove the temporary files of the process
/// before they end it. Called by the main function of a tool: libraries must
/// not change the signal handlers of their host.
void removeTemporaryFilesOnSignals();

/// A file that is written to a temporary path and moved to its final path by
/// `keep`. Without `keep`, the temporary file is removed and an old file at the
/// path stays. Devices, pipes and links are written in place; "-" is the
/// standard output.
class OutputFile {
public:
  /// Creates the temporary file, or opens a path that is written in place.
  static Result<OutputFile> create(std::string path);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  /// Flushes all written data to the disk, so that it survives a loss of power.
  /// The file's name survives once its folder is synchronized too.
  Status sync();
  /// Writes `rest` and moves the file to its path.
  Status keep(std::string_view rest = {});

private:
  OutputFile() = default;
  Status makeTemporary();
  Error failed() const;

  std::string path;
  /// Absent if the file is written in place.
  std::optional<TemporaryFile> temporary;
  int fd = -1;
};

/// Writes `pieces` to a file that appears at `path` only when it is complete.
Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::string_view> pieces);
/// The same; when it returns, the file also survives a loss of power.
Status writeFileDurably(const std::string &path,
                        std::initializer_list<std::string_view> pieces);

} // namespace luminal

#endif // LUMINAL_SUPPORT_OUTPUTFILE_H
