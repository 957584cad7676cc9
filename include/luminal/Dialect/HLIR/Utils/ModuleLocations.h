//===- ModuleLocations.h - The user's modules in locations ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op that was imported has the name of its node as a NameLoc. Inside that
// stands the path of the node's module, where it is known, as another one:
// loc("linear"("layers.0.fc"("model.py":7:0))). It is in no key of a cache.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_UTILS_MODULELOCATIONS_H
#define LUMINAL_DIALECT_HLIR_UTILS_MODULELOCATIONS_H

#include "luminal/Support/ModulePaths.h"
#include "mlir/IR/Operation.h"

namespace luminal {

/// `place`, of a node of the graph in the module of that path.
mlir::Location locateInModule(mlir::Location place, llvm::StringRef path);

/// The nodes of the graph that a location names, each with the path of its
/// module, or an empty one.
void walkNodes(
    mlir::Location loc,
    llvm::function_ref<void(llvm::StringRef node, llvm::StringRef module)> fn);

/// Their modules as one name ("layers.*.mlp: gate, up"), or nothing.
std::string getModules(mlir::Location loc);

/// The modules of all nodes that `root` and the ops inside it come from.
ModuleTable collectModules(mlir::Operation *root);
/// Takes them out of the locations; or puts them in, where there are none.
void stripModules(mlir::Operation *root);
void restoreModules(mlir::Operation *root, const ModuleTable &table);

} // namespace luminal

#endif // LUMINAL_DIALECT_HLIR_UTILS_MODULELOCATIONS_H
