//===- CUDALaunch.cpp - Launches on a GPU ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

CUDALaunchAttr CUDALaunchAttr::get(MLIRContext *context, const Expr &work,
                                   const Expr &grid, int64_t block,
                                   const Expr &shared) {
  return get(context, hlir::MapAttr::get(context, 0, {work, grid, shared}),
             block);
}

LogicalResult
CUDALaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       hlir::MapAttr quantities, int64_t block) {
  // The limit of every GPU since 2010.
  constexpr int64_t kMostThreads = 1024;
  if (block < 1 || block > kMostThreads)
    return emitError() << "a block has from 1 to " << kMostThreads
                       << " threads, found " << block;
  return verifyQuantities(emitError, quantities, "work, grid and shared");
}

StringRef CUDALaunchAttr::getTargetName() const { return "cuda"; }

Expr CUDALaunchAttr::getWork() const { return getQuantities().getResults()[0]; }

SmallVector<LaunchField> CUDALaunchAttr::getFields() const {
  ArrayRef<Expr> q = getQuantities().getResults();
  return {
      {"work", q[0]}, {"grid", q[1]}, {"block", getBlock()}, {"shared", q[2]}};
}

Attribute CUDALaunchAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<Expr> work = parseQuantity(parser, "work");
  if (failed(work) || parser.parseComma())
    return {};
  FailureOr<Expr> grid = parseQuantity(parser, "grid");
  int64_t block;
  if (failed(grid) || parser.parseComma() || parser.parseKeyword("block") ||
      parser.parseEqual() || parser.parseInteger(block) || parser.parseComma())
    return {};
  FailureOr<Expr> shared = parseQuantity(parser, "shared");
  if (failed(shared) || parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  return getChecked([&] { return parser.emitError(loc); }, context,
                    hlir::MapAttr::get(context, 0, {*work, *grid, *shared}),
                    block);
}

void CUDALaunchAttr::print(AsmPrinter &printer) const {
  ArrayRef<Expr> q = getQuantities().getResults();
  printer << "<work = " << q[0].str() << ", grid = " << q[1].str()
          << ", block = " << getBlock() << ", shared = " << q[2].str() << '>';
}
