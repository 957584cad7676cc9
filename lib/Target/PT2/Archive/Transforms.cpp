//===- Transforms.cpp - Fourier transforms as matrix products -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A discrete Fourier transform of n points is a product with an n x n matrix of
// roots of unity (*waves*). For n = r R, it can be split (Cooley-Tukey) into R
// transforms of r points each, a multiplication by n-th roots (*twiddles*), and
// r transforms of R points each, which are computed in the same way:
//
//   x[j R + i] --> y[i, k] = sum_j x[j R + i] w_r^(j k)
//              --> z[i, k] = y[i, k] w_n^(i k)
//              --> X[k + r l] = sum_i z[i, k] w_R^(i l)
//
// Between two products, the signal is one tensor [i, part, k]: i is the index
// that is still to be transformed, `part` the real or imaginary part, and k the
// index of the result so far, over which each product is vectorized. Each
// product is one of real matrices with twice as many rows and columns as the
// complex ones. For a real signal, the first product has half the rows; for a
// one-sided spectrum, the last has half the columns. An inverse transform to
// real numbers reads a spectrum whose other half is zero, and its last product
// is halved.
//
// If n has no small factors, the transform is a convolution with w^(-j^2 / 2),
// which is computed by transforms of another length (Bluestein's algorithm).
//
// The choice between the three is made by estimated cost, in multiplications.
//
//===----------------------------------------------------------------------===//

#include "Transforms.h"
#include <cmath>
#include <utility>

using namespace luminal;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Cost estimates
//===----------------------------------------------------------------------===//

/// Limit on the number of points: tables of more are too large to store.
static constexpr int64_t kMostPoints = int64_t(1) << 22;

/// Cost, in multiplications, of writing a point and reading it again for the
/// next product; fixed cost of a product, shared by the rows of a batch.
static constexpr double kPass = 160, kStart = 2000;
/// Limit on the number of terms of one sum: longer ones are less accurate than
/// a transform should be.
static constexpr int64_t kMostTerms = 256;
/// Approximate number of elements in a vector: shorter rows leave lanes empty.
static constexpr int64_t kLanes = 16;
/// Maximum number of factors.
static constexpr unsigned kMostFactors = 5;

namespace {

struct Plan {
  enum Kind { Whole, Factors, Chirps } kind = Whole;
  double price = 0;
  /// The factors of Kind::Factors.
  std::vector<int64_t> factors;
  /// The length of the convolution of Kind::Chirps.
  int64_t length = 0;
};

/// Finds the cheapest factorization of n, or the whole product. `isHalf`: the
/// input or the output is real; `inner` is the number of elements behind the
/// dim.
class Planner {
public:
  Planner(int64_t n, bool isHalf, int64_t inner) : isHalf(isHalf) {
    best.price =
        n > kMostTerms ? HUGE_VAL : double(n) * n * (isHalf ? 1 : 4) + kStart;
    total = n;
    divide(n, inner, 0);
  }
  Plan best;

private:
  /// Cost of a product with factor r, vectorized over `lane` elements.
  double priceOf(int64_t r, int64_t lane, bool isEnd) const {
    const int64_t lanes = (lane + kLanes - 1) / kLanes * kLanes;
    const double own = 4.0 * r * total * lanes / lane;
    return isHalf && isEnd ? own / 2 : own;
  }
  void divide(int64_t rest, int64_t lane, double price) {
    if (price >= best.price || factors.size() == kMostFactors)
      return;
    for (int64_t r = 2; r <= kMostTerms / 2 && r * 2 <= rest; ++r) {
      if (rest % r != 0)
        continue;
      // If there is nothing else, the first product is vectorized over its
      // results.
      const double own = priceOf(r, lane == 1 ? 2 * r : lane, factors.empty());
      factors.push_back(r);
      const double before = price + own + kPass * total + kStart;
      const int64_t last = rest / r;
      // The remaining points are one more product, or are divided again.
      const double whole = before + priceOf(last, lane * r, true) + kStart;
      if (last <= kMostTerms / 2 && whole < best.price) {
        best = {Plan::Factors, whole, factors, 0};
        best.factors.push_back(last);
      }
      divide(last, lane * r, before);
      factors.pop_back();
    }
  }

  bool isHalf;
  int64_t total = 0;
  std::vector<int64_t> factors;
};

} // namespace

/// The cheapest way to transform a dim of n points.
static Plan makePlan(int64_t n, bool isHalf, int64_t inner) {
  Plan plan = Planner(n, isHalf, inner).best;
  // The cost of two transforms of one of these lengths, the multiplication by
  // the convolution's factor, and multiplications by waves before and after.
  for (int64_t odd : {1, 3, 5, 9, 15}) {
    int64_t length = odd;
    while (length < 2 * n - 1)
      length *= 2;
    if (double(length) * kPass * 3 >= plan.price)
      continue;
    const Plan part = Planner(length, /*isHalf=*/false, inner).best;
    const double price =
        2 * part.price + 3 * kPass * double(length) + 3 * kStart;
    if (price < plan.price)
      plan = {Plan::Chirps, price, {}, length};
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

std::string Transforms::cast(const std::string &x, DTypeCode dtype,
                             const std::vector<Expr> &sizes) {
  return add("_to_copy.default", {{"self", tensor(x)}, {"dtype", type(dtype)}},
             metaOf(dtype, sizes));
}

std::string Transforms::view(const std::string &x, DTypeCode dtype,
                             const std::vector<Expr> &sizes) {
  return add("reshape.default",
             {{"self", tensor(x)}, {"shape", integers(sizes)}},
             metaOf(dtype, sizes));
}

std::string Transforms::join(const char *op, std::vector<std::string> parts,
                             int64_t dim, DTypeCode dtype,
                             std::vector<Expr> sizes) {
  return add(op,
             {{"tensors", tensors(std::move(parts))}, {"dim", integer(dim)}},
             metaOf(dtype, std::move(sizes)));
}

std::string Transforms::slice(const std::string &x, size_t dim, int64_t end,
                              DTypeCode dtype, std::vector<Expr> sizes) {
  sizes[dim] = Expr(end);
  return add("slice.Tensor",
             {{"self", tensor(x)},
              {"dim", integer(int64_t(dim))},
              {"start", integer(0)},
              {"end", integer(end)}},
             metaOf(dtype, std::move(sizes)));
}

std::string Transforms::multiply(const std::string &a, const std::string &b,
                                 DTypeCode dtype,
                                 const std::vector<Expr> &sizes) {
  return addBinary("mul.Tensor", tensor(a), tensor(b), metaOf(dtype, sizes));
}

Pair Transforms::multiply(const Pair &a, const Pair &b, DTypeCode dtype,
                          const std::vector<Expr> &sizes) {
  auto part = [&](const std::string &x, const std::string &y) {
    return multiply(x, y, dtype, sizes);
  };
  if (a.im.empty())
    return {part(a.re, b.re), part(a.re, b.im)};
  auto combine = [&](const char *op, const std::string &x,
                     const std::string &y) {
    return addBinary(op, tensor(x), tensor(y), metaOf(dtype, sizes));
  };
  return {combine("sub.Tensor", part(a.re, b.re), part(a.im, b.im)),
          combine("add.Tensor", part(a.re, b.im), part(a.im, b.re))};
}

std::string Transforms::negate(const std::string &x, DTypeCode dtype,
                               const std::vector<Expr> &sizes) {
  return add("neg.default", {{"self", tensor(x)}}, metaOf(dtype, sizes));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static DTypeCode f64() { return DTypeCode::of(DType::F64); }
static DTypeCode i64() { return DTypeCode::of(DType::I64); }

std::string Transforms::count(int64_t end, DTypeCode dtype) {
  return add("arange.default", {{"end", integer(end)}, {"dtype", type(dtype)}},
             metaOf(dtype, {Expr(end)}));
}

Pair Transforms::turn(const std::string &x, int64_t n,
                      const std::vector<Expr> &sizes) {
  // Reduce the integer exactly to within half a turn, before it becomes a
  // float.
  const TensorMeta like = metaOf(i64(), sizes);
  std::string y = addBinary("add.Scalar", tensor(x), integer(n / 2), like);
  y = addBinary("remainder.Scalar", tensor(y), integer(n), like);
  y = addBinary("sub.Scalar", tensor(y), integer(n / 2), like);
  y = cast(y, f64(), sizes);
  const TensorMeta real = metaOf(f64(), sizes);
  y = addBinary("div.Scalar", tensor(y), number(double(n)), real);
  y = addBinary("mul.Scalar", tensor(y), number(2 * 3.14159265358979323846),
                real);
  std::string re = add("cos.default", {{"self", tensor(y)}}, real);
  return {re, add("sin.default", {{"self", tensor(y)}}, real)};
}

Pair Transforms::makeWaves(int64_t rows, int64_t columns, int64_t n) {
  const std::vector<Expr> sizes = {Expr(rows), Expr(columns)};
  std::string x = addBinary(
      "mul.Tensor", tensor(view(count(rows, i64()), i64(), {Expr(rows), 1})),
      tensor(count(columns, i64())), metaOf(i64(), sizes));
  return turn(x, n, sizes);
}

std::string Transforms::makeWeights(int64_t n) {
  const int64_t rows = n / 2 + 1;
  const TensorMeta like = metaOf(f64(), {Expr(rows)});
  std::string k = count(rows, f64());
  std::string times = addBinary("add.Scalar", tensor(k), integer(1), like);
  if (n % 2 == 0) {
    std::string rest = addBinary("rsub.Scalar", tensor(k), integer(rows), like);
    times = addBinary("minimum.default", tensor(times), tensor(rest), like);
  }
  return add("clamp.default", {{"self", tensor(times)}, {"max", integer(2)}},
             like);
}

//===----------------------------------------------------------------------===//
// Transforms of one dim
//===----------------------------------------------------------------------===//

Pair Transforms::transformWhole(const Signal &x, const Line &line) {
  const int64_t rows = *x.sizes[x.dim].asConstant(), n = line.points;
  const bool isEnd = line.wanted == Wanted::Real;
  const int64_t columns = line.wanted == Wanted::Half ? n / 2 + 1 : n;
  const std::vector<Expr> square = {Expr(rows), Expr(columns)};
  Pair waves = makeWaves(rows, columns, n);
  std::string weights;
  if (isEnd)
    weights = view(makeWeights(n), f64(), {Expr(rows), 1});
  for (std::string *wave : {&waves.re, &waves.im}) {
    if (isEnd)
      *wave = multiply(*wave, weights, f64(), square);
    if (line.scale != 1)
      *wave = addBinary("mul.Scalar", tensor(*wave), number(line.scale),
                        metaOf(f64(), square));
    *wave = cast(*wave, x.dtype, square);
  }
  const size_t last = x.sizes.size() - 1;
  std::vector<Expr> sizes = x.sizes;
  auto along = [&](const std::string &part, const std::string &matrix) {
    TensorMeta like = metaOf(x.dtype, x.sizes);
    auto exchange = [&](const std::string &y) {
      if (x.dim == last)
        return y;
      std::swap(like.sizes[x.dim], like.sizes.back());
      return add("transpose.int",
                 {{"self", tensor(y)},
                  {"dim0", integer(int64_t(x.dim))},
                  {"dim1", integer(-1)}},
                 like);
    };
    std::string y = exchange(part);
    like.sizes.back() = Expr(columns);
    return exchange(
        addBinary("matmul.default", tensor(y), tensor(matrix), like));
  };
  std::string reCos = along(x.parts.re, waves.re),
              reSin = along(x.parts.re, waves.im);
  sizes[x.dim] = Expr(columns);
  if (x.parts.im.empty())
    return {reCos, line.isForward ? negate(reSin, x.dtype, sizes) : reSin};
  std::string imCos = along(x.parts.im, waves.re),
              imSin = along(x.parts.im, waves.im);
  // (re + i im) (cos -+ i sin).
  auto combine = [&](bool adds, const std::string &a, const std::string &b) {
    return addBinary(adds ? "add.Tensor" : "sub.Tensor", tensor(a), tensor(b),
                     metaOf(x.dtype, sizes));
  };
  Pair made = {combine(line.isForward, reCos, imSin), {}};
  if (!isEnd)
    made.im = combine(!line.isForward, imCos, reSin);
  return made;
}

Pair Transforms::transformInFactors(const Signal &x, const Line &line,
                                    const std::vector<int64_t> &factors) {
  const DTypeCode dtype = x.dtype;
  const std::vector<Expr> outer(x.sizes.begin(), x.sizes.begin() + x.dim),
      inner(x.sizes.begin() + x.dim + 1, x.sizes.end());
  auto with = [&](std::vector<Expr> rest) {
    rest.insert(rest.begin(), outer.begin(), outer.end());
    return rest;
  };
  auto exchange = [&](const std::string &part, size_t first, size_t second,
                      std::vector<Expr> sizes) {
    std::swap(sizes[first], sizes[second]);
    return add("transpose.int",
               {{"self", tensor(part)},
                {"dim0", integer(int64_t(first))},
                {"dim1", integer(int64_t(second))}},
               metaOf(dtype, sizes));
  };
  // Size of the index of the result so far, and of the dims behind.
  Expr lane(1);
  for (const Expr &size : inner)
    lane = lane * size;
  int64_t rest = line.points;
  std::string y;
  for (size_t stage = 0; stage < factors.size(); ++stage) {
    const int64_t r = factors[stage];
    const bool isFirst = stage == 0, isLast = stage + 1 == factors.size();
    // For a one-sided spectrum, the first product reads only the points that
    // exist.
    const int64_t read =
        isFirst ? *x.sizes[x.dim].asConstant() / (rest / r) : r;
    const int64_t given = isLast && line.wanted == Wanted::Half ? r / 2 + 1 : r;
    rest /= r;
    const bool givesReal = isLast && line.wanted == Wanted::Real;
    const int64_t parts = givesReal ? 1 : 2;
    const bool isLeft = isFirst && lane.isConstant(1);

    // The factor's own waves, as results by terms or (isLeft) terms by results.
    std::vector<Expr> square = {Expr(given), Expr(read)};
    if (isLeft)
      std::swap(square[0], square[1]);
    Pair waves = makeWaves(*square[0].asConstant(), *square[1].asConstant(), r);
    if (isLast && line.scale != 1)
      for (std::string *wave : {&waves.re, &waves.im})
        *wave = addBinary("mul.Scalar", tensor(*wave), number(line.scale),
                          metaOf(f64(), square));
    std::string minus = negate(waves.im, f64(), square);
    // Weights of the imaginary part in the real result, and of the real part in
    // the imaginary one.
    std::string toReal = line.isForward ? waves.im : minus,
                toImaginary = line.isForward ? minus : waves.im;
    std::vector<Expr> made = with({Expr(rest), Expr(parts * given), lane});
    if (isFirst) {
      auto multiplyPart = [&](const std::string &part, const std::string &a,
                              const std::string &b) {
        std::vector<Expr> sizes = square;
        sizes[isLeft] = sizes[isLeft] * Expr(parts);
        std::string matrix =
            parts == 1 ? a : join("cat.default", {a, b}, isLeft, f64(), sizes);
        matrix = cast(matrix, dtype, sizes);
        sizes = with({Expr(read), Expr(rest), lane});
        std::string z = view(part, dtype, sizes);
        z = exchange(z, outer.size(), outer.size() + 1, sizes);
        if (!isLeft)
          return addBinary("matmul.default", tensor(matrix), tensor(z),
                           metaOf(dtype, made));
        // The lane is a single element.
        z = view(z, dtype, with({Expr(rest), Expr(read)}));
        return addBinary(
            "matmul.default", tensor(z), tensor(matrix),
            metaOf(dtype, with({Expr(rest), Expr(parts * given)})));
      };
      y = multiplyPart(x.parts.re, waves.re, toImaginary);
      if (!x.parts.im.empty())
        y = addBinary(
            "add.Tensor", tensor(y),
            tensor(multiplyPart(x.parts.im, toReal, waves.re)),
            metaOf(dtype,
                   isLeft ? with({Expr(rest), Expr(parts * given)}) : made));
    } else {
      std::vector<Expr> sizes = square;
      sizes.push_back(2);
      std::string matrix =
          join("stack.default", {waves.re, toReal}, -1, f64(), sizes);
      if (parts == 2) {
        std::string second =
            join("stack.default", {toImaginary, waves.re}, -1, f64(), sizes);
        sizes[0] = sizes[0] * Expr(2);
        matrix = join("cat.default", {matrix, second}, 0, f64(), sizes);
      }
      sizes = {sizes[0], Expr(2 * r)};
      matrix = cast(view(matrix, f64(), sizes), dtype, sizes);
      sizes = with({Expr(r), Expr(rest), 2 * lane});
      y = exchange(view(y, dtype, sizes), outer.size(), outer.size() + 1,
                   sizes);
      y = view(y, dtype, with({Expr(rest), Expr(2 * r), lane}));
      y = addBinary("matmul.default", tensor(matrix), tensor(y),
                    metaOf(dtype, made));
    }
    if (isLast) {
      lane = lane * Expr(given);
      break;
    }
    // Twiddles: each part times cosines, plus the other part times sines.
    std::vector<Expr> table = {Expr(rest), 2, Expr(given), 1};
    std::vector<Expr> plane = {Expr(rest), Expr(given)};
    waves = makeWaves(rest, given, rest * r);
    minus = negate(waves.im, f64(), plane);
    auto makeTable = [&](const std::string &a, const std::string &b) {
      std::string own =
          join("stack.default", {a, b}, 1, f64(), {Expr(rest), 2, Expr(given)});
      return cast(view(own, f64(), table), dtype, table);
    };
    std::string same = makeTable(waves.re, waves.re),
                other = line.isForward ? makeTable(waves.im, minus)
                                       : makeTable(minus, waves.im);
    std::vector<Expr> sizes = with({Expr(rest), 2, Expr(given), lane});
    y = view(y, dtype, sizes);
    std::string flipped =
        add("flip.default",
            {{"self", tensor(y)},
             {"dims", integers({Expr(int64_t(outer.size()) + 1)})}},
            metaOf(dtype, sizes));
    y = addBinary("add.Tensor", tensor(multiply(y, same, dtype, sizes)),
                  tensor(multiply(flipped, other, dtype, sizes)),
                  metaOf(dtype, sizes));
    lane = lane * Expr(given);
  }
  // Merge the digits of the result's index with the dims behind.
  const bool isReal = line.wanted == Wanted::Real;
  const int64_t digits =
      line.points / factors.back() *
      (line.wanted == Wanted::Half ? factors.back() / 2 + 1 : factors.back());
  std::vector<Expr> sizes = with({Expr(digits)});
  sizes.insert(sizes.end(), inner.begin(), inner.end());
  auto part = [&](int64_t i) {
    std::string z = y;
    if (!isReal) {
      std::vector<Expr> both = sizes;
      both.insert(both.begin() + outer.size(), Expr(2));
      z = add("select.int",
              {{"self", tensor(view(z, dtype, both))},
               {"dim", integer(int64_t(outer.size()))},
               {"index", integer(i)}},
              metaOf(dtype, sizes));
    } else {
      z = view(z, dtype, sizes);
    }
    return line.wanted == Wanted::Half
               ? slice(z, x.dim, line.points / 2 + 1, dtype, sizes)
               : z;
  };
  std::string re = part(0);
  return {re, isReal ? std::string() : part(1)};
}

Transforms::Signal Transforms::widen(const Signal &x, int64_t points,
                                     int64_t taken) {
  const int64_t rows = *x.sizes[x.dim].asConstant();
  const size_t behind = x.sizes.size() - x.dim - 1;
  std::vector<Expr> column(behind + 1, Expr(1));
  column[0] = Expr(rows);
  std::string weights =
      view(cast(makeWeights(points), x.dtype, {Expr(rows)}), x.dtype, column);
  std::vector<Expr> pad(2 * behind + 2, Expr(0));
  pad.back() = Expr(taken - rows);
  Signal made = x;
  made.sizes[x.dim] = Expr(taken);
  for (std::string *part : {&made.parts.re, &made.parts.im})
    *part = add("constant_pad_nd.default",
                {{"self", tensor(multiply(*part, weights, x.dtype, x.sizes))},
                 {"pad", integers(pad)}},
                metaOf(x.dtype, made.sizes));
  return made;
}

Pair Transforms::transformByChirps(const Signal &x, const Line &line,
                                   int64_t length) {
  const int64_t n = line.points;
  const size_t behind = x.sizes.size() - x.dim - 1;
  // w^(j^2 / 2), for a position j or its distance to the end.
  auto chirp = [&](const std::string &j, int64_t points) {
    std::string x = addBinary("mul.Tensor", tensor(j), tensor(j),
                              metaOf(i64(), {Expr(points)}));
    return turn(x, 2 * n, {Expr(points)});
  };
  auto conj = [&](const Pair &p, int64_t points) {
    return Pair{p.re, negate(p.im, f64(), {Expr(points)})};
  };
  auto asColumn = [&](Pair p, int64_t points) {
    std::vector<Expr> column(behind + 1, Expr(1));
    column[0] = Expr(points);
    for (std::string *part : {&p.re, &p.im})
      *part = cast(view(*part, f64(), column), x.dtype, column);
    return p;
  };
  Pair waves = chirp(count(n, i64()), n);
  if (line.isForward)
    waves = conj(waves, n);
  const TensorMeta places = metaOf(i64(), {Expr(length)});
  std::string place = count(length, i64());
  place = addBinary(
      "minimum.default", tensor(place),
      tensor(addBinary("rsub.Scalar", tensor(place), integer(length), places)),
      places);
  Pair back = chirp(place, length);
  if (!line.isForward)
    back = conj(back, length);
  auto transform = [&](const Signal &signal, bool isForward, double scale) {
    Expr inner(1);
    for (size_t i = signal.dim + 1; i < signal.sizes.size(); ++i)
      inner = inner * signal.sizes[i];
    const Line own = {length, isForward, Wanted::All, scale};
    const Plan plan =
        Planner(length, /*isHalf=*/false, inner.asConstant().value_or(kLanes))
            .best;
    return plan.factors.empty() ? transformWhole(signal, own)
                                : transformInFactors(signal, own, plan.factors);
  };
  back = transform({back, {Expr(length)}, 0, f64()}, /*isForward=*/true,
                   line.scale / double(length));

  Signal y = x;
  if (line.wanted == Wanted::Real)
    y = widen(x, n, n / 2 + 1);
  const int64_t rows = *y.sizes[x.dim].asConstant();
  Pair first = waves;
  if (rows != n)
    for (std::string *part : {&first.re, &first.im})
      *part = slice(*part, 0, rows, f64(), {Expr(n)});
  y.parts = multiply(y.parts, asColumn(first, rows), x.dtype, y.sizes);
  std::vector<Expr> pad(2 * behind + 2, Expr(0));
  pad.back() = Expr(length - rows);
  y.sizes[x.dim] = Expr(length);
  for (std::string *part : {&y.parts.re, &y.parts.im})
    *part = add("constant_pad_nd.default",
                {{"self", tensor(*part)}, {"pad", integers(pad)}},
                metaOf(x.dtype, y.sizes));
  y.parts = transform(y, /*isForward=*/true, 1);
  y.parts = multiply(y.parts, asColumn(back, length), x.dtype, y.sizes);
  y.parts = transform(y, /*isForward=*/false, 1);
  const int64_t wanted = line.wanted == Wanted::Half ? n / 2 + 1 : n;
  if (wanted != n)
    for (std::string *part : {&waves.re, &waves.im})
      *part = slice(*part, 0, wanted, f64(), {Expr(n)});
  for (std::string *part : {&y.parts.re, &y.parts.im})
    *part = slice(*part, x.dim, wanted, x.dtype, y.sizes);
  y.sizes[x.dim] = Expr(wanted);
  Pair made = multiply(y.parts, asColumn(waves, wanted), x.dtype, y.sizes);
  if (line.wanted == Wanted::Real)
    made.im.clear();
  return made;
}

//===----------------------------------------------------------------------===//
// ATen's transforms
//===----------------------------------------------------------------------===//

std::optional<Pair> Transforms::lowerTransform(Pair operand) {
  const std::string op = node->getOp();
  const bool fromReal = op == "aten._fft_r2c.default",
             toReal = op == "aten._fft_c2r.default";
  const Argument *dims = get("dim", 1), *scaling = get("normalization", 2),
                 *last = get(fromReal ? "onesided"
                             : toReal ? "last_dim_size"
                                      : "forward",
                             3);
  const std::string self = getTensor("self", 0);
  if (!dims || !scaling || !last || self.empty() ||
      fromReal != operand.im.empty())
    return std::nullopt;
  auto known = [](const Argument &arg, size_t i) {
    return i < arg.exprs.size() ? arg.exprs[i].asConstant() : std::nullopt;
  };
  std::optional<int64_t> mode = known(*scaling, 0), end = known(*last, 0);
  Signal x = {operand, program.tensors[self].sizes, 0, meta.dtype.getReal()};
  if (!mode || dims->exprs.empty() || (!end && !toReal))
    return std::nullopt;
  // Only the last dim of the list may have a one-sided spectrum.
  std::vector<size_t> order;
  double points = 1;
  for (size_t i = 0; i < dims->exprs.size(); ++i) {
    std::optional<int64_t> dim = known(*dims, i);
    const int64_t rank = int64_t(x.sizes.size());
    if (!dim || *dim < -rank || *dim >= rank)
      return std::nullopt;
    order.push_back(size_t(*dim < 0 ? *dim + rank : *dim));
    std::optional<int64_t> n = x.sizes[order.back()].asConstant();
    if (toReal && i + 1 == dims->exprs.size())
      n = n ? end : n;
    if (!n || *n < 1 || *n > kMostPoints) {
      reason = "transforms " +
               (n ? std::to_string(*n) : "an unknown number of") +
               " points, expected a known number up to " +
               std::to_string(kMostPoints);
      return std::nullopt;
    }
    points *= double(*n);
  }
  const bool isForward = fromReal || (!toReal && *end != 0);
  double scale = *mode == 1   ? 1 / std::sqrt(points)
                 : *mode == 2 ? 1 / points
                              : 1;
  auto transform = [&](size_t dim, bool isEnd) {
    x.dim = dim;
    const Wanted wanted = !isEnd                  ? Wanted::All
                          : toReal                ? Wanted::Real
                          : fromReal && *end != 0 ? Wanted::Half
                                                  : Wanted::All;
    const int64_t n =
        wanted == Wanted::Real ? *end : *x.sizes[dim].asConstant();
    const Line line = {n, isForward, wanted, std::exchange(scale, 1.0)};
    Expr inner(1);
    for (size_t i = dim + 1; i < x.sizes.size(); ++i)
      inner = inner * x.sizes[i];
    const Plan plan = makePlan(n, wanted != Wanted::All || x.parts.im.empty(),
                               inner.asConstant().value_or(kLanes));
    if (plan.kind == Plan::Whole) {
      x.parts = transformWhole(x, line);
    } else if (plan.kind == Plan::Chirps) {
      x.parts = transformByChirps(x, line, plan.length);
    } else {
      // The first product reads whole columns, which extend into the other
      // half.
      const int64_t row = n / plan.factors[0];
      x.parts = transformInFactors(
          wanted == Wanted::Real ? widen(x, n, (n / 2 / row + 1) * row) : x,
          line, plan.factors);
    }
    x.sizes[dim] = Expr(wanted == Wanted::Half ? n / 2 + 1 : n);
  };
  if (!toReal)
    transform(order.back(), /*isEnd=*/true);
  for (size_t i = order.size() - 1; i-- > 0;)
    transform(order[i], /*isEnd=*/false);
  if (toReal)
    transform(order.back(), /*isEnd=*/true);
  return x.parts;
}
