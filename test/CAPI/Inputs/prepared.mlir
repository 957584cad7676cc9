// y = x + sin(sin(sin(sin(w)))): what depends on the weight alone is computed once.
func.func @main(%x: tensor<4096xf32> {hlir.name = "x"},
                %w: tensor<4096xf32> {hlir.kind = "weight", hlir.name = "w"})
    -> (tensor<4096xf32> {hlir.name = "y"}) {
  %0 = hlir.sin %w : tensor<4096xf32>
  %1 = hlir.sin %0 : tensor<4096xf32>
  %2 = hlir.sin %1 : tensor<4096xf32>
  %3 = hlir.sin %2 : tensor<4096xf32>
  %4 = hlir.add %x, %3 : tensor<4096xf32>
  return %4 : tensor<4096xf32>
}
