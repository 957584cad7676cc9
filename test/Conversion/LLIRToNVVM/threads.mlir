// What each form gets on a GPU, and how its memory accesses and exchanges look.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// Vectors of 16 bytes, threads along the fastest dim.
// CHECK-LABEL: @map
// CHECK: loops<grid(d0*d1:4 v4) threads(128)>
// PTX-LABEL: .entry map(
// PTX: .maxntid 128
// PTX: ld.global.nc.v4.b32
// PTX: st.global.v4.b32
func.func @map(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> {
  %0 = llir.elementwise sqrt(%x) : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  return %0 : tensor<1024x256xf32>
}

// Rows that begin anywhere are read element by element; what is written is a vector as far as it is aligned.
// CHECK-LABEL: @unaligned
// CHECK: loops<grid(d0, d1:2 v2) threads(256)>
// PTX-LABEL: .entry unaligned(
// PTX-NOT: ld.global.{{.*}}v
// PTX: st.global.v2.b32
func.func @unaligned(%x: tensor<1024x255xf32>) -> tensor<1024x254xf32> {
  %0 = llir.view %x <(d0, d1) -> (d0, d1 + 1)> : tensor<1024x255xf32> -> tensor<1024x254xf32>
  %1 = llir.elementwise sqrt(%0) : (tensor<1024x254xf32>) -> tensor<1024x254xf32>
  return %1 : tensor<1024x254xf32>
}

// A block for each row, which stays in registers: two loads, two stores. Warps meet in shared memory.
// CHECK-LABEL: @softmax
// CHECK: loops<grid(d0) stream(d1:all v4) threads(512, 512) op0 = pass {blocks = 4, lanes = 4, unroll = 2} op{{[0-9]+}} = pass {blocks = 4, lanes = 4, unroll = 2}>
// PTX-LABEL: .entry softmax(
// PTX: .maxntid 512
// PTX: .minnctapersm 4
// PTX-COUNT-2: ld.global.nc.v4.b32
// PTX-NOT: ld.global.nc.v4
// PTX: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1
// PTX: bar.sync 0
// PTX: ld.shared.b32
func.func @softmax(%x: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %0 = llir.softmax %x : tensor<1024x4096xf32>
  return %0 : tensor<1024x4096xf32>
}

// A few threads of a warp for each short row: no barrier.
// CHECK-LABEL: @short
// CHECK: loops<grid(d0) stream(d1:all v4) threads(256, 8) op0 = pass {lanes = 4, unroll = 1}>
// PTX-LABEL: .entry short(
// PTX: shfl.sync.bfly.b32 {{.*}}, 4, 31,
// PTX-NOT: bar.sync
// PTX: st.global.b32
func.func @short(%x: tensor<65536x32xf32>) -> tensor<65536xf32> {
  %0 = llir.reduce sum %x : tensor<65536x32xf32> -> tensor<65536xf32>
  return %0 : tensor<65536xf32>
}

// Neighbours in memory are in different rows: a thread for each.
// CHECK-LABEL: @across
// CHECK: loops<grid(d0) stream(d1:all) threads({{[0-9]+}}) op1 = pass {lanes = 1, unroll = 8}>
// PTX-LABEL: .entry across(
// PTX-NOT: shfl
func.func @across(%x: tensor<512x65536xf32>) -> tensor<65536xf32> {
  %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<512x65536xf32> -> tensor<65536x512xf32>
  %1 = llir.reduce sum %0 : tensor<65536x512xf32> -> tensor<65536xf32>
  return %1 : tensor<65536xf32>
}

// A row and a matrix: a block takes four columns, sixteen bytes a thread, so many that memory has much to do at a time.
// CHECK-LABEL: @gemv
// CHECK: loops<grid(d1:4) threads(256, 256) op0 = together {blocks = 3, lanes = 8, sums = 1, unroll = 2}>
// PTX-LABEL: .entry gemv(
// PTX-COUNT-10: ld.global.nc.v4.b32
// PTX-NOT: ld.global.nc.v4
// PTX: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1
func.func @gemv(%x: tensor<1x4096xbf16>, %w: tensor<14336x4096xbf16>) -> tensor<1x14336xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<1x4096xbf16>, tensor<14336x4096xbf16> -> tensor<1x14336xbf16>
  return %0 : tensor<1x14336xbf16>
}

// CHECK-LABEL: @many_products
// CHECK: loops<grid(d1:4) threads(256, 256) op0 = together {blocks = 3, lanes = 8, sums = 1, unroll = 2}>
func.func @many_products(%x: tensor<1x4096xbf16>, %w: tensor<128256x4096xbf16>) -> tensor<1x128256xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<1x4096xbf16>, tensor<128256x4096xbf16> -> tensor<1x128256xbf16>
  return %0 : tensor<1x128256xbf16>
}

// Short rows that are many: fewer threads a row exchange fewer times.
// CHECK-LABEL: @short_rows
// CHECK: loops<grid(d0) stream(d1:all) threads(256, 8) op0 = pass {lanes = 1, unroll = 4}>
// CHECK-LABEL: @short_few
// CHECK: loops<grid(d0) stream(d1:all) threads(128, 32) op0 = pass {lanes = 1, unroll = 1}>
func.func @short_rows(%x: tensor<2097152x31xf32>) -> tensor<2097152xf32> {
  %0 = llir.reduce sum %x : tensor<2097152x31xf32> -> tensor<2097152xf32>
  return %0 : tensor<2097152xf32>
}
func.func @short_few(%x: tensor<512x31xf32>) -> tensor<512xf32> {
  %0 = llir.reduce sum %x : tensor<512x31xf32> -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// An index that is the same along the vector does not make it shorter.
// CHECK-LABEL: @lookup
// CHECK: loops<grid(d0, d1:4 v4) threads(128)>
func.func @lookup(%table: tensor<65536x1024xf32>, %i: tensor<4096xi64>) -> tensor<4096x1024xf32> {
  %0 = llir.gather %table, %i : tensor<65536x1024xf32>, tensor<4096xi64> -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}

// Rows of which a vector is less than an access: a thread looks up as many as make it one. A near miss: as many threads
// as there are rows to look up are needed.
// CHECK-LABEL: @lookup_narrow
// CHECK: loops<grid(d0:2, d1:4 v4) threads(128)>
func.func @lookup_narrow(%table: tensor<1048576x100xf16>, %i: tensor<524288xi64>) -> tensor<524288x100xf16> {
  %0 = llir.gather %table, %i : tensor<1048576x100xf16>, tensor<524288xi64> -> tensor<524288x100xf16>
  return %0 : tensor<524288x100xf16>
}
// CHECK-LABEL: @lookup_few
// CHECK: loops<grid(d0, d1:4 v4) threads(
func.func @lookup_few(%table: tensor<1048576x100xf16>, %i: tensor<4096xi64>) -> tensor<4096x100xf16> {
  %0 = llir.gather %table, %i : tensor<1048576x100xf16>, tensor<4096xi64> -> tensor<4096x100xf16>
  return %0 : tensor<4096x100xf16>
}

// Narrow elements of odd rows: a small team, with as many of each as are whole rounds.
// CHECK-LABEL: @narrow_rows
// CHECK: stream(d1:all) threads(128, 128) op{{[0-9]+}} = pass {blocks = 8, lanes = 1, unroll = 12}
func.func @narrow_rows(%x: tensor<12007x1537xbf16>) -> tensor<12007x1537xbf16> {
  %0 = llir.softmax %x : tensor<12007x1537xbf16>
  return %0 : tensor<12007x1537xbf16>
}

// Two tensors side by side: each vector is of one of them. Indices that fit in 32 bits are divided so.
// CHECK-LABEL: @beside
// CHECK: loops<grid(d0, d1:4 v4) threads(128)>
// PTX-LABEL: .entry beside(
// PTX: mul.hi.u32
// PTX-COUNT-2: ld.global.nc.v4.b32
// PTX-NOT: ld.global.nc
// PTX: st.global.v4
func.func @beside(%x: tensor<1024x1000xf32>, %y: tensor<1024x1500xf32>) -> tensor<1024x2500xf32> {
  %0 = llir.view %x <(d0, d1) -> (d0, min(d1, 999))> : tensor<1024x1000xf32> -> tensor<1024x2500xf32>
  %1 = llir.view %y <(d0, d1) -> (d0, max(d1, 1000) - 1000)> : tensor<1024x1500xf32> -> tensor<1024x2500xf32>
  %2 = llir.iota <(d0, d1) -> (d1)> : tensor<1024x2500xi64>
  %3 = llir.constant dense<1000> : tensor<1024x2500xi64>
  %4 = llir.elementwise less_than(%2, %3) : (tensor<1024x2500xi64>, tensor<1024x2500xi64>) -> tensor<1024x2500xi1>
  %5 = llir.elementwise select(%4, %0, %1) : (tensor<1024x2500xi1>, tensor<1024x2500xf32>, tensor<1024x2500xf32>) -> tensor<1024x2500xf32>
  return %5 : tensor<1024x2500xf32>
}

// A near miss: vectors of four would be of both.
// CHECK-LABEL: @beside_odd
// CHECK: loops<grid(d0, d1:2 v2) threads(256)>
func.func @beside_odd(%x: tensor<1024x1002xf32>, %y: tensor<1024x1498xf32>) -> tensor<1024x2500xf32> {
  %0 = llir.view %x <(d0, d1) -> (d0, min(d1, 1001))> : tensor<1024x1002xf32> -> tensor<1024x2500xf32>
  %1 = llir.view %y <(d0, d1) -> (d0, max(d1, 1002) - 1002)> : tensor<1024x1498xf32> -> tensor<1024x2500xf32>
  %2 = llir.iota <(d0, d1) -> (d1)> : tensor<1024x2500xi64>
  %3 = llir.constant dense<1002> : tensor<1024x2500xi64>
  %4 = llir.elementwise less_than(%2, %3) : (tensor<1024x2500xi64>, tensor<1024x2500xi64>) -> tensor<1024x2500xi1>
  %5 = llir.elementwise select(%4, %0, %1) : (tensor<1024x2500xi1>, tensor<1024x2500xf32>, tensor<1024x2500xf32>) -> tensor<1024x2500xf32>
  return %5 : tensor<1024x2500xf32>
}

// Four rows, which a warp multiplies with what it reads of two columns: of two steps of k the vectors of the weights
// and of the rows are in flight before the first is multiplied. Of the eight sums of each thread, members of the
// warp merge half as many at each distance.
// CHECK-LABEL: @few_rows
// CHECK: loops<grid(d0:4, d1:2) threads(128, 32) op0 = together {blocks = 6, lanes = 8, sums = 1, unroll = 2}>
// PTX-LABEL: .entry few_rows(
// PTX: .maxntid 128
// PTX: .minnctapersm 6
// PTX-COUNT-12: ld.global.nc.v4.b32
// PTX-NOT: ld.global
// PTX-COUNT-128: fma.rn.f32
// PTX-NOT: fma.rn.f32
// PTX-COUNT-9: shfl.sync.bfly.b32
// PTX-COUNT-8: shfl.sync.idx.b32
// PTX-NOT: shfl.sync
// PTX-COUNT-8: st.global.b16
func.func @few_rows(%x: tensor<4x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4x4096xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4x4096xbf16>
  return %0 : tensor<4x4096xbf16>
}

// Of fewer columns a block takes two; all sums meet at once.
// CHECK-LABEL: @fewer_columns
// CHECK: loops<grid(d0:3, d1:2) threads(128, 128) op0 = together
// PTX-LABEL: .entry fewer_columns(
// PTX-COUNT-2: bar.sync
// PTX-NOT: bar.sync
func.func @fewer_columns(%x: tensor<3x4096xbf16>, %w: tensor<300x4096xbf16>) -> tensor<3x300xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<3x4096xbf16>, tensor<300x4096xbf16> -> tensor<3x300xbf16>
  return %0 : tensor<3x300xbf16>
}

// At most so many rows: the weights are read once as well, and rows that are not there are not written.
// CHECK-LABEL: @rows_to_four
// CHECK: loops<grid(d0:4, d1:2) threads(128, 32) op0 = together
// PTX-LABEL: .entry rows_to_four(
func.func @rows_to_four(%x: tensor<?x4096xbf16, #hlir.dims<s>>, %w: tensor<4096x4096xbf16>) -> tensor<?x4096xbf16, #hlir.dims<s>>
    attributes {hlir.symbols = #hlir.symbols<s in [1, 4]>} {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x4096xbf16, #hlir.dims<s>>, tensor<4096x4096xbf16> -> tensor<?x4096xbf16, #hlir.dims<s>>
  return %0 : tensor<?x4096xbf16, #hlir.dims<s>>
}

// 512 threads would leave half of them idle in the last of three rounds; where rows are few, many threads are worth that.
// CHECK-LABEL: @wide
// CHECK: loops<grid(d0) stream(d1:all v4) threads(256, 256) op0 = pass {blocks = 4, lanes = 4, unroll = 5}>
func.func @wide(%x: tensor<4096x5000xf32>) -> tensor<4096xf32> {
  %0 = llir.reduce sum %x : tensor<4096x5000xf32> -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// CHECK-LABEL: @wide_few
// CHECK: loops<grid(d0) stream(d1:all v4) threads(512, 512) op0 = pass {blocks = 2, lanes = 4, unroll = 3}>
func.func @wide_few(%x: tensor<528x5000xf32>) -> tensor<528xf32> {
  %0 = llir.reduce sum %x : tensor<528x5000xf32> -> tensor<528xf32>
  return %0 : tensor<528xf32>
}

// Elements of two bytes that are no vectors: more of them at a time.
// CHECK-LABEL: @narrow_odd
// CHECK: loops<grid(d0) stream(d1:all) threads(512, 512) op1 = pass {blocks = 2, lanes = 1, unroll = 16}>
func.func @narrow_odd(%x: tensor<512x50257xf16>) -> tensor<512xf32> {
  %0 = llir.elementwise cast(%x) : (tensor<512x50257xf16>) -> tensor<512x50257xf32>
  %1 = llir.reduce max %0 : tensor<512x50257xf32> -> tensor<512xf32>
  return %1 : tensor<512xf32>
}
