// Scans and sorts become kernels on a machine with threads in blocks. Of scans few long rows are cut into parts, whose states another
// kernel finds; sorts are runs, and passes that merge them.
// RUN: luminal-opt %s --llir-expand-orders=block-threads=1024 | FileCheck %s
// RUN: luminal-opt %s --llir-expand-orders | FileCheck %s --check-prefix=CPU
// RUN: luminal-opt %s --llir-expand-orders=block-threads=1024 --remarks-filter=llir-expand-orders -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// CPU-NOT: llir.kernel

// CHECK-LABEL: @long
// CHECK: %[[STATES:.*]] = llir.kernel(%arg0) : (tensor<40000xf32>) -> tensor<40xf32>
// CHECK: llir.scan_parts %{{.*}} {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (1024)>} : tensor<40000xf32> -> tensor<40xf32>
// CHECK: llir.kernel(%arg0, %[[STATES]])
// CHECK: llir.scan_rows %{{.*}}, %{{.*}} {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (1024)>}
// REMARK: remark: [Passed] kernels {{.*}} Function=long | count=2, op=scan
func.func @long(%x: tensor<40000xf32>) -> tensor<40000xf32> {
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<40000xf32> -> tensor<40000xf32>
  return %0 : tensor<40000xf32>
}

// Rows are units enough.
// CHECK-LABEL: @many
// CHECK-NOT: scan_parts
// CHECK: llir.scan_rows %{{.*}} {axis = 1 : i64, exclusive = true, kind = #llir.scan_kind<product>, part = #hlir.map<() -> (40000)>, reverse = true}
// REMARK: Function=many | count=1, op=scan
func.func @many(%x: tensor<512x40000xi64>) -> tensor<512x40000xi64> {
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<product>, reverse = true, exclusive = true} : tensor<512x40000xi64> -> tensor<512x40000xi64>
  return %0 : tensor<512x40000xi64>
}

// Columns: shorter parts, each for one thread. Extrema of 16 bits are carried in 32, with their places.
// CHECK-LABEL: @columns
// CHECK: llir.scan_parts %{{.*}} {axis = 0 : i64, kind = #llir.scan_kind<max>, part = #hlir.map<() -> (64)>, positions = true} : tensor<4096x512xbf16> -> tensor<64x512xf32>, tensor<64x512xi64>
// CHECK: llir.scan_rows
func.func @columns(%x: tensor<4096x512xbf16>) -> tensor<4096x512xi64> {
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<max>, positions = true} : tensor<4096x512xbf16> -> tensor<4096x512xi64>
  return %0 : tensor<4096x512xi64>
}

// Of a length that is known at run time, at most 1,024 parts.
// CHECK-LABEL: @any
// CHECK: llir.scan_parts %{{.*}} part = #hlir.map<() -> (1024 * max((n + 1048575) floordiv 1048576, 1))>
func.func @any(%x: tensor<2x?xf16, #hlir.dims<n>>) -> tensor<2x?xf16, #hlir.dims<n>> attributes {hlir.symbols = #hlir.symbols<n in [0, ]>} {
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<log_sum_exp>} : tensor<2x?xf16, #hlir.dims<n>> -> tensor<2x?xf16, #hlir.dims<n>>
  return %0 : tensor<2x?xf16, #hlir.dims<n>>
}

// Extrema and their places by one walk.
// CHECK-LABEL: @both
// CHECK-COUNT-1: llir.scan_parts
// CHECK: %[[BOTH:.*]]:2 = llir.kernel(%arg0, {{.*}}) : ({{.*}}) -> (tensor<40000xi64>, tensor<40000xf16>)
// CHECK: llir.scan_rows {{.*}} positions = true} : (tensor<40000xf16>, tensor<40xf32>, tensor<40xi64>) -> (tensor<40000xi64>, tensor<40000xf16>)
// CHECK: return %[[BOTH]]#1, %[[BOTH]]#0
func.func @both(%x: tensor<40000xf16>) -> (tensor<40000xf16>, tensor<40000xi64>) {
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<min>} : tensor<40000xf16> -> tensor<40000xf16>
  %1 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<min>, positions = true} : tensor<40000xf16> -> tensor<40000xi64>
  return %0, %1 : tensor<40000xf16>, tensor<40000xi64>
}

// Floats are multiplied in parts too, which are kept in f64.
// CHECK-LABEL: @product
// CHECK: llir.scan_parts {{.*}} : tensor<40000xf32> -> tensor<40xf64>
// CHECK: llir.scan_rows {{.*}} : (tensor<40000xf32>, tensor<40xf64>) -> tensor<40000xf32>
func.func @product(%x: tensor<40000xf32>) -> tensor<40000xf32> {
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<product>} : tensor<40000xf32> -> tensor<40000xf32>
  return %0 : tensor<40000xf32>
}

// One run, of the least power of two, of which each element counts those before it.
// CHECK-LABEL: @one_run
// CHECK: llir.sort_runs %{{.*}} {begin = #hlir.map<() -> (9)>, counted, descending = true, keep = #hlir.map<() -> (5)>, run = 128 : i64} : tensor<3x100xf64> -> tensor<3x5xi64>
// CHECK-NOT: merge_runs
func.func @one_run(%x: tensor<3x100xf64>) -> tensor<3x5xi64> {
  %0 = llir.argsort %x {begin = #hlir.map<() -> (9)>, descending = true} : tensor<3x100xf64> -> tensor<3x5xi64>
  return %0 : tensor<3x5xi64>
}

// Two and two of them, until there is one.
// CHECK-LABEL: @whole
// CHECK: llir.sort_runs %{{.*}} {keep = #hlir.map<() -> (2048)>, run = 2048 : i64} : tensor<8000xbf16> -> tensor<8000xi32>, tensor<8000xi32>
// CHECK: llir.merge_runs {{.*}} {keep = #hlir.map<() -> (4096)>, run = #hlir.map<() -> (2048)>, ways = 2 : i64} : tensor<8000xi32>, tensor<8000xi32> -> tensor<8000xi32>, tensor<8000xi32>
// CHECK: llir.merge_runs {{.*}} {keep = #hlir.map<() -> (8000)>, run = #hlir.map<() -> (4096)>, ways = 2 : i64} : tensor<8000xi32>, tensor<8000xi32> -> tensor<8000xi64>
// CHECK-NOT: merge_runs
// REMARK: Function=whole | count=3, op=argsort
func.func @whole(%x: tensor<8000xbf16>) -> tensor<8000xi64> {
  %0 = llir.argsort %x : tensor<8000xbf16> -> tensor<8000xi64>
  return %0 : tensor<8000xi64>
}

// Of the first few of a row each run keeps as many. Keys of 64 bits.
// CHECK-LABEL: @first
// CHECK: llir.sort_runs %{{.*}} {keep = #hlir.map<() -> (50)>, run = 2048 : i64} : tensor<128256xi64> -> tensor<3150xi32>, tensor<3150xi64>
// CHECK: llir.merge_runs {{.*}} {keep = #hlir.map<() -> (50)>, run = #hlir.map<() -> (50)>, ways = 32 : i64} : tensor<3150xi32>, tensor<3150xi64> -> tensor<100xi32>, tensor<100xi64>
// CHECK: llir.merge_runs {{.*}} {keep = #hlir.map<() -> (50)>, run = #hlir.map<() -> (50)>, ways = 32 : i64} : tensor<100xi32>, tensor<100xi64> -> tensor<50xi64>
func.func @first(%x: tensor<128256xi64>) -> tensor<50xi64> {
  %0 = llir.argsort %x : tensor<128256xi64> -> tensor<50xi64>
  return %0 : tensor<50xi64>
}

// Of any length, up to 2^32 elements.
// CHECK-LABEL: @of_any_length
// CHECK-COUNT-7: llir.merge_runs
// CHECK-NOT: merge_runs
func.func @of_any_length(%x: tensor<?xf32, #hlir.dims<n>>) -> tensor<?xi64, #hlir.dims<n>> attributes {hlir.symbols = #hlir.symbols<n in [0, ]>} {
  %0 = llir.argsort %x : tensor<?xf32, #hlir.dims<n>> -> tensor<?xi64, #hlir.dims<n>>
  return %0 : tensor<?xi64, #hlir.dims<n>>
}

// All multiprocessors count what comes before each integer of one row sooner than one of them sorts the row; each element is put
// behind as many. Floats, other rows beside, parts of a row and short rows are sorted.
// CHECK-LABEL: @counted
// CHECK: %[[RANKS:.*]] = llir.kernel(%arg0) : (tensor<1x2000xi64>) -> tensor<2000xi32>
// CHECK-DAG: %[[OWN:.*]] = llir.view %{{.*}} <(d0, d1) -> (0, d0)> : tensor<1x2000xi64> -> tensor<2000x2000xi64>
// CHECK-DAG: %[[OTHER:.*]] = llir.view %{{.*}} <(d0, d1) -> (0, d1)> : tensor<1x2000xi64> -> tensor<2000x2000xi64>
// CHECK-DAG: %[[BEFORE:.*]] = llir.elementwise less_than(%[[OWN]], %[[OTHER]])
// CHECK-DAG: %[[SAME:.*]] = llir.elementwise equal(%[[OWN]], %[[OTHER]])
// CHECK: llir.reduce sum
// CHECK: %[[ORDER:.*]] = llir.kernel(%[[RANKS]]) : (tensor<2000xi32>) -> tensor<2000xi64>
// CHECK: llir.scatter add
// CHECK: llir.alias %[[ORDER]] offset(0) : tensor<2000xi64> -> tensor<1x2000xi64>
// CHECK-COUNT-4: llir.sort_runs
func.func @counted(%x: tensor<1x2000xi64>, %y: tensor<2000xf32>, %z: tensor<2x2000xi64>, %s: tensor<64xi64>)
    -> (tensor<1x2000xi64>, tensor<2000xi64>, tensor<2x2000xi64>, tensor<1x9xi64>, tensor<64xi64>) {
  %0 = llir.argsort %x {descending = true} : tensor<1x2000xi64> -> tensor<1x2000xi64>
  %1 = llir.argsort %y : tensor<2000xf32> -> tensor<2000xi64>
  %2 = llir.argsort %z : tensor<2x2000xi64> -> tensor<2x2000xi64>
  %3 = llir.argsort %x : tensor<1x2000xi64> -> tensor<1x9xi64>
  %4 = llir.argsort %s : tensor<64xi64> -> tensor<64xi64>
  return %0, %1, %2, %3, %4 : tensor<1x2000xi64>, tensor<2000xi64>, tensor<2x2000xi64>, tensor<1x9xi64>, tensor<64xi64>
}
