//===- OutputFile.cpp - Files that appear only when complete --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/OutputFile.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace luminal;

//===----------------------------------------------------------------------===//
// Temporary files and signals
//===----------------------------------------------------------------------===//

/// A list that a signal handler can iterate at any time: entries are added at
/// the head and never freed; an entry without a path is reused.
struct detail::TemporaryEntry {
  std::atomic<char *> path{nullptr};
  std::atomic<bool> taken{true};
  TemporaryEntry *next = nullptr;
};

namespace {
using Entry = detail::TemporaryEntry;
std::atomic<Entry *> entries{nullptr};

constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
struct sigaction previous[std::size(kSignals)];

sigset_t getSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : kSignals)
    ::sigaddset(&set, signal);
  return set;
}

/// Number of threads that are creating a file; whether the process is ending.
std::atomic<int> creating{0};
std::atomic<bool> ending{false};

/// The signal handler: removes all temporary files of the process.
void removeAll(int signal) {
  // Threads block the signals while they create a file, so this never waits for
  // the thread that the signal interrupted.
  ending.store(true);
  while (creating.load())
    ::poll(nullptr, 0, 1);
  // The thread that takes the path out of its entry removes the file.
  for (Entry *entry = entries.load(); entry; entry = entry->next)
    if (const char *path = entry->path.exchange(nullptr))
      ::unlink(path);
  // The signal raised here is delivered, with its previous action, when this
  // handler returns.
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal)
      ::sigaction(signal, &previous[i], nullptr);
  ::raise(signal);
}

Entry *enter(const std::string &path) {
  char *copy = new char[path.size() + 1];
  std::memcpy(copy, path.c_str(), path.size() + 1);
  Entry *entry = entries.load();
  while (entry && entry->taken.exchange(true))
    entry = entry->next;
  if (!entry) {
    entry = new Entry;
    entry->next = entries.load();
    while (!entries.compare_exchange_weak(entry->next, entry))
      ;
  }
  entry->path.store(copy);
  return entry;
}

void leave(Entry *entry) {
  // Null if a signal handler took it: the process is ending.
  char *path = entry->path.exchange(nullptr);
  if (!path)
    return;
  delete[] path;
  entry->taken.store(false);
}
} // namespace

TemporaryFileScope::TemporaryFileScope() {
  sigset_t signals = getSignals();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  creating.fetch_add(1);
  // Too late: the signal handler of another thread is already removing files.
  if (ending.load()) {
    creating.fetch_sub(1);
    while (true)
      ::pause();
  }
}

TemporaryFileScope::~TemporaryFileScope() {
  creating.fetch_sub(1);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TemporaryFile::TemporaryFile(std::string_view path, const TemporaryFileScope &)
    : entry(nullptr), path(path) {
  entry = enter(this->path);
}

Result<TemporaryFile> TemporaryFile::create(const std::string &suffix) {
  std::error_code code;
  std::string folder = std::filesystem::temp_directory_path(code).string();
  if (code)
    return Error("no folder for temporary files: " + code.message());
  std::string path = folder + "/luminal-XXXXXX." + suffix;
  TemporaryFileScope scope;
  int fd =
      ::mkostemps(path.data(), static_cast<int>(suffix.size()) + 1, O_CLOEXEC);
  if (fd < 0)
    return Error(folder + ": no temporary file: " + std::strerror(errno));
  ::close(fd);
  return TemporaryFile(path, scope);
}

void TemporaryFile::remove() {
  if (!entry)
    return;
  ::unlink(path.c_str());
  leave(std::exchange(entry, nullptr));
}

bool TemporaryFile::moveTo(const std::string &target) {
  if (::rename(path.c_str(), target.c_str()) != 0)
    return false;
  leave(std::exchange(entry, nullptr));
  return true;
}

void luminal::removeTemporaryFilesOnSignals() {
  static bool done = false;
  if (std::exchange(done, true))
    return;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    // A signal that the parent process ignores (nohup) stays ignored.
    if (::sigaction(kSignals[i], nullptr, &previous[i]) != 0 ||
        previous[i].sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = removeAll;
    action.sa_mask = getSignals();
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Output files
//===----------------------------------------------------------------------===//

Status OutputFile::makeTemporary() {
  // Let the kernel set the default mode: reading the process's umask would
  // change it for all threads for a moment.
  static std::atomic<unsigned> made{0};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string name = path + "." + std::to_string(::getpid()) + "-" +
                       std::to_string(made.fetch_add(1));
    TemporaryFileScope scope;
    fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      temporary.emplace(name, scope);
      return {};
    }
    if (errno != EEXIST)
      break;
  }
  return failed();
}

Result<OutputFile> OutputFile::create(std::string path) {
  OutputFile file;
  file.path = std::move(path);
  struct stat info;
  bool isThere = ::lstat(file.path.c_str(), &info) == 0;
  if (file.path == "-") {
    file.fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  } else if (isThere && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
  } else if (isThere && !S_ISREG(info.st_mode)) {
    file.fd = ::open(file.path.c_str(),
                     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  } else {
    LUMINAL_CHECK(file.makeTemporary());
  }
  if (file.fd < 0)
    return file.failed();
  return file;
}

OutputFile::OutputFile(OutputFile &&other)
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      fd(std::exchange(other.fd, -1)) {
  other.temporary.reset();
}

OutputFile::~OutputFile() {
  if (fd >= 0)
    ::close(fd);
}

Error OutputFile::failed() const {
  return Error((path == "-" ? "standard output" : path + ":") +
               " cannot be written: " + std::strerror(errno));
}

Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(),
                        std::min<size_t>(bytes.size(), size_t(1) << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return failed();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status OutputFile::sync() {
  if (::fsync(fd) != 0)
    return failed();
  return {};
}

Status OutputFile::keep(std::string_view rest) {
  LUMINAL_CHECK(write(rest));
  if (::close(std::exchange(fd, -1)) != 0)
    return failed();
  if (temporary && !temporary->moveTo(path))
    return failed();
  temporary.reset();
  return {};
}

/// Writes a file with these pieces, without `keep`.
static Result<OutputFile>
createWith(const std::string &path,
           std::initializer_list<std::string_view> pieces) {
  LUMINAL_TRY(file, OutputFile::create(path));
  for (std::string_view piece : pieces)
    LUMINAL_CHECK(file.write(piece));
  return std::move(file);
}

Status
luminal::writeFileAtomically(const std::string &path,
                             std::initializer_list<std::string_view> pieces) {
  LUMINAL_TRY(file, createWith(path, pieces));
  return file.keep();
}

Status
luminal::writeFileDurably(const std::string &path,
                          std::initializer_list<std::string_view> pieces) {
  LUMINAL_TRY(file, createWith(path, pieces));
  LUMINAL_CHECK(file.sync());
  LUMINAL_CHECK(file.keep());
  // The file's name is stored in its folder.
  size_t slash = path.find_last_of('/');
  std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return Error(folder + ": cannot be opened: " + std::strerror(errno));
  int done = ::fsync(fd);
  // Some file systems cannot synchronize folders.
  int reason = done == 0 || errno == EINVAL ? 0 : errno;
  ::close(fd);
  if (reason)
    return Error(folder + ": cannot be synchronized: " + std::strerror(reason));
  return {};
}
