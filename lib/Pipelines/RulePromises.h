//===- RulePromises.h - What rules of a user promise, on samples ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_RULEPROMISES_H
#define LUMINAL_LIB_PIPELINES_RULEPROMISES_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace luminal {

/// Warns of each rule in a file (.mlir) whose right side computes something
/// else than it promises: the left side is made a program of sampled tensors,
/// the engine applies the rule to it, and the interpreter computes both. Takes
/// at most so many seconds, after which the rule in hand is finished; what was
/// found is kept in `folder` (empty: in the user's cache), by the file's
/// digest. A range of operands is one, else two, else none. For a rule that
/// cannot be sampled (attributes of any value, natives that refuse samples, no
/// time left), a remark of the category `rule-promises` says why.
void samplePromises(mlir::MLIRContext &context, llvm::StringRef file,
                    const std::string &folder, double seconds);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_RULEPROMISES_H
