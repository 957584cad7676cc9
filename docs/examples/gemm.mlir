// A product of 512 x 512 matrices, and schedules to compare (utils/user/time_schedules.py). A smaller tile, few columns a
// unit, and every element for itself.
// SCHEDULE small-tile: grid(d1:64, d0:all) op0 = tile {lanes = 8, pack = columns, rows = 4, vectors = 1}
// SCHEDULE many-units: grid(d1:32, d0:96) op0 = tile {lanes = 8, pack = columns, rows = 6, vectors = 2}
// SCHEDULE elements: grid(d0, d1:all v8) op0 = element {unroll = 4}
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = llir.kernel(%a, %b) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>):
    %0 = llir.gemm %x, %y k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    llir.yield %0 : tensor<512x512xf32>
  }
  return %r : tensor<512x512xf32>
}
