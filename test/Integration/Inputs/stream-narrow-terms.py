#!/usr/bin/env python3
# ===- stream-narrow-terms.py - Operands of stream-narrow-terms.mlir ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stream-narrow-terms.py UTILS DIR   writes random q, k and v, the greatest scores last"""
import pathlib
import random
import sys

sys.path.insert(0, sys.argv[1])
import npy

random.seed(1)
for name, rows, columns in (("q", 70, 32), ("k", 150, 32), ("v", 150, 24)):
    values = [random.gauss(0, 1 + row / rows) for row in range(rows) for _ in range(columns)]
    npy.save(pathlib.Path(sys.argv[2]) / f"{name}.npy", "f4", (rows, columns), values)
