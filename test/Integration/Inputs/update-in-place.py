#!/usr/bin/env python3
# ===- update-in-place.py - Four calls of update-in-place.mlir -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

random.seed(5)
state = [[random.uniform(-9, 9) for _ in range(24)], [random.randint(-9, 9) for _ in range(24)]]
for call in range(4):
    folder = pathlib.Path(sys.argv[1]) / f"run_{call}"
    folder.mkdir()
    inputs = [("f4", [3, 8], state[0]), ("i8", [12, 2], state[1]), ("i8", [2], random.sample(range(8), 2)),
              ("f4", [2, 3], [random.uniform(-20, 20) for _ in range(6)]), ("i8", [1], [random.randrange(3)]),
              ("i8", [1, 4, 2], [random.randint(-9, 9) for _ in range(8)])]
    for number, array in enumerate(inputs):
        npy.save(folder / f"input_{number}.npy", *array)
