#!/usr/bin/env python3
# ===- sequences.py - Calls of sequences.mlir --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of all groups, of one, and in ties with infinities; --compare: whether both folders of results are the same bytes."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils/testing"))
import npy

root = pathlib.Path(sys.argv[1])
if "--compare" in sys.argv:
    files = sorted(path.relative_to(root / "expected") for path in (root / "expected").rglob("*.npy"))
    assert len(files) == 9, files
    for path in files:
        assert (root / "expected" / path).read_bytes() == (root / "sequences" / path).read_bytes(), path
    sys.exit()
random.seed(3)
for call, keys in enumerate([[random.randrange(16) for _ in range(100)], [5] * 100, [i % 16 for i in range(100)]]):
    folder = root / f"run_{call}"
    folder.mkdir()
    values = [float(random.randint(-20, 20)) for _ in range(100)]
    if call == 2:
        values[7] = values[70] = float("inf")
    for number, array in enumerate([("f4", [100], values), ("f4", [100], [float(random.randint(-9, 9)) for _ in range(100)]),
                                    ("i8", [100], keys)]):
        npy.save(folder / f"input_{number}.npy", *array)
