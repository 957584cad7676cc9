//===- Launcher.c - Launches a tool of the bundle's library ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

int luminal_tool_main(int argc, char **argv);

int main(int argc, char **argv) { return luminal_tool_main(argc, argv); }
