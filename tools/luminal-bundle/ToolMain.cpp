//===- ToolMain.cpp - Runs a tool of the bundle by its name ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#ifdef LUMINAL_BUNDLE_TESTS
#include "gtest/gtest.h"

static int testMain(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
#endif

#define LUMINAL_DECLARATIONS
#include "Tools.inc"
#undef LUMINAL_DECLARATIONS

/// Runs the tool whose name the program was started by.
extern "C" __attribute__((visibility("default"))) int
luminal_tool_main(int argc, char **argv) {
  static constexpr struct {
    const char *name;
    int (*main)(int, char **);
  } tools[] = {
#include "Tools.inc"
  };
  llvm::StringRef name = llvm::sys::path::filename(argc ? argv[0] : "");
  for (const auto &tool : tools)
    if (name == tool.name)
      return tool.main(argc, argv);
  llvm::errs() << "luminal: error: no tool is called '" << name << "'\n";
  return 2;
}
