//===- Launch.cpp - How the code of a step is started ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Launch.h"
#include <algorithm>
#include <charconv>
#include <cmath>

using namespace luminal;
using namespace luminal::runtime;

template <size_t i = 0>
static std::optional<LaunchSpec> makeFrom(std::string_view target,
                                          std::string_view library) {
  if constexpr (i < std::variant_size_v<LaunchSpec>) {
    using Launch = std::variant_alternative_t<i, LaunchSpec>;
    return Launch::kTarget == target && Launch::kLibrary == library
               ? LaunchSpec(Launch())
               : makeFrom<i + 1>(target, library);
  }
  return std::nullopt;
}

std::optional<LaunchSpec> runtime::makeLaunch(std::string_view target,
                                              std::string_view library) {
  return makeFrom(target, library);
}

std::string_view runtime::getLibraryName(const LaunchSpec &launch) {
  return std::visit([](const auto &self) { return self.kLibrary; }, launch);
}

std::string_view runtime::getTargetName(const LaunchSpec &launch) {
  return std::visit([](const auto &self) { return self.kTarget; }, launch);
}

const CustomCode *runtime::getCustomCode(const LaunchSpec &launch) {
  return std::visit(
      [](const auto &self) -> const CustomCode * {
        if constexpr (std::is_base_of_v<CustomCode,
                                        std::decay_t<decltype(self)>>)
          return &self;
        return nullptr;
      },
      launch);
}

//===----------------------------------------------------------------------===//
// User code
//===----------------------------------------------------------------------===//

bool runtime::isCustomMember(std::string_view name) {
  constexpr std::string_view kFolder = "custom/";
  constexpr size_t kMostCharacters = 200;
  if (!name.starts_with(kFolder) || name.size() == kFolder.size() ||
      name.size() > kMostCharacters)
    return false;
  name.remove_prefix(kFolder.size());
  return name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.") ==
         name.npos;
}

Result<std::vector<Parameter>>
runtime::parseParameters(std::string_view text, size_t buffers, size_t values) {
  // CUDA passes at most 32,764 bytes of parameters to a kernel.
  constexpr size_t kMostParameters = 4095;
  std::vector<Parameter> parameters;
  size_t taken = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    Parameter &parameter = parameters.emplace_back();
    if (parameters.size() > kMostParameters)
      return Error("has too many parameters");
    if (word == "i32" || word == "i64") {
      parameter.kind =
          word == "i32" ? Parameter::Kind::I32 : Parameter::Kind::I64;
      parameter.index = static_cast<uint32_t>(taken++);
      continue;
    }
    const char *end = word.data() + word.size();
    auto [last, code] =
        word.starts_with('b')
            ? std::from_chars(word.data() + 1, end, parameter.index)
            : std::from_chars_result{nullptr, std::errc()};
    if (last != end || code != std::errc())
      return Error("has no parameter '" + std::string(word) +
                   "'; known are bN, i32, i64");
    if (parameter.index >= buffers)
      return Error("has a parameter '" + std::string(word) + "', but only " +
                   std::to_string(buffers) + " buffers");
  }
  if (taken != values)
    return Error("has " + std::to_string(values) + " values, but " +
                 std::to_string(taken) + " parameters for them");
  return parameters;
}

static Status verifyCode(const CustomCode &code, size_t results,
                         size_t workspace) {
  if (!isCustomMember(code.code))
    return Error("'" + code.code +
                 "' is not a valid name of a member with user code");
  if (code.entry.empty() || code.entry.find('\0') != std::string::npos)
    return Error("'" + code.entry + "' is not a valid function name");
  if (results == 0 || workspace != 0)
    return Error("a step of user code has " + std::to_string(results) +
                 " results and " + std::to_string(workspace) +
                 " of workspace, expected results and no workspace");
  return {};
}

static Status verify(const CPUCustomLaunch &launch, size_t, size_t results,
                     size_t workspace) {
  return verifyCode(launch, results, workspace);
}

static Status verify(const CUDACustomLaunch &launch, size_t buffers,
                     size_t results, size_t workspace) {
  LUMINAL_CHECK(verifyCode(launch, results, workspace));
  constexpr int64_t kMostThreads = 1024;
  int64_t threads = 1;
  for (int64_t extent : {launch.blockX, launch.blockY, launch.blockZ}) {
    if (extent < 1 || extent > kMostThreads)
      return Error("has a block of " + std::to_string(extent) + " threads");
    threads *= extent;
  }
  if (threads > kMostThreads)
    return Error("has blocks of " + std::to_string(threads) + " threads");
  LUMINAL_TRY(parameters, parseParameters(launch.parameters, buffers,
                                          launch.values.size()));
  (void)parameters;
  return {};
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

/// Generated kernels and user code need no checks: the launch does not say what
/// they do with the buffers.
template <typename Launch>
static Status verify(const Launch &, size_t, size_t, size_t) {
  return {};
}

static Status verify(const CublasLtLaunch &launch, size_t buffers,
                     size_t results, size_t workspace) {
  const bool isNarrow = launch.type == DType::F16 || launch.type == DType::BF16;
  const bool isF64 = launch.type == DType::F64;
  if (!isNarrow && !isF64 && launch.type != DType::F32)
    return Error("cuBLASLt multiplies no matrices of " +
                 std::string(dtypeName(launch.type)));
  if (launch.resultType != launch.type &&
      !(isNarrow && launch.resultType == DType::F32))
    return Error("a product of " + std::string(dtypeName(launch.type)) +
                 " cannot have a result of " +
                 std::string(dtypeName(launch.resultType)));
  if (launch.epilogue != "none" && launch.epilogue != "relu" &&
      launch.epilogue != "gelu_tanh")
    return Error("no epilogue '" + launch.epilogue + "'");
  if (isF64 && (launch.bias || launch.epilogue != "none"))
    return Error("a product of f64 has neither bias nor epilogue");
  if (!std::isfinite(launch.alpha))
    return Error("a product has a scale that is not finite");
  constexpr int64_t kMostWorkspace = int64_t(1) << 40;
  if (launch.workspace < 0 || launch.workspace > kMostWorkspace)
    return Error("no workspace of " + std::to_string(launch.workspace) +
                 " bytes");
  const size_t reads = 2 + launch.addend + launch.bias;
  const size_t own = launch.workspace > 0;
  auto text = [](size_t all, size_t written, size_t needed) {
    return std::to_string(all) + " buffers, " + std::to_string(written) +
           " results and " + std::to_string(needed) + " of workspace";
  };
  if (buffers != reads + 1 + own || results != 1 || workspace != own)
    return Error("the step has " + text(buffers, results, workspace) +
                 ", expected " + text(reads + 1 + own, 1, own));
  return {};
}

static Status verify(const CPUArgsortLaunch &launch, size_t buffers,
                     size_t results, size_t workspace) {
  switch (launch.type) {
  case DType::F16:
  case DType::BF16:
  case DType::F32:
  case DType::F64:
  case DType::I32:
  case DType::I64:
    break;
  default:
    return Error("argsort does not support " +
                 std::string(dtypeName(launch.type)));
  }
  if (buffers != 2 || results != 1 || workspace != 0)
    return Error("the step has " + std::to_string(buffers) +
                 " buffers, expected rows and positions");
  return {};
}

static Status verify(const CPUScanLaunch &launch, size_t buffers,
                     size_t results, size_t workspace) {
  auto isFloat = [](DType type) {
    return type == DType::F16 || type == DType::BF16 || type == DType::F32 ||
           type == DType::F64;
  };
  const DType from = launch.type, to = launch.resultType;
  const bool isInteger = from == DType::I32 || from == DType::I64;
  const bool isExtremum = launch.kind == "max" || launch.kind == "min";
  const bool isSum = launch.kind == "sum" || launch.kind == "product";
  if (!isExtremum && !isSum && launch.kind != "log_sum_exp")
    return Error("no scan '" + launch.kind + "'");
  const bool fits = launch.positions          ? to == DType::I64
                    : isExtremum || isInteger ? to == from
                                              : isFloat(to);
  if (!(isFloat(from) || (isInteger && (isSum || isExtremum))) || !fits)
    return Error("no scan '" + launch.kind + "' of " +
                 std::string(dtypeName(from)) + " with a result of " +
                 std::string(dtypeName(to)));
  if (launch.positions && (!isExtremum || launch.reverse || launch.exclusive))
    return Error("this scan cannot give positions");
  if (buffers != 2 || results != 1 || workspace != 0)
    return Error("the step has " + std::to_string(buffers) +
                 " buffers, expected elements and a result");
  return {};
}

Status runtime::verifyLaunch(const LaunchSpec &launch, size_t buffers,
                             size_t results, size_t workspace) {
  return std::visit(
      [&](const auto &self) {
        return verify(self, buffers, results, workspace);
      },
      launch);
}

/// Bytes up to the end of the last element of a matrix; std::nullopt if that
/// exceeds any possible memory.
static std::optional<uint64_t> getEnd(const int64_t *place, int64_t batch,
                                      int64_t rows, int64_t columns,
                                      DType type) {
  int64_t end = place[0];
  const int64_t extents[] = {batch, rows, columns};
  for (int i = 0; i < 3; ++i) {
    int64_t part;
    if (__builtin_mul_overflow(extents[i] - 1, place[i + 1], &part) ||
        __builtin_add_overflow(end, part, &end))
      return std::nullopt;
  }
  if (end >= int64_t(1) << 56)
    return std::nullopt;
  return static_cast<uint64_t>(end + 1) * dtypeSize(type);
}

template <typename Launch>
static Status check(const Launch &, std::span<const int64_t>,
                    std::span<const uint64_t>) {
  return {};
}

static Status check(const CUDACustomLaunch &, std::span<const int64_t> values,
                    std::span<const uint64_t>) {
  constexpr int64_t kMostBlocks[] = {INT32_MAX, 65535, 65535};
  int64_t work = 1;
  for (int i = 0; i < 3; ++i) {
    const int64_t blocks = values[i + 1];
    if (blocks > kMostBlocks[i])
      return Error("has a grid of " + std::to_string(blocks) +
                   " blocks along axis " + std::to_string(i));
    if (__builtin_mul_overflow(work, blocks, &work))
      return Error("has too many blocks");
  }
  return work == values[0]
             ? Status()
             : Status(Error("its work is not the number of blocks"));
}

static Status check(const CublasLtLaunch &launch,
                    std::span<const int64_t> values,
                    std::span<const uint64_t> bytes) {
  const int64_t batch = values[1], rows = values[2], columns = values[3],
                inner = values[4];
  int64_t work;
  if (__builtin_mul_overflow(batch, rows, &work) ||
      __builtin_mul_overflow(work, columns, &work) || work != values[0])
    return Error("its work is not batch * rows * columns");
  if (work == 0)
    return {};
  if (inner == 0)
    return Error("its inner extent is 0");
  size_t next = 0;
  auto fits = [&](const char *what, std::optional<uint64_t> end) {
    const uint64_t has = bytes[next++];
    return end && *end <= has ? Status()
                              : Status(Error(std::string("its ") + what +
                                             " does not end in its buffer of " +
                                             std::to_string(has) + " bytes"));
  };
  LUMINAL_CHECK(
      fits("lhs", getEnd(&values[5], batch, rows, inner, launch.type)));
  LUMINAL_CHECK(
      fits("rhs", getEnd(&values[9], batch, inner, columns, launch.type)));
  if (launch.addend)
    LUMINAL_CHECK(fits("addend", getEnd(&values[13], batch, rows, columns,
                                        launch.resultType)));
  const int64_t plain[] = {0, 0, 0, 1};
  if (launch.bias)
    LUMINAL_CHECK(
        fits("bias", getEnd(plain, 1, 1, columns, launch.resultType)));
  LUMINAL_CHECK(fits(
      "result", getEnd(&values[17], batch, rows, columns, launch.resultType)));
  if (launch.workspace > 0)
    LUMINAL_CHECK(fits("workspace", static_cast<uint64_t>(launch.workspace)));
  return {};
}

static Status check(const CPUArgsortLaunch &launch,
                    std::span<const int64_t> values,
                    std::span<const uint64_t> bytes) {
  const int64_t rows = values[1], length = values[2], begin = values[3],
                count = values[4];
  int64_t work;
  if (__builtin_mul_overflow(rows, count, &work) || work != values[0])
    return Error("its work is not rows * count");
  if (work == 0)
    return {};
  if (count > length || begin > length - count || length > int64_t(UINT32_MAX))
    return Error("cannot give " + std::to_string(count) + " positions from " +
                 std::to_string(begin) + " on, of rows of " +
                 std::to_string(length) + " elements");
  uint64_t read, written;
  if (__builtin_mul_overflow(
          uint64_t(rows), uint64_t(length) * dtypeSize(launch.type), &read) ||
      read > bytes[0] ||
      __builtin_mul_overflow(uint64_t(work), sizeof(int64_t), &written) ||
      written > bytes[1])
    return Error("its rows or positions do not end in their buffers");
  return {};
}

static Status check(const CPUScanLaunch &launch,
                    std::span<const int64_t> values,
                    std::span<const uint64_t> bytes) {
  int64_t work = 1;
  for (size_t i = 1; i < 4; ++i)
    if (__builtin_mul_overflow(work, values[i], &work))
      return Error("has too many elements");
  if (work != values[0])
    return Error("its work is not outer * length * inner");
  const std::pair<DType, uint64_t> buffers[] = {{launch.type, bytes[0]},
                                                {launch.resultType, bytes[1]}};
  for (auto [type, has] : buffers) {
    uint64_t needs;
    if (__builtin_mul_overflow(uint64_t(work), dtypeSize(type), &needs) ||
        needs > has)
      return Error("its elements do not end in their buffers");
  }
  return {};
}

Status runtime::checkSizes(const LaunchSpec &launch,
                           std::span<const int64_t> values,
                           std::span<const uint64_t> bytes) {
  return std::visit(
      [&](const auto &self) { return check(self, values, bytes); }, launch);
}
