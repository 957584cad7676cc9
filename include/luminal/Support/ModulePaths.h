//===- ModulePaths.h - Names steps after the user's modules ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a program records the names of the graph nodes that it computes.
// The modules of the user's model that those nodes belong to are in a separate
// table, so models with equal graphs share a program and still show their own
// names.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_MODULEPATHS_H
#define LUMINAL_SUPPORT_MODULEPATHS_H

#include "luminal/Support/Result.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace luminal {

/// For each node of a graph, the path of its module, such as
/// "layers.3.attn.q_proj"; for a node of the root module, the class of the
/// model.
using ModuleTable = std::map<std::string, std::string, std::less<>>;

/// Name of the member with such a table as a JSON object, in an artifact and in
/// an archive's folder `extra`.
constexpr std::string_view kModulesMember = "modules.json";

/// Name of the member, in an archive's folder `extra`, with such a table of
/// source lines of the user's code ("model.py:7"). Nodes themselves record only
/// the innermost lines, which may lie in a library and be the same for all
/// models.
constexpr std::string_view kPlacesMember = "places.json";

/// Errors begin with `name` and the JSON path.
Result<ModuleTable> parseModuleTable(std::string_view text, std::string name);
std::string printModuleTable(const ModuleTable &table);

/// Joins module paths, in their order, into one name: the common prefix, with
/// `*` in place of differing numbers, then the rest of each path:
/// "layers.*.mlp: gate, up". Paths with different first components are joined
/// separately: "layers.0: attn.q, norm; head". Empty if there are no paths.
std::string joinModulePaths(const std::vector<std::string_view> &paths);

/// Joins the module paths of `nodes`; empty if the table has none of them.
std::string joinModulePaths(const std::vector<std::string> &nodes,
                            const ModuleTable &table);

} // namespace luminal

#endif // LUMINAL_SUPPORT_MODULEPATHS_H
