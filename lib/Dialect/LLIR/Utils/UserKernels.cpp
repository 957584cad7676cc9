//===- UserKernels.cpp - User kernels for given operands ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Utils/UserKernels.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

DictionaryAttr UserKernelSpec::toAttribute() const {
  Builder b(type.getContext());
  return b.getDictionaryAttr({b.getNamedAttr("cost", cost),
                              b.getNamedAttr("launch", launch),
                              b.getNamedAttr("type", TypeAttr::get(type))});
}

UserKernelSpec UserKernelSpec::fromAttribute(DictionaryAttr attribute) {
  return {cast<FunctionType>(attribute.getAs<TypeAttr>("type").getValue()),
          attribute.getAs<hlir::MapAttr>("cost"),
          attribute.getAs<CustomLaunchAttrInterface>("launch")};
}

namespace {
/// Binds a kernel's symbols to extents of the given operands.
class Binding {
public:
  Binding(const Assumptions &symbols, std::string *why)
      : symbols(symbols), why(why) {}

  bool bind(TypeRange declared, TypeRange given);
  /// Checks that the types are those declared.
  bool check(TypeRange declared, TypeRange given, StringRef what);
  Expr substitute(const Expr &e) const;

private:
  bool refuse(const Twine &reason) {
    *why = reason.str();
    return false;
  }

  const Assumptions &symbols;
  std::string *why;
  std::map<std::string, Expr, std::less<>> values;
};
} // namespace

static std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Expr Binding::substitute(const Expr &e) const {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    std::optional<std::string_view> name = leaf.asSymbol();
    if (!name)
      return std::nullopt;
    auto it = values.find(*name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  });
}

bool Binding::bind(TypeRange declared, TypeRange given) {
  if (declared.size() != given.size())
    return refuse("takes " + Twine(declared.size()) + " operands, found " +
                  Twine(given.size()));
  for (auto [want, have] : llvm::zip_equal(declared, given)) {
    auto wanted = cast<RankedTensorType>(want),
         found = dyn_cast<RankedTensorType>(have);
    if (!found || found.getRank() != wanted.getRank())
      continue;
    for (auto [extent, value] :
         llvm::zip_equal(hlir::getExtents(wanted), hlir::getExtents(found)))
      if (std::optional<std::string_view> name = extent.asSymbol())
        values.try_emplace(std::string(*name), value);
  }
  return true;
}

bool Binding::check(TypeRange declared, TypeRange given, StringRef what) {
  if (declared.size() != given.size())
    return refuse("has " + Twine(declared.size()) + " " + what + "s, found " +
                  Twine(given.size()));
  for (auto [i, want, have] : llvm::enumerate(declared, given)) {
    auto wanted = cast<RankedTensorType>(want),
         found = dyn_cast<RankedTensorType>(have);
    bool fits = found && found.getRank() == wanted.getRank() &&
                found.getElementType() == wanted.getElementType();
    if (fits)
      for (auto [extent, value] :
           llvm::zip_equal(hlir::getExtents(wanted), hlir::getExtents(found)))
        fits &= symbols.equal(substitute(extent), value) == true;
    if (!fits)
      return refuse("has " + what + " " + Twine(i) + " of type " +
                    describe(want) + ", found " + describe(have));
  }
  return true;
}

std::optional<UserKernelSpec::Use>
UserKernelSpec::getUse(TypeRange operands, TypeRange results,
                       const Assumptions &symbols, std::string *why) const {
  Binding binding(symbols, why);
  if (!binding.bind(type.getInputs(), operands) ||
      !binding.check(type.getInputs(), operands, "operand") ||
      !binding.check(type.getResults(), results, "result"))
    return std::nullopt;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](hlir::MapAttr map) -> std::optional<Attribute> {
    return hlir::MapAttr::get(
        map.getContext(), map.getNumDims(),
        llvm::map_to_vector(map.getResults(), [&](const Expr &e) {
          return symbols.simplify(binding.substitute(e));
        }));
  });
  return Use{
      cast<hlir::MapAttr>(replacer.replace(Attribute(cost))),
      cast<CustomLaunchAttrInterface>(replacer.replace(Attribute(launch)))};
}
