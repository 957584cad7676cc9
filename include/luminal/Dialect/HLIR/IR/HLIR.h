//===- HLIR.h - The HLIR dialect ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_IR_HLIR_H
#define LUMINAL_DIALECT_HLIR_IR_HLIR_H

#include "luminal/Support/DType.h"
#include "luminal/Support/Expr.h"
#include "luminal/Support/IndexCheck.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace luminal {
llvm::hash_code hash_value(const Expr &e);

namespace hlir {

/// One symbol of a function with its inclusive range.
struct SymbolEntry {
  SymbolEntry(llvm::StringRef name, SymbolRange range)
      : symbol(Expr::symbol(name)), name(*symbol.asSymbol()), range(range) {}
  /// Owns the name.
  Expr symbol;
  llvm::StringRef name;
  SymbolRange range;
  bool operator==(const SymbolEntry &) const = default;
};
llvm::hash_code hash_value(const SymbolEntry &e);

/// Attributes of the arguments and results of a program's function.
///   hlir.name      string: the name a user binds by
///   hlir.kind      "input" | "weight" | "state": who supplies it. A "state"
///                  starts as the archive's value (or, without hlir.source,
///                  as the caller's) and is carried from call to call
///   hlir.source    dictionary {member = "data/weights/weight_0",
///                  offset = 0 : i64, bytes = 64 : i64}: where the initial
///                  bytes of a weight or state are in the archive; the member
///                  name is without the root folder.
///   hlir.updates   on a result: the argument (i64) whose new value it is,
///                  counted over all arguments
constexpr llvm::StringLiteral kNameAttr = "hlir.name";
constexpr llvm::StringLiteral kKindAttr = "hlir.kind";
constexpr llvm::StringLiteral kSourceAttr = "hlir.source";
constexpr llvm::StringLiteral kUpdatesAttr = "hlir.updates";
/// On the function: `#hlir.symbols<...>`, and arguments and outputs of the
/// archive's program that are not tensors: [{position = <i64>, value = ...}].
constexpr llvm::StringLiteral kSymbolsAttr = "hlir.symbols";
///   hlir.requires  on a function or schedule: [#hlir.requirement<...>],
///   checked whenever its symbols get values
constexpr llvm::StringLiteral kRequiresAttr = "hlir.requires";
constexpr llvm::StringLiteral kLiteralInputsAttr = "hlir.literal_inputs";
constexpr llvm::StringLiteral kLiteralOutputsAttr = "hlir.literal_outputs";

/// The storage of attributes, which owns the expressions.
namespace detail {
struct DimsAttrStorage;
struct MapAttrStorage;
struct SymbolsAttrStorage;
} // namespace detail

} // namespace hlir
} // namespace luminal

#include "luminal/Dialect/HLIR/IR/HLIRDialect.h.inc"

#include "luminal/Dialect/HLIR/IR/HLIREnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "luminal/Dialect/HLIR/IR/HLIRAttrs.h.inc"

namespace luminal::hlir {

/// Indices that an op computes: for every index of `space`, result k of `map`
/// must be in [0, limits[k]). Without limits, the map must only have a value.
struct IndexRead {
  MapAttr map;
  llvm::SmallVector<Expr> space;
  llvm::SmallVector<Expr> limits;
  /// The role of the map in the op, for errors: "the map of lhs".
  std::string what;
};

} // namespace luminal::hlir

#include "luminal/Dialect/HLIR/IR/HLIRInterfaces.h.inc"

#define GET_OP_CLASSES
#include "luminal/Dialect/HLIR/IR/HLIROps.h.inc"

namespace luminal::hlir {

/// Returns the extents of a tensor: a constant for each static dim, the
/// expression for each dynamic dim. Verifiers reject a dynamic dim without an
/// expression; here its extent is the undefined expression.
llvm::SmallVector<Expr> getExtents(mlir::RankedTensorType type);
llvm::SmallVector<Expr> getExtents(mlir::Value value);

/// Returns the tensor type with these extents: constants become static dims,
/// other extents become `?` with a #hlir.dims encoding.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<Expr> extents,
                                     mlir::Type elementType);
/// Returns `type` with another element type.
mlir::RankedTensorType withElementType(mlir::RankedTensorType type,
                                       mlir::Type elementType);

/// Returns what is known about symbols at `op`: hlir.symbols of the enclosing
/// function (or of `op` itself, if it is a function). With `extents`, also the
/// bounds of an index space.
Assumptions getAssumptions(mlir::Operation *op,
                           llvm::ArrayRef<Expr> extents = {});

/// Returns false only if two extents are proved different at `op`. Undecided
/// cases are left to run time, where every dim is checked.
bool mayBeEqual(mlir::Operation *op, llvm::ArrayRef<Expr> a,
                llvm::ArrayRef<Expr> b);

/// Rejects indices that are out of bounds for all symbols: the part of
/// checkIndices that is cheap enough for a verifier.
mlir::LogicalResult verifyIndices(IndexOpInterface op);

/// Proves that every index and every extent of a type inside `root` has a value
/// and is in bounds. Conditions on symbols are added to `requirements`, unless
/// they are there already. A condition that is neither proved nor a condition
/// on symbols is an error at its op. `symbols` holds the ranges of the symbols.
mlir::LogicalResult
checkIndices(mlir::Operation *root, const Assumptions &symbols,
             llvm::SmallVectorImpl<Requirement> &requirements);

/// Read and write hlir.requires of `op`.
llvm::SmallVector<Requirement> getRequirements(mlir::Operation *op);
void setRequirements(mlir::Operation *op,
                     llvm::ArrayRef<Requirement> requirements);
/// Adds the requirements that are not present yet.
void addRequirements(llvm::SmallVectorImpl<Requirement> &to,
                     llvm::ArrayRef<Requirement> from);

/// Returns "file.mlir:2:8" if the location names a file.
std::string describePlace(mlir::Location location);

/// Convert between element type and DType; std::nullopt for a type that HLIR
/// does not have.
std::optional<DType> getDType(mlir::Type elementType);
mlir::Type getElementType(mlir::MLIRContext *context, DType dtype);
bool isStorageType(mlir::Type elementType);

/// Evaluates an elementwise op on constants, bit for bit as the op is defined.
/// Null for ops without such a folder, and for constants that are too large to
/// fold.
mlir::Attribute foldConstants(mlir::OperationName name,
                              llvm::ArrayRef<mlir::Attribute> operands,
                              mlir::Type type);

/// Parses one expression, up to a comma or bracket that is not part of it.
mlir::FailureOr<Expr> parseExpr(mlir::AsmParser &parser);

/// The maximum size in bytes of a constant that the compiler reads or makes;
/// larger data are arguments.
constexpr int64_t kMaxConstantBytes = 64 << 10;

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_IR_HLIR_H
