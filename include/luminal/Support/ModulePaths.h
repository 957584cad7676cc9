//===- ModulePaths.h - Steps by the names of the user's modules -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a program knows which nodes of the graph it computes. Of which
// module each node is, a table beside the program says: programs of equal
// graphs are shared, and each model shows its own names.
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

/// The path of the module that each node of a graph is of:
/// "layers.3.attn.q_proj"; of a node of the model itself, its class.
using ModuleTable = std::map<std::string, std::string, std::less<>>;

/// The member of an artifact, and in the folder `extra` of an archive, that
/// holds a table as a JSON object.
constexpr std::string_view kModulesMember = "modules.json";

/// The member of an archive's folder `extra` that holds the lines of the user's
/// code, "model.py:7", as such a table: nodes themselves say the innermost
/// lines, which may be those of a library and the same for all models.
constexpr std::string_view kPlacesMember = "places.json";

/// Errors begin with `name` and the JSON path.
Result<ModuleTable> parseModuleTable(std::string_view text, std::string name);
std::string printModuleTable(const ModuleTable &table);

/// One name for modules, in their order: what all paths begin with, `*` where
/// they have different numbers, then the rest of each:
/// "layers.*.mlp: gate, up". Paths that begin with different names are joined
/// apart: "layers.0: attn.q, norm; head". Empty for no path.
std::string joinModulePaths(const std::vector<std::string_view> &paths);

/// The same of the modules of these nodes; empty where the table has none.
std::string joinModulePaths(const std::vector<std::string> &nodes,
                            const ModuleTable &table);

} // namespace luminal

#endif // LUMINAL_SUPPORT_MODULEPATHS_H
