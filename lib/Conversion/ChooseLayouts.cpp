//===- ChooseLayouts.cpp - Chooses the innermost dim of values ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product loads an operand fastest along the dim that is innermost in memory,
// many elements at a time. In some products neither the contracted index nor
// the operand's own dims step through that dim in whole vectors: a convolution,
// for example, reads windows of an image channel by channel. The operand may
// then be stored in another dim order, if all values that are read together
// with it use that order too (DimClasses). Products and elementwise kernels
// read and write any order; inputs and outputs of the function keep theirs. On
// a CPU the channels of a depthwise convolution are such a dim as well: with
// channels innermost, each lane accumulates a sum of its own.
//
// Tested by test/Conversion/choose-layouts.mlir and choose-layouts-lanes.mlir.
//
//===----------------------------------------------------------------------===//

#include "ProductWeights.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/Analysis/DimClasses.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Transforms/Layouts.h"
#include "luminal/Dialect/LLIR/Transforms/Preparation.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <cmath>
#include <limits>

namespace luminal {
#define GEN_PASS_DEF_CHOOSELAYOUTSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-choose-layouts"

using namespace mlir;
using namespace luminal;
using llir::Layouts;
using llir::ProductOpInterface;
using luminal::hlir::MapAttr;

/// A new layout is chosen if the predicted time of the products and copies that
/// it affects drops to this share. Other readers of these values hardly change.
static constexpr double kWorthwhile = 0.96;
/// The same for kernels that pack operands: the order of reads matters less,
/// and with another order the image borders are no longer handled inside the
/// kernel that reads the windows. When ResNet-50 of one image in f32 stored
/// everything whose predicted gain on 16 workers was 2 %, one worker took 1.19
/// times as long (Zen, 256 bits).
static constexpr double kWorthwhilePacked = 0.8;
/// The same where lanes get sums of their own, which needs no packing.
static constexpr double kWorthwhileOwn = 0.95;

namespace {
class ChooseLayouts
    : public luminal::impl::ChooseLayoutsPassBase<ChooseLayouts> {
public:
  using ChooseLayoutsPassBase::ChooseLayoutsPassBase;
  void runOnOperation() override;
};

/// A product of the function.
struct Product {
  ProductOpInterface op;
  unsigned number;
  ProductRead reads[2];
  /// The value at the end of the pointwise ops and bijective views that follow
  /// the product, and the map from an index of that value to one of the
  /// product.
  Value end;
  MapAttr toProduct;
  /// The length of the contracted index; 0 if unknown or long.
  int64_t steps;
};

using Reordering = std::optional<llir::Reordering>;

/// Predicted time in nanoseconds, with all workers of the machine and with one.
struct Price {
  double all = 0, ofOne = 0;

  Price &operator+=(const Price &other) {
    all += other.all, ofOne += other.ofOne;
    return *this;
  }
};

/// The predicted time of a product, and the order of its contracted index.
struct PricedProduct {
  Price price;
  Reordering reordering;
};

/// Prices the layouts of a function. A choice stores all values of a dim class,
/// where possible, with that dim innermost.
class Chooser {
public:
  Chooser(func::FuncOp func, const TargetInterface &device,
          int64_t prepareBytes);

  void choose(const Reporter &reporter);
  void apply() { layouts.apply(block, symbols); }

private:
  void addProducts();
  bool isWeights(Value v) const { return weights.contains(v); }
  bool isInnermostDim(Value v, unsigned dim) const;
  bool isInnermost(Value v, unsigned number) const;
  bool canMove(Value v, unsigned number) const;
  SmallVector<unsigned, 2> findDims(const Product &p, unsigned side) const;
  bool isOwnDim(const Product &p, unsigned side, unsigned dim) const;
  std::optional<unsigned> findOwnDim(const Product &p, unsigned side) const;
  bool hasClass(const Product &p, unsigned number) const;
  bool isReadWhole(const Product &p, unsigned side) const;

  Reordering findReordering(const Product &p) const;
  const PricedProduct &priceProduct(const Product &p);
  int64_t countPrepared(const Product &p,
                        const llir::Reordering &reordering) const;
  StoredSide getStored(const Product &p, unsigned side,
                       const Reordering &reordering) const;
  llir::KernelOp buildKernel(const Product &p, const Reordering &reordering,
                             Block &scratch) const;
  Price priceProduct(const Product &p, const Reordering &reordering);
  Price priceReads(unsigned number) const;
  bool isWorthwhile(const Price &after, const Price &before,
                    bool isOwn = false) const;
  Price price(unsigned number);

  void tryClass(unsigned number, const Product &asks, bool isOwn,
                const Reporter &reporter);
  double countBytes(Value v) const {
    return llir::nominalValue(llir::countBytes(v.getType()), symbols);
  }

  Block &block;
  const TargetInterface &device;
  MachineModel machine;
  Assumptions symbols;
  WeightValues weights;
  std::optional<DimClasses> classes;
  SmallVector<Product, 0> products;
  Layouts layouts;
  /// Prices by the structure of the product's kernel.
  std::map<std::vector<const void *>, Price> known;
  /// Prices by product and the innermost dims of its operands and its end.
  std::map<std::array<unsigned, 4>, PricedProduct> priced;
};
} // namespace

static Value skipViews(Value v) {
  while (auto view = v.getDefiningOp<llir::ViewOp>())
    v = view.getOperand();
  return v;
}

Chooser::Chooser(func::FuncOp func, const TargetInterface &device,
                 int64_t prepareBytes)
    : block(func.getBody().front()), device(device),
      machine(device.getMachine()),
      symbols(hlir::getAssumptions(block.getTerminator())),
      weights(func, prepareBytes, device.getPrepareShare()) {
  addProducts();
}

/// Adds the products that are scheduled on their own; anchors that are streamed
/// jointly have layouts of their own.
void Chooser::addProducts() {
  DenseSet<Operation *> streamed;
  for (auto product : block.getOps<ProductOpInterface>()) {
    if (!machine.sharedBytes)
      break;
    SmallVector<Operation *> anchors = findStreamedAnchors(product);
    if (canStreamByBlocks(product, anchors, symbols, machine.sharedBytes))
      streamed.insert_range(anchors);
  }
  for (auto op : block.getOps<ProductOpInterface>()) {
    if (streamed.contains(op) || isWeights(op->getResult(0)) ||
        op->getNumOperands() != 2)
      continue;
    Value result = op->getResult(0);
    products.push_back(
        {op,
         unsigned(products.size()),
         {findProductRead(op, 0, symbols), findProductRead(op, 1, symbols)},
         result,
         MapAttr::getIdentity(op->getContext(), getRank(result)),
         countStraightSteps(op)});
  }
}

//===----------------------------------------------------------------------===//
// Layouts of values
//===----------------------------------------------------------------------===//

bool Chooser::isInnermostDim(Value v, unsigned dim) const {
  SmallVector<Expr> extents = hlir::getExtents(v);
  llir::DimOrder order = layouts.getOrder(v);
  for (unsigned at : llvm::reverse(order)) {
    if (at == dim)
      return true;
    if (!extents[at].isConstant(1))
      return false;
  }
  return false;
}

/// Whether the dim of `v` that belongs to the class is stored innermost.
bool Chooser::isInnermost(Value v, unsigned number) const {
  std::optional<unsigned> dim = classes->getDim(v, number);
  return dim && isInnermostDim(v, *dim);
}

bool Chooser::canMove(Value v, unsigned number) const {
  return llir::canReorder(v.getDefiningOp()) && !isWeights(v) &&
         !layouts.isMoved(v) && classes->getDim(v, number) &&
         !isInnermost(v, number);
}

bool Chooser::hasClass(const Product &p, unsigned number) const {
  return llvm::any_of(
      ArrayRef<Value>{p.reads[0].base, p.reads[1].base, p.end},
      [&](Value v) { return classes->getDim(v, number).has_value(); });
}

/// The digit of the contracted index that should be innermost so that the
/// product loads an operand contiguously. Applies if the operand's innermost
/// dim is one of several digits and the other operand can be prepared in the
/// same order.
Reordering Chooser::findReordering(const Product &p) const {
  for (unsigned side : {0, 1}) {
    const ProductRead &read = p.reads[side], &other = p.reads[1 - side];
    if (isWeights(read.base) || !isWeights(other.base) ||
        getRank(read.base) == 0)
      continue;
    SmallVector<Expr> extents = hlir::getExtents(read.base);
    llir::DimOrder order = layouts.getOrder(read.base);
    while (order.size() > 1 && extents[order.back()].isConstant(1))
      order.pop_back();
    std::optional<ContractedDigit> digit = findDigit(p.op, read, order.back());
    if (digit && digit->divisor > 1 && digit->extent > 1 &&
        llir::packOperand(p.op, other, {*digit, 1 - side}, symbols))
      return llir::Reordering{*digit, 1 - side};
    // The weights of sums in separate lanes must be adjacent too.
    llir::Reordering steps{{1, p.steps}, 1 - side, /*isOutermost=*/true};
    if (p.steps > 1 && isOwnDim(p, side, order.back()) &&
        llir::packOperand(p.op, other, steps, symbols))
      return steps;
  }
  return std::nullopt;
}

/// The product's price with the current layouts, and the order of its
/// contracted index if another order is faster and there is memory for the
/// prepared weights.
const PricedProduct &Chooser::priceProduct(const Product &p) {
  auto getInnermost = [&](Value v) {
    llir::DimOrder order = layouts.getOrder(v);
    return order.empty() ? 0 : order.back();
  };
  auto [it, isNew] =
      priced.try_emplace({p.number, getInnermost(p.reads[0].base),
                          getInnermost(p.reads[1].base), getInnermost(p.end)});
  PricedProduct &result = it->second;
  if (!isNew)
    return result;
  result.price = priceProduct(p, std::nullopt);
  Reordering found = findReordering(p);
  if (!found || countPrepared(p, *found) > weights.room)
    return result;
  Price price = priceProduct(p, found);
  if (isWorthwhile(price, result.price, found->isOutermost))
    result = {price, found};
  return result;
}

int64_t Chooser::countPrepared(const Product &p,
                               const llir::Reordering &reordering) const {
  return weights.countMore(p.reads[reordering.weights].base, p.op);
}

/// The memory that the product reads for a side, and the map into it.
StoredSide Chooser::getStored(const Product &p, unsigned side,
                              const Reordering &reordering) const {
  const ProductRead &read = p.reads[side];
  if (reordering && reordering->weights == side) {
    llir::PackedOperand packed =
        *llir::packOperand(p.op, read, *reordering, symbols);
    return {packed.type, packed.map, read.isWidened};
  }
  MapAttr map = read.map;
  if (reordering)
    map = reorderContracted(p.op, map, reordering->digit, symbols);
  SmallVector<Expr> domain = hlir::getExtents(p.op->getResult(0));
  domain.push_back(ProductOpInterface(p.op).getReducedExtent());
  llir::DimOrder order = layouts.getOrder(read.base);
  return {
      hlir::getTensorType(llir::applyOrder(hlir::getExtents(read.base), order),
                          getElementType(read.base)),
      llir::compose(map, llir::getToOrder(map.getContext(), order), domain,
                    symbols),
      read.isWidened};
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// Builds a kernel of only the product, at the end of `scratch`.
llir::KernelOp Chooser::buildKernel(const Product &p,
                                    const Reordering &reordering,
                                    Block &scratch) const {
  llir::DimOrder order = layouts.getOrder(p.end);
  SmallVector<Expr> extents = llir::applyOrder(hlir::getExtents(p.end), order);
  MapAttr map = llir::compose(llir::getFromOrder(p.op->getContext(), order),
                              p.toProduct, extents, symbols);
  return buildProductKernel(
      p.op, {getStored(p, 0, reordering), getStored(p, 1, reordering)},
      hlir::getTensorType(extents, getElementType(p.op->getResult(0))), map,
      scratch);
}

/// The predicted time of the product's kernel with the current layouts.
Price Chooser::priceProduct(const Product &p, const Reordering &reordering) {
  Block scratch;
  llir::KernelOp kernel = buildKernel(p, reordering, scratch);
  auto [it, isNew] = known.try_emplace(getKernelKey(kernel));
  if (isNew) {
    llir::ProposedLoops proposed = device.propose(kernel, symbols.getSymbols());
    constexpr double kNone = std::numeric_limits<double>::infinity();
    it->second = proposed.loops ? Price{proposed.price, proposed.priceOfOne}
                                : Price{kNone, kNone};
  }
  return it->second;
}

/// The predicted time outside of products: reads across the stored order, and
/// copies of values that are needed in their original order.
Price Chooser::priceReads(unsigned number) const {
  double bytes = 0, copies = 0;
  for (Value v : classes->getValues(number)) {
    Operation *op = v.getDefiningOp();
    bool isOrdered =
        llir::canReorder(op) && !isWeights(v) && !isa<ProductOpInterface>(op);
    if (isOrdered && classes->getDim(v, number))
      for (Value operand : op->getOperands()) {
        Value read = skipViews(operand);
        // A product can write any order.
        if (classes->getDim(read, number) &&
            !isa_and_present<ProductOpInterface>(read.getDefiningOp()) &&
            isInnermost(read, number) != isInnermost(v, number))
          bytes += countBytes(read);
      }
    if (!layouts.isMoved(v))
      continue;
    SmallVector<Value> worklist{v};
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        if (isa<llir::ViewOp>(user)) {
          worklist.push_back(user->getResult(0));
          continue;
        }
        if (llir::canReorder(user))
          continue;
        bytes += countBytes(v);
        if (isa<llir::BodyOpInterface>(user))
          continue;
        bytes += countBytes(v);
        ++copies;
      }
  }
  double launches = copies * machine.launchTime;
  return {bytes / machine.getReadRate(machine.workers) + launches,
          bytes / machine.getReadRate(1) + launches};
}

/// Whether a change of layout pays. On a GPU the time with all workers decides;
/// on a CPU the change must pay for any number of workers.
bool Chooser::isWorthwhile(const Price &after, const Price &before,
                           bool isOwn) const {
  if (machine.blockThreads)
    return after.all <= kWorthwhile * before.all;
  double part = isOwn ? kWorthwhileOwn : kWorthwhilePacked;
  return after.all <= part * before.all && after.ofOne <= part * before.ofOne;
}

/// The predicted time of everything that has dims of the class.
Price Chooser::price(unsigned number) {
  Price sum = priceReads(number);
  for (const Product &p : products)
    if (hasClass(p, number))
      sum += priceProduct(p).price;
  return sum;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// The dims of an operand which, if innermost, would let the product load the
/// operand along its contracted index.
SmallVector<unsigned, 2> Chooser::findDims(const Product &p,
                                           unsigned side) const {
  const ProductRead &read = p.reads[side];
  SmallVector<unsigned, 2> found;
  if (isWeights(read.base))
    return found;
  for (unsigned dim = 0, n = getRank(read.base); dim < n; ++dim) {
    std::optional<ContractedDigit> digit = findDigit(p.op, read, dim);
    // Vectors have at least two elements.
    if (digit && digit->extent % 2 == 0 && !isInnermostDim(read.base, dim))
      found.push_back(dim);
  }
  return found;
}

/// Whether `dim` of an operand is also a dim of the other operand and of the
/// result, like the channels of a depthwise convolution. With that dim
/// innermost, vectors of sums are computed lane by lane.
bool Chooser::isOwnDim(const Product &p, unsigned side, unsigned dim) const {
  std::optional<unsigned> own = p.reads[side].map.getResults()[dim].asDim();
  SmallVector<Expr> extents = hlir::getExtents(p.op->getResult(0));
  const ProductRead &other = p.reads[1 - side];
  if (machine.blockThreads || !p.steps || !own || *own >= extents.size() ||
      extents[*own].isConstant(1) || !other.map.usesDim(*own))
    return false;
  // The weights must have no other dim.
  for (auto [i, extent] : llvm::enumerate(extents))
    if (i != *own && !extent.isConstant(1) && other.map.usesDim(i))
      return false;
  return true;
}

/// Finds such a dim that is not innermost yet.
std::optional<unsigned> Chooser::findOwnDim(const Product &p,
                                            unsigned side) const {
  if (isWeights(p.reads[side].base) || !isWeights(p.reads[1 - side].base))
    return std::nullopt;
  for (unsigned dim = 0, n = getRank(p.reads[side].base); dim < n; ++dim)
    if (isOwnDim(p, side, dim) && !isInnermostDim(p.reads[side].base, dim))
      return dim;
  return std::nullopt;
}

/// Whether the product loads an operand in whole vectors: along its contracted
/// index or, unless a thread block arranges operands that way in shared memory,
/// along its own dims.
bool Chooser::isReadWhole(const Product &p, unsigned side) const {
  Block scratch;
  llir::KernelOp kernel = buildKernel(p, std::nullopt, scratch);
  KernelAnalysis a(kernel, symbols.getSymbols());
  ProductAnalysis product(
      a, *kernel.getBody().front().getOps<ProductOpInterface>().begin());
  product.joinDims();
  const ProductSide &read = side ? product.columns : product.rows;
  unsigned bits = getElementType(read.operand).getIntOrFloatBitWidth();
  int64_t lanes = machine.getLanes(std::max(8u, bits));
  return product.isRun(read, /*isAlongK=*/true, lanes) ||
         (!machine.blockThreads &&
          product.isRun(read, /*isAlongK=*/false, lanes));
}

static bool isReturned(Value v) {
  return llvm::any_of(v.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isa<llir::ViewOp>(user) && isReturned(user->getResult(0)));
  });
}

void Chooser::tryClass(unsigned number, const Product &asks, bool isOwn,
                       const Reporter &reporter) {
  Price before = price(number);
  SmallVector<Value> moved;
  std::string extent;
  for (Value v : classes->getValues(number))
    if (canMove(v, number)) {
      unsigned dim = *classes->getDim(v, number);
      if (extent.empty())
        extent = hlir::getExtents(v)[dim].str();
      layouts.moveLast(v, dim);
      moved.push_back(v);
    }
  Price after = price(number);
  // Returned values may keep their order and be read across it.
  llvm::erase_if(moved, [&](Value v) {
    if (!isReturned(v))
      return false;
    layouts.moveBack(v);
    Price kept = price(number);
    if (kept.all <= after.all) {
      after = kept;
      return true;
    }
    layouts.moveLast(v, *classes->getDim(v, number));
    return false;
  });
  SmallVector<Reporter::Arg> args = {
      {"innermost", extent},
      {"values", int64_t(moved.size())},
      {"predicted ns", int64_t(std::llround(after.all))},
      {"predicted ns by one worker", int64_t(std::llround(after.ofOne))},
      {"unchanged ns", int64_t(std::llround(before.all))},
      {"unchanged ns by one worker", int64_t(std::llround(before.ofOne))}};
  auto refuse = [&](StringRef reason) {
    for (Value v : moved)
      layouts.moveBack(v);
    args.push_back({"reason", reason});
    reporter.missed(asks.op->getLoc(), "layout", args);
  };
  if (!isWorthwhile(after, before, isOwn))
    return refuse("the predicted gain is too small");
  int64_t bytes = 0;
  for (const Product &p : products)
    if (hasClass(p, number))
      if (const Reordering &found = priceProduct(p).reordering)
        bytes += countPrepared(p, *found);
  if (bytes > weights.room)
    return refuse("the memory for prepared values is exhausted");
  reporter.passed(asks.op->getLoc(), "layout", args);
}

void Chooser::choose(const Reporter &reporter) {
  // A product, and dims that it prefers innermost.
  struct Wish {
    const Product *product;
    Value base;
    unsigned dim;
    /// Whether both operands have that dim (isOwnDim).
    bool isOwn;
  };
  SmallVector<Wish> wishes;
  bool hasReorderings = false;
  for (const Product &p : products) {
    hasReorderings |= findReordering(p).has_value();
    for (unsigned side : {0, 1}) {
      SmallVector<unsigned, 2> dims = findDims(p, side);
      if (!dims.empty() && isReadWhole(p, side))
        dims.clear();
      std::optional<unsigned> own = findOwnDim(p, side);
      if (own)
        dims.push_back(*own);
      if (dims.empty())
        continue;
      Value base = p.reads[side].base;
      for (unsigned dim : dims)
        if (llir::canReorder(base.getDefiningOp()))
          wishes.push_back({&p, base, dim, dim == own});
        else
          reporter.missed(
              p.op->getLoc(), "layout",
              {{"innermost", hlir::getExtents(base)[dim].str()},
               {"reason", "values that no elementwise kernel writes, "
                          "such as inputs, keep their layout"}});
    }
  }
  if (wishes.empty() && !hasReorderings)
    return;
  classes.emplace(
      block, [&](Value v) { return isWeights(v); },
      /*joinsChannels=*/!machine.blockThreads);
  for (Product &p : products)
    std::tie(p.end, p.toProduct) = followProduct(p.op, symbols);
  DenseSet<unsigned> tried;
  for (const Wish &wish : wishes) {
    unsigned number = classes->getClass(wish.base, wish.dim);
    if (canMove(wish.base, number) && tried.insert(number).second)
      tryClass(number, *wish.product, wish.isOwn, reporter);
  }
  for (const Product &p : products) {
    const Reordering &found = priceProduct(p).reordering;
    if (!found || countPrepared(p, *found) > weights.room)
      continue;
    layouts.reorder(p.op, *found);
    weights.room -= countPrepared(p, *found);
  }
}

void ChooseLayouts::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  if (!func.getBody().front().getOps<llir::KernelOp>().empty())
    return;
  std::unique_ptr<TargetInterface> device =
      createTarget(func, target, arch, machine, workers);
  if (!device)
    return signalPassFailure();
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  Chooser chooser(func, *device, prepareBytes);
  chooser.choose(reporter);
  chooser.apply();
}
