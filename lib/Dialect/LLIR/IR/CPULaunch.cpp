//===- CPULaunch.cpp - Launches on a CPU ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

CPULaunchAttr CPULaunchAttr::get(MLIRContext *context, const Expr &work,
                                 const Expr &grain, const Expr &scratch,
                                 bool parallel) {
  return get(context, hlir::MapAttr::get(context, 0, {work, grain, scratch}),
             parallel);
}

LogicalResult
CPULaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      hlir::MapAttr quantities, bool) {
  return verifyQuantities(emitError, quantities, "work, grain and scratch");
}

StringRef CPULaunchAttr::getTargetName() const { return "cpu"; }

Expr CPULaunchAttr::getWork() const { return getQuantities().getResults()[0]; }

SmallVector<LaunchField> CPULaunchAttr::getFields() const {
  ArrayRef<Expr> q = getQuantities().getResults();
  return {{"work", q[0]},
          {"grain", q[1]},
          {"scratch", q[2]},
          {"parallel", getParallel()}};
}

Attribute CPULaunchAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<Expr> work = parseQuantity(parser, "work");
  if (failed(work) || parser.parseComma())
    return {};
  FailureOr<Expr> grain = parseQuantity(parser, "grain");
  if (failed(grain) || parser.parseComma())
    return {};
  FailureOr<Expr> scratch = parseQuantity(parser, "scratch");
  if (failed(scratch))
    return {};
  bool parallel = succeeded(parser.parseOptionalComma());
  if ((parallel && parser.parseKeyword("parallel")) || parser.parseGreater())
    return {};
  return get(parser.getContext(), *work, *grain, *scratch, parallel);
}

void CPULaunchAttr::print(AsmPrinter &printer) const {
  ArrayRef<Expr> q = getQuantities().getResults();
  printer << "<work = " << q[0].str() << ", grain = " << q[1].str()
          << ", scratch = " << q[2].str() << (getParallel() ? ", parallel" : "")
          << '>';
}
