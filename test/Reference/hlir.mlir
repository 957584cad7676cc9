// RUN: luminal-test-reference %s | FileCheck %s
// Each op on values that show its definition.

// Rounded once: in f16, 1 + 2^-11 is a tie to even; 2048 + 1 is lost.
// CHECK: @float#0: dense<[3.000000e+00, 0x7C00, 2.048000e+03]> : tensor<3xf16>
// CHECK: @float#1: dense<[2.000000e+00, 0x7C00, 2.048000e+03]> : tensor<3xf16>
// CHECK: @float#2: dense<[1.000000e+00, 0x{{[7F]}}E00, 0.000000e+00]> : tensor<3xf16>
// CHECK: @float#3: dense<false> : tensor<3xi1>
func.func @float() -> (tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xi1>) {
  %a = hlir.constant dense<[2.0, 65504.0, 2048.0]> : tensor<3xf16>
  %b = hlir.constant dense<[1.0, 65504.0, 1.0]> : tensor<3xf16>
  %inf = hlir.add %a, %b : tensor<3xf16>
  %m = hlir.mul %a, %b : tensor<3xf16>
  %c = hlir.constant dense<[3.0, 0x7C00, 2048.0]> : tensor<3xf16>
  %d = hlir.constant dense<[2.0, 1.0, 2.0]> : tensor<3xf16>
  %r = hlir.mod %c, %d : tensor<3xf16>
  %l = hlir.less_than %c, %r : tensor<3xf16> -> tensor<3xi1>
  return %inf, %m, %r, %l : tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xi1>
}

// CHECK: @unary#0: dense<[0xFF800000, 3.000000e+00]> : tensor<2xf32>
// CHECK: @unary#1: dense<[1.000000e+00, 2.560000e+02]> : tensor<2xf32>
// CHECK: @unary#2: dense<[0.000000e+00, 0.989358246]> : tensor<2xf32>
// CHECK: @unary#3: dense<[0.000000e+00, 2.82842708]> : tensor<2xf32>
// CHECK: @unary#4: dense<[0x7F800000, 1.250000e-01]> : tensor<2xf32>
func.func @unary() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = hlir.constant dense<[0.0, 8.0]> : tensor<2xf32>
  %0 = hlir.log2 %x : tensor<2xf32>
  %1 = hlir.exp2 %x : tensor<2xf32>
  %2 = hlir.sin %x : tensor<2xf32>
  %3 = hlir.sqrt %x : tensor<2xf32>
  %4 = hlir.recip %x : tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK: @integer#0: dense<[-2147483648, -8]> : tensor<2xi32>
// CHECK: @integer#1: dense<[-2, 7]> : tensor<2xi32>
// CHECK: @integer#2: dense<0> : tensor<2xi32>
// CHECK: @integer#3: dense<[false, true]> : tensor<2xi1>
// CHECK: @integer#4: dense<[false, true]> : tensor<2xi1>
func.func @integer() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>, tensor<2xi1>) {
  %a = hlir.constant dense<[2147483647, -7]> : tensor<2xi32>
  %b = hlir.constant dense<[1, -1]> : tensor<2xi32>
  %two = hlir.constant dense<[2, -1]> : tensor<2xi32>
  %0 = hlir.add %a, %b : tensor<2xi32>
  %1 = hlir.mul %a, %two : tensor<2xi32>
  %2 = hlir.mod %a, %b : tensor<2xi32>
  %3 = hlir.less_than %a, %b : tensor<2xi32> -> tensor<2xi1>
  %true = hlir.constant dense<[true, true]> : tensor<2xi1>
  %4 = hlir.mul %3, %true : tensor<2xi1>
  return %0, %1, %2, %3, %4 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>, tensor<2xi1>
}

// CHECK: @cast#0: dense<[0, 44, -44, 0]> : tensor<4xi8>
// CHECK: @cast#1: dense<[0, 44, 212, 0]> : tensor<4xui8>
// CHECK: @cast#2: dense<true> : tensor<4xi1>
// CHECK: @cast#3: dense<[8.750000e-01, 2.880000e+02, -2.880000e+02, 0x7FC00000]> : tensor<4xf32>
// CHECK: @cast#4: dense<-1> : tensor<2xi32>
func.func @cast() -> (tensor<4xi8>, tensor<4xui8>, tensor<4xi1>, tensor<4xf32>, tensor<2xi32>) {
  %x = hlir.constant dense<[0.9, 300.0, -300.0, 0x7FC00000]> : tensor<4xf32>
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xi8>
  %1 = hlir.cast %x : tensor<4xf32> -> tensor<4xui8>
  %2 = hlir.cast %x : tensor<4xf32> -> tensor<4xi1>
  %3 = hlir.cast %x : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %4 = hlir.cast %3 : tensor<4xf8E4M3FN> -> tensor<4xf32>
  %big = hlir.constant dense<[-1, 4294967295]> : tensor<2xi64>
  %5 = hlir.cast %big : tensor<2xi64> -> tensor<2xi32>
  return %0, %1, %2, %4, %5 : tensor<4xi8>, tensor<4xui8>, tensor<4xi1>, tensor<4xf32>, tensor<2xi32>
}

// The low bits of 64; 0 beyond those.
// CHECK: @cast_low_bits#0: dense<[32767, -32768, -1, 512, 0, 0, 0]> : tensor<7xi16>
// CHECK: @cast_low_bits#1: dense<[32767, 32768, 65535, 512, 0, 0, 0]> : tensor<7xui16>
// CHECK: @cast_low_bits#2: dense<[32767, 32768, 4294967295, 512, 0, 0, 0]> : tensor<7xui32>
// CHECK: @cast_low_bits#3: dense<[32767, 32768, 4294967295, 512, 0, 0, 0]> : tensor<7xi64>
// CHECK: @cast_low_bits#4: dense<[3.276700e+04, -3.276800e+04, -1.000000e+00, 5.120000e+02, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<7xf32>
func.func @cast_low_bits() -> (tensor<7xi16>, tensor<7xui16>, tensor<7xui32>, tensor<7xi64>, tensor<7xf32>) {
  %x = hlir.constant dense<[32767.9, 32768.0, -1.0, 1.099511628288e12, 1.0e19, 0x7FF0000000000000, 0x7FF8000000000000]> : tensor<7xf64>
  %0 = hlir.cast %x : tensor<7xf64> -> tensor<7xi16>
  %1 = hlir.cast %x : tensor<7xf64> -> tensor<7xui16>
  %2 = hlir.cast %x : tensor<7xf64> -> tensor<7xui32>
  %3 = hlir.cast %2 : tensor<7xui32> -> tensor<7xi64>
  %4 = hlir.cast %0 : tensor<7xi16> -> tensor<7xf32>
  return %0, %1, %2, %3, %4 : tensor<7xi16>, tensor<7xui16>, tensor<7xui32>, tensor<7xi64>, tensor<7xf32>
}

// The bits of a NaN stay as they are.
// CHECK: @bitcast#0: dense<[1065353216, -2147483648, 2143289345]> : tensor<3xi32>
// CHECK: @bitcast#1: dense<[15360, -32768]> : tensor<2xi16>
// CHECK: @bitcast#2: dense<[1.000000e+00, -0.000000e+00]> : tensor<2xbf16>
func.func @bitcast() -> (tensor<3xi32>, tensor<2xi16>, tensor<2xbf16>) {
  %x = hlir.constant dense<[1.0, -0.0, 0x7FC00001]> : tensor<3xf32>
  %0 = hlir.bitcast %x : tensor<3xf32> -> tensor<3xi32>
  %h = hlir.constant dense<[1.0, -0.0]> : tensor<2xf16>
  %1 = hlir.bitcast %h : tensor<2xf16> -> tensor<2xi16>
  %w = hlir.constant dense<[16256, -32768]> : tensor<2xi16>
  %2 = hlir.bitcast %w : tensor<2xi16> -> tensor<2xbf16>
  return %0, %1, %2 : tensor<3xi32>, tensor<2xi16>, tensor<2xbf16>
}

// Sums in double: 2^24 + 1 + 1 in f32 is rounded only once.
// CHECK: @reduce#0: dense<[0x4B800001, 0.000000e+00]>
// CHECK: @reduce#1: dense<[0x4B800000, 0x7FC00000]>
// CHECK: @reduce#2: dense<0.000000e+00> : tensor<2xf32>
// CHECK: @reduce#3: dense<0xFF800000> : tensor<2xf32>
// CHECK: @reduce#4: dense<-2147483648> : tensor<2xi32>
// CHECK: @reduce#5: dense<[true, false]> : tensor<2xi1>
// CHECK: @reduce#6: dense<-2> : tensor<i32>
func.func @reduce() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<i32>) {
  %x = hlir.constant dense<[[16777216.0, 1.0, 1.0], [1.0, -1.0, 0.0]]> : tensor<2x3xf32>
  %0 = hlir.reduce_sum %x : tensor<2x3xf32> -> tensor<2xf32>
  %n = hlir.constant dense<[[16777216.0, 1.0, 1.0], [1.0, 0x7FC00000, 2.0]]> : tensor<2x3xf32>
  %1 = hlir.reduce_max %n : tensor<2x3xf32> -> tensor<2xf32>
  %e = hlir.constant dense<> : tensor<2x0xf32>
  %2 = hlir.reduce_sum %e : tensor<2x0xf32> -> tensor<2xf32>
  %3 = hlir.reduce_max %e : tensor<2x0xf32> -> tensor<2xf32>
  %i = hlir.constant dense<> : tensor<2x0xi32>
  %4 = hlir.reduce_max %i : tensor<2x0xi32> -> tensor<2xi32>
  %b = hlir.constant dense<[[false, true], [false, false]]> : tensor<2x2xi1>
  %5 = hlir.reduce_max %b : tensor<2x2xi1> -> tensor<2xi1>
  %w = hlir.constant dense<[2147483647, 2147483647]> : tensor<2xi32>
  %6 = hlir.reduce_sum %w : tensor<2xi32> -> tensor<i32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<i32>
}

// CHECK: @index#0: dense<{{\[}}[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>
// CHECK: @index#1: dense<[-2147483648, -2147483647]> : tensor<2xi32>
// CHECK: @index#2: dense<{{\[}}[5, 6], [1, 2], [5, 6]]> : tensor<3x2xi64>
// CHECK: @index#3: dense<{{\[}}[9, 9], [3, 4], [8, 8]]> : tensor<3x2xi64>
// CHECK: @index#4: dense<{{\[}}[10, 11], [3, 4], [13, 14]]> : tensor<3x2xi64>
// CHECK: @index#5: dense<{{\[}}[9, 9], [3, 4], [8, 8]]> : tensor<3x2xi64>
func.func @index() -> (tensor<2x3xi64>, tensor<2xi32>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<3x2xi64>) {
  %0 = hlir.iota <(d0, d1) -> (3 * d0 + d1)> : tensor<2x3xi64>
  %1 = hlir.iota <(d0) -> (d0 + 2147483648)> : tensor<2xi32>
  %x = hlir.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %i = hlir.constant dense<[2, 0, 2]> : tensor<3xi32>
  %2 = hlir.gather %x, %i : tensor<3x2xi64>, tensor<3xi32> -> tensor<3x2xi64>
  // Duplicates apply in order.
  %j = hlir.constant dense<[2, 0, 2]> : tensor<3xi64>
  %u = hlir.constant dense<[[0, 0], [9, 9], [8, 8]]> : tensor<3x2xi64>
  %3 = hlir.scatter set %x, %j, %u : tensor<3x2xi64>, tensor<3xi64>, tensor<3x2xi64>
  %4 = hlir.scatter add %x, %j, %u : tensor<3x2xi64>, tensor<3xi64>, tensor<3x2xi64>
  %5 = hlir.scatter max %x, %j, %u : tensor<3x2xi64>, tensor<3xi64>, tensor<3x2xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xi64>, tensor<2xi32>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<3x2xi64>
}

// Permute, broadcast, reverse, overlapping windows, a map that is not affine.
// CHECK: @view#0: dense<{{\[}}[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>
// CHECK: @view#1: dense<1> : tensor<2x2xi64>
// CHECK: @view#2: dense<[5, 4, 3, 2, 1, 0]> : tensor<6xi64>
// CHECK: @view#3: dense<{{\[}}[0, 1], [1, 2]]> : tensor<2x2xi64>
// CHECK: @view#4: dense<[0, 0, 3, 3, 1, 1]> : tensor<6xi64>
func.func @view() -> (tensor<3x2xi64>, tensor<2x2xi64>, tensor<6xi64>, tensor<2x2xi64>, tensor<6xi64>) {
  %x = hlir.iota <(d0, d1) -> (3 * d0 + d1)> : tensor<2x3xi64>
  %0 = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x3xi64> -> tensor<3x2xi64>
  %1 = hlir.view %x <(d0, d1) -> (0, 1)> : tensor<2x3xi64> -> tensor<2x2xi64>
  %2 = hlir.view %x <(d0) -> ((5 - d0) floordiv 3, (5 - d0) mod 3)> : tensor<2x3xi64> -> tensor<6xi64>
  %3 = hlir.view %x <(d0, d1) -> (0, d0 + d1)> : tensor<2x3xi64> -> tensor<2x2xi64>
  %4 = hlir.view %x <(d0) -> ((d0 floordiv 2) mod 2, max(d0 floordiv 2, 1) - 1)> : tensor<2x3xi64> -> tensor<6xi64>
  return %0, %1, %2, %3, %4 : tensor<3x2xi64>, tensor<2x2xi64>, tensor<6xi64>, tensor<2x2xi64>, tensor<6xi64>
}

// Values that are not selected have no effect.
// CHECK: @select#0: dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
func.func @select() -> tensor<2xf32> {
  %c = hlir.constant dense<[true, false]> : tensor<2xi1>
  %a = hlir.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
  %b = hlir.constant dense<[0x7FC00000, 2.0]> : tensor<2xf32>
  %0 = hlir.select %c, %a, %b : tensor<2xi1>, tensor<2xf32>
  return %0 : tensor<2xf32>
}

// What is not carried is a result of each trip.
// CHECK: @repeat_each_trip#0: dense<[4.000000e+00, 8.000000e+00]>
// CHECK: @repeat_each_trip#1: dense<[1.000000e+00, 2.000000e+00]>
// CHECK: @repeat_each_trip#2: dense<[2.000000e+00, 4.000000e+00]>
func.func @repeat_each_trip() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = hlir.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r:3 = hlir.repeat 2 carried(%x : tensor<2xf32>) {
  ^bb0(%c: tensor<2xf32>):
    %d = hlir.add %c, %c : tensor<2xf32>
    hlir.yield %d, %c : tensor<2xf32>, tensor<2xf32>
  } -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1, %r#2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Two carried values, two groups, a captured value: x <- (x * w + k) , y <- y + v.
// CHECK: @repeat#0: dense<[4.000000e+01, 4.500000e+01]>
// CHECK: @repeat#1: dense<[7.000000e+00, 8.000000e+00]>
func.func @repeat() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = hlir.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %k = hlir.constant dense<10.0> : tensor<2xf32>
  %w0 = hlir.constant dense<2.0> : tensor<2xf32>
  %w1 = hlir.constant dense<2.5> : tensor<2xf32>
  %v0 = hlir.constant dense<[2.0, 2.0]> : tensor<2xf32>
  %v1 = hlir.constant dense<4.0> : tensor<2xf32>
  %r:2 = hlir.repeat 2 carried(%x, %x : tensor<2xf32>, tensor<2xf32>)
      each(%w0, %w1, %v0, %v1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>, %w: tensor<2xf32>, %v: tensor<2xf32>):
    %m = hlir.mul %a, %w : tensor<2xf32>
    %s = hlir.add %m, %k : tensor<2xf32>
    %t = hlir.add %b, %v : tensor<2xf32>
    hlir.yield %s, %t : tensor<2xf32>, tensor<2xf32>
  } -> (tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}
