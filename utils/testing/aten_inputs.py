# ===- aten_inputs.py - What the programs of aten_cases.py are given -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math

import torch

inf, nan = math.inf, math.nan
f16, bf16, f32, f64, i32, i64 = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.int64)


def rand(*shape, dtype=f32, seed=0, low=-2.0, high=2.0):
    g = torch.Generator().manual_seed(seed + sum(shape))
    return (torch.rand(*shape, generator=g) * (high - low) + low).to(dtype)


def ints(*shape, low=-5, high=6, dtype=i64, seed=0):
    g = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randint(low, high, shape, generator=g, dtype=dtype)


def bools(*shape, seed=0):
    return ints(*shape, low=0, high=2, seed=seed).bool()


SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 3.7, -3.7, 1e-8, -1e-8, 30.0, -30.0])
EXTREME = torch.tensor([inf, -inf, nan, 0.0, -0.0, 1.0, -1.0, 1e30, -1e30])
X = rand(3, 5)
Y = rand(3, 5, seed=1)
POSITIVE = rand(3, 5, low=0.1, high=4.0)
NONZERO = torch.tensor([3, -3, 2, -2, 5, -5, 7, 1])
DIVIDEND = torch.tensor([7, 7, -7, -7, 12, 12, -1, 0])


def each(functions):
    return lambda *args: tuple(f(*args) for f in functions)
