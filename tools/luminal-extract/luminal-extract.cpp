//===- luminal-extract.cpp - Extraction from serialized e-graphs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Serialize.h"
#include "luminal/InitAll.h"
#include "luminal/Support/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

namespace cl = llvm::cl;
using namespace luminal;
using luminal::eqsat::SerializedGraph;
using Method = SerializedGraph::Method;

static Result<std::string> readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return Error(path + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

int main(int argc, char **argv) {
  hideLibraryOptions();
  llvm::InitLLVM init(argc, argv);
  cl::opt<std::string> input(cl::Positional, cl::Required,
                             cl::desc("<egraph-serialize .json>"));
  cl::opt<std::string> output("o", cl::desc("File to write"), cl::init("-"));
  cl::opt<std::string> choices("choices", cl::desc("Choices to check instead"));
  cl::opt<Method> method(
      "extractor", cl::init(Method::GreedyDag), cl::desc("How to choose"),
      cl::values(clEnumValN(Method::BottomUp, "bottom-up", "Tree cost"),
                 clEnumValN(Method::GreedyDag, "greedy-dag", "DAG cost")));
  if (!parseCommandLine(argc, argv, "Luminal e-graph extractor\n"))
    return 2;
  auto run = [&]() -> Status {
    LUMINAL_TRY(text, readFile(input));
    LUMINAL_TRY(graph, SerializedGraph::parse(text, input));
    LUMINAL_TRY(given, choices.empty() ? std::string() : readFile(choices));
    LUMINAL_TRY(choice, choices.empty() ? graph->extract(method)
                                        : graph->price(given, choices));
    return writeFileAtomically(output, {choice});
  };
  Status status = run();
  if (!status)
    llvm::errs() << "luminal-extract: error: " << status.error().message
                 << "\n";
  return status ? 0 : 2;
}
