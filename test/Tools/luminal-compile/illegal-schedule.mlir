// A schedule that the kernel cannot have is one error, before memory is planned by it; nothing is written.
// RUN: rm -f %t.lum
// RUN: not luminal-compile %s -o %t.lum 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not="Stack dump"
// RUN: not luminal-opt %s --luminal-pipeline="from=scheduled until=lowered" 2>&1 | FileCheck %s --implicit-check-not=error:
// RUN: not test -e %t.lum
// CHECK: illegal-schedule.mlir:[[# @LINE + 3]]:8: error: 'llir.kernel' op its schedule has a tile, but the only op with loops is not a product

func.func @main(%x: tensor<64x96xf32>) -> tensor<64xf32> attributes {hlir.symbols = #hlir.symbols<>} {
  %r = llir.kernel(%x) loops<grid(d0) stream(d1:all v8) parts(500) op0 = block {columns = 8}> : (tensor<64x96xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64x96xf32>):
    %0 = llir.reduce sum %a : tensor<64x96xf32> -> tensor<64xf32>
    llir.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
