#!/usr/bin/env python3
# ===- idle.py - Rules that eat time, help, and have nothing to do -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""idle.py OUT: writes program.mlir and rules.mlir."""
import pathlib
import sys

SUMS, DEPTH = 30, 18
VALUE, TENSOR = "!pdl.value", "tensor<2xf32>"
out = pathlib.Path(sys.argv[1])


def rule(name, root, body, new):
    return f"""pdl.pattern @{name} : benefit(0) attributes {{eqsat.promise = "exact"}} {{
  %t = pdl.type
{body}  pdl.rewrite %{root} {{
    %new = pdl.operation {new} -> (%t : !pdl.type)
    pdl.replace %{root} with %new
  }}
}}
"""


def operation(name, *operands):
    return f'"{name}"({", ".join(operands)} : {", ".join([VALUE] * len(operands))})'


chain = "  %v0 = pdl.operand\n"
for i in range(DEPTH):
    add = operation("hlir.add", f"%v{i}", f"%x{i}")
    chain += f"  %x{i} = pdl.operand\n  %op{i} = pdl.operation {add} -> (%t : !pdl.type)\n"
    chain += f"  %v{i + 1} = pdl.result 0 of %op{i}\n" if i + 1 < DEPTH else ""
last = DEPTH - 1
unary = "  %x = pdl.operand\n  %root = pdl.operation {} -> (%t : !pdl.type)\n"
(out / "rules.mlir").write_text(
    rule("Eater", f"op{last}", chain, operation("hlir.add", f"%x{last}", f"%v{last}")) +
    rule("Useful", "root", unary.format(operation("hlir.exp2", "%x")), operation("hlir.sin", "%x")) +
    rule("Absent", "root", unary.format(operation("hlir.recip", "%x")), operation("hlir.sin", "%x")))

program = f"func.func @f(%s0: {TENSOR}, %s1: {TENSOR}) -> {TENSOR} {{\n"
for i in range(2, SUMS):
    program += f"  %s{i} = hlir.add %s{i - 1}, %s{i - 2} : {TENSOR}\n"
program += f"  %r = hlir.exp2 %s{SUMS - 1} : {TENSOR}\n  return %r : {TENSOR}\n}}\n"
(out / "program.mlir").write_text(program)
