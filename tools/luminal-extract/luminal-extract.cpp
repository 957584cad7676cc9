//===- luminal-extract.cpp - Extraction from serialized e-graphs ----------===//

#include "luminal/EqSat/Serialize.h"
#include "luminal/InitAll.h"
#include "luminal/Support/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

namespace cl = llvm::cl;
using luminal::eqsat::SerializedGraph;
using Method = SerializedGraph::Method;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "luminal-extract: error: " << message << "\n";
  return 2;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::opt<std::string> input(cl::Positional, cl::Required,
                             cl::desc("<egraph-serialize .json>"));
  cl::opt<std::string> output("o", cl::desc("File to write"),
                              cl::value_desc("file"), cl::init("-"));
  cl::opt<Method> method(
      "extractor", cl::init(Method::GreedyDag), cl::desc("How to choose"),
      cl::values(clEnumValN(Method::BottomUp, "bottom-up",
                            "Least cost where every use is paid for"),
                 clEnumValN(Method::GreedyDag, "greedy-dag",
                            "Low cost where shared nodes are paid for once")));
  if (!luminal::parseCommandLine(argc, argv, "Luminal e-graph extractor\n"))
    return 2;
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!buffer)
    return fail(input + ": " + buffer.getError().message());
  auto graph = SerializedGraph::parse((*buffer)->getBuffer(), input);
  if (!graph)
    return fail(graph.error().message);
  luminal::Result<std::string> choice = (*graph)->extract(method);
  if (!choice)
    return fail(choice.error().message);
  if (output == "-") {
    llvm::outs() << *choice;
    return 0;
  }
  luminal::Status written = luminal::writeFileAtomically(output, {*choice});
  return written ? 0 : fail(written.error().message);
}
