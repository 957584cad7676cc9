//===- Npy.cpp - Reads and writes .npy files ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Npy.h"
#include "luminal/Support/OutputFile.h"
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace luminal;

namespace {
/// Parses the header, a Python literal: a dict of strings, booleans and tuples.
class HeaderParser {
public:
  HeaderParser(std::string_view text, unsigned version)
      : version(version), text(text) {}

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

  /// Returns null, or the error text.
  const char *parse() {
    if (!eat('{'))
      return "its header is not a dict";
    bool hasDescr = false, hasOrder = false, hasShape = false;
    while (!eat('}')) {
      std::string key;
      if (!string(key) || !eat(':'))
        return "its header is malformed";
      if (key == "descr" && !hasDescr) {
        hasDescr = string(descr);
        if (!hasDescr)
          return "its element type is structured or malformed";
      } else if (key == "fortran_order" && !hasOrder) {
        hasOrder = boolean(fortranOrder);
        if (!hasOrder)
          return "fortran_order is neither True nor False";
      } else if (key == "shape" && !hasShape) {
        hasShape = tuple(shape);
        if (!hasShape)
          return "its shape is not a tuple of sizes";
      } else {
        return "its header has an unknown or repeated key";
      }
      if (!eat(',') && !at('}'))
        return "its header is malformed";
    }
    skip();
    if (!text.empty())
      return "its header has text after the dict";
    if (!hasDescr || !hasOrder || !hasShape)
      return "its header lacks descr, fortran_order or shape";
    return nullptr;
  }

private:
  void skip() {
    while (!text.empty() &&
           (text[0] == ' ' || text[0] == '\n' || text[0] == '\t'))
      text.remove_prefix(1);
  }
  bool at(char c) {
    skip();
    return !text.empty() && text[0] == c;
  }
  bool eat(char c) {
    if (!at(c))
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool string(std::string &out) {
    skip();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return false;
    size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return out.find('\\') == std::string::npos;
  }
  bool boolean(bool &out) {
    skip();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(0, word.size()) == word) {
        text.remove_prefix(word.size());
        out = value;
        return true;
      }
    }
    return false;
  }
  /// Parses a decimal integer as Python does: single underscores between
  /// digits, no leading zero except in zero itself. Python 2 wrote some with a
  /// suffix L, which NumPy still reads in the first two versions of the format.
  bool size(int64_t &out) {
    skip();
    out = 0;
    size_t digits = 0;
    bool leadingZero = false;
    auto atDigit = [&] {
      return !text.empty() && text[0] >= '0' && text[0] <= '9';
    };
    for (; !text.empty(); text.remove_prefix(1)) {
      if (text[0] == '_' && digits != 0) {
        text.remove_prefix(1);
        if (!atDigit())
          return false;
      }
      if (!atDigit())
        break;
      leadingZero |= digits == 0 && text[0] == '0';
      if (__builtin_mul_overflow(out, 10, &out) ||
          __builtin_add_overflow(out, text[0] - '0', &out))
        return false;
      ++digits;
    }
    if (version <= 2 && digits != 0)
      eat('L');
    return digits != 0 && !(leadingZero && out != 0);
  }
  bool tuple(std::vector<int64_t> &out) {
    if (!eat('('))
      return false;
    bool comma = false;
    while (!eat(')')) {
      int64_t value;
      if (out.size() == 64 || !size(value))
        return false;
      out.push_back(value);
      comma = eat(',');
      if (!comma && !at(')'))
        return false;
    }
    // `(3)` is an integer in parentheses, not a tuple.
    return out.size() != 1 || comma;
  }

  const unsigned version;
  std::string_view text;
};

/// The element type of a NumPy type code without its byte order; std::nullopt
/// if unknown.
std::optional<DType> dtypeOfCode(std::string_view code,
                                 std::optional<DType> expected) {
  constexpr std::pair<std::string_view, DType> codes[] = {
      {"f4", DType::F32}, {"f2", DType::F16}, {"f8", DType::F64},
      {"i4", DType::I32}, {"i8", DType::I64}, {"b1", DType::I1},
      {"i1", DType::I8},  {"u1", DType::U8},  {"V2", DType::BF16},
      {"i2", DType::I16}, {"u4", DType::U32}};
  for (auto [name, dtype] : codes)
    if (name == code)
      return dtype;
  // Libraries without a bf16 type write it as uint16.
  if (code == "u2")
    return expected == DType::BF16 ? DType::BF16 : DType::U16;
  // f8 types have no NumPy code: one byte of void is read as the expected type.
  if (code == "V1" && (expected == DType::F8E4M3 || expected == DType::F8E5M2))
    return expected;
  return std::nullopt;
}

std::string_view codeOf(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "<f4";
  case DType::F16:
    return "<f2";
  case DType::BF16:
    return "|V2";
  case DType::F64:
    return "<f8";
  case DType::I32:
    return "<i4";
  case DType::I64:
    return "<i8";
  case DType::I1:
    return "|b1";
  case DType::I8:
    return "|i1";
  case DType::U8:
    return "|u1";
  case DType::I16:
    return "<i2";
  case DType::U16:
    return "<u2";
  case DType::U32:
    return "<u4";
  case DType::F8E4M3:
  case DType::F8E5M2:
    return "|V1";
  }
  return "";
}

/// Copies column-major elements to row-major order.
void transpose(const uint8_t *in, uint8_t *out,
               const std::vector<int64_t> &shape, unsigned size,
               int64_t count) {
  std::vector<int64_t> index(shape.size()), strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  int64_t from = 0;
  for (int64_t to = 0; to < count; ++to) {
    std::memcpy(out + to * size, in + from * size, size);
    for (size_t i = shape.size(); i-- > 0;) {
      from += strides[i];
      if (++index[i] < shape[i])
        break;
      from -= strides[i] * shape[i];
      index[i] = 0;
    }
  }
}
} // namespace

Result<HostTensor> luminal::readNpy(const std::string &path,
                                    std::optional<DType> expected) {
  LUMINAL_TRY(bytes, mapFile(path));
  return readNpyBytes(std::move(bytes), path, expected);
}

Result<HostTensor> luminal::readNpyBytes(Bytes bytes, const std::string &name,
                                         std::optional<DType> expected) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (bytes.size < 10 || bytes.text().substr(0, magic.size()) != magic)
    return Error(name + ": is not an .npy file");
  const uint8_t major = bytes.data[6];
  if (major < 1 || major > 3)
    return Error(name + ": has version " + std::to_string(major) +
                 " of the .npy format");
  uint64_t start = major == 1 ? 10 : 12, length = 0;
  if (bytes.size < start)
    return Error(name + ": is truncated");
  for (uint64_t i = 8; i < start; ++i)
    length |= uint64_t(bytes.data[i]) << (8 * (i - 8));
  if (length > bytes.size - start)
    return Error(name + ": is truncated in its header");
  // The maximum header length in format version 1.0.
  constexpr uint64_t mostHeader = 0xffff;
  if (length > mostHeader)
    return Error(name + ": its header has " + std::to_string(length) +
                 " bytes, more than the limit of " +
                 std::to_string(mostHeader));
  HeaderParser header(bytes.text().substr(start, length), major);
  if (const char *reason = header.parse())
    return Error(name + ": " + reason);

  std::string_view code = header.descr;
  char order = '=';
  if (!code.empty() &&
      std::string_view("<>=|").find(code[0]) != std::string_view::npos) {
    order = code[0];
    code.remove_prefix(1);
  }
  std::optional<DType> dtype = dtypeOfCode(code, expected);
  if (!dtype)
    return Error(name + ": its element type '" + header.descr +
                 "' is not supported");
  if (order == '>' && dtypeSize(*dtype) > 1)
    return Error(name + ": is big-endian");

  HostTensor tensor{"", *dtype, header.shape, {}};
  std::optional<int64_t> size = tensorBytes(*dtype, tensor.shape);
  uint64_t present = bytes.size - start - length;
  if (!size || static_cast<uint64_t>(*size) != present)
    return Error(name + ": its header says " + typeText(tensor) +
                 ", but it holds " + std::to_string(present) +
                 " bytes of data");
  Bytes data = bytes;
  data.data = bytes.data + start + length;
  data.size = present;
  data.fileOffset.reset();
  if (*dtype == DType::I1)
    for (uint64_t i = 0; i < data.size; ++i)
      if (data.data[i] > 1)
        return Error(name + ": element " + std::to_string(i) +
                     " of a boolean array is " + std::to_string(data.data[i]));
  if (header.fortranOrder && tensor.shape.size() > 1 && data.size > 0) {
    uint8_t *out = allocateTensor(tensor);
    if (!out)
      return Error(name + ": out of memory");
    transpose(data.data, out, tensor.shape, dtypeSize(*dtype),
              tensor.numElements());
  } else {
    tensor.bytes = data;
  }
  if (expected == DType::BF16 && *dtype == DType::F32) {
    std::optional<HostTensor> rounded = toBF16(tensor);
    if (!rounded)
      return Error(name + ": out of memory");
    return std::move(*rounded);
  }
  return tensor;
}

Status luminal::writeNpy(const std::string &path, const HostTensor &tensor) {
  std::string header = "{'descr': '" + std::string(codeOf(tensor.dtype)) +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    header += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  header += tensor.shape.size() == 1 ? ",), }" : "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > 0xffff)
    return Error(path + ": has too many dims for an .npy file");
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 255);
  start += static_cast<char>(header.size() >> 8);
  return writeFileAtomically(path, {start, header, tensor.bytes.text()});
}
