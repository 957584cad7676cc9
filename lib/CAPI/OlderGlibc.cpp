//===- OlderGlibc.cpp - A function that older glibc lacks -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wheel's library links libstdc++ statically, whose std::random_device uses
// this function of glibc 2.36. Defining it here lets the wheel install on glibc
// 2.35. utils/dev/wheel_symbols.py checks this limit.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" uint32_t arc4random() noexcept {
  uint32_t bits;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    std::abort(); // never happens for so few bytes once the kernel has started
  return bits;
}
