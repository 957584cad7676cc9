// Which range checks are dropped, and the known bounds of the others' indices.
// RUN: luminal-opt %s --llir-prove-indices --remarks-filter=llir-prove-indices --verify-diagnostics -o %t

func.func @checks(%x: tensor<8xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<8xf32>, tensor<9xf32>, tensor<4xf32>) {
  // expected-remark@+1 {{[Missed] range-check | Category:llir-prove-indices | Function=checks | extent=8, greatest index=unknown, least index=unknown, reason="the indices are not proved to be inside"}}
  %0 = llir.gather %x, %i {checked} : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
  %j = llir.iota <(d0) -> (d0)> : tensor<8xi64>
  // expected-remark@+1 {{[Passed] range-check | Category:llir-prove-indices | Function=checks}}
  %1 = llir.gather %x, %j {checked} : tensor<8xf32>, tensor<8xi64> -> tensor<8xf32>
  %k = llir.iota <(d0) -> (d0)> : tensor<9xi64>
  // expected-remark@+1 {{extent=8, greatest index=8, least index=0}}
  %2 = llir.gather %x, %k {checked} : tensor<8xf32>, tensor<9xi64> -> tensor<9xf32>
  // It is not proved, whatever the op says: it is checked from here on.
  // expected-remark@+1 {{[Missed] range-check | Category:llir-prove-indices | Function=checks | extent=8}}
  %3 = llir.gather %x, %i : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<8xf32>, tensor<9xf32>, tensor<4xf32>
}
