// RUN: luminal-opt %s --llir-fuse-kernels | FileCheck %s

// A reshape of a computed value is the same memory.
// CHECK-LABEL: func.func @reshape
// CHECK: %[[K:.*]] = llir.kernel(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: %[[A:.*]] = llir.alias %[[K]] offset(0) : tensor<2x3xf32> -> tensor<6xf32>
// CHECK: return %[[A]]
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = llir.elementwise neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = llir.view %0 <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<2x3xf32> -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// An argument or a constant is copied.
// CHECK-LABEL: func.func @argument
// CHECK: %[[K:.*]] = llir.kernel(%arg0)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<2xf32>):
// CHECK-NEXT: llir.yield %[[X]]
// CHECK: %[[C:.*]] = llir.kernel(%{{.*}})
// CHECK: return %[[K]], %[[C]]
func.func @argument(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = llir.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %x, %c : tensor<2xf32>, tensor<2xf32>
}

// One value as two results: the second is a copy.
// CHECK-LABEL: func.func @twice
// CHECK: %[[K:.*]] = llir.kernel(%arg0)
// CHECK: %[[C:.*]] = llir.kernel(%[[K]])
// CHECK: return %[[K]], %[[C]]
func.func @twice(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = llir.elementwise neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
}

// A transposed result is written transposed.
// CHECK-LABEL: func.func @transposed
// CHECK: llir.kernel(%arg0) : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK: llir.view %{{.*}} <(d0, d1) -> (d1, d0)>
// CHECK: llir.elementwise neg
// CHECK-NOT: llir.kernel
func.func @transposed(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = llir.elementwise neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// Only the part that is returned is computed.
// CHECK-LABEL: func.func @slice
// CHECK: llir.kernel(%arg0) : (tensor<8xf32>) -> tensor<2xf32>
// CHECK: llir.view %{{.*}} <(d0) -> (d0 + 3)>
// CHECK: llir.elementwise exp(%{{.*}}) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NOT: llir.kernel
func.func @slice(%x: tensor<8xf32>) -> tensor<2xf32> {
  %0 = llir.elementwise exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = llir.view %0 <(d0) -> (d0 + 3)> : tensor<8xf32> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// A value that another kernel reads as well is an extra result of the kernel
// that goes on computing.
// CHECK-LABEL: func.func @two_results
// CHECK: %[[K:.*]]:2 = llir.kernel(%arg0, %arg1)
// CHECK: %[[S:.*]] = llir.elementwise add
// CHECK: llir.yield %[[N:.*]], %[[S]] : tensor<64x1024xf32>, tensor<64x1024xf32>
// CHECK: %[[G:.*]] = llir.kernel(%[[K]]#0, %arg2, %[[K]]#1)
func.func @two_results(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>)
    -> tensor<64x1024xf32> {
  %0 = llir.elementwise add(%x, %y) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %1 = llir.rms_norm %0 {eps = 1.0e-6 : f64} : tensor<64x1024xf32>
  %2 = llir.gemm %1, %w k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<64x1024xf32>, tensor<1024x1024xf32> -> tensor<64x1024xf32>
  %3 = llir.elementwise add(%2, %0) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %3 : tensor<64x1024xf32>
}

// A cheap and small value is computed by each of its readers.
// CHECK-LABEL: func.func @recompute
// CHECK: llir.kernel(%arg0)
// CHECK: llir.elementwise neg
// CHECK: llir.kernel(%arg0)
// CHECK: llir.elementwise neg
func.func @recompute(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = llir.elementwise neg(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = llir.reduce sum %0 : tensor<4x8xf32> -> tensor<4xf32>
  %2 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<4x8xf32> -> tensor<8x4xf32>
  %3 = llir.reduce sum %2 : tensor<8x4xf32> -> tensor<8xf32>
  return %1, %3 : tensor<4xf32>, tensor<8xf32>
}

// The kernel that moves the product runs before the one that divides by it, so
// the difference, which both read, is not a result of the latter.
// CHECK-LABEL: func.func @moved_and_read
// CHECK: llir.kernel
// CHECK: return
func.func @moved_and_read(%a: tensor<48x3x3xf32>, %b: tensor<48x3x3xf32>) -> (tensor<3x48x3xf32>, tensor<48x3x3xf32>) {
  %m = llir.reduce max %b : tensor<48x3x3xf32> -> tensor<48x3xf32>
  %mb = llir.view %m <(d0, d1, d2) -> (d0, d1)> : tensor<48x3xf32> -> tensor<48x3x3xf32>
  %d = llir.elementwise sub(%b, %mb) : (tensor<48x3x3xf32>, tensor<48x3x3xf32>) -> tensor<48x3x3xf32>
  %e = llir.elementwise exp(%d) : (tensor<48x3x3xf32>) -> tensor<48x3x3xf32>
  %g = llir.gemm %e, %a k(3) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<48x3x3xf32>, tensor<48x3x3xf32> -> tensor<48x3x3xf32>
  %v = llir.view %g <(d0, d1, d2) -> (d1, d0, d2)> : tensor<48x3x3xf32> -> tensor<3x48x3xf32>
  %q = llir.elementwise div(%d, %g) : (tensor<48x3x3xf32>, tensor<48x3x3xf32>) -> tensor<48x3x3xf32>
  return %v, %q : tensor<3x48x3xf32>, tensor<48x3x3xf32>
}

// An op that no kernel holds reads memory: a transposed operand is written
// before it, and what reads its result is a kernel of its own.
// CHECK-LABEL: func.func @standalone
// CHECK: %[[K:.*]] = llir.kernel(%arg1) : (tensor<4x3xf32>) -> tensor<3x4xf32>
// CHECK: llir.view
// CHECK: llir.elementwise sqrt
// CHECK: %[[P:.*]] = llir.prepare %[[K]] : tensor<3x4xf32>
// CHECK: llir.kernel(%arg0, %[[P]])
// CHECK: llir.elementwise mul
func.func @standalone(%x: tensor<3x4xf32>, %w: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %0 = llir.elementwise sqrt(%w) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<4x3xf32> -> tensor<3x4xf32>
  %p = llir.prepare %1 : tensor<3x4xf32>
  %2 = llir.elementwise mul(%x, %p) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// What it reads may be a further result of a kernel; its own result is copied
// to the caller's memory.
// CHECK-LABEL: func.func @standalone_result
// CHECK: %[[K:.*]]:2 = llir.kernel(%arg0)
// CHECK: %[[P:.*]] = llir.prepare %[[K]]#1 : tensor<4xf32>
// CHECK: %[[C:.*]] = llir.kernel(%[[P]])
// CHECK: return %[[K]]#0, %[[C]]
func.func @standalone_result(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = llir.elementwise sqrt(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %p = llir.prepare %0 : tensor<4xf32>
  return %1, %p : tensor<4xf32>, tensor<4xf32>
}

// A mean that is a result, and that the variance of its row is computed of, is a result of that kernel; not where another
// kernel reads it as well.
// CHECK-LABEL: func.func @mean_and_variance
// CHECK: %[[K:.*]]:2 = llir.kernel(%arg0)
// CHECK-NOT: llir.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @mean_and_variance(%x: tensor<8x60xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = llir.reduce sum %x : tensor<8x60xf32> -> tensor<8xf32>
  %1 = llir.elementwise neg(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = llir.view %1 <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x60xf32>
  %3 = llir.elementwise add(%x, %2) : (tensor<8x60xf32>, tensor<8x60xf32>) -> tensor<8x60xf32>
  %4 = llir.elementwise mul(%3, %3) : (tensor<8x60xf32>, tensor<8x60xf32>) -> tensor<8x60xf32>
  %5 = llir.reduce sum %4 : tensor<8x60xf32> -> tensor<8xf32>
  return %5, %1 : tensor<8xf32>, tensor<8xf32>
}

// A norm behind a product that has too few rows for a stage: the deviation from the mean is a value of the norm's kernel,
// which alone reads it, and not a result.
// CHECK-LABEL: func.func @norm_behind_product
// CHECK: %[[P:.*]] = llir.kernel(%arg0, %arg1, %arg2)
// CHECK: llir.yield %{{[^,]*}} : tensor<64x256xf32>
// CHECK: %[[N:.*]] = llir.kernel(%[[P]])
// CHECK: llir.yield %{{[^,]*}} : tensor<64x256xf32>
// CHECK: return %[[N]]
func.func @norm_behind_product(%x: tensor<64x512xf32>, %w: tensor<256x512xf32>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x512xf32>, tensor<256x512xf32> -> tensor<64x256xf32>
  %1 = llir.elementwise add(%0, %y) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %2 = llir.layer_norm %1 {eps = 1.0e-6 : f64} : tensor<64x256xf32>
  return %2 : tensor<64x256xf32>
}

// The same of the exponentials of a softmax, also where another kernel reads the scores.
// CHECK-LABEL: func.func @softmax_behind_product
// CHECK: %[[P:.*]] = llir.kernel(%arg0, %arg1)
// CHECK: llir.yield %{{[^,]*}} : tensor<64x256xf32>
// CHECK: llir.kernel(%[[P]])
// CHECK: llir.reduce max
// CHECK: llir.yield %{{[^,]*}} : tensor<64x256xf32>
// CHECK-NOT: :2 = llir.kernel
// CHECK: return
func.func @softmax_behind_product(%x: tensor<64x512xf32>, %w: tensor<256x512xf32>) -> (tensor<64x256xf32>, tensor<256x64xf32>) {
  %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x512xf32>, tensor<256x512xf32> -> tensor<64x256xf32>
  %1 = llir.elementwise neg(%0) : (tensor<64x256xf32>) -> tensor<64x256xf32>
  %2 = llir.softmax %1 : tensor<64x256xf32>
  %3 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<64x256xf32> -> tensor<256x64xf32>
  return %2, %3 : tensor<64x256xf32>, tensor<256x64xf32>
}

// The sum computes the moved value again and takes its source as a second result; the kernel that writes the moved value
// reads that, and so runs after the sum.
// CHECK-LABEL: func.func @source_of_what_is_moved
// CHECK: %[[SUM:.*]]:2 = llir.kernel(%arg0)
// CHECK: %[[MOVED:.*]] = llir.kernel(%[[SUM]]#1)
// CHECK: %[[MOST:.*]] = llir.kernel(%[[SUM]]#0)
// CHECK: return %{{.*}}, %[[MOVED]], %[[MOST]]
func.func @source_of_what_is_moved(%x: tensor<31x7x5xf32>) -> (tensor<31x7x5xf32>, tensor<5x31x7xf32>, tensor<5xf32>) {
  %0 = llir.elementwise tanh(%x) : (tensor<31x7x5xf32>) -> tensor<31x7x5xf32>
  %1 = llir.elementwise min(%x, %0) : (tensor<31x7x5xf32>, tensor<31x7x5xf32>) -> tensor<31x7x5xf32>
  %2 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<31x7x5xf32> -> tensor<5x31x7xf32>
  %3 = llir.reduce sum %2 : tensor<5x31x7xf32> -> tensor<5x31xf32>
  %4 = llir.elementwise max(%3, %3) : (tensor<5x31xf32>, tensor<5x31xf32>) -> tensor<5x31xf32>
  %5 = llir.reduce max %4 : tensor<5x31xf32> -> tensor<5xf32>
  return %1, %2, %5 : tensor<31x7x5xf32>, tensor<5x31x7xf32>, tensor<5xf32>
}
