//===- AliasSlices.cpp - Slices as operands of kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = kernel(%x) {               -->   %r = alias %x offset(24)
//     view %x <(d0) -> (3, d0)>           %0 = kernel(%r) {
//   }                                       view %r <(d0) -> (0, d0)>
//                                         }
//
// Tested by test/Dialect/LLIR/alias-slices.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/BufferAlignment.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

#include <map>

namespace luminal::llir {
#define GEN_PASS_DEF_ALIASSLICESPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-alias-slices"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
/// Rows [begin, end) of a tensor.
struct RowRange {
  int64_t begin, end;
};

/// A map through which an op reads one of its operands.
struct MapOf {
  MapAttr map;
  /// The domain of the map.
  SmallVector<Expr> extents;
};

class AliasSlices : public llir::impl::AliasSlicesPassBase<AliasSlices> {
public:
  using AliasSlicesPassBase::AliasSlicesPassBase;
  void runOnOperation() override;

private:
  void narrow(KernelOp kernel, unsigned index);
  std::optional<RowRange> findRange(BlockArgument argument, unsigned dim) const;

  Assumptions symbols;
  /// The aliases by tensor and first row, then by type: each has few rows.
  DenseMap<std::pair<Value, int64_t>, SmallVector<AliasOp, 1>> aliases;
};
} // namespace

/// Returns the map through which an operand is read; std::nullopt if there is
/// none.
static std::optional<MapOf> getMap(OpOperand &operand) {
  if (auto view = dyn_cast<ViewOp>(operand.getOwner()))
    return MapOf{view.getMap(), hlir::getExtents(view.getResult())};
  auto product = dyn_cast<ProductOpInterface>(operand.getOwner());
  if (!product || operand.getOperandNumber() > 1)
    return std::nullopt;
  SmallVector<Expr> extents = hlir::getExtents(product->getResult(0));
  extents.push_back(product.getReducedExtent());
  return MapOf{operand.getOperandNumber() == 0 ? product.getLhsMap()
                                               : product.getRhsMap(),
               extents};
}

static void setMap(OpOperand &operand, MapAttr map) {
  if (auto view = dyn_cast<ViewOp>(operand.getOwner()))
    return view.setMapAttr(map);
  auto product = cast<ProductOpInterface>(operand.getOwner());
  if (operand.getOperandNumber() == 0)
    product.setMaps(map, product.getRhsMap());
  else
    product.setMaps(product.getLhsMap(), map);
}

/// Returns the rows of an argument that the kernel reads; std::nullopt if they
/// are not constant.
std::optional<RowRange> AliasSlices::findRange(BlockArgument argument,
                                               unsigned dim) const {
  std::optional<RowRange> all;
  for (OpOperand &use : argument.getUses()) {
    std::optional<MapOf> map = getMap(use);
    if (!map)
      return std::nullopt;
    Assumptions inside = withExtents(symbols, map->extents);
    const Expr &row = map->map.getResults()[dim];
    std::optional<int64_t> least = inside.lowerBound(row),
                           most = inside.upperBound(row);
    if (!least || !most)
      return std::nullopt;
    if (!all)
      all = RowRange{*least, *most + 1};
    all = RowRange{std::min(all->begin, *least), std::max(all->end, *most + 1)};
  }
  return all;
}

void AliasSlices::narrow(KernelOp kernel, unsigned index) {
  BlockArgument argument = kernel.getBody().getArgument(index);
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<Expr> extents = hlir::getExtents(type);
  std::optional<unsigned> dim = getRowDim(extents);
  if (!dim)
    return;
  std::optional<int64_t> rows = extents[*dim].asConstant();
  std::optional<RowRange> range = findRange(argument, *dim);
  if (!rows || !range || range->begin < 0 || range->end > *rows ||
      range->end - range->begin == *rows)
    return;
  Expr offset = getRowPosition(range->begin, extents);
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  SmallVector<Reporter::Arg> args = {{"operand", index},
                                     {"first row", range->begin},
                                     {"rows", range->end - range->begin},
                                     {"of", *rows}};
  if (!isBufferAligned(
          offset * Expr(dtypeSize(*hlir::getDType(type.getElementType()))),
          symbols)) {
    args.push_back({"reason", "it is not known to begin at a multiple of the "
                              "alignment of buffers"});
    return reporter.missed(kernel.getLoc(), "alias-slice", args);
  }
  reporter.passed(kernel.getLoc(), "alias-slice", args);

  extents[*dim] = Expr(range->end - range->begin);
  RankedTensorType own = hlir::getTensorType(extents, type.getElementType());
  for (OpOperand &use : argument.getUses()) {
    MapOf read = *getMap(use);
    SmallVector<Expr> results(read.map.getResults());
    results[*dim] = withExtents(symbols, read.extents)
                        .simplify(results[*dim] - Expr(range->begin));
    setMap(use, MapAttr::get(&getContext(), read.map.getNumDims(), results));
  }
  argument.setType(own);
  Value operand = kernel.getInputs()[index];
  SmallVector<AliasOp, 1> &known = aliases[{operand, range->begin}];
  auto *same = llvm::find_if(
      known, [&](AliasOp alias) { return alias.getType() == own; });
  if (same == known.end()) {
    OpBuilder builder(kernel);
    known.push_back(AliasOp::create(
        builder, operand.getLoc(), own, operand,
        MapAttr::get(&getContext(), 0, symbols.simplify(offset))));
    same = std::prev(known.end());
  }
  kernel.getInputsMutable()[index].set(same->getResult());
}

void AliasSlices::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  symbols = Assumptions(hlir::getAssumptions(func).getSymbols());
  aliases.clear();
  for (KernelOp kernel : func.getBody().front().getOps<KernelOp>())
    // The operand of an update in place must keep the result's type.
    for (unsigned i = kernel.getInPlace() ? 1 : 0;
         i < kernel.getInputs().size(); ++i)
      narrow(kernel, i);
}
