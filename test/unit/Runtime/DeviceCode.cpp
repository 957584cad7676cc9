//===- DeviceCode.cpp - The tests' kernels for a GPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceCode.h"
#include <map>
#include <set>

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// constant + factor * symbols[symbol].
struct Work {
  int64_t constant = 0, factor = 0;
  size_t symbol = 0;
};

Work getWork(const Manifest &m, const Expr &e) {
  std::vector<std::string> used;
  e.collectSymbols(used);
  auto at = [&](int64_t value) {
    return e.evaluate([&](std::string_view) { return value; }).value_or(0);
  };
  Work work{at(0), 0, 0};
  for (size_t i = 0; i < m.symbols.size(); ++i)
    if (used.size() == 1 && used[0] == m.symbols[i].name)
      work = {at(0), at(1) - at(0), i};
  return work;
}

/// Puts the address of element %rd3 (of so many bytes) of a buffer into %rd2N.
std::string element(unsigned buffer, unsigned bytes) {
  std::string n = std::to_string(buffer);
  return "  ld.global.u64 %rd2" + n + ", [%rd0+" + std::to_string(8 * buffer) +
         "];\n  mad.lo.s64 %rd2" + n + ", %rd3, " + std::to_string(bytes) +
         ", %rd2" + n + ";\n";
}

/// What one element takes; its number is %rd3.
std::string getBody(std::string_view op) {
  if (op == "add_f32")
    return element(0, 4) + element(1, 4) + element(2, 4) +
           "  ld.global.f32 %f0, [%rd20];\n  ld.global.f32 %f1, [%rd21];\n"
           "  add.f32 %f0, %f0, %f1;\n  st.global.f32 [%rd22], %f0;\n";
  if (op == "increment_f32")
    return element(0, 4) + element(1, 4) +
           "  ld.global.f32 %f0, [%rd20];\n  add.f32 %f0, %f0, 0f3F800000;\n"
           "  st.global.f32 [%rd21], %f0;\n";
  if (op == "copy_f32")
    return element(0, 4) + element(1, 4) +
           "  ld.global.f32 %f0, [%rd20];\n  st.global.f32 [%rd21], %f0;\n";
  if (op == "is_positive_f32")
    return element(0, 4) + element(1, 1) +
           "  ld.global.f32 %f0, [%rd20];\n"
           "  setp.gt.f32 %p1, %f0, 0f00000000;\n"
           "  selp.u32 %r4, 1, 0, %p1;\n  st.global.u8 [%rd21], %r4;\n";
  if (op == "accumulate_f32")
    return element(0, 4) + element(1, 4) +
           "  ld.global.f32 %f0, [%rd20];\n  ld.global.f32 %f1, [%rd21];\n"
           "  add.f32 %f0, %f0, %f1;\n  st.global.f32 [%rd21], %f0;\n";
  if (op == "gather_f32")
    return element(1, 8) + element(2, 4) +
           "  ld.global.u64 %rd20, [%rd0];\n  ld.global.s64 %rd6, [%rd1];\n"
           "  ld.global.s64 %rd7, [%rd21];\n  setp.ge.u64 %p1, %rd7, %rd6;\n"
           "  @%p1 mov.u32 %r4, 1;\n  @%p1 st.global.u32 [%rd2], %r4;\n"
           "  @%p1 bra NEXT;\n  mad.lo.s64 %rd20, %rd7, 4, %rd20;\n"
           "  ld.global.f32 %f0, [%rd20];\n  st.global.f32 [%rd22], %f0;\n";
  if (op == "sum_parts_f32")
    return element(0, 4) + element(2, 4) +
           "  ld.global.f32 %f0, [%rd20];\n"
           "  setp.lt.f32 %p1, %f0, 0f00000000;\n  @%p1 mov.u32 %r4, 1;\n"
           "  @%p1 st.global.u32 [%rd2], %r4;\n  @%p1 bra NEXT;\n"
           "  st.global.f32 [%rd22], %f0;\n  fence.acq_rel.gpu;\n"
           "  ld.global.u64 %rd23, [%rd0+24];\n"
           "  atom.global.add.u32 %r4, [%rd23], 1;\n  fence.acq_rel.gpu;\n"
           "  cvt.u64.u32 %rd6, %r4;\n  add.s64 %rd6, %rd6, 1;\n"
           "  setp.ne.s64 %p1, %rd6, %rd5;\n  @%p1 bra NEXT;\n"
           "  mov.u32 %r4, 0;\n  st.global.u32 [%rd23], %r4;\n"
           "  ld.global.u64 %rd22, [%rd0+16];\n"
           "  ld.global.u64 %rd21, [%rd0+8];\n  mov.f32 %f0, 0f00000000;\n"
           "  mov.s64 %rd7, 0;\nPARTS:\n  ld.global.f32 %f1, [%rd22];\n"
           "  add.f32 %f0, %f0, %f1;\n  add.s64 %rd22, %rd22, 4;\n"
           "  add.s64 %rd7, %rd7, 1;\n  setp.lt.s64 %p1, %rd7, %rd5;\n"
           "  @%p1 bra PARTS;\n  st.global.f32 [%rd21], %f0;\n";
  // scale_rows_f32: one row.
  return "  ld.global.s64 %rd6, [%rd1];\n  mul.lo.s64 %rd7, %rd3, %rd6;\n"
         "  ld.global.u64 %rd20, [%rd0];\n  ld.global.u64 %rd21, [%rd0+8];\n"
         "  ld.global.u64 %rd22, [%rd0+16];\n"
         "  mad.lo.s64 %rd20, %rd7, 4, %rd20;\n"
         "  mad.lo.s64 %rd22, %rd7, 4, %rd22;\n  mov.s64 %rd8, 0;\n"
         "ROW:\n  setp.ge.s64 %p1, %rd8, %rd6;\n  @%p1 bra NEXT;\n"
         "  ld.global.f32 %f0, [%rd20];\n  ld.global.f32 %f1, [%rd21];\n"
         "  mul.f32 %f0, %f0, %f1;\n  st.global.f32 [%rd22], %f0;\n"
         "  add.s64 %rd20, %rd20, 4;\n  add.s64 %rd21, %rd21, 4;\n"
         "  add.s64 %rd22, %rd22, 4;\n  add.s64 %rd8, %rd8, 1;\n"
         "  bra ROW;\n";
}
} // namespace

std::string runtime::testing::makeDeviceCode(const Manifest &m) {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n";
  std::set<std::string> done;
  std::vector<StepSpec> steps = m.steps;
  if (m.prepare)
    steps.insert(steps.end(), m.prepare->steps.begin(), m.prepare->steps.end());
  for (const std::shared_ptr<const Manifest> &variant : m.variants)
    steps.insert(steps.end(), variant->steps.begin(), variant->steps.end());
  for (const StepSpec &step : steps) {
    if (step.kernel.empty() || getCustomCode(step.launch) ||
        !done.insert(step.kernel).second)
      continue;
    std::string op = step.kernel.substr(0, step.kernel.find('$'));
    Work work = getWork(m, std::get<CUDALaunch>(step.launch).work);
    const std::string constant = std::to_string(work.constant),
                      factor = std::to_string(work.factor),
                      symbol = std::to_string(work.symbol);
    text += "// luminal-test " + step.kernel + " " + op + " " + constant + " " +
            factor + " " + symbol + "\n";
    text += ".visible .entry " + step.kernel +
            "(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"
            "  .reg .pred %p<2>;\n  .reg .b32 %r<5>;\n  .reg .b64 %rd<24>;\n"
            "  .reg .f32 %f<2>;\n"
            "  ld.param.u64 %rd0, [p0];\n  ld.param.u64 %rd1, [p1];\n"
            "  ld.param.u64 %rd2, [p2];\n"
            "  mov.u32 %r0, %ctaid.x;\n  mov.u32 %r1, %ntid.x;\n"
            "  mov.u32 %r2, %tid.x;\n  mov.u32 %r3, %nctaid.x;\n"
            "  mul.wide.u32 %rd3, %r0, %r1;\n  cvt.u64.u32 %rd4, %r2;\n"
            "  add.s64 %rd3, %rd3, %rd4;\n  mul.wide.u32 %rd4, %r1, %r3;\n"
            "  mov.s64 %rd5, " +
            constant + ";\n";
    if (work.factor != 0)
      text += "  ld.global.s64 %rd6, [%rd1+" + std::to_string(8 * work.symbol) +
              "];\n  mad.lo.s64 %rd5, %rd6, " + factor + ", %rd5;\n";
    text += "LOOP:\n  setp.ge.s64 %p0, %rd3, %rd5;\n  @%p0 bra DONE;\n" +
            getBody(op) +
            "NEXT:\n  add.s64 %rd3, %rd3, %rd4;\n  bra LOOP;\nDONE:\n  ret;\n"
            "}\n";
  }
  return text;
}
