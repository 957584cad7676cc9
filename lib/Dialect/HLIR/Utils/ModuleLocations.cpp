//===- ModuleLocations.cpp - The user's modules in locations --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Utils/ModuleLocations.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace luminal;

Location luminal::locateInModule(Location place, StringRef path) {
  return NameLoc::get(StringAttr::get(place.getContext(), path), place);
}

/// The location of the module that contains the node; null if there is none.
static NameLoc findModule(NameLoc node) {
  return dyn_cast<NameLoc>(node.getChildLoc());
}

static StringRef getModule(NameLoc node) {
  NameLoc module = findModule(node);
  return module ? module.getName().getValue() : StringRef();
}

void luminal::walkNodes(Location loc,
                        function_ref<void(StringRef, StringRef)> fn) {
  llvm::SmallPtrSet<const void *, 4> modules;
  loc->walk([&](Location part) {
    auto node = dyn_cast<NameLoc>(part);
    if (!node || modules.contains(part.getAsOpaquePointer()))
      return WalkResult::advance();
    fn(node.getName(), getModule(node));
    if (NameLoc module = findModule(node))
      modules.insert(module.getAsOpaquePointer());
    return WalkResult::advance();
  });
}

std::string luminal::getModules(Location loc) {
  SmallVector<StringRef> found;
  walkNodes(loc, [&](StringRef, StringRef module) {
    if (!module.empty() && !llvm::is_contained(found, module))
      found.push_back(module);
  });
  return joinModulePaths({found.begin(), found.end()});
}

ModuleTable luminal::collectModules(Operation *root) {
  ModuleTable table;
  // The locations of a loop's trips are in metadata.
  AttrTypeWalker walker;
  walker.addWalk([&](Attribute part) {
    if (auto node = dyn_cast<NameLoc>(part))
      if (StringRef module = getModule(node); !module.empty())
        table.try_emplace(node.getName().str(), module.str());
  });
  root->walk([&](Operation *op) {
    walker.walk<WalkOrder::PreOrder>(Attribute(LocationAttr(op->getLoc())));
  });
  return table;
}

static void replaceLocations(Operation *root, AttrTypeReplacer &replacer) {
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/true,
                                        /*replaceTypes=*/false);
}

void luminal::stripModules(Operation *root) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](NameLoc node) -> std::optional<Attribute> {
    NameLoc module = findModule(node);
    if (!module)
      return std::nullopt;
    Location place = NameLoc::get(node.getName(), module.getChildLoc());
    return Attribute(LocationAttr(place));
  });
  replaceLocations(root, replacer);
}

void luminal::restoreModules(Operation *root, const ModuleTable &table) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](NameLoc node) -> std::optional<std::pair<Attribute, WalkResult>> {
        auto found = table.find(std::string_view(node.getName().getValue()));
        if (found == table.end() || findModule(node))
          return std::nullopt;
        Location place = locateInModule(node.getChildLoc(), found->second);
        return std::pair(Attribute(NameLoc::get(node.getName(), place)),
                         WalkResult::skip());
      });
  replaceLocations(root, replacer);
}
