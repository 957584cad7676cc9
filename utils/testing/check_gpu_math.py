#!/usr/bin/env python3
# ===- check_gpu_math.py - Scalar functions on a GPU, over all floats -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs all 2^32 inputs of f32, and all 2^16 of f16 and bf16, through the GPU code of each scalar function.

    build/venv/bin/python utils/testing/check_gpu_math.py --prepare=DIR          (where the compiler is)
    python utils/testing/check_gpu_math.py DIR                                   (where the GPU is: utils/ and DIR; needs PyTorch)

Compared with PyTorch's f64 on the same GPU, whose own error is about 2^-28 ulp of f32, and printed beside PyTorch's
function in the type itself. Exit code 1 where an error is above Functions.def's bound, or a NaN or an infinity is wrong.
"""
import argparse
import pathlib
import re
import sys

import torch
import torch.nn.functional as F

import cuda_program  # Lies beside this file.

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Name in Functions.def, PyTorch's function, and the same in f64 where that one cancels.
FUNCTIONS = {
    "Exp": (torch.exp, None), "Exp2": (torch.exp2, None), "Expm1": (torch.expm1, None), "Log": (torch.log, None),
    "Log2": (torch.log2, None), "Log1p": (torch.log1p, None), "Sin": (torch.sin, None), "Cos": (torch.cos, None),
    "Tanh": (torch.tanh, None), "Erf": (torch.erf, None), "Atan": (torch.atan, None), "Asin": (torch.asin, None), "Acos": (torch.acos, None), "Rsqrt": (torch.rsqrt, None), "Sqrt": (torch.sqrt, None),
    "Recip": (torch.reciprocal, None), "Sigmoid": (torch.sigmoid, None), "Silu": (F.silu, lambda x: x / (1 + torch.exp(-x))),
    "Gelu": (F.gelu, lambda x: x / 2 * torch.erfc(x * -0.7071067811865475244)),
    "GeluTanh": (lambda x: F.gelu(x, approximate="tanh"),
                 lambda x: x / (1 + torch.exp(-2 * 0.7978845608028654 * (x + 0.044715 * x * x * x)))),
}
TYPES = {"f32": (torch.float32, torch.int32, 32, 23, -126), "f16": (torch.float16, torch.int16, 16, 10, -14),
         "bf16": (torch.bfloat16, torch.int16, 16, 7, -126)}
CHUNK = 1 << 26
# The reference's own error, and that of rounding its argument.
SLACK = 0.001


class Apply(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def bounds():
    """Bounds by function: f64, f32, narrow."""
    text = (ROOT / "include/luminal/Dialect/LLIR/IR/Functions.def").read_text()
    rows = re.findall(r"^LUMINAL_FN\w*\((\w+), (?:\d, )?\w+, \d+, ([\d.]+), ([\d.]+), ([\d.]+)", text, re.M)
    return {row[0]: [float(v) for v in row[1:]] for row in rows}


def prepare(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, _) in FUNCTIONS.items():
        for dtype, (element, _, bits, *_) in TYPES.items():
            x = torch.empty(min(CHUNK, 1 << bits), dtype=element)
            cuda_program.compile(Apply(function), (x,), folder / f"{name}.{dtype}.lum")


def errors(got, exact, mantissa, least, largest):
    """In ulp of the exact result, as ScalarAccuracyTest.cpp counts; infinite where a NaN or an infinity is wrong."""
    _, exponent = torch.frexp(exact)
    unit = torch.ldexp(torch.ones_like(exact), torch.clamp(exponent - 1, min=least) - mantissa)
    wide = got.double()
    error = (wide - exact).abs() / unit
    error = torch.where(exact.isinf() | (exact == 0), torch.where(wide == exact, 0.0, torch.inf), error)
    beyond = wide.isinf() & ~exact.isinf() & (wide.sign() == exact.sign())
    error = torch.where(beyond, ((largest - exact.abs()) / unit + 1).clamp(min=0), error)
    return torch.where(wide.isnan() | exact.isnan(), torch.where(wide.isnan() & exact.isnan(), 0.0, torch.inf), error)


def check(folder, name, dtype, bound):
    function, wide = FUNCTIONS[name]
    element, integer, bits, mantissa, least = TYPES[dtype]
    program = cuda_program.Program(folder / f"{name}.{dtype}.lum")
    count = min(CHUNK, 1 << bits)
    x = torch.empty(count, dtype=element, device="cuda")
    call = program.bind([x])
    worst, at, peer = 0.0, 0.0, 0.0
    for start in range(0, 1 << bits, count):
        codes = torch.arange(start, start + count, device="cuda", dtype=torch.int64)
        x.copy_(codes.to(integer).view(element))
        call()
        exact = (wide or function)(x.double())
        measure = lambda got: errors(got, exact, mantissa, least, torch.finfo(element).max)
        error = measure(call.outputs[0])
        i = int(error.argmax())
        if float(error[i]) > worst:
            worst, at = float(error[i]), float(x[i])
        peer = max(peer, float(measure(function(x)).max()))
    good = worst <= bound + SLACK
    print(f"{name:10s}{dtype:>6s}{worst:10.4f} of {bound:<8g} PyTorch {peer:<12.4g}" + ("" if good else f" WRONG at {at!r}"),
          flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifacts", type=pathlib.Path, nargs="?")
    parser.add_argument("--prepare", type=pathlib.Path, metavar="DIR", help="only write the artifacts")
    parser.add_argument("--types", type=lambda t: t.split(","), default=list(TYPES))
    args = parser.parse_args()
    if bool(args.artifacts) == bool(args.prepare):
        parser.error("either a folder of artifacts, or --prepare")
    if args.prepare:
        return prepare(args.prepare)
    table = bounds()
    results = [check(args.artifacts, name, dtype, table[name][1 if dtype == "f32" else 2])
               for dtype in args.types for name in FUNCTIONS]
    print(f"{sum(results)} of {len(results)} within their bounds")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
