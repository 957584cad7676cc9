// Shifts by the elements of a tensor, from the powers of two that its elements
// are exponents of; beside each case a near miss that must not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// PowerOfTwo: 1 shifted to the left.
// CHECK-LABEL: func.func @power(
// CHECK: llir.elementwise shift_left(%{{.*}}, %arg1)
// CHECK: return
func.func @power(%x: tensor<5xi32>, %n: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x32xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.less_than %2, %1 : tensor<5x32xi32> -> tensor<5x32xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.less_than %3, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %6 = hlir.less_than %4, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %7 = hlir.mul %5, %6 : tensor<5x32xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %power = hlir.reduce_sum %8 : tensor<5x32xi32> -> tensor<5xi32>
  %r = hlir.add %power, %x : tensor<5xi32>
  return %r : tensor<5xi32>
}

// Two numbers of bits are exchanged.
// CHECK-LABEL: func.func @not_these_numbers(
// CHECK-NOT: elementwise shift_left(
// CHECK: return
func.func @not_these_numbers(%x: tensor<5xi32>, %n: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %numbers = hlir.constant dense<[0, 1, 2, 4, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x32xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.less_than %2, %1 : tensor<5x32xi32> -> tensor<5x32xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.less_than %3, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %6 = hlir.less_than %4, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %7 = hlir.mul %5, %6 : tensor<5x32xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %power = hlir.reduce_sum %8 : tensor<5x32xi32> -> tensor<5xi32>
  %r = hlir.add %power, %x : tensor<5xi32>
  return %r : tensor<5xi32>
}

// The condition holds for all lower bits too.
// CHECK-LABEL: func.func @not_equal(
// CHECK-NOT: elementwise shift_left(
// CHECK: return
func.func @not_equal(%x: tensor<5xi32>, %n: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x32xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.less_than %2, %1 : tensor<5x32xi32> -> tensor<5x32xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.less_than %3, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %6 = hlir.less_than %4, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %7 = hlir.mul %5, %true : tensor<5x32xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %power = hlir.reduce_sum %8 : tensor<5x32xi32> -> tensor<5xi32>
  %r = hlir.add %power, %x : tensor<5xi32>
  return %r : tensor<5xi32>
}

// ShiftLeft.
// CHECK-LABEL: func.func @left_i32(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise shift_left(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @left_i32(%x: tensor<5xi32>, %n: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x32xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.less_than %2, %1 : tensor<5x32xi32> -> tensor<5x32xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.less_than %3, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %6 = hlir.less_than %4, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %7 = hlir.mul %5, %6 : tensor<5x32xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %power = hlir.reduce_sum %8 : tensor<5x32xi32> -> tensor<5xi32>
  %r = hlir.mul %x, %power : tensor<5xi32>
  return %r : tensor<5xi32>
}

// CHECK-LABEL: func.func @left_i64(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise shift_left(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @left_i64(%x: tensor<5xi64>, %n: tensor<5xi64>) -> tensor<5xi64> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, 2147483648, 4294967296, 8589934592, 17179869184, 34359738368, 68719476736, 137438953472, 274877906944, 549755813888, 1099511627776, 2199023255552, 4398046511104, 8796093022208, 17592186044416, 35184372088832, 70368744177664, 140737488355328, 281474976710656, 562949953421312, 1125899906842624, 2251799813685248, 4503599627370496, 9007199254740992, 18014398509481984, 36028797018963968, 72057594037927936, 144115188075855872, 288230376151711744, 576460752303423488, 1152921504606846976, 2305843009213693952, 4611686018427387904, -9223372036854775808]> : tensor<64xi64>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]> : tensor<64xi64>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<64xi64> -> tensor<5x64xi64>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<64xi64> -> tensor<5x64xi64>
  %c = hlir.constant dense<0> : tensor<i64>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i64> -> tensor<5x64xi64>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x64xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi64> -> tensor<5x64xi64>
  %3 = hlir.less_than %2, %1 : tensor<5x64xi64> -> tensor<5x64xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x64xi64> -> tensor<5x64xi1>
  %5 = hlir.less_than %3, %true : tensor<5x64xi1> -> tensor<5x64xi1>
  %6 = hlir.less_than %4, %true : tensor<5x64xi1> -> tensor<5x64xi1>
  %7 = hlir.mul %5, %6 : tensor<5x64xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x64xi1>, tensor<5x64xi64>
  %power = hlir.reduce_sum %8 : tensor<5x64xi64> -> tensor<5xi64>
  %r = hlir.mul %x, %power : tensor<5xi64>
  return %r : tensor<5xi64>
}

// A sum is no shift of the operand.
// CHECK-LABEL: func.func @not_left(
// CHECK-NOT: elementwise shift_left(%arg0
// CHECK: return
func.func @not_left(%x: tensor<5xi32>, %n: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x32xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.less_than %2, %1 : tensor<5x32xi32> -> tensor<5x32xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.less_than %3, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %6 = hlir.less_than %4, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %7 = hlir.mul %5, %6 : tensor<5x32xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %power = hlir.reduce_sum %8 : tensor<5x32xi32> -> tensor<5xi32>
  %r = hlir.add %x, %power : tensor<5xi32>
  return %r : tensor<5xi32>
}

// ShiftRight.
// CHECK-LABEL: func.func @right_i32(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise shift_right(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @right_i32(%x: tensor<5xi32>, %n: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x32xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.less_than %2, %1 : tensor<5x32xi32> -> tensor<5x32xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.less_than %3, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %6 = hlir.less_than %4, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %7 = hlir.mul %5, %6 : tensor<5x32xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %power = hlir.reduce_sum %8 : tensor<5x32xi32> -> tensor<5xi32>
  %zeros = hlir.view %c <(d0) -> ()> : tensor<i32> -> tensor<5xi32>
  %m = hlir.constant dense<-1> : tensor<i32>
  %all = hlir.view %m <(d0) -> ()> : tensor<i32> -> tensor<5xi32>
  %q = llir.elementwise floor_div(%x, %power) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  %inside = hlir.less_than %zeros, %power : tensor<5xi32> -> tensor<5xi1>
  %negative = hlir.less_than %x, %zeros : tensor<5xi32> -> tensor<5xi1>
  %sign = hlir.select %negative, %all, %zeros : tensor<5xi1>, tensor<5xi32>
  %r = hlir.select %inside, %q, %sign : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}

// CHECK-LABEL: func.func @right_i64(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise shift_right(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @right_i64(%x: tensor<5xi64>, %n: tensor<5xi64>) -> tensor<5xi64> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, 2147483648, 4294967296, 8589934592, 17179869184, 34359738368, 68719476736, 137438953472, 274877906944, 549755813888, 1099511627776, 2199023255552, 4398046511104, 8796093022208, 17592186044416, 35184372088832, 70368744177664, 140737488355328, 281474976710656, 562949953421312, 1125899906842624, 2251799813685248, 4503599627370496, 9007199254740992, 18014398509481984, 36028797018963968, 72057594037927936, 144115188075855872, 288230376151711744, 576460752303423488, 1152921504606846976, 2305843009213693952, 4611686018427387904, -9223372036854775808]> : tensor<64xi64>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]> : tensor<64xi64>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<64xi64> -> tensor<5x64xi64>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<64xi64> -> tensor<5x64xi64>
  %c = hlir.constant dense<0> : tensor<i64>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i64> -> tensor<5x64xi64>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x64xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi64> -> tensor<5x64xi64>
  %3 = hlir.less_than %2, %1 : tensor<5x64xi64> -> tensor<5x64xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x64xi64> -> tensor<5x64xi1>
  %5 = hlir.less_than %3, %true : tensor<5x64xi1> -> tensor<5x64xi1>
  %6 = hlir.less_than %4, %true : tensor<5x64xi1> -> tensor<5x64xi1>
  %7 = hlir.mul %5, %6 : tensor<5x64xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x64xi1>, tensor<5x64xi64>
  %power = hlir.reduce_sum %8 : tensor<5x64xi64> -> tensor<5xi64>
  %zeros = hlir.view %c <(d0) -> ()> : tensor<i64> -> tensor<5xi64>
  %m = hlir.constant dense<-1> : tensor<i64>
  %all = hlir.view %m <(d0) -> ()> : tensor<i64> -> tensor<5xi64>
  %q = llir.elementwise floor_div(%x, %power) : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  %inside = hlir.less_than %zeros, %power : tensor<5xi64> -> tensor<5xi1>
  %negative = hlir.less_than %x, %zeros : tensor<5xi64> -> tensor<5xi1>
  %sign = hlir.select %negative, %all, %zeros : tensor<5xi1>, tensor<5xi64>
  %r = hlir.select %inside, %q, %sign : tensor<5xi1>, tensor<5xi64>
  return %r : tensor<5xi64>
}

// Beyond the width, negative numbers give -2.
// CHECK-LABEL: func.func @not_right(
// CHECK-NOT: elementwise shift_right(
// CHECK: return
func.func @not_right(%x: tensor<5xi32>, %n: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %numbers = hlir.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %numbers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %u = hlir.constant dense<true> : tensor<i1>
  %true = hlir.view %u <(d0, d1) -> ()> : tensor<i1> -> tensor<5x32xi1>
  %2 = hlir.view %n <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.less_than %2, %1 : tensor<5x32xi32> -> tensor<5x32xi1>
  %4 = hlir.less_than %1, %2 : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.less_than %3, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %6 = hlir.less_than %4, %true : tensor<5x32xi1> -> tensor<5x32xi1>
  %7 = hlir.mul %5, %6 : tensor<5x32xi1>
  %8 = hlir.select %7, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %power = hlir.reduce_sum %8 : tensor<5x32xi32> -> tensor<5xi32>
  %zeros = hlir.view %c <(d0) -> ()> : tensor<i32> -> tensor<5xi32>
  %m = hlir.constant dense<-2> : tensor<i32>
  %all = hlir.view %m <(d0) -> ()> : tensor<i32> -> tensor<5xi32>
  %q = llir.elementwise floor_div(%x, %power) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  %inside = hlir.less_than %zeros, %power : tensor<5xi32> -> tensor<5xi1>
  %negative = hlir.less_than %x, %zeros : tensor<5xi32> -> tensor<5xi1>
  %sign = hlir.select %negative, %all, %zeros : tensor<5xi1>, tensor<5xi32>
  %r = hlir.select %inside, %q, %sign : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}
