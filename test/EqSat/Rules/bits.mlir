// The bits that two integers share, and what follows from them; beside each case a
// near miss that must not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// BitAnd.
// CHECK-LABEL: func.func @and_i32(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise bit_and(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @and_i32(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  return %and : tensor<5xi32>
}

// CHECK-LABEL: func.func @and_i64(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise bit_and(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @and_i64(%a: tensor<5xi64>, %b: tensor<5xi64>) -> tensor<5xi64> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, 2147483648, 4294967296, 8589934592, 17179869184, 34359738368, 68719476736, 137438953472, 274877906944, 549755813888, 1099511627776, 2199023255552, 4398046511104, 8796093022208, 17592186044416, 35184372088832, 70368744177664, 140737488355328, 281474976710656, 562949953421312, 1125899906842624, 2251799813685248, 4503599627370496, 9007199254740992, 18014398509481984, 36028797018963968, 72057594037927936, 144115188075855872, 288230376151711744, 576460752303423488, 1152921504606846976, 2305843009213693952, 4611686018427387904, -9223372036854775808]> : tensor<64xi64>
  %factors = hlir.constant dense<[-9223372036854775808, 4611686018427387904, 2305843009213693952, 1152921504606846976, 576460752303423488, 288230376151711744, 144115188075855872, 72057594037927936, 36028797018963968, 18014398509481984, 9007199254740992, 4503599627370496, 2251799813685248, 1125899906842624, 562949953421312, 281474976710656, 140737488355328, 70368744177664, 35184372088832, 17592186044416, 8796093022208, 4398046511104, 2199023255552, 1099511627776, 549755813888, 274877906944, 137438953472, 68719476736, 34359738368, 17179869184, 8589934592, 4294967296, 2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<64xi64>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<64xi64> -> tensor<5x64xi64>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<64xi64> -> tensor<5x64xi64>
  %c = hlir.constant dense<0> : tensor<i64>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i64> -> tensor<5x64xi64>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi64> -> tensor<5x64xi64>
  %3 = hlir.mul %2, %1 : tensor<5x64xi64>
  %4 = hlir.less_than %3, %zero : tensor<5x64xi64> -> tensor<5x64xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi64> -> tensor<5x64xi64>
  %6 = hlir.mul %5, %1 : tensor<5x64xi64>
  %7 = hlir.less_than %6, %zero : tensor<5x64xi64> -> tensor<5x64xi1>
  %8 = hlir.mul %4, %7 : tensor<5x64xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x64xi1>, tensor<5x64xi64>
  %and = hlir.reduce_sum %9 : tensor<5x64xi64> -> tensor<5xi64>
  return %and : tensor<5xi64>
}

// Two factors are exchanged.
// CHECK-LABEL: func.func @not_these_factors(
// CHECK-NOT: elementwise bit_and(
// CHECK: return
func.func @not_these_factors(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 134217728, 268435456, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  return %and : tensor<5xi32>
}

// A power occurs twice.
// CHECK-LABEL: func.func @not_these_powers(
// CHECK-NOT: elementwise bit_and(
// CHECK: return
func.func @not_these_powers(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[2, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  return %and : tensor<5xi32>
}

// Zeros are not negative.
// CHECK-LABEL: func.func @not_below_one(
// CHECK-NOT: elementwise bit_and(
// CHECK: return
func.func @not_below_one(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<1> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  return %and : tensor<5xi32>
}

// One operand is the same for all elements.
// CHECK-LABEL: func.func @and_broadcast(
// CHECK: %[[B:.*]] = llir.view %arg1 <(d0) -> ()>
// CHECK: llir.elementwise bit_and({{%arg0, %.*|%.*, %arg0}})
func.func @and_broadcast(%a: tensor<5xi32>, %b: tensor<i32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  return %and : tensor<5xi32>
}

// One operand has another number for each bit.
// CHECK-LABEL: func.func @not_another_for_each_bit(
// CHECK-NOT: elementwise bit_and(
// CHECK: return
func.func @not_another_for_each_bit(%a: tensor<5xi32>, %b: tensor<32xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  return %and : tensor<5xi32>
}

// BitOr.
// CHECK-LABEL: func.func @or(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise bit_or(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @or(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  %m = hlir.constant dense<-1> : tensor<i32>
  %minus = hlir.view %m <(d0) -> ()> : tensor<i32> -> tensor<5xi32>
  %sum = hlir.add %a, %b : tensor<5xi32>
  %n = hlir.mul %and, %minus : tensor<5xi32>
  %r = hlir.add %sum, %n : tensor<5xi32>
  return %r : tensor<5xi32>
}

// BitXor.
// CHECK-LABEL: func.func @xor(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise bit_xor(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @xor(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  %m = hlir.constant dense<-1> : tensor<i32>
  %minus = hlir.view %m <(d0) -> ()> : tensor<i32> -> tensor<5xi32>
  %sum = hlir.add %a, %b : tensor<5xi32>
  %twice = hlir.add %and, %and : tensor<5xi32>
  %n = hlir.mul %twice, %minus : tensor<5xi32>
  %r = hlir.add %sum, %n : tensor<5xi32>
  return %r : tensor<5xi32>
}

// CHECK-LABEL: func.func @not_xor(
// CHECK-NOT: elementwise bit_xor(
// CHECK: return
func.func @not_xor(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %powers = hlir.constant dense<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456, 536870912, 1073741824, -2147483648]> : tensor<32xi32>
  %factors = hlir.constant dense<[-2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]> : tensor<32xi32>
  %0 = hlir.view %powers <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %1 = hlir.view %factors <(d0, d1) -> (d1)> : tensor<32xi32> -> tensor<5x32xi32>
  %c = hlir.constant dense<0> : tensor<i32>
  %zero = hlir.view %c <(d0, d1) -> ()> : tensor<i32> -> tensor<5x32xi32>
  %2 = hlir.view %a <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %3 = hlir.mul %2, %1 : tensor<5x32xi32>
  %4 = hlir.less_than %3, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %5 = hlir.view %b <(d0, d1) -> (d0)> : tensor<5xi32> -> tensor<5x32xi32>
  %6 = hlir.mul %5, %1 : tensor<5x32xi32>
  %7 = hlir.less_than %6, %zero : tensor<5x32xi32> -> tensor<5x32xi1>
  %8 = hlir.mul %4, %7 : tensor<5x32xi1>
  %9 = hlir.select %8, %0, %zero : tensor<5x32xi1>, tensor<5x32xi32>
  %and = hlir.reduce_sum %9 : tensor<5x32xi32> -> tensor<5xi32>
  %m = hlir.constant dense<-1> : tensor<i32>
  %minus = hlir.view %m <(d0) -> ()> : tensor<i32> -> tensor<5xi32>
  %sum = hlir.add %a, %b : tensor<5xi32>
  %twice = hlir.add %and, %a : tensor<5xi32>
  %n = hlir.mul %twice, %minus : tensor<5xi32>
  %r = hlir.add %sum, %n : tensor<5xi32>
  return %r : tensor<5xi32>
}
