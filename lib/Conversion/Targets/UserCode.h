//===- UserCode.h - Checks of a user's machine code -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_TARGETS_USERCODE_H
#define LUMINAL_LIB_CONVERSION_TARGETS_USERCODE_H

#include "luminal/Conversion/Target.h"

namespace luminal {

bool isElf(llvm::StringRef bytes);

/// Checks that an ELF file for `machine` (e_machine) and of `type` (e_type; 0:
/// any) defines the entry function. `what` names the format in errors.
Status checkElf(const UserCode &code, llvm::StringRef what, uint16_t machine,
                uint16_t type);

/// Checks that PTX has the entry; returns the device that it is for.
Result<std::string> checkPTX(const UserCode &code);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_TARGETS_USERCODE_H
