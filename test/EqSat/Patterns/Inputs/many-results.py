# ===- many-results.py - Ops with 1, 2, ... results ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: many-results.py COUNT: a program of so many ops, the first with one result, the next with two, and so on.
import sys

print("func.func @f() {")
for i in range(1, int(sys.argv[1]) + 1):
    print(f'  %{i}:{i} = "test.many"() : () -> ({", ".join(["i8"] * i)})')
print("  return\n}")
