# ===- test_random.py - Random functions beside eager ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LUMINAL_FUNCTIONS=FIRST:LAST selects the seeds. By default 12 of each kind run, times LUMINAL_ROUNDS."""
import contextlib
import linecache
import os
import random
import sys
import warnings

import generator
import helpers
import pytest
import torch
from conftest import ROOT
from luminal._backend import backend
from torch.utils import _pytree as pytree

sys.path.insert(0, str(ROOT / "utils/testing"))

import rounds

# The only reasons for which a part of these functions may be left to PyTorch.
REASONS = ("is a float or condition of sizes",  # x * (rows / columns)
           "the strides may leave the tensor",  # as_strided of symbolic sizes
           "is not provably one of",  # a view whose sizes only a guard relates
           "within its extents",  # gather, the same
           "indexed by a bool mask, and has a value for each element",  # as many as the mask has at run time
           "expected an index in",  # a product over as many rows as an integer says
           "compiles for")  # a view of an argument that is one of another, by strides that both are symbolic
FIRST, LAST = map(int, os.environ.get("LUMINAL_FUNCTIONS", f"0:{rounds.count(12)}").split(":"))


def make(seed, name, kind=generator.Generator):
    source = kind(seed).source()
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
            try:
                want = function(*theirs, n, flag=flag)
            except RuntimeError:  # a view of strides that no view can have
                with pytest.raises((RuntimeError, torch._dynamo.exc.TorchDynamoException)):
                    compiled(*ours, n, flag=flag)
                continue
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                got = compiled(*ours, n, flag=flag)
            helpers.same(got, want)
            helpers.same(ours, theirs)
            # Each fallback must state a known reason.
            texts = [str(w.message) for w in heard if "luminal" in str(w.message)]
            assert all(any(reason in text for reason in REASONS) for text in texts), texts
    except BaseException:
        print(source)
        raise


def _tensors(value):
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _memory(tensors):
    """The address differences of nonempty tensors that share memory."""
    return [(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()) and a.data_ptr() - b.data_ptr()
            for a in tensors for b in tensors if a.numel() and b.numel()]


def _write(tensor):
    """Changes each element, if all elements have different addresses."""
    if all(size == 1 or stride for size, stride in zip(tensor.shape, tensor.stride())) and tensor.numel():
        with contextlib.suppress(RuntimeError):  # windows overlap
            tensor.logical_not_() if tensor.dtype == torch.bool else tensor.add_(1)


def check_memory(seed, backend):
    source, function = make(seed, f"memory_{seed}.py", generator.MemoryGenerator)
    compiled = torch.compile(function, backend=backend, dynamic=True)
    draw, numbers = random.Random(seed), torch.Generator().manual_seed(seed)
    for rows, columns in ((3, 5), (4, 7), (draw.choice([0, 1, 2, 6]), 6)):
        x = torch.randn(rows, columns, generator=numbers)
        x = x.t().contiguous().t() if draw.random() < 0.2 else x
        k, i = torch.randn(rows + 3, columns, generator=numbers), torch.randperm(rows + 3, generator=numbers)[:rows]
        large = draw.choice([-1, 1]) * draw.randint(2**48, 2**62)
        n, m = draw.choice([0, 1, -1, draw.randint(-9, 9), draw.randint(-2**33, 2**33), large]), draw.choice([0, 1, 2])
        ours, theirs = [t.clone() for t in (x, k, i)], [t.clone() for t in (x, k, i)]
        expected = function(*theirs, n, m)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            got = compiled(*ours, n, m)
        texts = [str(w.message) for w in heard if "luminal" in str(w.message)]
        assert all(any(reason in text for reason in REASONS) for text in texts), texts
        helpers.same(got, expected)
        helpers.same(ours, theirs)
        got, expected = _tensors(got), _tensors(expected)
        assert _memory([*ours, *got]) == _memory([*theirs, *expected])
        for a, b in zip(got, expected):
            _write(a)
            _write(b)
        helpers.same([*ours, *got], [*theirs, *expected])


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_memory_and_integers(seed):
    """Compares values, dtypes, strides, shared memory of results, inputs after the call, and both after writes to the
    results."""
    try:
        check_memory(seed, backend)
    except Exception as error:
        print(generator.MemoryGenerator(seed).source())
        torch._dynamo.reset()
        try:
            check_memory(seed, "aot_eager")
        except Exception as theirs:
            # Two graphs around a break share memory, or strides of a tensor that was written in place.
            pytest.xfail(f"PyTorch's own graphs are not as eager is: {theirs!r}")
        raise error
