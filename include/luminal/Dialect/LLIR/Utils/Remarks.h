//===- Remarks.h - What a pass decided, for the people who ask ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions that passes report through Reporter.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_REMARKS_H
#define LUMINAL_DIALECT_LLIR_UTILS_REMARKS_H

#include "luminal/Dialect/HLIR/Utils/Reporter.h"

namespace luminal {

/// The name of an op without its dialect, with the scalar function of an
/// elementwise one and the kind of a kernel: `elementwise exp`, `kernel map`.
std::string describe(mlir::Operation *op);
/// The same with its place: `elementwise exp at model.py:3:4`.
std::string describeWithPlace(mlir::Operation *op);

/// Whether something is done and, if not, why: returned by checks, so that the
/// remark reports the decision and nothing is analysed again. Text is formatted
/// only on demand.
class [[nodiscard]] DecisionBase {
public:
  /// True where it is done.
  explicit operator bool() const { return reason.empty(); }
  /// The reason of a refusal, with its quantities.
  std::string str() const;

protected:
  explicit DecisionBase(llvm::StringRef reason) : reason(reason) {}

  llvm::StringRef reason;
  /// The quantity found, and its limit.
  std::optional<std::pair<double, double>> amount;
};

/// A decision about `Subject`, a pointer to what it depends on; null where that
/// is not a single object.
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
  /// Refuses because a quantity is `found` where at most `limit` is allowed.
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
