//===- DebugPrinter.h - Prints steps as they run --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_RUN_DEBUGPRINTER_H
#define LUMINAL_TOOLS_RUN_DEBUGPRINTER_H

#include "luminal/Runtime/Context.h"
#include <chrono>
#include <cstdio>

namespace luminal::tools {

/// Prints each step before it runs, so that a crash can be located, and
/// afterwards its results: sizes, checksums, time.
class DebugPrinter : public runtime::StepListener {
public:
  DebugPrinter(const runtime::Context &context, std::FILE *stream)
      : context(context), stream(stream) {}
  void before(const runtime::StepReport &report) override;
  Status after(const runtime::StepReport &report) override;

private:
  const runtime::Manifest &getProgram(const runtime::StepReport &report) const;

  const runtime::Context &context;
  std::FILE *stream;
  std::chrono::steady_clock::time_point start;
};

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_DEBUGPRINTER_H
