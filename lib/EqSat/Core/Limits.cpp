//===- Limits.cpp - The limits of a saturation ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Limits.h"

#include <charconv>

using namespace luminal::eqsat;

template <typename T>
static bool read(std::string_view text, T &number) {
  const char *end = text.data() + text.size();
  T read;
  auto [next, error] = std::from_chars(text.data(), end, read);
  // Not negative, and not NaN.
  if (error != std::errc() || next != end || !(read >= 0))
    return false;
  number = read;
  return true;
}

bool Limits::set(std::string_view name, std::string_view value) {
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  if (name == NAME)                                                            \
    return read(value, FIELD);
#include "luminal/EqSat/Core/Limits.def"
  return false;
}
