//===- Ranges.h - Reports steps as ranges to a profiler -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_RANGES_H
#define LUMINAL_LIB_CAPI_RANGES_H

#include "luminal-c/Luminal.h"
#include "luminal/Runtime/Context.h"

namespace luminal::capi {

/// Runs `context` with `listener`, which may be null, and reports each step to
/// the step ranges of the process, if set.
Status runContext(runtime::Context &context,
                  runtime::StepListener *listener = nullptr);

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_RANGES_H
