//===- Limits.h - The limits of a saturation ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_CORE_LIMITS_H
#define LUMINAL_EQSAT_CORE_LIMITS_H

#include <cstdint>
#include <string_view>

namespace luminal::eqsat {

struct Limits {
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  TYPE FIELD = DEFAULT;
#include "luminal/EqSat/Core/Limits.def"

  /// Sets the limit called `name` to the number written in `value`. False if
  /// there is no such limit, or `value` is not a number that the limit allows.
  bool set(std::string_view name, std::string_view value);
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_LIMITS_H
