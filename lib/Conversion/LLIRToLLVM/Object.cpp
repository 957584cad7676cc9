//===- Object.cpp - The llvm dialect to objects, objects to a library -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lld/Common/Driver.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Support/OutputFile.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace luminal;
using namespace mlir;

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CPUTarget &target, std::string *error) {
  llvm::Triple triple(target.triple);
  const llvm::Target *found =
      llvm::TargetRegistry::lookupTarget(triple, *error);
  if (!found)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, target.cpu, target.features, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

std::unique_ptr<llvm::MemoryBuffer>
luminal::compileToObject(ModuleOp module, const CPUTarget &target) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context);
  if (!ir) {
    module.emitError("the kernels have no LLVM form");
    return nullptr;
  }
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target, &error);
  if (!machine) {
    module.emitError(error);
    return nullptr;
  }
  ir->setTargetTriple(llvm::Triple(target.triple));
  ir->setDataLayout(machine->createDataLayout());
  ir->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &fn : *ir) {
    fn.addFnAttr("target-cpu", target.cpu);
    fn.addFnAttr("target-features", target.features);
    // Vectors keep the width with which they were emitted.
    fn.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    fn.addFnAttr("min-legal-vector-width", std::to_string(target.vectorBits));
  }
  optimizeModule(*ir, *machine);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile)) {
    module.emitError("no object code for ") << target.triple;
    return nullptr;
  }
  codegen.run(*ir);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(bytes), "kernels.o",
      /*RequiresNullTerminator=*/false);
}

std::unique_ptr<llvm::MemoryBuffer>
luminal::linkSharedObject(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                          std::string *error) {
  std::vector<TemporaryFile> files;
  auto create = [&](const char *suffix) {
    Result<TemporaryFile> file = TemporaryFile::create(suffix);
    if (file)
      files.push_back(std::move(*file));
    else
      *error = file.error().message;
    return bool(file);
  };
  for (llvm::MemoryBufferRef object : objects) {
    if (!create("o"))
      return nullptr;
    std::error_code failed;
    llvm::raw_fd_ostream stream(files.back().getPath(), failed);
    stream << object.getBuffer();
    stream.close();
    if (stream.has_error()) {
      *error = "writing a temporary object: " + stream.error().message();
      stream.clear_error();
      return nullptr;
    }
  }
  if (!create("so"))
    return nullptr;
  const std::string &output = files.back().getPath();
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--gc-sections",
                                        "--build-id=none",
                                        "--hash-style=gnu",
                                        "-O1",
                                        "-z",
                                        "relro",
                                        "-z",
                                        "now",
                                        "-s",
                                        "--soname",
                                        "host.so",
                                        "-o",
                                        output};
  for (size_t i = 0; i < objects.size(); ++i)
    arguments.push_back(files[i].getPath());
  // External functions (f64 functions of libm, memset and the like) are
  // resolved in the libraries that the runtime has loaded.
  arguments.push_back("--allow-shlib-undefined");
  arguments.push_back("--unresolved-symbols=ignore-all");
  std::vector<const char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream out(messages);
  // lld has global state.
  static std::mutex oneLink;
  std::lock_guard<std::mutex> lock(oneLink);
  lld::Result result =
      lld::lldMain(argv, out, out, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) {
    *error = "linking the kernels: " + messages;
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer) {
    *error = "reading the linked kernels: " + buffer.getError().message();
    return nullptr;
  }
  return std::move(*buffer);
}
