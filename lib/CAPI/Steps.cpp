//===- Steps.cpp - Reports the steps of a call as they run ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Steps.h"
#include "Error.h"

using namespace luminal;
using namespace luminal::runtime;
using luminal::capi::fail;
using luminal::capi::StepTeller;

int32_t StepTeller::tell(const StepReport &report, bool isDone) {
  if (!profile.told)
    return 0;
  const uint32_t index = profile.profiler.getNumber(report);
  const StepSpec &step = *profile.profiler.getSteps()[index];
  buffers.clear();
  for (size_t i = 0; i < step.getFirstWorkspace(); ++i)
    buffers.push_back(
        {report.buffers[i],
         static_cast<uint64_t>(context.getBufferBytes(step.buffers[i])),
         i >= step.getFirstResult()});
  luminal_step_event event = {sizeof event,   index,          isDone,
                              buffers.data(), buffers.size(), this};
  return profile.told(profile.user, &event);
}

void StepTeller::before(const StepReport &report) {
  (void)tell(report, false);
  // Start the timer after the callback.
  profile.profiler.before(report);
}

Status StepTeller::after(const StepReport &report) {
  LUMINAL_CHECK(profile.profiler.after(report));
  if (tell(report, true) == 0)
    return {};
  return Error(
      "the profile's watcher ended the call after step '" +
      profile.profiler.getSteps()[profile.profiler.getNumber(report)]->name +
      "'");
}

luminal_status luminal_profile_watch(
    luminal_profile *profile,
    int32_t (*told)(void *user, const luminal_step_event *event), void *user) {
  if (!profile)
    return fail("luminal_profile_watch: null argument");
  profile->told = told;
  profile->user = user;
  return LUMINAL_OK;
}

luminal_status luminal_step_read(const luminal_step_event *event, size_t buffer,
                                 void *to) {
  if (!event || !event->call || !to)
    return fail("luminal_step_read: null argument");
  if (buffer >= event->num_buffers)
    return fail("luminal_step_read: the step has no buffer " +
                std::to_string(buffer));
  const auto &teller = *static_cast<const StepTeller *>(event->call);
  const luminal_step_buffer &read = event->buffers[buffer];
  if (Status done = teller.getContext().readMemory(read.data, to, read.bytes);
      !done)
    return fail(done.takeError().message, LUMINAL_ERROR_CALL);
  return LUMINAL_OK;
}
