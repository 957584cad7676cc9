// Bins of integers: where these are known to be small nothing wraps on the way to a bin, which rises with its key then.
// RUN: luminal-opt %s --llir-find-segments | FileCheck %s

// The experts of four tokens.
// CHECK-LABEL: @known
// CHECK: %[[G:.*]] = llir.elementwise min
// CHECK-NOT: llir.reduce
// CHECK: return %[[G]]
func.func @known(%scores: tensor<4x100xf32>) -> tensor<12xi64> {
  %keys = llir.argsort %scores {descending = true} : tensor<4x100xf32> -> tensor<4x3xi64>
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %short = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xi32>
  %long = llir.elementwise cast(%short) : (tensor<12xi32>) -> tensor<12xi64>
  %width = llir.constant dense<100> : tensor<12xi64>
  %most = llir.constant dense<99> : tensor<12xi64>
  %times = llir.elementwise mul(%long, %width) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %parts = llir.elementwise floor_div(%times, %most) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %bins = llir.elementwise min(%parts, %most) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<100xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<100xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<100xi64>) -> tensor<100xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<100xi32> -> tensor<100xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<100xi32>) -> tensor<100xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<100xi64> -> tensor<12x100xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x100xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x100xi64>, tensor<12x100xi64>) -> tensor<12x100xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x100xi1>) -> tensor<12x100xi64>
  %group = llir.reduce sum %one : tensor<12x100xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}

// Any integers, of which i32 does not hold all.
// CHECK-LABEL: @any
// CHECK: llir.reduce
func.func @any(%keys: tensor<4x3xi64>) -> tensor<12xi64> {
  %row = llir.view %keys <(d0, d1) -> (d1 floordiv 3, d1 mod 3)> : tensor<4x3xi64> -> tensor<1x12xi64>
  %flat = llir.view %keys <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<4x3xi64> -> tensor<12xi64>
  %order = llir.argsort %row : tensor<1x12xi64> -> tensor<1x12xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x12xi64> -> tensor<12xi64>
  %sorted = llir.gather %flat, %places : tensor<12xi64>, tensor<12xi64> -> tensor<12xi64>
  %short = llir.elementwise cast(%sorted) : (tensor<12xi64>) -> tensor<12xi32>
  %long = llir.elementwise cast(%short) : (tensor<12xi32>) -> tensor<12xi64>
  %width = llir.constant dense<100> : tensor<12xi64>
  %most = llir.constant dense<99> : tensor<12xi64>
  %times = llir.elementwise mul(%long, %width) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %parts = llir.elementwise floor_div(%times, %most) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %bins = llir.elementwise min(%parts, %most) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %zeros = llir.constant dense<0> : tensor<100xi64>
  %ones = llir.constant dense<1> : tensor<12xi64>
  %counts = llir.scatter add %zeros, %bins, %ones : tensor<100xi64>, tensor<12xi64>, tensor<12xi64>
  %narrow = llir.elementwise cast(%counts) : (tensor<100xi64>) -> tensor<100xi32>
  %sums = llir.scan %narrow {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<100xi32> -> tensor<100xi32>
  %ends = llir.elementwise cast(%sums) : (tensor<100xi32>) -> tensor<100xi64>
  %each = llir.view %ends <(d0, d1) -> (d1)> : tensor<100xi64> -> tensor<12x100xi64>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<12x100xi64>
  %before = llir.elementwise less_equal(%each, %place) : (tensor<12x100xi64>, tensor<12x100xi64>) -> tensor<12x100xi1>
  %one = llir.elementwise cast(%before) : (tensor<12x100xi1>) -> tensor<12x100xi64>
  %group = llir.reduce sum %one : tensor<12x100xi64> -> tensor<12xi64>
  return %group : tensor<12xi64>
}
