//===- LLIRDialect.cpp - Registration of the LLIR dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/IR/UserKernels.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace luminal;
using namespace luminal::llir;

#include "luminal/Dialect/LLIR/IR/LLIRDialect.cpp.inc"

#include "luminal/Dialect/LLIR/IR/LLIREnums.cpp.inc"

#include "luminal/Dialect/LLIR/IR/LLIRInterfaces.cpp.inc"

#include "luminal/Dialect/LLIR/IR/LLIRAttrInterfaces.cpp.inc"

#include "luminal/Dialect/LLIR/IR/UserLaunchInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "luminal/Dialect/LLIR/IR/LLIRAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "luminal/Dialect/LLIR/IR/LLIRTypes.cpp.inc"

void LLIRDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "luminal/Dialect/LLIR/IR/LLIROps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "luminal/Dialect/LLIR/IR/LLIRAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "luminal/Dialect/LLIR/IR/LLIRTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "luminal/Dialect/LLIR/IR/UserKernels.cpp.inc"
      >();
}
