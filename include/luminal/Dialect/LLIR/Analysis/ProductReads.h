//===- ProductReads.h - The operands of a flat product ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product reads its operands through the views before them. Its contracted
// index may be several indices of an operand, each of which is a *digit* of it.
// For a convolution over 64 channels and 3 x 3 offsets, (channel, row, column)
// = (k floordiv 9, k floordiv 3 mod 3, k mod 3). The order of the digits is a
// choice: apart from rounding, a sum is the same in any order.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTREADS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTREADS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal {

/// How a product reads an operand.
struct ProductRead {
  /// The operand without views. If f16 or bf16 is widened to f32, this is the
  /// narrow value.
  mlir::Value base;
  /// From [the product's dims..., the contracted one] to the index of `base`.
  hlir::MapAttr map;
  /// Whether `base` is widened to f32 before it is multiplied.
  bool isWidened = false;
};

/// Returns how the product reads operand `number`, 0 or 1.
ProductRead findProductRead(llir::ProductOpInterface op, unsigned number,
                            const Assumptions &symbols);

/// The most steps of k that are unrolled completely if each lane has its own
/// sum, as for the channels of a depthwise convolution: a window of 7 x 7.
constexpr int64_t kMostStraightSteps = 49;
/// Returns the product's steps of k if they are that few; otherwise, or if the
/// number is not known, 0.
int64_t countStraightSteps(llir::ProductOpInterface op);

/// A digit of the contracted index: k floordiv divisor mod extent.
struct ContractedDigit {
  int64_t divisor = 1, extent = 1;
};

/// Returns the digit by which `read` steps one by one along `dim` of its base;
/// std::nullopt if there is none, or if not all digits are known.
std::optional<ContractedDigit> findDigit(llir::ProductOpInterface op,
                                         const ProductRead &read, unsigned dim);

/// Returns `map`, from [the product's dims..., the contracted one], for the
/// order of k in which `digit` is innermost and all other digits keep their
/// order.
hlir::MapAttr reorderContracted(llir::ProductOpInterface op, hlir::MapAttr map,
                                const ContractedDigit &digit,
                                const Assumptions &symbols);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTREADS_H
