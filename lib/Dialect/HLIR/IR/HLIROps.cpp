//===- HLIROps.cpp - Verifiers and the assembly of repeat -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/EnumFormat.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

#define GET_OP_CLASSES
#include "luminal/Dialect/HLIR/IR/HLIROps.cpp.inc"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// Verifies that every tensor of the op has an element type of HLIR, and an
/// expression for each dynamic dim.
static LogicalResult verifyTensors(Operation *op) {
  auto verifyOne = [&](StringRef what, unsigned i, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    if (!getDType(tensor.getElementType()))
      return op->emitOpError()
             << "expected an element type of HLIR for " << what << " " << i
             << ", found " << tensor.getElementType();
    bool hasDims = isa_and_nonnull<DimsAttr>(tensor.getEncoding());
    if (tensor.hasStaticShape() ? bool(tensor.getEncoding()) : !hasDims)
      return op->emitOpError()
             << "expected "
             << (tensor.hasStaticShape()
                     ? "no encoding on the static shape of "
                     : "a #hlir.dims encoding on the dynamic shape of ")
             << what << " " << i << ", found " << type;
    return success();
  };
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (failed(verifyOne("operand", static_cast<unsigned>(i), type)))
      return failure();
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(verifyOne("result", static_cast<unsigned>(i), type)))
      return failure();
  return success();
}

/// Verifies that the result has these extents and this element type.
static LogicalResult verifyResult(Operation *op, Value result,
                                  ArrayRef<Expr> extents, Type elementType) {
  if (elementOf(result) == elementType &&
      mayBeEqual(op, getExtents(result), extents))
    return success();
  return op->emitOpError() << "expected result type "
                           << getTensorType(extents, elementType) << ", found "
                           << result.getType();
}

/// Verifies that all operands, from `first` on, have the same type.
static LogicalResult verifySameTypes(Operation *op, unsigned first = 0) {
  Type type = op->getOperand(first).getType();
  for (unsigned i = first + 1; i < op->getNumOperands(); ++i)
    if (op->getOperand(i).getType() != type)
      return op->emitOpError() << "expected the type of operand " << first
                               << ", " << type << ", for operand " << i
                               << ", found " << op->getOperand(i).getType();
  return success();
}

/// Verifies that operands and result have one type, with an accepted element
/// type.
static LogicalResult verifyElementwise(Operation *op,
                                       function_ref<bool(Type)> accepts,
                                       StringRef expected) {
  if (failed(verifyTensors(op)) || failed(verifySameTypes(op)))
    return failure();
  Type type = op->getOperand(0).getType();
  if (op->getResult(0).getType() != type)
    return op->emitOpError() << "expected result type " << type << ", found "
                             << op->getResult(0).getType();
  Type element = elementOf(op->getOperand(0));
  if (!accepts(element))
    return op->emitOpError()
           << "expected element type " << expected << ", found " << element;
  return success();
}

static bool isFloat(Type type) {
  return isa<FloatType>(type) && !isStorageType(type);
}
static bool isNumber(Type type) {
  return isFloat(type) || type.isSignlessInteger(32) || type.isInteger(64);
}
static bool isNumberOrBool(Type type) {
  return isNumber(type) || type.isInteger(1);
}
constexpr StringLiteral kFloats = "f16, bf16, f32 or f64";
constexpr StringLiteral kNumbers = "f16, bf16, f32, f64, i32 or i64";
constexpr StringLiteral kNumbersAndBool = "f16, bf16, f32, f64, i32, i64 or i1";

//===----------------------------------------------------------------------===//
// Elementwise primitives
//===----------------------------------------------------------------------===//

LogicalResult Log2Op::verify() {
  return verifyElementwise(*this, isFloat, kFloats);
}
LogicalResult Exp2Op::verify() {
  return verifyElementwise(*this, isFloat, kFloats);
}
LogicalResult SinOp::verify() {
  return verifyElementwise(*this, isFloat, kFloats);
}
LogicalResult SqrtOp::verify() {
  return verifyElementwise(*this, isFloat, kFloats);
}
LogicalResult RecipOp::verify() {
  return verifyElementwise(*this, isFloat, kFloats);
}
LogicalResult AddOp::verify() {
  return verifyElementwise(*this, isNumber, kNumbers);
}
LogicalResult MulOp::verify() {
  return verifyElementwise(*this, isNumberOrBool, kNumbersAndBool);
}
LogicalResult ModOp::verify() {
  return verifyElementwise(*this, isNumber, kNumbers);
}

LogicalResult LessThanOp::verify() {
  if (failed(verifyTensors(*this)) || failed(verifySameTypes(*this)))
    return failure();
  if (!isNumberOrBool(elementOf(getLhs())))
    return emitOpError() << "expected element type " << kNumbersAndBool
                         << ", found " << elementOf(getLhs());
  Type expected =
      withElementType(typeOf(getLhs()), IntegerType::get(getContext(), 1));
  if (getType() != expected)
    return emitOpError() << "expected result type " << expected << ", found "
                         << getType();
  return success();
}

LogicalResult CastOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  Type expected = withElementType(typeOf(getOperand()), elementOf(getResult()));
  if (getType() != expected)
    return emitOpError() << "expected result type " << expected << ", found "
                         << getType();
  return success();
}

LogicalResult BitcastOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  Type from = elementOf(getOperand()), to = elementOf(getResult());
  if (from.isInteger(1) || to.isInteger(1) ||
      from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return emitOpError()
           << "expected element types of one width, neither of them i1, found "
           << from << " and " << to;
  Type expected = withElementType(typeOf(getOperand()), to);
  if (getType() != expected)
    return emitOpError() << "expected result type " << expected << ", found "
                         << getType();
  return success();
}

LogicalResult SelectOp::verify() {
  if (failed(verifyTensors(*this)) || failed(verifySameTypes(*this, 1)))
    return failure();
  if (getType() != getOnTrue().getType())
    return emitOpError() << "expected result type " << getOnTrue().getType()
                         << ", found " << getType();
  Type expected =
      withElementType(typeOf(getResult()), IntegerType::get(getContext(), 1));
  if (getCondition().getType() != expected)
    return emitOpError() << "expected condition type " << expected << ", found "
                         << getCondition().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static LogicalResult verifyReduce(Operation *op,
                                  function_ref<bool(Type)> accepts,
                                  StringRef expected) {
  if (failed(verifyTensors(op)))
    return failure();
  Value operand = op->getOperand(0);
  if (typeOf(operand).getRank() == 0)
    return op->emitOpError() << "expected an operand of rank 1 or more, found "
                             << operand.getType();
  if (!accepts(elementOf(operand)))
    return op->emitOpError() << "expected element type " << expected
                             << ", found " << elementOf(operand);
  return verifyResult(op, op->getResult(0),
                      ArrayRef<Expr>(getExtents(operand)).drop_back(),
                      elementOf(operand));
}

LogicalResult ReduceSumOp::verify() {
  return verifyReduce(*this, isNumber, kNumbers);
}
LogicalResult ReduceMaxOp::verify() {
  return verifyReduce(*this, isNumberOrBool, kNumbersAndBool);
}

//===----------------------------------------------------------------------===//
// Index ops
//===----------------------------------------------------------------------===//

static LogicalResult verifyMap(Operation *op, MapAttr map, Value result,
                               size_t numResults) {
  if (map.getNumDims() != static_cast<unsigned>(typeOf(result).getRank()))
    return op->emitOpError()
           << "expected a map of " << typeOf(result).getRank()
           << " dims, the rank of the result, found " << map.getNumDims();
  if (map.getResults().size() != numResults)
    return op->emitOpError() << "expected a map with " << numResults
                             << (numResults == 1 ? " result" : " results")
                             << ", found " << map.getResults().size();
  return success();
}

LogicalResult IotaOp::verify() {
  if (failed(verifyTensors(*this)) ||
      failed(verifyMap(*this, getMap(), getResult(), 1)))
    return failure();
  Type element = elementOf(getResult());
  if (!element.isInteger(64) && !element.isSignlessInteger(32))
    return emitOpError() << "expected element type i32 or i64, found "
                         << element;
  return success();
}

static LogicalResult verifyIndexType(Operation *op, Value indices) {
  Type element = elementOf(indices);
  if (element.isSignlessInteger(32) || element.isInteger(64))
    return success();
  return op->emitOpError() << "expected indices of i32 or i64, found "
                           << element;
}

/// The shape of the indices followed by the data's shape without its first dim.
static SmallVector<Expr> getRowShape(Value data, Value indices) {
  SmallVector<Expr> extents = getExtents(indices);
  llvm::append_range(extents, ArrayRef<Expr>(getExtents(data)).drop_front());
  return extents;
}

LogicalResult GatherOp::verify() {
  if (failed(verifyTensors(*this)) ||
      failed(verifyIndexType(*this, getIndices())))
    return failure();
  if (typeOf(getData()).getRank() == 0)
    return emitOpError() << "expected data of rank 1 or more, found "
                         << getData().getType();
  return verifyResult(*this, getResult(), getRowShape(getData(), getIndices()),
                      elementOf(getData()));
}

LogicalResult ScatterOp::verify() {
  if (failed(verifyTensors(*this)) ||
      failed(verifyIndexType(*this, getIndices())))
    return failure();
  if (typeOf(getDest()).getRank() == 0)
    return emitOpError() << "expected a destination of rank 1 or more, found "
                         << getDest().getType();
  Type element = elementOf(getDest());
  bool add = getCombine() == Combine::Add;
  if (add ? !isNumber(element) : !isNumberOrBool(element))
    return emitOpError() << "expected element type "
                         << (add ? kNumbers : kNumbersAndBool) << ", found "
                         << element;
  if (getType() != getDest().getType())
    return emitOpError() << "expected result type " << getDest().getType()
                         << ", found " << getType();
  SmallVector<Expr> rows = getRowShape(getDest(), getIndices());
  if (elementOf(getUpdates()) != element ||
      !mayBeEqual(*this, getExtents(getUpdates()), rows))
    return emitOpError() << "expected updates of type "
                         << getTensorType(rows, element) << ", found "
                         << getUpdates().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  if (!isa<DenseElementsAttr>(getValue()))
    return emitOpError() << "expected a dense value";
  auto type = cast<RankedTensorType>(getType());
  int64_t bytes = dtypeSize(*getDType(type.getElementType()));
  for (int64_t size : type.getShape())
    if (__builtin_mul_overflow(bytes, size, &bytes))
      bytes = INT64_MAX;
  if (bytes > kMaxConstantBytes)
    return emitOpError() << "expected a constant of at most "
                         << kMaxConstantBytes << " bytes, found " << bytes;
  return success();
}

SmallVector<IndexRead> IotaOp::getIndexReads() {
  return {{getMap(), getExtents(getResult()), {}, "its map"}};
}

SmallVector<IndexRead> ViewOp::getIndexReads() {
  return {
      {getMap(), getExtents(getResult()), getExtents(getOperand()), "its map"}};
}

LogicalResult ViewOp::verify() {
  if (failed(verifyTensors(*this)) ||
      failed(verifyMap(*this, getMap(), getResult(),
                       static_cast<size_t>(typeOf(getOperand()).getRank()))))
    return failure();
  if (elementOf(getResult()) != elementOf(getOperand()))
    return emitOpError() << "expected element type " << elementOf(getOperand())
                         << ", found " << elementOf(getResult());
  return hlir::verifyIndices(*this);
}

LogicalResult CustomOp::verify() {
  if (getName().empty())
    return emitOpError() << "expected the name of a kernel, found none";
  return verifyTensors(*this);
}

//===----------------------------------------------------------------------===//
// repeat
//===----------------------------------------------------------------------===//

std::optional<int64_t> RepeatOp::getNumTrips() {
  auto trips = static_cast<int64_t>(getTrips());
  return ShapedType::isDynamic(trips) ? std::nullopt : std::optional(trips);
}

Expr RepeatOp::getTripsExpr() {
  std::optional<int64_t> trips = getNumTrips();
  return trips ? Expr(*trips) : getExtents(getRows()[0])[0];
}

OperandRange RepeatOp::getStackedValues() {
  return cast<YieldOp>(getBody().front().getTerminator())
      .getValues()
      .take_back(getStacked());
}

/// `type` without its leading dim, or with a leading dim of `extent`.
static Type getRowType(Type type) {
  SmallVector<Expr> extents = getExtents(cast<RankedTensorType>(type));
  return getTensorType(ArrayRef(extents).drop_front(),
                       cast<RankedTensorType>(type).getElementType());
}
static Type getStackedType(Type type, const Expr &extent) {
  SmallVector<Expr> extents = getExtents(cast<RankedTensorType>(type));
  extents.insert(extents.begin(), extent);
  return getTensorType(extents, cast<RankedTensorType>(type).getElementType());
}

/// Verifies that the lists of values per trip agree on the number of trips.
LogicalResult RepeatOp::verifyTrips() {
  std::optional<int64_t> trips = getNumTrips();
  if (trips && *trips < 1)
    return emitOpError() << "expected 1 trip or more, found " << *trips;
  if (!trips && getRows().empty())
    return emitOpError() << "takes its number of trips from rows, but has "
                         << "no rows";
  if (!trips && !getEach().empty())
    return emitOpError() << "has lists, but its number of trips is not known";
  for (auto [i, rows] : llvm::enumerate(getRows())) {
    SmallVector<Expr> extents = getExtents(rows);
    if (extents.empty() || !mayBeEqual(*this, extents[0], {getTripsExpr()}))
      return emitOpError() << "expected " << getTripsExpr().str()
                           << " rows, found " << rows.getType() << " as number "
                           << i;
  }
  if (trips && static_cast<int64_t>(getEach().size()) % *trips != 0)
    return emitOpError() << "expected a multiple of " << *trips
                         << " operands in each, found " << getEach().size();
  return success();
}

LogicalResult RepeatOp::verify() {
  if (failed(verifyTensors(*this)) || failed(verifyTrips()))
    return failure();
  const auto trips = static_cast<unsigned>(getNumTrips().value_or(0));
  SmallVector<Type> carried(getCarried().getTypes());
  SmallVector<Type> expected = carried;
  for (unsigned begin = 0; begin < getEach().size(); begin += trips) {
    OperandRange list = getEach().slice(begin, trips);
    for (auto [i, value] : llvm::enumerate(list))
      if (value.getType() != list[0].getType())
        return emitOpError()
               << "expected the type of the first operand, "
               << list[0].getType() << ", for operand " << i << " of group "
               << begin / trips << ", found " << value.getType();
    expected.push_back(list[0].getType());
  }
  for (Value rows : getRows())
    expected.push_back(getRowType(rows.getType()));
  auto compare = [&](StringRef what, TypeRange types,
                     ArrayRef<Type> wanted) -> LogicalResult {
    if (types.size() != wanted.size())
      return emitOpError() << "expected " << wanted.size() << " " << what
                           << ", found " << types.size();
    for (auto [i, type] : llvm::enumerate(types))
      if (type != wanted[i])
        return emitOpError() << "expected type " << wanted[i] << " for number "
                             << i << " of the " << what << ", found " << type;
    return success();
  };
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (failed(
          compare("block arguments", getBody().getArgumentTypes(), expected)))
    return failure();
  TypeRange yielded = yield.getOperandTypes();
  const size_t numNext = std::min(yielded.size(), carried.size());
  if (failed(compare("yielded values", yielded.take_front(numNext), carried)))
    return failure();
  if (getStacked() > yielded.size() - numNext)
    return emitOpError() << "stacks " << getStacked() << " values, of "
                         << yielded.size() - numNext << " of a trip";
  // A list of results, one per trip, for yielded values that are neither
  // carried nor stacked.
  SmallVector<Type> results = carried;
  TypeRange ofTrip = yielded.drop_front(numNext).drop_back(getStacked());
  if (!getNumTrips() && !ofTrip.empty())
    return emitOpError() << "has a result for each trip, but its number of "
                         << "trips is not known";
  for (Type type : ofTrip)
    results.append(trips, type);
  for (Type type : yielded.take_back(getStacked()))
    results.push_back(getStackedType(type, getTripsExpr()));
  return compare("results", getResultTypes(), results);
}

/// Parses `keyword(%a, %b : t, t)`, which is optional.
static ParseResult parseGroup(OpAsmParser &parser, StringRef keyword,
                              SmallVectorImpl<Value> &operands) {
  SmallVector<OpAsmParser::UnresolvedOperand> names;
  SmallVector<Type> types;
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseLParen() || parser.parseOperandList(names) ||
                 parser.parseColonTypeList(types) || parser.parseRParen() ||
                 parser.resolveOperands(names, types, loc, operands));
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &result) {
  int64_t trips = ShapedType::kDynamic, stacked = 0;
  SmallVector<Value> carried, each, rows;
  if (failed(parser.parseOptionalQuestion()) && parser.parseInteger(trips))
    return failure();
  if (parseGroup(parser, "carried", carried) ||
      parseGroup(parser, "each", each) || parseGroup(parser, "rows", rows))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("stacked")) &&
      parser.parseInteger(stacked))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addOperands(carried);
  result.addOperands(each);
  result.addOperands(rows);
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.trips = parser.getBuilder().getI64IntegerAttr(trips);
  properties.stacked = parser.getBuilder().getI64IntegerAttr(stacked);
  properties.operandSegmentSizes = {static_cast<int32_t>(carried.size()),
                                    static_cast<int32_t>(each.size()),
                                    static_cast<int32_t>(rows.size())};
  return failure(parser.parseRegion(*result.addRegion()) ||
                 parser.parseOptionalArrowTypeList(result.types));
}

static void printGroup(OpAsmPrinter &printer, StringRef keyword,
                       OperandRange operands) {
  if (!operands.empty())
    printer << ' ' << keyword << '(' << operands << " : " << operands.getTypes()
            << ')';
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (std::optional<int64_t> trips = getNumTrips())
    printer << *trips;
  else
    printer << '?';
  printGroup(printer, "carried", getCarried());
  printGroup(printer, "each", getEach());
  printGroup(printer, "rows", getRows());
  if (getStacked())
    printer << " stacked " << getStacked();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getTripsAttrName(), getStackedAttrName(),
                            getOperandSegmentSizesAttrName()});
  printer << ' ';
  printer.printRegion(getBody());
  printer.printOptionalArrowTypeList(getResultTypes());
}
