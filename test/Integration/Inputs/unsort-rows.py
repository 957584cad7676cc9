#!/usr/bin/env python3
# ===- unsort-rows.py - Calls of unsort-rows.mlir ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Experts of three tokens: all different, some the same, and one alone. Small integers: products are exact."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

random.seed(3)
for call, experts in enumerate([[31, 7, 20, 0, 39, 5], [4, 9, 9, 4, 1, 9], [38] * 6]):
    folder = pathlib.Path(sys.argv[1]) / f"run_{call}"
    folder.mkdir()
    integers = lambda count: [float(random.randint(-2, 2)) for _ in range(count)]
    inputs = [("f4", [3, 64], integers(3 * 64)), ("f4", [40, 48, 64], integers(40 * 48 * 64)),
              ("f4", [40, 64, 24], integers(40 * 64 * 24)), ("f4", [6], integers(6)), ("i8", [3, 2], experts)]
    for number, array in enumerate(inputs):
        npy.save(folder / f"input_{number}.npy", *array)
