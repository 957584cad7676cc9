//===- JoinWeights.cpp - Joins products of the same rows ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of the same rows with several weights (queries, keys and values of
// attention) each fill only a part of a GPU. If one joined product is predicted
// to be faster, the weights are prepared side by side, each column along the
// contracted dim, and so are the bias vectors. A single product's weights are
// stored in that order too if it is faster.
//
//   %a = add(gemm %x, %v, %b)         %w = prepare (%v | %u)
//   %c = add(gemm %x, %u, %d)   -->   %r = add(gemm %x, %w, prepare (%b | %d))
//                                     %a, %c = views of %r
//
// One-row products are left to `llir-join-products`, which needs no extra
// memory.
//
// Tested by test/Conversion/join-weights.mlir.
//
//===----------------------------------------------------------------------===//

#include "ProductWeights.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "luminal/Dialect/LLIR/Schedules/ProductTime.h"
#include "luminal/Dialect/LLIR/Transforms/JoinedColumns.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

namespace luminal {
#define GEN_PASS_DEF_JOINWEIGHTSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-join-weights"

using namespace mlir;
using namespace luminal;
using luminal::hlir::MapAttr;
using luminal::llir::ColumnsPart;
using Decision = DecisionAbout<Operation *>;

/// One product must take at most this share of the time of the separate ones.
static constexpr double kWorthwhile = 0.95;

namespace {
/// A product of rows with weights, one of its operands.
struct WeightProduct {
  llir::GemmOp op;
  unsigned side = 0;
  ProductRead read;
  /// The dim of the result that the weights contribute, and its extent.
  unsigned column = 0;
  int64_t columns = 0;
};

/// A value that is the same in all rows: a vector of weights by column.
struct ColumnVector {
  ColumnsPart part;
  /// Whether it is widened to the type of the sum.
  bool isWidened = false;
};

class JoinWeights : public luminal::impl::JoinWeightsPassBase<JoinWeights> {
public:
  using JoinWeightsPassBase::JoinWeightsPassBase;
  void runOnOperation() override;
};

class Joiner {
public:
  Joiner(func::FuncOp func, const TargetInterface &device, int64_t prepareBytes)
      : machine(device.getMachine()), block(func.getBody().front()),
        symbols(hlir::getAssumptions(block.getTerminator())),
        weights(func, prepareBytes, device.getPrepareShare()) {}

  void run(const Reporter &reporter);

private:
  using Products = SmallVector<WeightProduct, 4>;
  Decision match(llir::GemmOp op, WeightProduct &product) const;
  std::vector<Products> findGroups(const Reporter &reporter) const;
  double price(const WeightProduct &product, int64_t columns,
               bool isAcross) const;
  bool isWorthwhile(ArrayRef<WeightProduct> products, const Reporter &reporter);
  void join(ArrayRef<WeightProduct> products);
  bool joinSums(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &parts,
                Value &joined, unsigned column);
  bool joinFunctions(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &parts,
                     Value &joined);
  std::optional<ColumnVector> findVector(Value v, unsigned column,
                                         Operation *before) const;

  MachineModel machine;
  Block &block;
  Assumptions symbols;
  WeightValues weights;
};
} // namespace

/// Whether `v` is available at `before`.
static bool isThere(Value v, Operation *before) {
  Operation *op = v.getDefiningOp();
  return !op || op->isBeforeInBlock(before);
}

/// Whether a matrix of weights is stored along its columns.
static bool isAcross(const WeightProduct &product) {
  ArrayRef<Expr> results = product.read.map.getResults();
  return results.size() == 2 && results[1] == Expr::dim(product.column) &&
         results[0] == Expr::dim(product.read.map.getNumDims() - 1);
}

//===----------------------------------------------------------------------===//
// Selection of products
//===----------------------------------------------------------------------===//

Decision Joiner::match(llir::GemmOp op, WeightProduct &product) const {
  product.op = op;
  if (!llir::getKnownInner(op))
    return Decision::refuse("the extent of the contracted dim is unknown");
  ProductRead reads[] = {findProductRead(op, 0, symbols),
                         findProductRead(op, 1, symbols)};
  bool areWeights[] = {weights.contains(reads[0].base),
                       weights.contains(reads[1].base)};
  if (areWeights[0] == areWeights[1])
    return Decision::refuse("not exactly one operand is a weight");
  product.side = areWeights[0] ? 0 : 1;
  product.read = reads[product.side];
  MapAttr other = product.side ? op.getLhsMap() : op.getRhsMap();
  bool hasColumns = false, hasRows = false;
  for (auto [d, extent] : llvm::enumerate(hlir::getExtents(op.getResult()))) {
    bool isColumn = product.read.map.usesDim(d);
    std::optional<int64_t> known = llir::getKnownExtent(op.getResult(), d);
    if (isColumn && (hasColumns || other.usesDim(d) || !known))
      return Decision::refuse("the weights have no separate dim of columns");
    if (isColumn) {
      product.column = d;
      product.columns = *known;
    }
    hasColumns |= isColumn;
    hasRows |= !isColumn && !extent.isConstant(1);
  }
  if (!hasColumns || product.columns == 0)
    return Decision::refuse("it has no columns");
  if (!hasRows)
    return Decision::refuse("it has one row");
  if (llir::isReturned(op.getResult()))
    return Decision::refuse("the function returns it");
  return Decision::accept();
}

/// Groups of products of the same rows, except those read by one elementwise
/// op.
std::vector<Joiner::Products>
Joiner::findGroups(const Reporter &reporter) const {
  using Key = std::tuple<Value, Attribute, Attribute, unsigned, unsigned, Type,
                         Type, bool>;
  std::vector<std::pair<Key, Products>> found;
  for (auto op : block.getOps<llir::GemmOp>()) {
    WeightProduct product;
    if (Decision matched = match(op, product); !matched) {
      reporter.missed(op.getLoc(), "weights", {{"reason", matched.str()}});
      continue;
    }
    Key key(op->getOperand(1 - product.side),
            product.side ? op.getLhsMap() : op.getRhsMap(), op.getK(),
            product.side, product.column,
            getElementTypeOrSelf(product.read.base),
            getElementTypeOrSelf(op.getResult()), product.read.isWidened);
    auto it = llvm::find_if(found, [&](auto &g) { return g.first == key; });
    if (it == found.end())
      found.push_back({key, {product}});
    else
      it->second.push_back(product);
  }
  std::vector<Products> groups;
  for (auto &[key, products] : found) {
    SmallVector<Value> results;
    for (const WeightProduct &p : products) {
      llir::GemmOp op = p.op;
      results.push_back(op.getResult());
    }
    // A single product's readers are not followed: in a deep model the sums
    // form a long chain.
    SmallVector<bool> meets(results.size());
    if (results.size() > 1)
      meets = llir::findMeetings(results);
    Products kept;
    for (auto [p, does] : llvm::zip_equal(products, meets)) {
      if (does)
        reporter.missed(
            p.op->getLoc(), "weights",
            {{"reason", "one elementwise op reads it and another product"}});
      else if (!kept.empty() && !isThere(p.read.base, kept[0].op))
        reporter.missed(p.op->getLoc(), "weights",
                        {{"reason", "its weights are computed too late"}});
      else
        kept.push_back(p);
    }
    // The weights of a single product may be stored along the contracted dim.
    if (kept.size() > 1 || (!kept.empty() && isAcross(kept[0])))
      groups.push_back(std::move(kept));
  }
  return groups;
}

/// Whether functions follow that a library would leave to a separate kernel.
static bool haveFunctionsBehind(Value v) {
  while (v.hasOneUse()) {
    Operation *user = *v.getUsers().begin();
    auto op = dyn_cast<llir::ElementwiseOp>(user);
    if (op ? op.getFn() != llir::Fn::Add && op.getFn() != llir::Fn::Cast
           : !isa<llir::ViewOp>(user))
      break;
    v = user->getResult(0);
  }
  return !v.use_empty() && llvm::all_of(v.getUsers(), [](Operation *user) {
    return isa<llir::ElementwiseOp>(user);
  });
}

/// The price by a kernel or the library, whichever is faster.
double Joiner::price(const WeightProduct &product, int64_t columns,
                     bool isAcross) const {
  llir::GemmOp op = product.op;
  double rows = 1;
  for (auto [d, extent] : llvm::enumerate(hlir::getExtents(op.getResult())))
    if (d != product.column)
      rows *= llir::nominalValue(extent, symbols);
  llir::ProductShape shape = {
      1,
      rows,
      double(columns),
      double(*llir::getKnownInner(op)),
      getElementTypeOrSelf(product.read.base).getIntOrFloatBitWidth(),
      unsigned(isAcross)};
  double library =
      llir::getProductTime(shape, llir::ProductCode::Library, machine);
  if (haveFunctionsBehind(op.getResult()))
    library += machine.products.betweenCalls;
  return std::min(
      library,
      llir::getProductTime(shape, llir::ProductCode::StagedKernel, machine));
}

bool Joiner::isWorthwhile(ArrayRef<WeightProduct> products,
                          const Reporter &reporter) {
  int64_t columns = 0, bytes = 0;
  double apart = 0;
  for (const WeightProduct &p : products) {
    columns += p.columns;
    apart += price(p, p.columns, isAcross(p));
    bytes += weights.countMore(p.read.base, p.op);
  }
  double together = price(products[0], columns, /*isAcross=*/false);
  SmallVector<Reporter::Arg> args = {{"joined", int64_t(products.size())},
                                     {"columns", columns},
                                     {"predicted ns", int64_t(together)},
                                     {"as they are ns", int64_t(apart)}};
  auto refuse = [&](StringRef reason) {
    args.push_back({"reason", reason});
    reporter.missed(products[0].op->getLoc(), "weights", args);
    return false;
  };
  if (together > kWorthwhile * apart)
    return refuse("the predicted gain is too small");
  if (bytes > weights.room)
    return refuse("the memory for prepared values is exhausted");
  weights.room -= bytes;
  reporter.passed(products[0].op->getLoc(), "weights", args);
  return true;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// The source of a prepared value: prepared values must not depend on others.
static Value findSource(Value v) {
  auto prepared = v.getDefiningOp<llir::PrepareOp>();
  return prepared ? prepared.getOperand() : v;
}

/// The vector of weights that `v` equals in every row, if it does.
std::optional<ColumnVector> Joiner::findVector(Value v, unsigned column,
                                               Operation *before) const {
  ColumnVector vector;
  const int64_t columns = *llir::getKnownExtent(v, column);
  SmallVector<Expr> extents = hlir::getExtents(v);
  auto map = MapAttr::getIdentity(v.getContext(), extents.size());
  for (Value narrow; true; v = narrow) {
    narrow = llir::skipWidening(v);
    if (narrow != v) {
      vector.isWidened = true;
      continue;
    }
    auto view = v.getDefiningOp<llir::ViewOp>();
    if (!view)
      break;
    map = llir::compose(map, view.getMap(), extents, symbols);
    narrow = view.getOperand();
  }
  if (!weights.contains(v) || !isThere(v, before))
    return std::nullopt;
  std::vector<Expr> index(extents.size(), Expr(0));
  for (unsigned d = 0; d < extents.size(); ++d)
    if (d != column && map.usesDim(d))
      return std::nullopt;
  index[column] = Expr::dim(0);
  SmallVector<Expr> results;
  for (const Expr &e : map.getResults())
    results.push_back(e.substituteDims(index));
  vector.part = {findSource(v), MapAttr::get(v.getContext(), 1, results),
                 columns};
  return vector;
}

/// The only reader of `v`, if it is an elementwise op that can be applied to
/// all columns at once.
static llir::ElementwiseOp getOnlyReader(Value v) {
  if (!v.hasOneUse())
    return {};
  auto op = dyn_cast<llir::ElementwiseOp>(*v.getUsers().begin());
  return op && !llir::isReturned(op.getResult()) ? op : llir::ElementwiseOp();
}

/// If a vector of weights is added to some of the parts, adds a joined vector
/// to `joined`. Its elements are -0 for the other parts, which changes no
/// value.
bool Joiner::joinSums(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &parts,
                      Value &joined, unsigned column) {
  Operation *before = &*b.getInsertionPoint();
  SmallVector<llir::ElementwiseOp> sums;
  SmallVector<ColumnVector> vectors;
  int64_t bytes = 0;
  for (Value part : parts) {
    llir::ElementwiseOp sum = getOnlyReader(part);
    std::optional<ColumnVector> vector;
    if (sum && sum.getFn() == llir::Fn::Add)
      vector = findVector(sum.getInputs()[sum.getInputs()[0] == part ? 1 : 0],
                          column, before);
    sums.push_back(vector ? sum : llir::ElementwiseOp());
    vectors.push_back(vector.value_or(ColumnVector()));
    if (vector)
      bytes += weights.countMore(vector->part.source, sum);
  }
  auto known = llvm::find_if(
      vectors, [](const ColumnVector &v) { return !!v.part.source; });
  if (known == vectors.end() || bytes > weights.room)
    return false;
  Type element = getElementTypeOrSelf(known->part.source);
  auto floats = dyn_cast<FloatType>(element);
  bool isWidened = known->isWidened;
  for (const ColumnVector &v : vectors)
    if (v.part.source ? v.isWidened != isWidened ||
                            getElementTypeOrSelf(v.part.source) != element
                      : !floats)
      return false;
  weights.room -= bytes;
  SmallVector<ColumnsPart> columns;
  for (auto [v, part] : llvm::zip_equal(vectors, parts)) {
    if (v.part.source) {
      columns.push_back(v.part);
      continue;
    }
    auto scalar = RankedTensorType::get({}, element);
    Value zero = llir::ConstantOp::create(
        b, scalar,
        DenseElementsAttr::get(
            scalar, APFloat::getZero(floats.getFloatSemantics(), true)));
    columns.push_back({zero, MapAttr::get(b.getContext(), 1, {}),
                       *llir::getKnownExtent(part, column)});
  }
  SmallVector<Expr> extents = hlir::getExtents(joined);
  Value vector = llir::PrepareOp::create(b, llir::joinColumns(b, columns, {}));
  Type sumElement = getElementTypeOrSelf(joined);
  if (isWidened)
    vector = llir::ElementwiseOp::create(
        b,
        hlir::withElementType(cast<RankedTensorType>(vector.getType()),
                              sumElement),
        llir::Fn::Cast, vector);
  vector = llir::ViewOp::create(
      b, joined.getType(), vector,
      MapAttr::get(b.getContext(), extents.size(), Expr::dim(column)));
  joined = llir::ElementwiseOp::create(b, joined.getType(), llir::Fn::Add,
                                       ValueRange{joined, vector});
  for (auto [sum, part] : llvm::zip_equal(sums, parts))
    if (sum)
      part = sum.getResult();
  return true;
}

/// If the same unary function follows all parts, applies it to `joined` once.
bool Joiner::joinFunctions(ImplicitLocOpBuilder &b,
                           SmallVectorImpl<Value> &parts, Value &joined) {
  SmallVector<llir::ElementwiseOp> readers;
  for (Value part : parts) {
    llir::ElementwiseOp op = getOnlyReader(part);
    if (!op || op.getInputs().size() != 1)
      return false;
    readers.push_back(op);
  }
  llir::ElementwiseOp first = readers[0];
  Type element = getElementTypeOrSelf(first.getResult());
  if (!llvm::all_of(readers, [&](llir::ElementwiseOp op) {
        return op.getFn() == first.getFn() &&
               getElementTypeOrSelf(op.getResult()) == element;
      }))
    return false;
  joined = llir::ElementwiseOp::create(
      b,
      hlir::withElementType(cast<RankedTensorType>(joined.getType()), element),
      first.getFn(), joined);
  for (auto [op, part] : llvm::zip_equal(readers, parts))
    part = op.getResult();
  return true;
}

void Joiner::join(ArrayRef<WeightProduct> products) {
  llir::GemmOp first = products[0].op;
  const auto &[op, side, read, column, ignored] = products[0];
  SmallVector<Location> locations;
  SmallVector<ColumnsPart> columns;
  SmallVector<Value> parts;
  int64_t count = 0;
  for (const WeightProduct &p : products) {
    llir::GemmOp product = p.op;
    locations.push_back(product.getLoc());
    std::vector<Expr> index(p.read.map.getNumDims(), Expr(0));
    index[p.column] = Expr::dim(0);
    index.back() = Expr::dim(1);
    SmallVector<Expr> results;
    for (const Expr &e : p.read.map.getResults())
      results.push_back(e.substituteDims(index));
    columns.push_back({findSource(p.read.base),
                       MapAttr::get(first.getContext(), 2, results),
                       p.columns});
    parts.push_back(product.getResult());
    count += p.columns;
  }
  ImplicitLocOpBuilder b(FusedLoc::get(first.getContext(), locations), first);
  Value weight = llir::PrepareOp::create(
      b, llir::joinColumns(b, columns, first.getKExtent()));
  auto type = cast<RankedTensorType>(weight.getType());
  if (read.isWidened)
    weight = llir::ElementwiseOp::create(
        b, hlir::withElementType(type, b.getF32Type()), llir::Fn::Cast, weight);
  SmallVector<Expr> extents = hlir::getExtents(first.getResult());
  const unsigned rank = extents.size();
  extents[column] = Expr(count);
  Value operands[] = {first.getLhs(), first.getRhs()};
  MapAttr maps[] = {first.getLhsMap(), first.getRhsMap()};
  operands[side] = weight;
  maps[side] = MapAttr::get(b.getContext(), rank + 1,
                            {Expr::dim(column), Expr::dim(rank)});
  Value joined = llir::GemmOp::create(
      b, hlir::getTensorType(extents, getElementTypeOrSelf(first.getResult())),
      operands[0], operands[1], first.getK(), maps[0], maps[1]);
  while (products.size() > 1 && (joinSums(b, parts, joined, column) ||
                                 joinFunctions(b, parts, joined)))
    ;
  int64_t begin = 0;
  for (auto [p, part] : llvm::zip_equal(products, parts)) {
    part.replaceAllUsesWith(
        llir::readColumns(b, joined, column, begin, p.columns));
    begin += p.columns;
  }
}

void Joiner::run(const Reporter &reporter) {
  // Without thread blocks a kernel is a plain call, and joining costs more than
  // it saves.
  if (!machine.blockThreads)
    return;
  for (const Products &products : findGroups(reporter))
    if (isWorthwhile(products, reporter))
      join(products);
  eraseDeadOps(block);
}

void JoinWeights::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()) ||
      !func.getBody().front().getOps<llir::KernelOp>().empty())
    return;
  std::unique_ptr<TargetInterface> device =
      createTarget(func, target, arch, machine);
  if (!device)
    return signalPassFailure();
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  Joiner(func, *device, prepareBytes).run(reporter);
}
