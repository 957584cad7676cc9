// Integers that are one expression of their index, whatever the symbols are, become that expression; all others stay.
// RUN: luminal-opt %s --split-input-file --hlir-fold-integers --canonicalize | FileCheck %s
// RUN: luminal-opt %s --split-input-file --hlir-fold-integers --remarks-filter=hlir-fold-integers 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The mask of packed sequences where positions count up: one sequence, so that the causal part is left. (A position and the
// one before it, that before the first being -1, differ by 1; the number of the sequence is how often they did not.)
// CHECK-LABEL: func.func @packed
// CHECK:         %[[ROW:.*]] = hlir.iota <(d0, d1) -> (d0)>
// CHECK:         %[[COLUMN:.*]] = hlir.iota <(d0, d1) -> (d1)>
// CHECK:         %[[FUTURE:.*]] = hlir.less_than %[[ROW]], %[[COLUMN]]
// CHECK:         %[[CAUSAL:.*]] = hlir.less_than %[[FUTURE]], %{{.*}}
// CHECK:         %[[TRUE:.*]] = hlir.view %{{.*}} <(d0, d1) -> ()> : tensor<i1> ->
// CHECK:         %[[MASK:.*]] = hlir.mul %[[TRUE]], %[[CAUSAL]]
// CHECK:         return %[[MASK]]
// REMARK: [Passed] integer | {{.*}}| Function=packed | is=0, op=hlir.reduce_sum
// REMARK: [Passed] integer | {{.*}}| Function=packed | is=1, op=hlir.less_than
func.func @packed(%x: tensor<?xf32, #hlir.dims<s>>) -> tensor<?x?xi1, #hlir.dims<s, s>>
    attributes {hlir.symbols = #hlir.symbols<s in [1, ]>} {
  %positions = hlir.iota <(d0) -> (d0)> : tensor<?xi64, #hlir.dims<s>>
  %whole = hlir.iota <(d0) -> (d0)> : tensor<?xi64, #hlir.dims<s + 1>>
  %one = hlir.constant dense<1> : tensor<i64>
  %minus = hlir.constant dense<-1> : tensor<i64>
  %zero = hlir.constant dense<0> : tensor<i64>
  %true = hlir.constant dense<true> : tensor<i1>
  %ones = hlir.view %one <(d0) -> ()> : tensor<i64> -> tensor<?xi64, #hlir.dims<s + 1>>
  %before = hlir.view %minus <(d0) -> ()> : tensor<i64> -> tensor<?xi64, #hlir.dims<s + 1>>
  %shifted = hlir.view %positions <(d0) -> (max(d0 - 1, 0))> : tensor<?xi64, #hlir.dims<s>> -> tensor<?xi64, #hlir.dims<s + 1>>
  %first = hlir.less_than %whole, %ones : tensor<?xi64, #hlir.dims<s + 1>> -> tensor<?xi1, #hlir.dims<s + 1>>
  %padded = hlir.select %first, %before, %shifted : tensor<?xi1, #hlir.dims<s + 1>>, tensor<?xi64, #hlir.dims<s + 1>>
  %next = hlir.view %padded <(d0) -> (d0 + 1)> : tensor<?xi64, #hlir.dims<s + 1>> -> tensor<?xi64, #hlir.dims<s>>
  %this = hlir.view %padded <(d0) -> (d0)> : tensor<?xi64, #hlir.dims<s + 1>> -> tensor<?xi64, #hlir.dims<s>>
  %signs = hlir.view %minus <(d0) -> ()> : tensor<i64> -> tensor<?xi64, #hlir.dims<s>>
  %negative = hlir.mul %this, %signs : tensor<?xi64, #hlir.dims<s>>
  %steps = hlir.add %next, %negative : tensor<?xi64, #hlir.dims<s>>
  %onesHere = hlir.view %one <(d0) -> ()> : tensor<i64> -> tensor<?xi64, #hlir.dims<s>>
  %isJump = hlir.less_than %onesHere, %steps : tensor<?xi64, #hlir.dims<s>> -> tensor<?xi1, #hlir.dims<s>>
  %jumps = hlir.cast %isJump : tensor<?xi1, #hlir.dims<s>> -> tensor<?xi64, #hlir.dims<s>>
  %jumpsOfAll = hlir.view %jumps <(d0, d1) -> (d1)> : tensor<?xi64, #hlir.dims<s>> -> tensor<?x?xi64, #hlir.dims<s, s>>
  %row = hlir.iota <(d0, d1) -> (d0)> : tensor<?x?xi64, #hlir.dims<s, s>>
  %column = hlir.iota <(d0, d1) -> (d1)> : tensor<?x?xi64, #hlir.dims<s, s>>
  %future = hlir.less_than %row, %column : tensor<?x?xi64, #hlir.dims<s, s>> -> tensor<?x?xi1, #hlir.dims<s, s>>
  %trues = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<?x?xi1, #hlir.dims<s, s>>
  %causal = hlir.less_than %future, %trues : tensor<?x?xi1, #hlir.dims<s, s>> -> tensor<?x?xi1, #hlir.dims<s, s>>
  %zeros = hlir.view %zero <(d0, d1) -> ()> : tensor<i64> -> tensor<?x?xi64, #hlir.dims<s, s>>
  %upTo = hlir.select %causal, %jumpsOfAll, %zeros : tensor<?x?xi1, #hlir.dims<s, s>>, tensor<?x?xi64, #hlir.dims<s, s>>
  %numbers = hlir.reduce_sum %upTo : tensor<?x?xi64, #hlir.dims<s, s>> -> tensor<?xi64, #hlir.dims<s>>
  %ofRow = hlir.gather %numbers, %row : tensor<?xi64, #hlir.dims<s>>, tensor<?x?xi64, #hlir.dims<s, s>> -> tensor<?x?xi64, #hlir.dims<s, s>>
  %ofColumn = hlir.gather %numbers, %column : tensor<?xi64, #hlir.dims<s>>, tensor<?x?xi64, #hlir.dims<s, s>> -> tensor<?x?xi64, #hlir.dims<s, s>>
  %differ = hlir.less_than %ofRow, %ofColumn : tensor<?x?xi64, #hlir.dims<s, s>> -> tensor<?x?xi1, #hlir.dims<s, s>>
  %same = hlir.less_than %differ, %trues : tensor<?x?xi1, #hlir.dims<s, s>> -> tensor<?x?xi1, #hlir.dims<s, s>>
  %mask = hlir.mul %same, %causal : tensor<?x?xi1, #hlir.dims<s, s>>
  return %mask : tensor<?x?xi1, #hlir.dims<s, s>>
}

// -----

// Quotients and remainders: the position of each element, as a reshape and its inverse have it.
// CHECK-LABEL: func.func @quotients
// CHECK:         %[[R:.*]] = hlir.iota <(d0) -> (d0)> : tensor<24xi64>
// CHECK:         return %[[R]]
// REMARK: Function=quotients | is=d0, op=hlir.add
func.func @quotients() -> tensor<24xi64> {
  %row = hlir.iota <(d0, d1) -> (4 * d0)> : tensor<6x4xi64>
  %column = hlir.iota <(d0, d1) -> (d1)> : tensor<6x4xi64>
  %sum = hlir.add %row, %column : tensor<6x4xi64>
  %flat = hlir.view %sum <(d0) -> (d0 floordiv 4, d0 mod 4)> : tensor<6x4xi64> -> tensor<24xi64>
  %zero = hlir.constant dense<0> : tensor<i64>
  %zeros = hlir.view %zero <(d0) -> ()> : tensor<i64> -> tensor<24xi64>
  %r = hlir.add %flat, %zeros : tensor<24xi64>
  return %r : tensor<24xi64>
}

// -----

// One element is another.
// CHECK-LABEL: func.func @differs
// CHECK:         hlir.less_than
func.func @differs() -> tensor<4xi1> {
  %0 = hlir.iota <(d0) -> (d0)> : tensor<4xi64>
  %1 = hlir.constant dense<3> : tensor<i64>
  %2 = hlir.view %1 <(d0) -> ()> : tensor<i64> -> tensor<4xi64>
  %3 = hlir.less_than %0, %2 : tensor<4xi64> -> tensor<4xi1>
  return %3 : tensor<4xi1>
}

// -----

// An index that may be outside is an error of the call, though each row is 0.
// CHECK-LABEL: func.func @outside
// CHECK:         hlir.gather
func.func @outside(%x: tensor<?xf32, #hlir.dims<s>>) -> tensor<?xi64, #hlir.dims<s>>
    attributes {hlir.symbols = #hlir.symbols<s in [1, 9]>} {
  %0 = hlir.constant dense<0> : tensor<i64>
  %1 = hlir.view %0 <(d0) -> ()> : tensor<i64> -> tensor<8xi64>
  %2 = hlir.iota <(d0) -> (d0)> : tensor<?xi64, #hlir.dims<s>>
  %3 = hlir.gather %1, %2 : tensor<8xi64>, tensor<?xi64, #hlir.dims<s>> -> tensor<?xi64, #hlir.dims<s>>
  return %3 : tensor<?xi64, #hlir.dims<s>>
}

// -----

// A sum that wraps is not above what it was.
// CHECK-LABEL: func.func @wraps
// CHECK:         hlir.less_than
func.func @wraps() -> tensor<4xi1> {
  %0 = hlir.iota <(d0) -> (d0)> : tensor<4xi32>
  %1 = hlir.constant dense<2147483645> : tensor<i32>
  %2 = hlir.view %1 <(d0) -> ()> : tensor<i32> -> tensor<4xi32>
  %3 = hlir.add %0, %2 : tensor<4xi32>
  %4 = hlir.less_than %0, %3 : tensor<4xi32> -> tensor<4xi1>
  return %4 : tensor<4xi1>
}

// -----

// Of what is never chosen nothing need be known.
// CHECK-LABEL: func.func @chosen
// CHECK:         %[[R:.*]] = hlir.iota <(d0) -> (d0)> : tensor<4xi64>
// CHECK:         return %[[R]]
func.func @chosen(%x: tensor<4xi64>) -> tensor<4xi64> {
  %0 = hlir.iota <(d0) -> (d0)> : tensor<4xi64>
  %1 = hlir.iota <(d0) -> (d0 + 1)> : tensor<4xi64>
  %2 = hlir.less_than %0, %1 : tensor<4xi64> -> tensor<4xi1>
  %3 = hlir.select %2, %0, %x : tensor<4xi1>, tensor<4xi64>
  return %3 : tensor<4xi64>
}
