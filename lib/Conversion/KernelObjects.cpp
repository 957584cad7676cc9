//===- KernelObjects.cpp - A store of kernels' machine code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry of the store consists of the length of a dictionary's text, a new
// line, that text, and the object. Tested by
// test/Tools/luminal-compile/objects.test.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/KernelObjects.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "luminal/Support/Sha256.h"
#include "luminal/Support/Version.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace luminal;

static constexpr StringLiteral kLaunch = "launch", kRemark = "remark",
                               kRequires = "requires", kFeatures = "features";

KernelStore::~KernelStore() = default;

std::string FinishedKernel::str(StringRef place, MLIRContext *context) const {
  Builder b(context);
  SmallVector<Attribute> remark, required;
  for (const Reporter::Arg &arg : emitted.remark)
    remark.append({b.getStringAttr(arg.key), b.getStringAttr(arg.val)});
  for (Requirement requirement : emitted.requirements) {
    assert(StringRef(requirement.what).starts_with(place) && "of no kernel");
    requirement.what.erase(0, place.size());
    required.push_back(hlir::RequirementAttr::get(context, requirement));
  }
  SmallVector<StringRef> features(object.features.begin(),
                                  object.features.end());
  std::string text;
  llvm::raw_string_ostream(text) << b.getDictionaryAttr(
      {b.getNamedAttr(kLaunch, emitted.launch),
       b.getNamedAttr(kRemark, b.getArrayAttr(remark)),
       b.getNamedAttr(kRequires, b.getArrayAttr(required)),
       b.getNamedAttr(kFeatures, b.getStrArrayAttr(features))});
  return std::to_string(text.size()) + "\n" + text + object.bytes;
}

/// The elements of a list with elements of one kind; std::nullopt for anything
/// else.
template <typename AttrT>
static std::optional<SmallVector<AttrT>> getList(DictionaryAttr entry,
                                                 StringRef name) {
  auto list = entry.getAs<ArrayAttr>(name);
  if (!list || !llvm::all_of(list, llvm::IsaPred<AttrT>))
    return std::nullopt;
  return llvm::map_to_vector(list, llvm::CastTo<AttrT>);
}

std::optional<FinishedKernel> FinishedKernel::parse(StringRef entry,
                                                    StringRef symbol,
                                                    StringRef place,
                                                    MLIRContext *context) {
  auto [size, rest] = entry.split('\n');
  size_t bytes;
  if (size.getAsInteger(10, bytes) || bytes > rest.size())
    return std::nullopt;
  ScopedDiagnosticHandler silent(context,
                                 [](Diagnostic &) { return success(); });
  auto fields = dyn_cast_or_null<DictionaryAttr>(
      parseAttribute(rest.take_front(bytes), context));
  if (!fields)
    return std::nullopt;
  auto launch = fields.getAs<llir::LaunchAttrInterface>(kLaunch);
  auto remark = getList<StringAttr>(fields, kRemark),
       features = getList<StringAttr>(fields, kFeatures);
  auto required = getList<hlir::RequirementAttr>(fields, kRequires);
  if (!launch || !remark || remark->size() % 2 != 0 || !features || !required)
    return std::nullopt;
  FinishedKernel found{{launch, {}, {}}, {symbol.str(), {}, {}}};
  for (size_t i = 0; i != remark->size(); i += 2)
    found.emitted.remark.push_back(
        {(*remark)[i].getValue(), (*remark)[i + 1].getValue()});
  for (hlir::RequirementAttr requirement : *required)
    found.emitted.requirements.emplace_back(requirement.getRequirement())
        .what.insert(0, place.str());
  for (StringAttr feature : *features)
    found.object.features.push_back(feature.str());
  found.object.bytes = rest.drop_front(bytes).str();
  return found;
}

std::string luminal::getObjectKey(func::FuncOp func,
                                  const TargetInterface &device) {
  Sha256 hash;
  hash.update(std::string("luminal object\ncompiler ") + LUMINAL_VERSION +
              ", LLVM " + LLVM_VERSION_STRING + "\ntarget " +
              device.getName().str() + "\n" + device.describeObjects());
  // The name of the function in this program is not part of the key.
  StringAttr name = func.getSymNameAttr();
  func.setSymName("kernel");
  hash.update(llir::getKernelText(func));
  func.setSymNameAttr(name);
  return hash.hex();
}
