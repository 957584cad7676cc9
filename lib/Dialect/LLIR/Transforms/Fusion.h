//===- Fusion.h - The fusion plan -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group is a future kernel. It has an index space (`main`) in which it writes
// its results. It reads every value that it computes or loads through maps from
// one of its spaces to the value's index. The plan visits flat ops from the
// last to the first. When it reaches a value, it knows all readers of the
// value, and either inlines the value into them (composing their accesses with
// the op's maps to get accesses of the op's operands) or makes it the root of a
// new group. So a group is legal by construction: other groups read only its
// roots, and everything else is index maps.
//
// Reductions, products and scatters are anchors: they decide the loops of a
// group, and join a group only if its access to them fits its loops (see
// FusionAnchors.cpp). A group without an anchor is a map.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_FUSION_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_FUSION_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace luminal::llir {

/// An index space of a group.
struct IndexSpace {
  llvm::SmallVector<Expr> extents;
  /// An estimate of how often each point is evaluated.
  double weight = 1;
  /// A lower bound of the operations that the reader does with each value.
  double work = 0;
  /// Whether loops over the space are cut where comparisons of indices change,
  /// so that values that depend on indices alone are not computed in them.
  bool isCut = false;
};

/// The spaces that every group has; spaces of single operands follow them.
enum : unsigned { kMainSpace = 0, kRowsSpace = 1, kFirstOwnSpace = 2 };

/// One way in which a group reads a value.
struct Access {
  unsigned space;
  /// From the space's index to the value's index.
  hlir::MapAttr map;
  /// The loops (numbers in Group::loops) that read it this way, in order.
  llvm::SmallVector<unsigned, 1> loops;
};

/// A value that a group writes.
struct Root {
  mlir::Value value;
  unsigned space = kMainSpace;
  /// From the space's index to the value's index, and back.
  hlir::MapAttr fromSpace;
  hlir::MapAttr toSpace;
};

/// What decides the loops of a kernel: single elements, until an anchor joins.
enum class GroupLoops { Elements, Rows, Product, Update };

/// A future kernel, or one op that no kernel may hold.
struct Group {
  /// Set if the group is a single op that no kernel holds
  /// (StandaloneOpInterface); such a group has no loops.
  StandaloneOpInterface standalone;
  GroupLoops loopsOf = GroupLoops::Elements;
  llvm::SmallVector<IndexSpace> spaces;
  llvm::SmallVector<Root, 1> roots;
  llvm::MapVector<mlir::Value, llvm::SmallVector<Access, 1>> accesses;
  /// The values that the kernel computes. It loads all other values in
  /// `accesses`.
  llvm::DenseSet<mlir::Value> inlined;
  /// Greater than the depth of every group that reads this group's results.
  unsigned depth = 0;

  /// The product whose index space is the group's main space, if any.
  mlir::Operation *product = nullptr;
  /// Whether the anchors run in one loop over the dim that the product sums
  /// over, because they do not fit on chip as a whole.
  bool isStreamed = false;

  /// Spaces [rows..., n] that stages of the kernel iterate over row by row
  /// (FusionStages.cpp); kRowsSpace is the rows.
  llvm::SmallVector<unsigned> rowSpaces;
  bool isRowSpace(unsigned space) const {
    return (space == kMainSpace && loopsOf == GroupLoops::Rows) ||
           llvm::is_contained(rowSpaces, space);
  }

  //===--------------------------------------------------------------------===//
  // Code, in the unit of CodeBudget.h
  //===--------------------------------------------------------------------===//

  /// How many copies of its body each loop of the kernel has. The first loop
  /// writes the results; the others compute what an anchor or a gather reads.
  llvm::SmallVector<int64_t, 2> loops = {kElementLoopCopies};
  int64_t code = 0;

  unsigned addLoop(int64_t copies) {
    loops.push_back(copies);
    return loops.size() - 1;
  }
  /// Returns how many copies of the code of `value` the kernel would have.
  int64_t countCopies(mlir::Value value) const;
  /// Returns the code of the kernel if it also computed `value`.
  int64_t getCodeWith(mlir::Value value) const;
  /// Adds the code of `value`, which the kernel reads and now computes.
  void addCode(mlir::Value value);
};

/// Whether a value is computed in a kernel that reads it, and the reader that
/// decided it.
using Decision = DecisionAbout<const Group *>;

/// Decides which ops of a block become which kernel, with a remark for each
/// decision.
class FusionPlan {
public:
  /// No group has more code than `codeBudget`, except a single op with its
  /// views. Stages keep at most `chipBytes` of a product's columns. Thread
  /// blocks that run anchors in one loop have `sharedBytes` of shared memory.
  FusionPlan(mlir::func::FuncOp func, const Assumptions &symbols,
             int64_t codeBudget, int64_t chipBytes, int64_t sharedBytes,
             const Reporter &reporter);

  /// Returns the groups in an order in which each follows the groups it reads.
  llvm::ArrayRef<const Group *> getGroups() const { return order; }
  /// Returns the value whose memory `value` is in: another value if a result of
  /// the function, or an op that no kernel holds, reads all of that value.
  mlir::Value getMemoryOf(mlir::Value value) const {
    auto it = aliases.find(value);
    return it == aliases.end() ? value : it->second;
  }
  const Assumptions &getSymbols() const { return symbols; }

private:
  void findOutputs();
  void estimate(mlir::Operation *op);
  void visit(mlir::Operation *op);
  void visitAnchor(mlir::Operation *op);
  void visitStandalone(StandaloneOpInterface op);
  void sortGroups();

  void materialize(mlir::Operation *op);
  Decision refuseOutput(mlir::Value value) const;
  Decision addRoot(mlir::Value value);
  Decision join(Group &group, mlir::Operation *op);
  Decision joinReaders(mlir::Operation *op);
  void inlineInto(Group &group, mlir::Value value);
  void addAccess(Group &group, mlir::Value value, const Access &access);
  unsigned getOwnSpace(Group &group, mlir::Value value, double evaluations,
                       double work = 0, bool isCut = false);
  bool isToldByLoops(mlir::Value value) const;

  bool isWrittenBetter(ViewOp view);
  Decision shouldInline(mlir::Value value);
  Decision fitsBudget(const Group &group, mlir::Value value) const;
  /// The same for all readers of `value`.
  Decision fitBudgets(mlir::Value value) const;
  double countBeside(const Group &group, const Access &access) const;
  double countEvaluations(const Group &group, mlir::Value value) const;
  double countWork(const Group &group, mlir::Value value) const;
  bool isOfIndices(mlir::Value v) const;
  double nominalSize(llvm::ArrayRef<Expr> extents) const;

  // Anchors. Each function returns whether the anchor joined the group.
  Decision joinRows(Group &group, RowReductionOpInterface op);
  Decision joinProduct(Group &group, ProductOpInterface op);
  Decision joinUpdate(Group &group, UpdateOpInterface op);
  /// Makes `extents` the main space; `toNew` maps the old main index to the new
  /// one.
  void rebase(Group &group, llvm::ArrayRef<Expr> extents, hlir::MapAttr toNew,
              hlir::MapAttr toOld);
  /// Makes the index space of `value`, which the group reads element by
  /// element, the main space of a kernel with this kind of loops that computes
  /// `value`.
  Decision takeSpaceOf(Group &group, mlir::Value value, GroupLoops loops);
  /// Records that `operand` is read in a space and a loop of its own: `reads`
  /// elements, with `work` operations of the reader for each.
  void addWholeRead(Group &group, mlir::Value operand, double reads,
                    int64_t loopCopies, double work = 0, bool isCut = false);

  // Stages: further anchors of a kernel, over the same rows.
  unsigned getRowSpace(Group &group, const Expr &local);
  bool isReadByRows(const Group &group, mlir::Value value) const;
  double countSharedRows(ProductOpInterface op,
                         llvm::ArrayRef<Expr> rows) const;
  double countRowsAtOnce(ProductOpInterface op,
                         llvm::ArrayRef<Expr> rows) const;
  bool isLessTraffic(ProductOpInterface last,
                     llvm::ArrayRef<mlir::Operation *> anchors) const;
  void findStreams();
  bool canStream(const Group &group, mlir::Operation *op) const;
  bool fitsOnChip(ProductOpInterface op) const;
  double countColumnBytes(ProductOpInterface op) const;
  Decision fitsStage(const Group &group, ProductOpInterface op,
                     llvm::ArrayRef<Expr> rows) const;
  bool needsStage(const Group &group, mlir::Value value) const;
  Decision followsStage(const Group &group, mlir::Value value) const;
  void readByRows(Group &group, ProductOpInterface op);
  Decision joinStage(Group &group, ProductOpInterface op);
  Decision joinStage(Group &group, RowReductionOpInterface op);
  std::optional<hlir::MapAttr> findRowDomain(Group &group, hlir::MapAttr access,
                                             llvm::ArrayRef<Expr> domain);
  void takeRows(Group &group);

  /// Returns the group that writes a value; null if it has none yet.
  Group *getWriter(mlir::Value value) const { return writers.lookup(value); }
  /// Returns the other group from which `reader` reads a value; null if
  /// `reader` computes the value itself, even if another group also writes it.
  Group *getSource(const Group &reader, mlir::Value value) const {
    Group *writer = getWriter(value);
    return writer != &reader && !reader.inlined.contains(value) ? writer
                                                                : nullptr;
  }
  /// Returns whether none of `others`, the deepest of which has depth
  /// `deepest`, has to run before `group`. Each visited group costs one unit of
  /// `effort`. Once that is used up, the answer is false for all but the
  /// deepest.
  bool mayRunFirst(const Group *group, llvm::ArrayRef<Group *> others,
                   unsigned deepest, unsigned &effort) const;
  /// Raises depths so that `group` runs before `others`.
  void runBefore(Group *group, llvm::ArrayRef<Group *> others);

  // Remarks.
  void tellFused(mlir::Value value, const Group *reader, llvm::StringRef as);
  void tellKept(mlir::Value value, const Decision &inlining,
                const Decision &furtherResult);

  mlir::func::FuncOp func;
  const Assumptions &symbols;
  const int64_t codeBudget, chipBytes, sharedBytes;
  const Reporter &reporter;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::SmallVector<const Group *> order;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Group *, 2>> readers;
  llvm::DenseMap<mlir::Value, Group *> writers;
  llvm::SetVector<mlir::Value> outputs;
  llvm::MapVector<mlir::Value, mlir::Value> aliases;
  /// Scalar operations to compute one element from loaded values.
  llvm::DenseMap<mlir::Value, double> perElement;
  /// Values whose elements are functions of their index alone.
  llvm::DenseSet<mlir::Value> ofIndices;
  /// Values that a product's kernel can compute after the product.
  llvm::DenseSet<mlir::Value> followsProduct;
  /// Anchors that can run in one loop with a later product, over the dim that
  /// the product sums over.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> streams;
  /// Values that a reduction's kernel can compute after the reduction.
  llvm::DenseSet<mlir::Value> followsRows;
};

/// A value in memory: its buffer, and the map from its index to the buffer's.
struct Placed {
  mlir::Value buffer;
  hlir::MapAttr toBuffer;
};

/// Builds the kernel of a group at the builder's insertion point. `placed`
/// holds every value that the group loads; the values that it writes are added.
KernelOp buildKernel(const Group &group, const Assumptions &symbols,
                     mlir::OpBuilder &builder,
                     llvm::DenseMap<mlir::Value, Placed> &placed);

/// Expands softmax, layer_norm and rms_norm into primitive flat ops. If there
/// is memory for anchors in one loop (FuseKernelsPass), and only products read
/// a softmax, its division by the sum is moved after the products.
void expandRowFunctions(mlir::func::FuncOp func, int64_t chipBytes,
                        int64_t sharedBytes);

/// Returns the value that a group computes, without the views through which the
/// group reads it.
mlir::Value stripViews(mlir::Value value, const Group &group);

/// Returns whether an op has loops, which are then the loops of its kernel.
bool isAnchor(mlir::Operation *op);
/// Returns whether an op is a constant that its readers use as an immediate.
bool isSplatConstant(mlir::Operation *op);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_FUSION_H
