// Sorting by ranks (Order.pdll): programs in which the rules find an order,
// and beside them near misses.

// RUN: luminal-opt %s --luminal-pipeline="target=cpu until=saturated" | FileCheck %s

// The same on a GPU.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_80 until=saturated" | FileCheck %s

// Sort: the number of lesser elements, and of equal ones before it.
// CHECK-LABEL: func.func @ascending(
// CHECK: %[[O:.*]] = llir.argsort %arg0 : tensor<200xi32> -> tensor<200xi64>
// CHECK: %[[R:.*]] = llir.gather %arg2, %[[O]] : tensor<200xf16>, tensor<200xi64> -> tensor<200xf16>
// CHECK: return %[[R]]
func.func @ascending(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ne = hlir.select %lt, %lt, %gt : tensor<200x200xi1>, tensor<200x200xi1>
  %same = hlir.less_than %ne, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %tie = hlir.mul %same, %first : tensor<200x200xi1>
  %before = hlir.select %lt, %lt, %tie : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// The same: those before it that are not greater, those behind it that are less, counted by a select.
// CHECK-LABEL: func.func @respelled(
// CHECK: %[[O:.*]] = llir.argsort %arg0 : tensor<200xi32> -> tensor<200xi64>
// CHECK: %[[R:.*]] = llir.gather %arg2, %[[O]] : tensor<200xf16>, tensor<200xi64> -> tensor<200xf16>
// CHECK: return %[[R]]
func.func @respelled(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %le = hlir.less_than %gt, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %before = hlir.select %first, %le, %lt : tensor<200x200xi1>, tensor<200x200xi1>
  %0 = hlir.constant dense<0> : tensor<i64>
  %1 = hlir.constant dense<1> : tensor<i64>
  %zeros = hlir.view %0 <(d0, d1) -> ()> : tensor<i64> -> tensor<200x200xi64>
  %ones = hlir.view %1 <(d0, d1) -> ()> : tensor<i64> -> tensor<200x200xi64>
  %n = hlir.select %before, %ones, %zeros : tensor<200x200xi1>, tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// Those before it that are not less, those behind it that are greater.
// CHECK-LABEL: func.func @descending(
// CHECK: %[[O:.*]] = llir.argsort %arg0 {descending = true} : tensor<200xi32> -> tensor<200xi64>
// CHECK: %[[R:.*]] = llir.gather %arg2, %[[O]] : tensor<200xf16>, tensor<200xi64> -> tensor<200xf16>
// CHECK: return %[[R]]
func.func @descending(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ge = hlir.less_than %lt, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %before = hlir.select %first, %ge, %gt : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// SortFirst: only what is read is looked for.
// CHECK-LABEL: func.func @first_three(
// CHECK: %[[O:.*]] = llir.argsort %arg0 : tensor<200xi32> -> tensor<3xi64>
// CHECK: llir.gather %arg2, %[[O]] : tensor<200xf16>, tensor<3xi64> -> tensor<3xf16>
func.func @first_three(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<3xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ne = hlir.select %lt, %lt, %gt : tensor<200x200xi1>, tensor<200x200xi1>
  %same = hlir.less_than %ne, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %tie = hlir.mul %same, %first : tensor<200x200xi1>
  %before = hlir.select %lt, %lt, %tie : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  %few = hlir.view %r <(d0) -> (d0)> : tensor<200xf16> -> tensor<3xf16>
  return %few : tensor<3xf16>
}

// So it is where that is one element.
// CHECK-LABEL: func.func @third(
// CHECK: %[[O:.*]] = llir.argsort %arg0 {begin = #hlir.map<() -> (2)>} : tensor<200xi32> -> tensor<1xi64>
func.func @third(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<f16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ne = hlir.select %lt, %lt, %gt : tensor<200x200xi1>, tensor<200x200xi1>
  %same = hlir.less_than %ne, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %tie = hlir.mul %same, %first : tensor<200x200xi1>
  %before = hlir.select %lt, %lt, %tie : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  %few = hlir.view %r <() -> (2)> : tensor<200xf16> -> tensor<f16>
  return %few : tensor<f16>
}

// Equal elements all have the rank of the first of them.
// CHECK-LABEL: func.func @not_a_permutation(
// CHECK-NOT: llir.argsort
// CHECK: return
func.func @not_a_permutation(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ge = hlir.less_than %lt, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %before = hlir.less_than %ge, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// Equal elements are in the reverse of their order.
// CHECK-LABEL: func.func @not_stable(
// CHECK-NOT: llir.argsort
// CHECK: return
func.func @not_stable(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %i, %j : tensor<200x200xi64> -> tensor<200x200xi1>
  %le = hlir.less_than %gt, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %before = hlir.select %first, %le, %lt : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// NaN is neither less nor greater than any number: no total order.
// CHECK-LABEL: func.func @nan_is_equal_to_all(
// CHECK-NOT: llir.argsort
// CHECK: return
func.func @nan_is_equal_to_all(%x: tensor<200xf32>, %y: tensor<200xf32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xf32> -> tensor<200x200xf32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xf32> -> tensor<200x200xf32>
  %lt = hlir.less_than %b, %a : tensor<200x200xf32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xf32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ne = hlir.select %lt, %lt, %gt : tensor<200x200xi1>, tensor<200x200xi1>
  %same = hlir.less_than %ne, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %tie = hlir.mul %same, %first : tensor<200x200xi1>
  %before = hlir.select %lt, %lt, %tie : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// Those before it are compared by %y, those behind it by %x.
// CHECK-LABEL: func.func @other_keys(
// CHECK-NOT: llir.argsort
// CHECK: return
func.func @other_keys(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %c = hlir.view %y <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %d = hlir.view %y <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %c, %d : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %le = hlir.less_than %gt, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %before = hlir.select %first, %le, %lt : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// One element of the result is not written.
// CHECK-LABEL: func.func @not_covered(
// CHECK-NOT: llir.argsort
// CHECK: return
func.func @not_covered(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<201xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ne = hlir.select %lt, %lt, %gt : tensor<200x200xi1>, tensor<200x200xi1>
  %same = hlir.less_than %ne, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %tie = hlir.mul %same, %first : tensor<200x200xi1>
  %before = hlir.select %lt, %lt, %tie : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<201xf16>
  %r = hlir.scatter set %empty, %rank, %p : tensor<201xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<201xf16>
}

// The same, in effect; but no other spelling of it.
// CHECK-LABEL: func.func @added(
// CHECK-NOT: llir.argsort
// CHECK: return
func.func @added(%x: tensor<200xi32>, %y: tensor<200xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<200x200xi1>
  %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<200xi32> -> tensor<200x200xi32>
  %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xi32> -> tensor<200x200xi32>
  %lt = hlir.less_than %b, %a : tensor<200x200xi32> -> tensor<200x200xi1>
  %gt = hlir.less_than %a, %b : tensor<200x200xi32> -> tensor<200x200xi1>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %first = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %ne = hlir.select %lt, %lt, %gt : tensor<200x200xi1>, tensor<200x200xi1>
  %same = hlir.less_than %ne, %yes : tensor<200x200xi1> -> tensor<200x200xi1>
  %tie = hlir.mul %same, %first : tensor<200x200xi1>
  %before = hlir.select %lt, %lt, %tie : tensor<200x200xi1>, tensor<200x200xi1>
  %n = hlir.cast %before : tensor<200x200xi1> -> tensor<200x200xi64>
  %rank = hlir.reduce_sum %n : tensor<200x200xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter add %empty, %rank, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}

// Each row is written to the place of the other one.
// CHECK-LABEL: func.func @other_row(
// CHECK-NOT: llir.argsort
// CHECK: return
func.func @other_row(%x: tensor<2x100xi32>, %p: tensor<200xf16>) -> tensor<200xf16> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1, d2) -> ()> : tensor<i1> -> tensor<2x100x100xi1>
  %a = hlir.view %x <(d0, d1, d2) -> (d0, d1)> : tensor<2x100xi32> -> tensor<2x100x100xi32>
  %b = hlir.view %x <(d0, d1, d2) -> (d0, d2)> : tensor<2x100xi32> -> tensor<2x100x100xi32>
  %lt = hlir.less_than %b, %a : tensor<2x100x100xi32> -> tensor<2x100x100xi1>
  %gt = hlir.less_than %a, %b : tensor<2x100x100xi32> -> tensor<2x100x100xi1>
  %i = hlir.iota <(d0, d1, d2) -> (d1)> : tensor<2x100x100xi64>
  %j = hlir.iota <(d0, d1, d2) -> (d2)> : tensor<2x100x100xi64>
  %first = hlir.less_than %j, %i : tensor<2x100x100xi64> -> tensor<2x100x100xi1>
  %le = hlir.less_than %gt, %yes : tensor<2x100x100xi1> -> tensor<2x100x100xi1>
  %before = hlir.select %first, %le, %lt : tensor<2x100x100xi1>, tensor<2x100x100xi1>
  %n = hlir.cast %before : tensor<2x100x100xi1> -> tensor<2x100x100xi64>
  %rank = hlir.reduce_sum %n : tensor<2x100x100xi64> -> tensor<2x100xi64>
  %base = hlir.iota <(d0, d1) -> (100 - 100 * d0)> : tensor<2x100xi64>
  %place = hlir.add %rank, %base : tensor<2x100xi64>
  %flat = hlir.view %place <(d0) -> (d0 floordiv 100, d0 mod 100)> : tensor<2x100xi64> -> tensor<200xi64>
  %z = hlir.constant dense<0.0> : tensor<f16>
  %empty = hlir.view %z <(d0) -> ()> : tensor<f16> -> tensor<200xf16>
  %r = hlir.scatter set %empty, %flat, %p : tensor<200xf16>, tensor<200xi64>, tensor<200xf16>
  return %r : tensor<200xf16>
}
