//===- SampleInputs.h - Sample inputs for measurements --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_SAMPLEINPUTS_H
#define LUMINAL_LIB_PIPELINES_SAMPLEINPUTS_H

#include "luminal/Pipelines/Compile.h"
#include "luminal/Support/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace luminal {

/// The sizes at which a program is timed, by the name of the symbol.
using TimedSizes = std::map<std::string, int64_t>;

/// Sample tensors by the name of the input (or of the caller's state).
class SampleInputs {
public:
  /// Reads files in the form of luminal-run: `FILE` for the next input, or
  /// `NAME=FILE`. Returns an error, which names the file or the input, for a
  /// type that differs from `func` and for extents that no values of the
  /// symbols give.
  static Result<SampleInputs> read(const std::vector<std::string> &files,
                                   mlir::func::FuncOp func);
  /// Takes one tensor for each input of `func`, in order.
  static Result<SampleInputs> of(std::vector<HostTensor> inputs,
                                 mlir::func::FuncOp func);

  /// The same samples if `func` accepts their sizes, otherwise none.
  SampleInputs within(mlir::func::FuncOp func) const;
  /// The sizes that follow from the samples, by symbol.
  const TimedSizes &getSizes() const { return sizes; }

  const HostTensor *find(const std::string &name) const {
    auto it = tensors.find(name);
    return it == tensors.end() ? nullptr : &it->second;
  }
  bool empty() const { return tensors.empty(); }
  /// SHA-256 of the names, types and elements; empty if there are no samples.
  std::string digest() const;

private:
  Status check(mlir::func::FuncOp func);

  std::map<std::string, HostTensor> tensors;
  TimedSizes sizes;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_SAMPLEINPUTS_H
