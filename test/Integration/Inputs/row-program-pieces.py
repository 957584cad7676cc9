#!/usr/bin/env python3
# ===- row-program-pieces.py - Operands of row-program-pieces.mlir --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""row-program-pieces.py UTILS DIR   writes random x and w"""
import math
import pathlib
import random
import sys

sys.path.insert(0, sys.argv[1])
import npy

random.seed(1)
for name, shape in (("x", (20, 3, 5)), ("w", (6, 7))):
    values = [random.gauss(0, 1) for _ in range(math.prod(shape))]
    npy.save(pathlib.Path(sys.argv[2]) / f"{name}.npy", "f4", shape, values)
