//===- RandomOrders.cpp - Random orders, scans and updates ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of these ops alone, over rows of lengths around those at which their
// kernels change form. Values are integers where they are added or multiplied,
// and comparisons are exact anyway, so compiled code has the interpreter's
// values: of many that are equal, NaN, infinities and zeros of both signs too.
//
//===----------------------------------------------------------------------===//

#include "RandomGenerator.h"

#include <cmath>

using namespace luminal;
using namespace luminal::test;
using llir::Fn;

static std::string name(unsigned n) { return "%v" + std::to_string(n); }

/// The bits of a float of type `t`: +NaN, -NaN, inf, -inf, -0.
static const char *specialBits(DType t, int64_t which) {
  static const char *const f16[] = {"0x7E00", "0xFE00", "0x7C00", "0xFC00",
                                    "0x8000"};
  static const char *const bf16[] = {"0x7FC0", "0xFFC0", "0x7F80", "0xFF80",
                                     "0x8000"};
  static const char *const f32[] = {"0x7FC00000", "0xFFC00000", "0x7F800000",
                                    "0xFF800000", "0x80000000"};
  static const char *const f64[] = {"0x7FF8000000000000", "0xFFF8000000000000",
                                    "0x7FF0000000000000", "0xFFF0000000000000",
                                    "0x8000000000000000"};
  return (t == DType::F16    ? f16
          : t == DType::BF16 ? bf16
          : t == DType::F32  ? f32
                             : f64)[which];
}

/// An op whose result is what the interpreter says.
unsigned Generator::exactly(const Shape &shape, DType dtype,
                            std::vector<unsigned> operands,
                            const std::string &op) {
  Node node(shape, dtype);
  std::string names, types;
  for (unsigned n : operands) {
    names += (names.empty() ? "" : ", ") + name(n);
    types += (types.empty() ? "" : ", ") + getType(at(n));
  }
  size_t place = op.find('@');
  node.text = op.substr(0, place) + names + op.substr(place + 1) + " : " +
              types + " -> " + getType(node);
  node.operands = std::move(operands);
  node.most = INFINITY;
  return add(std::move(node));
}

/// Integers, or floats of few values, with some of every kind among them.
unsigned Generator::ofEveryKind(const Shape &shape, DType t, bool isIntegral) {
  unsigned n = argument(shape, t);
  if (!isFloat(t))
    return n;
  if (isIntegral || chance(50))
    n = apply(Fn::Round, {n});
  for (int64_t i = 0, count = pick(0, 3); i < count; ++i) {
    Node bits({}, t);
    bits.most = INFINITY;
    bits.text = std::string("llir.constant dense<") +
                specialBits(t, pick(0, 4)) + "> : " + getType(bits);
    unsigned value = add(std::move(bits));
    if (!shape.empty())
      value = view(value, shape, {});
    unsigned places = iota(shape, DType::I64);
    unsigned isThere = apply(
        Fn::Equal,
        {places, splat(static_cast<double>(pick(0, 3)), shape, DType::I64)},
        DType::I1);
    n = apply(Fn::Select, {isThere, value, n});
  }
  return n;
}

/// Rows of a length at which kernels change, or of a symbol.
Shape Generator::rowsOfLength(int64_t most) {
  static const std::vector<int64_t> lengths = {1,   2,    7,    31,   64,  100,
                                               257, 1025, 2049, 4097, 5000};
  constexpr int64_t kElements = 12000;
  Expr length = choose(lengths);
  while (mostOf(length) > most)
    length = choose(lengths);
  if (chance(20))
    length = extent();
  Shape shape = {length};
  for (int64_t i = 0, count = pick(0, 2); i < count; ++i) {
    shape.insert(shape.begin(), chance(70) ? Expr(pick(1, 5)) : extent());
    if (mostElements(shape) > kElements)
      shape.erase(shape.begin());
  }
  return shape;
}

/// The order of rows, all of it or some in its midst; payloads by it, and
/// written back where they came from.
void Generator::orders(DType t) {
  Shape shape = rowsOfLength(5000);
  unsigned keys = ofEveryKind(shape, t, /*isIntegral=*/false);
  if (chance(30)) {
    keys = permuted(keys);
    shape = at(keys).shape;
  }
  int64_t least = leastOf(shape.back());
  const bool isPart = least > 1 && chance(40);
  int64_t begin = isPart && chance(50) ? pick(0, least - 1) : 0;
  Shape taken = shape;
  if (isPart)
    taken.back() = Expr(pick(1, least - begin));
  std::string how = "begin = #hlir.map<() -> (" + std::to_string(begin) + ")>";
  if (chance(50))
    how += ", descending = true";
  if (chance(50))
    how += ", nan_first = true";
  unsigned order =
      exactly(taken, DType::I64, {keys}, "llir.argsort @ {" + how + "}");
  if (shape.size() != 1)
    return;
  Shape rows = shape, result = taken;
  if (chance(50))
    rows.push_back(3), result.push_back(3);
  unsigned payload = ofEveryKind(rows, chance(50) ? t : DType::F32, false);
  unsigned sorted = exactly(result, at(payload).dtype, {payload, order},
                            "llir.gather @ {checked}");
  if (chance(50) && taken == shape)
    updated("set", payload, order, sorted);
}

unsigned Generator::updated(const std::string &combine, unsigned dest,
                            unsigned index, unsigned updates) {
  Node node(at(dest).shape, at(dest).dtype);
  node.operands = {dest, index, updates};
  node.most = INFINITY;
  node.text = "llir.scatter " + combine + " " + name(dest) + ", " +
              name(index) + ", " + name(updates) +
              " {checked} : " + getType(at(dest)) + ", " + getType(at(index)) +
              ", " + getType(at(updates));
  return add(std::move(node));
}

void Generator::scans(DType t) {
  static const std::vector<std::string> kinds = {"sum", "product", "max",
                                                 "min"};
  const std::string &kind = choose(kinds);
  const bool isExtremum = kind == "max" || kind == "min",
             isFinite = kind == "product" && isFloat(t);
  // Products of integers up to 2 stay finite, and so are exact.
  Shape shape = rowsOfLength(isFinite ? 64 : 5000);
  unsigned x = ofEveryKind(shape, t, !isExtremum);
  size_t axis = chance(70) ? shape.size() - 1
                           : size_t(pick(0, int64_t(shape.size()) - 1));
  const bool hasPlaces = isExtremum && chance(50);
  std::string how = "axis = " + std::to_string(axis) +
                    " : i64, kind = #llir.scan_kind<" + kind + ">";
  if (!hasPlaces && chance(30))
    how += ", reverse = true";
  if (!hasPlaces && chance(30))
    how += ", exclusive = true";
  if (hasPlaces)
    how += ", positions = true";
  unsigned y = exactly(shape, hasPlaces ? DType::I64 : t, {x},
                       "llir.scan @ {" + how + "}");
  if (chance(30))
    permuted(y);
}

/// Rows that updates meet in, by one or two dims of indices.
void Generator::updates(DType t) {
  static const std::vector<std::string> combines = {"set", "add", "max"};
  const std::string &combine = choose(combines);
  static const std::vector<int64_t> counts = {0, 1, 5, 63, 64, 65, 300, 1100};
  Expr rows = chance(80) ? Expr(pick(1, 300)) : extent() + Expr(1);
  Shape dest = {rows}, index = {choose(counts)};
  if (chance(25))
    index.push_back(pick(1, 3));
  if (chance(20))
    index[0] = extent();
  Shape row;
  for (int64_t i = 0, count = pick(0, 2); i < count; ++i)
    row.push_back(pick(1, 8));
  dest.insert(dest.end(), row.begin(), row.end());
  Shape from = index;
  from.insert(from.end(), row.begin(), row.end());
  const bool isSum = combine == "add";
  unsigned to = ofEveryKind(dest, t, isSum);
  unsigned which = indices(index, rows), what = ofEveryKind(from, t, isSum);
  if (chance(30))
    what = apply(Fn::Neg, {what});
  unsigned result = updated(combine, to, which, what);
  if (chance(30))
    permuted(result);
}

/// How often each number occurs.
void Generator::histogram() {
  DType t = chance(50) ? DType::I64 : DType::I32;
  Expr bins = pick(1, 300);
  Shape shape = rowsOfLength(5000);
  unsigned ones = splat(1, shape, t), none = splat(0, {bins}, t);
  updated("add", none, indices(shape, bins), ones);
}

RandomProgram Generator::makeOrders() {
  static const std::vector<DType> types = {DType::F32,  DType::F32, DType::F16,
                                           DType::BF16, DType::F64, DType::I32,
                                           DType::I64};
  chooseExtents();
  for (int64_t i = 0, count = pick(1, 4); i < count; ++i) {
    DType t = choose(types);
    switch (pick(0, 6)) {
    case 0:
    case 1:
      orders(t);
      break;
    case 2:
    case 3:
      scans(t);
      break;
    case 4:
      histogram();
      break;
    default:
      updates(t);
    }
  }
  chooseResults();
  return std::move(program);
}

RandomProgram test::makeRandomOrders(uint64_t seed) {
  return Generator(seed, ProgramScale::small()).makeOrders();
}
