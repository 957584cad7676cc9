# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function that updates N states in place."""
import sys

N = int(sys.argv[1])
STATE = "tensor<8xf32>"
TYPES = f"({STATE}, tensor<2xi64>, tensor<2xf32>) -> {STATE}"
arguments = ", ".join(f'%s{i}: {STATE} {{hlir.kind = "state", hlir.name = "s{i}"}}' for i in range(N))
results = ", ".join(f"{STATE} {{hlir.updates = {i} : i64}}" for i in range(N))
print(f'func.func @main({arguments}, %i: tensor<2xi64> {{hlir.name = "i"}}, %u: tensor<2xf32> {{hlir.name = "u"}}) -> ({results}) {{')
for i in range(N):
    print(f"  %r{i} = llir.kernel(%s{i}, %i, %u) {{in_place}} : {TYPES} {{")
    print(f"  ^bb0(%x: {STATE}, %j: tensor<2xi64>, %v: tensor<2xf32>):")
    print(f"    %1 = llir.scatter set %x, %j, %v {{checked}} : {STATE}, tensor<2xi64>, tensor<2xf32>")
    print(f"    llir.yield %1 : {STATE}\n  }}")
print("  return " + ", ".join(f"%r{i}" for i in range(N)) + " : " + ", ".join([STATE] * N) + "\n}")
