//===- Fourier.cpp - Expands torch.fft, stft and istft --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An archive that was not decomposed contains the functions as the model calls
// them. PyTorch's own decompositions reduce them to three ops:
//
//   rfft(x, n), ihfft(x, n)       -->  _fft_r2c of x padded or cut to n, conj
//   fft(x, n), ifft(x, n)         -->  the same of a real x, else _fft_c2c
//   irfft(x, n), hfft(x, n)       -->  _fft_c2r of x padded or cut to n/2 + 1
//   stft(x)                       -->  unfold, mul by the window, _fft_r2c
//   istft(x)                      -->  _fft_c2r, mul by the window,
//                                      unfold_backward, div by the windows' sum
//
// Complex.cpp turns these three into products, in either kind of archive.
//
//===----------------------------------------------------------------------===//

#include "Rewriter.h"
#include <set>

using namespace luminal;
using namespace luminal::pt2;

namespace {

class Expansion : Rewriter {
public:
  explicit Expansion(ExportedProgram &program) : Rewriter(program) {}
  void run();

private:
  /// A tensor of the graph, with its type and sizes.
  struct Tensor {
    std::string name;
    DTypeCode dtype;
    std::vector<Expr> sizes;
  };
  using Sizes = std::vector<Expr>;

  Tensor self() const;
  Tensor add(const char *op, std::vector<NamedArgument> inputs, DTypeCode dtype,
             Sizes sizes);
  /// Makes the last added node's value the result of the current node.
  void give();
  bool refuse(const std::string &why) {
    reason = why;
    return false;
  }

  // Arguments that may be omitted or None.
  bool isGiven(const char *name, size_t position) const;
  std::optional<Expr> getExpr(const char *name, size_t position) const;
  std::optional<std::vector<Expr>> getExprs(const char *name,
                                            size_t position) const;
  /// The dim counted from 0; std::nullopt if a tensor of that rank has no such
  /// dim.
  static std::optional<int64_t> getDim(const Expr &dim, int64_t rank);
  bool getFlag(const char *name, size_t position, bool fallback) const;
  /// A size that must be constant; std::nullopt if it is not, or below `least`.
  std::optional<int64_t> getSize(const char *name, size_t position,
                                 int64_t fallback, int64_t least) const;

  // Pieces.
  Tensor cast(const Tensor &x, DTypeCode dtype);
  Tensor conj(const Tensor &x);
  Tensor transpose(const Tensor &x);
  Tensor slice(const Tensor &x, size_t dim, const Expr &start, const Expr &end);
  /// Pads each dim with zeros behind (and before), or cuts elements off.
  Tensor resize(const Tensor &x, const std::vector<std::pair<Expr, Expr>> &by);
  Tensor transform(const char *op, const Tensor &x, Sizes sizes, bool isComplex,
                   const std::vector<int64_t> &dims, int64_t mode,
                   NamedArgument last);
  /// The window of stft and istft, padded to `points` elements. Without a name
  /// if none is given and none is needed.
  std::optional<Tensor> window(int64_t length, int64_t points, DTypeCode dtype,
                               bool isNeeded);
  Tensor overlapAdd(const Tensor &x, const Expr &length, int64_t points,
                    int64_t hop);

  // Expansions of functions; false if the call is not supported.
  bool expandTransform(std::string_view name);
  bool expandShift(bool isInverse);
  bool expandStft(bool canCenter);
  bool expandIstft();
  /// std::nullopt for other ops.
  std::optional<bool> expand();
};

} // namespace

Expansion::Tensor Expansion::self() const {
  std::string name = getTensor("self", 0);
  auto it = program.tensors.find(name);
  return it == program.tensors.end()
             ? Tensor()
             : Tensor{name, it->second.dtype, it->second.sizes};
}

Expansion::Tensor Expansion::add(const char *op,
                                 std::vector<NamedArgument> inputs,
                                 DTypeCode dtype, Sizes sizes) {
  Tensor made{newName(node->name), dtype, std::move(sizes)};
  make(made.name, op, std::move(inputs), {dtype, made.sizes, {}, Expr(0)});
  return made;
}

void Expansion::give() {
  program.tensors.erase(nodes.back().outputs[0].names[0]);
  nodes.back().outputs = {tensor(result)};
}

bool Expansion::isGiven(const char *name, size_t position) const {
  const Argument *arg = get(name, position);
  return arg && arg->kind != Argument::None;
}

std::optional<Expr> Expansion::getExpr(const char *name,
                                       size_t position) const {
  const Argument *arg = get(name, position);
  return arg && arg->kind == Argument::Int ? std::optional(arg->exprs[0])
                                           : std::nullopt;
}

std::optional<std::vector<Expr>> Expansion::getExprs(const char *name,
                                                     size_t position) const {
  const Argument *arg = get(name, position);
  return arg && (arg->kind == Argument::Ints || arg->kind == Argument::Int)
             ? std::optional(arg->exprs)
             : std::nullopt;
}

std::optional<int64_t> Expansion::getDim(const Expr &dim, int64_t rank) {
  std::optional<int64_t> known = dim.asConstant();
  if (!known || *known < -rank || *known >= rank)
    return std::nullopt;
  return *known < 0 ? *known + rank : *known;
}

bool Expansion::getFlag(const char *name, size_t position,
                        bool fallback) const {
  const Argument *arg = get(name, position);
  return arg && arg->kind == Argument::Bool ? !(arg->exprs[0] == Expr(0))
                                            : fallback;
}

std::optional<int64_t> Expansion::getSize(const char *name, size_t position,
                                          int64_t fallback,
                                          int64_t least) const {
  std::optional<int64_t> value = fallback;
  if (isGiven(name, position)) {
    std::optional<Expr> given = getExpr(name, position);
    value = given ? given->asConstant() : std::nullopt;
  }
  return value && *value >= least && *value <= INT32_MAX ? value : std::nullopt;
}

Expansion::Tensor Expansion::cast(const Tensor &x, DTypeCode dtype) {
  return x.dtype == dtype
             ? x
             : add("_to_copy.default",
                   {{"self", tensor(x.name)}, {"dtype", type(dtype)}}, dtype,
                   x.sizes);
}

Expansion::Tensor Expansion::conj(const Tensor &x) {
  return add("conj_physical.default", {{"self", tensor(x.name)}}, x.dtype,
             x.sizes);
}

Expansion::Tensor Expansion::transpose(const Tensor &x) {
  Sizes sizes = x.sizes;
  std::swap(sizes[sizes.size() - 2], sizes.back());
  return add(
      "transpose.int",
      {{"self", tensor(x.name)}, {"dim0", integer(-2)}, {"dim1", integer(-1)}},
      x.dtype, sizes);
}

Expansion::Tensor Expansion::slice(const Tensor &x, size_t dim,
                                   const Expr &start, const Expr &end) {
  Sizes sizes = x.sizes;
  sizes[dim] = end - start;
  return add("slice.Tensor",
             {{"self", tensor(x.name)},
              {"dim", integer(int64_t(dim))},
              {"start", integer(start)},
              {"end", integer(end)}},
             x.dtype, sizes);
}

Expansion::Tensor
Expansion::resize(const Tensor &x,
                  const std::vector<std::pair<Expr, Expr>> &by) {
  std::vector<Expr> pad;
  Sizes sizes = x.sizes;
  bool isSame = true;
  for (size_t i = by.size(); i-- > 0;) {
    auto [before, after] = by[i];
    pad.insert(pad.end(), {before, after});
    sizes[i] = sizes[i] + before + after;
    isSame &= before == Expr(0) && after == Expr(0);
  }
  return isSame ? x
                : add("constant_pad_nd.default",
                      {{"self", tensor(x.name)}, {"pad", integers(pad)}},
                      x.dtype, sizes);
}

Expansion::Tensor Expansion::transform(const char *op, const Tensor &x,
                                       Sizes sizes, bool isComplex,
                                       const std::vector<int64_t> &dims,
                                       int64_t mode, NamedArgument last) {
  return add(op,
             {{"self", tensor(x.name)},
              {"dim", integers({dims.begin(), dims.end()})},
              {"normalization", integer(mode)},
              std::move(last)},
             isComplex ? x.dtype.getComplex() : x.dtype.getReal(),
             std::move(sizes));
}

/// `name` is "rfft", "ifft2", "hfftn", ...
bool Expansion::expandTransform(std::string_view name) {
  const bool isMany = name.ends_with("2") || name.ends_with("n");
  std::string_view base = isMany ? name.substr(0, name.size() - 1) : name;
  const bool toReal = base == "irfft" || base == "hfft",
             fromReal = base == "rfft" || base == "ihfft",
             isInverse = base == "ifft" || base == "irfft" || base == "ihfft";
  Tensor x = self();
  const int64_t rank = int64_t(x.sizes.size());
  if (x.name.empty() || (fromReal && x.dtype.isComplex()))
    return refuse("takes a real tensor");

  // Determine the dims and their lengths.
  std::vector<int64_t> dims;
  std::vector<std::optional<Expr>> lengths;
  std::optional<std::vector<Expr>> given = getExprs(isMany ? "s" : "n", 1),
                                   named = getExprs("dim", 2);
  if (!named) {
    named.emplace();
    int64_t count = !isMany               ? 1
                    : name.ends_with("2") ? 2
                    : given               ? int64_t(given->size())
                                          : rank;
    for (int64_t i = -count; i < 0; ++i)
      named->push_back(Expr(i));
  }
  std::set<int64_t> seen;
  for (const Expr &e : *named) {
    std::optional<int64_t> dim = getDim(e, rank);
    if (!dim)
      return refuse("transforms a dim that the tensor does not have");
    dims.push_back(*dim);
    if (!seen.insert(*dim).second)
      return refuse("transforms a dim twice");
  }
  if (dims.empty() || (given && given->size() != dims.size()))
    return refuse("expected one dim at least, and as many sizes as dims");
  std::vector<std::pair<Expr, Expr>> by(rank, {Expr(0), Expr(0)});
  Sizes sizes = x.sizes;
  Expr points = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    Expr &size = sizes[dims[i]];
    std::optional<Expr> length;
    if (given && !((*given)[i] == Expr(-1)))
      length = (*given)[i];
    const bool isHalf = toReal && i + 1 == dims.size();
    points = length ? *length : isHalf ? (size - Expr(1)) * Expr(2) : size;
    if (std::optional<int64_t> known = points.asConstant(); known && *known < 1)
      return refuse("transforms " + std::to_string(*known) + " points");
    if (!length)
      continue;
    Expr kept = isHalf ? Expr::floorDiv(points, Expr(2)) + Expr(1) : points;
    by[dims[i]].second = kept - size;
    size = kept;
  }

  const Argument *norm = get("norm", 3);
  std::string scaling =
      norm && norm->kind == Argument::String ? norm->names[0] : "backward";
  if (scaling != "backward" && scaling != "forward" && scaling != "ortho")
    return refuse("norm '" + scaling +
                  "', expected 'backward', 'forward' or 'ortho'");
  // Normalization: 1 divides by the square root of the number of points, 2 by
  // the number.
  const int64_t mode = scaling == "ortho"                    ? 1
                       : (scaling == "forward") != isInverse ? 2
                                                             : 0;

  DTypeCode real = meta.dtype.getReal();
  x = cast(x, x.dtype.isComplex() || toReal ? real.getComplex() : real);
  x = resize(x, by);
  if (toReal) {
    sizes[dims.back()] = points;
    if (base == "hfft")
      x = conj(x);
    transform("_fft_c2r.default", x, sizes, /*isComplex=*/false, dims, mode,
              {"last_dim_size", integer(points)});
  } else if (x.dtype.isComplex()) {
    transform("_fft_c2c.default", x, sizes, /*isComplex=*/true, dims, mode,
              {"forward", flag(!isInverse)});
  } else {
    if (fromReal)
      sizes[dims.back()] = Expr::floorDiv(points, Expr(2)) + Expr(1);
    Tensor y = transform("_fft_r2c.default", x, sizes, /*isComplex=*/true, dims,
                         mode, {"onesided", flag(fromReal)});
    // A transform of real numbers in the inverse direction.
    if (isInverse)
      conj(y);
  }
  give();
  return true;
}

/// fftshift and ifftshift, as a roll by half of each dim.
bool Expansion::expandShift(bool isInverse) {
  Tensor x = self();
  const int64_t rank = int64_t(x.sizes.size());
  std::optional<std::vector<Expr>> dims = getExprs("dim", 1);
  if (!dims) {
    dims.emplace();
    for (int64_t i = 0; i < rank; ++i)
      dims->push_back(Expr(i));
  }
  std::vector<Expr> shifts;
  for (const Expr &e : *dims) {
    std::optional<int64_t> dim = getDim(e, rank);
    if (!dim)
      return refuse("shifts a dim that the tensor does not have");
    const Expr &size = x.sizes[*dim];
    shifts.push_back(
        Expr::floorDiv(isInverse ? size + Expr(1) : size, Expr(2)));
  }
  // A roll without dims shifts all elements in row-major order.
  if (dims->empty())
    add("alias.default", {{"self", tensor(x.name)}}, x.dtype, x.sizes);
  else
    add("roll.default",
        {{"self", tensor(x.name)},
         {"shifts", integers(shifts)},
         {"dims", integers(*dims)}},
        x.dtype, x.sizes);
  give();
  return true;
}

std::optional<Expansion::Tensor> Expansion::window(int64_t length,
                                                   int64_t points,
                                                   DTypeCode dtype,
                                                   bool isNeeded) {
  Tensor w;
  if (isGiven("window", 4)) {
    std::string name = getTensor("window", 4);
    const TensorMeta &own = program.tensors[name];
    w = {name, own.dtype, own.sizes};
    if (w.sizes.size() != 1 || !(w.sizes[0] == Expr(length)) ||
        w.dtype.isComplex()) {
      reason = "the window is not one of " + std::to_string(length) +
               " real numbers";
      return std::nullopt;
    }
    w = cast(w, dtype);
  } else if (isNeeded || length != points) {
    w = add("ones.default",
            {{"size", integers({Expr(length)})}, {"dtype", type(dtype)}}, dtype,
            {Expr(length)});
  } else {
    return w;
  }
  const int64_t left = (points - length) / 2;
  return resize(w, {{Expr(left), Expr(points - length - left)}});
}

/// Windowed frames of the signal, and a real or complex transform of each.
bool Expansion::expandStft(bool canCenter) {
  const size_t rest = canCenter ? 7 : 5;
  Tensor x = self();
  std::optional<int64_t> points = getSize("n_fft", 1, 0, 1);
  if (x.sizes.empty() || x.sizes.size() > 2 || !points)
    return refuse("takes a signal or a batch of them, and a known n_fft");
  const DTypeCode real = meta.dtype.getReal();
  const bool isComplex = x.dtype.isComplex(),
             oneSided = getFlag("onesided", rest + 1, !isComplex);
  std::optional<int64_t> hop = getSize("hop_length", 2, *points / 4, 1),
                         length = getSize("win_length", 3, *points, 1);
  if (!hop || !length || *length > *points || (isComplex && oneSided))
    return refuse("hop_length, win_length or onesided do not fit n_fft or the "
                  "signal");
  const bool toComplex = getFlag("return_complex", rest + 2, isComplex);

  x = cast(x, isComplex ? real.getComplex() : real);
  if (canCenter && getFlag("center", 5, true)) {
    const Argument *mode = get("pad_mode", 6);
    const Expr half(*points / 2);
    Sizes sizes = x.sizes;
    sizes.insert(sizes.begin(), Expr(1));
    x = add("unsqueeze.default",
            {{"self", tensor(x.name)}, {"dim", integer(0)}}, x.dtype, sizes);
    sizes.back() = sizes.back() + half + half;
    x = add("pad.default",
            {{"self", tensor(x.name)},
             {"pad", integers({half, half})},
             {"mode", mode ? *mode : text("reflect")}},
            x.dtype, sizes);
    sizes.erase(sizes.begin());
    x = add("squeeze.dim", {{"self", tensor(x.name)}, {"dim", integer(0)}},
            x.dtype, sizes);
  }
  // Use only as many frames as have their window inside the signal.
  if (getFlag("align_to_window", rest + 3, false)) {
    const Expr beside((*points - *length) / 2);
    std::vector<std::pair<Expr, Expr>> by(x.sizes.size(), {Expr(0), Expr(0)});
    by.back() = {beside, beside};
    x = resize(x, by);
  }
  std::optional<Tensor> w = window(*length, *points, real, /*isNeeded=*/false);
  if (!w)
    return false;
  Sizes sizes = x.sizes;
  sizes.back() =
      Expr::floorDiv(sizes.back() - Expr(*points), Expr(*hop)) + Expr(1);
  sizes.push_back(Expr(*points));
  x = add("unfold.default",
          {{"self", tensor(x.name)},
           {"dimension", integer(-1)},
           {"size", integer(*points)},
           {"step", integer(*hop)}},
          x.dtype, sizes);
  if (!w->name.empty())
    x = add("mul.Tensor",
            {{"self", tensor(x.name)}, {"other", tensor(w->name)}}, x.dtype,
            sizes);
  const std::vector<int64_t> last = {int64_t(sizes.size()) - 1};
  const int64_t mode = getFlag("normalized", rest, false) ? 1 : 0;
  if (oneSided)
    sizes.back() = Expr(*points / 2 + 1);
  x = isComplex ? transform("_fft_c2c.default", x, sizes, /*isComplex=*/true,
                            last, mode, {"forward", flag(true)})
                : transform("_fft_r2c.default", x, sizes, /*isComplex=*/true,
                            last, mode, {"onesided", flag(oneSided)});
  x = transpose(x);
  if (!toComplex) {
    sizes = x.sizes;
    sizes.push_back(Expr(2));
    add("view_as_real.default", {{"self", tensor(x.name)}}, real, sizes);
  }
  give();
  return true;
}

Expansion::Tensor Expansion::overlapAdd(const Tensor &x, const Expr &length,
                                        int64_t points, int64_t hop) {
  Sizes sizes = x.sizes;
  sizes.pop_back();
  sizes.back() = length;
  return add("unfold_backward.default",
             {{"grad_in", tensor(x.name)},
              {"input_sizes", integers(sizes)},
              {"dim", integer(int64_t(sizes.size()) - 1)},
              {"size", integer(points)},
              {"step", integer(hop)}},
             x.dtype, sizes);
}

/// Transforms each frame back, and adds the overlapping frames.
bool Expansion::expandIstft() {
  Tensor x = self();
  std::optional<int64_t> points = getSize("n_fft", 1, 0, 1);
  if (x.sizes.size() < 2 || x.sizes.size() > 3 || !x.dtype.isComplex() ||
      !points)
    return refuse("takes a spectrum or a batch of them, and a known n_fft");
  const size_t rank = x.sizes.size();
  const DTypeCode real = x.dtype.getReal();
  const Expr frames = x.sizes[rank - 1], bins = x.sizes[rank - 2];
  std::optional<int64_t> hop = getSize("hop_length", 2, *points / 4, 1),
                         length = getSize("win_length", 3, *points, 1);
  const bool oneSided = getFlag("onesided", 7, !(bins == Expr(*points))),
             toComplex = getFlag("return_complex", 9, false);
  const Expr half(*points / 2 + 1);
  if (!hop || !length || *length > *points || *hop > *length ||
      !(bins == (oneSided ? half : Expr(*points))) || (toComplex && oneSided))
    return refuse("hop_length, win_length, onesided or the number of "
                  "frequencies do not fit n_fft");
  std::optional<Tensor> w = window(*length, *points, real, /*isNeeded=*/true);
  if (!w)
    return false;
  const Expr whole = Expr(*points) + Expr(*hop) * (frames - Expr(1));
  const bool isCentered = getFlag("center", 5, true);
  const Expr start(isCentered ? *points / 2 : 0);
  std::optional<Expr> wanted = getExpr("length", 8);
  const Expr end = wanted ? start + *wanted : whole - start;

  x = transpose(x);
  Sizes sizes = x.sizes;
  sizes.back() = Expr(*points);
  const std::vector<int64_t> last = {int64_t(rank) - 1};
  const int64_t mode = getFlag("normalized", 6, false) ? 1 : 2;
  if (toComplex) {
    x = transform("_fft_c2c.default", x, sizes, /*isComplex=*/true, last, mode,
                  {"forward", flag(false)});
  } else {
    if (!oneSided)
      x = slice(x, rank - 1, Expr(0), half);
    x = transform("_fft_c2r.default", x, sizes, /*isComplex=*/false, last, mode,
                  {"last_dim_size", integer(*points)});
  }
  x = add("mul.Tensor", {{"self", tensor(x.name)}, {"other", tensor(w->name)}},
          x.dtype, sizes);
  Tensor square =
      add("mul.Tensor", {{"self", tensor(w->name)}, {"other", tensor(w->name)}},
          real, w->sizes);
  square = add("expand.default",
               {{"self", tensor(square.name)},
                {"size", integers({frames, Expr(*points)})}},
               real, {frames, Expr(*points)});
  // After the division, cut or pad with zeros to the requested length.
  Tensor sum = overlapAdd(x, whole, *points, *hop),
         weights = overlapAdd(square, whole, *points, *hop);
  sum = slice(sum, rank - 2, start, whole);
  weights = slice(weights, 0, start, whole);
  Tensor y = add("div.Tensor",
                 {{"self", tensor(sum.name)}, {"other", tensor(weights.name)}},
                 sum.dtype, sum.sizes);
  std::vector<std::pair<Expr, Expr>> by(rank - 1, {Expr(0), Expr(0)});
  by.back().second = end - whole;
  resize(y, by);
  give();
  return true;
}

std::optional<bool> Expansion::expand() {
  std::string op = node->getOp();
  std::string_view name = op;
  if (!name.starts_with("aten."))
    return std::nullopt;
  name.remove_prefix(5);
  const bool isDefault = name.ends_with(".default");
  if (isDefault)
    name.remove_suffix(8);
  if (name == "stft" || name == "stft.center")
    return expandStft(/*canCenter=*/!isDefault);
  if (name == "istft")
    return expandIstft();
  if (!name.starts_with("fft_") || !isDefault)
    return std::nullopt;
  name.remove_prefix(4);
  if (name == "fftshift" || name == "ifftshift")
    return expandShift(/*isInverse=*/name[0] == 'i');
  static const std::set<std::string_view> bases = {"fft",   "ifft", "rfft",
                                                   "irfft", "hfft", "ihfft"};
  std::string_view base = name;
  if (name.ends_with("2") || name.ends_with("n"))
    base.remove_suffix(1);
  return bases.count(base) ? std::optional(expandTransform(name))
                           : std::nullopt;
}

void Expansion::run() {
  std::vector<Node> old = std::move(program.nodes);
  for (Node &own : old) {
    const size_t before = nodes.size();
    if (enter(own))
      if (std::optional<bool> done = expand()) {
        if (*done)
          continue;
        own.refused = reason;
      }
    nodes.resize(before);
    nodes.push_back(std::move(own));
  }
  program.nodes = std::move(nodes);
}

void pt2::expandFourier(ExportedProgram &program) { Expansion(program).run(); }
