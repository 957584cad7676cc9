// Scans become kernels on a machine with threads in blocks; few long rows are cut into parts, whose states another kernel finds.
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

// Floats are multiplied in order: no parts.
// CHECK-LABEL: @in_order
// CHECK-NOT: scan_parts
// CHECK: llir.scan_rows
func.func @in_order(%x: tensor<40000xf32>) -> tensor<40000xf32> {
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<product>} : tensor<40000xf32> -> tensor<40000xf32>
  return %0 : tensor<40000xf32>
}
