// RUN: luminal-test-reference %s | FileCheck %s
// Ops of LLIR without a PyTorch counterpart, and kernels.

// CHECK: @flat#0: dense<{{\[}}[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>
// CHECK: @flat#1: dense<[3, 12]> : tensor<2xi64>
// CHECK: @flat#2: dense<[2, 5]> : tensor<2xi64>
// CHECK: @flat#3: dense<{{\[}}[3, 4, 5], [0, 1, 2]]> : tensor<2x3xi64>
// CHECK: @flat#4: dense<{{\[}}[1, 3, 5], [3, 4, 5]]> : tensor<2x3xi64>
// CHECK: @flat#5: dense<[2, 3, 4]> : tensor<3xi64>
// CHECK: @flat#6: dense<{{\[}}[3, 12], [2, 3], [4, 2], [2, 5]]> : tensor<4x2xi64>
func.func @flat() -> (tensor<3x2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2x3xi64>, tensor<2x3xi64>, tensor<3xi64>,
                      tensor<4x2xi64>) {
  %x = llir.iota <(d0, d1) -> (3 * d0 + d1)> : tensor<2x3xi64>
  %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x3xi64> -> tensor<3x2xi64>
  %1 = llir.reduce sum %x : tensor<2x3xi64> -> tensor<2xi64>
  %2 = llir.reduce max %x : tensor<2x3xi64> -> tensor<2xi64>
  %i = llir.constant dense<[1, 0]> : tensor<2xi64>
  %3 = llir.gather %x, %i {checked} : tensor<2x3xi64>, tensor<2xi64> -> tensor<2x3xi64>
  %j = llir.constant dense<[0]> : tensor<1xi64>
  %u = llir.constant dense<[[1, 2, 3]]> : tensor<1x3xi64>
  %4 = llir.scatter add %x, %j, %u : tensor<2x3xi64>, tensor<1xi64>, tensor<1x3xi64>
  %5 = llir.alias %x offset(2) : tensor<2x3xi64> -> tensor<3xi64>
  %7 = llir.constant dense<2> : tensor<1xi64>
  %6 = llir.concat(%1, %5, %7, %2) : (tensor<2xi64>, tensor<3xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4x2xi64>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<3x2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2x3xi64>, tensor<2x3xi64>, tensor<3xi64>, tensor<4x2xi64>
}

// Softmax as one kernel whose reductions depend on each other, and as the op;
// two results of a kernel.
// CHECK: @kernels#0: dense<{{\[}}[2.500000e-01, 7.500000e-01], [5.000000e-01, 5.000000e-01]]> : tensor<2x2xf32>
// CHECK: @kernels#1: dense<[4.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: @kernels#2: dense<{{\[}}[2.500000e-01, 7.500000e-01], [5.000000e-01, 5.000000e-01]]> : tensor<2x2xf32>
// CHECK: @kernels#3: dense<{{\[}}[1.000000e+00, 2.000000e+00], [9.000000e+00, 9.000000e+00]]> : tensor<2x2xf32>
func.func @kernels() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = llir.constant dense<[[0.0, 1.0986122886681098], [7.0, 7.0]]> : tensor<2x2xf64>
  %one = llir.constant dense<1.0> : tensor<2x2xf32>
  %k:2 = llir.kernel(%x) : (tensor<2x2xf64>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  ^bb0(%a: tensor<2x2xf64>):
    %zero = llir.constant dense<0.0> : tensor<2x2xf64>
    %y = llir.elementwise add(%a, %zero) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %m = llir.view %y <(d0) -> (d0, 0)> : tensor<2x2xf64> -> tensor<2xf64>
    %mb = llir.view %m <(d0, d1) -> (d0)> : tensor<2xf64> -> tensor<2x2xf64>
    %d = llir.elementwise sub(%y, %mb) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %e = llir.elementwise exp(%d) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %s = llir.reduce sum %e : tensor<2x2xf64> -> tensor<2xf64>
    %sb = llir.view %s <(d0, d1) -> (d0)> : tensor<2xf64> -> tensor<2x2xf64>
    %q = llir.elementwise div(%e, %sb) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %r = llir.elementwise cast(%q) : (tensor<2x2xf64>) -> tensor<2x2xf32>
    %t = llir.elementwise cast(%s) : (tensor<2xf64>) -> tensor<2xf32>
    llir.yield %r, %t : tensor<2x2xf32>, tensor<2xf32>
  }
  %f = llir.elementwise cast(%x) : (tensor<2x2xf64>) -> tensor<2x2xf32>
  %p = llir.softmax %f : tensor<2x2xf32>
  %dest = llir.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %i = llir.constant dense<1> : tensor<1xi64>
  %u = llir.constant dense<9.0> : tensor<1x2xf32>
  %w = llir.kernel(%dest, %i, %u) {in_place} : (tensor<2x2xf32>, tensor<1xi64>, tensor<1x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<1xi64>, %c: tensor<1x2xf32>):
    %r = llir.scatter set %a, %b, %c : tensor<2x2xf32>, tensor<1xi64>, tensor<1x2xf32>
    llir.yield %r : tensor<2x2xf32>
  }
  return %k#0, %k#1, %p, %w : tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// A library's product by its definition: relu(0.5 * x w^T + c + v), and a batch
// of rows of bf16 whose sums are not rounded.
// CHECK: @matmul#0: dense<{{\[}}[1.500000e+00, 2.000000e+00, 0.000000e+00], [1.500000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<2x3xf32>
// CHECK: @matmul#1: dense<{{\[}}[2.570000e+02], [5.130000e+02]]> : tensor<2x1xf32>
func.func @matmul() -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %x = llir.constant dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32>
  %w = llir.constant dense<[[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]]> : tensor<3x2xf32>
  %c = llir.constant dense<[[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %v = llir.constant dense<[0.0, -1.0, -3.0]> : tensor<3xf32>
  %0 = llir.cublaslt_matmul(%x, %w add %c bias %v) sizes(1, 2, 3, 2) lhs<(d0, d1, d2) -> (2 * d1 + d2)> rhs<(d0, d1, d2) -> (d1 + 2 * d2)> add<(d0, d1, d2) -> (3 * d1 + d2)> result<(d0, d1, d2) -> (3 * d1 + d2)> {alpha = 0.5, epilogue = #llir.epilogue<relu>} : (tensor<2x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %a = llir.constant dense<[0.0, 256.0, 1.0, 512.0, 1.0]> : tensor<5xbf16>
  %b = llir.constant dense<[1.0, 1.0]> : tensor<2xbf16>
  %1 = llir.cublaslt_matmul(%a, %b) sizes(2, 1, 1, 2) lhs<(d0, d1, d2) -> (2 * d0 + 2 * d1 + d2 + 1)> rhs<(d0, d1, d2) -> (d1 + d2)> result<(d0, d1, d2) -> (d0 + d1 + d2)> : (tensor<5xbf16>, tensor<2xbf16>) -> tensor<2x1xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x1xf32>
}

// The order of rows: equal elements as they are, -0 among them; NaN at one end.
// CHECK: @order#0: dense<[3, 1, 2, 5, 0, 4]> : tensor<6xi64>
// CHECK: @order#1: dense<[4, 0, 1, 2, 5, 3]> : tensor<6xi64>
// CHECK: @order#2: dense<[4, 3, 1]> : tensor<3xi64>
// CHECK: @order#3: dense<{{\[}}[1, 0, 2], [2, 1, 0]]> : tensor<2x3xi64>
// CHECK: @order#4: dense<[2, 5]> : tensor<2xi64>
func.func @order() -> (tensor<6xi64>, tensor<6xi64>, tensor<3xi64>, tensor<2x3xi64>, tensor<2xi64>) {
  %x = llir.constant dense<[1.0, 0.0, -0.0, -1.0, 0x7FC00000, 0.0]> : tensor<6xf32>
  %0 = llir.argsort %x : tensor<6xf32> -> tensor<6xi64>
  %1 = llir.argsort %x {descending = true, nan_first = true} : tensor<6xf32> -> tensor<6xi64>
  %2 = llir.argsort %x {nan_first = true} : tensor<6xf32> -> tensor<3xi64>
  %i = llir.constant dense<[[4, 2, 4], [3, 2, 1]]> : tensor<2x3xi64>
  %3 = llir.argsort %i : tensor<2x3xi64> -> tensor<2x3xi64>
  %4 = llir.argsort %x {begin = #hlir.map<() -> (2)>} : tensor<6xf32> -> tensor<2xi64>
  return %0, %1, %2, %3, %4 : tensor<6xi64>, tensor<6xi64>, tensor<3xi64>, tensor<2x3xi64>, tensor<2xi64>
}

// Scans: NaN beyond every number; of equal ones the last place; in both directions, along each dim.
// CHECK: @scan#0: dense<[1.000000e+00, 3.000000e+00, 2.000000e+00, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<6xf32>
// CHECK: @scan#1: dense<[1.000000e+00, 2.000000e+00, 2.000000e+00, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<6xf32>
// CHECK: @scan#2: dense<[0, 1, 1, 3, 4, 4]> : tensor<6xi64>
// CHECK: @scan#3: dense<{{\[}}[4, 2, 4], [7, 4, 5]]> : tensor<2x3xi32>
// CHECK: @scan#4: dense<{{\[}}[8, 4, 1], [2, 1, 1]]> : tensor<2x3xi32>
// CHECK: @scan#5: dense<{{\[}}[2147483647, 4, 2], [2147483647, 3, 2]]> : tensor<2x3xi32>
// CHECK: @scan#6: dense<[0xFF800000, 0.000000e+00, 0.693147{{[0-9]*}}]> : tensor<3xf32>
// Halves are multiplied in f32, which ends before f64.
// CHECK: @scan#7: dense<[1.000260e+30, 0x7F80, 0x7F80]> : tensor<3xbf16>
// CHECK: @scan#8: dense<[1.0000000150474662E+30, {{.*}}E+60, {{.*}}E+30]> : tensor<3xf64>
func.func @scan() -> (tensor<6xf32>, tensor<6xf32>, tensor<6xi64>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<3xf32>, tensor<3xbf16>, tensor<3xf64>) {
  %x = llir.constant dense<[1.0, 2.0, -1.0, 0x7F800000, 0x7FC00000, 0.0]> : tensor<6xf32>
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<6xf32> -> tensor<6xf32>
  %1 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<max>} : tensor<6xf32> -> tensor<6xf32>
  %2 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<max>, positions = true} : tensor<6xf32> -> tensor<6xi64>
  %i = llir.constant dense<[[4, 2, 4], [3, 2, 1]]> : tensor<2x3xi32>
  %3 = llir.scan %i {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<2x3xi32> -> tensor<2x3xi32>
  %4 = llir.scan %i {axis = 1 : i64, kind = #llir.scan_kind<product>, reverse = true, exclusive = true} : tensor<2x3xi32> -> tensor<2x3xi32>
  %5 = llir.scan %i {axis = 1 : i64, kind = #llir.scan_kind<min>, exclusive = true} : tensor<2x3xi32> -> tensor<2x3xi32>
  %y = llir.constant dense<[0xFF800000, 0.0, 0.0]> : tensor<3xf32>
  %6 = llir.scan %y {axis = 0 : i64, kind = #llir.scan_kind<log_sum_exp>} : tensor<3xf32> -> tensor<3xf32>
  %z = llir.constant dense<[1.0e30, 1.0e30, 1.0e-30]> : tensor<3xbf16>
  %7 = llir.scan %z {axis = 0 : i64, kind = #llir.scan_kind<product>} : tensor<3xbf16> -> tensor<3xbf16>
  %w = llir.constant dense<[1.0e30, 1.0e30, 1.0e-30]> : tensor<3xf32>
  %8 = llir.scan %w {axis = 0 : i64, kind = #llir.scan_kind<product>} : tensor<3xf32> -> tensor<3xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<6xf32>, tensor<6xf32>, tensor<6xi64>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<3xf32>, tensor<3xbf16>, tensor<3xf64>
}
