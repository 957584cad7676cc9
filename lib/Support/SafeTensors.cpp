//===- SafeTensors.cpp - Reads and writes .safetensors files --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/SafeTensors.h"
#include "luminal/Support/Json.h"
#include "luminal/Support/OutputFile.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace luminal;

namespace {
constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"F32", DType::F32},        {"F16", DType::F16},
    {"BF16", DType::BF16},      {"F64", DType::F64},
    {"I32", DType::I32},        {"I64", DType::I64},
    {"BOOL", DType::I1},        {"I8", DType::I8},
    {"U8", DType::U8},          {"F8_E4M3", DType::F8E4M3},
    {"F8_E5M2", DType::F8E5M2}, {"I16", DType::I16},
    {"U16", DType::U16},        {"U32", DType::U32},
};
} // namespace

Result<SafeTensors> SafeTensors::open(const std::string &path) {
  LUMINAL_TRY(bytes, mapFile(path));
  return fromBytes(std::move(bytes), path);
}

Result<SafeTensors> SafeTensors::fromBytes(Bytes bytes, std::string name) {
  if (bytes.size < 8)
    return Error(name + ": is not a .safetensors file");
  uint64_t length = 0;
  for (unsigned i = 0; i < 8; ++i)
    length |= uint64_t(bytes.data[i]) << (8 * i);
  if (length > bytes.size - 8)
    return Error(name + ": is not a .safetensors file, or is truncated");
  // The limit of the format's reference implementation.
  constexpr uint64_t mostHeader = 100'000'000;
  if (length > mostHeader)
    return Error(name + ": its header has " + std::to_string(length) +
                 " bytes, more than the limit of " +
                 std::to_string(mostHeader));
  LUMINAL_TRY(document, JsonDocument::parse(bytes.text().substr(8, length),
                                            name, /*maxDepth=*/16));
  LUMINAL_TRY(members, document.root().asObject());
  const uint64_t start = 8 + length, present = bytes.size - start;
  SafeTensors file;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (auto &[key, entry] : members) {
    if (key == "__metadata__")
      continue;
    HostTensor tensor;
    tensor.name = key;
    LUMINAL_TRY(typeRef, entry.at("dtype"));
    LUMINAL_TRY(typeName, typeRef.asString());
    auto type =
        std::find_if(std::begin(kTypes), std::end(kTypes),
                     [&](const auto &t) { return t.first == typeName; });
    if (type == std::end(kTypes))
      return typeRef.error("element type '" + typeName + "' is not supported");
    tensor.dtype = type->second;
    LUMINAL_TRY(shapeRef, entry.at("shape"));
    LUMINAL_TRY(extents, shapeRef.asArray());
    for (const JsonRef &extent : extents) {
      LUMINAL_TRY(value, extent.asInt());
      tensor.shape.push_back(value);
    }
    std::optional<int64_t> size = tensorBytes(tensor.dtype, tensor.shape);
    if (!size)
      return shapeRef.error("is not a shape");
    LUMINAL_TRY(rangeRef, entry.at("data_offsets"));
    LUMINAL_TRY(range, rangeRef.asArray());
    if (range.size() != 2)
      return rangeRef.error("is not a pair of offsets");
    LUMINAL_TRY(begin, range[0].asInt());
    LUMINAL_TRY(end, range[1].asInt());
    if (begin < 0 || end < begin || static_cast<uint64_t>(end) > present)
      return rangeRef.error("lies outside the file");
    if (end - begin != *size)
      return rangeRef.error("holds " + std::to_string(end - begin) +
                            " bytes, but " + typeText(tensor) + " has " +
                            std::to_string(*size));
    tensor.bytes = bytes;
    tensor.bytes.data = bytes.data + start + begin;
    tensor.bytes.size = static_cast<uint64_t>(*size);
    tensor.bytes.fileOffset.reset();
    if (*size > 0)
      ranges.emplace_back(begin, end);
    file.tensors.push_back(std::move(tensor));
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return Error(name + ": has tensors that overlap");
  return file;
}

const HostTensor *SafeTensors::find(std::string_view name) const {
  auto it = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const HostTensor &t, std::string_view n) { return t.name < n; });
  return it != tensors.end() && it->name == name ? &*it : nullptr;
}

Status luminal::writeSafeTensors(const std::string &path,
                                 const std::vector<HostTensor> &tensors) {
  using Json = nlohmann::ordered_json;
  Json root = Json::object();
  std::string data;
  for (const HostTensor &tensor : tensors) {
    auto type =
        std::find_if(std::begin(kTypes), std::end(kTypes),
                     [&](const auto &t) { return t.second == tensor.dtype; });
    if (root.contains(tensor.name))
      return Error(path + ": two tensors are named '" + tensor.name + "'");
    root[tensor.name] =
        Json{{"dtype", std::string(type->first)},
             {"shape", tensor.shape},
             {"data_offsets", {data.size(), data.size() + tensor.bytes.size}}};
    data += tensor.bytes.text();
  }
  std::string header =
      root.dump(-1, ' ', false, Json::error_handler_t::replace);
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string length;
  for (unsigned i = 0; i < 8; ++i)
    length += static_cast<char>(header.size() >> (8 * i));
  return writeFileAtomically(path, {length, header, data});
}
