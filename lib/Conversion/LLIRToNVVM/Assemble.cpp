//===- Assemble.cpp - PTX text to machine code by ptxas -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToNVVM.h"
#include "luminal/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace luminal;
using namespace mlir;

std::vector<std::string> luminal::getToolkits() {
  std::vector<std::string> roots;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(name))
      roots.push_back(root);
  if (auto ptxas = llvm::sys::findProgramByName("ptxas")) {
    llvm::SmallString<128> real;
    if (!llvm::sys::fs::real_path(*ptxas, real))
      roots.push_back(
          llvm::sys::path::parent_path(llvm::sys::path::parent_path(real))
              .str());
  }
  roots.push_back("/usr/local/cuda");
  return roots;
}

/// The path of ptxas, or an empty string.
static std::string findAssembler() {
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  for (const std::string &root : getToolkits()) {
    llvm::SmallString<128> path(root);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
  }
  return "";
}

static std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

FailureOr<std::string> luminal::assemblePTX(StringRef text, StringRef arch,
                                            std::string *error) {
  std::string assembler = findAssembler();
  if (assembler.empty())
    return std::string();
  std::vector<TemporaryFile> files;
  for (const char *suffix : {"ptx", "cubin", "txt"}) {
    Result<TemporaryFile> file = TemporaryFile::create(suffix);
    if (!file) {
      *error = file.error().message;
      return failure();
    }
    files.push_back(std::move(*file));
  }
  const std::string &source = files[0].getPath(), &object = files[1].getPath(),
                    &messages = files[2].getPath();
  std::error_code failed;
  llvm::raw_fd_ostream stream(source, failed);
  stream << text;
  stream.close();
  if (stream.has_error()) {
    *error = "writing a temporary file: " + stream.error().message();
    stream.clear_error();
    return failure();
  }
  std::string option = "-arch=" + arch.str();
  int code = llvm::sys::ExecuteAndWait(
      assembler, {assembler, option, "-o", object, source}, std::nullopt,
      {StringRef(), StringRef(messages), StringRef(messages)}, 0, 0, error);
  if (code == 0)
    return read(object);
  if (code > 0)
    *error = "ptxas refuses the kernels: " +
             StringRef(read(messages)).split('\n').first.str();
  return failure();
}
