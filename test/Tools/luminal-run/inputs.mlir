// Inputs that do not fit are refused before anything runs, both by artifacts and by the interpreter.

// RUN: rm -rf %t && mkdir -p %t
// RUN: luminal-compile %s -o %t/m.lum
// RUN: %python %S/Inputs/check-inputs.py %t %s

func.func @main(%x: tensor<?x?xf32, #hlir.dims<n, k>> {hlir.name = "x"},
                %w: tensor<?x3xf32, #hlir.dims<k>> {hlir.name = "w"},
                %i: tensor<?xi64, #hlir.dims<n>> {hlir.name = "i"})
    -> (tensor<?x3xf32, #hlir.dims<n>> {hlir.name = "y"})
    attributes {hlir.symbols = #hlir.symbols<k in [1, 64], n in [0, 8]>} {
  %0 = hlir.gather %w, %i : tensor<?x3xf32, #hlir.dims<k>>, tensor<?xi64, #hlir.dims<n>> -> tensor<?x3xf32, #hlir.dims<n>>
  return %0 : tensor<?x3xf32, #hlir.dims<n>>
}
