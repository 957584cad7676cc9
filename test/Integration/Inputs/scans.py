#!/usr/bin/env python3
# ===- scans.py - The program of scans.test, and a call of it ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans as kernels, of rows in one unit or in parts, along the last dim or another one: DIR/m.mlir, and DIR/run_0 with one
operand for each of them. Sums are exact in any order."""
import os
import sys

import numpy as np

out = sys.argv[1]
os.makedirs(f"{out}/run_0")
rng = np.random.default_rng(7)

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "i64": np.int64, "bf16": np.uint16}


def elements(dtype, shape, kind, special):
    if dtype.startswith("i"):
        high = 1 << 30 if kind == "product" else 1 << 20
        return rng.integers(-high, high, shape).astype(TYPES[dtype])
    x = rng.integers(-4, 5, shape) / 4
    if kind == "product":
        x = 1 + x / 64
    if special and shape[-1] >= 16:
        flat = x.reshape(-1, shape[-1])
        flat[0, 3 :: shape[-1] // 4] = np.nan
        flat[1 % len(flat), ::7] = -np.inf
        flat[2 % len(flat), 5:9] = np.inf
        flat[3 % len(flat), :] = -np.inf
    if dtype == "bf16":
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return x.astype(TYPES[dtype])


#       kind, dtype, result, shape, axis, part (0: none), reverse, exclusive, positions
CASES = [
    ("sum", "f32", "f32", (5000,), 0, 1024, 0, 0, 0),
    ("sum", "f32", "f32", (3, 5000), 1, 0, 0, 0, 0),
    ("sum", "bf16", "f32", (4, 700), 1, 64, 1, 0, 0),
    ("sum", "f16", "f64", (4, 33, 5), 1, 8, 0, 1, 0),
    ("sum", "f64", "f64", (7, 129), 0, 3, 1, 1, 0),
    ("sum", "i32", "i32", (5, 1030), 1, 0, 1, 1, 0),
    ("sum", "i64", "i64", (300, 2, 3), 0, 100, 0, 0, 0),
    ("product", "i64", "i64", (2, 900), 1, 256, 0, 1, 0),
    ("product", "f32", "f32", (3, 40), 1, 0, 1, 0, 0),
    ("product", "f32", "f32", (3, 5000), 1, 1024, 0, 0, 0),
    ("product", "f16", "f32", (2, 300, 3), 1, 64, 1, 1, 0),
    ("product", "bf16", "bf16", (2, 9, 2), 1, 0, 0, 0, 0),
    ("max", "f32", "f32", (4, 3000), 1, 512, 0, 0, 0),
    ("max", "f32", "i64", (4, 3000), 1, 512, 0, 0, 1),
    ("min", "f16", "f16", (4, 200), 1, 0, 1, 1, 0),
    ("min", "bf16", "i64", (4, 200), 1, 0, 0, 0, 1),
    ("max", "i32", "i32", (4, 50, 3), 1, 7, 1, 1, 0),
    ("max", "i64", "i64", (6, 400), 1, 0, 0, 0, 1),
    ("min", "i64", "i64", (6, 400), 1, 100, 0, 1, 0),
    ("min", "f64", "i64", (40, 90), 0, 16, 0, 0, 1),
    ("max", "bf16", "i64", (3, 5000), 1, 1024, 0, 0, 1),
    ("log_sum_exp", "f32", "f32", (4, 2500), 1, 1024, 0, 0, 0),
    ("log_sum_exp", "f64", "f64", (4, 300), 1, 0, 1, 1, 0),
    ("log_sum_exp", "f16", "f32", (70, 4, 2), 0, 8, 0, 1, 0),
]


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{n}x" for n in shape) + dtype + ">"


def states(kind, dtype, result, positions):
    narrow = dtype in ("f16", "bf16")
    if kind in ("max", "min"):
        return ["f32" if narrow else dtype] + ["i64"] * positions
    if dtype.startswith("i"):
        return [dtype]
    wide = "f64" if "f64" in (dtype, result) or (kind, dtype) == ("product", "f32") else "f32"
    return [wide, wide] if kind == "log_sum_exp" else [wide]


def kernel(name, op, operands, types, attributes, results):
    args = [f"%a{i}" for i in range(len(types))]
    signature = ", ".join(results)
    joined = ", ".join(types)
    to = f"({signature})" if len(results) > 1 else signature
    form = f"{joined} -> {signature}" if op == "scan_parts" else f"({joined}) -> {to}"
    values = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    count = f":{len(results)}" if len(results) > 1 else ""
    return f"""  {name}{count} = llir.kernel({', '.join(operands)}) : ({joined}) -> ({signature}) {{
  ^bb0({', '.join(f'{a}: {t}' for a, t in zip(args, types))}):
    %r{count} = llir.{op} {', '.join(args)} {{{attributes}}} : {form}
    llir.yield {values} : {signature}
  }}
"""


body, arguments, returned, types = "", [], [], []
for i, (kind, dtype, result, shape, axis, part, reverse, exclusive, positions) in enumerate(CASES):
    np.save(f"{out}/run_0/input_{i}.npy", elements(dtype, shape, kind, kind not in ("sum", "product")))
    x, to = tensor(shape, dtype), tensor(shape, result)
    flags = lambda **named: "".join(f", {k} = true" for k, v in named.items() if v)
    common = f"axis = {axis} : i64, kind = #llir.scan_kind<{kind}>, part = #hlir.map<() -> ({part or shape[axis]})>"
    common += flags(reverse=reverse, positions=positions)
    operands, operand_types = [f"%x{i}"], [x]
    if part:
        cut = list(shape)
        cut[axis] = -(-shape[axis] // part)
        kept = [tensor(cut, t) for t in states(kind, dtype, result, positions)]
        body += kernel(f"%s{i}", "scan_parts", [f"%x{i}"], [x], common, kept)
        operands += [f"%s{i}#{k}" for k in range(len(kept))] if len(kept) > 1 else [f"%s{i}"]
        operand_types += kept
    results = [to, x] if positions else [to]
    body += kernel(f"%y{i}", "scan_rows", operands, operand_types, common + flags(exclusive=exclusive), results)
    arguments.append(f"%x{i}: {x}")
    returned += [f"%y{i}#{k}" for k in range(2)] if positions else [f"%y{i}"]
    types += results
with open(f"{out}/m.mlir", "w") as f:
    f.write(f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n{body}")
    f.write(f"  return {', '.join(returned)} : {', '.join(types)}\n}}\n")
