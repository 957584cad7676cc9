//===- Error.h - The last error of the C interface ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_ERROR_H
#define LUMINAL_LIB_CAPI_ERROR_H

#include "luminal-c/Luminal.h"
#include <string>

namespace luminal::capi {

/// Stores the message and code that luminal_last_error and
/// luminal_last_error_code return on this thread; returns LUMINAL_ERROR.
luminal_status fail(std::string message,
                    luminal_error_code code = LUMINAL_ERROR_ARGUMENT);

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_ERROR_H
