# ===- op_samples.py - PyTorch's own samples of its ops --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of PyTorch's op_db through torch.compile(backend="luminal"), beside eager on the same device.

As a program: `python3 python/tests/op_samples.py --device=cuda --dtypes=float32,bfloat16,int64`, in one process a batch so
that a fault of the device costs one batch. Exit code 1 where a result is wrong, or an op is left to PyTorch that the CPU's
list (--allow) does not name.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import warnings

import torch
from torch.utils import _pytree as pytree

# Skips random results, decompositions that are not unique, uninitialised memory, special layouts, and special functions
# that no model uses.
SKIPPED = re.compile(
    "jiterator|sparse|to_sparse|rand|normal|bernoulli|multinomial|cauchy|exponential|geometric|log_normal|uniform|empty|"
    "new_empty|nn_functional_(alpha_|feature_|)dropout|nn_functional_rrelu|nn_functional_fractional|native_dropout|"
    "pca_lowrank|svd|nn_functional_multi_head|linalg_(svd|eig|lu|ldl|qr|lstsq|cond|pinv|matrix_rank|house|tensor)|lu|ormqr|"
    "qr|geqrf|fft|hash|resize_|special_(ch|he|la|le|mo|sc|sh|sp)|signal|bmm_triton|item|allclose|equal")
# For float32; narrow types allow a few units in the last place.
TOLERANCES = {torch.float32: (2e-4, 2e-5), torch.float16: (4e-3, 4e-3), torch.bfloat16: (4e-2, 4e-2)}
LEFT = "luminal does not support"


def ops_of(device, dtype):
    """The ops of op_db, by name, that eager PyTorch supports for this dtype."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {op.formatted_name: op for op in op_db
            if dtype in op.supported_dtypes(torch.device(device).type) and not SKIPPED.match(op.formatted_name)}


# Results that PyTorch leaves undefined: seed and offset of attention without dropout.
UNSET = {"torch_ops_aten__efficient_attention_forward": {2, 3}}


def copies(value):
    return pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, value)


def points_to_equal_keys(source, got, expected):
    """Whether the indices in `got` and `expected` select equal elements of `source`, along one of its dims or of all its
    elements."""
    if not isinstance(source, torch.Tensor) or got.dtype != torch.int64 or got.shape != expected.shape:
        return False

    def read(indices, dim):
        if dim is None:
            return source.flatten()[indices.clamp(0, source.numel() - 1)]
        if indices.dim() < source.dim():
            indices = indices.unsqueeze(dim)
        return torch.take_along_dim(source, indices.clamp(0, source.shape[dim] - 1), dim)

    for dim in (None, *range(source.dim())):
        try:
            a, b = read(got, dim), read(expected, dim)
        except (RuntimeError, IndexError):
            continue
        most = source.numel() if dim is None else source.shape[dim]
        if ((got >= 0) & (got < most)).all() and torch.equal(a.nan_to_num(), b.nan_to_num()):
            return True
    return False


def compare(got, expected, source, dtype, unset=()):
    """Raises if leaves differ, ignoring the positions in `unset`."""
    rtol, atol = TOLERANCES.get(dtype, (2e-4, 2e-5))
    for i, (a, b) in enumerate(zip(pytree.tree_leaves(got), pytree.tree_leaves(expected), strict=True)):
        if i in unset:
            continue
        if not isinstance(b, torch.Tensor):
            assert a == b, f"{a}, expected {b}"
        elif b.dtype != torch.int64 or not points_to_equal_keys(source, a, b):
            torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)


def widened(value):
    return pytree.tree_map(lambda x: x.double().cpu() if isinstance(x, torch.Tensor) and x.is_floating_point() else
                           x.cpu() if isinstance(x, torch.Tensor) else torch.float64 if x in TOLERANCES else x, value)


def is_as_exact(op, sample, got, expected):
    """Whether the results are as close to the float64 results as eager's, which may round intermediate values to a narrow
    type."""
    try:
        exact = op.op(*widened((sample.input, *sample.args)), **widened(sample.kwargs))
    except (RuntimeError, NotImplementedError):
        return False
    for a, b, e in zip(*map(pytree.tree_leaves, (got, expected, exact)), strict=True):
        if not isinstance(e, torch.Tensor) or not e.is_floating_point():
            if not (torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b):
                return False
            continue
        ours, theirs = ((x.double().cpu() - e).abs().nan_to_num() for x in (a, b))
        if not bool((ours.max() <= theirs.max()).item() if e.numel() else True) or not torch.equal(a.isnan(), b.isnan()):
            return False
    return True


def check(op, device, dtype, count):
    """Compares samples of several sizes. Returns the warnings about ops that were left to PyTorch."""
    from luminal._backend import backend

    # Samples with dropout are random in eager mode too.
    samples = [sample for sample in op.sample_inputs(device, dtype, requires_grad=False) if not sample.kwargs.get("dropout_p")]
    compiled = torch.compile(lambda *args, **kwargs: op.op(*args, **kwargs), backend=backend)
    left = []
    for sample in samples[::max(1, len(samples) // count)][:count]:
        args = (sample.input, *sample.args)
        with torch.no_grad(), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            expected = op.op(*copies(args), **copies(sample.kwargs))
            got = compiled(*copies(args), **copies(sample.kwargs))
        left += [str(w.message) for w in heard if LEFT in str(w.message)]
        try:
            compare(got, expected, sample.input, dtype, UNSET.get(op.formatted_name, ()))
        except AssertionError:
            if not dtype.is_floating_point or not is_as_exact(op, sample, got, expected):
                raise
    return left


def run_batch(device, dtype, names, count):
    """Prints the outcome of each op as one line of JSON."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    ops = ops_of(device, getattr(torch, dtype))
    for name in names:
        torch._dynamo.reset()
        print(json.dumps([name, "begun", ""]), flush=True)
        try:
            left = check(ops[name], device, getattr(torch, dtype), count)
            state, text = ("left", left[0]) if left else ("right", "")
        except Exception as error:  # Any exception of the op, of dynamo or of the comparison counts as a failure.
            state, text = "wrong" if isinstance(error, AssertionError) else "failed", f"{type(error).__name__}: {error}"
        print(json.dumps([name, state, text[:600]]), flush=True)


def batch(args, dtype, names):
    command = [sys.executable, __file__, "--device", args.device, "--dtypes", dtype, "--samples", str(args.samples),
               "--batch-of", ",".join(names)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout)
        text, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        text, errors = (error.stdout or b"").decode(), f"no end after {args.timeout} s"
    states = {name: ("not run", "") for name in names}
    for line in text.splitlines():
        if line.startswith('["'):
            name, *state = json.loads(line)
            states[name] = tuple(state)
    return [(name, dtype, "failed", errors[-600:]) if state == "begun" else (name, dtype, state, text)
            for name, (state, text) in states.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtypes", default="float32,bfloat16,int64")
    parser.add_argument("--samples", type=int, default=3, help="of an op")
    parser.add_argument("--every", type=int, default=1, help="take one op of so many")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=200, help="seconds of a batch")
    parser.add_argument("--out", type=pathlib.Path, help="lines of JSON: op, type, state, text")
    parser.add_argument("--allow", type=pathlib.Path, help="such a file of the CPU: what it leaves to PyTorch too is no failure")
    parser.add_argument("--results", type=pathlib.Path, help="what utils/dev/summarize_tests.py reads")
    parser.add_argument("--batch-of", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.batch_of:
        return run_batch(args.device, args.dtypes, args.batch_of.split(","), args.samples)
    allowed = set()
    if args.allow:
        allowed = {tuple(row[:2]) for row in map(json.loads, args.allow.read_text().splitlines()) if row[2] != "right"}
    start, rows = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        batches = []
        for dtype in args.dtypes.split(","):
            names = list(ops_of(args.device, getattr(torch, dtype)))[::args.every]
            batches += [pool.submit(batch, args, dtype, names[i:i + 12]) for i in range(0, len(names), 12)]
        for done in concurrent.futures.as_completed(batches):
            rows += done.result()
            if args.out:  # If the run is aborted, the results so far are kept.
                args.out.write_text("".join(json.dumps(row) + "\n" for row in sorted(rows)))
    rows.sort()
    if args.results:
        tests = [{"code": "FAIL" if row[2] in ("wrong", "failed", "not run") else "PASS", "name": f"op_db {row[0]} {row[1]}"}
                 for row in rows]
        args.results.write_text(json.dumps({"tests": tests}))
    counts = collections.Counter((dtype, state) for _, dtype, state, _ in rows)
    bad = [row for row in rows if row[2] != "right" and tuple(row[:2]) not in allowed and (row[2] != "left" or args.allow)]
    for name, dtype, state, text in bad:
        print(f"{name} {dtype}: {state}: {' '.join(text.split())[:240]}")
    for (dtype, state), count in sorted(counts.items()):
        print(f"{dtype:9s} {state:8s} {count:5d}")
    print(f"{len(rows)} ops in {time.monotonic() - start:.0f} s, {len(bad)} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
