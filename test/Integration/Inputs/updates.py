#!/usr/bin/env python3
# ===- updates.py - Calls of updates.mlir and unordered.mlir ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that meet in nearly every row, in some, and in none."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

random.seed(6)
for call, rows in enumerate([range(2), range(12), None]):
    folder = pathlib.Path(sys.argv[1]) / f"run_{call}"
    folder.mkdir()
    choose = lambda count: [random.choice(rows) for _ in range(count)] if rows else random.sample(range(12), count)
    floats = lambda count: [random.uniform(-9, 9) for _ in range(count)]
    integers = lambda count: [random.randint(-99, 99) for _ in range(count)]
    inputs = [("f4", [12, 7], floats(84)), ("i8", [9], choose(9)), ("f4", [9, 7], floats(63)),
              ("i8", [12, 5], integers(60)), ("i4", [2, 4], choose(8)), ("i8", [2, 4, 5], integers(40)),
              ("i8", [1], [random.randrange(6)])]
    for number, array in enumerate(inputs):
        npy.save(folder / f"input_{number}.npy", *array)
