//===- LLIRCosts.cpp - Costs of the ops -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Support/MachineModel.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

double llir::nominalValue(const Expr &e, const Assumptions &assumptions,
                          int64_t nominal) {
  auto symbol = [&](std::string_view name) -> std::optional<int64_t> {
    auto it = assumptions.getSymbols().find(std::string(name));
    if (it == assumptions.getSymbols().end())
      return nominal;
    int64_t value = std::max(nominal, it->second.lo);
    return it->second.hi ? std::min(value, *it->second.hi) : value;
  };
  // On overflow, any very large value will do.
  std::optional<int64_t> value = e.evaluate(symbol);
  return value ? static_cast<double>(*value) : 1e18;
}

double Cost::price(const Assumptions &assumptions,
                   const MachineModel &machine) const {
  double bytes = nominalValue(bytesRead + bytesWritten, assumptions);
  double work = nominalValue(flops, assumptions), multiplying = 0;
  // On a GPU, tensor cores compute products.
  if (double rate = machine.products.staged.of(productBits); rate > 0) {
    double multiplied = nominalValue(products, assumptions);
    work -= multiplied * (productBits > 32 ? 2 : 1);
    multiplying = multiplied / rate;
  }
  double workers = machine.getLeastWorkers();
  double computing = work / (workers * machine.operationRate) + multiplying;
  return std::max(bytes / machine.getReadRate(workers), computing) +
         nominalValue(launches, assumptions) * machine.getKernelTime();
}

Expr llir::countElements(Type tensor) {
  SmallVector<Expr> extents = hlir::getExtents(cast<RankedTensorType>(tensor));
  return product({extents.begin(), extents.end()});
}

Expr llir::countBytes(Type tensor) {
  Type element = cast<RankedTensorType>(tensor).getElementType();
  std::optional<DType> dtype = hlir::getDType(element);
  return countElements(tensor) * Expr(dtype ? dtypeSize(*dtype) : 8);
}

/// A vector holds half as many 8-byte elements.
static int64_t widthFactor(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  return element.getIntOrFloatBitWidth() > 32 ? 2 : 1;
}

//===----------------------------------------------------------------------===//
// Flat ops
//===----------------------------------------------------------------------===//

#define LLIR_COST_OF(OP)                                                       \
  std::optional<Cost> OP::getCostOf(                                           \
      [[maybe_unused]] TypeRange operands, [[maybe_unused]] TypeRange results, \
      [[maybe_unused]] DictionaryAttr attributes)

static bool clamps(const Expr &e) {
  return e.kind() == Expr::Kind::Max || e.kind() == Expr::Kind::Min ||
         llvm::any_of(e.operands(), clamps);
}

/// Index arithmetic moves no data. But a value that is read both at its own
/// index and at a shifted one is either computed twice or written to memory: so
/// each step of a scan by doubling costs a kernel.
LLIR_COST_OF(ViewOp) {
  auto map = attributes.getAs<hlir::MapAttr>("map");
  if (!map || operands[0] != results[0] ||
      llvm::none_of(map.getResults(), clamps))
    return Cost();
  return Cost{countBytes(operands[0]), countBytes(operands[0]), {}, 1};
}
LLIR_COST_OF(llir::ConstantOp) { return Cost(); }
LLIR_COST_OF(AliasOp) { return Cost(); }
LLIR_COST_OF(ConcatOp) { return Cost(); }

LLIR_COST_OF(IotaOp) { return Cost{{}, {}, countElements(results[0]), {}}; }

LLIR_COST_OF(ElementwiseOp) {
  auto fn = attributes.getAs<FnAttr>("fn");
  int64_t width =
      std::max(widthFactor(operands.back()), widthFactor(results[0]));
  int64_t flops = fn ? getFlops(fn.getValue()) : 1;
  return Cost{{}, {}, countElements(results[0]) * Expr(flops * width), {}};
}

LLIR_COST_OF(llir::ReduceOp) {
  return Cost{countBytes(operands[0]), countBytes(results[0]),
              countElements(operands[0]) * Expr(widthFactor(operands[0])), 1};
}

/// Functions of rows that take `perElement` scalar operations for each element,
/// in the type of the computation. Their results, as those of elementwise ops,
/// are used inside the kernel.
static Cost costOfRows(TypeRange operands, int64_t perElement) {
  return {countBytes(operands[0]),
          {},
          countElements(operands[0]) *
              Expr(perElement * widthFactor(operands[0])),
          1};
}
LLIR_COST_OF(SoftmaxOp) { return costOfRows(operands, 14); }
LLIR_COST_OF(LayerNormOp) { return costOfRows(operands, 7); }
LLIR_COST_OF(RMSNormOp) { return costOfRows(operands, 4); }

LLIR_COST_OF(GemmOp) {
  auto k = attributes.getAs<hlir::MapAttr>("k");
  Expr extent = k ? k.getResults()[0] : Expr(1);
  Expr products = countElements(results[0]) * extent;
  Type element = cast<RankedTensorType>(operands[0]).getElementType();
  return Cost{countBytes(operands[0]) + countBytes(operands[1]),
              countBytes(results[0]),
              products * Expr(widthFactor(results[0])),
              1,
              products,
              element.getIntOrFloatBitWidth()};
}

LLIR_COST_OF(llir::GatherOp) {
  return Cost{countBytes(results[0]) + countBytes(operands[1]),
              {},
              countElements(results[0]),
              {}};
}

LLIR_COST_OF(SegmentReduceOp) {
  return Cost{countBytes(operands[0]) + countBytes(operands[1]),
              {},
              countElements(operands[0]) + countElements(results[0]),
              {}};
}

LLIR_COST_OF(llir::ScatterOp) {
  return Cost{countBytes(operands[0]) + countBytes(operands[1]) +
                  countBytes(operands[2]),
              countBytes(results[0]), countElements(operands[2]), 1};
}

#undef LLIR_COST_OF

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Returns the bytes of `v` that are accessed, if only some rows of it are. An
/// update in place accesses the rows that it writes; a gather reads one row for
/// each index. Views in between move nothing.
static std::optional<Expr> countRows(Value v, bool inPlace) {
  if (v.use_empty())
    return std::nullopt;
  Expr rows;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    auto lookup = dyn_cast<LookupOpInterface>(user);
    auto update = dyn_cast<UpdateOpInterface>(user);
    if (lookup && v == lookup.getData()) {
      rows = rows + countBytes(lookup->getResult(0).getType());
    } else if (update && v == update.getDest() && inPlace) {
      rows = rows + countBytes(update.getUpdates().getType());
    } else if (auto view = dyn_cast<ViewOp>(user)) {
      std::optional<Expr> viewed = countRows(view.getResult(), inPlace);
      if (!viewed)
        return std::nullopt;
      rows = rows + *viewed;
    } else {
      return std::nullopt;
    }
  }
  return rows;
}

Cost KernelOp::getCost() {
  Cost cost;
  cost.launches = 1;
  for (Operation &op : getBody().front())
    if (auto flat = dyn_cast<CostOpInterface>(op)) {
      Cost own = flat.getCost();
      cost.flops = cost.flops + own.flops;
      cost.products = cost.products + own.products;
      cost.productBits = std::max(cost.productBits, own.productBits);
    }
  for (BlockArgument arg : getBody().getArguments())
    cost.bytesRead =
        cost.bytesRead +
        countRows(arg, getInPlace()).value_or(countBytes(arg.getType()));
  for (Value result : getResults())
    cost.bytesWritten = cost.bytesWritten + countBytes(result.getType());
  if (getInPlace())
    for (auto update : getBody().getOps<UpdateOpInterface>())
      cost.bytesWritten = countBytes(update.getUpdates().getType());
  return cost;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Returns the operations of an index; a division takes several.
static int64_t countOperations(const Expr &e) {
  constexpr int64_t kDivision = 4;
  bool divides =
      e.kind() == Expr::Kind::FloorDiv || e.kind() == Expr::Kind::Mod;
  int64_t count = divides ? kDivision : e.operands().empty() ? 0 : 1;
  for (const Expr &operand : e.operands())
    count += countOperations(operand);
  return count;
}

static int64_t countOperations(hlir::MapAttr map) {
  int64_t count = 1;
  for (const Expr &e : map.getResults())
    count += countOperations(e);
  return count;
}

// Ops whose code is in the loops of their readers:

int64_t ElementwiseOp::getCodeSize() {
  int64_t width = widthFactor(getResult().getType());
  for (Value input : getInputs())
    width = std::max(width, widthFactor(input.getType()));
  return getFlops(getFn()) * width;
}

int64_t ViewOp::getCodeSize() { return countOperations(getMap()); }
int64_t IotaOp::getCodeSize() { return countOperations(getMap()); }
int64_t llir::ConstantOp::getCodeSize() { return 1; }

/// The index, its check, and lanes that are loaded one by one.
int64_t llir::GatherOp::getCodeSize() { return 16; }

/// The segment bounds, their check, and the loop over the segment.
int64_t SegmentReduceOp::getCodeSize() { return 32; }

// Ops with loops of their own:

/// The accumulation of an element, and a share of the reduction across lanes.
int64_t llir::ReduceOp::getCodeSize() { return 4; }
/// Loops of two vectors, of one vector, and the masked remainder; or lanes
/// across rows, with each of these twice.
int64_t llir::ReduceOp::getLoopCopies() { return 6; }

int64_t SoftmaxOp::getCodeSize() { return 16; }
int64_t SoftmaxOp::getLoopCopies() { return 6; }
int64_t LayerNormOp::getCodeSize() { return 8; }
int64_t LayerNormOp::getLoopCopies() { return 6; }
int64_t RMSNormOp::getCodeSize() { return 8; }
int64_t RMSNormOp::getLoopCopies() { return 6; }

/// A register tile.
int64_t GemmOp::getCodeSize() { return 32; }
/// Tiles have two to four copies, dot products of few rows up to sixteen.
int64_t GemmOp::getLoopCopies() { return 8; }
/// Each of these dot products has its own epilogue.
int64_t GemmOp::getReaderCopies() { return 4; }

/// The address, and combining the old element with the update.
int64_t llir::ScatterOp::getCodeSize() { return 16; }
int64_t llir::ScatterOp::getLoopCopies() { return 2; }
