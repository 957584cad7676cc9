// Updates in any order on a GPU.
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_90a %t.ptx -o %t.cubin %}
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %s -o %t.80.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_80 %t.80.ptx -o %t.80.cubin %}

// The index and then the last position in its row; the update at that position is a vector.
// CHECK-LABEL: .entry set(
// CHECK: ld.global.nc.b64
// CHECK: ld.global.nc.b32
// CHECK: ld.global.nc.v4
// CHECK: st.global.v4
// CHECK-NOT: atom
// CHECK: ret
func.func private @set(%a: tensor<1000x1024xf32>, %i: tensor<600xi64>, %u: tensor<600x1024xf32>, %t: tensor<1000xi32>) -> tensor<1000x1024xf32> {
  %r = llir.kernel(%a, %i, %u, %t) {in_place} : (tensor<1000x1024xf32>, tensor<600xi64>, tensor<600x1024xf32>, tensor<1000xi32>) -> tensor<1000x1024xf32> {
  ^bb0(%x: tensor<1000x1024xf32>, %j: tensor<600xi64>, %v: tensor<600x1024xf32>, %table: tensor<1000xi32>):
    %last = llir.gather %table, %j {checked} : tensor<1000xi32>, tensor<600xi64> -> tensor<600xi32>
    %rows = llir.gather %v, %last {checked} : tensor<600x1024xf32>, tensor<600xi32> -> tensor<600x1024xf32>
    %0 = llir.scatter set %x, %j, %rows {checked} : tensor<1000x1024xf32>, tensor<600xi64>, tensor<600x1024xf32>
    llir.yield %0 : tensor<1000x1024xf32>
  }
  return %r : tensor<1000x1024xf32>
}

// A team reads the index of its row once, and then two vectors a thread in a row.
// CHECK-LABEL: .entry team(
// CHECK: ld.global.nc.v4
// CHECK-NOT: ld.global.nc.b64
// CHECK: ld.global.nc.v4
// CHECK: ret
func.func private @team(%a: tensor<1000x256xf32>, %i: tensor<600xi64>, %u: tensor<1000x256xf32>) -> tensor<1000x256xf32> {
  %r = llir.kernel(%a, %i, %u) loops<grid(d0, d1:all v4) threads(64, 32) op1 = unordered {unroll = 2}> {in_place} : (tensor<1000x256xf32>, tensor<600xi64>, tensor<1000x256xf32>) -> tensor<1000x256xf32> {
  ^bb0(%x: tensor<1000x256xf32>, %j: tensor<600xi64>, %v: tensor<1000x256xf32>):
    %rows = llir.gather %v, %j {checked} : tensor<1000x256xf32>, tensor<600xi64> -> tensor<600x256xf32>
    %0 = llir.scatter set %x, %j, %rows {checked} : tensor<1000x256xf32>, tensor<600xi64>, tensor<600x256xf32>
    llir.yield %0 : tensor<1000x256xf32>
  }
  return %r : tensor<1000x256xf32>
}

// CHECK-LABEL: .entry max(
// CHECK: {{atom|red}}{{.*}}global{{.*}}max.s32
// CHECK: ret
func.func private @max(%a: tensor<1000xi32>, %i: tensor<600xi64>) -> tensor<1000xi32> {
  %r = llir.kernel(%a, %i) {in_place} : (tensor<1000xi32>, tensor<600xi64>) -> tensor<1000xi32> {
  ^bb0(%x: tensor<1000xi32>, %j: tensor<600xi64>):
    %p = llir.iota <(d0) -> (d0)> : tensor<600xi32>
    %0 = llir.scatter max %x, %j, %p {checked} : tensor<1000xi32>, tensor<600xi64>, tensor<600xi32>
    llir.yield %0 : tensor<1000xi32>
  }
  return %r : tensor<1000xi32>
}

// CHECK-LABEL: .entry add(
// CHECK: {{atom|red}}{{.*}}global{{.*}}add.{{[su]}}64
// CHECK: ret
func.func private @add(%a: tensor<1000x3xi64>, %i: tensor<600xi32>, %u: tensor<600x3xi64>) -> tensor<1000x3xi64> {
  %r = llir.kernel(%a, %i, %u) {in_place} : (tensor<1000x3xi64>, tensor<600xi32>, tensor<600x3xi64>) -> tensor<1000x3xi64> {
  ^bb0(%x: tensor<1000x3xi64>, %j: tensor<600xi32>, %v: tensor<600x3xi64>):
    %0 = llir.scatter add %x, %j, %v {checked} : tensor<1000x3xi64>, tensor<600xi32>, tensor<600x3xi64>
    llir.yield %0 : tensor<1000x3xi64>
  }
  return %r : tensor<1000x3xi64>
}

// There are no atomics of f16; one update needs none.
// CHECK-LABEL: .entry one(
// CHECK-NOT: {{atom|red}}.
// CHECK: st.global.b16
// CHECK: ret
func.func private @one(%a: tensor<1000x64xf16>, %i: tensor<1xi64>, %u: tensor<1x64xf16>) -> tensor<1000x64xf16> {
  %r = llir.kernel(%a, %i, %u) {in_place} : (tensor<1000x64xf16>, tensor<1xi64>, tensor<1x64xf16>) -> tensor<1000x64xf16> {
  ^bb0(%x: tensor<1000x64xf16>, %j: tensor<1xi64>, %v: tensor<1x64xf16>):
    %0 = llir.scatter add %x, %j, %v {checked} : tensor<1000x64xf16>, tensor<1xi64>, tensor<1x64xf16>
    llir.yield %0 : tensor<1000x64xf16>
  }
  return %r : tensor<1000x64xf16>
}

// Floats by the order of their bits, where there is not more already.
// CHECK-LABEL: .entry max_float(
// CHECK: ld.relaxed
// CHECK: {{atom|red}}{{.*}}global{{.*}}max.s32
// CHECK: {{atom|red}}{{.*}}global{{.*}}min.u32
// CHECK: ret
func.func private @max_float(%a: tensor<1000xf32>, %i: tensor<600xi64>, %u: tensor<600xf32>) -> tensor<1000xf32> {
  %r = llir.kernel(%a, %i, %u) {in_place} : (tensor<1000xf32>, tensor<600xi64>, tensor<600xf32>) -> tensor<1000xf32> {
  ^bb0(%x: tensor<1000xf32>, %j: tensor<600xi64>, %v: tensor<600xf32>):
    %0 = llir.scatter max %x, %j, %v {checked} : tensor<1000xf32>, tensor<600xi64>, tensor<600xf32>
    llir.yield %0 : tensor<1000xf32>
  }
  return %r : tensor<1000xf32>
}

// Many sums of few integers: a block counts in shared memory, 32 bits at a time, and adds what it has once.
// CHECK-LABEL: .entry count(
// CHECK: bar.sync
// CHECK: atom.{{.*}}shared{{.*}}add.{{[su]}}32
// CHECK: bar.sync
// CHECK: {{atom|red}}{{.*}}global{{.*}}add.{{[su]}}64
// CHECK: ret
func.func private @count(%a: tensor<100xi64>, %i: tensor<100000xi64>, %u: tensor<100000xi64>) -> tensor<100xi64> {
  %r = llir.kernel(%a, %i, %u) {in_place} : (tensor<100xi64>, tensor<100000xi64>, tensor<100000xi64>) -> tensor<100xi64> {
  ^bb0(%x: tensor<100xi64>, %j: tensor<100000xi64>, %v: tensor<100000xi64>):
    %0 = llir.scatter add %x, %j, %v {checked} : tensor<100xi64>, tensor<100000xi64>, tensor<100000xi64>
    llir.yield %0 : tensor<100xi64>
  }
  return %r : tensor<100xi64>
}

// Too many to count apart.
// CHECK-LABEL: .entry many(
// CHECK-NOT: bar.sync
// CHECK: ret
func.func private @many(%a: tensor<5000xi64>, %i: tensor<1000000xi64>, %u: tensor<1000000xi64>) -> tensor<5000xi64> {
  %r = llir.kernel(%a, %i, %u) {in_place} : (tensor<5000xi64>, tensor<1000000xi64>, tensor<1000000xi64>) -> tensor<5000xi64> {
  ^bb0(%x: tensor<5000xi64>, %j: tensor<1000000xi64>, %v: tensor<1000000xi64>):
    %0 = llir.scatter add %x, %j, %v {checked} : tensor<5000xi64>, tensor<1000000xi64>, tensor<1000000xi64>
    llir.yield %0 : tensor<5000xi64>
  }
  return %r : tensor<5000xi64>
}
