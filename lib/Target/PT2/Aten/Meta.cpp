//===- Meta.cpp - Assertions about types ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpCall.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// Decided at import, from what the archive states: creates no ops.
static Status assertMetadata(OpCall &o) {
  Value a = o.tensor("a");
  if (o.dtypeOrNone("dtype").value_or(o.element(a)) != o.element(a))
    return o.fail("asserts another dtype than the tensor has");
  if (auto size = o.exprsOrNone("size")) {
    if (!o.agree(*size, o.extents(a)))
      return o.fail("asserts another shape than the tensor has");
  }
  // The compiler chooses the layout.
  o.ignore({"stride"});
  return o.retNothing();
}

llvm::ArrayRef<OpRow> pt2::getMetaOps() {
  static const OpRow rows[] = {
      {"_assert_tensor_metadata(Tensor a, SymInt[]? size=None, "
       "SymInt[]? stride=None, ScalarType? dtype=None, *, "
       "Device? device=None, Layout? layout=None)",
       assertMetadata},
  };
  return rows;
}
