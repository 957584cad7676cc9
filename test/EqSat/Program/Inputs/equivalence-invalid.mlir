//--- cycle.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %a = "equivalence.class"(%x) : (tensor<f32>) -> tensor<f32>
    %c = "equivalence.class"(%n) : (tensor<f32>) -> tensor<f32>
    %n = hlir.mul %c, %a : tensor<f32>
    "equivalence.yield"(%c) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
//--- bare.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %c = "equivalence.class"(%n) : (tensor<f32>) -> tensor<f32>
    %n = hlir.mul %x, %x : tensor<f32>
    "equivalence.yield"(%c) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
//--- types.mlir
func.func @main(%x: tensor<f32>, %y: tensor<f64>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %c = "equivalence.class"(%x, %y) : (tensor<f32>, tensor<f64>) -> tensor<f32>
    "equivalence.yield"(%c) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
