//===- SizeProgram.h - Straight-line code for all sizes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles expressions to straight-line code over numbered slots with shared
// common subexpressions, so that new dims cost microseconds and no allocation.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_SIZEPROGRAM_H
#define LUMINAL_LIB_RUNTIME_SIZEPROGRAM_H

#include "luminal/Support/Expr.h"
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminal::runtime {

/// A compiled list of expressions.
class SizeProgram {
public:
  using Slot = uint32_t;

  /// `symbols` are sorted by name; `run` takes their values in this order.
  explicit SizeProgram(std::vector<std::string> symbols = {});

  /// Returns the slot for the value of `e`, which has no dims and uses only
  /// symbols of this program.
  Slot add(const Expr &e);
  size_t numSlots() const { return code.size(); }

  struct Value {
    int64_t value = 0;
    /// False after an overflow or a division by zero.
    bool valid = false;
  };
  /// Computes all slots; `slots` has numSlots() elements.
  void run(const int64_t *symbols, Value *slots) const;

private:
  struct Instruction {
    Expr::Kind kind;
    Slot a = 0, b = 0;
    int64_t constant = 0;
  };
  struct Hash {
    size_t operator()(const Expr &e) const { return e.hash(); }
  };
  Slot push(Instruction instruction);

  std::vector<std::string> symbols;
  std::vector<Instruction> code;
  std::unordered_map<Expr, Slot, Hash> known;
};

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_SIZEPROGRAM_H
