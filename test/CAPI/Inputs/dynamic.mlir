// y = x + x over any number of rows, and a sum of all rows so far.
func.func @main(%x: tensor<?x4xf32, #hlir.dims<n>> {hlir.name = "x"},
                %sum: tensor<4xf32> {hlir.kind = "state", hlir.name = "sum"})
    -> (tensor<?x4xf32, #hlir.dims<n>> {hlir.name = "y"}, tensor<4xf32> {hlir.updates = 1 : i64})
    attributes {hlir.symbols = #hlir.symbols<n in [1, 8]>} {
  %0 = hlir.add %x, %x : tensor<?x4xf32, #hlir.dims<n>>
  %1 = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<?x4xf32, #hlir.dims<n>> -> tensor<4x?xf32, #hlir.dims<n>>
  %2 = hlir.reduce_sum %1 : tensor<4x?xf32, #hlir.dims<n>> -> tensor<4xf32>
  %3 = hlir.add %sum, %2 : tensor<4xf32>
  return %0, %3 : tensor<?x4xf32, #hlir.dims<n>>, tensor<4xf32>
}
