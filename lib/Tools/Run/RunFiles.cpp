//===- RunFiles.cpp - Arrays from files and to files --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunFiles.h"
#include "luminal/Support/Npy.h"
#include "luminal/Support/SafeTensors.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace luminal;
using namespace luminal::tools;
using Port = Runnable::Port;

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

bool tools::exists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

static std::string portList(const std::vector<Port> &ports) {
  std::string text;
  for (const Port &port : ports)
    text += (text.empty() ? "" : ", ") + port.name + ": " + port.type;
  return text.empty() ? "none" : text;
}

Result<std::vector<std::optional<HostTensor>>>
tools::readFiles(const std::vector<std::string> &files,
                 const std::vector<Port> &ports, const char *what,
                 bool asStored) {
  std::vector<std::optional<HostTensor>> tensors(ports.size());
  auto find = [&](std::string_view name) {
    auto it = std::find_if(ports.begin(), ports.end(),
                           [&](const Port &p) { return p.name == name; });
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
      else if (!exists(argument))
        return Error(argument.substr(equal + 1) + ": there is no " + what +
                     " '" + argument.substr(0, equal) +
                     "' (there are: " + portList(ports) + ")");
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
    // A float32 reference of a bfloat16 output stays as it is.
    auto stored = asStored ? readNpy(file) : readNpy(file, expected);
    LUMINAL_TRY(tensor, stored ? std::move(stored) : readNpy(file, expected));
    // A comparison takes a float reference of any width.
    if (tensor.dtype != *expected && !asStored)
      return Error(file + ": " + what + " '" + ports[*index].name +
                   "': has element type " +
                   std::string(dtypeName(tensor.dtype)) + ", expected " +
                   std::string(dtypeName(*expected)));
    LUMINAL_CHECK(set(*index, std::move(tensor), file));
  }
  return tensors;
}

Result<std::vector<HostTensor>>
tools::readInputs(const std::vector<std::string> &files,
                  const Runnable &program) {
  const std::vector<Port> &ports = program.getInputs();
  LUMINAL_TRY(tensors, readFiles(files, ports, "input", /*asStored=*/false));
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!tensors[i])
      return Error("input '" + ports[i].name + "' (" + ports[i].type +
                   ") is missing: give it with --input=FILE");
    inputs.push_back(std::move(*tensors[i]));
  }
  return inputs;
}

std::vector<std::string> tools::numberedFiles(const std::string &dir,
                                              const char *prefix) {
  std::vector<std::string> files;
  for (;;) {
    std::string file =
        dir + "/" + prefix + "_" + std::to_string(files.size()) + ".npy";
    if (!exists(file))
      return files;
    files.push_back(std::move(file));
  }
}

//===----------------------------------------------------------------------===//
// Output files
//===----------------------------------------------------------------------===//

Written::~Written() {
  if (kept)
    return;
  for (const std::string &file : files)
    ::unlink(file.c_str());
  for (size_t i = folders.size(); i-- > 0;)
    ::rmdir(folders[i].c_str());
}

Status Written::writeOutputs(const std::string &dir,
                             const std::vector<HostTensor> &outputs) {
  LUMINAL_CHECK(makeDirectory(dir));
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string file = dir + "/output_" + std::to_string(i) + ".npy";
    LUMINAL_CHECK(writeNpy(file, outputs[i]));
    files.push_back(file);
  }
  return {};
}

Status Written::writeTensors(const std::string &file,
                             const std::vector<HostTensor> &outputs) {
  LUMINAL_CHECK(writeSafeTensors(file, outputs));
  files.push_back(file);
  return {};
}

Status Written::makeDirectory(const std::string &path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0777) == 0)
      folders.push_back(part);
    else if (errno != EEXIST)
      return Error(part + ": cannot be created: " + std::strerror(errno));
    if (at == std::string::npos)
      return {};
  }
}
