#!/usr/bin/env python3
# ===- groups.py - Calls of groups.mlir --------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of each group next to each other, in any order, and all in one group. Small integers: products are exact."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils"))
import npy

random.seed(7)
drawn = [random.randrange(5) for _ in range(400)]
for call, groups in enumerate([sorted(drawn), drawn, [3] * 400]):
    folder = pathlib.Path(sys.argv[1]) / f"run_{call}"
    folder.mkdir()
    integers = lambda count: [float(random.randint(-3, 3)) for _ in range(count)]
    inputs = [("f4", [400, 64], integers(400 * 64)), ("f4", [5, 128, 64], integers(5 * 128 * 64)),
              ("f4", [5, 64, 128], integers(5 * 128 * 64)), ("f4", [5, 128], integers(5 * 128)), ("i8", [400], groups),
              ("i4", [400], random.sample(range(400), 400)), ("i8", [400], groups[::-1])]
    for number, array in enumerate(inputs):
        npy.save(folder / f"input_{number}.npy", *array)
