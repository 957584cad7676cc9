//===- DebugPrinter.cpp - Prints steps as they run ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/DebugPrinter.h"
#include "luminal/Support/ZipArchive.h"

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::tools;

const Manifest &DebugPrinter::getProgram(const StepReport &report) const {
  return *context.getArtifact().getPrograms()[report.program].manifest;
}

void DebugPrinter::before(const StepReport &report) {
  const Manifest &m = getProgram(report);
  const StepSpec &step = m.steps[report.step];
  std::fprintf(stream, "step %u: %s (kernel %s) work %lld, threads %u\n",
               report.step, step.name.c_str(),
               std::string(step.getCodeName()).c_str(),
               static_cast<long long>(report.work), report.threads);
  for (size_t k = 0; k < step.buffers.size(); ++k) {
    uint32_t b = step.buffers[k];
    const char *use = k < step.getFirstResult()      ? "reads "
                      : k < step.getFirstWorkspace() ? "writes"
                                                     : "uses  ";
    std::fprintf(stream, "  %s buffer %u (%s) %p, %lld bytes\n", use, b,
                 std::string(bufferKindName(m.buffers[b].kind)).c_str(),
                 report.buffers[k],
                 static_cast<long long>(context.getBufferBytes(b)));
  }
  // The kernel may crash: flush first.
  std::fflush(stream);
  start = std::chrono::steady_clock::now();
}

Status DebugPrinter::after(const StepReport &report) {
  const double us = std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  const StepSpec &step = getProgram(report).steps[report.step];
  std::fprintf(stream, "  done in %.3f us, checksums", us);
  for (size_t k = step.getFirstResult(); k < step.getFirstWorkspace(); ++k) {
    std::vector<uint8_t> bytes(
        static_cast<size_t>(context.getBufferBytes(step.buffers[k])));
    LUMINAL_CHECK(
        context.readMemory(report.buffers[k], bytes.data(), bytes.size()));
    std::fprintf(stream, " %08x", crc32(bytes.data(), bytes.size()));
  }
  std::fprintf(stream, "\n");
  return {};
}
