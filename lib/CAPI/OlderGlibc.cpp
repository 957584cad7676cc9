//===- OlderGlibc.cpp - What an older glibc has not -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wheel's library holds libstdc++, whose std::random_device asks glibc 2.36
// for this function; with one of our own the wheel installs from 2.35 on.
// utils/wheel-symbols.py says what holds it there.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" uint32_t arc4random() noexcept {
  uint32_t bits;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    std::abort(); // never for so few bytes, once the kernel has started
  return bits;
}
