//===- KernelAnalysis.h - What a kernel reads, and where ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element of a kernel's result is found by walking its body; an index is a
// list of expressions over *dims*, the indices of loops and elements that were
// loaded to serve as indices. This is the walk without code: which elements of
// the operands are read for an element, and at which addresses. Schedules are
// chosen and verified by it, and the emitter is built on it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_KERNELANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_KERNELANALYSIS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal {

/// Memory read, or an index turned to data, on the way to an element.
struct Leaf {
  /// The block argument read; null where it is memory on chip, or the
  /// expression itself is the element.
  mlir::BlockArgument argument;
  /// Row-major position in the argument, its place on chip, or the element.
  Expr address;
};

/// What is read at an index.
using WalkAt = llvm::function_ref<void(const Index &,
                                       llvm::function_ref<void(const Leaf &)>)>;

class KernelAnalysis {
public:
  using SymbolRanges = std::map<std::string, SymbolRange>;

  KernelAnalysis(llir::KernelOp kernel, SymbolRanges ranges)
      : kernel(kernel), assumptions(std::move(ranges)) {}

  llir::KernelOp kernel;

  /// A new dim with 0 <= d < extent.
  unsigned addDim(const Expr &extent);
  const std::vector<Expr> &getExtents() const { return extents; }
  const Assumptions &getAssumptions() const { return assumptions; }
  /// The ranges of symbols, without dims: for questions about sizes.
  const SymbolRanges &getRanges() const { return assumptions.getSymbols(); }
  Expr simplify(const Expr &e) const { return assumptions.simplify(e); }

  /// `index` through `map`.
  Index mapIndex(hlir::MapAttr map, const Index &index) const;
  /// Row-major position of `index` in result `number`.
  Expr getResultAddress(unsigned number, const Index &index) const;

  /// Where an element of a value is in memory that the kernel keeps on chip.
  using Place = std::function<Expr(const Index &)>;
  /// From here on elements of `v` are read there.
  void place(mlir::Value v, Place place) { places[v] = std::move(place); }
  void clearPlaces() { places.clear(); }
  bool isPlaced(mlir::Value v) const { return places.contains(v); }
  /// Where the element of a placed value is, in elements.
  Expr getPlace(mlir::Value v, const Index &index) const {
    return simplify(places.find(v)->second(index));
  }

  /// Calls `visit` for every leaf below `v` at `index`, and `visitValue` for
  /// every value of an op on the way; either may be null. Elements that serve
  /// as indices, and reduced indices, are new dims.
  void walk(mlir::Value v, const Index &index,
            llvm::function_ref<void(const Leaf &)> visit,
            llvm::function_ref<void(mlir::Value, const Index &)> visitValue =
                nullptr);
  /// Whether the element of `v` may differ between values of `dim`.
  bool variesOver(mlir::Value v, const Index &index, unsigned dim);

private:
  Assumptions assumptions;
  std::vector<Expr> extents;
  llvm::DenseMap<mlir::Value, Place> places;
};

/// Yielded values and the extents of the results.
mlir::ValueRange getYielded(llir::KernelOp kernel);
llvm::SmallVector<Expr> getResultExtents(llir::KernelOp kernel,
                                         unsigned number);
mlir::Type getElementType(mlir::Value v);
unsigned getRank(mlir::Value v);
Index getExtentsOf(mlir::Value v);

/// Why something about a kernel cannot be done; a refusal may name the op that
/// is in the way.
using Decision = DecisionAbout<mlir::Operation *>;

/// A yielded value before its last views, which only move it.
struct MovedResult {
  mlir::Value source;
  /// From the index of `source` to that of the result; null where that is one.
  hlir::MapAttr toResult;

  /// Where the element that `source` has at `at` is in the result.
  Index getIndex(const KernelAnalysis &a, const Index &at) const;
};

/// Strips the last views of `yielded`; refused where they do not move each
/// element to a place of its own.
Decision findSource(const KernelAnalysis &a, mlir::Value yielded,
                    MovedResult &result);

/// The results of a kernel that reduces rows whose elements are `domain`: each
/// has the shape of the domain or, without its last dim, of the rows, before
/// its last views where it has not as it is.
Decision findRowResults(const KernelAnalysis &a, llvm::ArrayRef<Expr> domain,
                        llvm::SmallVectorImpl<MovedResult> &results);

/// A row-major iteration space as few loops: unit dims vanish, and runs of
/// adjacent dims are one.
struct Domain {
  /// The original dims of each axis, outermost first; no axis for a single
  /// point.
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  /// Dims of the analysis, one an axis.
  llvm::SmallVector<unsigned> dims;
  llvm::SmallVector<Expr> extents;
  /// The index in the original space, over `dims`.
  Index index;
};

/// Joins adjacent dims of `extents` wherever every address that `walk` visits
/// stays linear in the joined one.
Domain findDomain(KernelAnalysis &a, llvm::ArrayRef<Expr> extents, WalkAt walk);

/// Joins dims as `groups` say: runs of adjacent dims, in order, which together
/// are all dims but some of extent 1.
Domain makeDomain(KernelAnalysis &a, llvm::ArrayRef<Expr> extents,
                  llvm::ArrayRef<llvm::SmallVector<unsigned>> groups);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_KERNELANALYSIS_H
