//===- Profile.cpp - Profiles of the C interface --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Error.h"
#include "Handles.h"

using namespace luminal;
using namespace luminal::runtime;
using luminal::capi::fail;

luminal_status luminal_profile_create(const luminal_artifact *artifact,
                                      luminal_profile **profile) {
  if (!artifact || !profile)
    return fail("luminal_profile_create: null argument");
  *profile = new luminal_profile(artifact->signature);
  return LUMINAL_OK;
}

void luminal_profile_free(luminal_profile *profile) { delete profile; }

size_t luminal_profile_count(const luminal_profile *profile) {
  return profile ? profile->kernels.size() : 0;
}

luminal_status luminal_profile_step(const luminal_profile *profile,
                                    size_t index, luminal_step_info *info) {
  if (!profile || !info)
    return fail("luminal_profile_step: null argument");
  if (info->struct_size < sizeof(luminal_step_info))
    return fail("luminal_profile_step: struct_size is not set");
  if (index >= profile->kernels.size())
    return fail("there is no step " + std::to_string(index));
  const Profiler::Total &total = profile->profiler.getTotals()[index];
  info->name = profile->profiler.getSteps()[index]->name.c_str();
  info->kernel = profile->kernels[index].c_str();
  info->calls = total.calls;
  info->microseconds = total.us;
  info->bytes = total.bytes;
  info->flops = total.flops;
  info->threads = total.threads;
  return LUMINAL_OK;
}

luminal_status luminal_profile_trace(const luminal_profile *profile,
                                     luminal_buffer **trace) {
  if (!profile || !trace)
    return fail("luminal_profile_trace: null argument");
  auto text = std::make_shared<std::string>(profile->profiler.trace());
  Bytes bytes;
  bytes.data = reinterpret_cast<const uint8_t *>(text->data());
  bytes.size = text->size();
  bytes.owner = std::move(text);
  *trace = new luminal_buffer{std::move(bytes)};
  return LUMINAL_OK;
}
