// A scatter whose index counts how many segments have begun is a reduction of segments.
// RUN: luminal-opt %s --llir-find-segments --canonicalize | FileCheck %s
// RUN: luminal-opt %s --llir-find-segments --remarks-filter=llir-find-segments -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @sum
// CHECK: %[[BEGINS:.*]] = llir.view %arg1 <(d0) -> (1, d0)> : tensor<3x?xi64, #hlir.dims<b>> -> tensor<?xi64, #hlir.dims<b>>
// CHECK: %[[SUM:.*]] = llir.segment_reduce sum %arg0, %[[BEGINS]]
// CHECK-NOT: llir.scatter
// CHECK: return %[[SUM]]
// REMARK: remark: [Passed] segments {{.*}} Function=sum
func.func @sum(%x: tensor<?x4xf32, #hlir.dims<n>>, %o: tensor<3x?xi64, #hlir.dims<b>>) -> tensor<?x4xf32, #hlir.dims<b>>
    attributes {hlir.symbols = #hlir.symbols<b in [0, 4096], n in [0, 4096]>} {
  %0 = llir.view %o <(d0, d1) -> (1, d1)> : tensor<3x?xi64, #hlir.dims<b>> -> tensor<?x?xi64, #hlir.dims<n, b>>
  %1 = llir.iota <(d0, d1) -> (d0)> : tensor<?x?xi64, #hlir.dims<n, b>>
  %2 = llir.elementwise less_equal(%0, %1) : (tensor<?x?xi64, #hlir.dims<n, b>>, tensor<?x?xi64, #hlir.dims<n, b>>) -> tensor<?x?xi1, #hlir.dims<n, b>>
  %3 = llir.elementwise cast(%2) : (tensor<?x?xi1, #hlir.dims<n, b>>) -> tensor<?x?xi64, #hlir.dims<n, b>>
  %4 = llir.reduce sum %3 : tensor<?x?xi64, #hlir.dims<n, b>> -> tensor<?xi64, #hlir.dims<n>>
  %5 = llir.constant dense<-1> : tensor<i64>
  %6 = llir.view %5 <(d0) -> ()> : tensor<i64> -> tensor<?xi64, #hlir.dims<n>>
  %7 = llir.elementwise add(%6, %4) : (tensor<?xi64, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<n>>) -> tensor<?xi64, #hlir.dims<n>>
  %8 = llir.constant dense<0.0> : tensor<f32>
  %9 = llir.view %8 <(d0, d1) -> ()> : tensor<f32> -> tensor<?x4xf32, #hlir.dims<b>>
  %10 = llir.scatter add %9, %7, %x {checked} : tensor<?x4xf32, #hlir.dims<b>>, tensor<?xi64, #hlir.dims<n>>, tensor<?x4xf32, #hlir.dims<n>>
  return %10 : tensor<?x4xf32, #hlir.dims<b>>
}

// Of i32 begins, which are counted as i64; a maximum begins with the least value.
// CHECK-LABEL: @max
// CHECK: %[[WIDE:.*]] = llir.elementwise cast(%{{.*}}) : (tensor<5xi32>) -> tensor<5xi64>
// CHECK: llir.segment_reduce max %arg0, %[[WIDE]] : tensor<9x4xf16>, tensor<5xi64> -> tensor<5x4xf16>
func.func @max(%x: tensor<9x4xf16>, %o: tensor<5xi32>) -> tensor<5x4xf16> {
  %c = llir.elementwise cast(%o) : (tensor<5xi32>) -> tensor<5xi64>
  %0 = llir.view %c <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<9x5xi64>
  %1 = llir.iota <(d0, d1) -> (d0)> : tensor<9x5xi64>
  %2 = llir.elementwise less_equal(%0, %1) : (tensor<9x5xi64>, tensor<9x5xi64>) -> tensor<9x5xi1>
  %3 = llir.elementwise cast(%2) : (tensor<9x5xi1>) -> tensor<9x5xi64>
  %4 = llir.reduce sum %3 : tensor<9x5xi64> -> tensor<9xi64>
  %5 = llir.constant dense<-1> : tensor<9xi64>
  %6 = llir.elementwise add(%4, %5) : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>
  %7 = llir.constant dense<0xFC00> : tensor<5x4xf16>
  %8 = llir.scatter max %7, %6, %x {checked} : tensor<5x4xf16>, tensor<9xi64>, tensor<9x4xf16>
  return %8 : tensor<5x4xf16>
}

// What counts otherwise, begins with something, or has more rows than segments stays as it is.
// CHECK-LABEL: @others
// CHECK: llir.scatter add
// REMARK: remark: [Missed] segments {{.*}} Function=others | reason="its indices do not count where segments begin"
// CHECK: llir.scatter add
// REMARK: remark: [Missed] segments {{.*}} Function=others | reason="there are more rows than segments"
// CHECK: llir.scatter add
// REMARK: remark: [Missed] segments {{.*}} Function=others | reason="the destination does not hold the initial value of the reduction"
// CHECK: llir.scatter set
// REMARK: remark: [Missed] segments {{.*}} Function=others | reason="it sets rows"
// CHECK-NOT: llir.segment_reduce
func.func @others(%x: tensor<9x4xf32>, %o: tensor<9x5xi64>, %p: tensor<5xi64>)
    -> (tensor<5x4xf32>, tensor<6x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>) {
  %1 = llir.iota <(d0, d1) -> (d0)> : tensor<9x5xi64>
  %2 = llir.elementwise less_equal(%o, %1) : (tensor<9x5xi64>, tensor<9x5xi64>) -> tensor<9x5xi1>
  %3 = llir.elementwise cast(%2) : (tensor<9x5xi1>) -> tensor<9x5xi64>
  %4 = llir.reduce sum %3 : tensor<9x5xi64> -> tensor<9xi64>
  %5 = llir.constant dense<-1> : tensor<9xi64>
  %6 = llir.elementwise add(%4, %5) : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>
  %7 = llir.constant dense<0.0> : tensor<5x4xf32>
  %8 = llir.scatter add %7, %6, %x {checked} : tensor<5x4xf32>, tensor<9xi64>, tensor<9x4xf32>
  %10 = llir.view %p <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<9x5xi64>
  %12 = llir.elementwise less_equal(%10, %1) : (tensor<9x5xi64>, tensor<9x5xi64>) -> tensor<9x5xi1>
  %13 = llir.elementwise cast(%12) : (tensor<9x5xi1>) -> tensor<9x5xi64>
  %14 = llir.reduce sum %13 : tensor<9x5xi64> -> tensor<9xi64>
  %16 = llir.elementwise add(%14, %5) : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>
  %17 = llir.constant dense<0.0> : tensor<6x4xf32>
  %18 = llir.scatter add %17, %16, %x {checked} : tensor<6x4xf32>, tensor<9xi64>, tensor<9x4xf32>
  %19 = llir.constant dense<1.0> : tensor<5x4xf32>
  %20 = llir.scatter add %19, %16, %x {checked} : tensor<5x4xf32>, tensor<9xi64>, tensor<9x4xf32>
  %21 = llir.scatter set %7, %16, %x {checked} : tensor<5x4xf32>, tensor<9xi64>, tensor<9x4xf32>
  return %8, %18, %20, %21 : tensor<5x4xf32>, tensor<6x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>
}

// Rows that are sorted by their group, whose ends are sums of counts: the number that is counted is the group.
// CHECK-LABEL: @groups
// CHECK: %[[O:.*]] = llir.argsort
// CHECK: %[[K:.*]] = llir.gather %{{.*}}, %{{.*}}
// CHECK: %[[F:.*]] = llir.elementwise floor
// CHECK: %[[G:.*]] = llir.elementwise cast(%[[F]])
// CHECK-NOT: llir.reduce
// CHECK: return %[[G]]
// REMARK: remark: [Passed] groups {{.*}} Function=groups
func.func @groups(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %float = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xf32>
  %half = llir.constant dense<0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// Near misses: the order is the other way round;
// CHECK-LABEL: @groupsDown
// CHECK: llir.reduce
func.func @groupsDown(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row {descending = true} : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %float = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xf32>
  %half = llir.constant dense<0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// it is the order of other numbers;
// CHECK-LABEL: @groupsOfOthers
// CHECK: llir.reduce
func.func @groupsOfOthers(%keys: tensor<4x3xi64>, %others: tensor<12xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %others, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %float = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xf32>
  %half = llir.constant dense<0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// rows count as two;
// CHECK-LABEL: @groupsTwice
// CHECK: llir.reduce
func.func @groupsTwice(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %float = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xf32>
  %half = llir.constant dense<0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<2> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// a row may have no group;
// CHECK-LABEL: @groupsChecked
// CHECK: llir.reduce
func.func @groupsChecked(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %float = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xf32>
  %half = llir.constant dense<0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones {checked} : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// bins fall as numbers rise;
// CHECK-LABEL: @groupsFalling
// CHECK: llir.reduce
func.func @groupsFalling(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %float = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xf32>
  %half = llir.constant dense<-0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// a number may wrap around;
// CHECK-LABEL: @groupsWrapped
// CHECK: llir.reduce
func.func @groupsWrapped(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %small = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xi32>
  %float = llir.elementwise cast(%small) : (tensor<12xi32>) -> tensor<12xf32>
  %half = llir.constant dense<0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// sums are of the groups before.
// CHECK-LABEL: @groupsExclusive
// CHECK: llir.reduce
func.func @groupsExclusive(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %float = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xf32>
  %half = llir.constant dense<0.5> : tensor<12xf32>
  %times = llir.elementwise mul(%half, %float) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %floor = llir.elementwise floor(%times) : (tensor<12xf32>) -> tensor<12xf32>
  %bins = llir.elementwise cast(%floor) : (tensor<12xf32>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<5xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<5xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<5xi64>) -> tensor<5xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, exclusive = true, kind = #llir.scan_kind<sum>} : tensor<5xi32> -> tensor<5xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<5xi32>) -> tensor<5xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<5xi64> -> tensor<12x5xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x5xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x5xi64>, tensor<12x5xi64>) -> tensor<12x5xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x5xi1>) -> tensor<12x5xi64>
  %group = llir.reduce sum %one : tensor<12x5xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}
