//===- OpTable.h - Which ATen ops are known, and how each is built --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row per op: its schema, from which arguments are bound and checked, and
// the function that builds it. The schema holds the defaults, because archives
// omit arguments that have their default value.
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

struct OpRow {
  /// "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)": PyTorch's own
  /// schema; an overload named `default` is left out. `int` stands for `SymInt`
  /// where the value must be known, `float` for `Scalar` where it is one, and
  /// `Tensor` for `Scalar` where the number is an operand.
  const char *schema;
  Handler handler;
};

/// A parameter's type: what an argument may be, and whether it may be None.
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
    /// None: nothing is drawn.
    Generator
  } type;
  bool optional = false;
  /// A value known only at call time will do (`SymInt`).
  bool symbolic = false;
  std::string name;
  bool hasDefault = false;
  Argument defaultValue;
};

struct OpEntry {
  std::string name; ///< "add.Tensor"; "relu.default"
  std::vector<Parameter> parameters;
  Handler handler;
};

/// The rows of one group of ops; each file of a group defines one.
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

/// The entry of "aten.add.Tensor" (a target without "torch.ops."), or null.
const OpEntry *findOp(llvm::StringRef target);

/// All targets of the table ("aten.add.Tensor"), sorted.
std::vector<std::string> getTargets();

/// Why an op can never be supported ("draws random numbers"), or
/// empty.
llvm::StringRef getRefusal(llvm::StringRef target);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_OPTABLE_H
