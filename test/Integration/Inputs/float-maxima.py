#!/usr/bin/env python3
# ===- float-maxima.py - Calls of float-maxima.mlir -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows by what meets in them: numbers of both signs, negative ones, zeros, infinities; rows that hold a NaN of either sign,
rows that get one, and rows that get nothing."""
import os
import sys

import numpy as np

INF, NAN = np.inf, np.nan
#        what rows have before (None: any number), and what they may get
ROWS = [(None, None), (-INF, [-1.0, -2.5, -1e-40, -1e30]), (-0.0, [-0.0, -1.0]), (0.0, [-0.0, 0.0, -3.0]), (-3.0, [-INF, INF, 2.0]),
        (NAN, None), (-NAN, None), (1.0, [2.0, NAN, -4.0]), (-1.0, [-NAN, -4.0, INF]), (-5.0, [])]
for call in range(2):
    folder = f"{sys.argv[1]}/run_{call}"
    os.makedirs(folder)
    rng = np.random.default_rng(call)
    open_rows = [row for row in range(40) if ROWS[row % len(ROWS)][1] != []]
    places = rng.choice(open_rows, 4000)

    def before(dtype, *columns):
        x = rng.standard_normal((40, *columns))
        for row in range(40):
            if ROWS[row % len(ROWS)][0] is not None:
                x[row] = ROWS[row % len(ROWS)][0]
        return x.astype(dtype)

    def updates(dtype, *columns):
        x = rng.standard_normal((4000, *columns))
        for k, row in enumerate(places):
            if ROWS[row % len(ROWS)][1]:
                x[k] = rng.choice(ROWS[row % len(ROWS)][1], columns)
        return x.astype(dtype)

    arrays = [before("f4", 3), places, updates("f4", 3), before("f8"), updates("f8")]
    for number, array in enumerate(arrays):
        np.save(f"{folder}/input_{number}.npy", array)
