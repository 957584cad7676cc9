//===- Importer.h - From a program to HLIR --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_IMPORTER_H
#define LUMINAL_LIB_TARGET_PT2_IMPORTER_H

#include "Archive/Archive.h"
#include "Aten/OpCall.h"
#include "luminal/Dialect/HLIR/Utils/ModuleLocations.h"
#include "luminal/Target/PT2.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace luminal::pt2 {

/// Memory as the program sees it: its current value. Every write makes a new
/// value; tensors that view the memory read it again.
struct Memory {
  Value value;
  unsigned version = 0;
  /// The function's argument that this memory is, or -1.
  int argument = -1;
  bool isInput = false; ///< the user's, not the archive's
  bool written = false;
  /// May share memory with another one: the archive does not say.
  std::optional<unsigned> maybeShares;
  bool maybeShared = false;
};

/// A tensor of the graph: a window into a memory. Element i of the tensor is
/// element map(i) of the memory's value.
struct GraphTensor {
  unsigned memory = 0;
  SmallVector<Expr> extents, map;
  bool whole = true; ///< the map is the identity
  Value value;       ///< what was read at `version`
  unsigned version = 0;
};

class Importer {
public:
  Importer(mlir::MLIRContext *context, const Archive &archive,
           ExportedProgram program, const PT2ImportOptions &options);

  mlir::OwningOpRef<mlir::ModuleOp> run();

  // Used by OpCall.
  const ExportedProgram &getProgram() const { return program; }
  const TensorMeta *getMeta(const std::string &name) const;
  bool scansRows() const { return options.scansRows; }
  bool isTensor(const std::string &name) const { return tensors.count(name); }
  Value read(const std::string &name);

  /// Arithmetic on symbolic sizes, whose results the archive states.
  static bool isSymbolic(const Node &node);
  static bool isInPlace(const Node &node);

private:
  struct Problem {
    std::string op, reason;
    mlir::Location loc;
  };
  /// What a node asserts.
  struct Assertion {
    /// Not negative where it holds; std::nullopt where it is about elements.
    std::optional<Expr> condition;
    std::string text;
  };
  /// An assertion about sizes: it holds where the condition is not negative.
  struct Check {
    const Node *node;
    Expr condition;
    std::string text;
  };
  /// What becomes of a node.
  struct Role {
    /// It is no op of the function.
    bool isDropped = false;
    /// A number that an assertion about elements is computed from.
    bool isScalar = false;
    /// The text of an assertion about elements.
    std::optional<std::string> asserted;
  };

  mlir::LogicalResult fail(mlir::Location loc, const llvm::Twine &message);
  mlir::Location getLoc(const Node &node);

  // Inputs.
  mlir::LogicalResult makeSymbols();
  /// Leaves of symbols of integers those that may be negative for all we know.
  void widenIntegers(std::set<std::string> &names) const;
  void findMutations();
  mlir::LogicalResult makeInputs();
  mlir::LogicalResult makeStored(const InputSpec &spec, bool mutated);
  mlir::LogicalResult makeConstant(const InputSpec &spec,
                                   const StoredTensor &stored, Type element);
  Value addArgument(mlir::RankedTensorType type, StringRef name, StringRef kind,
                    mlir::Attribute source = {});
  void define(const std::string &name, Value value, int argument);

  // Assertions and guards.
  /// The argument of that name or, in archives that do not name it, position.
  static const Argument *find(const Node &node, StringRef name,
                              size_t position);
  /// What the node asserts; std::nullopt for nodes that do not assert a value.
  static std::optional<Assertion> readAssertion(const Node &node);
  /// Whether the node reads the one element of a tensor as a number.
  static bool readsElement(const Node &node);
  /// Whether all symbols are of sizes.
  bool isOfSizes(const Expr &expr) const;
  void findChecks();
  mlir::LogicalResult makeChecks();
  /// The user's input that a guard names; null if there is none.
  const InputSpec *findGuarded(StringRef name) const;
  /// Not negative where the guard holds; an error where it cannot be read.
  Result<Expr> evaluateGuard(StringRef guard) const;
  mlir::LogicalResult makeGuards(llvm::SmallVectorImpl<Requirement> &required);

  // Numbers that were read from elements, and what is asserted of them.
  Value readElement(const std::string &name);
  Value getScalar(const Argument &arg);
  Value computeScalar(const Expr &expr);
  void translateScalar(const Node &node);
  void translateAssertion(const Node &node, StringRef text);
  void refuse(const Node &node, StringRef reason);
  void poisonScalars(const Node &node);
  bool readsPoisoned(const Node &node) const;

  // Nodes.
  bool isPoisoned(const Node &node) const;
  /// Whether a node or an output reads the value.
  bool isRead(const std::string &name) const;
  void translate(const Node &node);
  /// Whether the node runs a graph for each row.
  static bool isLoop(const Node &node);
  Status translateLoop(const Node &node);
  mlir::Operation *getLastOp();
  /// Notes for which node the ops after `before` were built.
  void noteOps(const Node &node, mlir::Operation *before);
  Status translate(const Node &node, OpCall &call, bool inPlace);
  /// Warns of an op that costs much, or refuses it.
  Status judgeGrowth(const Node &node, const OpCall &call);
  Type getAutocastType(const Node &node) const;
  std::string checkResult(const std::string &name, Value value);
  mlir::LogicalResult store(const OpCall::Returned &result,
                            const std::string &name, std::string &reason);

  // Memory.
  unsigned newMemory(Value value);
  Value read(GraphTensor &tensor);
  /// `last`: nothing is read afterwards.
  mlir::LogicalResult write(const std::string &name, Value value,
                            std::string &reason, bool last = false);

  // Outputs.
  mlir::LogicalResult makeOutputs();
  mlir::LogicalResult reportProblems();
  /// Reports ops that are not well-formed, as of dtypes that PyTorch refuses as
  /// well, by the nodes that they were built for.
  mlir::LogicalResult verifyModule();

  mlir::MLIRContext *context;
  const Archive &archive;
  ExportedProgram program;
  PT2ImportOptions options;
  mlir::OpBuilder builder;
  mlir::Location fileLoc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  Assumptions assumptions;
  std::unique_ptr<hlir::Composer> composer;

  std::set<std::string> mutated, poisoned;
  /// By position in the program's nodes.
  std::vector<Role> roles;
  std::vector<Check> checks;
  /// Numbers that were read from elements, and values computed from them.
  std::set<std::string> readFromElements;
  std::map<std::string, Value> scalars;
  /// Of them, those that are symbols of expressions of later numbers.
  std::map<std::string, Value> symbolScalars;
  /// What is asserted of elements, as i1 of rank 0, with the text.
  std::vector<std::pair<Value, std::string>> assertions;
  /// Extents that the nodes took for equal.
  SmallVector<Requirement> agreed;
  /// The type to which autocast casts the current node's operands; or null.
  Type operandType;
  std::vector<Memory> memories;
  std::map<std::string, GraphTensor> tensors;
  SmallVector<mlir::NamedAttrList> argumentAttrs;
  std::map<std::string, unsigned> weightArguments; ///< by storage window
  std::map<std::string, unsigned> stateStorages;
  std::set<std::string> argumentNames;
  SmallVector<mlir::Attribute> literalInputs, literalOutputs;
  std::vector<Problem> problems;
  /// The node that an op was built for.
  llvm::DenseMap<mlir::Operation *, const Node *> nodeOf;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_IMPORTER_H
