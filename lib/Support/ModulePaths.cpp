//===- ModulePaths.cpp - Names steps after the user's modules -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/ModulePaths.h"
#include "luminal/Support/Json.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace luminal;

Result<ModuleTable> luminal::parseModuleTable(std::string_view text,
                                              std::string name) {
  LUMINAL_TRY(document, JsonDocument::parse(text, std::move(name)));
  LUMINAL_TRY(entries, document.root().asObject());
  ModuleTable table;
  for (const auto &[node, value] : entries) {
    LUMINAL_TRY(path, value.asString());
    table.emplace(node, std::move(path));
  }
  return table;
}

std::string luminal::printModuleTable(const ModuleTable &table) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto &[node, path] : table)
    json[node] = path;
  return json.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

namespace {
using Parts = std::vector<std::string_view>;

/// Maximum number of different rests that a name lists; further ones become
/// "...".
constexpr size_t kMostRests = 6;

Parts split(std::string_view path) {
  Parts parts;
  for (size_t begin = 0;;) {
    size_t end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    if (end == path.size())
      return parts;
    begin = end + 1;
  }
}

bool isNumber(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

void addUnique(std::vector<std::string> &list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end())
    list.push_back(std::move(text));
}

std::string join(const std::vector<std::string> &texts,
                 std::string_view between) {
  std::string joined;
  for (const std::string &text : texts)
    joined += (joined.empty() ? "" : std::string(between)) + text;
  return joined;
}

/// Whether all paths end here in a number, like the layers of one sequence, and
/// the numbers are few enough to list.
bool areFewSiblings(const std::vector<Parts> &paths, size_t depth) {
  std::vector<std::string> numbers;
  for (const Parts &path : paths) {
    if (path.size() != depth + 1)
      return false;
    addUnique(numbers, std::string(path[depth]));
  }
  return numbers.size() <= kMostRests;
}

/// Joins paths that have the same first component, or all begin with a number.
std::string joinAlike(const std::vector<Parts> &paths) {
  std::string name;
  size_t depth = 0;
  bool siblings = false;
  for (;; ++depth) {
    auto has = [&](auto &&holds) {
      return std::all_of(paths.begin(), paths.end(), [&](const Parts &path) {
        return depth < path.size() && holds(path[depth]);
      });
    };
    std::string_view part;
    if (has([&](std::string_view p) { return p == paths[0][depth]; }))
      part = paths[0][depth];
    else if (bool numbers = has(isNumber);
             numbers && !(siblings = areFewSiblings(paths, depth)))
      part = "*";
    else
      break;
    name += (depth ? "." : "") + std::string(part);
  }
  std::vector<std::string> rests;
  for (const Parts &path : paths) {
    std::string rest;
    for (size_t i = depth; i < path.size(); ++i)
      rest += (i == depth ? "" : ".") + std::string(path[i]);
    if (!rest.empty())
      addUnique(rests, std::move(rest));
  }
  if (siblings)
    std::sort(rests.begin(), rests.end(),
              [](const std::string &a, const std::string &b) {
                return std::pair(a.size(), a) < std::pair(b.size(), b);
              });
  if (rests.size() > kMostRests) {
    rests.resize(kMostRests);
    rests.push_back("...");
  }
  if (rests.empty())
    return name;
  return (name.empty() ? "" : name + ": ") + join(rests, ", ");
}
} // namespace

std::string
luminal::joinModulePaths(const std::vector<std::string_view> &paths) {
  std::vector<std::vector<Parts>> groups;
  for (std::string_view path : paths) {
    Parts parts = split(path);
    auto alike = std::find_if(
        groups.begin(), groups.end(), [&](const std::vector<Parts> &group) {
          return group[0][0] == parts[0] ||
                 (isNumber(group[0][0]) && isNumber(parts[0]));
        });
    if (alike == groups.end())
      groups.push_back({std::move(parts)});
    else
      alike->push_back(std::move(parts));
  }
  std::vector<std::string> names;
  for (const std::vector<Parts> &group : groups)
    addUnique(names, joinAlike(group));
  return join(names, "; ");
}

std::string luminal::joinModulePaths(const std::vector<std::string> &nodes,
                                     const ModuleTable &table) {
  std::vector<std::string_view> paths;
  for (const std::string &node : nodes)
    if (auto it = table.find(node); it != table.end())
      paths.push_back(it->second);
  return joinModulePaths(paths);
}
