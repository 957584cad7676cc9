//===- StreamedStages.h - Stages of a streamed kernel ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The anchors of a kernel over one parallel space (StageAnalysis) that may run
// in one loop over a further dim (StreamedSpace). A work item takes its rows
// through all anchors for one chunk of that dim after the other, so only one
// chunk of each row is on chip at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMEDSTAGES_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMEDSTAGES_H

#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"
#include "luminal/Dialect/LLIR/Analysis/StreamAnalysis.h"

namespace luminal {

/// The streamed anchors of a kernel.
class StreamedStages {
public:
  explicit StreamedStages(KernelAnalysis &a) : a(a), s(a) {}

  using Role = StreamedSpace::Role;

  /// Finds the anchors; refuses if they cannot run in one loop.
  Decision find();
  /// Takes blocks and the chunk from a schedule.
  Decision apply(llir::LoopCaseAttr loopCase);
  /// Sets the chunk to `count` indices of the streamed dim.
  void setChunk(int64_t count);

  /// Returns the index of an arbitrary row, over one new dim of the analysis
  /// for each parallel dim.
  Index getAnyRow() const;

  /// Returns the position of the streamed dim: the first one after the parallel
  /// dims.
  unsigned getPosition() const { return s.extents.size(); }
  llvm::ArrayRef<StreamedSpace::Anchor> getAnchors() const {
    return space->getAnchors();
  }
  /// Returns the terms that a product sums over the streamed dim, if they must
  /// be computed for each chunk; null if they are read from memory.
  mlir::Value getComputedTerms(const StreamedSpace::Anchor &anchor) const;

  /// Returns a function from an index to the position of a chunk's element on
  /// chip.
  KernelAnalysis::Place getChunkPlace() const;
  void placeInChunk(mlir::Value v) { a.place(v, getChunkPlace()); }

  /// Returns the product of an anchor: scores over the rows of a work item, or
  /// a sum over one chunk.
  ProductAnalysis analyze(const StreamedSpace::Anchor &anchor) const;

  /// Returns the bytes of `count` elements of a work item: whole cache lines,
  /// with padding so that vectors may be read past the end.
  static Expr countRoom(mlir::Type type, const Expr &count);
  /// Returns the first anchor of each reference.
  llvm::SmallVector<const StreamedSpace::Anchor *> getReferences() const;
  /// Returns the type in which a reference and its rescale factors are
  /// computed.
  static mlir::Type getWideType(mlir::Value reference);
  /// Returns the bytes of the states of a work item's rows: references, in the
  /// order of `getReferences`; then the states of reductions; then the
  /// accumulators of products. Each begins at an aligned offset.
  Expr countStateBytes() const;

  KernelAnalysis &a;
  StageAnalysis s;
  std::optional<StreamedSpace> space;
  /// The extent of the streamed dim.
  Expr extent;
  int64_t chunk = 0;
  /// Dims of the analysis: the beginning of the chunk; and the end of the work
  /// item's last chunk, if that ends before the streamed dim does.
  unsigned begin = 0;
  std::optional<unsigned> end;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMEDSTAGES_H
