//===- ErrorBounds.h - How far compiled code may be off -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each op, the ops (in f64, flat LLIR) that compute a bound of the
// difference between compiled code and the interpreter from the bounds of its
// operands:
// - a scalar function contributes the error that Functions.def states, and
//   amplifies its operands' errors;
// - sums and products accumulate in f32 (f64 for f64) in any order: n roundings
//   of the sum of absolute terms, and one to the type of the result;
// - views, selections, gathers and maxima move bounds as they move elements.
// An infinite element has the bound 0; a NaN has the bound NaN, which accepts
// any value.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_UNIT_PIPELINES_ERRORBOUNDS_H
#define LUMINAL_TEST_UNIT_PIPELINES_ERRORBOUNDS_H

#include "RandomProgram.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::test {

/// A value in f64 and its bound, as names of the bound program.
struct Tracked {
  std::string value, error;
};

/// Writes the bound of one node. Names are unique for the node.
class BoundWriter {
public:
  BoundWriter(const std::deque<Node> &nodes, unsigned self)
      : nodes(nodes), self(self) {}

  /// Whether a function of exact operands is exact.
  static bool isExact(llir::Fn fn, DType dtype);

  void elementwise(llir::Fn fn, DType from);
  void moved(const std::string &map);
  void reduceSum();
  void reduceMax();
  void softmax();
  void norm(bool isCentered, double eps);
  /// `terms` is the extent that is summed.
  void gemm(const Expr &terms, const std::string &lhsMap,
            const std::string &rhsMap);
  void gather();
  void scatter(const std::string &combine, int64_t updates);

  std::string take() { return std::move(text); }

private:
  Tracked operand(unsigned i);
  std::string make(const Shape &shape, const std::string &op);
  std::string apply(const char *fn, std::vector<std::string> operands,
                    const Shape &shape);
  std::string constant(double value, const Shape &shape);
  std::string extent(const Expr &value, const Shape &shape);
  std::string sum(const std::string &value);
  std::string largest(const std::string &value);
  std::string spread(const std::string &row);
  Tracked sumOf(const Tracked &x, double unit);
  Tracked scaled(const Tracked &x, const std::string &divisor, double unit);
  Tracked product(const Tracked &x, const Tracked &y, double unit);
  std::string propagated(llir::Fn fn, const Shape &shape);
  /// Ends the node: `error` and `ulps` units of the result.
  void finish(const std::string &error, double ulps);

  const Node &node() const { return nodes[self]; }
  const Shape &inner() const { return nodes[node().operands[0]].shape; }
  const std::deque<Node> &nodes;
  unsigned self;
  unsigned next = 0;
  std::string text;
};

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_PIPELINES_ERRORBOUNDS_H
