//===- RulePromises.h - Checks the promises of user rules -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_RULEPROMISES_H
#define LUMINAL_LIB_PIPELINES_RULEPROMISES_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace luminal {

/// Tests the rules of a file (.mlir) on samples, and warns of each rule whose
/// right side computes something else than it promises. The left side is turned
/// into a program of sampled tensors, the engine applies the rule to it, and
/// the interpreter evaluates both sides. Takes about `seconds` in total: the
/// rule under test when they have passed is finished. Results are cached in
/// `folder` (empty: the user's cache) by the digest of the file. A range of
/// operands is sampled with one operand, if that fails with two, then with
/// none. For a rule that cannot be sampled (attributes of any value, natives
/// that reject the samples, no time left), a remark of the category
/// `rule-promises` gives the reason.
void samplePromises(mlir::MLIRContext &context, llvm::StringRef file,
                    const std::string &folder, double seconds);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_RULEPROMISES_H
