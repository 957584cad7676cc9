//===- PlanCache.h - What was measured, on disk ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder with one file for each entry, named by the SHA-256 of its key. Any
// number of processes may use one folder concurrently: an entry appears
// completely or not at all, and carries a checksum.
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

/// `Update` reads and writes. `ReadOnly` measures missing entries but keeps
/// them in memory only. `Frozen` measures nothing: missing entries stay
/// unknown.
enum class CacheMode { Update, ReadOnly, Frozen };
/// The mode called "update", "read-only" or "frozen", as in
/// `--plan-cache-mode`.
std::optional<CacheMode> getCacheMode(std::string_view name);

struct PlanCacheOptions {
  /// The folder of the cache; empty to keep nothing on disk.
  std::string folder;
  CacheMode mode = CacheMode::Update;
  /// Maximum number of bytes of all entries after `trim`.
  uint64_t mostBytes = uint64_t(256) << 20;
  /// Called once for each entry that was discarded and if writing failed;
  /// neither is an error.
  std::function<void(const std::string &)> note;
};

class PlanCache {
public:
  explicit PlanCache(PlanCacheOptions options);

  CacheMode getMode() const { return options.mode; }
  /// The payload of an entry; nullopt if there is no valid entry. `kind` is a
  /// word ("kernel"), `key` 64 hexadecimal digits.
  std::optional<std::string> find(std::string_view kind,
                                  const std::string &key);
  /// Stores an entry, replacing an older one. Entries are also kept in memory,
  /// so that the cache serves this process even if the folder cannot be
  /// written.
  void store(std::string_view kind, const std::string &key,
             std::string_view payload);
  /// Removes the least recently used entries until at most `mostBytes` are
  /// left, and the temporary files of writers that died.
  void trim();

private:
  std::string getPath(std::string_view kind, const std::string &key) const;
  void tell(const std::string &message);

  PlanCacheOptions options;
  std::map<std::string, std::string> known;
  /// Whether writing failed, after which it is not tried again.
  bool cannotWrite = false;
};

/// The folder of the cache for `--plan-cache=folder`; for an empty string, the
/// folder of the user.
std::string getPlanFolder(const std::string &folder);

} // namespace luminal::search

#endif // LUMINAL_SEARCH_PLANCACHE_H
