//===- Launch.h - How the code of a step is started -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest states each step's launch in the terms of the artifact's target
// (docs/Architecture.md). A launch lists its fields once, by the name that they
// have in the manifest; whatever reads, prints, checks or evaluates them does
// so for every target alike.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_LAUNCH_H
#define LUMINAL_RUNTIME_LAUNCH_H

#include "luminal/Support/Expr.h"
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

namespace luminal::runtime {

/// A call of the kernel for each part of the work range.
struct CPULaunch {
  static constexpr std::string_view kTarget = "cpu";
  /// The extent of the work range; the smallest part worth a separate thread
  /// (at least 1); scratch bytes of one thread.
  Expr work = 1, grain = 1, scratch = 0;
  /// False: one call does all the work.
  bool parallel = true;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("grain", self.grain);
    fn("scratch", self.scratch);
    fn("parallel", self.parallel);
  }
};

/// A grid of thread blocks.
struct CUDALaunch {
  static constexpr std::string_view kTarget = "cuda";
  /// Units of work (0: the step is not launched); blocks; bytes of dynamic
  /// shared memory of a block.
  Expr work = 1, grid = 1, shared = 0;
  /// Threads of a block.
  int64_t block = 1;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("grid", self.grid);
    fn("block", self.block);
    fn("shared", self.shared);
  }
};

using LaunchSpec = std::variant<CPULaunch, CUDALaunch>;

/// The launch of a target with default values; std::nullopt where no target has
/// this name.
std::optional<LaunchSpec> makeLaunch(std::string_view target);

/// The name of the target that a launch belongs to.
std::string_view getTargetName(const LaunchSpec &launch);

/// Calls fn(name, field) for each field; a field is an Expr, an int64_t or a
/// bool.
template <typename Spec, typename Fn>
void visitFields(Spec &launch, Fn fn) {
  std::visit(
      [&](auto &self) {
        std::remove_cvref_t<decltype(self)>::visit(
            self, [&](std::string_view name, auto &field) { fn(name, field); });
      },
      launch);
}

/// Calls fn(name, expression) for each field that is an expression, in order.
template <typename Fn>
void visitExprs(const LaunchSpec &launch, Fn fn) {
  visitFields(launch, [&](std::string_view name, const auto &field) {
    if constexpr (std::is_same_v<decltype(field), const Expr &>)
      fn(name, field);
  });
}

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_LAUNCH_H
