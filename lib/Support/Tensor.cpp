//===- Tensor.cpp - A tensor in memory, as files hold it ------------------===//

#include "luminal/Support/Tensor.h"
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace luminal;

int64_t HostTensor::numElements() const {
  return static_cast<int64_t>(bytes.size / dtypeSize(dtype));
}

std::optional<int64_t> luminal::tensorBytes(DType dtype, const int64_t *shape,
                                            size_t rank) {
  int64_t bytes = dtypeSize(dtype);
  bool empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (shape[i] < 0)
      return std::nullopt;
    if (shape[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, shape[i], &bytes))
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

std::string luminal::typeText(DType dtype, const int64_t *shape, size_t rank) {
  std::string text(dtypeName(dtype));
  text += '[';
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ']';
}

uint8_t *luminal::allocateTensor(HostTensor &tensor) {
  std::optional<int64_t> bytes = tensorBytes(tensor.dtype, tensor.shape);
  if (!bytes)
    return nullptr;
  size_t size = static_cast<size_t>(*bytes);
  size_t rounded = (size + 63) / 64 * 64;
  void *memory = std::aligned_alloc(64, rounded ? rounded : 64);
  if (!memory)
    return nullptr;
  std::memset(memory, 0, size);
  tensor.bytes.data = static_cast<const uint8_t *>(memory);
  tensor.bytes.size = size;
  tensor.bytes.owner =
      std::shared_ptr<const void>(memory, [](void *p) { std::free(p); });
  tensor.bytes.fileOffset = std::nullopt;
  return static_cast<uint8_t *>(memory);
}

namespace {
template <typename T>
T load(const uint8_t *p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// A float with `mantissa` bits and exponent bias `bias` below the sign.
/// `finite` formats have no infinity: all ones are NaN, the rest of the top
/// exponent are numbers.
double smallFloat(unsigned bits, unsigned width, unsigned mantissa, int bias,
                  bool finite) {
  unsigned exponentBits = width - 1 - mantissa;
  unsigned fraction = bits & ((1u << mantissa) - 1);
  unsigned exponent = (bits >> mantissa) & ((1u << exponentBits) - 1);
  unsigned top = (1u << exponentBits) - 1;
  double sign = (bits >> (width - 1)) & 1 ? -1.0 : 1.0;
  if (exponent == top) {
    bool allOnes = fraction == (1u << mantissa) - 1;
    if (finite ? allOnes : fraction != 0)
      return std::nan("");
    if (!finite)
      return sign * INFINITY;
  }
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias - int(mantissa));
  return sign * std::ldexp((1u << mantissa) + fraction,
                           int(exponent) - bias - int(mantissa));
}

double toDouble(DType dtype, const uint8_t *p) {
  switch (dtype) {
  case DType::F32:
    return load<float>(p);
  case DType::F64:
    return load<double>(p);
  case DType::F16:
    return smallFloat(load<uint16_t>(p), 16, 10, 15, false);
  case DType::BF16:
    return std::bit_cast<float>(uint32_t(load<uint16_t>(p)) << 16);
  case DType::I32:
    return load<int32_t>(p);
  case DType::I64:
    return static_cast<double>(load<int64_t>(p));
  case DType::I8:
    return load<int8_t>(p);
  case DType::I1:
  case DType::U8:
    return *p;
  case DType::F8E4M3:
    return smallFloat(*p, 8, 3, 7, true);
  case DType::F8E5M2:
    return smallFloat(*p, 8, 2, 15, false);
  }
  return 0;
}
} // namespace

std::vector<double> luminal::toDoubles(const HostTensor &tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numElements()));
  const unsigned size = dtypeSize(tensor.dtype);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = toDouble(tensor.dtype, tensor.bytes.data + i * size);
  return values;
}

std::optional<HostTensor> luminal::toBF16(const HostTensor &tensor) {
  HostTensor result{tensor.name, DType::BF16, tensor.shape, {}};
  uint8_t *out = allocateTensor(result);
  if (!out)
    return std::nullopt;
  for (int64_t i = 0, n = tensor.numElements(); i < n; ++i) {
    uint32_t bits = load<uint32_t>(tensor.bytes.data + 4 * i);
    bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    // A NaN keeps its sign and stays a NaN; the rest rounds to nearest even.
    uint16_t half = static_cast<uint16_t>(
        nan ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    std::memcpy(out + 2 * i, &half, sizeof half);
  }
  return result;
}
