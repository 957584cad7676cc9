//===- KernelAnalysis.h - The reads of a kernel and their addresses -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates the body of a kernel symbolically. An index is a list of
// expressions over *dims*: the indices of loops, and elements that are loaded
// to serve as indices. For an element of a result, the analysis finds which
// elements of the operands are read, and at which addresses, without emitting
// code. Schedules are chosen and verified with it, and the emitter is built on
// it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_KERNELANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_KERNELANALYSIS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal {

/// A read that an element depends on: of memory, or of an index that becomes
/// data.
struct Leaf {
  /// The block argument that is read; null for memory on chip, or if the
  /// element is the expression itself.
  mlir::BlockArgument argument;
  /// The row-major position in the argument, the position on chip, or the
  /// element itself.
  Expr address;
};

/// Calls a callback for the reads at an index.
using WalkAt = llvm::function_ref<void(const Index &,
                                       llvm::function_ref<void(const Leaf &)>)>;

/// The dims of a kernel, and the reads of its elements.
class KernelAnalysis {
public:
  using SymbolRanges = std::map<std::string, SymbolRange>;

  KernelAnalysis(llir::KernelOp kernel, SymbolRanges ranges)
      : kernel(kernel), assumptions(std::move(ranges)) {}

  llir::KernelOp kernel;

  /// Adds a dim with 0 <= d < extent and returns its number.
  unsigned addDim(const Expr &extent);
  const std::vector<Expr> &getExtents() const { return extents; }
  const Assumptions &getAssumptions() const { return assumptions; }
  /// Returns the ranges of symbols, without dims: for questions about sizes.
  const SymbolRanges &getRanges() const { return assumptions.getSymbols(); }
  Expr simplify(const Expr &e) const { return assumptions.simplify(e); }

  /// Applies `map` to `index`.
  Index mapIndex(hlir::MapAttr map, const Index &index) const;
  /// Returns the row-major position of `index` in result `number`.
  Expr getResultAddress(unsigned number, const Index &index) const;

  /// Maps an index to the position of a value's element in on-chip memory.
  using Place = std::function<Expr(const Index &)>;
  /// From here on, elements of `v` are read from on-chip memory at `place`.
  void place(mlir::Value v, Place place) { places[v] = std::move(place); }
  void clearPlaces() { places.clear(); }
  bool isPlaced(mlir::Value v) const { return places.contains(v); }
  /// Returns the position of an element of a placed value, in elements.
  Expr getPlace(mlir::Value v, const Index &index) const {
    return simplify(places.find(v)->second(index));
  }

  /// Calls `visit` for every read that the element of `v` at `index` depends
  /// on, and `visitValue` for every value on the way; either may be null.
  /// Loaded elements that serve as indices, and reduced indices, become new
  /// dims.
  void walk(mlir::Value v, const Index &index,
            llvm::function_ref<void(const Leaf &)> visit,
            llvm::function_ref<void(mlir::Value, const Index &)> visitValue =
                nullptr);
  /// Returns whether the element of `v` may change with `dim`.
  bool variesOver(mlir::Value v, const Index &index, unsigned dim);

private:
  Assumptions assumptions;
  std::vector<Expr> extents;
  llvm::DenseMap<mlir::Value, Place> places;
};

/// Return what the kernel yields, the extents of a result, and the element
/// type, rank and extents of a value.
mlir::ValueRange getYielded(llir::KernelOp kernel);
llvm::SmallVector<Expr> getResultExtents(llir::KernelOp kernel,
                                         unsigned number);
mlir::Type getElementType(mlir::Value v);
unsigned getRank(mlir::Value v);
Index getExtentsOf(mlir::Value v);

/// Whether something can be done with a kernel. A refusal may name the op that
/// prevents it.
using Decision = DecisionAbout<mlir::Operation *>;

/// A yielded value without the trailing views, which only move its elements.
struct MovedResult {
  mlir::Value source;
  /// Maps the index of `source` to that of the result; null for the identity.
  hlir::MapAttr toResult;

  /// Returns the result's index of the element that `source` has at `at`.
  Index getIndex(const KernelAnalysis &a, const Index &at) const;
};

/// Strips the trailing views of `yielded`; refuses if these do not move each
/// element to a separate place.
Decision findSource(const KernelAnalysis &a, mlir::Value yielded,
                    MovedResult &result);

/// Finds the results of a kernel that reduces rows, over `domain`. Each result
/// has the shape of the domain, or that of the rows (the domain without its
/// last dim), as it is or before its trailing views.
Decision findRowResults(const KernelAnalysis &a, llvm::ArrayRef<Expr> domain,
                        llvm::SmallVectorImpl<MovedResult> &results);

/// A row-major iteration space with few loops: dims of extent 1 are dropped,
/// and adjacent dims are joined where possible.
struct Domain {
  /// The original dims of each axis, outermost first; a single point has no
  /// axes.
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  /// One dim of the analysis for each axis.
  llvm::SmallVector<unsigned> dims;
  llvm::SmallVector<Expr> extents;
  /// The index in the original space, over `dims`.
  Index index;
};

/// Joins adjacent dims of `extents` if every address that `walk` visits stays
/// linear in the joined dim.
Domain findDomain(KernelAnalysis &a, llvm::ArrayRef<Expr> extents, WalkAt walk);

/// Joins dims as `groups` say: runs of adjacent dims, in order, that cover all
/// dims except some of extent 1.
Domain makeDomain(KernelAnalysis &a, llvm::ArrayRef<Expr> extents,
                  llvm::ArrayRef<llvm::SmallVector<unsigned>> groups);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_KERNELANALYSIS_H
