//===- FusionEmit.cpp - The kernel of a group -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a kernel's body from its results backwards, each value once for each
// way in which it is read. Views are composed on the way and end at the loads,
// so every elementwise op of a kernel has one of the kernel's index spaces, and
// equal kernels print the same text. In a program the order of the operands of
// a sum or product is arbitrary; the order here depends only on what the
// operands are, so that equal kernels of two layers become one function.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Support/IndexCheck.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
class BodyBuilder {
public:
  BodyBuilder(const Group &group, const Assumptions &symbols, Location loc,
              DenseMap<Value, Placed> &placed)
      : group(group), symbols(symbols), placed(placed),
        builder(loc, group.roots[0].value.getContext()) {
    for (unsigned i = 0; i < kFirstOwnSpace; ++i)
      spaces.push_back(group.spaces[i].extents);
    builder.setInsertionPointToStart(&block);
    countOps();
  }

  KernelOp build(OpBuilder &outer);

private:
  /// A value as it is read: in a space, through a map.
  using Key = std::tuple<Value, unsigned, MapAttr>;

  Value emit(Value value, unsigned space, MapAttr map);
  /// Normalises a map that is the identity except that dims of extent 1 may be
  /// written 0.
  Key withIdentity(const Key &key) const;
  /// Returns the operands of a value's op, in canonical order.
  SmallVector<Key, 2> getOperands(const Key &key);
  void countOps();
  /// Negative if `a` comes first as an operand of a commutative op, 0 if the
  /// operands do not decide the order.
  int compare(Key a, Key b);
  /// Emits the op of `key`; `operands` are the values for getOperands.
  Value emitOp(const Key &key, ValueRange operands);
  Value load(Value value, unsigned space, MapAttr map);
  Operation *copyOver(Operation *op, unsigned space, ValueRange operands);
  Value emitLookup(LookupOpInterface op, unsigned space, MapAttr map,
                   ValueRange operands);
  Value emitProduct(ProductOpInterface op, unsigned space, MapAttr map);
  Value emitProductOver(ProductOpInterface op, unsigned space);
  MapAttr identityOver(unsigned space) const {
    return MapAttr::getIdentity(builder.getContext(), spaces[space].size());
  }
  Value emitUpdate(UpdateOpInterface op);
  /// Returns the key of a value in a space with the value's extents.
  Key getOwnKey(Value value);
  Value emitOperand(Value value) {
    auto [own, space, map] = getOwnKey(value);
    return emit(own, space, map);
  }

  unsigned getSpace(ArrayRef<Expr> extents);
  RankedTensorType typeIn(unsigned space, Value value) const {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    return hlir::getTensorType(spaces[space], element);
  }
  Value view(Value value, unsigned space, MapAttr map) {
    RankedTensorType type = typeIn(space, value);
    if (map.isIdentity() && type == value.getType())
      return value;
    return ViewOp::create(builder, type, value, map);
  }
  /// Returns whether the space is one of rows and their elements.
  bool isOverRows(unsigned space) const {
    ArrayRef<Expr> extents = spaces[space];
    // The space of a product whose rows are those of the stages before it.
    bool isLast = space == kMainSpace && group.product &&
                  !group.rowSpaces.empty() && !extents.empty() &&
                  extents.drop_back() == ArrayRef<Expr>(spaces[kRowsSpace]);
    return isLast ||
           (space == kMainSpace && group.loopsOf == GroupLoops::Rows) ||
           llvm::any_of(group.rowSpaces, [&](unsigned i) {
             return space != kRowsSpace &&
                    spaces[space] == group.spaces[i].extents;
           });
  }
  /// Returns the space of the rows with `extent` elements each.
  unsigned getRowSpace(const Expr &extent) {
    SmallVector<Expr> extents(spaces[kRowsSpace]);
    extents.push_back(extent);
    return getSpace(extents);
  }
  /// Returns whether `value`, read in `space` through `map`, is the same for
  /// all elements of a row and is defined for every row: an empty row reads
  /// nothing.
  bool isOncePerRow(Value value, unsigned space, MapAttr map) const {
    if (!isOverRows(space) ||
        isa_and_present<ProductOpInterface>(value.getDefiningOp()))
      return false;
    unsigned column = spaces[space].size() - 1;
    if (map.usesDim(column))
      return false;
    // A reduction has one value for each row even if rows are empty.
    if (isa_and_present<RowReductionOpInterface>(value.getDefiningOp()))
      return true;
    ArrayRef<Expr> rows = spaces[kRowsSpace];
    if (withExtents(symbols, rows).provablyLessEqual(1, spaces[space].back()))
      return true;
    IndexChecker checker(symbols, rows.vec());
    return llvm::all_of(
        llvm::zip_equal(map.getResults(), hlir::getExtents(value)),
        [&](auto read) {
          auto &[index, extent] = read;
          return !checker.checkInside(index, extent) &&
                 checker.requirements.empty();
        });
  }

  const Group &group;
  const Assumptions &symbols;
  DenseMap<Value, Placed> &placed;
  Block block;
  ImplicitLocOpBuilder builder;
  SmallVector<SmallVector<Expr>> spaces;
  /// Loaded values outside the kernel, and their block arguments.
  llvm::MapVector<Value, BlockArgument> arguments;
  DenseMap<Key, Value> memo;
  /// The ops that an element depends on, and the longest chain of products
  /// among them.
  struct Made {
    uint64_t count = 0;
    unsigned products = 0;
    bool hasLoops = false;
  };
  DenseMap<Operation *, Made> made;
};
} // namespace

unsigned BodyBuilder::getSpace(ArrayRef<Expr> extents) {
  // Stages as wide as the rows share their values.
  if (group.loopsOf == GroupLoops::Rows &&
      ArrayRef<Expr>(spaces[kMainSpace]) == extents)
    return kMainSpace;
  for (unsigned i = kFirstOwnSpace; i < spaces.size(); ++i)
    if (ArrayRef<Expr>(spaces[i]) == extents)
      return i;
  spaces.emplace_back(extents);
  return spaces.size() - 1;
}

BodyBuilder::Key BodyBuilder::withIdentity(const Key &key) const {
  auto [value, space, map] = key;
  SmallVector<Expr> extents = hlir::getExtents(value);
  if (map.isIdentity() || spaces[space] != extents)
    return key;
  for (auto [i, e] : llvm::enumerate(map.getResults()))
    if (e != Expr::dim(i) && !(e.isConstant(0) && extents[i].isConstant(1)))
      return key;
  return {value, space, identityOver(space)};
}

/// Uses a worklist instead of recursion, because kernels may be long chains.
Value BodyBuilder::emit(Value root, unsigned rootSpace, MapAttr rootMap) {
  Key rootKey = withIdentity({root, rootSpace, rootMap});
  SmallVector<std::pair<Key, std::optional<SmallVector<Key, 2>>>> stack;
  stack.push_back({rootKey, std::nullopt});
  while (!stack.empty()) {
    auto [key, operands] = stack.back();
    if (memo.contains(key)) {
      stack.pop_back();
      continue;
    }
    if (!operands) {
      operands = getOperands(key);
      for (Key &operand : *operands)
        operand = withIdentity(operand);
      stack.back().second = operands;
      for (const Key &operand : llvm::reverse(*operands))
        stack.push_back({operand, std::nullopt});
      continue;
    }
    SmallVector<Value> values;
    for (const Key &operand : *operands)
      values.push_back(memo.at(operand));
    Value result = emitOp(key, values);
    memo[key] = result;
  }
  return memo.at(rootKey);
}

SmallVector<BodyBuilder::Key, 2> BodyBuilder::getOperands(const Key &key) {
  auto [value, space, map] = key;
  if (!group.inlined.contains(value))
    return {};
  Operation *op = value.getDefiningOp();
  if (auto inner = dyn_cast<ViewOp>(op))
    return {{inner.getOperand(), space,
             compose(map, inner.getMap(), spaces[space], symbols)}};
  if (auto lookup = dyn_cast<LookupOpInterface>(op)) {
    Key data = getOwnKey(lookup.getData());
    return {data, getOwnKey(lookup.getIndices())};
  }
  if (!isa<RowReductionOpInterface>(op) &&
      !cast<BodyOpInterface>(op).isPointwise())
    return {};
  MLIRContext *context = builder.getContext();
  // The value is computed once per row, then broadcast to the row's elements.
  if (isOncePerRow(value, space, map)) {
    unsigned rank = spaces[kRowsSpace].size();
    return {{value, kRowsSpace, MapAttr::get(context, rank, map.getResults())}};
  }
  SmallVector<Key, 2> operands;
  if (auto reduction = dyn_cast<RowReductionOpInterface>(op)) {
    unsigned elements = getRowSpace(reduction.getReducedExtent());
    unsigned rank = spaces[elements].size();
    SmallVector<Expr> results(map.getResults());
    results.push_back(Expr::dim(rank - 1));
    for (Value operand : op->getOperands())
      operands.push_back(
          {operand, elements, MapAttr::get(context, rank, results)});
    return operands;
  }
  for (Value operand : op->getOperands())
    operands.push_back({operand, space, map});
  if (auto elementwise = dyn_cast<ElementwiseOp>(op);
      elementwise && isCommutative(elementwise.getFn()) &&
      compare(operands[1], operands[0]) < 0)
    std::swap(operands[0], operands[1]);
  return operands;
}

void BodyBuilder::countOps() {
  SmallVector<Operation *> ops;
  for (Value value : group.inlined)
    ops.push_back(value.getDefiningOp());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops) {
    Made all = {isa<ViewOp>(op) ? 0u : 1u, 0, hasLoops(op)};
    for (Value operand : op->getOperands()) {
      if (!group.inlined.contains(operand))
        continue;
      Made one = made.lookup(operand.getDefiningOp());
      all.count = llvm::SaturatingAdd(all.count, one.count);
      all.products = std::max(all.products, one.products);
      all.hasLoops |= one.hasLoops;
    }
    all.products += isa<ProductOpInterface>(op);
    made[op] = all;
  }
}

int BodyBuilder::compare(Key a, Key b) {
  for (Key *key : {&a, &b})
    while (group.inlined.contains(std::get<Value>(*key)) &&
           isa<ViewOp>(std::get<Value>(*key).getDefiningOp()))
      *key = getOperands(*key)[0];
  auto [x, xSpace, xMap] = a;
  auto [y, ySpace, yMap] = b;
  auto getMade = [&](Value v) {
    return group.inlined.contains(v) ? made.lookup(v.getDefiningOp()) : Made();
  };
  Made xMade = getMade(x), yMade = getMade(y);
  // A kernel's last product comes last among operands with loops.
  if (xMade.hasLoops && yMade.hasLoops && xMade.products != yMade.products)
    return xMade.products < yMade.products ? -1 : 1;
  // Constants come last. Among other operands, the one with more dims comes
  // first, then the one with more computation.
  auto getWeight = [&](Value v, const Made &made) {
    bool isConstant =
        group.inlined.contains(v) && isa<llir::ConstantOp>(v.getDefiningOp());
    return std::tuple(!isConstant, hlir::getExtents(v).size(), made.count);
  };
  if (auto xWeight = getWeight(x, xMade), yWeight = getWeight(y, yMade);
      xWeight != yWeight)
    return xWeight > yWeight ? -1 : 1;
  if (group.inlined.contains(x)) {
    Operation *xOp = x.getDefiningOp(), *yOp = y.getDefiningOp();
    if (int order = xOp->getName().getStringRef().compare(
            yOp->getName().getStringRef()))
      return order;
    auto xFn = dyn_cast<ElementwiseOp>(xOp), yFn = dyn_cast<ElementwiseOp>(yOp);
    if (xFn && yFn && xFn.getFn() != yFn.getFn())
      return xFn.getFn() < yFn.getFn() ? -1 : 1;
  }
  auto compareLists = [](ArrayRef<Expr> p, ArrayRef<Expr> q) {
    if (p.size() != q.size())
      return p.size() > q.size() ? -1 : 1;
    for (auto [i, j] : llvm::zip(p, q))
      if (int order = Expr::compare(i, j))
        return -order;
    return 0;
  };
  if (int order = compareLists(hlir::getExtents(x), hlir::getExtents(y)))
    return order;
  return compareLists(xMap.getResults(), yMap.getResults());
}

Value BodyBuilder::load(Value value, unsigned space, MapAttr map) {
  auto it = placed.find(value);
  if (it != placed.end()) {
    map = compose(map, it->second.toBuffer, spaces[space], symbols);
    value = it->second.buffer;
  }
  auto [entry, isNew] = arguments.try_emplace(value);
  if (isNew)
    entry->second = block.addArgument(value.getType(), builder.getLoc());
  return view(entry->second, space, map);
}

Value BodyBuilder::emitOp(const Key &key, ValueRange operands) {
  auto [value, space, map] = key;
  Operation *op = value.getDefiningOp();
  if (!group.inlined.contains(value))
    return load(value, space, map);
  if (isa<ViewOp>(op))
    return operands[0];
  // Each op of a kernel keeps the location of its source.
  Location around = builder.getLoc();
  auto restore = llvm::make_scope_exit([&] { builder.setLoc(around); });
  builder.setLoc(op->getLoc());
  if (auto iota = dyn_cast<IotaOp>(op)) {
    MapAttr composed = compose(map, iota.getMap(), spaces[space], symbols);
    return IotaOp::create(builder, typeIn(space, value), composed);
  }
  if (auto constant = dyn_cast<llir::ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    auto scalarType = RankedTensorType::get({}, splat.getElementType());
    Value scalar = llir::ConstantOp::create(
        builder, scalarType,
        DenseElementsAttr::get(scalarType, splat.getSplatValue<Attribute>()));
    return view(scalar, space,
                MapAttr::get(builder.getContext(), spaces[space].size(), {}));
  }
  if (auto product = dyn_cast<ProductOpInterface>(op))
    return emitProduct(product, space, map);
  if (auto update = dyn_cast<UpdateOpInterface>(op))
    return emitUpdate(update);
  if (auto lookup = dyn_cast<LookupOpInterface>(op))
    return emitLookup(lookup, space, map, operands);
  if (isOncePerRow(value, space, map)) {
    unsigned rank = spaces[kRowsSpace].size();
    SmallVector<Expr> dims;
    for (unsigned i = 0; i < rank; ++i)
      dims.push_back(Expr::dim(i));
    return view(operands[0], space,
                MapAttr::get(builder.getContext(), rank + 1, dims));
  }
  unsigned own = isa<RowReductionOpInterface>(op) ? kRowsSpace : space;
  Operation *copy = copyOver(op, own, operands);
  // Further results are read in the same space.
  for (auto [result, copied] :
       llvm::zip_equal(op->getResults(), copy->getResults()))
    memo[{result, space, map}] = copied;
  return memo.at(key);
}

/// Copies the op to another index space, with other operands.
Operation *BodyBuilder::copyOver(Operation *op, unsigned space,
                                 ValueRange operands) {
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(typeIn(space, result));
  OperationState state(builder.getLoc(), op->getName(), operands, types,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return builder.create(state);
}

BodyBuilder::Key BodyBuilder::getOwnKey(Value value) {
  SmallVector<Expr> extents = hlir::getExtents(value);
  MapAttr identity = MapAttr::getIdentity(builder.getContext(), extents.size());
  return {value, getSpace(extents), identity};
}

Value BodyBuilder::emitLookup(LookupOpInterface op, unsigned space, MapAttr map,
                              ValueRange operands) {
  Value value = op->getResult(0);
  // The lookup is computed over its own space and read through the map.
  SmallVector<Expr> extents = hlir::getExtents(value);
  unsigned own = getSpace(extents);
  MapAttr identity = MapAttr::getIdentity(builder.getContext(), extents.size());
  Value &result = memo[{value, own, identity}];
  if (!result)
    result = copyOver(op, own, operands)->getResult(0);
  return view(result, space, map);
}

Value BodyBuilder::emitProduct(ProductOpInterface op, unsigned space,
                               MapAttr map) {
  // A stage is computed over its own space and read through the map.
  Value value = op->getResult(0);
  bool isMain = space == kMainSpace && group.loopsOf == GroupLoops::Product;
  unsigned own =
      isMain ? unsigned(kMainSpace) : getSpace(hlir::getExtents(value));
  if (isMain)
    return emitProductOver(op, own);
  Key key = {value, own, identityOver(own)};
  Value made = memo.lookup(key);
  if (!made)
    memo[key] = made = emitProductOver(op, own);
  return view(made, space, map);
}

Value BodyBuilder::emitProductOver(ProductOpInterface op, unsigned space) {
  SmallVector<Expr> domain = spaces[space];
  domain.push_back(op.getReducedExtent());
  auto emitSide = [&](Value operand, MapAttr map) {
    while (auto view = operand.getDefiningOp<ViewOp>()) {
      if (!group.inlined.contains(operand))
        break;
      map = compose(map, view.getMap(), domain, symbols);
      operand = view.getOperand();
    }
    // An operand that is loaded is read in place.
    if (!group.inlined.contains(operand)) {
      auto it = placed.find(operand);
      if (it != placed.end()) {
        map = compose(map, it->second.toBuffer, domain, symbols);
        operand = it->second.buffer;
      }
    }
    return std::pair(emitOperand(operand), map);
  };
  auto [lhs, lhsMap] = emitSide(op.getLhs(), op.getLhsMap());
  auto [rhs, rhsMap] = emitSide(op.getRhs(), op.getRhsMap());
  auto copy = cast<ProductOpInterface>(copyOver(op, space, {lhs, rhs}));
  copy.setMaps(lhsMap, rhsMap);
  return copy->getResult(0);
}

Value BodyBuilder::emitUpdate(UpdateOpInterface op) {
  MapAttr identity =
      MapAttr::getIdentity(builder.getContext(), spaces[kMainSpace].size());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(operand == op.getDest()
                           ? emit(operand, kMainSpace, identity)
                           : emitOperand(operand));
  return copyOver(op, kMainSpace, operands)->getResult(0);
}

KernelOp BodyBuilder::build(OpBuilder &outer) {
  MLIRContext *context = outer.getContext();
  SmallVector<Value> results;
  for (const Root &root : group.roots)
    results.push_back(emit(root.value, root.space, root.fromSpace));
  // A product or scatter may store its result in another order than that of its
  // index space.
  SmallVector<Placed> places;
  bool canMove = group.loopsOf == GroupLoops::Product ||
                 group.loopsOf == GroupLoops::Update;
  for (auto [root, result] : llvm::zip_equal(group.roots, results)) {
    SmallVector<Expr> extents = hlir::getExtents(root.value);
    bool moves = canMove && !getContiguousOffset(root.toSpace, extents,
                                                 spaces[kMainSpace], symbols);
    if (moves)
      result =
          ViewOp::create(builder, root.value.getType(), result, root.toSpace);
    places.push_back(
        {{},
         moves ? MapAttr::getIdentity(context, extents.size()) : root.toSpace});
  }
  YieldOp::create(builder, results);

  SmallVector<Value> operands;
  for (auto &[value, argument] : arguments)
    operands.push_back(value);
  auto kernel = KernelOp::create(outer, builder.getLoc(), TypeRange(results),
                                 operands, /*in_place=*/false,
                                 /*loops=*/nullptr);
  Block &body = kernel.getBody().emplaceBlock();
  body.addArguments(
      block.getArgumentTypes(),
      SmallVector<Location>(block.getNumArguments(), builder.getLoc()));
  for (auto [from, to] :
       llvm::zip_equal(block.getArguments(), body.getArguments()))
    from.replaceAllUsesWith(to);
  body.getOperations().splice(body.end(), block.getOperations());

  for (auto [i, root] : llvm::enumerate(group.roots)) {
    places[i].buffer = kernel.getResults()[i];
    placed[root.value] = places[i];
  }
  // Other kernels may read a product or scatter that this kernel, its only
  // other reader, merely moves.
  const Root &first = group.roots[0];
  Value anchor = stripViews(first.value, group);
  if (anchor != first.value && canMove) {
    unsigned rank = spaces[kMainSpace].size();
    bool moved = results[0].getDefiningOp<ViewOp>() != nullptr;
    placed[anchor] = {kernel.getResults()[0],
                      moved ? first.fromSpace
                            : MapAttr::getIdentity(context, rank)};
  }
  return kernel;
}

KernelOp llir::buildKernel(const Group &group, const Assumptions &symbols,
                           OpBuilder &builder,
                           DenseMap<Value, Placed> &placed) {
  return BodyBuilder(group, symbols, group.roots[0].value.getLoc(), placed)
      .build(builder);
}
