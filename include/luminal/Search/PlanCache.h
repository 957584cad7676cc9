//===- PlanCache.h - What was measured, on disk ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of entries, one file each, found by the SHA-256 of what they are
// about. Any number of processes may use one folder at once: an entry appears
// complete or not at all, and says by a checksum that it is whole.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SEARCH_PLANCACHE_H
#define LUMINAL_SEARCH_PLANCACHE_H

#include "luminal/Support/Result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace luminal::search {

/// `Update` reads and writes. `ReadOnly` measures what is missing and keeps it
/// to itself. `Frozen` measures nothing: what is not there is not known.
enum class CacheMode { Update, ReadOnly, Frozen };
/// By the name that `--plan-cache-mode` has: "update", "read-only", "frozen".
std::optional<CacheMode> getCacheMode(std::string_view name);

struct PlanCacheOptions {
  /// Empty: nothing is kept on disk.
  std::string folder;
  CacheMode mode = CacheMode::Update;
  /// Bytes of all entries that `trim` leaves, at most.
  uint64_t mostBytes = uint64_t(256) << 20;
  /// Told what was discarded or could not be written, once each: no such thing
  /// is an error.
  std::function<void(const std::string &)> note;
};

class PlanCache {
public:
  explicit PlanCache(PlanCacheOptions options);

  CacheMode getMode() const { return options.mode; }
  /// What was stored; nothing where there is no whole entry. `kind` is a word
  /// ("kernel"), `key` 64 hexadecimal digits.
  std::optional<std::string> find(std::string_view kind,
                                  const std::string &key);
  /// Replaces what was there. Entries are also kept in memory, so that a folder
  /// that cannot be written serves this process.
  void store(std::string_view kind, const std::string &key,
             std::string_view payload);
  /// Removes the entries that were not used for the longest time, until no more
  /// than `mostBytes` are left; and what writers that died left behind.
  void trim();

private:
  std::string getPath(std::string_view kind, const std::string &key) const;
  void tell(const std::string &message);

  PlanCacheOptions options;
  std::map<std::string, std::string> known;
  /// Whether writing failed: it is tried once.
  bool cannotWrite = false;
};

/// Where the cache is that `--plan-cache=folder` names; if that is empty, the
/// user's.
std::string getPlanFolder(const std::string &folder);

} // namespace luminal::search

#endif // LUMINAL_SEARCH_PLANCACHE_H
