//===- LLIROps.cpp - Verifiers and folds of the flat ops ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Quantities.h"
#include "luminal/Dialect/HLIR/IR/EnumFormat.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using hlir::mayBeEqual;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool sameShape(Operation *op, Value a, Value b) {
  return mayBeEqual(op, hlir::getExtents(a), hlir::getExtents(b));
}

/// Returns whether functions are computed in `type`: false for types without
/// arithmetic.
static bool isComputeType(Type type) {
  return (isa<FloatType>(type) && !hlir::isStorageType(type)) ||
         type.isSignlessInteger(32) || type.isInteger(64);
}

//===----------------------------------------------------------------------===//
// elementwise
//===----------------------------------------------------------------------===//

/// Describes the accepted element types, for errors.
static StringRef describe(OperandTypes types) {
  switch (types) {
  case OperandTypes::Float:
    return "f16, bf16, f32 or f64";
  case OperandTypes::Integer:
    return "i32 or i64";
  case OperandTypes::Number:
    return "a float, i32 or i64";
  case OperandTypes::NumberOrBool:
    return "a float, i32, i64 or i1";
  case OperandTypes::Bool:
    return "i1";
  case OperandTypes::Any:
    return "any element type";
  }
  llvm_unreachable("covered switch");
}

/// Returns whether a function with these operand types accepts `type`.
static bool accepts(OperandTypes types, Type type) {
  switch (types) {
  case OperandTypes::Float:
    return isa<FloatType>(type) && isComputeType(type);
  case OperandTypes::Integer:
    return isa<IntegerType>(type) && isComputeType(type);
  case OperandTypes::Number:
    return isComputeType(type);
  case OperandTypes::NumberOrBool:
    return isComputeType(type) || type.isInteger(1);
  case OperandTypes::Bool:
    return type.isInteger(1);
  case OperandTypes::Any:
    return hlir::getDType(type).has_value();
  }
  llvm_unreachable("covered switch");
}

LogicalResult ElementwiseOp::verify() {
  Fn fn = getFn();
  if (getInputs().size() != getArity(fn))
    return emitOpError() << stringifyFn(fn) << " takes " << getArity(fn)
                         << " operands, found " << getInputs().size();
  for (Value input : getInputs())
    if (!sameShape(*this, input, getResult()))
      return emitOpError() << "operand " << input.getType()
                           << " has another shape than the result "
                           << getResult().getType();
  Type result = typeOf(getResult()).getElementType();
  Type first = typeOf(getInputs()[0]).getElementType();
  if (fn == Fn::Select) {
    if (!first.isInteger(1))
      return emitOpError() << "expects an i1 condition, found " << first;
    for (Value input : getInputs().drop_front())
      if (typeOf(input).getElementType() != result)
        return emitOpError() << "selects " << typeOf(input).getElementType()
                             << " but results in " << result;
    return success();
  }
  OperandTypes types = llir::getOperandTypes(fn);
  if (!accepts(types, first))
    return emitOpError() << stringifyFn(fn) << " takes " << describe(types)
                         << ", found " << first;
  if (getInputs().size() == 2 &&
      typeOf(getInputs()[1]).getElementType() != first)
    return emitOpError() << "operands have two element types, " << first
                         << " and " << typeOf(getInputs()[1]).getElementType();
  if (fn == Fn::Cast) {
    if (!hlir::getDType(result))
      return emitOpError() << "cannot cast to " << result;
    return success();
  }
  if (fn == Fn::Bitcast) {
    if (!hlir::getDType(result) || first.isInteger(1) || result.isInteger(1) ||
        first.getIntOrFloatBitWidth() != result.getIntOrFloatBitWidth())
      return emitOpError() << "has no " << result << " of the bits of "
                           << first;
    return success();
  }
  bool isPredicate = fn == Fn::LessThan || fn == Fn::LessEqual ||
                     fn == Fn::Equal || fn == Fn::IsNan;
  Type expected = isPredicate ? IntegerType::get(getContext(), 1) : first;
  if (result != expected)
    return emitOpError() << stringifyFn(fn) << " of " << first << " is "
                         << expected << ", found " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// view, constant, iota
//===----------------------------------------------------------------------===//

/// Checks a map from the index space of `domain` to that of `range`.
static LogicalResult verifyMap(Operation *op, hlir::MapAttr map,
                               unsigned domainRank, RankedTensorType range,
                               StringRef what) {
  if (map.getNumDims() != domainRank)
    return op->emitOpError() << what << " is a map of " << map.getNumDims()
                             << " dims, expected " << domainRank;
  if (static_cast<int64_t>(map.getResults().size()) != range.getRank())
    return op->emitOpError()
           << what << " has " << map.getResults().size() << " results, "
           << range << " has rank " << range.getRank();
  return success();
}

SmallVector<hlir::IndexRead> ViewOp::getIndexReads() {
  return {{getMap(), hlir::getExtents(getResult()),
           hlir::getExtents(getOperand()), "its map"}};
}

SmallVector<hlir::IndexRead> IotaOp::getIndexReads() {
  return {{getMap(), hlir::getExtents(getResult()), {}, "its map"}};
}

SmallVector<hlir::IndexRead> GemmOp::getIndexReads() {
  SmallVector<Expr> domain = hlir::getExtents(getResult());
  domain.push_back(getKExtent());
  return {{getLhsMap(), domain, hlir::getExtents(getLhs()), "the map of lhs"},
          {getRhsMap(), domain, hlir::getExtents(getRhs()), "the map of rhs"}};
}

LogicalResult ViewOp::verify() {
  if (typeOf(getOperand()).getElementType() !=
      typeOf(getResult()).getElementType())
    return emitOpError() << "changes the element type from "
                         << typeOf(getOperand()).getElementType() << " to "
                         << typeOf(getResult()).getElementType();
  if (failed(verifyMap(*this, getMap(), typeOf(getResult()).getRank(),
                       typeOf(getOperand()), "its map")))
    return failure();
  return hlir::verifyIndices(*this);
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getMap().isIdentity() && getOperand().getType() == getType())
    return getOperand();
  return {};
}

OpFoldResult llir::ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult IotaOp::verify() {
  RankedTensorType type = typeOf(getResult());
  if (!type.getElementType().isSignlessInteger(32) &&
      !type.getElementType().isInteger(64))
    return emitOpError() << "expects i32 or i64 elements, found "
                         << type.getElementType();
  if (getMap().getNumDims() != type.getRank())
    return emitOpError() << "its map has " << getMap().getNumDims()
                         << " dims, expected " << type.getRank();
  if (getMap().getResults().size() != 1)
    return emitOpError() << "its map has " << getMap().getResults().size()
                         << " results, expected 1";
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and row functions
//===----------------------------------------------------------------------===//

LogicalResult llir::ReduceOp::verify() {
  RankedTensorType operand = typeOf(getOperand());
  RankedTensorType result = typeOf(getResult());
  if (operand.getRank() == 0)
    return emitOpError() << "expects an operand of rank 1 or more";
  Type element = operand.getElementType();
  if (result.getElementType() != element)
    return emitOpError() << "reduces " << element << " but results in "
                         << result.getElementType();
  bool isBoolMax = element.isInteger(1) && getKind() == ReduceKind::Max;
  if (!isComputeType(element) && !isBoolMax)
    return emitOpError() << "cannot form a " << stringifyReduceKind(getKind())
                         << " of " << element;
  SmallVector<Expr> rows = hlir::getExtents(getOperand());
  rows.pop_back();
  if (!mayBeEqual(*this, rows, hlir::getExtents(getResult())))
    return emitOpError() << "expects the operand's shape without its last dim, "
                         << "found " << result << " of " << operand;
  return success();
}

static LogicalResult verifyRowFunction(Operation *op) {
  RankedTensorType type = typeOf(op->getOperand(0));
  if (type.getRank() == 0)
    return op->emitOpError() << "expects an operand of rank 1 or more";
  if (!accepts(OperandTypes::Float, type.getElementType()))
    return op->emitOpError() << "takes " << describe(OperandTypes::Float)
                             << ", found " << type.getElementType();
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyRowFunction(*this); }
LogicalResult LayerNormOp::verify() { return verifyRowFunction(*this); }
LogicalResult RMSNormOp::verify() { return verifyRowFunction(*this); }

//===----------------------------------------------------------------------===//
// gemm, gather, scatter
//===----------------------------------------------------------------------===//

LogicalResult GemmOp::verify() {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs()),
                   result = typeOf(getResult());
  if (!isComputeType(result.getElementType()) ||
      lhs.getElementType() != result.getElementType() ||
      rhs.getElementType() != result.getElementType())
    return emitOpError() << "expects one numeric element type, found "
                         << lhs.getElementType() << ", " << rhs.getElementType()
                         << " and " << result.getElementType();
  if (getK().getNumDims() != 0 || getK().getResults().size() != 1)
    return emitOpError() << "k is one extent, a map without dims";
  unsigned rank = result.getRank() + 1;
  if (failed(verifyMap(*this, getLhsMap(), rank, lhs, "the map of lhs")) ||
      failed(verifyMap(*this, getRhsMap(), rank, rhs, "the map of rhs")))
    return failure();
  return hlir::verifyIndices(*this);
}

static LogicalResult verifyRows(Operation *op, Value indices, Value rows) {
  Type element = typeOf(indices).getElementType();
  if (!element.isSignlessInteger(32) && !element.isInteger(64))
    return op->emitOpError() << "expects i32 or i64 indices, found " << element;
  if (typeOf(rows).getRank() == 0)
    return op->emitOpError() << "expects rows along a dim, found rank 0";
  return success();
}

/// Returns the shape of the rows of `rows` at each of `indices`.
static SmallVector<Expr> getTakenShape(Value indices, Value rows) {
  SmallVector<Expr> extents = hlir::getExtents(indices);
  llvm::append_range(extents, ArrayRef(hlir::getExtents(rows)).drop_front());
  return extents;
}

LogicalResult llir::GatherOp::verify() {
  if (failed(verifyRows(*this, getIndices(), getData())))
    return failure();
  if (typeOf(getData()).getElementType() !=
      typeOf(getResult()).getElementType())
    return emitOpError() << "gathers " << typeOf(getData()).getElementType()
                         << " but results in "
                         << typeOf(getResult()).getElementType();
  if (!mayBeEqual(*this, getTakenShape(getIndices(), getData()),
                  hlir::getExtents(getResult())))
    return emitOpError() << "expects the indices' shape followed by the "
                         << "data's rows, found " << getResult().getType();
  return success();
}

LogicalResult SegmentReduceOp::verify() {
  if (failed(verifyRows(*this, getBegins(), getData())))
    return failure();
  if (typeOf(getBegins()).getRank() != 1)
    return emitOpError() << "expects a vector of begins, found "
                         << typeOf(getBegins());
  Type element = typeOf(getData()).getElementType();
  if (element != typeOf(getResult()).getElementType())
    return emitOpError() << "reduces " << element << " but results in "
                         << typeOf(getResult()).getElementType();
  if (!isComputeType(element))
    return emitOpError() << "cannot reduce " << element;
  if (!mayBeEqual(*this, getTakenShape(getBegins(), getData()),
                  hlir::getExtents(getResult())))
    return emitOpError() << "expects the begins' shape followed by the data's "
                         << "rows, found " << getResult().getType();
  return success();
}

LogicalResult llir::ScatterOp::verify() {
  if (failed(verifyRows(*this, getIndices(), getDest())))
    return failure();
  Type element = typeOf(getDest()).getElementType();
  if (typeOf(getUpdates()).getElementType() != element)
    return emitOpError() << "scatters " << typeOf(getUpdates()).getElementType()
                         << " into " << element;
  bool isOr = getCombine() == hlir::Combine::Max && element.isInteger(1);
  if (getCombine() != hlir::Combine::Set && !isComputeType(element) && !isOr)
    return emitOpError() << "cannot " << stringifyCombine(getCombine()) << " "
                         << element;
  if (!mayBeEqual(*this, getTakenShape(getIndices(), getDest()),
                  hlir::getExtents(getUpdates())))
    return emitOpError() << "expects updates of the indices' shape followed by "
                         << "the destination's rows, found "
                         << getUpdates().getType();
  return success();
}

using hlir::parseKeyword;
using hlir::printKeyword;

#define GET_OP_CLASSES
#include "luminal/Dialect/LLIR/IR/LLIROps.cpp.inc"
