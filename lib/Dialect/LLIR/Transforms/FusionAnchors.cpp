//===- FusionAnchors.cpp - Reductions, products and scatters in groups ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An anchor decides the loops of its kernel, so it joins a group only if these
// loops can compute the group's accesses to it:
//   reduce   the group's index space is the rows, or the rows and the reduced
//            dim; every reduction of one group has the same domain
//   gemm     the group's index space is the product's, up to a bijection
//   scatter  as gemm, and only views follow it
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

/// An estimate of the fraction of an image that more than one work item copies,
/// if windows of it are read from a copy.
static constexpr double kShareOfBorders = 1.0 / 8;

static MapAttr identityFor(Value value) {
  return MapAttr::getIdentity(
      value.getContext(), cast<RankedTensorType>(value.getType()).getRank());
}

void FusionPlan::rebase(Group &group, ArrayRef<Expr> extents, MapAttr toNew,
                        MapAttr toOld) {
  for (auto &[value, accesses] : group.accesses)
    for (Access &access : accesses)
      if (access.space == kMainSpace)
        access.map = compose(toOld, access.map, extents, symbols);
  for (Root &root : group.roots) {
    if (root.space != kMainSpace)
      continue;
    root.fromSpace = compose(toOld, root.fromSpace, extents, symbols);
    root.toSpace =
        compose(root.toSpace, toNew, hlir::getExtents(root.value), symbols);
  }
  group.spaces[kMainSpace].extents.assign(extents.begin(), extents.end());
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Returns the map of the group's space onto `domain`, [rows..., n], under
/// which `access` reads the rows; std::nullopt if there is none.
std::optional<MapAttr> FusionPlan::findRowDomain(Group &group, MapAttr access,
                                                 ArrayRef<Expr> domain) {
  ArrayRef<Expr> extents = group.spaces[kMainSpace].extents;
  auto fits = [&](MapAttr map) {
    return invert(map, extents, domain, symbols).has_value();
  };
  // The dims that `access` does not use form the reduced dim.
  std::vector<Expr> free, freeExtents;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (access.usesDim(i))
      continue;
    free.push_back(Expr::dim(i));
    freeExtents.push_back(extent);
  }
  SmallVector<Expr> results(access.getResults());
  results.push_back(linearize(free, freeExtents));
  MapAttr map = MapAttr::getSimplified(access.getContext(), results,
                                       withExtents(symbols, extents));
  if (fits(map))
    return map;
  // Rows and the reduced dim are joined into one dim of the group.
  map = getReshape(access.getContext(), extents, domain, symbols);
  if (map.getResults().drop_back() == access.getResults() && fits(map))
    return map;
  return std::nullopt;
}

Decision FusionPlan::joinRows(Group &group, RowReductionOpInterface op) {
  // All results must be read through the same map.
  Value value;
  std::optional<Access> only;
  bool isOne = true;
  for (Value result : op->getResults()) {
    auto it = group.accesses.find(result);
    if (it == group.accesses.end())
      continue;
    value = result;
    for (const Access &access : it->second) {
      isOne &=
          !only || (only->space == access.space && only->map == access.map);
      only = access;
    }
  }
  if (!isOne)
    return Decision::refuse("the reader reads it in more than one way", &group);
  if (group.loopsOf == GroupLoops::Product && isReadByRows(group, value))
    return joinStage(group, op);
  if (group.loopsOf != GroupLoops::Elements &&
      group.loopsOf != GroupLoops::Rows)
    return Decision::refuse("the loops of the reader are a product's or a "
                            "scatter's",
                            &group);
  if (Decision fits = fitsBudget(group, value); !fits)
    return fits;
  Access access = *only;
  SmallVector<Expr> rows = hlir::getExtents(value);
  SmallVector<Expr> domain = hlir::getExtents(op->getOperand(0));
  if (group.loopsOf == GroupLoops::Elements) {
    if (access.space != kMainSpace)
      return Decision::refuse("the reader reads it as a whole tensor", &group);
    SmallVector<Expr> main(group.spaces[kMainSpace].extents);
    if (invert(access.map, main, rows, symbols)) {
      // The group's space is the rows.
      for (auto &[read, list] : group.accesses)
        for (Access &other : list)
          if (other.space == kMainSpace)
            other.space = kRowsSpace;
      for (Root &root : group.roots)
        root.space = kRowsSpace;
      group.loopsOf = GroupLoops::Rows;
      group.spaces[kRowsSpace] = group.spaces[kMainSpace];
      group.spaces[kMainSpace].extents.push_back(domain.back());
    } else {
      std::optional<MapAttr> toNew = findRowDomain(group, access.map, domain);
      if (!toNew)
        return Decision::refuse("the reader's index space is neither the rows "
                                "nor the rows and the reduced dim",
                                &group);
      rebase(group, domain, *toNew, *invert(*toNew, main, domain, symbols));
      takeRows(group);
    }
    access = group.accesses[value].front();
  }
  ArrayRef<Expr> main = group.spaces[kMainSpace].extents;
  if (access.space != kRowsSpace ||
      !areEqual({main.back()}, {domain.back()}, symbols) ||
      !invert(access.map, group.spaces[kRowsSpace].extents, rows, symbols))
    return Decision::refuse("the reader reduces other rows", &group);
  SmallVector<Expr> results(access.map.getResults());
  results.push_back(Expr::dim(main.size() - 1));
  group.inlined.insert(op->result_begin(), op->result_end());
  group.addCode(value);
  unsigned loop = group.addLoop(cast<CodeOpInterface>(*op).getLoopCopies());
  for (Value operand : op->getOperands())
    addAccess(group, operand,
              {kMainSpace,
               MapAttr::get(op->getContext(), main.size(), results),
               {loop}});
  return Decision::accept(&group);
}

//===----------------------------------------------------------------------===//
// gemm, scatter
//===----------------------------------------------------------------------===//

/// Returns whether the group's single loop nest may become that of an op with
/// the same space.
static Decision canTakeSpaceOf(const Group &group, Value value) {
  ArrayRef<Access> accesses = group.accesses.find(value)->second;
  if (group.loopsOf != GroupLoops::Elements)
    return Decision::refuse("the reader already has its own loops", &group);
  if (group.roots.size() != 1)
    return Decision::refuse("the reader has more than one result", &group);
  if (accesses.size() != 1)
    return Decision::refuse("the reader reads it in more than one way", &group);
  if (accesses[0].space != kMainSpace)
    return Decision::refuse("the reader reads it as a whole tensor", &group);
  return Decision::accept(&group);
}

Decision FusionPlan::takeSpaceOf(Group &group, Value value, GroupLoops loops) {
  SmallVector<Expr> main(group.spaces[kMainSpace].extents);
  SmallVector<Expr> extents = hlir::getExtents(value);
  MapAttr toNew = group.accesses[value].front().map;
  std::optional<MapAttr> toOld = invert(toNew, main, extents, symbols);
  if (!toOld)
    return Decision::refuse(
        "the reader does not read each element exactly once", &group);
  if (Decision fits = fitsBudget(group, value); !fits)
    return fits;
  rebase(group, extents, toNew, *toOld);
  group.loopsOf = loops;
  group.inlined.insert(value);
  group.addCode(value);
  return Decision::accept(&group);
}

void FusionPlan::addWholeRead(Group &group, Value operand, double reads,
                              int64_t loopCopies, double work, bool isCut) {
  addAccess(group, operand,
            {getOwnSpace(group, operand, reads, work, isCut),
             identityFor(operand),
             {group.addLoop(loopCopies)}});
}

/// Returns whether the product after `group` reads the operand through `map` as
/// windows of an image, from a copy: the results are contiguous along the dims
/// that windows step along, and all sizes are known.
static bool isReadByWindows(const Group &group, MapAttr map,
                            ArrayRef<Expr> extents) {
  unsigned k = extents.size() - 1;
  auto isKnown = [&](const Expr &extent) { return !!extent.asConstant(); };
  // Dims that step, together with k, along one dim of the image.
  SmallVector<bool> steps(k, false);
  bool isWindow = false;
  for (const Expr &e : map.getResults()) {
    if (e.kind() != Expr::Kind::Add || !e.usesDim(k))
      continue;
    for (unsigned i = 0; i < k; ++i)
      if (e.usesDim(i)) {
        steps[i] = true;
        isWindow |= extents[i].asConstant().value_or(0) > 1;
      }
  }
  if (!isWindow || !isKnown(extents[k]))
    return false;
  for (unsigned i = 0; i < k; ++i)
    if (steps[i] && !isKnown(extents[i]))
      return false;
  return llvm::all_of(group.roots, [&](const Root &root) {
    SmallVector<Expr> sizes = hlir::getExtents(root.value);
    ArrayRef<Expr> index = root.fromSpace.getResults();
    for (size_t i = index.size(); i-- > 0;)
      if (!sizes[i].isConstant(1))
        return llvm::any_of(llvm::seq<unsigned>(0, k), [&](unsigned dim) {
          return steps[dim] && index[i].usesDim(dim);
        });
    return false;
  });
}

/// Returns whether each lane has its own sum in the product after `group`: the
/// results are contiguous along a dim that both operands index, such as the
/// channels of a depthwise convolution.
static bool isSummedByLanes(const Group &group, MapAttr map, MapAttr other) {
  return llvm::all_of(group.roots, [&](const Root &root) {
    SmallVector<Expr> sizes = hlir::getExtents(root.value);
    ArrayRef<Expr> index = root.fromSpace.getResults();
    for (size_t i = index.size(); i-- > 0;)
      if (!sizes[i].isConstant(1)) {
        std::optional<unsigned> dim = index[i].asDim();
        return dim && other.usesDim(*dim) &&
               llvm::any_of(map.getResults(),
                            [&](const Expr &e) { return e.asDim() == dim; });
      }
    return false;
  });
}

Decision FusionPlan::joinProduct(Group &group, ProductOpInterface op) {
  Value value = op->getResult(0);
  if (isReadByRows(group, value))
    return joinStage(group, op);
  if (Decision fits = canTakeSpaceOf(group, value); !fits)
    return fits;
  if (Decision taken = takeSpaceOf(group, value, GroupLoops::Product); !taken)
    return taken;
  group.product = op;
  // An operand is packed about twice, unless it meets a single row or column.
  // Overlapping windows are read more often.
  SmallVector<Expr> extents = hlir::getExtents(value);
  extents.push_back(op.getReducedExtent());
  auto meetsOne = [&](MapAttr map) {
    return llvm::all_of(llvm::enumerate(hlir::getExtents(value)), [&](auto d) {
      return map.usesDim(d.index()) || d.value().isConstant(1);
    });
  };
  for (auto [operand, map] : {std::pair(op.getLhs(), op.getLhsMap()),
                              std::pair(op.getRhs(), op.getRhsMap())}) {
    double reads = meetsOne(map) ? 1 : 2;
    for (auto [i, extent] : llvm::enumerate(extents))
      if (map.usesDim(i))
        reads *= nominalValue(extent, symbols);
    bool isCopied = chipBytes > 0 && isReadByWindows(group, map, extents);
    if (isCopied)
      reads = std::min(reads, (1 + kShareOfBorders) *
                                  nominalSize(hlir::getExtents(operand)));
    double work = 0;
    if (operand == op.getRhs() && canStream(group, op))
      work = countRowsAtOnce(op, ArrayRef<Expr>(extents).drop_back(2));
    MapAttr other = operand == op.getLhs() ? op.getRhsMap() : op.getLhsMap();
    bool isCut = isCopied || (chipBytes > 0 && countStraightSteps(op) &&
                              isSummedByLanes(group, map, other));
    addWholeRead(group, operand, reads,
                 cast<CodeOpInterface>(*op).getLoopCopies(), work, isCut);
  }
  readByRows(group, op);
  return Decision::accept(&group);
}

Decision FusionPlan::joinUpdate(Group &group, UpdateOpInterface op) {
  Value value = op->getResult(0);
  if (Decision fits = canTakeSpaceOf(group, value); !fits)
    return fits;
  for (const Root &root : group.roots)
    if (stripViews(root.value, group) != value)
      return Decision::refuse("only views may follow a scatter in its "
                              "kernel",
                              &group);
  if (Decision taken = takeSpaceOf(group, value, GroupLoops::Update); !taken)
    return taken;
  addAccess(group, op.getDest(),
            {kMainSpace, identityFor(value), group.accesses[value][0].loops});
  for (Value operand : op->getOperands())
    if (operand != op.getDest())
      addWholeRead(group, operand, nominalSize(hlir::getExtents(operand)),
                   cast<CodeOpInterface>(*op).getLoopCopies());
  return Decision::accept(&group);
}
