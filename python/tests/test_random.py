# ===- test_random.py - Random functions beside eager ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LUMINAL_FUNCTIONS=FIRST:LAST chooses the seeds; 40 run every time."""
import linecache
import os
import warnings

import generator
import helpers
import pytest
import torch
from luminal._backend import backend

# The only reasons for which a part of these functions may be left to PyTorch.
REASONS = ("is a float or condition of sizes",  # x * (rows / columns)
           "the strides may leave the tensor",  # as_strided of symbolic sizes
           "is not provably one of",  # a view whose sizes only a guard relates
           "within its extents")  # gather, the same
FIRST, LAST = map(int, os.environ.get("LUMINAL_FUNCTIONS", "0:40").split(":"))


def make(seed, name):
    source = generator.Generator(seed).source()
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {}
    exec(compile(source, name, "exec"), scope)
    return source, scope["function"]


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_function(seed):
    source, function = make(seed, f"random_{seed}.py")
    compiled = torch.compile(function, backend=backend)
    random = torch.Generator().manual_seed(seed)
    try:
        for rows, columns, n, flag in ((3, 5, 2, None), (4, 7, 3, None), (6, 2, 3, 0.5)):
            inputs = [torch.randn(rows, columns, generator=random) for _ in range(2)]
            ours, theirs = [i.clone() for i in inputs], [i.clone() for i in inputs]
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                got = compiled(*ours, n, flag=flag)
            helpers.same(got, function(*theirs, n, flag=flag))
            helpers.same(ours, theirs)
            # What falls back says why.
            texts = [str(w.message) for w in heard if "luminal" in str(w.message)]
            assert all(any(reason in text for reason in REASONS) for text in texts), texts
    except BaseException:
        print(source)
        raise
