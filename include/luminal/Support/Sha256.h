//===- Sha256.h - The SHA-256 hash ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_SHA256_H
#define LUMINAL_SUPPORT_SHA256_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace luminal {

/// SHA-256 (FIPS 180-4). Call `update` any number of times, then `hex` once.
class Sha256 {
public:
  Sha256();
  void update(const void *data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// 64 lower-case hexadecimal digits.
  std::string hex();

private:
  void block(const uint8_t *data);

  std::array<uint32_t, 8> state;
  std::array<uint8_t, 64> pending;
  size_t pendingSize = 0;
  uint64_t total = 0;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_SHA256_H
