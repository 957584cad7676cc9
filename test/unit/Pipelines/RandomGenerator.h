//===- RandomGenerator.h - How random programs are chosen -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_PIPELINES_RANDOMGENERATOR_H
#define LUMINAL_TEST_UNIT_PIPELINES_RANDOMGENERATOR_H

#include "ErrorBounds.h"
#include "RandomProgram.h"

#include <random>

namespace luminal::test {

/// Nodes are made by RandomGenerator.cpp, parts of programs by RandomParts.cpp,
/// orders, scans and updates by RandomOrders.cpp, experts by RandomExperts.cpp.
class Generator {
public:
  Generator(uint64_t seed, const ProgramScale &scale)
      : random(seed), scale(scale) {}
  RandomProgram make();
  /// Of orders, scans and updates alone.
  RandomProgram makeOrders();
  /// A mixture of experts.
  RandomProgram makeExperts();

private:
  // Choices. The library's distributions differ between implementations.
  int64_t pick(int64_t lo, int64_t hi) {
    return lo +
           static_cast<int64_t>(random() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <typename T>
  const T &choose(const std::vector<T> &from) {
    return from[static_cast<size_t>(
        pick(0, static_cast<int64_t>(from.size()) - 1))];
  }

  // Extents.
  void chooseExtents();
  int64_t mostOf(const Expr &e) const;
  int64_t leastOf(const Expr &e) const;
  int64_t mostElements(const Shape &shape) const;
  const Expr &extent() { return choose(extents); }
  Shape shapeOfRank(int64_t least, int64_t most);

  // Values.
  const Node &at(unsigned n) const { return program.nodes[n]; }
  unsigned add(Node node);
  unsigned argument(const Shape &shape, DType dtype, int64_t limit = 0);
  unsigned anyFloat();
  unsigned valueOf(const Shape &shape, DType dtype);
  unsigned broadcast(unsigned n, const Shape &to);
  unsigned splat(double value, const Shape &shape, DType dtype);
  unsigned apply(llir::Fn fn, std::vector<unsigned> operands, DType result);
  unsigned apply(llir::Fn fn, std::vector<unsigned> operands) {
    return apply(fn, operands, at(operands.back()).dtype);
  }
  unsigned view(unsigned n, const Shape &shape, const Shape &map);
  unsigned iota(const Shape &shape, DType dtype);
  unsigned reduce(bool isMax, unsigned n);
  unsigned rowOp(unsigned n, unsigned which);
  unsigned gemm(unsigned lhs, unsigned rhs, const Expr &k, const Shape &shape,
                const Shape &lhsMap, const Shape &rhsMap);
  /// Made smaller in magnitude than `most`; made positive.
  unsigned tame(unsigned n, double most);
  unsigned positive(unsigned n);
  unsigned cast(unsigned n, DType to);
  unsigned spread(unsigned row, const Shape &shape);
  unsigned indices(const Shape &shape, const Expr &into);
  unsigned gather(unsigned data, unsigned indices, const Shape &shape);
  unsigned scatter(const std::string &combine, unsigned dest, unsigned indices,
                   unsigned updates);

  // Parts of programs.
  unsigned unary(unsigned n);
  unsigned binary(unsigned n);
  unsigned condition(const Shape &shape);
  unsigned chain(unsigned n, int64_t least, int64_t most);
  unsigned movement(unsigned n);
  unsigned tail(unsigned n);
  unsigned permuted(unsigned n);
  unsigned reshaped(unsigned n);
  unsigned softmaxLike(unsigned n);
  unsigned normLike(unsigned n);
  unsigned product(unsigned n);
  unsigned operandOf(const std::vector<Expr> &dims,
                     const std::vector<unsigned> &places, DType dtype,
                     Shape &map);
  void attention();
  void streamedAttention();
  void transposition();
  void gated();
  void groupedRows();
  void convolution();
  void rows();
  void whole();
  void integers();
  unsigned concatenation(unsigned n);
  unsigned joinedRows(unsigned n);
  void step();
  void chooseResults();

  // Orders, scans and updates.
  unsigned exactly(const Shape &shape, DType dtype,
                   std::vector<unsigned> operands, const std::string &op);
  unsigned ofEveryKind(const Shape &shape, DType t, bool isIntegral);
  Shape rowsOfLength(int64_t most);
  unsigned updated(const std::string &combine, unsigned dest, unsigned index,
                   unsigned updates);
  void orders(DType t);
  void scans(DType t);
  void updates(DType t);
  void histogram();

  // Experts.
  unsigned routing(const Shape &shape, int64_t count);
  unsigned byExperts(unsigned x, unsigned ids, int64_t count, const Expr &inner,
                     const Expr &columns, const Shape &leftMap);

  std::mt19937_64 random;
  const ProgramScale &scale;
  RandomProgram program;
  std::vector<Expr> extents;
  DType main = DType::F32;
};

bool isFloat(DType t);

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_PIPELINES_RANDOMGENERATOR_H
