//===- LLIR.h - The LLIR dialect ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIR_H
#define LUMINAL_DIALECT_LLIR_IR_LLIR_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include <variant>

namespace luminal {

struct MachineModel;

/// One expression over dims for each dim of a tensor.
using Index = std::vector<Expr>;

} // namespace luminal

namespace luminal::llir {

/// Makes a dim of an extent, for BodyOpInterface::getReads.
using AddDim = llvm::function_ref<Expr(const Expr &extent)>;
/// Takes the index at which an operand is read.
using ReadAt = llvm::function_ref<void(mlir::OpOperand &, Index)>;

/// The inputs of a roofline estimate; expressions over the program's symbols.
struct Cost {
  Expr bytesRead;
  Expr bytesWritten;
  /// Scalar operations, a transcendental counted as `getFlops(Fn)` of them.
  Expr flops;
  /// Kernels launched.
  Expr launches;
  /// Of the operations, multiplications with addition of matrices, of elements
  /// of so many bits; those of f64 are two operations each.
  Expr products = {};
  unsigned productBits = 0;

  /// Time in nanoseconds by the roofline of one core of a CPU, or of a whole
  /// GPU, symbols at their nominal values: ranks programs before anything is
  /// measured.
  double price(const Assumptions &assumptions,
               const MachineModel &machine) const;
};

/// A field of a launch by the name that it has in the manifest.
struct LaunchField {
  llvm::StringRef name;
  std::variant<Expr, int64_t, bool, double, DType, std::string> value;
};

enum class Fn : uint32_t;

/// Threads of a GPU's block, and of those that take a unit of work together.
struct WholeThreads {
  unsigned threads = 0, team = 1;
};

/// How an element changes when a reference u of its row becomes u'
/// (RescaleOpInterface).
struct Rescaling {
  enum class Kind {
    /// It does not change.
    Fixed,
    /// It grows by `slope` * (u' - u); so does the reference itself.
    Shifted,
    /// It is multiplied by base(u - u'), where base is an exponential.
    Scaled,
    /// In another way.
    Other,
  };
  Kind kind = Kind::Fixed;
  int64_t slope = 0;
  Fn base = Fn(0);
  /// Of a fixed one: what every element is, where that is known.
  std::optional<double> number;

  static Rescaling shifted(int64_t slope) {
    return {Kind::Shifted, slope, Fn(0), std::nullopt};
  }
  static Rescaling scaled(Fn base) {
    return {Kind::Scaled, 0, base, std::nullopt};
  }
  static Rescaling other() { return {Kind::Other, 0, Fn(0), std::nullopt}; }

  bool isFixed() const { return kind == Kind::Fixed; }
  bool isScaled() const { return kind == Kind::Scaled; }
  bool isShifted() const { return kind == Kind::Shifted; }
  /// Whether it is known to be `n` everywhere.
  bool is(double n) const { return isFixed() && number == n; }
};

/// What a symbol is taken for where nothing more is known.
constexpr int64_t kNominalSymbol = 64;
/// An estimate of a size that is known only at run time: each symbol at
/// `nominal`, clamped to its range. Used by estimates, never for correctness.
double nominalValue(const Expr &e, const Assumptions &assumptions,
                    int64_t nominal = kNominalSymbol);

} // namespace luminal::llir

#include "luminal/Dialect/LLIR/IR/LLIRDialect.h.inc"

#include "luminal/Dialect/LLIR/IR/LLIREnums.h.inc"

#include "luminal/Dialect/LLIR/IR/LLIRAttrInterfaces.h.inc"

#include "luminal/Dialect/LLIR/IR/LLIRInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "luminal/Dialect/LLIR/IR/LLIRAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "luminal/Dialect/LLIR/IR/LLIRTypes.h.inc"

#define GET_OP_CLASSES
#include "luminal/Dialect/LLIR/IR/LLIROps.h.inc"

namespace luminal::llir {

/// In what sums and maxima of elements of this type are kept: those of 16 bits
/// in 32.
mlir::Type getAccumulatorType(mlir::Type element);

/// What a scan of elements of the type `from` carries from one element to the
/// next, as tensors hold it: a number for each.
llvm::SmallVector<mlir::Type> getScanStates(ScanKind kind, mlir::Type from,
                                            mlir::Type to, bool positions);

/// Whether the op has loops of its own, whose form a schedule must state.
bool hasLoops(mlir::Operation *op);

/// Elements of a tensor type, and the bytes that memory holds them in.
Expr countElements(mlir::Type tensor);
Expr countBytes(mlir::Type tensor);
/// Whether a size or an element of what the op, or an op in it, computes
/// depends on a symbol besides its operands.
bool usesSymbols(mlir::Operation *op);
/// Whether cuBLASLt computes epilogues on a matrix as they are defined: its
/// rows and batches begin at multiples of 16 bytes, as tensors do. Elsewhere
/// its gelu is a coarse one, it rounds before a relu, and relu of NaN is 0
/// (measured in version 13.1). `map` is linear.
bool hasExactEpilogues(hlir::MapAttr map, mlir::Type element,
                       const Assumptions &symbols);
/// Whether an argument of a function is a weight.
bool isWeight(mlir::BlockArgument argument);

/// Number of operands of a scalar function: 1, 2 or 3.
unsigned getArity(Fn fn);
/// Cost of one scalar function in simple operations.
unsigned getFlops(Fn fn);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_IR_LLIR_H
