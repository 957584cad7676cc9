//===- SizeProgram.cpp - Straight-line code for all sizes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SizeProgram.h"
#include <algorithm>
#include <cassert>

using namespace luminal;
using namespace luminal::runtime;

SizeProgram::SizeProgram(std::vector<std::string> symbols)
    : symbols(std::move(symbols)) {}

SizeProgram::Slot SizeProgram::push(Instruction instruction) {
  code.push_back(instruction);
  return static_cast<Slot>(code.size() - 1);
}

SizeProgram::Slot SizeProgram::add(const Expr &e) {
  if (auto it = known.find(e); it != known.end())
    return it->second;
  Instruction instruction{e.kind()};
  Slot slot;
  if (std::optional<int64_t> value = e.asConstant()) {
    instruction.constant = *value;
    slot = push(instruction);
  } else if (std::optional<std::string_view> name = e.asSymbol()) {
    auto it = std::lower_bound(symbols.begin(), symbols.end(), *name);
    assert(it != symbols.end() && *it == *name && "unknown symbol");
    instruction.a = static_cast<Slot>(it - symbols.begin());
    slot = push(instruction);
  } else {
    const std::vector<Expr> &operands = e.operands();
    assert(operands.size() >= 2 && !e.hasDims() && "no size");
    slot = add(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i) {
      instruction.a = slot;
      instruction.b = add(operands[i]);
      slot = push(instruction);
    }
  }
  known.emplace(e, slot);
  return slot;
}

void SizeProgram::run(const int64_t *values, Value *slots) const {
  for (size_t i = 0; i < code.size(); ++i) {
    const Instruction &in = code[i];
    Value &out = slots[i];
    out.valid = true;
    if (in.kind == Expr::Kind::Constant) {
      out.value = in.constant;
      continue;
    }
    if (in.kind == Expr::Kind::Symbol) {
      out.value = values[in.a];
      continue;
    }
    const Value a = slots[in.a], b = slots[in.b];
    if (!a.valid || !b.valid) {
      out.valid = false;
      continue;
    }
    switch (in.kind) {
    case Expr::Kind::Add:
      out.valid = !__builtin_add_overflow(a.value, b.value, &out.value);
      break;
    case Expr::Kind::Mul:
      out.valid = !__builtin_mul_overflow(a.value, b.value, &out.value);
      break;
    case Expr::Kind::FloorDiv:
    case Expr::Kind::Mod: {
      if (b.value == 0 || (b.value == -1 && a.value == INT64_MIN)) {
        out.valid = false;
        break;
      }
      // Rounds toward minus infinity; C++ rounds toward zero.
      int64_t quotient = a.value / b.value, rest = a.value % b.value;
      if (rest != 0 && (rest < 0) != (b.value < 0)) {
        --quotient;
        rest += b.value;
      }
      out.value = in.kind == Expr::Kind::Mod ? rest : quotient;
      break;
    }
    case Expr::Kind::Max:
      out.value = std::max(a.value, b.value);
      break;
    case Expr::Kind::Min:
      out.value = std::min(a.value, b.value);
      break;
    default:
      out.valid = false;
    }
  }
}
