//===- OpTable.h - The table of ATen ops ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of known ATen ops. A row has the op's schema, by which arguments
// are bound and checked, and the function that builds the op. The schema
// includes default values, because archives omit arguments that have them.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_OPTABLE_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_OPTABLE_H

#include "../Archive/Graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace luminal::pt2 {

class OpCall;
using Handler = Status (*)(OpCall &);

/// One row of the table.
struct OpRow {
  /// PyTorch's own schema, "add.Tensor(Tensor self, Tensor other, *, Scalar
  /// alpha=1)", without an overload named `default`. `int` stands for `SymInt`
  /// if the value must be constant, `float` for `Scalar` if it is one, and
  /// `Tensor` for `Scalar` if the number is an operand.
  const char *schema;
  Handler handler;
};

/// A parameter's type, and whether None is allowed.
struct Parameter {
  enum Type {
    Tensor,
    TensorList,
    OptionalTensorList,
    Int,
    IntList,
    Float,
    FloatList,
    Scalar,
    Bool,
    BoolList,
    String,
    ScalarType,
    Device,
    Layout,
    MemoryFormat,
    /// None: no random numbers are drawn.
    Generator
  } type;
  bool optional = false;
  /// Whether a symbolic value is allowed (`SymInt`).
  bool symbolic = false;
  std::string name;
  bool hasDefault = false;
  Argument defaultValue;
};

/// A row with its schema parsed.
struct OpEntry {
  std::string name; ///< "add.Tensor"; "relu.default"
  std::vector<Parameter> parameters;
  Handler handler;
};

/// The rows of one group of ops, each defined in a file of its own.
llvm::ArrayRef<OpRow> getPointwiseOps();
llvm::ArrayRef<OpRow> getMathOps();
llvm::ArrayRef<OpRow> getBitsOps();
llvm::ArrayRef<OpRow> getCompareOps();
llvm::ArrayRef<OpRow> getMovementOps();
llvm::ArrayRef<OpRow> getCreationOps();
llvm::ArrayRef<OpRow> getJoinOps();
llvm::ArrayRef<OpRow> getReductionOps();
llvm::ArrayRef<OpRow> getProductOps();
llvm::ArrayRef<OpRow> getConvolutionOps();
llvm::ArrayRef<OpRow> getPoolingOps();
llvm::ArrayRef<OpRow> getResampleOps();
llvm::ArrayRef<OpRow> getQuantizeOps();
llvm::ArrayRef<OpRow> getRecurrentOps();
llvm::ArrayRef<OpRow> getScanOps();
llvm::ArrayRef<OpRow> getNormOps();
llvm::ArrayRef<OpRow> getLossOps();
llvm::ArrayRef<OpRow> getIndexOps();
llvm::ArrayRef<OpRow> getSearchOps();
llvm::ArrayRef<OpRow> getSortOps();
llvm::ArrayRef<OpRow> getCalculusOps();
llvm::ArrayRef<OpRow> getSpecialOps();
llvm::ArrayRef<OpRow> getTransformerOps();
llvm::ArrayRef<OpRow> getMetaOps();

/// The entry of a target without "torch.ops.", as "aten.add.Tensor"; null if
/// unknown.
const OpEntry *findOp(llvm::StringRef target);

/// All targets of the table ("aten.add.Tensor"), sorted.
std::vector<std::string> getTargets();

/// Why an op can never be supported ("draws random numbers"); empty for all
/// other ops.
llvm::StringRef getRefusal(llvm::StringRef target);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_OPTABLE_H
