//===- Importer.h - Translates an exported program to HLIR ----------------===//
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

/// A memory of the program with its current value. Every write creates a new
/// value; tensors that are views of the memory then read it again.
struct Memory {
  Value value;
  unsigned version = 0;
  /// The function's argument that this memory holds, or -1.
  int argument = -1;
  bool isInput = false; ///< the user's, not the archive's
  bool written = false;
  /// Another memory that this one may share with; the archive does not say.
  std::optional<unsigned> maybeShares;
  bool maybeShared = false;
};

/// A tensor of the graph, as a view of a memory: element i of the tensor is
/// element map(i) of the memory's value.
struct GraphTensor {
  unsigned memory = 0;
  SmallVector<Expr> extents, map;
  bool whole = true; ///< the map is the identity
  Value value;       ///< what was read at `version`
  unsigned version = 0;
};

/// Translates one exported program. See PT2.h for the result.
class Importer {
public:
  Importer(mlir::MLIRContext *context, const Archive &archive,
           ExportedProgram program, const PT2ImportOptions &options);

  /// The imported module; null after reporting an error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  // Used by OpCall.
  const ExportedProgram &getProgram() const { return program; }
  const TensorMeta *getMeta(const std::string &name) const;
  bool scansRows() const { return options.scansRows; }
  bool isTensor(const std::string &name) const { return tensors.count(name); }
  Value read(const std::string &name);

  /// Whether the node is arithmetic on symbolic sizes, whose result the archive
  /// states as an expression.
  static bool isSymbolic(const Node &node);
  static bool isInPlace(const Node &node);

private:
  struct Problem {
    std::string op, reason;
    mlir::Location loc;
  };
  /// What a node asserts.
  struct Assertion {
    /// The assertion holds if this is not negative; std::nullopt if it is about
    /// elements.
    std::optional<Expr> condition;
    std::string text;
  };
  /// An assertion about sizes, which holds if the condition is not negative.
  struct Check {
    const Node *node;
    Expr condition;
    std::string text;
  };
  /// How a node is translated.
  struct Role {
    /// Not translated to ops of the function.
    bool isDropped = false;
    /// A number that an assertion about elements depends on.
    bool isScalar = false;
    /// The text of an assertion about elements.
    std::optional<std::string> asserted;
  };

  mlir::LogicalResult fail(mlir::Location loc, const llvm::Twine &message);
  /// Source line and module of a node.
  mlir::Location getLoc(const Node &node);

  // Inputs.
  mlir::LogicalResult makeSymbols();
  /// Removes from `names`, symbols of integer inputs, those that cannot be
  /// negative.
  void widenIntegers(std::set<std::string> &names) const;
  void findMutations();
  mlir::LogicalResult makeInputs();
  /// Adds a weight, buffer or state as an argument.
  mlir::LogicalResult makeStored(const InputSpec &spec, bool mutated);
  /// Adds a tensor of the archive as a constant.
  mlir::LogicalResult makeConstant(const InputSpec &spec,
                                   const StoredTensor &stored, Type element);
  Value addArgument(mlir::RankedTensorType type, StringRef name, StringRef kind,
                    mlir::Attribute source = {});
  /// Defines a tensor of the graph with new memory.
  void define(const std::string &name, Value value, int argument);

  // Assertions and guards.
  /// Finds an argument by its name or, in archives without names, by its
  /// position.
  static const Argument *find(const Node &node, StringRef name,
                              size_t position);
  /// The assertion that a node makes; std::nullopt for other nodes.
  static std::optional<Assertion> readAssertion(const Node &node);
  /// Whether the node reads the only element of a tensor as a number.
  static bool readsElement(const Node &node);
  /// Whether all symbols of the expression are those of sizes.
  bool isOfSizes(const Expr &expr) const;
  /// Assigns each node's Role.
  void findChecks();
  /// Proves or records the assertions about sizes, and the guards.
  mlir::LogicalResult makeChecks();
  /// The user input that a guard names; null if there is none.
  const InputSpec *findGuarded(StringRef name) const;
  /// An expression that is not negative iff the guard holds; an error if the
  /// guard cannot be parsed.
  Result<Expr> evaluateGuard(StringRef guard) const;
  mlir::LogicalResult makeGuards(llvm::SmallVectorImpl<Requirement> &required);

  // Numbers read from elements, and assertions about them.
  Value readElement(const std::string &name);
  Value getScalar(const Argument &arg);
  Value computeScalar(const Expr &expr);
  /// Translates a node that computes a number.
  void translateScalar(const Node &node);
  /// Adds an assertion about elements as a result of the function.
  void translateAssertion(const Node &node, StringRef text);
  /// Reports a node as unsupported.
  void refuse(const Node &node, StringRef reason);
  /// Marks the node's numbers as unavailable, without a report.
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
  /// Records the node that the ops after `before` were created for.
  void noteOps(const Node &node, mlir::Operation *before);
  Status translate(const Node &node, OpCall &call, bool inPlace);
  /// Reports an op with high cost: a warning, or an error.
  Status judgeGrowth(const Node &node, const OpCall &call);
  Type getAutocastType(const Node &node) const;
  /// Compares type and shape with the archive's; "" if they agree.
  std::string checkResult(const std::string &name, Value value);
  /// Defines a node's result: a new tensor, or a view of another one.
  mlir::LogicalResult store(const OpCall::Returned &result,
                            const std::string &name, std::string &reason);

  // Memory.
  unsigned newMemory(Value value);
  Value read(GraphTensor &tensor);
  /// `last`: the memory is not read afterwards.
  mlir::LogicalResult write(const std::string &name, Value value,
                            std::string &reason, bool last = false);

  // Outputs.
  mlir::LogicalResult makeOutputs();
  /// Emits one error for all unsupported nodes, if any.
  mlir::LogicalResult reportProblems();
  /// Reports invalid ops (for example of dtypes that PyTorch rejects too) by
  /// the nodes that they were created for.
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
  /// Indexed by the node's position in the program.
  std::vector<Role> roles;
  std::vector<Check> checks;
  /// Numbers read from elements, and values computed from them.
  std::set<std::string> readFromElements;
  std::map<std::string, Value> scalars;
  /// The subset of them that are symbols in the expressions of later numbers.
  std::map<std::string, Value> symbolScalars;
  /// Assertions about elements: an i1 of rank 0, and the text.
  std::vector<std::pair<Value, std::string>> assertions;
  /// Extents that nodes require to be equal.
  SmallVector<Requirement> agreed;
  /// The type to which autocast converts the current node's operands; may be
  /// null.
  Type operandType;
  std::vector<Memory> memories;
  std::map<std::string, GraphTensor> tensors;
  SmallVector<mlir::NamedAttrList> argumentAttrs;
  std::map<std::string, unsigned> weightArguments; ///< by storage window
  std::map<std::string, unsigned> stateStorages;
  std::set<std::string> argumentNames;
  SmallVector<mlir::Attribute> literalInputs, literalOutputs;
  std::vector<Problem> problems;
  /// The node that each op was created for.
  llvm::DenseMap<mlir::Operation *, const Node *> nodeOf;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_IMPORTER_H
