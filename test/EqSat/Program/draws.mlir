// Candidates of one saturation: other programs, each equal to the given one, with its digest and its price; the same in
// every process. Integers, so that equal means the same bits.
//
// RUN: split-file %s %t
// RUN: luminal-opt %t/sums.mlir --eqsat-saturate="rules=%t/rules.mlir draws=12 seed=3 seed-strength=4" -o %t/out.mlir
// RUN: FileCheck %s --input-file=%t/out.mlir
// RUN: luminal-opt %t/sums.mlir --eqsat-saturate="rules=%t/rules.mlir draws=12 seed=3 seed-strength=4" | diff %t/out.mlir -
// RUN: luminal-test-reference %t/out.mlir | sed 's/.*: //' | sort -u | count 1
// RUN: sed -n 's/.*eqsat.digest = "\([0-9a-f]*\)".*/\1/p' %t/out.mlir | sort -u | FileCheck %s --check-prefix=UNLIKE
//
// RUN: luminal-opt %t/sums.mlir --eqsat-saturate="rules=%t/rules.mlir draws=3 seed-strength=0" | FileCheck %s --check-prefix=SAME
// RUN: not luminal-opt %t/sums.mlir --allow-unregistered-dialect --eqsat-saturate="draws=1 equivalence" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BOTH
//
// What a function names is declared beside a copy of it.
// RUN: luminal-opt %t/calls.mlir --eqsat-saturate="draws=2" | FileCheck %s --check-prefix=CALLS
//
// CHECK:     module attributes {test.kept}
// CHECK:     func.func @sums() -> tensor<3xi64> attributes {test.own} {
// CHECK:     func.func @sums.draw1() -> tensor<3xi64> attributes {eqsat.cost = {{.*}}, eqsat.digest = "{{[0-9a-f]+}}", test.own} {
// CHECK:       hlir.repeat 3
// CHECK:     func.func @sums.draw12()
// CHECK-NOT: func.func @sums.draw13()
// Several programs at least.
// UNLIKE-COUNT-6: {{^[0-9a-f]+$}}
//
// Without a change of prices each is the best one.
// SAME:         func.func @sums.draw1() {{.*}}eqsat.digest = "[[DIGEST:[0-9a-f]+]]"
// SAME:         func.func @sums.draw2() {{.*}}eqsat.digest = "[[DIGEST]]"
// SAME:         func.func @sums.draw3() {{.*}}eqsat.digest = "[[DIGEST]]"
//
// BOTH: error: draws and equivalence contradict each other
//
// CALLS-LABEL: func.func @main
// CALLS:         call @other
// CALLS:       func.func @main.draw1
// CALLS:         call @other
// CALLS:       func.func @main.draw2
// CALLS:       func.func private @other

//--- sums.mlir

module attributes {test.kept} {
  func.func @sums() -> tensor<3xi64> attributes {test.own} {
    %x = hlir.constant dense<[1, -2, 3]> : tensor<3xi64>
    %v = hlir.constant dense<[5, 7, -11]> : tensor<3xi64>
    %w = hlir.constant dense<[13, -17, 19]> : tensor<3xi64>
    %r = hlir.repeat 3 carried(%x : tensor<3xi64>) {
    ^bb0(%c: tensor<3xi64>):
      %p = hlir.mul %c, %v : tensor<3xi64>
      %q = hlir.mul %c, %w : tensor<3xi64>
      %s = hlir.add %p, %q : tensor<3xi64>
      %t = hlir.add %s, %v : tensor<3xi64>
      %u = hlir.add %t, %w : tensor<3xi64>
      hlir.yield %u : tensor<3xi64>
    } -> tensor<3xi64>
    %a = hlir.add %r, %w : tensor<3xi64>
    %b = hlir.add %a, %v : tensor<3xi64>
    return %b : tensor<3xi64>
  }
}

//--- rules.mlir

pdl.pattern @Associate : benefit(0) attributes {eqsat.promise = "exact", eqsat.dtypes = [i64]} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %o1 = pdl.operation "hlir.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r1 = pdl.result 0 of %o1
  %o2 = pdl.operation "hlir.add"(%r1, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %o2 {
    %o3 = pdl.operation "hlir.add"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %r3 = pdl.result 0 of %o3
    %o4 = pdl.operation "hlir.add"(%a, %r3 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %o2 with %o4
  }
}
pdl.pattern @Factor : benefit(0) attributes {eqsat.promise = "exact", eqsat.dtypes = [i64]} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %o1 = pdl.operation "hlir.mul"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r1 = pdl.result 0 of %o1
  %o2 = pdl.operation "hlir.mul"(%a, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r2 = pdl.result 0 of %o2
  %o3 = pdl.operation "hlir.add"(%r1, %r2 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %o3 {
    %o4 = pdl.operation "hlir.add"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %r4 = pdl.result 0 of %o4
    %o5 = pdl.operation "hlir.mul"(%a, %r4 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %o3 with %o5
  }
}

//--- calls.mlir

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = hlir.sin %x : tensor<3xf32>
  %1 = call @other(%0) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = hlir.sqrt %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}
func.func private @other(tensor<3xf32>) -> tensor<3xf32>
