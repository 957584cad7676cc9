//===- TensorFiles.cpp - Reads a program's tensors from files -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/TensorFiles.h"
#include "luminal/Support/Npy.h"
#include "luminal/Support/SafeTensors.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <unistd.h>

using namespace luminal;

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

/// The tensor of an integer input, if `text` is a number.
static std::optional<HostTensor> readInteger(const TensorPort &port,
                                             std::string_view text) {
  int64_t value;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (!port.isInteger || code != std::errc() ||
      end != text.data() + text.size())
    return std::nullopt;
  HostTensor tensor{port.name, DType::I64, {}, {}};
  std::memcpy(allocateTensor(tensor), &value, sizeof value);
  return tensor;
}

static std::string portList(const std::vector<TensorPort> &ports) {
  std::string text;
  for (const TensorPort &port : ports)
    text += (text.empty() ? "" : ", ") + port.name + ": " + port.type;
  return text.empty() ? "none" : text;
}

Result<std::vector<std::optional<HostTensor>>>
luminal::readTensorFiles(const std::vector<std::string> &files,
                         const std::vector<TensorPort> &ports, const char *what,
                         bool asStored) {
  std::vector<std::optional<HostTensor>> tensors(ports.size());
  auto find = [&](std::string_view name) {
    auto it = std::find_if(ports.begin(), ports.end(),
                           [&](const TensorPort &p) { return p.name == name; });
    return it == ports.end() ? std::optional<size_t>()
                             : static_cast<size_t>(it - ports.begin());
  };
  auto set = [&](size_t i, HostTensor tensor,
                 const std::string &file) -> Status {
    if (tensors[i])
      return Error(file + ": " + what + " '" + ports[i].name +
                   "' is given twice");
    tensors[i] = std::move(tensor);
    return {};
  };
  size_t next = 0;
  for (const std::string &argument : files) {
    std::string file = argument;
    std::optional<size_t> index;
    if (size_t equal = argument.find('='); equal != std::string::npos) {
      index = find(std::string_view(argument).substr(0, equal));
      if (index)
        file = argument.substr(equal + 1);
      else if (::access(argument.c_str(), F_OK) != 0)
        return Error(argument.substr(equal + 1) + ": there is no " + what +
                     " '" + argument.substr(0, equal) +
                     "' (there are: " + portList(ports) + ")");
    }
    if (index) {
      if (auto integer = readInteger(ports[*index], file)) {
        LUMINAL_CHECK(set(*index, std::move(*integer), argument));
        continue;
      }
      if (ports[*index].isInteger && ::access(file.c_str(), F_OK) != 0)
        return Error(argument + ": expected a 64-bit integer, or a file");
    }
    if (endsWith(file, ".safetensors")) {
      LUMINAL_TRY(tensorFile, SafeTensors::open(file));
      if (index) {
        const HostTensor *tensor = tensorFile.find(ports[*index].name);
        if (!tensor && tensorFile.getTensors().size() == 1)
          tensor = &tensorFile.getTensors().front();
        if (!tensor)
          return Error(file + ": has no tensor '" + ports[*index].name + "'");
        LUMINAL_CHECK(set(*index, *tensor, file));
        continue;
      }
      for (const HostTensor &tensor : tensorFile.getTensors()) {
        std::optional<size_t> port = find(tensor.name);
        if (!port)
          return Error(file + ": there is no " + what + " '" + tensor.name +
                       "' (there are: " + portList(ports) + ")");
        LUMINAL_CHECK(set(*port, tensor, file));
      }
      continue;
    }
    if (!index) {
      while (next < ports.size() && tensors[next])
        ++next;
      if (next == ports.size())
        return Error(file + ": there are only " + std::to_string(ports.size()) +
                     " " + what + "s (" + portList(ports) + ")");
      index = next;
    }
    std::optional<DType> expected = ports[*index].dtype;
    // A float32 reference for a bfloat16 output is not rounded.
    auto stored = asStored ? readNpy(file) : readNpy(file, expected);
    LUMINAL_TRY(tensor, stored ? std::move(stored) : readNpy(file, expected));
    // Comparisons accept a float reference of any width.
    if (tensor.dtype != *expected && !asStored)
      return Error(file + ": " + what + " '" + ports[*index].name +
                   "': has element type " +
                   std::string(dtypeName(tensor.dtype)) + ", expected " +
                   std::string(dtypeName(*expected)));
    LUMINAL_CHECK(set(*index, std::move(tensor), file));
  }
  return tensors;
}
