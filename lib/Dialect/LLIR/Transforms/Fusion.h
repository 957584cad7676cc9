//===- Fusion.h - Which flat ops become one kernel ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group is a future kernel. It has an index space (`main`), in which its
// results are written, and reads every value that it computes or loads through
// maps from one of its spaces to that value's index. Flat ops are visited from
// the last to the first; when a value is reached, all its readers are known,
// and it is either inlined into them (their accesses pass on to its operands,
// composed with what it does to the index) or made the root of a new group. So
// a group is legal by construction: only its root is read by others, and
// everything else is index maps.
//
// Reductions, products and scatters are anchors: they decide the loops, and
// join a group only where the access to them fits its loops (see
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
  /// Estimate of how often a point is evaluated.
  double weight = 1;
  /// Operations that the reader does with what it evaluates, at least.
  double work = 0;
  /// Whether the loops over it are cut where comparisons of indices change:
  /// what depends on indices alone is not computed then.
  bool isCut = false;
};

/// Spaces that every group has; spaces of single operands follow.
enum : unsigned { kMainSpace = 0, kRowsSpace = 1, kFirstOwnSpace = 2 };

/// One way in which a group reads a value.
struct Access {
  unsigned space;
  /// From the space's index to the value's.
  hlir::MapAttr map;
  /// The loops (Group::loops) that read it this way, in order.
  llvm::SmallVector<unsigned, 1> loops;
};

/// A value that a group writes.
struct Root {
  mlir::Value value;
  unsigned space = kMainSpace;
  /// From the space's index to the value's, and back.
  hlir::MapAttr fromSpace;
  hlir::MapAttr toSpace;
};

/// Whose loops a kernel has: each element for itself, until an anchor decides.
enum class GroupLoops { Elements, Rows, Product, Update };

struct Group {
  /// The op itself where no kernel holds it (StandaloneOpInterface); the group
  /// has no loops then.
  StandaloneOpInterface standalone;
  GroupLoops loopsOf = GroupLoops::Elements;
  llvm::SmallVector<IndexSpace> spaces;
  llvm::SmallVector<Root, 1> roots;
  llvm::MapVector<mlir::Value, llvm::SmallVector<Access, 1>> accesses;
  /// What the kernel computes; other accesses are loads.
  llvm::DenseSet<mlir::Value> inlined;
  /// Greater than that of each group that reads this one's results.
  unsigned depth = 0;

  /// The product whose index space is the group's, where its loops are one's.
  mlir::Operation *product = nullptr;
  /// That the anchors are walked jointly over the dim that it sums over, since
  /// they do not fit on chip as a whole.
  bool isStreamed = false;

  /// Own spaces [rows..., n] that stages of the kernel run over, row by row
  /// (FusionStages.cpp); kRowsSpace is the rows.
  llvm::SmallVector<unsigned> rowSpaces;
  bool isRowSpace(unsigned space) const {
    return (space == kMainSpace && loopsOf == GroupLoops::Rows) ||
           llvm::is_contained(rowSpaces, space);
  }

  //===--------------------------------------------------------------------===//
  // Code, in the unit of CodeBudget.h
  //===--------------------------------------------------------------------===//

  /// How many copies of its body each loop of the kernel has. The first writes
  /// the results, the others compute what an anchor or a gather reads.
  llvm::SmallVector<int64_t, 2> loops = {kElementLoopCopies};
  int64_t code = 0;

  unsigned addLoop(int64_t copies) {
    loops.push_back(copies);
    return loops.size() - 1;
  }
  /// How many copies of the code of `value` the kernel would have.
  int64_t countCopies(mlir::Value value) const;
  /// The code of the kernel if it computed `value` as well.
  int64_t getCodeWith(mlir::Value value) const;
  /// `value` is computed in the kernel, which reads it already.
  void addCode(mlir::Value value);
};

/// Whether a value is computed in a kernel that reads it, and the reader for
/// which that was decided.
using Decision = DecisionAbout<const Group *>;

/// Which ops of a block become which kernel. Every decision is a remark.
class FusionPlan {
public:
  /// No group has more code than `codeBudget`, except those of a single op and
  /// its views. Stages keep at most `chipBytes` of a product's columns; blocks
  /// of threads that walk anchors jointly share `sharedBytes`.
  FusionPlan(mlir::func::FuncOp func, const Assumptions &symbols,
             int64_t codeBudget, int64_t chipBytes, int64_t sharedBytes,
             const Reporter &reporter);

  /// In an order in which every group follows the groups it reads from.
  llvm::ArrayRef<const Group *> getGroups() const { return order; }
  /// The value in whose memory `value` is: another one where that is read whole
  /// by a result of the function or by an op of no kernel.
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
  /// The same of all readers.
  Decision fitBudgets(mlir::Value value) const;
  double countBeside(const Group &group, const Access &access) const;
  double countEvaluations(const Group &group, mlir::Value value) const;
  double countWork(const Group &group, mlir::Value value) const;
  bool isOfIndices(mlir::Value v) const;
  double nominalSize(llvm::ArrayRef<Expr> extents) const;

  // Anchors. Each returns whether it joined.
  Decision joinRows(Group &group, RowReductionOpInterface op);
  Decision joinProduct(Group &group, ProductOpInterface op);
  Decision joinUpdate(Group &group, UpdateOpInterface op);
  /// Makes `extents` the main space; `toNew` maps the old main index to it.
  void rebase(Group &group, llvm::ArrayRef<Expr> extents, hlir::MapAttr toNew,
              hlir::MapAttr toOld);
  /// Makes the index space of `value`, which the group reads element by
  /// element, the main space of a kernel of this kind that computes it.
  Decision takeSpaceOf(Group &group, mlir::Value value, GroupLoops loops);
  /// `operand` is read in a space and loop of its own, `reads` elements; with
  /// each of them the reader does `work` operations.
  void addWholeRead(Group &group, mlir::Value operand, double reads,
                    int64_t loopCopies, double work = 0, bool isCut = false);

  // Stages. Further anchors of a kernel, over the same rows.
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

  /// The group that writes a value, if it has one yet.
  Group *getWriter(mlir::Value value) const { return writers.lookup(value); }
  /// The other group that `reader` reads a value of; null where it computes the
  /// value itself, though another may write it too.
  Group *getSource(const Group &reader, mlir::Value value) const {
    Group *writer = getWriter(value);
    return writer != &reader && !reader.inlined.contains(value) ? writer
                                                                : nullptr;
  }
  /// Whether no other group, the deepest at `deepest`, depends on `group`. Each
  /// visited group costs one unit of `effort`; once it is used up, the answer
  /// is no for all but the deepest.
  bool mayRunFirst(const Group *group, llvm::ArrayRef<Group *> others,
                   unsigned deepest, unsigned &effort) const;
  /// Whether `group` writes values that the others read.
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
  /// Scalar operations to compute one element from loads.
  llvm::DenseMap<mlir::Value, double> perElement;
  /// Values of ops of which each element is a function of its index alone.
  llvm::DenseSet<mlir::Value> ofIndices;
  /// Values that a product's kernel can compute after the product.
  llvm::DenseSet<mlir::Value> followsProduct;
  /// Anchors that may be walked jointly with a product after them, over the dim
  /// that it sums over.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> streams;
  /// Values that a reduction's kernel can compute after the reduction.
  llvm::DenseSet<mlir::Value> followsRows;
};

/// A materialised value: its memory, and how its index maps into it.
struct Placed {
  mlir::Value buffer;
  hlir::MapAttr toBuffer;
};

/// Builds the kernel of a group at the builder's insertion point. `placed`
/// holds every value that the group loads; those that it writes are added.
KernelOp buildKernel(const Group &group, const Assumptions &symbols,
                     mlir::OpBuilder &builder,
                     llvm::DenseMap<mlir::Value, Placed> &placed);

/// Expands softmax, layer_norm and rms_norm into primitive flat ops. With
/// memory for anchors that are walked jointly (FuseKernelsPass), the sum of a
/// softmax that only products read divides behind them.
void expandRowFunctions(mlir::func::FuncOp func, int64_t chipBytes,
                        int64_t sharedBytes);

/// The value that a group computes, without the views through which it reads
/// it.
mlir::Value stripViews(mlir::Value value, const Group &group);

/// Whether an op has loops, which are those of its kernel.
bool isAnchor(mlir::Operation *op);
/// Whether an op is a constant that becomes an immediate of its readers.
bool isSplatConstant(mlir::Operation *op);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_FUSION_H
