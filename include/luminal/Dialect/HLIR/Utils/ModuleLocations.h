//===- ModuleLocations.h - The user's modules in locations ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The location of an imported op is a NameLoc with the name of its graph node.
// It contains another NameLoc with the path of the node's module, if that is
// known: loc("linear"("layers.0.fc"("model.py":7:0))). No cache key contains
// it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_UTILS_MODULELOCATIONS_H
#define LUMINAL_DIALECT_HLIR_UTILS_MODULELOCATIONS_H

#include "luminal/Support/ModulePaths.h"
#include "mlir/IR/Operation.h"

namespace luminal {

/// Returns `place` as the place of a graph node in the module at that path.
mlir::Location locateInModule(mlir::Location place, llvm::StringRef path);

/// Calls fn for each graph node that a location names, with the path of its
/// module (empty if unknown).
void walkNodes(
    mlir::Location loc,
    llvm::function_ref<void(llvm::StringRef node, llvm::StringRef module)> fn);

/// Returns the modules of a location as one name ("layers.*.mlp: gate, up");
/// empty if there are none.
std::string getModules(mlir::Location loc);

/// Returns the modules of all nodes that `root` and the ops inside it come
/// from.
ModuleTable collectModules(mlir::Operation *root);
/// Remove the modules from locations, and add them to locations without any.
void stripModules(mlir::Operation *root);
void restoreModules(mlir::Operation *root, const ModuleTable &table);

} // namespace luminal

#endif // LUMINAL_DIALECT_HLIR_UTILS_MODULELOCATIONS_H
