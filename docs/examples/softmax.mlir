// A softmax over rows of 2048, and schedules to compare (utils/user/time_schedules.py). Lanes along the row, lanes across
// rows, eight rows a unit, and one that computes the exponentials twice instead of keeping them.
// SCHEDULE again: grid(d0) stream(d1:all v8) op0 = pass {lanes = 8, unroll = 2} op4 = pass {lanes = 8, unroll = 2}
// SCHEDULE eight-rows: grid(d0:8) stream(d1:all v8) op0 = pass {lanes = 8, unroll = 4} op3 = keep {result = 0} op4 = pass {lanes = 8, unroll = 4}
// SCHEDULE across: grid(d0:16 v8) stream(d1:all) op0 = pass op4 = pass
func.func @main(%a: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %r = llir.kernel(%a) : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  ^bb0(%x: tensor<2048x2048xf32>):
    %0 = llir.reduce max %x : tensor<2048x2048xf32> -> tensor<2048xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x2048xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %3 = llir.elementwise exp(%2) : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %4 = llir.reduce sum %3 : tensor<2048x2048xf32> -> tensor<2048xf32>
    %5 = llir.elementwise recip(%4) : (tensor<2048xf32>) -> tensor<2048xf32>
    %6 = llir.view %5 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x2048xf32>
    %7 = llir.elementwise mul(%3, %6) : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    llir.yield %7 : tensor<2048x2048xf32>
  }
  return %r : tensor<2048x2048xf32>
}
