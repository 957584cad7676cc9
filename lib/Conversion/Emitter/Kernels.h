//===- Kernels.h - The loops of each kind of kernel -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a kernel's function inside its entry: a loop over the work range
// and what one unit of work does. Both targets run the same code; they differ
// in how much a unit is and how units are given to threads.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H

#include "Domain.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal {

/// How the work range is given to threads.
struct WorkLoop {
  /// Units begin, begin + step, ... below end are this thread's.
  mlir::Value begin, end, step;
  /// Memory of the thread; null where there is none.
  mlir::Value scratch;
  /// A unit is one element or row (a thread of a GPU), not a run of them.
  bool single = false;
};

/// What the schedule is given.
struct WorkShape {
  Expr work = 1;
  Expr grain = 1;
  Expr scratch = 0;
};

WorkShape emitMapKernel(Emitter &e, const WorkLoop &loop);
WorkShape emitReduceKernel(Emitter &e, const WorkLoop &loop);
WorkShape emitGemmKernel(Emitter &e, const WorkLoop &loop);
WorkShape emitScatterKernel(Emitter &e, const WorkLoop &loop);

/// Simple operations that one element of the results costs.
int64_t getElementCost(llir::KernelOp kernel);
/// Number of units worth a thread, where one unit costs `cost` simple
/// operations.
Expr getGrain(const Expr &cost);

/// `linear` taken apart into the values of `dims`, the last fastest.
void setDims(Emitter &e, llvm::ArrayRef<unsigned> dims,
             llvm::ArrayRef<Expr> extents, mlir::Value linear);

/// Units of a domain: each is a run of at most `chunk` values of the last dim
/// (0: the whole of it) at one index of the others.
struct Units {
  Expr count;
  /// Values of the last dim in one unit, at most.
  Expr length;
  int64_t chunk = 0;
};
Units makeUnits(const Domain &domain, int64_t chunk);
/// Sets all dims but the last for unit `unit`, and calls `body` with the range
/// of the last.
void emitUnit(Emitter &e, const Domain &domain, const Units &units,
              mlir::Value unit,
              llvm::function_ref<void(mlir::Value lo, mlir::Value hi)> body);
/// The number of vector lanes worth using for a dim of this extent.
unsigned chooseLanes(const Expr &extent, unsigned most);

/// Yielded values and the extents of the results.
mlir::ValueRange getYielded(llir::KernelOp kernel);
llvm::SmallVector<Expr> getResultExtents(llir::KernelOp kernel,
                                         unsigned number);

/// Why a kernel does not get the loops of its kind; a refusal may name the op
/// that prevents them.
using Decision = DecisionAbout<mlir::Operation *>;

/// A yielded value without its trailing views, which only move elements.
struct MovedResult {
  mlir::Value source;
  /// Maps an index of `source` to one of the result; null for the identity.
  hlir::MapAttr toResult;

  /// The result's index of the element at index `at` of `source`.
  Index getIndex(Emitter &e, const Index &at) const;
};

/// Strips the trailing views of `yielded`; refused where they do not move each
/// element to a distinct place.
Decision findSource(Emitter &e, mlir::Value yielded, MovedResult &result);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H
