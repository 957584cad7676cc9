//===- Transforms.h - Fourier transforms of a program's nodes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_TRANSFORMS_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_TRANSFORMS_H

#include "Rewriter.h"

namespace luminal::pt2 {

/// A complex tensor as two real ones.
struct Pair {
  std::string re, im;
};

/// Builds nodes with one result, and nodes that compute a discrete Fourier
/// transform.
class Transforms : protected Rewriter {
protected:
  using Rewriter::Rewriter;

  /// Adds a node with one result, named `name`, with the sizes and the real
  /// type of `like`.
  void add(const std::string &name, const char *op,
           std::vector<NamedArgument> inputs, const TensorMeta &like) {
    TensorMeta own = like;
    own.dtype = like.dtype.getReal();
    make(name, op, std::move(inputs), std::move(own));
  }
  std::string add(const char *op, std::vector<NamedArgument> inputs,
                  const TensorMeta &like) {
    std::string name = newName(node->name);
    add(name, op, std::move(inputs), like);
    return name;
  }
  std::string addBinary(const char *op, const Argument &a, const Argument &b,
                        const TensorMeta &like) {
    return add(op, {{"self", a}, {"other", b}}, like);
  }

  /// The result of the current node, one of _fft_r2c, _fft_c2c and _fft_c2r,
  /// for `operand`, whose `im` is empty if it is real; std::nullopt if the node
  /// is not supported. The result of _fft_c2r has no `im`.
  std::optional<Pair> lowerTransform(Pair operand);

private:
  /// The signal while one dim is transformed.
  struct Signal {
    Pair parts;
    std::vector<Expr> sizes;
    size_t dim;
    DTypeCode dtype;
  };
  /// Which part of the result is needed: all points, the one-sided spectrum, or
  /// the real parts.
  enum class Wanted { All, Half, Real };
  struct Line {
    int64_t points;
    bool isForward;
    Wanted wanted;
    double scale;
  };

  // Nodes.
  static TensorMeta metaOf(DTypeCode dtype, std::vector<Expr> sizes) {
    return {dtype, std::move(sizes), {}, Expr(0)};
  }
  std::string cast(const std::string &x, DTypeCode dtype,
                   const std::vector<Expr> &sizes);
  std::string view(const std::string &x, DTypeCode dtype,
                   const std::vector<Expr> &sizes);
  std::string join(const char *op, std::vector<std::string> parts, int64_t dim,
                   DTypeCode dtype, std::vector<Expr> sizes);
  std::string slice(const std::string &x, size_t dim, int64_t end,
                    DTypeCode dtype, std::vector<Expr> sizes);
  std::string multiply(const std::string &a, const std::string &b,
                       DTypeCode dtype, const std::vector<Expr> &sizes);
  Pair multiply(const Pair &a, const Pair &b, DTypeCode dtype,
                const std::vector<Expr> &sizes);
  std::string negate(const std::string &x, DTypeCode dtype,
                     const std::vector<Expr> &sizes);

  // Tables, in f64.
  std::string count(int64_t end, DTypeCode dtype);
  /// Cosines and sines of 2 pi x / n for integers x.
  Pair turn(const std::string &x, int64_t n, const std::vector<Expr> &sizes);
  /// Cosines and sines of 2 pi j k / n, `rows` j by `columns` k.
  Pair makeWaves(int64_t rows, int64_t columns, int64_t n);
  /// For each point of a one-sided spectrum, the number of points of the whole
  /// spectrum that it represents.
  std::string makeWeights(int64_t n);

  // One dim.
  Pair transformWhole(const Signal &x, const Line &line);
  Pair transformInFactors(const Signal &x, const Line &line,
                          const std::vector<int64_t> &factors);
  Pair transformByChirps(const Signal &x, const Line &line, int64_t length);
  /// Extends a one-sided spectrum to the `taken` points that a transform reads.
  Signal widen(const Signal &x, int64_t points, int64_t taken);
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_TRANSFORMS_H
