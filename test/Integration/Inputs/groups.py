#!/usr/bin/env python3
# ===- groups.py - Calls of groups.mlir --------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of each group next to each other, in any order, and all in one group. Small integers: products are exact."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

random.seed(7)
drawn = [random.randrange(5) for _ in range(420)]
for call, groups in enumerate([sorted(drawn), drawn, [3] * 420]):
    folder = pathlib.Path(sys.argv[1]) / f"run_{call}"
    folder.mkdir()
    integers = lambda count: [float(random.randint(-3, 3)) for _ in range(count)]
    inputs = [("f4", [420, 64], integers(420 * 64)), ("f4", [5, 128, 64], integers(5 * 128 * 64)),
              ("f4", [5, 64, 128], integers(5 * 128 * 64)), ("f4", [5, 128], integers(5 * 128)), ("i8", [420], groups),
              ("i4", [420], random.sample(range(420), 420)), ("i8", [420], groups[::-1])]
    for number, array in enumerate(inputs):
        npy.save(folder / f"input_{number}.npy", *array)
