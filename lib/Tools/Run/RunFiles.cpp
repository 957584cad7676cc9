//===- RunFiles.cpp - Array files of luminal-run --------------------------===//
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

bool tools::exists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

Result<std::vector<HostTensor>>
tools::readInputs(const std::vector<std::string> &files,
                  const Runnable &program) {
  const std::vector<Port> &ports = program.getInputs();
  LUMINAL_TRY(tensors,
              readTensorFiles(files, ports, "input", /*asStored=*/false));
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!tensors[i])
      return Error("input '" + ports[i].name + "' (" + ports[i].type +
                   ") is missing: give it with --input=" +
                   (ports[i].isInteger ? ports[i].name + "=VALUE" : "FILE"));
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

Status Written::writeFile(const std::string &file,
                          const std::vector<HostTensor> &outputs) {
  LUMINAL_CHECK(file.ends_with(".npy") ? writeNpy(file, outputs.front())
                                       : writeSafeTensors(file, outputs));
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
