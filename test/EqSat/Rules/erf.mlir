// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// Cos.
// CHECK-LABEL: func.func @cos(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise cos(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @cos(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<0.5> : tensor<f64>
  %1 = hlir.mul %x, %0 : tensor<f64>
  %2 = hlir.sin %1 : tensor<f64>
  %3 = hlir.mul %2, %2 : tensor<f64>
  %4 = hlir.constant dense<-2.0> : tensor<f64>
  %5 = hlir.mul %3, %4 : tensor<f64>
  %6 = hlir.constant dense<1.0> : tensor<f64>
  %7 = hlir.add %5, %6 : tensor<f64>
  return %7 : tensor<f64>
}

// CHECK-LABEL: func.func @not_cos(
// CHECK-NOT: elementwise cos(
// CHECK: return
func.func @not_cos(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<0.25> : tensor<f64>
  %1 = hlir.mul %x, %0 : tensor<f64>
  %2 = hlir.sin %1 : tensor<f64>
  %3 = hlir.mul %2, %2 : tensor<f64>
  %4 = hlir.constant dense<-2.0> : tensor<f64>
  %5 = hlir.mul %3, %4 : tensor<f64>
  %6 = hlir.constant dense<1.0> : tensor<f64>
  %7 = hlir.add %5, %6 : tensor<f64>
  return %7 : tensor<f64>
}

// Erf.
// CHECK-LABEL: func.func @erf(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise erf(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @erf(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.mul %x, %x : tensor<f64>
  %1 = hlir.view %0 <(d0) -> ()> : tensor<f64> -> tensor<24xf64>
  %2 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf64>
  %3 = hlir.view %2 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %4 = hlir.mul %1, %3 : tensor<24xf64>
  %5 = hlir.exp2 %4 : tensor<24xf64>
  %6 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218139715253559, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf64>
  %7 = hlir.view %6 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %8 = hlir.mul %5, %7 : tensor<24xf64>
  %9 = hlir.reduce_sum %8 : tensor<24xf64> -> tensor<f64>
  %10 = hlir.constant dense<6.0> : tensor<f64>
  %11 = hlir.less_than %10, %x : tensor<f64> -> tensor<i1>
  %12 = hlir.constant dense<-6.0> : tensor<f64>
  %13 = hlir.less_than %x, %12 : tensor<f64> -> tensor<i1>
  %14 = hlir.mul %x, %9 : tensor<f64>
  %15 = hlir.constant dense<-1.0> : tensor<f64>
  %16 = hlir.select %13, %15, %14 : tensor<i1>, tensor<f64>
  %17 = hlir.constant dense<1.0> : tensor<f64>
  %18 = hlir.select %11, %17, %16 : tensor<i1>, tensor<f64>
  return %18 : tensor<f64>
}

// One weight differs.
// CHECK-LABEL: func.func @not_erf(
// CHECK-NOT: elementwise erf(
// CHECK: return
func.func @not_erf(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.mul %x, %x : tensor<f64>
  %1 = hlir.view %0 <(d0) -> ()> : tensor<f64> -> tensor<24xf64>
  %2 = hlir.constant dense<[-8.35423269642366e-06, -0.00023034281217854745, -0.0013741781822532567, -0.00465320817407992, -0.011685571968700037, -0.02435825957920753, -0.04466514518136478, -0.07453021683914095, -0.11562832577182065, -0.16921605677556306, -0.23598476085144388, -0.3159464268073446, -0.40836098847498137, -0.5117110031759451, -0.623726568441588, -0.7414600679937448, -0.8614070688061813, -0.9796666428624574, -1.092131760411541, -1.194698370652351, -1.2834804931503063, -1.3550182213489097, -1.4064663967248472, -1.435760021278473]> : tensor<24xf64>
  %3 = hlir.view %2 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %4 = hlir.mul %1, %3 : tensor<24xf64>
  %5 = hlir.exp2 %4 : tensor<24xf64>
  %6 = hlir.constant dense<[0.006962793301321938, 0.016097112268597273, 0.024980869766961337, 0.03345564392841154, 0.041381320802010645, 0.04862759134062656, 0.05507542667711332, 0.06061893801131929, 0.06516709475663683, 0.06864521345119595, 0.07099618209102601, 0.07218139715253559, 0.07218861529225085, 0.07099618209102601, 0.06864521345119595, 0.06516709475663683, 0.06061893801131929, 0.05507542667711332, 0.04862759134062656, 0.041381320802010645, 0.03345564392841154, 0.024980869766961337, 0.016097112268597273, 0.006962793301321938]> : tensor<24xf64>
  %7 = hlir.view %6 <(d0) -> (d0)> : tensor<24xf64> -> tensor<24xf64>
  %8 = hlir.mul %5, %7 : tensor<24xf64>
  %9 = hlir.reduce_sum %8 : tensor<24xf64> -> tensor<f64>
  %10 = hlir.constant dense<6.0> : tensor<f64>
  %11 = hlir.less_than %10, %x : tensor<f64> -> tensor<i1>
  %12 = hlir.constant dense<-6.0> : tensor<f64>
  %13 = hlir.less_than %x, %12 : tensor<f64> -> tensor<i1>
  %14 = hlir.mul %x, %9 : tensor<f64>
  %15 = hlir.constant dense<-1.0> : tensor<f64>
  %16 = hlir.select %13, %15, %14 : tensor<i1>, tensor<f64>
  %17 = hlir.constant dense<1.0> : tensor<f64>
  %18 = hlir.select %11, %17, %16 : tensor<i1>, tensor<f64>
  return %18 : tensor<f64>
}
