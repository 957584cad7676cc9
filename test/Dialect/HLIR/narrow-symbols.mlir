// RUN: luminal-opt %s --split-input-file --hlir-narrow-symbols=ranges=s=1 --canonicalize | FileCheck %s --check-prefix=ONE
// RUN: luminal-opt %s --split-input-file --hlir-narrow-symbols=ranges=s=2.. | FileCheck %s --check-prefix=OPEN
// RUN: luminal-opt %s --split-input-file --hlir-narrow-symbols=ranges=s=3..9,b=4 | FileCheck %s --check-prefix=BOTH
// RUN: not luminal-opt %s --hlir-narrow-symbols=ranges=q=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not luminal-opt %s --hlir-narrow-symbols=ranges=s=0 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not luminal-opt %s --hlir-narrow-symbols=ranges=s=9..65 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not luminal-opt %s --hlir-narrow-symbols=ranges=s=70.. 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not luminal-opt %s --hlir-narrow-symbols=ranges=s=3..2 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not luminal-opt %s --hlir-narrow-symbols=ranges=s 2>&1 | FileCheck %s --check-prefix=FORM

// A symbol of one value is a number everywhere, and stays in the table.
// ONE-LABEL: func.func @main
// ONE-SAME: tensor<?x1x4xf32, #hlir.dims<b>>
// ONE-SAME: hlir.requires = [#hlir.requirement<lesser = b, greater = 9, over = (1), "what">]
// ONE-SAME: hlir.symbols = #hlir.symbols<b in [1, 8], s in [1, 1]>
// ONE: hlir.view %{{.*}} <(d0, d1) -> (d0, 0, d1)> : tensor<?x1x4xf32, #hlir.dims<b>> -> tensor<?x4xf32, #hlir.dims<b>>
// ONE: return

// A range that is open ends where that of the symbol does.
// OPEN-LABEL: func.func @main
// OPEN-SAME: tensor<?x?x4xf32, #hlir.dims<b, s>>
// OPEN-SAME: hlir.symbols = #hlir.symbols<b in [1, 8], s in [2, 64]>

// BOTH-LABEL: func.func @main
// BOTH-SAME: tensor<4x?x4xf32, #hlir.dims<s>>
// BOTH-SAME: hlir.symbols = #hlir.symbols<b in [4, 4], s in [3, 9]>

// UNKNOWN: narrow-symbols.mlir:[[# @LINE + 6]]:{{.*}}: error: range 'q=1' names no symbol of the program (known are: b, s)
// LEAST: error: range 's=0' is not within that of the symbol, [1, 64]
// MOST: error: range 's=9..65' is not within that of the symbol, [1, 64]
// BEYOND: error: range 's=70..' is not within that of the symbol, [1, 64]
// FORM: error: range 's{{.*}}' is not NAME=VALUE, NAME=LEAST..MOST or NAME=LEAST..

func.func @main(%x: tensor<?x?x4xf32, #hlir.dims<b, s>>) -> tensor<?x?xf32, #hlir.dims<b, 4 * s>>
    attributes {hlir.requires = [#hlir.requirement<lesser = b * s, greater = 9, over = (s), "what">],
                hlir.symbols = #hlir.symbols<b in [1, 8], s in [1, 64]>} {
  %0 = hlir.view %x <(d0, d1) -> (d0, d1 floordiv 4, d1 mod 4)> : tensor<?x?x4xf32, #hlir.dims<b, s>> -> tensor<?x?xf32, #hlir.dims<b, 4 * s>>
  return %0 : tensor<?x?xf32, #hlir.dims<b, 4 * s>>
}
