// The sum of the squares of each row, for any number of rows.
func.func @main(%x: tensor<?x4xf32, #hlir.dims<rows>> {hlir.name = "x"})
    -> (tensor<?xf32, #hlir.dims<rows>> {hlir.name = "y"})
    attributes {hlir.symbols = #hlir.symbols<rows in [1, 1024]>} {
  %0 = hlir.mul %x, %x : tensor<?x4xf32, #hlir.dims<rows>>
  %1 = hlir.reduce_sum %0 : tensor<?x4xf32, #hlir.dims<rows>> -> tensor<?xf32, #hlir.dims<rows>>
  return %1 : tensor<?xf32, #hlir.dims<rows>>
}
