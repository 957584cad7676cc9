// Running sums and extrema (Scan.pdll): programs in which the rules find a
// scan, and beside them near misses.

// RUN: luminal-opt %s --luminal-pipeline="target=cpu until=saturated" | FileCheck %s
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_80 until=saturated" | FileCheck %s

// ScanSum: of each row all elements up to each place, j < i or j = i.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[S:.*]] = llir.scan %arg0 {axis = 1 : i64, kind = #llir.scan_kind<sum>} : tensor<3x200xf32> -> tensor<3x200xf32>
// CHECK: return %[[S]]
func.func @sum(%x: tensor<3x200xf32>) -> tensor<3x200xf32> {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1, d2) -> ()> : tensor<i1> -> tensor<3x200x200xi1>
  %zero = hlir.constant dense<0.0> : tensor<f32>
  %zeros = hlir.view %zero <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<3x200x200xf32>
  %v = hlir.view %x <(d0, d1, d2) -> (d0, d2)> : tensor<3x200xf32> -> tensor<3x200x200xf32>
  %i = hlir.iota <(d0, d1, d2) -> (d1)> : tensor<3x200x200xi64>
  %j = hlir.iota <(d0, d1, d2) -> (d2)> : tensor<3x200x200xi64>
  %behind = hlir.less_than %i, %j : tensor<3x200x200xi64> -> tensor<3x200x200xi1>
  %inside = hlir.less_than %behind, %yes : tensor<3x200x200xi1> -> tensor<3x200x200xi1>
  %kept = hlir.select %inside, %v, %zeros : tensor<3x200x200xi1>, tensor<3x200x200xf32>
  %s = hlir.reduce_sum %kept : tensor<3x200x200xf32> -> tensor<3x200xf32>
  return %s : tensor<3x200xf32>
}

// Along the first dim, from each place on, without the element itself, of which the others are dropped.
// CHECK-LABEL: func.func @behind(
// CHECK: %[[S:.*]] = llir.scan %arg0 {axis = 0 : i64, exclusive = true, kind = #llir.scan_kind<sum>, reverse = true} : tensor<200x3xi64> -> tensor<200x3xi64>
// CHECK: return %[[S]]
func.func @behind(%x: tensor<200x3xi64>) -> tensor<200x3xi64> {
  %zero = hlir.constant dense<0> : tensor<i64>
  %zeros = hlir.view %zero <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<200x3x200xi64>
  %v = hlir.view %x <(d0, d1, d2) -> (d2, d1)> : tensor<200x3xi64> -> tensor<200x3x200xi64>
  %i = hlir.iota <(d0, d1, d2) -> (d0 + 1)> : tensor<200x3x200xi64>
  %j = hlir.iota <(d0, d1, d2) -> (d2)> : tensor<200x3x200xi64>
  %outside = hlir.less_than %j, %i : tensor<200x3x200xi64> -> tensor<200x3x200xi1>
  %kept = hlir.select %outside, %zeros, %v : tensor<200x3x200xi1>, tensor<200x3x200xi64>
  %s = hlir.reduce_sum %kept : tensor<200x3x200xi64> -> tensor<200x3xi64>
  return %s : tensor<200x3xi64>
}

// ScanMax of any length, of an element that is repeated; ScanPlacesInteger.
// CHECK-LABEL: func.func @largest(
// CHECK-DAG: %[[S:.*]] = llir.scan %arg0 {axis = 0 : i64, kind = #llir.scan_kind<max>} : tensor<?xi32, #hlir.dims<n>> -> tensor<?xi32, #hlir.dims<n>>
// CHECK-DAG: %[[P:.*]] = llir.scan %arg0 {axis = 0 : i64, kind = #llir.scan_kind<max>, positions = true} : tensor<?xi32, #hlir.dims<n>> -> tensor<?xi64, #hlir.dims<n>>
// CHECK: return %[[S]], %[[P]]
func.func @largest(%x: tensor<?xi32, #hlir.dims<n>>) -> (tensor<?xi32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<n>>) attributes {hlir.symbols = #hlir.symbols<n in [2, 1048576]>} {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0) -> ()> : tensor<i1> -> tensor<?xi1, #hlir.dims<n>>
  %0 = hlir.constant dense<0> : tensor<i64>
  %zeros = hlir.view %0 <(d0) -> ()> : tensor<i64> -> tensor<?xi64, #hlir.dims<n>>
  %window = hlir.view %x <(d0, d1) -> (min(d0, d1))> : tensor<?xi32, #hlir.dims<n>> -> tensor<?x?xi32, #hlir.dims<n, n>>
  %best = hlir.reduce_max %window : tensor<?x?xi32, #hlir.dims<n, n>> -> tensor<?xi32, #hlir.dims<n>>
  %lt = hlir.less_than %x, %best : tensor<?xi32, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %gt = hlir.less_than %best, %x : tensor<?xi32, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %ge = hlir.less_than %lt, %yes : tensor<?xi1, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %le = hlir.less_than %gt, %yes : tensor<?xi1, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %eq = hlir.mul %ge, %le : tensor<?xi1, #hlir.dims<n>>
  %i = hlir.iota <(d0) -> (d0)> : tensor<?xi64, #hlir.dims<n>>
  %hit = hlir.select %eq, %i, %zeros : tensor<?xi1, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<n>>
  %hits = hlir.view %hit <(d0, d1) -> (min(d0, d1))> : tensor<?xi64, #hlir.dims<n>> -> tensor<?x?xi64, #hlir.dims<n, n>>
  %place = hlir.reduce_max %hits : tensor<?x?xi64, #hlir.dims<n, n>> -> tensor<?xi64, #hlir.dims<n>>
  return %best, %place : tensor<?xi32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<n>>
}

// A place of NaN would be no place.
// CHECK-LABEL: func.func @undefined(
// CHECK-NOT: positions
// CHECK: return
func.func @undefined(%x: tensor<?xf32, #hlir.dims<n>>) -> (tensor<?xf32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<n>>) attributes {hlir.symbols = #hlir.symbols<n in [2, 1048576]>} {
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0) -> ()> : tensor<i1> -> tensor<?xi1, #hlir.dims<n>>
  %0 = hlir.constant dense<0> : tensor<i64>
  %zeros = hlir.view %0 <(d0) -> ()> : tensor<i64> -> tensor<?xi64, #hlir.dims<n>>
  %window = hlir.view %x <(d0, d1) -> (min(d0, d1))> : tensor<?xf32, #hlir.dims<n>> -> tensor<?x?xf32, #hlir.dims<n, n>>
  %best = hlir.reduce_max %window : tensor<?x?xf32, #hlir.dims<n, n>> -> tensor<?xf32, #hlir.dims<n>>
  %lt = hlir.less_than %x, %best : tensor<?xf32, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %gt = hlir.less_than %best, %x : tensor<?xf32, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %ge = hlir.less_than %lt, %yes : tensor<?xi1, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %le = hlir.less_than %gt, %yes : tensor<?xi1, #hlir.dims<n>> -> tensor<?xi1, #hlir.dims<n>>
  %eq = hlir.mul %ge, %le : tensor<?xi1, #hlir.dims<n>>
  %i = hlir.iota <(d0) -> (d0)> : tensor<?xi64, #hlir.dims<n>>
  %hit = hlir.select %eq, %i, %zeros : tensor<?xi1, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<n>>
  %hits = hlir.view %hit <(d0, d1) -> (min(d0, d1))> : tensor<?xi64, #hlir.dims<n>> -> tensor<?x?xi64, #hlir.dims<n, n>>
  %place = hlir.reduce_max %hits : tensor<?x?xi64, #hlir.dims<n, n>> -> tensor<?xi64, #hlir.dims<n>>
  return %best, %place : tensor<?xf32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<n>>
}

// ScanMin, ScanPlaces.
// CHECK-LABEL: func.func @least_f32(
// CHECK-DAG: %[[S:.*]] = llir.scan %arg0 {axis = 1 : i64, kind = #llir.scan_kind<min>} : tensor<3x200xf32> -> tensor<3x200xf32>
// CHECK-DAG: %[[P:.*]] = llir.scan %arg0 {axis = 1 : i64, kind = #llir.scan_kind<min>, positions = true} : tensor<3x200xf32> -> tensor<3x200xi64>
// CHECK: return %[[S]], %[[P]]
func.func @least_f32(%x: tensor<3x200xf32>) -> (tensor<3x200xf32>, tensor<3x200xi64>) {
  %c = hlir.constant dense<-1.0> : tensor<f32>
  %minus = hlir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<3x200x200xf32>
  %back = hlir.view %c <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %w = hlir.view %x <(d0, d1, d2) -> (d0, min(d1, d2))> : tensor<3x200xf32> -> tensor<3x200x200xf32>
  %m = hlir.mul %w, %minus : tensor<3x200x200xf32>
  %g = hlir.reduce_max %m : tensor<3x200x200xf32> -> tensor<3x200xf32>
  %best = hlir.mul %g, %back : tensor<3x200xf32>
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<3x200xi1>
  %lt = hlir.less_than %x, %best : tensor<3x200xf32> -> tensor<3x200xi1>
  %gt = hlir.less_than %best, %x : tensor<3x200xf32> -> tensor<3x200xi1>
  %ge = hlir.less_than %lt, %yes : tensor<3x200xi1> -> tensor<3x200xi1>
  %le = hlir.less_than %gt, %yes : tensor<3x200xi1> -> tensor<3x200xi1>
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %zero = hlir.view %0 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %p0 = hlir.less_than %x, %zero : tensor<3x200xf32> -> tensor<3x200xi1>
  %p1 = hlir.less_than %back, %x : tensor<3x200xf32> -> tensor<3x200xi1>
  %xn = hlir.select %p0, %p0, %p1 : tensor<3x200xi1>, tensor<3x200xi1>
  %q0 = hlir.less_than %best, %zero : tensor<3x200xf32> -> tensor<3x200xi1>
  %q1 = hlir.less_than %back, %best : tensor<3x200xf32> -> tensor<3x200xi1>
  %bn = hlir.select %q0, %q0, %q1 : tensor<3x200xi1>, tensor<3x200xi1>
  %neither = hlir.mul %ge, %le : tensor<3x200xi1>
  %numbers = hlir.mul %xn, %bn : tensor<3x200xi1>
  %eq = hlir.mul %neither, %numbers : tensor<3x200xi1>
  %nan = hlir.less_than %xn, %yes : tensor<3x200xi1> -> tensor<3x200xi1>
  %hit = hlir.select %eq, %eq, %nan : tensor<3x200xi1>, tensor<3x200xi1>
  %none = hlir.constant dense<0> : tensor<i64>
  %nowhere = hlir.view %none <(d0, d1) -> ()> : tensor<i64> -> tensor<3x200xi64>
  %i = hlir.iota <(d0, d1) -> (d1)> : tensor<3x200xi64>
  %at = hlir.select %hit, %i, %nowhere : tensor<3x200xi1>, tensor<3x200xi64>
  %ats = hlir.view %at <(d0, d1, d2) -> (d0, min(d1, d2))> : tensor<3x200xi64> -> tensor<3x200x200xi64>
  %place = hlir.reduce_max %ats : tensor<3x200x200xi64> -> tensor<3x200xi64>
  return %best, %place : tensor<3x200xf32>, tensor<3x200xi64>
}

// ScanMinInteger.
// CHECK-LABEL: func.func @least_i64(
// CHECK-DAG: %[[S:.*]] = llir.scan %arg0 {axis = 1 : i64, kind = #llir.scan_kind<min>} : tensor<3x200xi64> -> tensor<3x200xi64>
// CHECK-DAG: %[[P:.*]] = llir.scan %arg0 {axis = 1 : i64, kind = #llir.scan_kind<min>, positions = true} : tensor<3x200xi64> -> tensor<3x200xi64>
// CHECK: return %[[S]], %[[P]]
func.func @least_i64(%x: tensor<3x200xi64>) -> (tensor<3x200xi64>, tensor<3x200xi64>) {
  %c = hlir.constant dense<-1> : tensor<i64>
  %minus = hlir.view %c <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<3x200x200xi64>
  %back = hlir.view %c <(d0, d1) -> ()> : tensor<i64> -> tensor<3x200xi64>
  %w = hlir.view %x <(d0, d1, d2) -> (d0, min(d1, d2))> : tensor<3x200xi64> -> tensor<3x200x200xi64>
  %n = hlir.mul %w, %minus : tensor<3x200x200xi64>
  %m = hlir.add %n, %minus : tensor<3x200x200xi64>
  %g = hlir.reduce_max %m : tensor<3x200x200xi64> -> tensor<3x200xi64>
  %h = hlir.mul %g, %back : tensor<3x200xi64>
  %best = hlir.add %h, %back : tensor<3x200xi64>
  %true = hlir.constant dense<true> : tensor<i1>
  %yes = hlir.view %true <(d0, d1) -> ()> : tensor<i1> -> tensor<3x200xi1>
  %lt = hlir.less_than %x, %best : tensor<3x200xi64> -> tensor<3x200xi1>
  %gt = hlir.less_than %best, %x : tensor<3x200xi64> -> tensor<3x200xi1>
  %ge = hlir.less_than %lt, %yes : tensor<3x200xi1> -> tensor<3x200xi1>
  %le = hlir.less_than %gt, %yes : tensor<3x200xi1> -> tensor<3x200xi1>
  %hit = hlir.mul %ge, %le : tensor<3x200xi1>
  %none = hlir.constant dense<0> : tensor<i64>
  %nowhere = hlir.view %none <(d0, d1) -> ()> : tensor<i64> -> tensor<3x200xi64>
  %i = hlir.iota <(d0, d1) -> (d1)> : tensor<3x200xi64>
  %at = hlir.select %hit, %i, %nowhere : tensor<3x200xi1>, tensor<3x200xi64>
  %ats = hlir.view %at <(d0, d1, d2) -> (d0, min(d1, d2))> : tensor<3x200xi64> -> tensor<3x200x200xi64>
  %place = hlir.reduce_max %ats : tensor<3x200x200xi64> -> tensor<3x200xi64>
  return %best, %place : tensor<3x200xi64>, tensor<3x200xi64>
}

// ScanLogSumExp, relative to the largest; ScanWidened, NarrowScan: it is computed in f32.
// CHECK-LABEL: func.func @log_sum_exp(
// CHECK: %[[S:.*]] = llir.scan %arg0 {axis = 1 : i64, kind = #llir.scan_kind<log_sum_exp>} : tensor<3x200xbf16> -> tensor<3x200xbf16>
// CHECK: return %[[S]]
func.func @log_sum_exp(%arg0: tensor<3x200xbf16>) -> tensor<3x200xbf16> {
  %0 = hlir.cast %arg0 : tensor<3x200xbf16> -> tensor<3x200xf32>
  %1 = hlir.view %0 <(d0, d1, d2) -> (d0, d2)> : tensor<3x200xf32> -> tensor<3x200x200xf32>
  %2 = hlir.iota <(d0, d1, d2) -> (d1)> : tensor<3x200x200xi64>
  %3 = hlir.iota <(d0, d1, d2) -> (d2)> : tensor<3x200x200xi64>
  %4 = hlir.less_than %2, %3 : tensor<3x200x200xi64> -> tensor<3x200x200xi1>
  %5 = hlir.constant dense<true> : tensor<i1>
  %6 = hlir.view %5 <(d0, d1, d2) -> ()> : tensor<i1> -> tensor<3x200x200xi1>
  %7 = hlir.less_than %4, %6 : tensor<3x200x200xi1> -> tensor<3x200x200xi1>
  %8 = hlir.constant dense<0xFF800000> : tensor<f32>
  %9 = hlir.view %8 <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<3x200x200xf32>
  %10 = hlir.select %7, %1, %9 : tensor<3x200x200xi1>, tensor<3x200x200xf32>
  %11 = hlir.reduce_max %10 : tensor<3x200x200xf32> -> tensor<3x200xf32>
  %12 = hlir.constant dense<0.000000e+00> : tensor<f32>
  %13 = hlir.view %12 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %14 = hlir.less_than %11, %13 : tensor<3x200xf32> -> tensor<3x200xi1>
  %15 = hlir.constant dense<-1.000000e+00> : tensor<f32>
  %16 = hlir.view %15 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %17 = hlir.mul %11, %16 : tensor<3x200xf32>
  %18 = hlir.select %14, %17, %11 : tensor<3x200xi1>, tensor<3x200xf32>
  %19 = hlir.constant dense<0.000000e+00> : tensor<f32>
  %20 = hlir.view %19 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %21 = hlir.add %18, %20 : tensor<3x200xf32>
  %22 = hlir.constant dense<0x7F800000> : tensor<f32>
  %23 = hlir.view %22 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %24 = hlir.less_than %21, %23 : tensor<3x200xf32> -> tensor<3x200xi1>
  %25 = hlir.constant dense<true> : tensor<i1>
  %26 = hlir.view %25 <(d0, d1) -> ()> : tensor<i1> -> tensor<3x200xi1>
  %27 = hlir.less_than %24, %26 : tensor<3x200xi1> -> tensor<3x200xi1>
  %28 = hlir.less_than %23, %21 : tensor<3x200xf32> -> tensor<3x200xi1>
  %29 = hlir.constant dense<true> : tensor<i1>
  %30 = hlir.view %29 <(d0, d1) -> ()> : tensor<i1> -> tensor<3x200xi1>
  %31 = hlir.less_than %28, %30 : tensor<3x200xi1> -> tensor<3x200xi1>
  %32 = hlir.mul %27, %31 : tensor<3x200xi1>
  %33 = hlir.constant dense<0.000000e+00> : tensor<f32>
  %34 = hlir.view %33 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %35 = hlir.less_than %21, %34 : tensor<3x200xf32> -> tensor<3x200xi1>
  %36 = hlir.constant dense<-1.000000e+00> : tensor<f32>
  %37 = hlir.view %36 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %38 = hlir.less_than %37, %21 : tensor<3x200xf32> -> tensor<3x200xi1>
  %39 = hlir.select %35, %35, %38 : tensor<3x200xi1>, tensor<3x200xi1>
  %40 = hlir.constant dense<0.000000e+00> : tensor<f32>
  %41 = hlir.view %40 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %42 = hlir.less_than %23, %41 : tensor<3x200xf32> -> tensor<3x200xi1>
  %43 = hlir.constant dense<-1.000000e+00> : tensor<f32>
  %44 = hlir.view %43 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %45 = hlir.less_than %44, %23 : tensor<3x200xf32> -> tensor<3x200xi1>
  %46 = hlir.select %42, %42, %45 : tensor<3x200xi1>, tensor<3x200xi1>
  %47 = hlir.mul %39, %46 : tensor<3x200xi1>
  %48 = hlir.mul %32, %47 : tensor<3x200xi1>
  %49 = hlir.constant dense<0.000000e+00> : tensor<f32>
  %50 = hlir.view %49 <(d0, d1) -> ()> : tensor<f32> -> tensor<3x200xf32>
  %51 = hlir.select %48, %50, %11 : tensor<3x200xi1>, tensor<3x200xf32>
  %52 = hlir.view %51 <(d0, d1, d2) -> (d0, d1)> : tensor<3x200xf32> -> tensor<3x200x200xf32>
  %53 = hlir.constant dense<-1.000000e+00> : tensor<f32>
  %54 = hlir.view %53 <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<3x200x200xf32>
  %55 = hlir.mul %52, %54 : tensor<3x200x200xf32>
  %56 = hlir.add %10, %55 : tensor<3x200x200xf32>
  %57 = hlir.cast %56 : tensor<3x200x200xf32> -> tensor<3x200x200xf64>
  %58 = hlir.constant dense<1.4426950408889634> : tensor<f64>
  %59 = hlir.view %58 <(d0, d1, d2) -> ()> : tensor<f64> -> tensor<3x200x200xf64>
  %60 = hlir.mul %57, %59 : tensor<3x200x200xf64>
  %61 = hlir.exp2 %60 : tensor<3x200x200xf64>
  %62 = hlir.cast %61 : tensor<3x200x200xf64> -> tensor<3x200x200xf32>
  %63 = hlir.reduce_sum %62 : tensor<3x200x200xf32> -> tensor<3x200xf32>
  %64 = hlir.cast %63 : tensor<3x200xf32> -> tensor<3x200xf64>
  %65 = hlir.log2 %64 : tensor<3x200xf64>
  %66 = hlir.constant dense<0.69314718055994529> : tensor<f64>
  %67 = hlir.view %66 <(d0, d1) -> ()> : tensor<f64> -> tensor<3x200xf64>
  %68 = hlir.mul %65, %67 : tensor<3x200xf64>
  %69 = hlir.cast %68 : tensor<3x200xf64> -> tensor<3x200xf32>
  %70 = hlir.add %69, %51 : tensor<3x200xf32>
  %71 = hlir.cast %70 : tensor<3x200xf32> -> tensor<3x200xbf16>
  return %71 : tensor<3x200xbf16>
}

// ScanProductInteger: of up to 16 elements.
// CHECK-LABEL: func.func @product(
// CHECK: %[[S:.*]] = llir.scan %arg0 {axis = 1 : i64, kind = #llir.scan_kind<product>} : tensor<3000x9xi64> -> tensor<3000x9xi64>
// CHECK: return %[[S]]
func.func @product(%x0: tensor<3000x9xi64>) -> tensor<3000x9xi64> {
  %1 = hlir.constant dense<1> : tensor<i64>
  %ones = hlir.view %1 <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %m = hlir.constant dense<-1> : tensor<i64>
  %minus = hlir.view %m <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %9 = hlir.constant dense<9> : tensor<i64>
  %end = hlir.view %9 <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %v0 = hlir.view %x0 <(d0, d1) -> (d0, max(d1 - 1, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at0 = hlir.iota <(d0, d1) -> (d1 - 1)> : tensor<3000x9xi64>
  %low0 = hlir.less_than %minus, %at0 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high0 = hlir.less_than %at0, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in0 = hlir.mul %low0, %high0 : tensor<3000x9xi1>
  %k0 = hlir.select %in0, %v0, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x1 = hlir.mul %x0, %k0 : tensor<3000x9xi64>
  %v1 = hlir.view %x1 <(d0, d1) -> (d0, max(d1 - 2, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at1 = hlir.iota <(d0, d1) -> (d1 - 2)> : tensor<3000x9xi64>
  %low1 = hlir.less_than %minus, %at1 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high1 = hlir.less_than %at1, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in1 = hlir.mul %low1, %high1 : tensor<3000x9xi1>
  %k1 = hlir.select %in1, %v1, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x2 = hlir.mul %x1, %k1 : tensor<3000x9xi64>
  %v2 = hlir.view %x2 <(d0, d1) -> (d0, max(d1 - 4, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at2 = hlir.iota <(d0, d1) -> (d1 - 4)> : tensor<3000x9xi64>
  %low2 = hlir.less_than %minus, %at2 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high2 = hlir.less_than %at2, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in2 = hlir.mul %low2, %high2 : tensor<3000x9xi1>
  %k2 = hlir.select %in2, %v2, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x3 = hlir.mul %x2, %k2 : tensor<3000x9xi64>
  %v3 = hlir.view %x3 <(d0, d1) -> (d0, max(d1 - 8, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at3 = hlir.iota <(d0, d1) -> (d1 - 8)> : tensor<3000x9xi64>
  %low3 = hlir.less_than %minus, %at3 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high3 = hlir.less_than %at3, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in3 = hlir.mul %low3, %high3 : tensor<3000x9xi1>
  %k3 = hlir.select %in3, %v3, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x4 = hlir.mul %x3, %k3 : tensor<3000x9xi64>
  return %x4 : tensor<3000x9xi64>
}

// Of up to 8 elements, and of others than those before.
// CHECK-LABEL: func.func @short_product(
// CHECK-NOT: llir.scan
// CHECK: return
func.func @short_product(%x0: tensor<3000x9xi64>) -> tensor<3000x9xi64> {
  %1 = hlir.constant dense<1> : tensor<i64>
  %ones = hlir.view %1 <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %m = hlir.constant dense<-1> : tensor<i64>
  %minus = hlir.view %m <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %9 = hlir.constant dense<9> : tensor<i64>
  %end = hlir.view %9 <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %v0 = hlir.view %x0 <(d0, d1) -> (d0, max(d1 - 1, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at0 = hlir.iota <(d0, d1) -> (d1 - 1)> : tensor<3000x9xi64>
  %low0 = hlir.less_than %minus, %at0 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high0 = hlir.less_than %at0, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in0 = hlir.mul %low0, %high0 : tensor<3000x9xi1>
  %k0 = hlir.select %in0, %v0, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x1 = hlir.mul %x0, %k0 : tensor<3000x9xi64>
  %v1 = hlir.view %x1 <(d0, d1) -> (d0, max(d1 - 2, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at1 = hlir.iota <(d0, d1) -> (d1 - 2)> : tensor<3000x9xi64>
  %low1 = hlir.less_than %minus, %at1 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high1 = hlir.less_than %at1, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in1 = hlir.mul %low1, %high1 : tensor<3000x9xi1>
  %k1 = hlir.select %in1, %v1, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x2 = hlir.mul %x1, %k1 : tensor<3000x9xi64>
  %v2 = hlir.view %x2 <(d0, d1) -> (d0, max(d1 - 4, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at2 = hlir.iota <(d0, d1) -> (d1 - 4)> : tensor<3000x9xi64>
  %low2 = hlir.less_than %minus, %at2 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high2 = hlir.less_than %at2, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in2 = hlir.mul %low2, %high2 : tensor<3000x9xi1>
  %k2 = hlir.select %in2, %v2, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x3 = hlir.mul %x2, %k2 : tensor<3000x9xi64>
  return %x3 : tensor<3000x9xi64>
}
// CHECK-LABEL: func.func @other_product(
// CHECK-NOT: llir.scan
// CHECK: return
func.func @other_product(%x0: tensor<3000x9xi64>) -> tensor<3000x9xi64> {
  %1 = hlir.constant dense<1> : tensor<i64>
  %ones = hlir.view %1 <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %m = hlir.constant dense<-1> : tensor<i64>
  %minus = hlir.view %m <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %9 = hlir.constant dense<9> : tensor<i64>
  %end = hlir.view %9 <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x9xi64>
  %v0 = hlir.view %x0 <(d0, d1) -> (d0, max(d1 - 1, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at0 = hlir.iota <(d0, d1) -> (d1 - 1)> : tensor<3000x9xi64>
  %low0 = hlir.less_than %minus, %at0 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high0 = hlir.less_than %at0, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in0 = hlir.mul %low0, %high0 : tensor<3000x9xi1>
  %k0 = hlir.select %in0, %v0, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x1 = hlir.mul %x0, %k0 : tensor<3000x9xi64>
  %v1 = hlir.view %x1 <(d0, d1) -> (d0, max(d1 - 2, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at1 = hlir.iota <(d0, d1) -> (d1 - 2)> : tensor<3000x9xi64>
  %low1 = hlir.less_than %minus, %at1 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high1 = hlir.less_than %at1, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in1 = hlir.mul %low1, %high1 : tensor<3000x9xi1>
  %k1 = hlir.select %in1, %v1, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x2 = hlir.mul %x1, %k1 : tensor<3000x9xi64>
  %v2 = hlir.view %x2 <(d0, d1) -> (d0, max(d1 - 3, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at2 = hlir.iota <(d0, d1) -> (d1 - 3)> : tensor<3000x9xi64>
  %low2 = hlir.less_than %minus, %at2 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high2 = hlir.less_than %at2, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in2 = hlir.mul %low2, %high2 : tensor<3000x9xi1>
  %k2 = hlir.select %in2, %v2, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x3 = hlir.mul %x2, %k2 : tensor<3000x9xi64>
  %v3 = hlir.view %x3 <(d0, d1) -> (d0, max(d1 - 8, 0))> : tensor<3000x9xi64> -> tensor<3000x9xi64>
  %at3 = hlir.iota <(d0, d1) -> (d1 - 8)> : tensor<3000x9xi64>
  %low3 = hlir.less_than %minus, %at3 : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %high3 = hlir.less_than %at3, %end : tensor<3000x9xi64> -> tensor<3000x9xi1>
  %in3 = hlir.mul %low3, %high3 : tensor<3000x9xi1>
  %k3 = hlir.select %in3, %v3, %ones : tensor<3000x9xi1>, tensor<3000x9xi64>
  %x4 = hlir.mul %x3, %k3 : tensor<3000x9xi64>
  return %x4 : tensor<3000x9xi64>
}

// Near misses: the elements up to each place but for its own and the next one; of each place a part of the row; one
// element in place of the others that is not the identity; what depends on the place itself.
// CHECK-LABEL: func.func @not_a_prefix(
// CHECK-NOT: llir.scan
// CHECK: return
func.func @not_a_prefix(%x: tensor<200xf32>, %y: tensor<201xf32>) -> (tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>) {
  %zero = hlir.constant dense<0.0> : tensor<f32>
  %one = hlir.constant dense<1.0> : tensor<f32>
  %zeros = hlir.view %zero <(d0, d1) -> ()> : tensor<f32> -> tensor<200x200xf32>
  %ones = hlir.view %one <(d0, d1) -> ()> : tensor<f32> -> tensor<200x200xf32>
  %v = hlir.view %x <(d0, d1) -> (d1)> : tensor<200xf32> -> tensor<200x200xf32>
  %i = hlir.iota <(d0, d1) -> (d0)> : tensor<200x200xi64>
  %next = hlir.iota <(d0, d1) -> (d0 + 2)> : tensor<200x200xi64>
  %j = hlir.iota <(d0, d1) -> (d1)> : tensor<200x200xi64>
  %twice = hlir.iota <(d0, d1) -> (2 * d1)> : tensor<200x200xi64>
  %before = hlir.less_than %j, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %few = hlir.less_than %j, %next : tensor<200x200xi64> -> tensor<200x200xi1>
  %half = hlir.less_than %twice, %i : tensor<200x200xi64> -> tensor<200x200xi1>
  %a = hlir.select %few, %v, %zeros : tensor<200x200xi1>, tensor<200x200xf32>
  %b = hlir.select %half, %v, %zeros : tensor<200x200xi1>, tensor<200x200xf32>
  %c = hlir.select %before, %v, %ones : tensor<200x200xi1>, tensor<200x200xf32>
  %w = hlir.view %y <(d0, d1) -> (max(d1 - d0, 0))> : tensor<201xf32> -> tensor<200x200xf32>
  %d = hlir.select %before, %w, %zeros : tensor<200x200xi1>, tensor<200x200xf32>
  %0 = hlir.reduce_sum %a : tensor<200x200xf32> -> tensor<200xf32>
  %1 = hlir.reduce_sum %b : tensor<200x200xf32> -> tensor<200xf32>
  %2 = hlir.reduce_sum %c : tensor<200x200xf32> -> tensor<200xf32>
  %3 = hlir.reduce_sum %d : tensor<200x200xf32> -> tensor<200xf32>
  %u = hlir.view %y <(d0, d1) -> (min(d0, d1) + 1)> : tensor<201xf32> -> tensor<200x200xf32>
  %far = hlir.view %y <(d0, d1) -> (min(d0, d1 + 1))> : tensor<201xf32> -> tensor<200x200xf32>
  %4 = hlir.reduce_max %far : tensor<200x200xf32> -> tensor<200xf32>
  return %0, %1, %2, %3, %4 : tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>
}
