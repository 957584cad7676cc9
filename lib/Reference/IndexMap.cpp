//===- IndexMap.cpp - Maps of views as arithmetic on integers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexMap.h"

using namespace luminal;
using namespace luminal::reference;

//===----------------------------------------------------------------------===//
// One expression
//===----------------------------------------------------------------------===//

Expr reference::bindExpr(const Expr &e, const SymbolValues &symbols) {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    auto it = leaf.asSymbol() ? symbols.find(*leaf.asSymbol()) : symbols.end();
    return it == symbols.end() ? std::nullopt : std::optional<Expr>(it->second);
  });
}

void IndexProgram::compile(const Expr &e) {
  switch (e.kind()) {
  case Expr::Kind::Constant:
    code.push_back({e.kind(), *e.asConstant()});
    return;
  case Expr::Kind::Dim:
    code.push_back({e.kind(), *e.asDim()});
    return;
  case Expr::Kind::Symbol:
    // An unbound symbol has no value. It compiles to a division by zero, which
    // has none either.
    code.push_back({Expr::Kind::Constant, 1});
    code.push_back({Expr::Kind::Constant, 0});
    code.push_back({Expr::Kind::FloorDiv, 0});
    return;
  default:
    compile(e.operands()[0]);
    for (size_t i = 1; i < e.operands().size(); ++i) {
      compile(e.operands()[i]);
      code.push_back({e.kind(), 0});
    }
  }
}

std::optional<int64_t>
IndexProgram::evaluateFast(llvm::ArrayRef<int64_t> dims,
                           llvm::SmallVectorImpl<int64_t> &stack) const {
  stack.clear();
  for (const Instruction &instruction : code) {
    if (instruction.kind == Expr::Kind::Constant) {
      stack.push_back(instruction.value);
      continue;
    }
    if (instruction.kind == Expr::Kind::Dim) {
      stack.push_back(dims[static_cast<size_t>(instruction.value)]);
      continue;
    }
    int64_t b = stack.pop_back_val();
    int64_t &a = stack.back();
    switch (instruction.kind) {
    case Expr::Kind::Add:
      if (__builtin_add_overflow(a, b, &a))
        return std::nullopt;
      break;
    case Expr::Kind::Mul:
      if (__builtin_mul_overflow(a, b, &a))
        return std::nullopt;
      break;
    case Expr::Kind::FloorDiv:
    case Expr::Kind::Mod: {
      if (b == 0 || (a == INT64_MIN && b == -1))
        return std::nullopt;
      int64_t quotient = a / b, remainder = a % b;
      bool adjust = remainder != 0 && (remainder < 0) != (b < 0);
      a = instruction.kind == Expr::Kind::Mod
              ? (adjust ? remainder + b : remainder)
              : (adjust ? quotient - 1 : quotient);
      break;
    }
    case Expr::Kind::Max:
      a = std::max(a, b);
      break;
    default:
      a = std::min(a, b);
      break;
    }
  }
  return stack.back();
}

std::optional<int64_t>
IndexProgram::evaluate(llvm::ArrayRef<int64_t> dims,
                       llvm::SmallVectorImpl<int64_t> &stack) const {
  if (std::optional<int64_t> value = evaluateFast(dims, stack))
    return value;
  // A partial sum may overflow 64 bits although the total does not.
  return e.evaluate({}, dims.vec());
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

static std::string outside(int64_t index, size_t dim, int64_t extent) {
  return "index " + std::to_string(index) + " of dim " + std::to_string(dim) +
         " is outside [0, " + std::to_string(extent) + ")";
}

/// `e` as base + sum of strides[i] * d_i with constant strides, if it has that
/// form.
static std::optional<Affine> getAffine(const Expr &e, size_t rank) {
  Affine affine{0, {}};
  Expr rest = e;
  for (size_t i = 0; i < rank; ++i) {
    std::optional<Expr::Linear> linear = rest.linearIn(unsigned(i));
    if (!linear || !linear->stride.asConstant())
      return std::nullopt;
    affine.strides.push_back(*linear->stride.asConstant());
    rest = linear->rest;
  }
  if (!rest.asConstant())
    return std::nullopt;
  affine.base = *rest.asConstant();
  return affine;
}

/// The smallest and the largest value over a nonempty shape. An affine function
/// takes them at corners.
static std::pair<__int128, __int128> getEnds(const Affine &affine,
                                             llvm::ArrayRef<int64_t> shape) {
  __int128 low = affine.base, high = affine.base;
  for (auto [stride, extent] : llvm::zip_equal(affine.strides, shape)) {
    __int128 reach = __int128(stride) * (extent - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

std::optional<IndexMap> IndexMap::get(llvm::ArrayRef<Expr> results,
                                      const SymbolValues &symbols,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> sourceShape,
                                      std::string &error) {
  IndexMap map(shape, sourceShape);
  map.position.strides.assign(shape.size(), 0);
  bool empty = llvm::is_contained(shape, 0);
  int64_t sourceStride = 1;
  for (size_t k = results.size(); k-- > 0; sourceStride *= sourceShape[k]) {
    Expr e = bindExpr(results[k], symbols);
    map.programs.insert(map.programs.begin(), IndexProgram(e));
    std::optional<Affine> affine = getAffine(e, shape.size());
    if (!affine || !map.linear || empty) {
      map.linear = false;
      continue;
    }
    auto [low, high] = getEnds(*affine, shape);
    if (low < 0 || high >= sourceShape[k]) {
      __int128 found = low < 0 ? low : high;
      bool fits = found >= INT64_MIN && found <= INT64_MAX;
      error = outside(fits ? int64_t(found) : INT64_MAX, k, sourceShape[k]);
      return std::nullopt;
    }
    // All indices are inside the source, so every product below is at most its
    // size. An exception is a dim of extent 1: its stride may be anything, but
    // is never multiplied by anything but 0.
    map.position.base += affine->base * sourceStride;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] > 1)
        map.position.strides[i] += affine->strides[i] * sourceStride;
  }
  return map;
}

bool IndexMap::fill(int64_t begin, int64_t count, int64_t *positions,
                    std::string &error) const {
  if (linear) {
    forEachRun(begin, count,
               [&](int64_t done, int64_t first, int64_t stride, int64_t n) {
                 for (int64_t j = 0; j < n; ++j)
                   positions[done + j] = first + j * stride;
               });
    return true;
  }
  if (count == 0)
    return true;
  IndexSpace::Index index = space.at(begin);
  llvm::SmallVector<int64_t> stack;
  for (int64_t j = 0; j < count; ++j, space.advance(index, 1)) {
    int64_t position = 0;
    for (size_t k = 0; k < programs.size(); ++k) {
      std::optional<int64_t> value = programs[k].evaluate(index, stack);
      if (!value) {
        error = "the index of dim " + std::to_string(k) +
                " has no value: an overflow or a division by zero";
        return false;
      }
      if (*value < 0 || *value >= sourceShape[k]) {
        error = outside(*value, k, sourceShape[k]);
        return false;
      }
      position = position * sourceShape[k] + *value;
    }
    positions[j] = position;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Index spaces
//===----------------------------------------------------------------------===//

IndexSpace::Index IndexSpace::at(int64_t element) const {
  Index index(shape.size(), 0);
  for (size_t i = shape.size(); i-- > 0; element /= shape[i])
    index[i] = element % shape[i];
  return index;
}

void IndexSpace::advance(Index &index, int64_t steps) const {
  // Advance along the last dim and carry.
  for (size_t i = shape.size(); i-- > 0 && steps;) {
    index[i] += steps;
    if (index[i] < shape[i])
      return;
    steps = index[i] / shape[i];
    index[i] -= steps * shape[i];
  }
}

IndexValues::IndexValues(const Expr &e, llvm::ArrayRef<int64_t> shape)
    : space(shape), program(e), affine(getAffine(e, shape.size())) {
  if (!affine || llvm::is_contained(shape, 0)) {
    affine = std::nullopt;
    return;
  }
  // The stride of a dim of extent 1 has no effect.
  for (auto [stride, extent] : llvm::zip_equal(affine->strides, shape))
    if (extent == 1)
      stride = 0;
  // If the sum of all terms of one sign does not overflow, no partial sum does.
  auto [low, high] = getEnds(*affine, shape);
  if (low < INT64_MIN || high > INT64_MAX)
    affine = std::nullopt;
}

bool IndexValues::fill(int64_t begin, int64_t count, int64_t *values) const {
  if (count == 0)
    return true;
  if (affine) {
    space.forEachPiece(
        begin, count,
        [&](int64_t done, int64_t n, llvm::ArrayRef<int64_t> index) {
          int64_t first = affine->at(index), stride = affine->lastStride();
          for (int64_t j = 0; j < n; ++j)
            values[done + j] = first + j * stride;
        });
    return true;
  }
  IndexSpace::Index index = space.at(begin);
  llvm::SmallVector<int64_t> stack;
  for (int64_t j = 0; j < count; ++j, space.advance(index, 1)) {
    std::optional<int64_t> value = program.evaluate(index, stack);
    if (!value)
      return false;
    values[j] = *value;
  }
  return true;
}
