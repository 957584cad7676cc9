//===- RandomProgram.h - Random programs of flat LLIR ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs made of the shapes that models have: chains of elementwise ops,
// views, reductions, softmax and norms, products with prologues and epilogues,
// products that share an operand, attention, gathers, scatters. Every value
// stays finite where its inputs do, and functions are only taken where they are
// defined and continuous, or of values that are exact.
//
// Beside a program stands a second one, in f64, that computes how far each
// element of a result may be from the interpreter's (ErrorBounds.h).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_UNIT_PIPELINES_RANDOMPROGRAM_H
#define LUMINAL_TEST_UNIT_PIPELINES_RANDOMPROGRAM_H

#include "luminal/Support/DType.h"
#include "luminal/Support/Expr.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace luminal::test {

using Shape = std::vector<Expr>;

/// A value: an argument, or the result of one op.
struct Node {
  Node(Shape shape, DType dtype) : shape(std::move(shape)), dtype(dtype) {}

  Shape shape;
  DType dtype;
  /// Arguments have no operands and no text.
  std::vector<unsigned> operands;
  /// The op that defines %vN, and the ops that define its bound %eN.
  std::string text, bound;
  bool isArgument = false;
  /// Compiled code has the very elements of the interpreter: no bound.
  bool isExact = true;
  /// No element is larger in magnitude.
  double most = 2;
  /// No element is smaller, where it is greater than 0.
  double least = 0;
  /// Integers are in [0, limit), where it is not 0.
  int64_t limit = 0;
};

struct RandomProgram {
  std::deque<Node> nodes;
  /// Arguments first; `m` and `n` in order of name after them.
  std::map<std::string, SymbolRange> symbols;
  /// Nodes that the program returns.
  std::vector<unsigned> results;

  /// A function @main that returns the given nodes and computes no others.
  std::string getText(const std::vector<unsigned> &returned) const;
  /// The same arguments; for each returned node that is not exact the f64
  /// tensor of its bounds.
  std::string getBoundText(const std::vector<unsigned> &returned) const;

private:
  std::string getFunction(const std::vector<unsigned> &returned,
                          bool isBound) const;
};

/// How large programs are.
struct ProgramScale {
  /// Extents that are no symbols are of these.
  std::vector<int64_t> extents;
  /// Of a symbol, the least and the greatest end of its range.
  int64_t symbolLeast, symbolMost;
  /// Elements of a tensor, and multiplications of a product, at the largest
  /// sizes.
  int64_t elements, products;

  /// A CPU's forms meet tails and more than one tile.
  static const ProgramScale &small();
  /// So do those of a GPU, with as many elements as 16-byte copies and tensor
  /// cores take, and some more.
  static const ProgramScale &large();
};

/// The program of a seed, on every machine the same.
RandomProgram
makeRandomProgram(uint64_t seed,
                  const ProgramScale &scale = ProgramScale::small());

/// The same of programs of orders, scans and updates.
RandomProgram makeRandomOrders(uint64_t seed);
/// A mixture of experts.
RandomProgram makeRandomExperts(uint64_t seed);

// Text of types, maps and ops.

/// `tensor<4x?xf32, #hlir.dims<m>>`.
std::string typeText(const Shape &shape, std::string_view element);
std::string getType(const Node &node);
/// `<(d0, d1) -> (d1)>`.
std::string mapText(size_t rank, const Shape &results);

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_PIPELINES_RANDOMPROGRAM_H
