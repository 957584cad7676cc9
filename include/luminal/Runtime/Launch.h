//===- Launch.h - How the code of a step is started -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest states each step's launch in the terms of the artifact's target
// (docs/Architecture.md): that of a kernel, or what a library of the target is
// told, which needs no code, or code of a user. A launch lists its fields once,
// by the name that they have in the manifest; whatever reads, prints, checks or
// evaluates them does so for every target alike.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_LAUNCH_H
#define LUMINAL_RUNTIME_LAUNCH_H

#include "luminal/Support/DType.h"
#include "luminal/Support/Expr.h"
#include "luminal/Support/Result.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace luminal::runtime {

/// A call of the kernel for each part of the work range.
struct CPULaunch {
  static constexpr std::string_view kTarget = "cpu";
  static constexpr std::string_view kLibrary = "";
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
  static constexpr std::string_view kLibrary = "";
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

/// Where the elements (b, i, j) of a matrix lie in a buffer, in elements:
/// offset + batch * b + row * i + column * j.
struct MatrixPlace {
  Expr offset = 0, batch = 0, row = 0, column = 0;
};

/// A matrix product by cuBLASLt (llir.cublaslt_matmul says what it computes).
/// The buffers of the step are lhs, rhs, the addend and the bias where there
/// are such, the result, and the workspace.
struct CublasLtLaunch {
  static constexpr std::string_view kTarget = "cuda";
  static constexpr std::string_view kLibrary = "cublaslt";
  /// Elements of the result (0: nothing is done); batch * rows * columns.
  Expr work = 1;
  Expr batch = 1, rows = 1, columns = 1, inner = 1;
  MatrixPlace lhs, rhs, addendPlace, result;
  /// Of lhs and rhs; of all others.
  DType type = DType::F32, resultType = DType::F32;
  double alpha = 1;
  bool addend = false, bias = false;
  /// "none", "relu" or "gelu_tanh".
  std::string epilogue = "none";
  /// Bytes of the workspace.
  int64_t workspace = 0;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("batch", self.batch);
    fn("rows", self.rows);
    fn("columns", self.columns);
    fn("inner", self.inner);
    fn("lhs_offset", self.lhs.offset);
    fn("lhs_batch", self.lhs.batch);
    fn("lhs_row", self.lhs.row);
    fn("lhs_column", self.lhs.column);
    fn("rhs_offset", self.rhs.offset);
    fn("rhs_batch", self.rhs.batch);
    fn("rhs_row", self.rhs.row);
    fn("rhs_column", self.rhs.column);
    fn("addend_offset", self.addendPlace.offset);
    fn("addend_batch", self.addendPlace.batch);
    fn("addend_row", self.addendPlace.row);
    fn("addend_column", self.addendPlace.column);
    fn("result_offset", self.result.offset);
    fn("result_batch", self.result.batch);
    fn("result_row", self.result.row);
    fn("result_column", self.result.column);
    fn("type", self.type);
    fn("result_type", self.resultType);
    fn("alpha", self.alpha);
    fn("addend", self.addend);
    fn("bias", self.bias);
    fn("epilogue", self.epilogue);
    fn("workspace", self.workspace);
  }
};

/// Code of a user: the function `entry` of the artifact's member `code`, which
/// holds a shared object, PTX or a cubin. `values` are the integers that it is
/// given besides its buffers.
struct CustomCode {
  static constexpr std::string_view kLibrary = "custom";
  std::string code, entry;
  std::vector<Expr> values;
};

/// A call of a user's function for each part of the work range, as CPULaunch;
/// it finds `values` where a kernel finds the symbols.
struct CPUCustomLaunch : CustomCode {
  static constexpr std::string_view kTarget = "cpu";
  Expr work = 1, grain = 1, scratch = 0;
  bool parallel = true;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("grain", self.grain);
    fn("scratch", self.scratch);
    fn("values", self.values);
    fn("parallel", self.parallel);
    fn("code", self.code);
    fn("entry", self.entry);
  }
};

/// A grid of thread blocks that runs a user's function.
struct CUDACustomLaunch : CustomCode {
  static constexpr std::string_view kTarget = "cuda";
  /// Blocks in all (0: nothing is launched) and along each axis; bytes of
  /// dynamic shared memory of a block.
  Expr work = 1, gridX = 1, gridY = 1, gridZ = 1, shared = 0;
  /// Threads of a block along each axis.
  int64_t blockX = 1, blockY = 1, blockZ = 1;
  /// What the function takes, in order, as parseParameters reads it.
  std::string parameters;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("grid_x", self.gridX);
    fn("grid_y", self.gridY);
    fn("grid_z", self.gridZ);
    fn("shared", self.shared);
    fn("values", self.values);
    fn("block_x", self.blockX);
    fn("block_y", self.blockY);
    fn("block_z", self.blockZ);
    fn("parameters", self.parameters);
    fn("code", self.code);
    fn("entry", self.entry);
  }
};

/// The positions of the elements of rows in order (llir.argsort says what it
/// computes), by the runtime. The buffers of the step are the rows and the
/// positions.
struct CPUArgsortLaunch {
  static constexpr std::string_view kTarget = "cpu";
  static constexpr std::string_view kLibrary = "argsort";
  /// Positions (0: nothing is done); rows * count.
  Expr work = 1;
  Expr rows = 1, length = 1, begin = 0, count = 1;
  DType type = DType::F32;
  bool descending = false, nanFirst = false;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("rows", self.rows);
    fn("length", self.length);
    fn("begin", self.begin);
    fn("count", self.count);
    fn("type", self.type);
    fn("descending", self.descending);
    fn("nan_first", self.nanFirst);
  }
};

/// A running sum, product or extremum along the middle one of three dims
/// (llir.scan says what it computes), by the runtime. The buffers of the step
/// are the elements and the result.
struct CPUScanLaunch {
  static constexpr std::string_view kTarget = "cpu";
  static constexpr std::string_view kLibrary = "scan";
  /// Elements (0: nothing is done); outer * length * inner.
  Expr work = 1;
  Expr outer = 1, length = 1, inner = 1;
  DType type = DType::F32, resultType = DType::F32;
  /// "sum", "product", "max", "min" or "log_sum_exp".
  std::string kind = "sum";
  bool reverse = false, exclusive = false, positions = false;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("outer", self.outer);
    fn("length", self.length);
    fn("inner", self.inner);
    fn("type", self.type);
    fn("result_type", self.resultType);
    fn("kind", self.kind);
    fn("reverse", self.reverse);
    fn("exclusive", self.exclusive);
    fn("positions", self.positions);
  }
};

/// A parameter of a user's function on a GPU.
struct Parameter {
  enum class Kind : uint8_t { Buffer, I32, I64 };
  Kind kind = Kind::Buffer;
  /// Which of the step's buffers, or of the launch's values.
  uint32_t index = 0;
};

/// Words between single blanks: `bN` is the address of buffer N, `i32` and
/// `i64` are the next of `values`, as an integer of so many bits. Fails where a
/// buffer is not one of `buffers`, or not all values are taken.
Result<std::vector<Parameter>> parseParameters(std::string_view text,
                                               size_t buffers, size_t values);

using LaunchSpec =
    std::variant<CPULaunch, CUDALaunch, CublasLtLaunch, CPUCustomLaunch,
                 CUDACustomLaunch, CPUArgsortLaunch, CPUScanLaunch>;

/// The user's code that a launch starts; null where it starts none.
const CustomCode *getCustomCode(const LaunchSpec &launch);

/// Whether an artifact's member of this name may hold code of a user: it is in
/// the folder `custom`.
bool isCustomMember(std::string_view name);

/// The launch of a target's kernels, or of a library of it, with default
/// values; std::nullopt where there is none of this name.
std::optional<LaunchSpec> makeLaunch(std::string_view target,
                                     std::string_view library = {});

/// The library that does the step, "custom" where that is code of a user; empty
/// for a kernel.
std::string_view getLibraryName(const LaunchSpec &launch);

/// The name of the target that a launch belongs to.
std::string_view getTargetName(const LaunchSpec &launch);

/// Calls fn(name, field) for each field; a field is an Expr, a list of them, an
/// int64_t, a bool, a double, a DType or a string.
template <typename Spec, typename Fn>
void visitFields(Spec &launch, Fn fn) {
  std::visit(
      [&](auto &self) {
        std::remove_cvref_t<decltype(self)>::visit(
            self, [&](std::string_view name, auto &field) { fn(name, field); });
      },
      launch);
}

/// Calls fn(name, expression) for each expression of the fields, in order.
template <typename Fn>
void visitExprs(const LaunchSpec &launch, Fn fn) {
  visitFields(launch, [&](std::string_view name, const auto &field) {
    if constexpr (std::is_same_v<decltype(field), const Expr &>)
      fn(name, field);
    else if constexpr (std::is_same_v<decltype(field),
                                      const std::vector<Expr> &>)
      for (const Expr &e : field)
        fn(name, e);
  });
}

/// Checks a launch whose fields are constants as far as it can be without its
/// expressions: what a library does is known. `buffers` counts all of the step,
/// of which `results` and `workspace` are the last.
Status verifyLaunch(const LaunchSpec &launch, size_t buffers, size_t results,
                    size_t workspace);

/// Checks that a step of a library stays in its buffers, of which `bytes` are
/// the sizes. `values` are those of the launch's expressions, in order; none is
/// negative.
Status checkSizes(const LaunchSpec &launch, std::span<const int64_t> values,
                  std::span<const uint64_t> bytes);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_LAUNCH_H
