//===- RuleLoader.cpp - The patterns that one pass runs -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuleLoader.h"
#include "PatternCompiler.h"
#include "Registry.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SourceMgr.h"

#include <cmath>

using namespace mlir;
using namespace luminal::eqsat;

LogicalResult RuleLoader::addPattern(pdl::PatternOp pattern, RuleInfo info,
                                     const NativeFunctions *natives) {
  // `info.name` must refer to the pattern's own string, which lives long
  // enough.
  info.name = *pattern.getSymName();
  auto [it, inserted] = places.try_emplace(info.name, pattern.getLoc());
  if (!inserted) {
    InFlightDiagnostic diag = emitError(pattern.getLoc())
                              << "two rules are named '" << info.name << "'";
    diag.attachNote(it->second) << "the other one";
    return diag;
  }
  patterns.push_back({pattern, info, natives});
  return success();
}

LogicalResult RuleLoader::readAttributes(ModuleOp module) {
  auto visit = [](pdl::AttributeOp op) -> WalkResult {
    auto text = dyn_cast_or_null<StringAttr>(op.getValueAttr());
    if (!text || !text.getValue().starts_with("#"))
      return WalkResult::advance();
    std::string reason;
    Attribute attr;
    {
      ScopedDiagnosticHandler handler(op.getContext(), [&](Diagnostic &d) {
        if (reason.empty())
          reason = d.str();
      });
      attr = parseAttribute(text.getValue(), op.getContext());
    }
    if (!attr) {
      auto pattern = op->getParentOfType<pdl::PatternOp>();
      return emitError(op.getLoc())
             << "rule '" << pattern.getSymName().value_or("")
             << "' cannot be used: '" << text.getValue()
             << "' is not an attribute: " << reason;
    }
    op.setValueAttr(attr);
    return WalkResult::advance();
  };
  return failure(module.walk(visit).wasInterrupted());
}

LogicalResult RuleLoader::loadSets(Location loc, ArrayRef<std::string> names,
                                   bool all) {
  MLIRContext *context = loc.getContext();
  Registry &registry = Registry::get();
  for (const std::string &name : names)
    if (!registry.ruleSets.count(name)) {
      InFlightDiagnostic diag = emitError(loc)
                                << "no rule set is named '" << name << "'";
      if (!registry.ruleSets.empty()) {
        diag << "; known are ";
        llvm::interleaveComma(registeredRuleSets(), diag);
      }
      return diag;
    }
  for (auto &[name, populate] : registry.ruleSets) {
    RewritePatternSet set(context);
    RuleSetBuilder builder(set);
    populate(builder);
    functions.push_back(std::make_unique<NativeFunctions>());
    NativeFunctions &own = *functions.back();
    own.fastConstraints = std::move(builder.fastConstraints);
    own.fastRewrites = std::move(builder.fastRewrites);
    PDLPatternModule pdl = std::move(set.getPDLPatterns());
    own.constraints = pdl.takeConstraintFunctions();
    own.rewrites = pdl.takeRewriteFunctions();
    if (!all && !llvm::is_contained(names, name))
      continue;
    llvm::StringMap<const RuleInfo *> infos;
    for (const RuleInfo &info : builder.infos)
      if (!infos.insert({info.name, &info}).second)
        return emitError(loc) << "rule set '" << name << "' states rule '"
                              << info.name << "' twice";
    ModuleOp module = pdl.getModule();
    llvm::StringSet<> seen;
    if (module) {
      // Clone the module: the set owns it, but the patterns live longer.
      modules.push_back(OwningOpRef<ModuleOp>(module.clone()));
      if (failed(readAttributes(*modules.back())))
        return failure();
      for (auto pattern : modules.back()->getOps<pdl::PatternOp>()) {
        if (!pattern.getSymName())
          return emitError(pattern.getLoc())
                 << "a rule of set '" << name << "' has no name";
        auto it = infos.find(*pattern.getSymName());
        if (it == infos.end())
          return emitError(pattern.getLoc())
                 << "rule '" << *pattern.getSymName()
                 << "' cannot be used: rule set '" << name
                 << "' states no promise for it";
        seen.insert(it->getKey());
        if (failed(addPattern(pattern, *it->second, &own)))
          return failure();
      }
    }
    for (const RuleInfo &info : builder.infos)
      if (!seen.contains(info.name))
        return emitError(loc)
               << "rule set '" << name << "' states a promise for '"
               << info.name << "', which it does not have";
  }
  return success();
}

/// Reads the `eqsat.*` attributes of a pattern.
static FailureOr<RuleInfo> readRuleInfo(pdl::PatternOp pattern) {
  auto refuse = [&](const Twine &reason) {
    return emitError(pattern.getLoc())
           << "rule '" << pattern.getSymName().value_or("")
           << "' cannot be used: " << reason;
  };
  RuleInfo info;
  if (!pattern.getSymName())
    return refuse("it has no name");
  info.name = *pattern.getSymName();
  for (NamedAttribute attr : pattern->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    if (name.consume_front("eqsat.") &&
        !llvm::is_contained({"promise", "stratum", "match_limit", "dtypes"},
                            name))
      return refuse("unknown attribute 'eqsat." + name +
                    "'; known are promise, stratum, match_limit, dtypes");
  }
  auto promise = pattern->getAttrOfType<StringAttr>("eqsat.promise");
  if (!promise)
    return refuse("it states no promise (eqsat.promise = \"exact\", "
                  "\"finite\" or \"rounding(ULPS)\")");
  StringRef text = promise.getValue();
  double ulps;
  if (text == "exact")
    info.promise = Promise::exact();
  else if (text == "finite")
    info.promise = Promise::finite();
  else if (text.consume_front("rounding(") && text.consume_back(")") &&
           !text.getAsDouble(ulps) && ulps >= 0 && std::isfinite(ulps))
    info.promise = Promise::rounding(ulps);
  else
    return refuse("its promise '" + promise.getValue() +
                  "' is not \"exact\", \"finite\" or \"rounding(ULPS)\"");
  if (Attribute attr = pattern->getAttr("eqsat.stratum")) {
    auto stratum = dyn_cast<StringAttr>(attr);
    bool known = false;
    for (unsigned s = 0; stratum && s != kNumStrata; ++s)
      if (stratum.getValue() == stratumName(Stratum(s))) {
        info.stratum = Stratum(s);
        known = true;
      }
    if (!known)
      return refuse("its stratum is not \"canonical\", \"recovery\", "
                    "\"lowering\" or \"alternatives\"");
  }
  if (Attribute attr = pattern->getAttr("eqsat.match_limit")) {
    auto limit = dyn_cast<IntegerAttr>(attr);
    if (!limit || !limit.getType().isSignlessInteger(64) || limit.getInt() <= 0)
      return refuse("its match limit is not a positive number of 64 bits");
    info.matchLimit = limit.getInt();
  }
  if (Attribute attr = pattern->getAttr("eqsat.dtypes")) {
    auto list = dyn_cast<ArrayAttr>(attr);
    auto isElement = [](Attribute a) {
      auto type = dyn_cast<TypeAttr>(a);
      return type && !isa<ShapedType>(type.getValue());
    };
    if (!list || list.empty() || !llvm::all_of(list, isElement))
      return refuse("its dtypes are not a list of element types");
    for (Attribute type : list)
      info.dtypes.push_back(cast<TypeAttr>(type).getValue());
  }
  return info;
}

OwningOpRef<ModuleOp> RuleLoader::parseFile(MLIRContext *context,
                                            StringRef path) {
  if (path.ends_with(".pdll")) {
    emitError(FileLineColLoc::get(context, path, 0, 0))
        << "is PDLL, which is not supported: mlir-pdll-22 -x=mlir converts it "
           "to PDL, in which each pattern states its promise "
           "(docs/EqualitySaturation.md)";
    return nullptr;
  }
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &message);
  if (file)
    return parseBuffer(context, std::move(file));
  emitError(FileLineColLoc::get(context, path, 0, 0)) << message;
  return nullptr;
}

OwningOpRef<ModuleOp>
RuleLoader::parseBuffer(MLIRContext *context,
                        std::unique_ptr<llvm::MemoryBuffer> text) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  ParserConfig config(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    return nullptr; // the parser has emitted the error
  // Rules may make ops of dialects that the program does not use.
  module->walk([&](pdl::OperationOp op) {
    if (std::optional<StringRef> name = op.getOpName())
      context->getOrLoadDialect(name->split('.').first);
  });
  if (failed(readAttributes(*module)))
    return nullptr;
  return module;
}

LogicalResult RuleLoader::loadModule(ModuleOp file, bool isTrusted) {
  if (file.getBody()->empty())
    return emitError(file.getLoc(), "a rule file contains no rules");
  for (Operation &op : *file.getBody()) {
    auto pattern = dyn_cast<pdl::PatternOp>(op);
    if (!pattern)
      return emitError(op.getLoc())
             << "a rule file may contain only pdl.pattern ops, not '"
             << op.getName() << "'";
    FailureOr<RuleInfo> info = readRuleInfo(pattern);
    if (failed(info))
      return failure();
    info->isTrusted = isTrusted;
    if (failed(addPattern(pattern, *info, nullptr)))
      return failure();
  }
  return success();
}

LogicalResult RuleLoader::loadBuffer(MLIRContext *context,
                                     std::unique_ptr<llvm::MemoryBuffer> text,
                                     bool isTrusted) {
  modules.push_back(parseBuffer(context, std::move(text)));
  return modules.back() ? loadModule(*modules.back(), isTrusted) : failure();
}

LogicalResult RuleLoader::check(MLIRContext *context,
                                bool allowUnregistered) const {
  OwningOpRef<func::FuncOp> function(func::FuncOp::create(
      UnknownLoc::get(context), "none", FunctionType::get(context, {}, {})));
  EGraph graph;
  OpTable ops(graph, context, allowUnregistered);
  NativeBridge natives(ops, *function);
  return compile(ops, natives);
}

void RuleLoader::warnOfRefused(const PrecisionPolicy &policy) const {
  for (const Loaded &p : patterns)
    if (!p.natives && !policy.admits(p.info.promise))
      emitWarning(pdl::PatternOp(p.pattern).getLoc())
          << "rule '" << p.info.name << "' is not used: its promise "
          << p.info.promise.str()
          << " is not admitted by the requested "
             "precision";
}

void RuleLoader::clear() {
  patterns.clear();
  places.clear();
  modules.clear();
}

FailureOr<LoadedRules> RuleLoader::compile(OpTable &ops, NativeBridge &natives,
                                           bool explained) const {
  // One rule number is reserved for the nodes of the given program.
  if (patterns.size() > kGiven)
    return emitError(pdl::PatternOp(patterns[kGiven].pattern).getLoc())
           << "too many rules: at most " << kGiven << " can be used at once";
  LoadedRules rules(ops, natives, explained);
  for (const Loaded &p : patterns) {
    SmallVector<const NativeFunctions *> scopes;
    if (p.natives)
      scopes.push_back(p.natives);
    for (auto &f : functions)
      if (f.get() != p.natives)
        scopes.push_back(f.get());
    PatternForms forms(p.pattern, p.info);
    FailureOr<Rule> rule = forms.first(ops, natives, scopes, explained);
    if (failed(rule))
      return failure();
    if (forms.isOpen())
      rules.open.push_back({std::move(forms), std::move(scopes),
                            RuleId(rules.all.size()),
                            pdl::PatternOp(p.pattern).getLoc()});
    rules.all.push_back(std::move(*rule));
  }
  rules.point();
  return rules;
}

bool LoadedRules::update() {
  size_t numRules = all.size(), numNatives = bridge.natives.size();
  for (Open &pattern : open) {
    size_t begin = all.size();
    pattern.forms.more(ops, bridge, pattern.scopes, explained, all);
    for (size_t i = begin; i != all.size(); ++i)
      all[i].formOf = pattern.first;
    if (all.size() > kGiven) {
      bridge.emitErrorAt(pattern.loc,
                         "too many rules: at most " + Twine(kGiven) +
                             " can be used at once, and this one has a form "
                             "for each number of values");
      all.erase(all.begin() + begin, all.end());
    }
  }
  bool changed = all.size() != numRules || bridge.natives.size() != numNatives;
  if (changed)
    point();
  return changed;
}
