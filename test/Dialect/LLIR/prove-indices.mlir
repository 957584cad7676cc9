// RUN: luminal-opt %s --llir-prove-indices | FileCheck %s

// CHECK-LABEL: func.func @iota
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @iota(%x: tensor<8xf32>) -> tensor<4xf32> {
  %i = llir.iota <(d0) -> (d0 * 2)> : tensor<4xi64>
  %r = llir.gather %x, %i {checked} : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @iota_too_far
// CHECK: {checked}
func.func @iota_too_far(%x: tensor<8xf32>) -> tensor<4xf32> {
  %i = llir.iota <(d0) -> (d0 * 3)> : tensor<4xi64>
  %r = llir.gather %x, %i {checked} : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @symbolic
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<?xf32
func.func @symbolic(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 - 1>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [2, 64]>} {
  %i = llir.iota <(d0) -> (d0 + 1)> : tensor<?xi64, #hlir.dims<s0 - 1>>
  %r = llir.gather %x, %i {checked} : tensor<?xf32, #hlir.dims<s0>>, tensor<?xi64, #hlir.dims<s0 - 1>>
      -> tensor<?xf32, #hlir.dims<s0 - 1>>
  return %r : tensor<?xf32, #hlir.dims<s0 - 1>>
}

// CHECK-LABEL: func.func @constant
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<8xf32>
// CHECK: llir.scatter set %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @constant(%x: tensor<8xf32>) -> tensor<8xf32> {
  %i = llir.constant dense<[0, 7]> : tensor<2xi64>
  %r = llir.gather %x, %i {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  %s = llir.scatter set %x, %i, %r {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %s : tensor<8xf32>
}

// CHECK-LABEL: func.func @negative_constant
// CHECK: {checked}
func.func @negative_constant(%x: tensor<8xf32>) -> tensor<2xf32> {
  %i = llir.constant dense<[0, -1]> : tensor<2xi64>
  %r = llir.gather %x, %i {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// An index that wraps from the end, as the importer writes it: the value of the
// constant decides the select.
// CHECK-LABEL: func.func @wrapped
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @wrapped(%x: tensor<8xf32>) -> tensor<2xf32> {
  %i = llir.constant dense<[1, 2]> : tensor<2xi64>
  %z = llir.constant dense<0> : tensor<2xi64>
  %n = llir.constant dense<8> : tensor<2xi64>
  %neg = llir.elementwise less_than(%i, %z) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %w = llir.elementwise add(%i, %n) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %j = llir.elementwise select(%neg, %w, %i) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = llir.gather %x, %j {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// An index of unknown value, clamped by two selects.
// CHECK-LABEL: func.func @clamped
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @clamped(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %z = llir.constant dense<0> : tensor<2xi64>
  %m = llir.constant dense<7> : tensor<2xi64>
  %low = llir.elementwise less_than(%i, %z) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %a = llir.elementwise select(%low, %z, %i) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %high = llir.elementwise less_than(%m, %a) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %b = llir.elementwise select(%high, %m, %a) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = llir.gather %x, %b {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @min_max
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @min_max(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %z = llir.constant dense<0> : tensor<2xi64>
  %m = llir.constant dense<7> : tensor<2xi64>
  %a = llir.elementwise max(%i, %z) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %b = llir.elementwise min(%a, %m) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = llir.gather %x, %b {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// An unknown index stays checked.
// CHECK-LABEL: func.func @unknown
// CHECK: {checked}
func.func @unknown(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %r = llir.gather %x, %i {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// i32 arithmetic that wraps proves nothing.
// CHECK-LABEL: func.func @wraps
// CHECK: {checked}
func.func @wraps(%x: tensor<8xf32>) -> tensor<2xf32> {
  %i = llir.constant dense<2147483647> : tensor<2xi32>
  %j = llir.elementwise add(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %m = llir.constant dense<2147483646> : tensor<2xi32>
  %k = llir.elementwise sub(%j, %m) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %l = llir.elementwise sub(%k, %m) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %r = llir.gather %x, %l {checked} : tensor<8xf32>, tensor<2xi32> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// An unproved index is checked, whatever the program says.
// CHECK-LABEL: func.func @unchecked
// CHECK: llir.gather {{.*}} {checked}
// CHECK: llir.scatter {{.*}} {checked}
func.func @unchecked(%x: tensor<8xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<2xf32>, tensor<8xf32>) {
  %r = llir.gather %x, %i : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  %s = llir.scatter set %x, %i, %u : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %r, %s : tensor<2xf32>, tensor<8xf32>
}

// Through kernels: what an operand is made of, and what a kernel yields.
// CHECK-LABEL: @throughKernels
// CHECK: llir.gather %{{[^ ]*}}, %{{[^ ]*}} : tensor<8xf32>, tensor<4xi64>
// CHECK: llir.gather %{{[^ ]*}}, %{{[^ ]*}} {checked} : tensor<8xf32>, tensor<4xi64>
func.func @throughKernels(%x: tensor<8xf32>, %given: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %i = llir.kernel() : () -> tensor<4xi64> {
    %0 = llir.iota <(d0) -> (d0 + 4)> : tensor<4xi64>
    llir.yield %0 : tensor<4xi64>
  }
  %a = llir.kernel(%x, %i) : (tensor<8xf32>, tensor<4xi64>) -> tensor<4xf32> {
  ^bb0(%table: tensor<8xf32>, %index: tensor<4xi64>):
    %0 = llir.gather %table, %index {checked} : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  %b = llir.kernel(%x, %given) : (tensor<8xf32>, tensor<4xi64>) -> tensor<4xf32> {
  ^bb0(%table: tensor<8xf32>, %index: tensor<4xi64>):
    %0 = llir.gather %table, %index : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A comparison that is the same for every element is not computed: places in an order are no less than 0, nor are their quotients,
// and of rows that are set with places none is. In kernels nothing is folded, for their schedules number the ops.
// CHECK-LABEL: @folded
// CHECK-NOT: select
// CHECK: %[[O:.*]] = llir.argsort
// CHECK: %[[V:.*]] = llir.view %[[O]]
// CHECK: %[[Q:.*]] = llir.elementwise floor_div(%[[V]], %{{.*}})
// CHECK-NOT: add
// CHECK: llir.gather %{{.*}}, %[[Q]] : tensor<2xf32>
// CHECK: %[[S:.*]] = llir.scatter set %{{.*}}, %[[V]], %{{.*}} : tensor<8xi64>
// CHECK: llir.gather %{{.*}}, %[[S]] : tensor<8xf32>
func.func @folded(%keys: tensor<1x8xf32>, %few: tensor<2xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %order = llir.argsort %keys : tensor<1x8xf32> -> tensor<1x8xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x8xi64> -> tensor<8xi64>
  %zero = llir.constant dense<0> : tensor<8xi64>
  %two = llir.constant dense<2> : tensor<8xi64>
  %four = llir.constant dense<4> : tensor<8xi64>
  %0 = llir.elementwise floor_div(%places, %four) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %1 = llir.elementwise less_than(%0, %zero) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %2 = llir.elementwise add(%0, %two) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %3 = llir.elementwise select(%1, %2, %0) : (tensor<8xi1>, tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %4 = llir.gather %few, %3 {checked} : tensor<2xf32>, tensor<8xi64> -> tensor<8xf32>
  %iota = llir.iota <(d0) -> (d0)> : tensor<8xi64>
  %5 = llir.scatter set %zero, %places, %iota {checked} : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>
  %6 = llir.elementwise less_than(%5, %zero) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %7 = llir.elementwise add(%5, %four) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %8 = llir.elementwise select(%6, %7, %5) : (tensor<8xi1>, tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %9 = llir.gather %x, %8 {checked} : tensor<8xf32>, tensor<8xi64> -> tensor<8xf32>
  return %4, %9 : tensor<8xf32>, tensor<8xf32>
}

// Sums of updates have no bounds; a value that was read may be below 0.
// CHECK-LABEL: @notFolded
// CHECK: llir.elementwise select
// CHECK: llir.gather {{.*}} {checked}
// CHECK: llir.elementwise select
func.func @notFolded(%places: tensor<8xi64>, %i: tensor<8xi64>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  %zero = llir.constant dense<0> : tensor<8xi64>
  %iota = llir.iota <(d0) -> (d0)> : tensor<8xi64>
  %5 = llir.scatter add %zero, %places, %iota {checked} : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>
  %6 = llir.elementwise less_than(%5, %zero) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %8 = llir.elementwise select(%6, %iota, %5) : (tensor<8xi1>, tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %9 = llir.gather %x, %8 {checked} : tensor<8xf32>, tensor<8xi64> -> tensor<8xf32>
  %10 = llir.elementwise less_than(%i, %zero) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %11 = llir.elementwise select(%10, %iota, %i) : (tensor<8xi1>, tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  return %9, %11 : tensor<8xf32>, tensor<8xi64>
}

// Floats that follow from integers with bounds: bins of a histogram are inside, and each number is.
// CHECK-LABEL: @histogram
// CHECK-NOT: select
// CHECK: %[[TRUE:.*]] = llir.view %{{.*}} <(d0) -> ()> : tensor<i1> -> tensor<9xi1>
// CHECK: llir.elementwise cast(%[[TRUE]])
// CHECK: llir.scatter add %{{.*}}, %{{.*}}, %{{.*}} : tensor<9xi64>
func.func @histogram(%keys: tensor<1x9xf32>) -> tensor<9xi64> {
  %order = llir.argsort %keys : tensor<1x9xf32> -> tensor<1x9xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x9xi64> -> tensor<9xi64>
  %x = llir.elementwise cast(%places) : (tensor<9xi64>) -> tensor<9xf32>
  %low = llir.constant dense<0.0> : tensor<9xf32>
  %high = llir.constant dense<8.0> : tensor<9xf32>
  %count = llir.constant dense<9.0> : tensor<9xf32>
  %a = llir.elementwise less_equal(%low, %x) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
  %b = llir.elementwise less_equal(%x, %high) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
  %inside = llir.elementwise mul(%a, %b) : (tensor<9xi1>, tensor<9xi1>) -> tensor<9xi1>
  %0 = llir.elementwise mul(%x, %count) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %1 = llir.elementwise div(%0, %high) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %2 = llir.elementwise floor(%1) : (tensor<9xf32>) -> tensor<9xf32>
  %3 = llir.elementwise min(%2, %high) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %4 = llir.elementwise select(%inside, %3, %low) : (tensor<9xi1>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %bins = llir.elementwise cast(%4) : (tensor<9xf32>) -> tensor<9xi64>
  %ones = llir.elementwise cast(%inside) : (tensor<9xi1>) -> tensor<9xi64>
  %zeros = llir.constant dense<0> : tensor<9xi64>
  %5 = llir.scatter add %zeros, %bins, %ones {checked} : tensor<9xi64>, tensor<9xi64>, tensor<9xi64>
  return %5 : tensor<9xi64>
}

// Without the last minimum the greatest is 9.
// CHECK-LABEL: @beyond
// CHECK: llir.gather {{.*}} {checked}
func.func @beyond(%keys: tensor<1x9xf32>, %t: tensor<9xf32>) -> tensor<9xf32> {
  %order = llir.argsort %keys : tensor<1x9xf32> -> tensor<1x9xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x9xi64> -> tensor<9xi64>
  %x = llir.elementwise cast(%places) : (tensor<9xi64>) -> tensor<9xf32>
  %high = llir.constant dense<8.0> : tensor<9xf32>
  %count = llir.constant dense<9.0> : tensor<9xf32>
  %0 = llir.elementwise mul(%x, %count) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %1 = llir.elementwise div(%0, %high) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %2 = llir.elementwise floor(%1) : (tensor<9xf32>) -> tensor<9xf32>
  %3 = llir.elementwise cast(%2) : (tensor<9xf32>) -> tensor<9xi64>
  %4 = llir.gather %t, %3 {checked} : tensor<9xf32>, tensor<9xi64> -> tensor<9xf32>
  return %4 : tensor<9xf32>
}

// A product that is rounded up: 8191 (1 + 2^-13) is 8191.99988, and 8192 in f32.
// CHECK-LABEL: @rounded_up
// CHECK: llir.gather {{.*}} {checked}
func.func @rounded_up(%keys: tensor<1x8192xf32>, %t: tensor<8192xf32>) -> tensor<8192xf32> {
  %order = llir.argsort %keys : tensor<1x8192xf32> -> tensor<1x8192xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x8192xi64> -> tensor<8192xi64>
  %x = llir.elementwise cast(%places) : (tensor<8192xi64>) -> tensor<8192xf32>
  %near = llir.constant dense<1.0001220703125> : tensor<8192xf32>
  %0 = llir.elementwise mul(%x, %near) : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  %1 = llir.elementwise cast(%0) : (tensor<8192xf32>) -> tensor<8192xi64>
  %2 = llir.gather %t, %1 {checked} : tensor<8192xf32>, tensor<8192xi64> -> tensor<8192xf32>
  return %2 : tensor<8192xf32>
}

// Positions that a kernel has sorted are inside the row, also those of runs that another one merges.
// CHECK-LABEL: func.func @sorted
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<4096xf32>
func.func @sorted(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0:2 = llir.kernel(%x) : (tensor<4096xf32>) -> (tensor<4096xi32>, tensor<4096xi32>) {
  ^bb0(%a: tensor<4096xf32>):
    %4:2 = llir.sort_runs %a {keep = #hlir.map<() -> (2048)>, run = 2048 : i64} : tensor<4096xf32> -> tensor<4096xi32>, tensor<4096xi32>
    llir.yield %4#0, %4#1 : tensor<4096xi32>, tensor<4096xi32>
  }
  %1 = llir.kernel(%0#0, %0#1) : (tensor<4096xi32>, tensor<4096xi32>) -> tensor<4096xi64> {
  ^bb0(%p: tensor<4096xi32>, %k: tensor<4096xi32>):
    %5 = llir.merge_runs %p, %k {keep = #hlir.map<() -> (4096)>, run = #hlir.map<() -> (2048)>, ways = 2 : i64} : tensor<4096xi32>, tensor<4096xi32> -> tensor<4096xi64>
    llir.yield %5 : tensor<4096xi64>
  }
  %2 = llir.kernel(%x, %1) : (tensor<4096xf32>, tensor<4096xi64>) -> tensor<4096xf32> {
  ^bb0(%a: tensor<4096xf32>, %i: tensor<4096xi64>):
    %6 = llir.gather %a, %i {checked} : tensor<4096xf32>, tensor<4096xi64> -> tensor<4096xf32>
    llir.yield %6 : tensor<4096xf32>
  }
  return %2 : tensor<4096xf32>
}

// -----

// A condition that is decided is decided for what views it: the select goes.
// CHECK-LABEL: @decided_through_a_view
// CHECK-NOT: select
// CHECK: return %arg0
func.func @decided_through_a_view(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %at = llir.iota <(d0) -> (d0)> : tensor<8xi64>
  %end = llir.constant dense<8> : tensor<i64>
  %ends = llir.view %end <(d0) -> ()> : tensor<i64> -> tensor<8xi64>
  %is = llir.elementwise less_equal(%ends, %at) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %wide = llir.view %is <(d0, d1) -> (d0)> : tensor<8xi1> -> tensor<8x16xi1>
  %r = llir.elementwise select(%wide, %y, %x) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// A near miss: the last element differs.
// CHECK-LABEL: @undecided_through_a_view
// CHECK: select
func.func @undecided_through_a_view(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %at = llir.iota <(d0) -> (d0)> : tensor<8xi64>
  %end = llir.constant dense<7> : tensor<i64>
  %ends = llir.view %end <(d0) -> ()> : tensor<i64> -> tensor<8xi64>
  %is = llir.elementwise less_equal(%ends, %at) : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %wide = llir.view %is <(d0, d1) -> (d0)> : tensor<8xi1> -> tensor<8x16xi1>
  %r = llir.elementwise select(%wide, %y, %x) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// Bins of integers, as many as there are integers: each is its own.
// CHECK-LABEL: func.func @own_bin
// CHECK: %[[PLACE:.*]] = llir.argsort
// CHECK: %[[ROW:.*]] = llir.view %[[PLACE]]
// CHECK-NEXT: return %[[ROW]]
func.func @own_bin(%x: tensor<1x128xf32>) -> tensor<128xi64> {
  %p = llir.argsort %x : tensor<1x128xf32> -> tensor<1x128xi64>
  %i = llir.view %p <(d0) -> (0, d0)> : tensor<1x128xi64> -> tensor<128xi64>
  %f = llir.elementwise cast(%i) : (tensor<128xi64>) -> tensor<128xf32>
  %n = llir.constant dense<128.0> : tensor<f32>
  %ns = llir.view %n <(d0) -> ()> : tensor<f32> -> tensor<128xf32>
  %m = llir.constant dense<127.0> : tensor<f32>
  %ms = llir.view %m <(d0) -> ()> : tensor<f32> -> tensor<128xf32>
  %s = llir.elementwise mul(%f, %ns) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  %q = llir.elementwise div(%s, %ms) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  %b = llir.elementwise floor(%q) : (tensor<128xf32>) -> tensor<128xf32>
  %c = llir.elementwise min(%b, %ms) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  %r = llir.elementwise cast(%c) : (tensor<128xf32>) -> tensor<128xi64>
  return %r : tensor<128xi64>
}

// -----

// One bin less: the last two integers share one.
// CHECK-LABEL: func.func @shared_bin
// CHECK: llir.elementwise floor
// CHECK: return
func.func @shared_bin(%x: tensor<1x128xf32>) -> tensor<128xi64> {
  %p = llir.argsort %x : tensor<1x128xf32> -> tensor<1x128xi64>
  %i = llir.view %p <(d0) -> (0, d0)> : tensor<1x128xi64> -> tensor<128xi64>
  %f = llir.elementwise cast(%i) : (tensor<128xi64>) -> tensor<128xf32>
  %m = llir.constant dense<126.0> : tensor<f32>
  %ms = llir.view %m <(d0) -> ()> : tensor<f32> -> tensor<128xf32>
  %b = llir.elementwise floor(%f) : (tensor<128xf32>) -> tensor<128xf32>
  %c = llir.elementwise min(%b, %ms) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  %r = llir.elementwise cast(%c) : (tensor<128xf32>) -> tensor<128xi64>
  return %r : tensor<128xi64>
}

// The bits of a number that is not negative bound those that it shares with any.
// CHECK-LABEL: func.func @bits
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @bits(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %m = llir.constant dense<7> : tensor<2xi64>
  %j = llir.elementwise bit_and(%i, %m) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = llir.gather %x, %j {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @bits_of_negative
// CHECK: {checked}
func.func @bits_of_negative(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %m = llir.constant dense<-8> : tensor<2xi64>
  %j = llir.elementwise bit_and(%i, %m) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = llir.gather %x, %j {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// Shifted to the right, a number that is not negative does not grow.
// CHECK-LABEL: func.func @shifted
// CHECK: llir.gather %{{.*}}, %{{.*}} : tensor<8xf32>
func.func @shifted(%x: tensor<8xf32>, %i: tensor<2xi64>, %n: tensor<2xi64>) -> tensor<2xf32> {
  %m = llir.constant dense<7> : tensor<2xi64>
  %j = llir.elementwise bit_and(%i, %m) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %k = llir.elementwise shift_right(%j, %n) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = llir.gather %x, %k {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @shifted_left
// CHECK: {checked}
func.func @shifted_left(%x: tensor<8xf32>, %i: tensor<2xi64>, %n: tensor<2xi64>) -> tensor<2xf32> {
  %m = llir.constant dense<7> : tensor<2xi64>
  %j = llir.elementwise bit_and(%i, %m) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %k = llir.elementwise shift_left(%j, %n) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = llir.gather %x, %k {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  return %r : tensor<2xf32>
}
