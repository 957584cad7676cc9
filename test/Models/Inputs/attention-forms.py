#!/usr/bin/env python3
# ===- attention-forms.py - Attention as models spell it ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention-forms.py DIR   exports each form in each type to DIR, compiles it, and runs it beside float64

Prints the number of kernels of each, and whether the results are right.
"""
import math
import pathlib
import subprocess
import sys

import numpy
import torch
import torch.nn.functional as F

LENGTH, GROUPS = 700, 4
# About the rounding of the type, of results below 4.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 8e-3, torch.bfloat16: 6e-2}


def repeat(x):
    """Each head of keys or values for all queries of its group."""
    return x.repeat_interleave(GROUPS, dim=1)


def causal(length):
    i = torch.arange(length)
    return i[None, :] <= i[:, None]


def window(length):
    i = torch.arange(length)
    return causal(length) & (i[None, :] > i[:, None] - 100)


def plain(q, k, v):
    return F.scaled_dot_product_attention(q, repeat(k), repeat(v))


def llama(q, k, v):
    return F.scaled_dot_product_attention(q, repeat(k), repeat(v), is_causal=True)


def grouped(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def gemma(q, k, v):
    """A soft-cap and a sliding window."""
    scores = q @ repeat(k).transpose(2, 3) / math.sqrt(q.shape[-1])
    scores = torch.where(window(q.shape[2]), torch.tanh(scores / 5) * 5, -math.inf)
    return torch.softmax(scores, -1) @ repeat(v)


def gpt2(q, k, v):
    """The smallest number in place of what is masked."""
    scores = q @ repeat(k).transpose(-1, -2) / math.sqrt(q.shape[-1])
    scores = torch.where(causal(q.shape[2]), scores, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, -1) @ repeat(v)


def eager(q, k, v):
    """A mask that is added."""
    length = q.shape[2]
    mask = torch.zeros(length, length, dtype=q.dtype).masked_fill(~causal(length), torch.finfo(q.dtype).min)
    scores = q @ repeat(k).transpose(2, 3) / math.sqrt(q.shape[-1]) + mask
    return torch.softmax(scores, -1) @ repeat(v)


def narrow(q, k, v):
    """Values have fewer columns than keys."""
    return F.scaled_dot_product_attention(q, repeat(k), repeat(v)[..., :24], is_causal=True)


class Form(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, q, k, v):
        return self.function(q, k, v)


def save(tensor, path):
    wide = tensor.dtype == torch.bfloat16
    numpy.save(path, (tensor.float() if wide else tensor).numpy())


def check(form, dtype, folder):
    name = f"{form.__name__}_{str(dtype).removeprefix('torch.')}"
    torch.manual_seed(sum(map(ord, name)))
    heads = 2 * GROUPS
    inputs = [torch.randn(1, n, LENGTH, 40).to(dtype) for n in (heads, 2, 2)]
    torch.export.save(torch.export.export(Form(form), tuple(inputs)), folder / f"{name}.pt2")
    run = lambda *command: subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    run("luminal-compile", folder / f"{name}.pt2", "--emit=fused", "-o", folder / f"{name}.mlir")
    kernels = (folder / f"{name}.mlir").read_text().count("llir.kernel(")
    run("luminal-compile", folder / f"{name}.pt2", "-o", folder / f"{name}.lum")
    files = []
    for i, tensor in enumerate(inputs):
        save(tensor, folder / f"input_{i}.npy")
        files.append(f"--input={folder}/input_{i}.npy")
    save(form(*(x.double() for x in inputs)).to(dtype), folder / "expected.npy")
    run("luminal-run", folder / f"{name}.lum", *files, f"--expect={folder}/expected.npy", f"--atol={TOLERANCE[dtype]}",
        "--rtol=0")
    return f"{name}: {kernels} kernel{'s' if kernels > 1 else ''}"


for form in (plain, llama, grouped, gemma, gpt2, eager, narrow):
    for dtype in TOLERANCE:
        print(check(form, dtype, pathlib.Path(sys.argv[1])), flush=True)
