func.func @main(%x: tensor<?x16xf32, #hlir.dims<s>> {hlir.kind = "input", hlir.name = "x"},
                %v: tensor<16x16xf32> {hlir.kind = "weight", hlir.name = "v"},
                %w: tensor<16x16xf32> {hlir.kind = "weight", hlir.name = "w"})
    -> (tensor<?x16xf32, #hlir.dims<s>>, tensor<?x16xf32, #hlir.dims<s>>)
    attributes {hlir.symbols = #hlir.symbols<s in [1, 200]>} {
  // The same for all sizes.
  %0 = hlir.exp2 %v : tensor<16x16xf32>
  %1 = hlir.sin %0 : tensor<16x16xf32>
  %2 = llir.gemm %x, %1 k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<?x16xf32, #hlir.dims<s>>, tensor<16x16xf32> -> tensor<?x16xf32, #hlir.dims<s>>
  // Another value for each.
  %3 = hlir.iota <(d0, d1) -> (d1 * s)> : tensor<16x16xi32>
  %4 = hlir.cast %3 : tensor<16x16xi32> -> tensor<16x16xf32>
  %6 = hlir.mul %4, %w : tensor<16x16xf32>
  %7 = hlir.sin %6 : tensor<16x16xf32>
  %8 = llir.gemm %x, %7 k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<?x16xf32, #hlir.dims<s>>, tensor<16x16xf32> -> tensor<?x16xf32, #hlir.dims<s>>
  return %2, %8 : tensor<?x16xf32, #hlir.dims<s>>, tensor<?x16xf32, #hlir.dims<s>>
}
