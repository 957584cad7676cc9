//===- Json.h - JSON read through checked accessors -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nlohmann_json aborts on a wrong type when exceptions are disabled. These
// accessors instead return an Error that names the JSON path: "model.json:
// graph_module.graph.nodes[3].target: expected a string, found a number".
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_JSON_H
#define LUMINAL_SUPPORT_JSON_H

#include "luminal/Support/Result.h"
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal {

/// A value inside a JsonDocument, with its path. Valid while the
/// document lives.
class JsonRef {
public:
  JsonRef(const nlohmann::json *value, std::string path)
      : value(value), path(std::move(path)) {}

  const std::string &getPath() const { return path; }
  Error error(const std::string &message) const {
    return Error(path + ": " + message);
  }

  bool isNull() const;
  bool isString() const;
  bool isObject() const;
  bool isArray() const;

  /// The member `key`. `at` fails if this is not an object or has no such
  /// member; `find` returns std::nullopt if the member is absent or null.
  Result<JsonRef> at(std::string_view key) const;
  Result<std::optional<JsonRef>> find(std::string_view key) const;

  Result<std::string> asString() const;
  /// An integer that fits into int64_t; 1.0 is not one.
  Result<int64_t> asInt() const;
  Result<bool> asBool() const;
  /// Any number, or the strings "Infinity", "-Infinity", "NaN".
  Result<double> asDouble() const;
  Result<std::vector<JsonRef>> asArray() const;
  /// Members, sorted by key.
  Result<std::vector<std::pair<std::string, JsonRef>>> asObject() const;
  /// The only member of an object that must have exactly one (a tagged union).
  Result<std::pair<std::string, JsonRef>> asUnion() const;

private:
  Error expected(const char *what) const;

  const nlohmann::json *value;
  std::string path;
};

/// A parsed JSON text; owns all values.
class JsonDocument {
public:
  /// Parses UTF-8 text; `name` begins every error. Nesting beyond `maxDepth` is
  /// an error.
  static Result<JsonDocument> parse(std::string_view text, std::string name,
                                    unsigned maxDepth = 512);
  JsonRef root() const { return JsonRef(value.get(), name); }

private:
  std::shared_ptr<const nlohmann::json> value;
  std::string name;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_JSON_H
