//===- HLIRDialect.cpp - Registration, types and program attributes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

#include "luminal/Dialect/HLIR/IR/HLIRDialect.cpp.inc"

#include "luminal/Dialect/HLIR/IR/HLIREnums.cpp.inc"

void HLIRDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "luminal/Dialect/HLIR/IR/HLIROps.cpp.inc"
      >();
  registerAttributes();
}

Operation *HLIRDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

SmallVector<Expr> hlir::getExtents(RankedTensorType type) {
  auto dims = dyn_cast_or_null<DimsAttr>(type.getEncoding());
  ArrayRef<Expr> exprs = dims ? dims.getExprs() : ArrayRef<Expr>();
  SmallVector<Expr> extents;
  size_t next = 0;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size))
      extents.emplace_back(size);
    else if (next < exprs.size())
      extents.push_back(exprs[next++]);
    else
      extents.push_back(Expr::floorDiv(1, 0));
  }
  return extents;
}

SmallVector<Expr> hlir::getExtents(Value value) {
  return getExtents(cast<RankedTensorType>(value.getType()));
}

RankedTensorType hlir::getTensorType(ArrayRef<Expr> extents, Type elementType) {
  SmallVector<int64_t> shape;
  SmallVector<Expr> dynamic;
  for (const Expr &extent : extents) {
    std::optional<int64_t> size = extent.asConstant();
    shape.push_back(size.value_or(ShapedType::kDynamic));
    if (!size)
      dynamic.push_back(extent);
  }
  Attribute encoding = dynamic.empty()
                           ? Attribute()
                           : DimsAttr::get(elementType.getContext(), dynamic);
  return RankedTensorType::get(shape, elementType, encoding);
}

RankedTensorType hlir::withElementType(RankedTensorType type,
                                       Type elementType) {
  return RankedTensorType::get(type.getShape(), elementType,
                               type.getEncoding());
}

Assumptions hlir::getAssumptions(Operation *op, ArrayRef<Expr> extents) {
  std::map<std::string, SymbolRange> symbols;
  for (; op; op = op->getParentOp()) {
    // Functions have the dialect's attribute; ops with symbols of their own,
    // such as schedules, have the attribute `symbols`.
    auto attr = op->getAttrOfType<SymbolsAttr>(kSymbolsAttr);
    if (!attr)
      attr = dyn_cast_or_null<SymbolsAttr>(
          op->getInherentAttr("symbols").value_or(Attribute()));
    if (!attr)
      continue;
    for (const SymbolEntry &entry : attr.getEntries())
      symbols[entry.name.str()] = entry.range;
    break;
  }
  return Assumptions(std::move(symbols), {extents.begin(), extents.end()});
}

bool hlir::mayBeEqual(Operation *op, ArrayRef<Expr> a, ArrayRef<Expr> b) {
  if (a.size() != b.size())
    return false;
  std::optional<Assumptions> assumptions;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    if (x == y)
      continue;
    if (!assumptions)
      assumptions = getAssumptions(op);
    if (assumptions->equal(x, y) == false)
      return false;
  }
  return true;
}

std::optional<DType> hlir::getDType(Type type) {
  return llvm::TypeSwitch<Type, std::optional<DType>>(type)
      .Case<Float32Type>([](auto) { return DType::F32; })
      .Case<Float16Type>([](auto) { return DType::F16; })
      .Case<BFloat16Type>([](auto) { return DType::BF16; })
      .Case<Float64Type>([](auto) { return DType::F64; })
      .Case<Float8E4M3FNType>([](auto) { return DType::F8E4M3; })
      .Case<Float8E5M2Type>([](auto) { return DType::F8E5M2; })
      .Case<IntegerType>([](IntegerType integer) -> std::optional<DType> {
        if (integer.isSigned())
          return std::nullopt;
        if (integer.isUnsigned())
          switch (integer.getWidth()) {
          case 8:
            return DType::U8;
          case 16:
            return DType::U16;
          case 32:
            return DType::U32;
          default:
            return std::nullopt;
          }
        switch (integer.getWidth()) {
        case 1:
          return DType::I1;
        case 8:
          return DType::I8;
        case 16:
          return DType::I16;
        case 32:
          return DType::I32;
        case 64:
          return DType::I64;
        default:
          return std::nullopt;
        }
      })
      .Default([](Type) -> std::optional<DType> { return std::nullopt; });
}

Type hlir::getElementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F32:
    return Float32Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::I64:
    return IntegerType::get(context, 64);
  case DType::I1:
    return IntegerType::get(context, 1);
  case DType::I8:
    return IntegerType::get(context, 8);
  case DType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case DType::I16:
    return IntegerType::get(context, 16);
  case DType::U16:
    return IntegerType::get(context, 16, IntegerType::Unsigned);
  case DType::U32:
    return IntegerType::get(context, 32, IntegerType::Unsigned);
  case DType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  }
  llvm_unreachable("covered switch");
}

bool hlir::isStorageType(Type elementType) {
  std::optional<DType> dtype = getDType(elementType);
  if (!dtype)
    return false;
  switch (*dtype) {
  case DType::I8:
  case DType::U8:
  case DType::I16:
  case DType::U16:
  case DType::U32:
  case DType::F8E4M3:
  case DType::F8E5M2:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Attributes of a program
//===----------------------------------------------------------------------===//

/// Every symbol that the tensor types of `types` use is declared.
static LogicalResult verifyDeclared(Operation *op, TypeRange types,
                                    const llvm::StringSet<> &declared) {
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getEncoding())
      continue;
    for (const Expr &extent : getExtents(tensor)) {
      std::vector<std::string> symbols;
      extent.collectSymbols(symbols);
      for (const std::string &symbol : symbols)
        if (!declared.contains(symbol))
          return op->emitOpError()
                 << "expected symbols that hlir.symbols of the function "
                    "declares, found '"
                 << symbol << "'";
    }
  }
  return success();
}

static LogicalResult verifySymbols(Operation *op, Attribute value) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "expected hlir.symbols on a function only";
  auto symbols = dyn_cast<SymbolsAttr>(value);
  if (!symbols)
    return op->emitOpError()
           << "expected #hlir.symbols as hlir.symbols, found " << value;
  llvm::StringSet<> declared;
  for (const SymbolEntry &entry : symbols.getEntries())
    declared.insert(entry.name);
  if (failed(verifyDeclared(op, function.getArgumentTypes(), declared)) ||
      failed(verifyDeclared(op, function.getResultTypes(), declared)))
    return failure();
  WalkResult result = op->walk([&](Operation *inner) -> WalkResult {
    return WalkResult(verifyDeclared(inner, inner->getResultTypes(), declared));
  });
  return failure(result.wasInterrupted());
}

static LogicalResult verifyLiterals(Operation *op, NamedAttribute attribute) {
  auto isLiteral = [](Attribute value) {
    auto literal = dyn_cast<DictionaryAttr>(value);
    auto position =
        literal ? literal.getAs<IntegerAttr>("position") : IntegerAttr();
    return position && position.getType().isInteger(64) &&
           position.getInt() >= 0 && literal.size() == 2 &&
           literal.contains("value");
  };
  auto array = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!isa<FunctionOpInterface>(op) || !array ||
      !llvm::all_of(array, isLiteral))
    return op->emitOpError()
           << "expected [{position = <i64>, value = <any>}] on a function as "
           << attribute.getName().getValue() << ", found "
           << attribute.getValue();
  return success();
}

static LogicalResult verifyRequirements(Operation *op, Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  if (!array || !llvm::all_of(array, llvm::IsaPred<RequirementAttr>))
    return op->emitOpError() << "expected [#hlir.requirement<...>] as "
                                "hlir.requires, found "
                             << value;
  return success();
}

static LogicalResult verifyIntegers(Operation *op, Attribute value) {
  llvm::StringSet<> names;
  auto isInteger = [&](Attribute element) {
    auto integer = dyn_cast<DictionaryAttr>(element);
    auto name = integer ? integer.getAs<StringAttr>("name") : StringAttr();
    auto map = integer ? integer.getAs<MapAttr>("value") : MapAttr();
    return name && !name.empty() && map && integer.size() == 2 &&
           map.getNumDims() == 0 && map.getResults().size() == 1 &&
           names.insert(name.getValue()).second;
  };
  auto array = dyn_cast<ArrayAttr>(value);
  if (!array || !llvm::all_of(array, isInteger))
    return op->emitOpError()
           << "expected [{name = <string>, value = #hlir.map<() -> "
              "(<expression>)>}] with different names as hlir.integers, found "
           << value;
  return success();
}

LogicalResult HLIRDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kRequiresAttr)
    return verifyRequirements(op, attribute.getValue());
  if (attribute.getName() == kSymbolsAttr)
    return verifySymbols(op, attribute.getValue());
  if (attribute.getName() == kIntegersAttr)
    return verifyIntegers(op, attribute.getValue());
  if (attribute.getName() == kAssertionAttr &&
      isa<StringAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == kLiteralInputsAttr ||
      attribute.getName() == kLiteralOutputsAttr)
    return verifyLiterals(op, attribute);
  return op->emitOpError() << "expected no attribute '" << attribute.getName()
                           << "' on an operation";
}

static LogicalResult verifySource(Operation *op, Attribute value) {
  auto source = dyn_cast<DictionaryAttr>(value);
  auto isSize = [&](StringRef name) {
    auto size = source.getAs<IntegerAttr>(name);
    return size && size.getType().isInteger(64) && size.getInt() >= 0;
  };
  if (!source || source.size() != 3 || !source.getAs<StringAttr>("member") ||
      !isSize("offset") || !isSize("bytes"))
    return op->emitOpError()
           << "expected {bytes = <i64>, member = <string>, offset = <i64>} as "
              "hlir.source, found "
           << value;
  return success();
}

static LogicalResult verifyName(Operation *op, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || name.empty())
    return op->emitOpError()
           << "expected a string as hlir.name, found " << value;
  return success();
}

LogicalResult HLIRDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned,
                                                    NamedAttribute attribute) {
  Attribute value = attribute.getValue();
  if (attribute.getName() == kNameAttr)
    return verifyName(op, value);
  if (attribute.getName() == kKindAttr) {
    auto kind = dyn_cast<StringAttr>(value);
    if (!kind || (kind != "input" && kind != "weight" && kind != "state"))
      return op->emitOpError() << "expected \"input\", \"weight\" or \"state\" "
                                  "as hlir.kind, found "
                               << value;
    return success();
  }
  if (attribute.getName() == kSourceAttr)
    return verifySource(op, value);
  return op->emitOpError() << "expected no attribute '" << attribute.getName()
                           << "' on an argument";
}

static LogicalResult verifyAssertion(Operation *op, unsigned resultIndex,
                                     Attribute value) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto type =
      function
          ? dyn_cast<RankedTensorType>(function.getResultTypes()[resultIndex])
          : RankedTensorType();
  if (!type || type.getRank() != 0 || !type.getElementType().isInteger(1) ||
      function.getResultAttr(resultIndex, kUpdatesAttr) ||
      !isa<StringAttr>(value))
    return op->emitOpError() << "expected a string as hlir.assertion on a "
                                "tensor<i1> that updates nothing, found "
                             << value;
  return success();
}

LogicalResult HLIRDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  Attribute value = attribute.getValue();
  if (attribute.getName() == kNameAttr)
    return verifyName(op, value);
  if (attribute.getName() == kAssertionAttr)
    return verifyAssertion(op, resultIndex, value);
  if (attribute.getName() != kUpdatesAttr)
    return op->emitOpError() << "expected no attribute '" << attribute.getName()
                             << "' on a result";
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto index = dyn_cast<IntegerAttr>(value);
  if (!function || !index || !index.getType().isInteger(64) ||
      index.getInt() < 0 ||
      index.getInt() >= static_cast<int64_t>(function.getNumArguments()))
    return op->emitOpError()
           << "expected the index of an argument (i64) as hlir.updates, found "
           << value;
  auto argument = static_cast<unsigned>(index.getInt());
  if (function.getArgumentTypes()[argument] !=
      function.getResultTypes()[resultIndex])
    return op->emitOpError() << "expected the type of argument " << argument
                             << ", " << function.getArgumentTypes()[argument]
                             << ", for the result that updates it, found "
                             << function.getResultTypes()[resultIndex];
  auto kind = function.getArgAttrOfType<StringAttr>(argument, kKindAttr);
  if (!kind || kind != "state")
    return op->emitOpError() << "expected argument " << argument
                             << ", which a result updates, to be a state";
  for (unsigned i = 0; i < resultIndex; ++i)
    if (function.getResultAttr(i, kUpdatesAttr) == value)
      return op->emitOpError()
             << "expected one result that updates argument " << argument
             << ", found results " << i << " and " << resultIndex;
  return success();
}
