//===- ProductReads.h - What a flat product reads, and how ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product reads its operands through the views before them. Its contracted
// index may be several indices of an operand, each a *digit* of it: that of a
// convolution over 64 channels and 3 x 3 offsets is
// (channel, row, column) = (k floordiv 9, k floordiv 3 mod 3, k mod 3).
// The order of the digits is a choice: a sum is the same in any order, but for
// its rounding.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTREADS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTREADS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal {

struct ProductRead {
  /// No view, and of what is only widened, the narrow value.
  mlir::Value base;
  /// From [the product's dims..., the contracted one] to the index of `base`.
  hlir::MapAttr map;
  /// Whether the product multiplies f32 that `base` is widened to.
  bool isWidened = false;
};

/// What the product reads by operand `number`, 0 or 1.
ProductRead findProductRead(llir::ProductOpInterface op, unsigned number,
                            const Assumptions &symbols);

/// Steps of a contracted index, at most, that are straight code where lanes
/// have sums of their own, as the channels of a depthwise convolution: a window
/// of 7 x 7.
constexpr int64_t kMostStraightSteps = 49;
/// The steps of a product where they are so few; 0 where they are not, or not
/// known.
int64_t countStraightSteps(llir::ProductOpInterface op);

/// A part of the contracted index: k floordiv divisor mod extent.
struct ContractedDigit {
  int64_t divisor = 1, extent = 1;
};

/// The digit by which `read` steps one by one along `dim` of its base; nothing
/// where there is none, or where not all of them are known.
std::optional<ContractedDigit> findDigit(llir::ProductOpInterface op,
                                         const ProductRead &read, unsigned dim);

/// `map`, from [the product's dims..., the contracted one], where the
/// contracted index takes `digit` innermost and all others in the order that
/// they had.
hlir::MapAttr reorderContracted(llir::ProductOpInterface op, hlir::MapAttr map,
                                const ContractedDigit &digit,
                                const Assumptions &symbols);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTREADS_H
