//===- ModuleLocations.cpp - The user's modules in locations --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Utils/ModuleLocations.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;

static constexpr StringLiteral kModule = "hlir.module";

Location luminal::locateInModule(Location place, StringRef path) {
  MLIRContext *context = place.getContext();
  NamedAttribute module(StringAttr::get(context, kModule),
                        StringAttr::get(context, path));
  return FusedLoc::get(context, {place}, DictionaryAttr::get(context, module));
}

/// The path around a place; null where there is none.
static StringAttr getPath(Attribute place) {
  auto fused = dyn_cast<FusedLoc>(place);
  auto data = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                    : DictionaryAttr();
  return data ? data.getAs<StringAttr>(kModule) : StringAttr();
}

static StringRef getModule(NameLoc node) {
  StringAttr path = getPath(node.getChildLoc());
  return path ? path.getValue() : StringRef();
}

void luminal::walkNodes(Location loc,
                        function_ref<void(StringRef, StringRef)> fn) {
  loc->walk([&](Location part) {
    if (auto node = dyn_cast<NameLoc>(part))
      fn(node.getName(), getModule(node));
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
  // Trips of loops are in the metadata of a location.
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
  replacer.addReplacement([](FusedLoc place) -> std::optional<Attribute> {
    if (!getPath(place))
      return std::nullopt;
    return Attribute(LocationAttr(place.getLocations().front()));
  });
  replaceLocations(root, replacer);
}

void luminal::restoreModules(Operation *root, const ModuleTable &table) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](NameLoc node) -> std::optional<std::pair<Attribute, WalkResult>> {
        auto found = table.find(std::string_view(node.getName().getValue()));
        if (found == table.end() || getPath(node.getChildLoc()))
          return std::nullopt;
        Location place = locateInModule(node.getChildLoc(), found->second);
        return std::pair(Attribute(NameLoc::get(node.getName(), place)),
                         WalkResult::skip());
      });
  replaceLocations(root, replacer);
}
