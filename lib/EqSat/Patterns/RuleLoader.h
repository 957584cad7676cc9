//===- RuleLoader.h - The patterns that one pass runs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_RULELOADER_H
#define LUMINAL_LIB_EQSAT_PATTERNS_RULELOADER_H

#include "PatternForms.h"
#include "luminal/EqSat/Core/Runner.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace luminal::eqsat {

/// The rules of one graph. A pattern with an open number of values gets more
/// rules while the graph gets new operators.
class LoadedRules final : public RuleSource {
public:
  LoadedRules(OpTable &ops, NativeBridge &natives, bool explained)
      : ops(ops), bridge(natives), explained(explained) {}

  bool update() override;

  /// One rule for each pattern, followed by rules that were added later.
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

/// The patterns of the selected rule sets and files, before they are compiled
/// for a graph.
class RuleLoader {
public:
  /// All loading functions emit one error on failure. The native functions of
  /// every registered set are loaded, whichever sets are selected.
  llvm::LogicalResult loadSets(mlir::Location loc,
                               llvm::ArrayRef<std::string> names, bool all);
  /// Loads the patterns of a file, which must outlive the loader. Operations
  /// that a trusted file makes are not verified.
  llvm::LogicalResult loadModule(mlir::ModuleOp file, bool isTrusted = false);
  llvm::LogicalResult loadBuffer(mlir::MLIRContext *context,
                                 std::unique_ptr<llvm::MemoryBuffer> text,
                                 bool isTrusted = false);
  /// Warns, at its location, of each rule of a file that `policy` does not
  /// admit.
  void warnOfRefused(const PrecisionPolicy &policy) const;
  /// Removes all rules of sets and files; the native functions stay.
  void clear();

  /// mlir-pdll cannot parse attributes of a dialect, so a pattern writes them
  /// as strings: `attr<"\"#llir.fn<mul>\"">`. This turns such strings into
  /// attributes.
  static llvm::LogicalResult readAttributes(mlir::ModuleOp module);
  /// Parses a file of rules and loads the dialects that it uses. Null after one
  /// error.
  static mlir::OwningOpRef<mlir::ModuleOp> parseFile(mlir::MLIRContext *context,
                                                     llvm::StringRef path);
  static mlir::OwningOpRef<mlir::ModuleOp>
  parseBuffer(mlir::MLIRContext *context,
              std::unique_ptr<llvm::MemoryBuffer> text);

  /// Compiles the rules for one graph; they live as long as the loader.
  /// `explained` is for a graph with a proof log.
  llvm::FailureOr<LoadedRules> compile(OpTable &ops, NativeBridge &natives,
                                       bool explained = false) const;
  /// Compiles the rules for an empty graph, to report their errors.
  llvm::LogicalResult check(mlir::MLIRContext *context,
                            bool allowUnregistered) const;

private:
  struct Loaded {
    mlir::pdl::PatternOp pattern;
    RuleInfo info;
    /// The native functions of the rule's set; null for a rule of a file.
    const NativeFunctions *natives;
  };
  llvm::LogicalResult addPattern(mlir::pdl::PatternOp pattern, RuleInfo info,
                                 const NativeFunctions *natives);

  /// One entry for each registered set.
  std::vector<std::unique_ptr<NativeFunctions>> functions;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<Loaded> patterns;
  llvm::StringMap<mlir::Location> places;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_RULELOADER_H
