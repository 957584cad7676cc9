//===- Launch.h - How the code of a step is started -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes how the runtime starts one step (docs/Architecture.md). Each kind
// of launch is a struct in the target's own terms: for a kernel, for a library
// (which needs no generated code) or for a user's function. `visit` enumerates
// the fields of a struct with their names in the manifest, so that parser,
// printer, verifier and size evaluation treat all targets alike.
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

/// A CPU kernel that is called for each chunk of the work range.
struct CPULaunch {
  static constexpr std::string_view kTarget = "cpu";
  static constexpr std::string_view kLibrary = "";
  /// Extent of the work range; smallest chunk worth a separate thread (at least
  /// 1); scratch bytes per thread.
  Expr work = 1, grain = 1, scratch = 0;
  /// If false, one call does all the work.
  bool parallel = true;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("grain", self.grain);
    fn("scratch", self.scratch);
    fn("parallel", self.parallel);
  }
};

/// A CUDA kernel, launched as a grid of thread blocks.
struct CUDALaunch {
  static constexpr std::string_view kTarget = "cuda";
  static constexpr std::string_view kLibrary = "";
  /// Work items (0: the step is not launched); thread blocks; bytes of dynamic
  /// shared memory per block.
  Expr work = 1, grid = 1, shared = 0;
  /// Threads per block.
  int64_t block = 1;

  template <typename Self, typename Fn>
  static void visit(Self &self, Fn fn) {
    fn("work", self.work);
    fn("grid", self.grid);
    fn("block", self.block);
    fn("shared", self.shared);
  }
};

/// Position of the elements (b, i, j) of a batch of matrices in a buffer, in
/// elements: offset + batch * b + row * i + column * j.
struct MatrixPlace {
  Expr offset = 0, batch = 0, row = 0, column = 0;
};

/// A matrix product by cuBLASLt (the op llir.cublaslt_matmul defines it).
/// Buffers of the step: lhs, rhs, the addend and the bias if present, the
/// result, the workspace.
struct CublasLtLaunch {
  static constexpr std::string_view kTarget = "cuda";
  static constexpr std::string_view kLibrary = "cublaslt";
  /// Elements of the result, batch * rows * columns; 0: nothing is done.
  Expr work = 1;
  Expr batch = 1, rows = 1, columns = 1, inner = 1;
  MatrixPlace lhs, rhs, addendPlace, result;
  /// Element type of lhs and rhs; element type of all other buffers.
  DType type = DType::F32, resultType = DType::F32;
  double alpha = 1;
  bool addend = false, bias = false;
  /// "none", "relu" or "gelu_tanh".
  std::string epilogue = "none";
  /// Bytes of the workspace buffer.
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

/// User code: the function `entry` of the artifact's member `code`, which holds
/// a shared object, PTX or a cubin. `values` are integers that are passed to it
/// beside its buffers.
struct CustomCode {
  static constexpr std::string_view kLibrary = "custom";
  std::string code, entry;
  std::vector<Expr> values;
};

/// A user function on the CPU, called for each chunk of the work range like the
/// kernel of a CPULaunch. `values` take the place of the symbols.
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

/// A user function on the GPU, launched as a grid of thread blocks.
struct CUDACustomLaunch : CustomCode {
  static constexpr std::string_view kTarget = "cuda";
  /// Total number of blocks (0: nothing is launched); blocks along each axis;
  /// bytes of dynamic shared memory per block.
  Expr work = 1, gridX = 1, gridY = 1, gridZ = 1, shared = 0;
  /// Threads per block along each axis.
  int64_t blockX = 1, blockY = 1, blockZ = 1;
  /// The function's parameters in order, in the syntax of parseParameters.
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

/// The runtime's sort of rows into positions (the op llir.argsort defines it).
/// Buffers of the step: the rows and the positions.
struct CPUArgsortLaunch {
  static constexpr std::string_view kTarget = "cpu";
  static constexpr std::string_view kLibrary = "argsort";
  /// Number of positions, rows * count; 0: nothing is done.
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

/// The runtime's running sum, product, extremum or log-sum-exp along the middle
/// one of three dims (the op llir.scan defines it). Buffers of the step: the
/// elements and the result.
struct CPUScanLaunch {
  static constexpr std::string_view kTarget = "cpu";
  static constexpr std::string_view kLibrary = "scan";
  /// Number of elements, outer * length * inner; 0: nothing is done.
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

/// One parameter of a user function on a GPU.
struct Parameter {
  enum class Kind : uint8_t { Buffer, I32, I64 };
  Kind kind = Kind::Buffer;
  /// Index into the step's buffers, or into the launch's `values`.
  uint32_t index = 0;
};

/// Parses words that are separated by single spaces: `bN` is the address of
/// buffer N; `i32` and `i64` take the next of `values` as an integer of that
/// width. Fails if N is not below `buffers`, or if not all values are used.
Result<std::vector<Parameter>> parseParameters(std::string_view text,
                                               size_t buffers, size_t values);

using LaunchSpec =
    std::variant<CPULaunch, CUDALaunch, CublasLtLaunch, CPUCustomLaunch,
                 CUDACustomLaunch, CPUArgsortLaunch, CPUScanLaunch>;

/// The user code that a launch starts; null if it starts none.
const CustomCode *getCustomCode(const LaunchSpec &launch);

/// Whether `name` is a valid name of an artifact member with user code: a file
/// in the folder `custom`.
bool isCustomMember(std::string_view name);

/// A default launch of a target's kernels or of one of its libraries;
/// std::nullopt if there is no such launch.
std::optional<LaunchSpec> makeLaunch(std::string_view target,
                                     std::string_view library = {});

/// The library that executes the step; "custom" for user code, empty for a
/// kernel.
std::string_view getLibraryName(const LaunchSpec &launch);

/// The target that a launch belongs to.
std::string_view getTargetName(const LaunchSpec &launch);

/// Calls fn(name, field) for each field. A field is an Expr, a
/// std::vector<Expr>, an int64_t, a bool, a double, a DType or a std::string.
template <typename Spec, typename Fn>
void visitFields(Spec &launch, Fn fn) {
  std::visit(
      [&](auto &self) {
        std::remove_cvref_t<decltype(self)>::visit(
            self, [&](std::string_view name, auto &field) { fn(name, field); });
      },
      launch);
}

/// Calls fn(name, expression) for each Expr among the fields, in order.
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

/// Checks the constant fields of a launch; for a library, against what it
/// supports. `buffers` counts all buffers of the step, the last of which are
/// `results` results followed by `workspace` workspace buffers.
Status verifyLaunch(const LaunchSpec &launch, size_t buffers, size_t results,
                    size_t workspace);

/// Checks that a library step stays inside its buffers, whose sizes are
/// `bytes`. `values` are the values of the launch's expressions in order; none
/// is negative.
Status checkSizes(const LaunchSpec &launch, std::span<const int64_t> values,
                  std::span<const uint64_t> bytes);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_LAUNCH_H
