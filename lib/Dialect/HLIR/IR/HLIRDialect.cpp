//===- HLIRDialect.cpp - Registration of the HLIR dialect -----------------===//

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace luminal;
using namespace luminal::hlir;

#include "luminal/Dialect/HLIR/IR/HLIRDialect.cpp.inc"

#include "luminal/Dialect/HLIR/IR/HLIREnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "luminal/Dialect/HLIR/IR/HLIRAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "luminal/Dialect/HLIR/IR/HLIROps.cpp.inc"

void HLIRDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "luminal/Dialect/HLIR/IR/HLIROps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "luminal/Dialect/HLIR/IR/HLIRAttrs.cpp.inc"
      >();
}
