//===- UpdateNatives.cpp - Recognises updates of whole rows ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index of an update is read as a sum of products of values and extents,
// plus an expression over the number of the update. If that number is q * n + c
// with c < n, and the index is f(q) * n + c, then the n updates of each q form
// one update of row f(q) of the destination, viewed as rows of n elements. This
// holds for wrapping 64-bit values as well.
//
// Nodes below the arguments are read too, as in OrderNatives.cpp.
//
//===----------------------------------------------------------------------===//

#include "Reads.h"
#include "Rules.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using hlir::MapAttr;

static Expr countOf(ArrayRef<Expr> extents) {
  return product({extents.begin(), extents.end()});
}

//===----------------------------------------------------------------------===//
// Indices as sums
//===----------------------------------------------------------------------===//

namespace {
/// A value times a number that is the same for all updates.
struct Term {
  Read value;
  Expr factor;
};
/// An index as a sum, in terms of the number of the update.
struct Sum {
  SmallVector<Term> terms;
  Expr rest = 0;
};

/// Expresses values for each row, by reading them or recomputing the ops that
/// make them.
class RowReader : public ViewReader {
public:
  RowReader(const MatchContext &c, Expr count, Expr width)
      : ViewReader(c), count(std::move(count)), width(std::move(width)),
        flat(hlir::getAssumptions(c.scope(), ArrayRef(this->count))) {}

  /// Number of elements in a row.
  const Expr &getWidth() const { return width; }

  /// Reads a sum; `read` is in terms of the number of the update.
  std::optional<Sum> readSum(const Read &read) { return readSum(read, 0); }
  /// Rewrites `e`, over the number of the update, as an expression over q and
  /// c.
  Expr split(const Expr &e, const Assumptions &rows) const {
    return rows.simplify(
        e.substituteDims({Expr::dim(0) * width + Expr::dim(1)}));
  }
  /// Whether the value depends on the row q only.
  bool isOfRow(const Read &read, const Assumptions &rows) {
    return visit(read, rows, nullptr, 0).has_value();
  }
  /// Makes the value with one element for each row; kNone at a limit.
  ClassId create(MatchContext &graph, const Read &read,
                 const Assumptions &rows) {
    return visit(read, rows, &graph, 0).value_or(kNone);
  }

private:
  std::optional<Sum> readSum(const Read &read, unsigned depth);
  /// Recomputes ops for each row from the values that they read. Without a
  /// graph, only tests whether that is possible.
  std::optional<ClassId> visit(const Read &read, const Assumptions &rows,
                               MatchContext *graph, unsigned depth);

  /// Number of updates, and of elements in a row.
  Expr count, width;
  Assumptions flat;
  /// Number of nodes visited, which is limited: a class may have many nodes.
  unsigned looked = 0;
  static constexpr unsigned kDeepest = 12, kMostLooked = 400;
};
} // namespace

std::optional<Sum> RowReader::readSum(const Read &read, unsigned depth) {
  if (std::optional<Expr> index = getIndex(read, flat))
    return Sum{{}, *index};
  std::optional<Sum> sum;
  if (depth < kDeepest)
    for (const Read &source : getSources(read, flat)) {
      auto sub = [&](const MatchedOp &op, unsigned i) {
        return readSum({op.operands[i], source.map}, depth + 1);
      };
      c.forEachNode(source.cls, "hlir.add", [&](const MatchedOp &op) {
        std::optional<Sum> a = sub(op, 0), b = a ? sub(op, 1) : std::nullopt;
        if (b) {
          sum = std::move(*a);
          llvm::append_range(sum->terms, b->terms);
          sum->rest = flat.simplify(sum->rest + b->rest);
        }
        return !sum;
      });
      if (!sum)
        c.forEachNode(source.cls, "hlir.mul", [&](const MatchedOp &op) {
          for (unsigned i = 0; i < 2 && !sum; ++i) {
            std::optional<Expr> factor =
                getIndex({op.operands[1 - i], source.map}, flat);
            if (!factor || factor->hasDims())
              continue;
            sum = sub(op, i);
            if (!sum)
              continue;
            for (Term &term : sum->terms)
              term.factor = flat.simplify(term.factor * *factor);
            sum->rest = flat.simplify(sum->rest * *factor);
          }
          return !sum;
        });
      if (sum)
        return sum;
    }
  return Sum{{Term{read, 1}}, 0};
}

/// Elementwise ops.
static constexpr StringLiteral kElementwise[] = {"hlir.select",    "hlir.add",
                                                 "hlir.mul",       "hlir.mod",
                                                 "hlir.less_than", "hlir.cast"};

std::optional<ClassId> RowReader::visit(const Read &read,
                                        const Assumptions &rows,
                                        MatchContext *graph, unsigned depth) {
  const Expr extent = rows.simplify(Expr::floorDiv(count, width));
  Type element = elementOf(c, read.cls);
  auto node = [&](StringRef name, DictionaryAttr attributes, Type type,
                  ArrayRef<ClassId> operands) -> ClassId {
    if (!graph || llvm::is_contained(operands, ClassId(kNone)))
      return kNone;
    return graph->create(name, attributes, hlir::getTensorType(extent, type),
                         operands);
  };
  auto attributes = [&](ArrayRef<Expr> results) {
    Builder b(context);
    return b.getDictionaryAttr(b.getNamedAttr(
        "map", MapAttr::getSimplified(
                   context, results,
                   hlir::getAssumptions(c.scope(), ArrayRef(extent)))));
  };
  for (const Read &source : getSources(read, flat)) {
    SmallVector<Expr> results;
    for (const Expr &e : source.map.getResults())
      results.push_back(split(e, rows));
    if (llvm::none_of(results, [](const Expr &e) { return e.usesDim(1); }))
      return node("hlir.view", attributes(results), element, source.cls);
  }
  if (std::optional<Expr> index = getIndex(read, flat)) {
    Expr of = split(*index, rows);
    if (of.usesDim(1))
      return std::nullopt;
    return node("hlir.iota", attributes(of), element, {});
  }
  if (depth == kDeepest)
    return std::nullopt;
  for (const Read &source : getSources(read, flat))
    for (StringRef name : kElementwise) {
      std::optional<ClassId> result;
      c.forEachNode(source.cls, name, [&](const MatchedOp &op) {
        if (++looked > kMostLooked)
          return false;
        SmallVector<ClassId> operands;
        for (ClassId operand : op.operands) {
          auto part = visit({operand, source.map}, rows, graph, depth + 1);
          if (!part)
            return true;
          operands.push_back(*part);
        }
        result = node(name, DictionaryAttr::get(context), element, operands);
        return false;
      });
      if (result)
        return result;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// Updates of rows: `count` updates of `width` elements each.
struct Rows {
  RowReader reader;
  /// Assumptions for q and c, and for q alone.
  Assumptions space, each;
  /// The number of the updated row: the sum of each term times its factor, plus
  /// `rest`.
  SmallVector<Term> terms;
  Expr rest;
  Expr count, width;
};
} // namespace

/// Candidates for the number of elements in a row: the factors of the sum and
/// the last dims of the sources of the indices.
static SmallVector<Expr> getWidths(const MatchContext &c, const Sum &sum,
                                   ArrayRef<Read> sources) {
  SmallVector<Expr> widths;
  auto add = [&](const Expr &e) {
    if (!e.hasDims() && !e.isConstant(1) && !llvm::is_contained(widths, e))
      widths.push_back(e);
  };
  for (const Term &term : sum.terms)
    add(term.factor);
  for (const Read &source : sources) {
    SmallVector<Expr> extents = extentsOf(c, source.cls);
    for (size_t i = 1; i < extents.size(); ++i)
      add(countOf(ArrayRef(extents).drop_front(i)));
  }
  return widths;
}

/// `e`, over q and c, divided by the width, if it is a multiple of it.
static std::optional<Expr> divide(const Expr &e, const Expr &width,
                                  const Assumptions &space) {
  Expr quotient = space.simplify(Expr::floorDiv(e, width));
  if (quotient.usesDim(1) ||
      !space.simplify(quotient * width - e).isConstant(0))
    return std::nullopt;
  return quotient;
}

static std::optional<Rows> readRows(const MatchContext &c, ClassId indices,
                                    ClassId dest) {
  if (!elementOf(c, indices).isInteger(64))
    return std::nullopt;
  SmallVector<Expr> extents = extentsOf(c, indices);
  Expr count = countOf(extents), places = extentsOf(c, dest)[0];
  Assumptions symbols = hlir::getAssumptions(c.scope());
  std::vector<Expr> all =
      delinearize(Expr::dim(0), {extents.begin(), extents.end()});
  Assumptions flat = hlir::getAssumptions(c.scope(), ArrayRef(count));
  Read read{indices, MapAttr::getSimplified(
                         c.getContext(),
                         SmallVector<Expr>(all.begin(), all.end()), flat)};
  RowReader whole(c, count, 1);
  std::optional<Sum> sum = whole.readSum(read);
  if (!sum || sum->terms.empty())
    return std::nullopt;
  std::optional<Rows> found;
  for (const Expr &width : getWidths(c, *sum, whole.getSources(read, flat))) {
    if (!symbols.provablyLessEqual(2, width))
      continue;
    Expr of[] = {symbols.simplify(Expr::floorDiv(count, width)), width};
    if (symbols.equal(of[0] * width, count) != true ||
        symbols.equal(symbols.simplify(Expr::floorDiv(places, width)) * width,
                      places) != true)
      continue;
    Rows rows{RowReader(c, count, width),
              hlir::getAssumptions(c.scope(), of),
              hlir::getAssumptions(c.scope(), ArrayRef(of[0])),
              {},
              0,
              of[0],
              width};
    std::optional<Expr> rest =
        divide(rows.reader.split(sum->rest, rows.space) - Expr::dim(1), width,
               rows.space);
    if (!rest)
      continue;
    rows.rest = *rest;
    const bool areOfRows = llvm::all_of(sum->terms, [&](const Term &term) {
      std::optional<Expr> factor = divide(term.factor, width, rows.space);
      if (!factor || !rows.reader.isOfRow(term.value, rows.space))
        return false;
      rows.terms.push_back({term.value, *factor});
      return true;
    });
    // Take the longest rows.
    if (areOfRows && (!found || symbols.provablyLess(found->width, width)))
      found.emplace(std::move(rows));
  }
  return found;
}

/// (indices, dest)
static bool isOfRows(MatchContext &c, NativeArgs args, NativeResults &) {
  return readRows(c, args[0].asClass(), args[1].asClass()).has_value();
}

namespace {
/// Helpers of this file.
class UpdateMaker : public NodeMaker {
public:
  using NodeMaker::NodeMaker;

  ClassId view(const Read &read, ArrayRef<Expr> shape) {
    return make("hlir.view", b.getNamedAttr("map", read.map), shape,
                elementOf(c, read.cls), read.cls);
  }
  ClassId reshape(ClassId cls, ArrayRef<Expr> shape) {
    return cls == kNone
               ? ClassId(kNone)
               : view({cls, llir::getReshape(c.getContext(), shape,
                                             extentsOf(c, cls),
                                             hlir::getAssumptions(c.scope()))},
                      shape);
  }
  ClassId iota(const Expr &e, ArrayRef<Expr> shape, Type element) {
    Assumptions space = hlir::getAssumptions(c.scope(), shape);
    return make(
        "hlir.iota",
        b.getNamedAttr("map", MapAttr::getSimplified(c.getContext(), e, space)),
        shape, element, {});
  }
  ClassId scatter(Attribute combine, ClassId dest, ClassId indices,
                  ClassId updates) {
    return dest == kNone
               ? ClassId(kNone)
               : make("hlir.scatter", b.getNamedAttr("combine", combine),
                      extentsOf(c, dest), elementOf(c, dest),
                      {dest, indices, updates});
  }
};
} // namespace

/// (dest, indices, updates, combine)
static bool scatterRows(MatchContext &c, NativeArgs args,
                        NativeResults &results) {
  ClassId dest = args[0].asClass(), indices = args[1].asClass(),
          updates = args[2].asClass();
  std::optional<Rows> rows = readRows(c, indices, dest);
  if (!rows)
    return false;
  UpdateMaker make(c);
  SmallVector<Expr> before = extentsOf(c, dest);
  Type i64 = elementOf(c, indices);
  ClassId at = kNone;
  auto add = [&](ClassId part) {
    at = at == kNone ? part
                     : make.make("hlir.add", {}, rows->count, i64, {at, part});
  };
  for (const Term &term : rows->terms) {
    ClassId value = rows->reader.create(c, term.value, rows->space);
    if (!term.factor.isConstant(1))
      value = make.make("hlir.mul", {}, rows->count, i64,
                        {value, make.iota(term.factor, rows->count, i64)});
    if (value == kNone)
      return false;
    add(value);
  }
  if (!rows->rest.isConstant(0))
    add(make.iota(rows->rest, rows->count, i64));
  // The shape [rows, elements, columns...].
  SmallVector<Expr> after = {hlir::getAssumptions(c.scope()).simplify(
                                 Expr::floorDiv(before[0], rows->width)),
                             rows->width};
  llvm::append_range(after, ArrayRef(before).drop_front());
  SmallVector<Expr> taken = after;
  taken[0] = rows->count;
  ClassId result =
      make.reshape(make.scatter(args[3].asAttr(), make.reshape(dest, after), at,
                                make.reshape(updates, taken)),
                   before);
  if (result == kNone)
    return false;
  results.push_back(NativeValue::ofClass(result));
  return true;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

namespace {
/// The destination and the updates of a scatter that are constant along some
/// dims.
struct Columns {
  Read dest, updates;
  /// These dims, as dims of the destination.
  llvm::SmallBitVector same;
};
} // namespace

static std::optional<Columns> readColumns(const MatchContext &c, ClassId dest,
                                          ClassId indices, ClassId updates) {
  SmallVector<Expr> to = extentsOf(c, dest), from = extentsOf(c, updates);
  const unsigned rank = to.size(), first = extentsOf(c, indices).size();
  ViewReader reader(c);
  // Among the sources of the value, take the one that depends on the fewest
  // dims from `first` on.
  auto find = [&](ClassId cls, ArrayRef<Expr> extents, unsigned first) {
    Read best{cls, MapAttr::getIdentity(c.getContext(), extents.size())};
    llvm::SmallBitVector same(rank);
    for (const Read &source :
         reader.getSources(best, hlir::getAssumptions(c.scope(), extents))) {
      llvm::SmallBitVector unused(rank);
      for (unsigned d = 1; d < rank; ++d)
        if (!source.map.usesDim(first + d - 1) && !to[d].isConstant(1))
          unused.set(d);
      if (unused.count() > same.count())
        best = source, same = unused;
    }
    return std::pair(best, same);
  };
  auto [old, ofOld] = find(dest, to, 1);
  auto [added, ofAdded] = find(updates, from, first);
  ofOld &= ofAdded;
  if (ofOld.none())
    return std::nullopt;
  return Columns{old, added, ofOld};
}

/// (dest, indices, updates)
static bool hasEqualColumns(MatchContext &c, NativeArgs args, NativeResults &) {
  return readColumns(c, args[0].asClass(), args[1].asClass(), args[2].asClass())
      .has_value();
}

/// (dest, indices, updates, combine)
static bool scatterColumn(MatchContext &c, NativeArgs args,
                          NativeResults &results) {
  ClassId dest = args[0].asClass(), indices = args[1].asClass(),
          updates = args[2].asClass();
  std::optional<Columns> columns = readColumns(c, dest, indices, updates);
  if (!columns)
    return false;
  UpdateMaker make(c);
  SmallVector<Expr> shape = extentsOf(c, dest);
  // Drops these columns. `first` is the first dim that belongs to the
  // destination's columns.
  auto narrow = [&](const Read &read, ArrayRef<Expr> extents, unsigned first) {
    std::vector<Expr> dims;
    SmallVector<Expr> left, results;
    for (unsigned d = 0; d < extents.size(); ++d) {
      const bool isDropped = d >= first && columns->same[d - first + 1];
      dims.push_back(isDropped ? Expr(0)
                               : Expr::dim(static_cast<unsigned>(left.size())));
      if (!isDropped)
        left.push_back(extents[d]);
    }
    for (const Expr &e : read.map.getResults())
      results.push_back(e.substituteDims(dims));
    return make.view({read.cls, MapAttr::getSimplified(
                                    c.getContext(), results,
                                    hlir::getAssumptions(c.scope(), left))},
                     left);
  };
  ClassId scatter =
      make.scatter(args[3].asAttr(), narrow(columns->dest, shape, 1), indices,
                   narrow(columns->updates, extentsOf(c, updates),
                          static_cast<unsigned>(extentsOf(c, indices).size())));
  if (scatter == kNone)
    return false;
  SmallVector<Expr> map;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (!columns->same[d])
      map.push_back(Expr::dim(d));
  ClassId result = make.view(
      {scatter, MapAttr::getSimplified(c.getContext(), map,
                                       hlir::getAssumptions(c.scope(), shape))},
      shape);
  if (result == kNone)
    return false;
  results.push_back(NativeValue::ofClass(result));
  return true;
}

void luminal::eqsat::addUpdateNatives(RuleSetBuilder &set) {
  set.constraint("IsOfRows", isOfRows);
  set.rewrite("ScatterRows", scatterRows);
  set.constraint("HasEqualColumns", hasEqualColumns);
  set.rewrite("ScatterColumn", scatterColumn);
}
