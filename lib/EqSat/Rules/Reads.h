//===- Reads.h - Access of natives to the graph -----------------*- C++ -*-===//
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of native functions that read the graph below their arguments,
// through views, and that add nodes.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_EQSAT_RULES_READS_H
#define LUMINAL_LIB_EQSAT_RULES_READS_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/EqSat/Patterns/RuleSets.h"

namespace luminal::eqsat {

/// A value that is read through a map.
struct Read {
  ClassId cls;
  hlir::MapAttr map;
  bool operator==(const Read &other) const {
    return cls == other.cls && map == other.map;
  }
};

class ViewReader {
public:
  explicit ViewReader(const MatchContext &c) : c(c), context(c.getContext()) {}

  /// All sources of `read`: itself, then what it reads through any number of
  /// views.
  llvm::SmallVector<Read> getSources(Read read, const Assumptions &space) const;
  /// The expression whose values `read` holds, if it is an iota.
  std::optional<Expr> getIndex(Read read, const Assumptions &space) const;
  /// The number that every element equals; nullopt if unknown or NaN.
  std::optional<double> getNumber(ClassId cls) const;
  Read compose(const Read &read, const MatchedOp &view) const;

  bool isOfType(ClassId cls, bool (*test)(mlir::Type)) const {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(c.typeOf(cls));
    return type && test(type.getElementType());
  }

protected:
  const MatchContext &c;
  mlir::MLIRContext *context;
};

inline mlir::Type elementOf(const MatchContext &c, ClassId cls) {
  return mlir::cast<mlir::RankedTensorType>(c.typeOf(cls)).getElementType();
}
inline llvm::SmallVector<Expr> extentsOf(const MatchContext &c, ClassId cls) {
  return hlir::getExtents(mlir::cast<mlir::RankedTensorType>(c.typeOf(cls)));
}

/// Adds nodes. The result is kNone if an operand is.
class NodeMaker {
public:
  explicit NodeMaker(MatchContext &c) : c(c), b(c.getContext()) {}

  ClassId make(llvm::StringRef name,
               llvm::ArrayRef<mlir::NamedAttribute> attributes,
               llvm::ArrayRef<Expr> shape, mlir::Type element,
               llvm::ArrayRef<ClassId> operands) {
    return llvm::is_contained(operands, ClassId(kNone))
               ? ClassId(kNone)
               : c.create(name, b.getDictionaryAttr(attributes),
                          hlir::getTensorType(shape, element), operands);
  }

protected:
  MatchContext &c;
  mlir::Builder b;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_RULES_READS_H
