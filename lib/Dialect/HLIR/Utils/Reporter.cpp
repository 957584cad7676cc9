//===- Reporter.cpp - The remarks of a pass -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "luminal/Dialect/HLIR/Utils/ModuleLocations.h"
#include "llvm/Support/Debug.h"

#include <mutex>

using namespace mlir;
using namespace luminal;
using remark::RemarkOpts;

std::string luminal::describe(Location loc) {
  std::string text = "an unknown location";
  loc->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

/// Whether -debug-only selects the pass.
static bool isDebugged(StringRef pass) {
#ifndef NDEBUG
  return llvm::DebugFlag && llvm::isCurrentDebugType(pass.data());
#else
  return false;
#endif
}

Reporter::Reporter(MLIRContext *context, StringRef pass, StringRef function)
    : pass(pass), function(function),
      listening(context->getRemarkEngine() || isDebugged(pass)) {}

RemarkOpts Reporter::getOptions(StringRef name) const {
  return RemarkOpts::name(name).category(pass).function(function);
}

/// Emits a remark, and prints it to the pass's debug output.
static void send(remark::detail::InFlightRemark remark, StringRef pass,
                 StringRef outcome, StringRef name, Location loc,
                 ArrayRef<Reporter::Arg> args) {
  for (const Reporter::Arg &arg : args)
    remark << arg;
  if (std::string modules = getModules(loc); remark && !modules.empty())
    remark << Reporter::Arg("module", modules);
  DEBUG_WITH_TYPE(pass.data(), {
    llvm::raw_ostream &os = llvm::dbgs();
    os << pass << ": " << outcome << " " << name << " at " << describe(loc);
    for (const Reporter::Arg &arg : args)
      os << ", " << arg.key << ": " << arg.val;
    os << "\n";
  });
}

/// MLIR's remark engine is not thread-safe, and passes run on functions in
/// parallel.
static std::mutex oneRemark;

void Reporter::passed(Location loc, StringRef name, ArrayRef<Arg> args) const {
  std::lock_guard<std::mutex> lock(oneRemark);
  send(remark::passed(loc, getOptions(name)), pass, "passed", name, loc, args);
}

void Reporter::missed(Location loc, StringRef name, ArrayRef<Arg> args) const {
  std::lock_guard<std::mutex> lock(oneRemark);
  send(remark::missed(loc, getOptions(name)), pass, "missed", name, loc, args);
}

void Reporter::analysis(Location loc, StringRef name,
                        ArrayRef<Arg> args) const {
  std::lock_guard<std::mutex> lock(oneRemark);
  send(remark::analysis(loc, getOptions(name)), pass, "analysis", name, loc,
       args);
}
