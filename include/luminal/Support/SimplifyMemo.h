//===- SimplifyMemo.h - Cache of simplified expressions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_SIMPLIFYMEMO_H
#define LUMINAL_SUPPORT_SIMPLIFYMEMO_H

namespace luminal {

/// While any SimplifyMemo lives, `Assumptions::simplify` caches its results for
/// all threads. A compilation analyzes a kernel once for each candidate
/// schedule and once more to emit code, so the same queries recur. Destroying
/// the last SimplifyMemo frees the cache.
class SimplifyMemo {
public:
  SimplifyMemo();
  ~SimplifyMemo();
  SimplifyMemo(const SimplifyMemo &) = delete;
  SimplifyMemo &operator=(const SimplifyMemo &) = delete;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_SIMPLIFYMEMO_H
