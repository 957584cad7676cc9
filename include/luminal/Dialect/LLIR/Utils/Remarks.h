//===- Remarks.h - Remarks about kernels ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes ops and decisions for the remarks that passes report through
// Reporter.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_REMARKS_H
#define LUMINAL_DIALECT_LLIR_UTILS_REMARKS_H

#include "luminal/Dialect/HLIR/Utils/Reporter.h"

namespace luminal {

/// Returns the name of an op without its dialect, with the scalar function of
/// an elementwise op or the kind of a kernel: `elementwise exp`, `kernel map`.
std::string describe(mlir::Operation *op);
/// Returns the same with the op's location: `elementwise exp at model.py:3:4`.
std::string describeWithPlace(mlir::Operation *op);

/// The result of a check: accepted, or refused with a reason. The remark
/// reports the decision as it is, so nothing is analysed twice. The reason is
/// formatted only on demand.
class [[nodiscard]] DecisionBase {
public:
  /// True if accepted.
  explicit operator bool() const { return reason.empty(); }
  /// Returns the reason of a refusal, with its quantities.
  std::string str() const;

protected:
  explicit DecisionBase(llvm::StringRef reason) : reason(reason) {}

  llvm::StringRef reason;
  /// The quantity found, and its limit.
  std::optional<std::pair<double, double>> amount;
};

/// A decision that may name its `Subject`, a pointer to the object that decided
/// it; null if that is not a single object.
template <typename Subject>
class [[nodiscard]] DecisionAbout : public DecisionBase {
public:
  static DecisionAbout accept(Subject subject = nullptr) {
    return DecisionAbout({}, subject);
  }
  static DecisionAbout refuse(llvm::StringLiteral reason,
                              Subject subject = nullptr) {
    return DecisionAbout(reason, subject);
  }
  /// Refuses because a quantity is `found`, and at most `limit` is allowed.
  static DecisionAbout refuseAbove(llvm::StringLiteral reason, double found,
                                   double limit, Subject subject = nullptr) {
    DecisionAbout decision(reason, subject);
    decision.amount = {found, limit};
    return decision;
  }

  Subject getSubject() const { return subject; }

private:
  DecisionAbout(llvm::StringRef reason, Subject subject)
      : DecisionBase(reason), subject(subject) {}

  Subject subject;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_UTILS_REMARKS_H
