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

/// Makes a new dim of the given extent, for BodyOpInterface::getReads.
using AddDim = llvm::function_ref<Expr(const Expr &extent)>;
/// Receives an operand and the index at which it is read.
using ReadAt = llvm::function_ref<void(mlir::OpOperand &, Index)>;

/// The inputs of a roofline estimate, as expressions over the program's
/// symbols.
struct Cost {
  Expr bytesRead;
  Expr bytesWritten;
  /// Scalar operations; a transcendental counts as `getFlops(Fn)` of them.
  Expr flops;
  /// Number of kernel launches.
  Expr launches;
  /// The multiply-adds of matrix products, on elements of `productBits` bits.
  /// `flops` includes them: one operation each, two for f64.
  Expr products = {};
  unsigned productBits = 0;

  /// Returns the roofline time in nanoseconds, on one core of a CPU or on a
  /// whole GPU, with symbols at their nominal values. It ranks programs before
  /// anything is measured.
  double price(const Assumptions &assumptions,
               const MachineModel &machine) const;
};

/// A launch field under its name in the manifest.
struct LaunchField {
  llvm::StringRef name;
  std::variant<Expr, int64_t, bool, double, DType, std::string> value;
};

enum class Fn : uint32_t;

/// The size of a GPU's thread block, and how many of its threads share a work
/// item.
struct WholeThreads {
  unsigned threads = 0, team = 1;
};

/// How an element changes when the reference u of its row becomes u'
/// (RescaleOpInterface).
struct Rescaling {
  enum class Kind {
    /// It does not depend on the reference.
    Fixed,
    /// It grows by `slope` * (u' - u). The reference itself has slope 1.
    Shifted,
    /// It is multiplied by base(u - u'), where base is an exponential.
    Scaled,
    /// It changes in some other way.
    Other,
  };
  Kind kind = Kind::Fixed;
  int64_t slope = 0;
  Fn base = Fn(0);
  /// For `Fixed`: the value of every element, if it is known.
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
  /// Returns whether every element is known to be `n`.
  bool is(double n) const { return isFixed() && number == n; }
};

/// The value that estimates assume for a symbol of which nothing is known.
constexpr int64_t kNominalSymbol = 64;
/// Estimates a size that is known only at run time: each symbol is `nominal`,
/// clamped to its range. For estimates only, never for correctness.
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

/// Returns the accumulator type for sums and maxima of such elements: a 32-bit
/// type for 16-bit ones, else the type itself.
mlir::Type getAccumulatorType(mlir::Type element);

/// Returns the element types of the tensors that hold the state of a scan from
/// elements of type `from` to results of type `to`: one for each number of a
/// state.
llvm::SmallVector<mlir::Type> getScanStates(ScanKind kind, mlir::Type from,
                                            mlir::Type to, bool positions);

/// Returns whether the op has loops of its own, so that a schedule must state
/// their form.
bool hasLoops(mlir::Operation *op);

/// Return the number of elements of a tensor type, and their bytes in memory.
Expr countElements(mlir::Type tensor);
Expr countBytes(mlir::Type tensor);
/// Returns whether the op, or an op inside it, uses a symbol: in the size of a
/// result, or in the value of an element (other than through operands).
bool usesSymbols(mlir::Operation *op);
/// Returns whether cuBLASLt computes epilogues on a matrix as they are defined.
/// It does if rows and batches begin at multiples of 16 bytes, as tensors do.
/// Otherwise its gelu is a coarse approximation, it rounds before a relu, and
/// relu of NaN is 0 (measured in version 13.1). `map` is linear.
bool hasExactEpilogues(hlir::MapAttr map, mlir::Type element,
                       const Assumptions &symbols);
/// Returns whether a function argument is a weight.
bool isWeight(mlir::BlockArgument argument);

/// Returns the number of operands of a scalar function: 1, 2 or 3.
unsigned getArity(Fn fn);
/// Returns the cost of a scalar function in simple operations.
unsigned getFlops(Fn fn);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_IR_LLIR_H
