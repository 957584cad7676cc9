#!/usr/bin/env python3
# ===- sorts.py - The program of sorts.test, and a call of it ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of rows that are short, of one run, of several, and of several times as many as one pass merges: all of a row, the
first of it, and some in its midst; many equal elements, NaN, infinities and zeros of both signs. And updates of floats, whose sums
are exact in any order. DIR/flat.mlir, and DIR/run_0 with its operands."""
import os
import sys

import numpy as np

out = sys.argv[1]
os.makedirs(f"{out}/run_0")
rng = np.random.default_rng(11)
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "i64": np.int64, "bf16": np.uint16}
INF = np.inf


def elements(dtype, shape, few):
    if dtype.startswith("i"):
        info = np.iinfo(TYPES[dtype])
        x = rng.integers(-4, 5, shape) if few else rng.integers(info.min, info.max, shape, endpoint=True)
        x = x.astype(TYPES[dtype])
        x.flat[:2] = [info.max, info.min]
        return x
    x = rng.integers(-6, 7, shape) / 2 if few else rng.standard_normal(shape)
    for value, place in [(np.nan, 3), (-0.0, 5), (0.0, 7), (INF, 11), (-INF, 13), (-np.nan, 17)]:
        x[..., place % shape[-1] :: 29] = value
    if dtype == "bf16":
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return x.astype(TYPES[dtype])


#       dtype, shape, begin, count (0: all), descending, NaN first, few values
CASES = [
    ("f32", (3, 50), 0, 0, 0, 0, 1),
    ("f32", (2, 2048), 0, 0, 1, 1, 1),
    ("f32", (2, 2049), 0, 0, 1, 0, 0),
    ("f32", (40000,), 0, 0, 0, 0, 1),
    ("f32", (3, 9000), 0, 50, 1, 1, 0),
    ("f32", (140000,), 0, 3, 1, 1, 0),
    ("f32", (2, 9000), 4499, 1, 0, 0, 1),
    ("f32", (2, 700), 300, 9, 0, 1, 1),
    ("f32", (2, 1), 0, 0, 0, 0, 0),
    ("f16", (2, 5000), 0, 2500, 0, 0, 1),
    ("bf16", (20000,), 0, 0, 1, 1, 0),
    ("f64", (2, 3, 2500), 0, 0, 0, 1, 0),
    ("f64", (30000,), 0, 20, 1, 0, 1),
    ("i32", (2, 4100), 0, 0, 1, 0, 0),
    ("i64", (3, 100), 0, 0, 0, 0, 0),
    ("i64", (5, 6000), 0, 0, 1, 0, 1),
]


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{n}x" for n in shape) + dtype + ">"


body, arguments, types = "", [], []
for i, (dtype, shape, begin, count, descending, nan_first, few) in enumerate(CASES):
    np.save(f"{out}/run_0/input_{i}.npy", elements(dtype, shape, few))
    how = [f"{k} = true" for k, v in [("descending", descending), ("nan_first", nan_first)] if v]
    if begin:
        how.append(f"begin = #hlir.map<() -> ({begin})>")
    x, to = tensor(shape, dtype), tensor((*shape[:-1], count or shape[-1]), "i64")
    body += f"  %y{i} = llir.argsort %x{i} {{{', '.join(how)}}} : {x} -> {to}\n"
    arguments.append(f"%x{i}: {x}")
    types.append(to)
# Of any length.
np.save(f"{out}/run_0/input_{len(CASES)}.npy", elements("f32", (2, 3333), 1))
x, to = "tensor<2x?xf32, #hlir.dims<n>>", "tensor<2x?xi64, #hlir.dims<n>>"
body += f"  %y{len(CASES)} = llir.argsort %x{len(CASES)} : {x} -> {to}\n"
body += f"  %z = llir.argsort %x{len(CASES)} {{descending = true, nan_first = true}} : {x} -> tensor<2x7xi64>\n"
arguments.append(f"%x{len(CASES)}: {x}")
types += [to, "tensor<2x7xi64>"]
values = [f"%y{i}" for i in range(len(CASES) + 1)] + ["%z"]
#       dtype, index dtype, shape of the rows, of the indices, of a row, how they are combined
UPDATES = [
    ("f32", "i64", 20, (300,), (5,), "add"),
    ("f16", "i32", 7, (5, 33), (2,), "add"),
    ("f64", "i64", 3000, (2500,), (), "add"),
    ("f16", "i64", 50, (200,), (3,), "max"),
]
for i, (dtype, index, rows, indices, row, combine) in enumerate(UPDATES):
    at = len(arguments)
    exact = lambda shape: (rng.integers(-8, 9, shape) / 4).astype(TYPES[dtype])
    dest, updates = exact((rows, *row)), exact((*indices, *row))
    dest.flat[1], dest.flat[-1] = -0.0, np.nan
    if combine == "max":
        updates.flat[::61] = np.nan
        updates.flat[1::67] = -INF
    # Most rows of a few, so that some have nothing.
    chosen = rng.integers(0, rows, indices) // 2 * 2 % rows
    for k, array in enumerate([dest, chosen.astype(TYPES[index]), updates]):
        np.save(f"{out}/run_0/input_{at + k}.npy", array)
    to, of, what = tensor((rows, *row), dtype), tensor(indices, index), tensor((*indices, *row), dtype)
    body += f"  %r{i} = llir.scatter {combine} %d{i}, %i{i}, %u{i} {{checked}} : {to}, {of}, {what}\n"
    arguments += [f"%d{i}: {to}", f"%i{i}: {of}", f"%u{i}: {what}"]
    types.append(to)
    values.append(f"%r{i}")
results = ", ".join(values)
with open(f"{out}/flat.mlir", "w") as f:
    f.write(f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)})\n")
    f.write("    attributes {hlir.symbols = #hlir.symbols<n in [7, ]>} {\n")
    f.write(f"{body}  return {results} : {', '.join(types)}\n}}\n")
