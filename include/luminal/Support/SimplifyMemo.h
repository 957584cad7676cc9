//===- SimplifyMemo.h - What expressions were simplified to -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_SIMPLIFYMEMO_H
#define LUMINAL_SUPPORT_SIMPLIFYMEMO_H

namespace luminal {

/// While one lives, `Assumptions::simplify` of any thread keeps what it found,
/// and takes it from there where the same is asked again: a compile analyses a
/// kernel for each form of its schedule, and once more to write its code. The
/// end of the last one frees all of it.
class SimplifyMemo {
public:
  SimplifyMemo();
  ~SimplifyMemo();
  SimplifyMemo(const SimplifyMemo &) = delete;
  SimplifyMemo &operator=(const SimplifyMemo &) = delete;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_SIMPLIFYMEMO_H
