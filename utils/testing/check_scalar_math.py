#!/usr/bin/env python3
# ===- check_scalar_math.py - Scalar functions over all floats, beside PyTorch's -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs all 2^32 float32 inputs of each scalar function through Luminal's vector code and scalar code and through PyTorch.

    build/venv/bin/python utils/testing/check_scalar_math.py [NAME...]

Luminal's two must agree bit for bit. Both are compared with the C library's f64 functions, whose own error is about
2^-29 ulp of f32, by the unit test LuminalScalarMathTests, which gets PyTorch's results through a pipe. Printed for each
function: how many inputs, the worst error in ulp of either, how many results are NaN, an infinity or a signed zero where
the exact one is not ("class"), and how many denormal inputs or results are off by more than Luminal's functions promise,
1 ulp or their bound in the unit test ("denormal").

Exit code 1 where Luminal's worst error is above PyTorch's, or a NaN, an infinity, a zero or a denormal is wrong.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTIONS = {
    "exp": torch.exp, "exp2": torch.exp2, "log2": torch.log2, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh,
    "erf": torch.erf, "atan": torch.atan, "asin": torch.asin, "acos": torch.acos, "sigmoid": torch.sigmoid, "recip": torch.reciprocal, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "log": torch.log, "expm1": torch.expm1, "log1p": torch.log1p, "silu": F.silu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}
CHUNK = 1 << 20


def write_peer(path, function, stride):
    """PyTorch's results for the inputs of the test, in their order."""
    try:
        with open(path, "wb") as pipe:
            for start in range(0, 1 << 32, CHUNK * stride):
                bits = torch.arange(start, min(start + CHUNK * stride, 1 << 32), stride, dtype=torch.int64)
                pipe.write(memoryview(function(bits.to(torch.int32).view(torch.float32)).numpy()))
    except BrokenPipeError:  # The test has failed, and says why.
        pass


def check(name, args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "peer")
        os.mkfifo(path)
        environment = os.environ | {"LUMINAL_MATH_STRIDE": str(args.stride), "LUMINAL_MATH_PEER": path}
        test = subprocess.Popen([args.test.resolve(), "--gtest_filter=All/ScalarMathUnary.WithinUlps/" + name],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        threading.Thread(target=write_peer, args=(path, FUNCTIONS[name], args.stride), daemon=True).start()
        return test.communicate()[0], test.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions (default: all)")
    parser.add_argument("--stride", type=int, default=1, help="try only every so-manieth input (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="functions at a time")
    parser.add_argument("--test", type=pathlib.Path, default=ROOT / "build/release/test/unit/LuminalScalarMathTests")
    args = parser.parse_args()
    unknown = set(args.names) - set(FUNCTIONS)
    if unknown:
        parser.error(f"no function {', '.join(sorted(unknown))}; there are {', '.join(FUNCTIONS)}")
    torch.set_num_threads(1)
    row = "{:10s}{:>12s}{:>16s}{:>16s}{:>14s}{:>14s}{:>16s}{:>16s}"
    print(row.format("function", "inputs", "luminal (ulp)", "PyTorch (ulp)", "class, lum.", "PyTorch", "denormal, lum.",
                     "PyTorch"), flush=True)
    failed = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, (text, status) in zip(args.names or FUNCTIONS,
                                        pool.map(lambda n: check(n, args), args.names or FUNCTIONS)):
            inputs = re.search(r": (\d+) inputs", text)
            scores = re.findall(r"worst (\S+) ulp at \S+ (\d+) of another class, (\d+) denormals", text)
            if status or len(scores) != 2:
                failed.append(name)
            if len(scores) != 2:
                print(text, flush=True)
                continue
            (ours, classes, denormals), (peer, peer_classes, peer_denormals) = scores
            print(row.format(name, inputs[1], ours, peer, classes, peer_classes, denormals, peer_denormals), flush=True)
    print(f"{len(failed)} failed" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
