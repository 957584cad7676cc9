// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// Gelu.
// CHECK-LABEL: func.func @gelu(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise gelu(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @gelu(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.7071067811865476> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.mul %1, %1 : tensor<f32>
  %3 = hlir.view %2 <(d0) -> ()> : tensor<f32> -> tensor<24xf32>
  %4 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf32>
  %5 = hlir.view %4 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %6 = hlir.mul %3, %5 : tensor<24xf32>
  %7 = hlir.exp2 %6 : tensor<24xf32>
  %8 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf32>
  %9 = hlir.view %8 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %10 = hlir.mul %7, %9 : tensor<24xf32>
  %11 = hlir.reduce_sum %10 : tensor<24xf32> -> tensor<f32>
  %12 = hlir.constant dense<6.0> : tensor<f32>
  %13 = hlir.less_than %12, %1 : tensor<f32> -> tensor<i1>
  %14 = hlir.constant dense<-6.0> : tensor<f32>
  %15 = hlir.less_than %1, %14 : tensor<f32> -> tensor<i1>
  %16 = hlir.mul %1, %11 : tensor<f32>
  %17 = hlir.constant dense<-1.0> : tensor<f32>
  %18 = hlir.select %15, %17, %16 : tensor<i1>, tensor<f32>
  %19 = hlir.constant dense<1.0> : tensor<f32>
  %20 = hlir.select %13, %19, %18 : tensor<i1>, tensor<f32>
  %21 = hlir.add %20, %19 : tensor<f32>
  %22 = hlir.constant dense<0.5> : tensor<f32>
  %23 = hlir.mul %x, %22 : tensor<f32>
  %24 = hlir.mul %23, %21 : tensor<f32>
  return %24 : tensor<f32>
}

// CHECK-LABEL: func.func @not_gelu(
// CHECK-NOT: elementwise gelu(
// CHECK: return
func.func @not_gelu(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.7071067811865476> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.mul %1, %1 : tensor<f32>
  %3 = hlir.view %2 <(d0) -> ()> : tensor<f32> -> tensor<24xf32>
  %4 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf32>
  %5 = hlir.view %4 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %6 = hlir.mul %3, %5 : tensor<24xf32>
  %7 = hlir.exp2 %6 : tensor<24xf32>
  %8 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf32>
  %9 = hlir.view %8 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %10 = hlir.mul %7, %9 : tensor<24xf32>
  %11 = hlir.reduce_sum %10 : tensor<24xf32> -> tensor<f32>
  %12 = hlir.constant dense<6.0> : tensor<f32>
  %13 = hlir.less_than %12, %1 : tensor<f32> -> tensor<i1>
  %14 = hlir.constant dense<-6.0> : tensor<f32>
  %15 = hlir.less_than %1, %14 : tensor<f32> -> tensor<i1>
  %16 = hlir.mul %1, %11 : tensor<f32>
  %17 = hlir.constant dense<-1.0> : tensor<f32>
  %18 = hlir.select %15, %17, %16 : tensor<i1>, tensor<f32>
  %19 = hlir.constant dense<1.0> : tensor<f32>
  %20 = hlir.select %13, %19, %18 : tensor<i1>, tensor<f32>
  %21 = hlir.add %20, %19 : tensor<f32>
  %22 = hlir.constant dense<0.25> : tensor<f32>
  %23 = hlir.mul %x, %22 : tensor<f32>
  %24 = hlir.mul %23, %21 : tensor<f32>
  return %24 : tensor<f32>
}

// GeluHalfLast.
// CHECK-LABEL: func.func @gelu_half_last(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise gelu(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @gelu_half_last(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.7071067811865476> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.mul %1, %1 : tensor<f32>
  %3 = hlir.view %2 <(d0) -> ()> : tensor<f32> -> tensor<24xf32>
  %4 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf32>
  %5 = hlir.view %4 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %6 = hlir.mul %3, %5 : tensor<24xf32>
  %7 = hlir.exp2 %6 : tensor<24xf32>
  %8 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf32>
  %9 = hlir.view %8 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %10 = hlir.mul %7, %9 : tensor<24xf32>
  %11 = hlir.reduce_sum %10 : tensor<24xf32> -> tensor<f32>
  %12 = hlir.constant dense<6.0> : tensor<f32>
  %13 = hlir.less_than %12, %1 : tensor<f32> -> tensor<i1>
  %14 = hlir.constant dense<-6.0> : tensor<f32>
  %15 = hlir.less_than %1, %14 : tensor<f32> -> tensor<i1>
  %16 = hlir.mul %1, %11 : tensor<f32>
  %17 = hlir.constant dense<-1.0> : tensor<f32>
  %18 = hlir.select %15, %17, %16 : tensor<i1>, tensor<f32>
  %19 = hlir.constant dense<1.0> : tensor<f32>
  %20 = hlir.select %13, %19, %18 : tensor<i1>, tensor<f32>
  %21 = hlir.add %20, %19 : tensor<f32>
  %22 = hlir.mul %x, %21 : tensor<f32>
  %23 = hlir.constant dense<0.5> : tensor<f32>
  %24 = hlir.mul %22, %23 : tensor<f32>
  return %24 : tensor<f32>
}

// CHECK-LABEL: func.func @not_gelu_half_last(
// CHECK-NOT: elementwise gelu(
// CHECK: return
func.func @not_gelu_half_last(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.7071067811865476> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.mul %1, %1 : tensor<f32>
  %3 = hlir.view %2 <(d0) -> ()> : tensor<f32> -> tensor<24xf32>
  %4 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf32>
  %5 = hlir.view %4 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %6 = hlir.mul %3, %5 : tensor<24xf32>
  %7 = hlir.exp2 %6 : tensor<24xf32>
  %8 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf32>
  %9 = hlir.view %8 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %10 = hlir.mul %7, %9 : tensor<24xf32>
  %11 = hlir.reduce_sum %10 : tensor<24xf32> -> tensor<f32>
  %12 = hlir.constant dense<6.0> : tensor<f32>
  %13 = hlir.less_than %12, %1 : tensor<f32> -> tensor<i1>
  %14 = hlir.constant dense<-6.0> : tensor<f32>
  %15 = hlir.less_than %1, %14 : tensor<f32> -> tensor<i1>
  %16 = hlir.mul %1, %11 : tensor<f32>
  %17 = hlir.constant dense<-1.0> : tensor<f32>
  %18 = hlir.select %15, %17, %16 : tensor<i1>, tensor<f32>
  %19 = hlir.constant dense<1.0> : tensor<f32>
  %20 = hlir.select %13, %19, %18 : tensor<i1>, tensor<f32>
  %21 = hlir.add %20, %19 : tensor<f32>
  %22 = hlir.mul %x, %21 : tensor<f32>
  %23 = hlir.constant dense<0.25> : tensor<f32>
  %24 = hlir.mul %22, %23 : tensor<f32>
  return %24 : tensor<f32>
}

// GeluDiv, in f64: there the reciprocal of sqrt(2) is not sqrt(0.5).
// CHECK-LABEL: func.func @gelu_div(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise gelu(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @gelu_div(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<1.4142135623730951> : tensor<f64>
  %1 = hlir.recip %0 : tensor<f64>
  %2 = hlir.mul %x, %1 : tensor<f64>
  %3 = hlir.mul %2, %2 : tensor<f64>
  %4 = hlir.view %3 <(d0) -> ()> : tensor<f64> -> tensor<24xf64>
  %5 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf64>
  %6 = hlir.view %5 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %7 = hlir.mul %4, %6 : tensor<24xf64>
  %8 = hlir.exp2 %7 : tensor<24xf64>
  %9 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf64>
  %10 = hlir.view %9 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %11 = hlir.mul %8, %10 : tensor<24xf64>
  %12 = hlir.reduce_sum %11 : tensor<24xf64> -> tensor<f64>
  %13 = hlir.constant dense<6.0> : tensor<f64>
  %14 = hlir.less_than %13, %2 : tensor<f64> -> tensor<i1>
  %15 = hlir.constant dense<-6.0> : tensor<f64>
  %16 = hlir.less_than %2, %15 : tensor<f64> -> tensor<i1>
  %17 = hlir.mul %2, %12 : tensor<f64>
  %18 = hlir.constant dense<-1.0> : tensor<f64>
  %19 = hlir.select %16, %18, %17 : tensor<i1>, tensor<f64>
  %20 = hlir.constant dense<1.0> : tensor<f64>
  %21 = hlir.select %14, %20, %19 : tensor<i1>, tensor<f64>
  %22 = hlir.add %21, %20 : tensor<f64>
  %23 = hlir.constant dense<0.5> : tensor<f64>
  %24 = hlir.mul %x, %23 : tensor<f64>
  %25 = hlir.mul %24, %22 : tensor<f64>
  return %25 : tensor<f64>
}

// CHECK-LABEL: func.func @not_gelu_div(
// CHECK-NOT: elementwise gelu(
// CHECK: return
func.func @not_gelu_div(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<1.4142135623730951> : tensor<f32>
  %1 = hlir.recip %0 : tensor<f32>
  %2 = hlir.mul %x, %1 : tensor<f32>
  %3 = hlir.mul %2, %2 : tensor<f32>
  %4 = hlir.view %3 <(d0) -> ()> : tensor<f32> -> tensor<24xf32>
  %5 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf32>
  %6 = hlir.view %5 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %7 = hlir.mul %4, %6 : tensor<24xf32>
  %8 = hlir.exp2 %7 : tensor<24xf32>
  %9 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf32>
  %10 = hlir.view %9 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %11 = hlir.mul %8, %10 : tensor<24xf32>
  %12 = hlir.reduce_sum %11 : tensor<24xf32> -> tensor<f32>
  %13 = hlir.constant dense<6.0> : tensor<f32>
  %14 = hlir.less_than %13, %2 : tensor<f32> -> tensor<i1>
  %15 = hlir.constant dense<-6.0> : tensor<f32>
  %16 = hlir.less_than %2, %15 : tensor<f32> -> tensor<i1>
  %17 = hlir.mul %2, %12 : tensor<f32>
  %18 = hlir.constant dense<-1.0> : tensor<f32>
  %19 = hlir.select %16, %18, %17 : tensor<i1>, tensor<f32>
  %20 = hlir.constant dense<1.0> : tensor<f32>
  %21 = hlir.select %14, %20, %19 : tensor<i1>, tensor<f32>
  %22 = hlir.add %21, %20 : tensor<f32>
  %23 = hlir.constant dense<0.25> : tensor<f32>
  %24 = hlir.mul %x, %23 : tensor<f32>
  %25 = hlir.mul %24, %22 : tensor<f32>
  return %25 : tensor<f32>
}

// GeluDivHalfLast, in f64: there the reciprocal of sqrt(2) is not sqrt(0.5).
// CHECK-LABEL: func.func @gelu_div_half_last(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise gelu(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @gelu_div_half_last(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<1.4142135623730951> : tensor<f64>
  %1 = hlir.recip %0 : tensor<f64>
  %2 = hlir.mul %x, %1 : tensor<f64>
  %3 = hlir.mul %2, %2 : tensor<f64>
  %4 = hlir.view %3 <(d0) -> ()> : tensor<f64> -> tensor<24xf64>
  %5 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf64>
  %6 = hlir.view %5 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %7 = hlir.mul %4, %6 : tensor<24xf64>
  %8 = hlir.exp2 %7 : tensor<24xf64>
  %9 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf64>
  %10 = hlir.view %9 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %11 = hlir.mul %8, %10 : tensor<24xf64>
  %12 = hlir.reduce_sum %11 : tensor<24xf64> -> tensor<f64>
  %13 = hlir.constant dense<6.0> : tensor<f64>
  %14 = hlir.less_than %13, %2 : tensor<f64> -> tensor<i1>
  %15 = hlir.constant dense<-6.0> : tensor<f64>
  %16 = hlir.less_than %2, %15 : tensor<f64> -> tensor<i1>
  %17 = hlir.mul %2, %12 : tensor<f64>
  %18 = hlir.constant dense<-1.0> : tensor<f64>
  %19 = hlir.select %16, %18, %17 : tensor<i1>, tensor<f64>
  %20 = hlir.constant dense<1.0> : tensor<f64>
  %21 = hlir.select %14, %20, %19 : tensor<i1>, tensor<f64>
  %22 = hlir.add %21, %20 : tensor<f64>
  %23 = hlir.mul %x, %22 : tensor<f64>
  %24 = hlir.constant dense<0.5> : tensor<f64>
  %25 = hlir.mul %23, %24 : tensor<f64>
  return %25 : tensor<f64>
}

// CHECK-LABEL: func.func @not_gelu_div_half_last(
// CHECK-NOT: elementwise gelu(
// CHECK: return
func.func @not_gelu_div_half_last(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<1.4142135623730951> : tensor<f32>
  %1 = hlir.recip %0 : tensor<f32>
  %2 = hlir.mul %x, %1 : tensor<f32>
  %3 = hlir.mul %2, %2 : tensor<f32>
  %4 = hlir.view %3 <(d0) -> ()> : tensor<f32> -> tensor<24xf32>
  %5 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf32>
  %6 = hlir.view %5 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %7 = hlir.mul %4, %6 : tensor<24xf32>
  %8 = hlir.exp2 %7 : tensor<24xf32>
  %9 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf32>
  %10 = hlir.view %9 <(d0) -> (d0)> : tensor<24xf32> -> tensor<24xf32>
  %11 = hlir.mul %8, %10 : tensor<24xf32>
  %12 = hlir.reduce_sum %11 : tensor<24xf32> -> tensor<f32>
  %13 = hlir.constant dense<6.0> : tensor<f32>
  %14 = hlir.less_than %13, %2 : tensor<f32> -> tensor<i1>
  %15 = hlir.constant dense<-6.0> : tensor<f32>
  %16 = hlir.less_than %2, %15 : tensor<f32> -> tensor<i1>
  %17 = hlir.mul %2, %12 : tensor<f32>
  %18 = hlir.constant dense<-1.0> : tensor<f32>
  %19 = hlir.select %16, %18, %17 : tensor<i1>, tensor<f32>
  %20 = hlir.constant dense<1.0> : tensor<f32>
  %21 = hlir.select %14, %20, %19 : tensor<i1>, tensor<f32>
  %22 = hlir.add %21, %20 : tensor<f32>
  %23 = hlir.mul %x, %22 : tensor<f32>
  %24 = hlir.constant dense<0.25> : tensor<f32>
  %25 = hlir.mul %23, %24 : tensor<f32>
  return %25 : tensor<f32>
}
