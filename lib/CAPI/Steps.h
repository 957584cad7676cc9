//===- Steps.h - Reports the steps of a call as they run ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_STEPS_H
#define LUMINAL_LIB_CAPI_STEPS_H

#include "Handles.h"

namespace luminal::capi {

/// Lets a profile time each step of a call, and reports steps to its watcher.
class StepTeller : public runtime::StepListener {
public:
  StepTeller(const runtime::Context &context, luminal_profile &profile)
      : context(context), profile(profile) {}
  void before(const runtime::StepReport &report) override;
  Status after(const runtime::StepReport &report) override;

  const runtime::Context &getContext() const { return context; }

private:
  int32_t tell(const runtime::StepReport &report, bool isDone);

  const runtime::Context &context;
  luminal_profile &profile;
  std::vector<luminal_step_buffer> buffers;
};

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_STEPS_H
