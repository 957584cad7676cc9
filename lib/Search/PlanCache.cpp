//===- PlanCache.cpp - What was measured, on disk -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Search/PlanCache.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Support/Sha256.h"
#include "luminal/Support/ZipArchive.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

using namespace luminal;
using namespace luminal::search;
namespace fs = std::filesystem;

/// The first line of an entry. Its number changes with the format of entries.
static constexpr std::string_view kMagic = "luminal-plan 1\n";
/// An upper bound of the size of an entry.
static constexpr uintmax_t kMostEntryBytes = uintmax_t(64) << 20;

std::optional<CacheMode> search::getCacheMode(std::string_view name) {
  if (name == "update")
    return CacheMode::Update;
  if (name == "read-only")
    return CacheMode::ReadOnly;
  if (name == "frozen")
    return CacheMode::Frozen;
  return std::nullopt;
}

std::string search::getPlanFolder(const std::string &folder) {
  std::string file = runtime::getMachineFile(folder);
  size_t slash = file.find_last_of('/');
  return slash == std::string::npos ? std::string()
                                    : file.substr(0, slash) + "/plans";
}

PlanCache::PlanCache(PlanCacheOptions options) : options(std::move(options)) {}

void PlanCache::tell(const std::string &message) {
  if (options.note)
    options.note(message);
}

std::string PlanCache::getPath(std::string_view kind,
                               const std::string &key) const {
  // Distribute the entries over subfolders by the first two digits, so that no
  // folder holds too many files.
  return options.folder + "/" + std::string(kind) + "/" + key.substr(0, 2) +
         "/" + key.substr(2);
}

/// The header of an entry: its kind, its key and the payload's checksum and
/// size.
static std::string makeHeader(std::string_view kind, const std::string &key,
                              std::string_view payload) {
  Sha256 hash;
  hash.update(payload);
  return std::string(kMagic) + std::string(kind) + " " + key + "\n" +
         hash.hex() + " " + std::to_string(payload.size()) + "\n";
}

std::optional<std::string> PlanCache::find(std::string_view kind,
                                           const std::string &key) {
  std::string name = std::string(kind) + " " + key;
  if (auto it = known.find(name); it != known.end())
    return it->second;
  if (options.folder.empty())
    return std::nullopt;
  std::string path = getPath(kind, key);
  std::error_code code;
  if (!fs::is_regular_file(path, code))
    return std::nullopt;
  uintmax_t size = fs::file_size(path, code);
  auto discard = [&](const char *why) {
    tell(path + ": " + why + "; it is discarded");
    if (options.mode == CacheMode::Update)
      fs::remove(path, code);
    return std::nullopt;
  };
  if (code || size > kMostEntryBytes)
    return discard("is not an entry of a plan cache");
  Result<Bytes> bytes = mapFile(path);
  if (!bytes)
    return std::nullopt;
  std::string_view text = bytes->text();
  if (text.substr(0, kMagic.size()) != kMagic)
    return discard("is not an entry of a plan cache");
  // Compare with the header that this payload should have.
  size_t begin = 0;
  for (unsigned line = 0; line < 3 && begin != text.npos; ++line)
    if (begin = text.find('\n', begin); begin != text.npos)
      ++begin;
  if (begin == text.npos ||
      text.substr(0, begin) != makeHeader(kind, key, text.substr(begin)))
    return discard("is incomplete or damaged");
  if (options.mode == CacheMode::Update)
    fs::last_write_time(path, fs::file_time_type::clock::now(), code);
  return known[name] = std::string(text.substr(begin));
}

void PlanCache::store(std::string_view kind, const std::string &key,
                      std::string_view payload) {
  known[std::string(kind) + " " + key] = std::string(payload);
  if (options.folder.empty() || options.mode != CacheMode::Update ||
      cannotWrite)
    return;
  std::string path = getPath(kind, key);
  std::error_code code;
  fs::create_directories(fs::path(path).parent_path(), code);
  Status status =
      code ? Status(Error(path + ": " + code.message()))
           : writeFileDurably(path, {makeHeader(kind, key, payload), payload});
  if (status)
    return;
  cannotWrite = true;
  tell("the plan cache cannot be written: " + status.error().message);
}

void PlanCache::trim() {
  if (options.folder.empty() || options.mode != CacheMode::Update)
    return;
  struct File {
    fs::file_time_type time;
    std::string path;
    uintmax_t bytes;
  };
  std::vector<File> files;
  uintmax_t total = 0;
  const auto now = fs::file_time_type::clock::now();
  constexpr auto kAbandoned = std::chrono::hours(1);
  std::error_code code;
  for (fs::recursive_directory_iterator it(
           options.folder, fs::directory_options::skip_permission_denied, code),
       end;
       !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored))
      continue;
    File file{it->last_write_time(ignored), it->path().string(),
              it->file_size(ignored)};
    if (ignored)
      continue;
    // A name with a dot is that of a temporary file during writing.
    if (it->path().filename().string().find('.') != std::string::npos) {
      if (now - file.time > kAbandoned)
        fs::remove(file.path, ignored);
      continue;
    }
    total += file.bytes;
    files.push_back(std::move(file));
  }
  if (total <= options.mostBytes)
    return;
  std::sort(files.begin(), files.end(), [](const File &a, const File &b) {
    return std::tie(a.time, a.path) < std::tie(b.time, b.path);
  });
  for (const File &file : files) {
    if (total <= options.mostBytes)
      break;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    total -= file.bytes;
  }
}
