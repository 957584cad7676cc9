//===- Json.cpp - JSON read through checked accessors ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Json.h"
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace luminal;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The maximum nesting depth of brackets outside strings.
static unsigned nestingDepth(std::string_view text) {
  unsigned depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return deepest;
}

/// Python writes NaN, Infinity and -Infinity as bare words, which JSON does not
/// allow. Turns them into strings, which asDouble accepts.
static std::string quoteFloatWords(std::string_view text) {
  std::string result;
  result.reserve(text.size() + 16);
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\' && i + 1 < text.size())
        result += text[i++];
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == 'N' || c == 'I' || c == '-') {
      bool found = false;
      for (std::string_view word : {"NaN", "Infinity", "-Infinity"})
        if (text.substr(i, word.size()) == word) {
          result.append("\"").append(word).append("\"");
          i += word.size() - 1;
          found = true;
          break;
        }
      if (found)
        continue;
    }
    result += text[i];
  }
  return result;
}

namespace {
/// Records the position at which parsing stopped.
struct ErrorPosition : nlohmann::json_sax<json> {
  size_t position = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string &,
                   const nlohmann::detail::exception &) override {
    position = at;
    return false;
  }
};
} // namespace

Result<JsonDocument> JsonDocument::parse(std::string_view text,
                                         std::string name, unsigned maxDepth) {
  if (nestingDepth(text) > maxDepth)
    return Error(name + ": is nested deeper than " + std::to_string(maxDepth));
  json parsed = json::parse(text.begin(), text.end(), nullptr,
                            /*allow_exceptions=*/false);
  if (parsed.is_discarded() &&
      (text.find("NaN") != std::string_view::npos ||
       text.find("Infinity") != std::string_view::npos)) {
    std::string quoted = quoteFloatWords(text);
    parsed = json::parse(quoted.begin(), quoted.end(), nullptr,
                         /*allow_exceptions=*/false);
  }
  if (parsed.is_discarded()) {
    ErrorPosition handler;
    json::sax_parse(text.begin(), text.end(), &handler);
    return Error(name + ": is not valid JSON at byte " +
                 std::to_string(handler.position));
  }
  JsonDocument document;
  document.value = std::make_shared<const json>(std::move(parsed));
  document.name = std::move(name);
  return document;
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

bool JsonRef::isNull() const { return value->is_null(); }
bool JsonRef::isString() const { return value->is_string(); }
bool JsonRef::isObject() const { return value->is_object(); }
bool JsonRef::isArray() const { return value->is_array(); }

Error JsonRef::expected(const char *what) const {
  return error(std::string("expected ") + what + ", found " +
               value->type_name());
}

Result<JsonRef> JsonRef::at(std::string_view key) const {
  if (!value->is_object())
    return expected("an object");
  auto it = value->find(std::string(key));
  if (it == value->end())
    return error("has no '" + std::string(key) + "'");
  return JsonRef(&*it, path + "." + std::string(key));
}

Result<std::optional<JsonRef>> JsonRef::find(std::string_view key) const {
  if (!value->is_object())
    return expected("an object");
  auto it = value->find(std::string(key));
  if (it == value->end() || it->is_null())
    return std::optional<JsonRef>();
  return std::optional<JsonRef>(JsonRef(&*it, path + "." + std::string(key)));
}

Result<std::string> JsonRef::asString() const {
  if (auto *text = value->get_ptr<const json::string_t *>())
    return *text;
  return expected("a string");
}

Result<int64_t> JsonRef::asInt() const {
  if (value->is_number_unsigned()) {
    uint64_t n = *value->get_ptr<const json::number_unsigned_t *>();
    if (n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return error("is out of the range of 64-bit integers");
    return static_cast<int64_t>(n);
  }
  if (value->is_number_integer())
    return *value->get_ptr<const json::number_integer_t *>();
  return expected("an integer");
}

Result<bool> JsonRef::asBool() const {
  if (auto *flag = value->get_ptr<const json::boolean_t *>())
    return *flag;
  return expected("true or false");
}

Result<double> JsonRef::asDouble() const {
  if (auto *number = value->get_ptr<const json::number_float_t *>())
    return *number;
  if (value->is_number_unsigned())
    return static_cast<double>(
        *value->get_ptr<const json::number_unsigned_t *>());
  if (value->is_number_integer())
    return static_cast<double>(
        *value->get_ptr<const json::number_integer_t *>());
  if (auto *text = value->get_ptr<const json::string_t *>()) {
    if (*text == "Infinity")
      return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity")
      return -std::numeric_limits<double>::infinity();
    if (*text == "NaN")
      return std::numeric_limits<double>::quiet_NaN();
  }
  return expected("a number");
}

Result<std::vector<JsonRef>> JsonRef::asArray() const {
  if (!value->is_array())
    return expected("an array");
  std::vector<JsonRef> elements;
  elements.reserve(value->size());
  for (const json &element : *value)
    elements.emplace_back(&element,
                          path + "[" + std::to_string(elements.size()) + "]");
  return elements;
}

Result<std::vector<std::pair<std::string, JsonRef>>> JsonRef::asObject() const {
  if (!value->is_object())
    return expected("an object");
  std::vector<std::pair<std::string, JsonRef>> result;
  for (auto it = value->begin(); it != value->end(); ++it)
    result.emplace_back(it.key(), JsonRef(&it.value(), path + "." + it.key()));
  return result;
}

Result<std::pair<std::string, JsonRef>> JsonRef::asUnion() const {
  if (!value->is_object())
    return expected("an object");
  if (value->size() != 1)
    return error("expected an object with one member, found " +
                 std::to_string(value->size()));
  auto it = value->begin();
  return std::make_pair(std::string(it.key()),
                        JsonRef(&it.value(), path + "." + it.key()));
}
