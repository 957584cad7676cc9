# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep programs: `congruent N`, two terms that are equal because their leaves
are; `collapsing N`, one class of N equal terms."""

import sys

kind, depth = sys.argv[1], int(sys.argv[2])
T = "tensor<4xf32>"
print(f"func.func @main(%x: {T}) -> ({T}, {T}) {{")
print(f"  %one = hlir.constant dense<1.0> : {T}")
print(f"  %leaf = hlir.mul %x, %one : {T}")
left, right = "%x", "%leaf"
for i in range(depth):
    if kind == "congruent":
        print(f"  %l{i} = hlir.sin {left} : {T}")
        print(f"  %r{i} = hlir.sin {right} : {T}")
        left, right = f"%l{i}", f"%r{i}"
    else:
        print(f"  %r{i} = hlir.mul {right}, %one : {T}")
        right = f"%r{i}"
print(f"  return {left}, {right} : {T}, {T}\n}}")
