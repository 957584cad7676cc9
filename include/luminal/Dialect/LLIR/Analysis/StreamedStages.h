//===- StreamedStages.h - Stages of a kernel over one streamed dim --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The anchors of a kernel over one parallel space (StageAnalysis) that may be
// walked jointly over one further dim (StreamedSpace): a unit of work takes its
// rows through all of them for one chunk of that dim after the other, so that
// only a chunk of each row is on chip at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMEDSTAGES_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMEDSTAGES_H

#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"
#include "luminal/Dialect/LLIR/Analysis/StreamAnalysis.h"

namespace luminal {

class StreamedStages {
public:
  explicit StreamedStages(KernelAnalysis &a) : a(a), s(a) {}

  using Role = StreamedSpace::Role;

  /// Finds the anchors; refused where they cannot be walked so.
  Decision find();
  /// Takes blocks and the chunk from a schedule.
  Decision apply(llir::LoopCaseAttr loopCase);
  /// Takes so many indices of the streamed dim at a time.
  void setChunk(int64_t count);

  /// The index of any row: a new dim of the analysis for each of the parallel
  /// space.
  Index getAnyRow() const;

  /// The position of the streamed dim: the first after the parallel ones.
  unsigned getPosition() const { return s.extents.size(); }
  llvm::ArrayRef<StreamedSpace::Anchor> getAnchors() const {
    return space->getAnchors();
  }
  /// The elements that a product sums over the streamed dim and that have to be
  /// computed for a chunk; null where they are read where they are.
  mlir::Value getComputedTerms(const StreamedSpace::Anchor &anchor) const;

  /// Values of a chunk: where they are on chip.
  KernelAnalysis::Place getChunkPlace() const;
  void placeInChunk(mlir::Value v) { a.place(v, getChunkPlace()); }

  /// The product of an anchor: scores over a unit's rows, a sum over one chunk.
  ProductAnalysis analyze(const StreamedSpace::Anchor &anchor) const;

  /// Bytes of so many elements of a unit: whole lines, with room to read
  /// vectors past the end.
  static Expr countRoom(mlir::Type type, const Expr &count);
  /// The first anchor of each reference.
  llvm::SmallVector<const StreamedSpace::Anchor *> getReferences() const;
  /// The type in which a reference and its factors are computed.
  static mlir::Type getWideType(mlir::Value reference);
  /// Bytes of the states of a unit's rows: what terms are relative to, in the
  /// order of `getReferences`; then those of reductions; then the lines that
  /// products sum, as accumulators; each in a room of its own.
  Expr countStateBytes() const;

  KernelAnalysis &a;
  StageAnalysis s;
  std::optional<StreamedSpace> space;
  /// Of the streamed dim.
  Expr extent;
  int64_t chunk = 0;
  /// Dims of the analysis: where the chunk begins, and where it ends if the
  /// last one that a unit walks ends before the streamed dim does.
  unsigned begin = 0;
  std::optional<unsigned> end;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMEDSTAGES_H
