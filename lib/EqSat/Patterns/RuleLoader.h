//===- RuleLoader.h - The patterns that one pass runs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_RULELOADER_H
#define LUMINAL_LIB_EQSAT_PATTERNS_RULELOADER_H

#include "PatternForms.h"
#include "luminal/EqSat/Core/Runner.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace luminal::eqsat {

/// The rules of one graph. A pattern that leaves a number of values open gets
/// more rules as the graph gets operators.
class LoadedRules final : public RuleSource {
public:
  LoadedRules(OpTable &ops, NativeBridge &natives, bool explained)
      : ops(ops), bridge(natives), explained(explained) {}

  bool update() override;

  /// One a pattern, then what came later.
  std::vector<Rule> all;

private:
  friend class RuleLoader;
  struct Open {
    PatternForms forms;
    llvm::SmallVector<const NativeFunctions *> scopes;
    RuleId first;
    mlir::Location loc;
  };
  void point() {
    rules = all;
    RuleSource::natives = bridge.natives;
  }

  OpTable &ops;
  NativeBridge &bridge;
  bool explained;
  std::vector<Open> open;
};

/// The patterns of the chosen rule sets and files, before they are compiled for
/// a graph.
class RuleLoader {
public:
  /// All fail with one error. Natives of every registered set become known,
  /// whichever sets are chosen.
  llvm::LogicalResult loadSets(mlir::Location loc,
                               llvm::ArrayRef<std::string> names, bool all);
  /// The patterns of a file, which outlives the loader. What a trusted one
  /// makes is not verified.
  llvm::LogicalResult loadModule(mlir::ModuleOp file, bool isTrusted = false);
  llvm::LogicalResult loadBuffer(mlir::MLIRContext *context,
                                 std::unique_ptr<llvm::MemoryBuffer> text,
                                 bool isTrusted = false);
  /// Warns of each rule of a file that `policy` does not admit, at its place.
  void warnOfRefused(const PrecisionPolicy &policy) const;
  /// Forgets every rule, of sets and files; the natives stay known.
  void clear();

  /// mlir-pdll reads no attribute of a dialect, so a pattern spells it in a
  /// string: `attr<"\"#llir.fn<mul>\"">`. Makes attributes of such strings.
  static llvm::LogicalResult readAttributes(mlir::ModuleOp module);
  /// A file of rules, with the dialects that it uses; null after one error.
  static mlir::OwningOpRef<mlir::ModuleOp> parseFile(mlir::MLIRContext *context,
                                                     llvm::StringRef path);
  static mlir::OwningOpRef<mlir::ModuleOp>
  parseBuffer(mlir::MLIRContext *context,
              std::unique_ptr<llvm::MemoryBuffer> text);

  /// The rules for one graph, for as long as the loader lives; `explained` for
  /// one with a proof log.
  llvm::FailureOr<LoadedRules> compile(OpTable &ops, NativeBridge &natives,
                                       bool explained = false) const;
  /// Compiles them for an empty graph, to report errors.
  llvm::LogicalResult check(mlir::MLIRContext *context,
                            bool allowUnregistered) const;

private:
  struct Loaded {
    mlir::pdl::PatternOp pattern;
    RuleInfo info;
    /// The set's own natives; null for a rule of a file.
    const NativeFunctions *natives;
  };
  llvm::LogicalResult addPattern(mlir::pdl::PatternOp pattern, RuleInfo info,
                                 const NativeFunctions *natives);

  /// One a registered set.
  std::vector<std::unique_ptr<NativeFunctions>> functions;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<Loaded> patterns;
  llvm::StringMap<mlir::Location> places;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_RULELOADER_H
