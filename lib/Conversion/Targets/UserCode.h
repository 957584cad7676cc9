//===- UserCode.h - What the bytes of a user's code tell ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_TARGETS_USERCODE_H
#define LUMINAL_LIB_CONVERSION_TARGETS_USERCODE_H

#include "luminal/Conversion/Target.h"

namespace luminal {

bool isElf(llvm::StringRef bytes);

/// Checks that an ELF file of the machine `machine` (e_machine) and the type
/// `type` (e_type; 0: any) defines the function. `what` names the form in
/// errors.
Status checkElf(const UserCode &code, llvm::StringRef what, uint16_t machine,
                uint16_t type);

/// The device that PTX text is for, with the function among its entries.
Result<std::string> checkPTX(const UserCode &code);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_TARGETS_USERCODE_H
