#!/usr/bin/env python3
# ===- attention-orders.py - Scores of attention in each order of their ops -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention-orders.py DIR   exports attention in half precision whose scores are widened, scaled, capped and masked in each order

Prints those that are not one kernel on each device, or not what the interpreter computes, and how many there were.
"""
import itertools
import math
import pathlib
import subprocess
import sys

import numpy
import torch

# Heads, tokens, columns of a head. On a GPU, what fits into its shared memory is one kernel in any case.
SMALL, LARGE = (2, 192, 32), (8, 700, 64)
# About the rounding of scores in the type.
TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 1.5e-1}
TARGETS = {"cpu": ["--target=cpu"], "cuda": ["--target=cuda", "--arch=sm_90a"]}
NUMBERS = 6  # Of so many orders, one is compiled and run.
STEPS = {
    "cast": lambda x, m: x.float(),
    "scale": lambda x, m: x * 0.125,
    "divide": lambda x, m: x / math.sqrt(5),
    "cap": lambda x, m: torch.tanh(x / 5) * 5,
    "added": lambda x, m: x + m,
    "chosen": lambda x, m: x.masked_fill(~m, -math.inf),
    "causal": lambda x, m: torch.where(torch.ones(x.shape[-2:], dtype=torch.bool).tril(), x, -math.inf),
}


class Attention(torch.nn.Module):
    def __init__(self, order, is_narrow):
        super().__init__()
        self.order, self.is_narrow = order, is_narrow

    def forward(self, q, k, v, mask=None):
        x = q @ k.mT
        for step in self.order:
            x = STEPS[step](x, mask)
        # A row that the mask hides whole is zero.
        x = torch.ops.aten._safe_softmax(x, -1) if "chosen" in self.order else torch.softmax(x, -1)
        # Probabilities are rounded, or values widened.
        return x.to(v.dtype) @ v if self.is_narrow else x.float() @ v.float()


def forms():
    number = 0
    for steps in [("cast", "scale", "cap", m) for m in ("added", "chosen", "causal")] + [("cast", "scale", "chosen")]:
        for order in itertools.permutations(steps):
            number += 1
            order = ["divide" if step == "scale" and number % 2 else step for step in order]
            yield order, number % 5 != 0, list(TOLERANCE)[number // 2 % 2]


def make_inputs(order, dtype, heads, tokens, columns):
    inputs = [torch.randn(1, heads, tokens, columns).to(dtype) for _ in range(3)]
    keep = torch.rand(tokens, tokens) < 0.7
    if "chosen" in order:
        keep[5] = False
        inputs.append(keep)
    if "added" in order:
        is_wide = order.index("cast") < order.index("added")
        inputs.append(torch.zeros(tokens, tokens, dtype=torch.float32 if is_wide else dtype).masked_fill(~keep, -1e4))
    return inputs


def run(*command):
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        print(*command, result.stdout, sep="\n")
    return result


def save(tensor, path):
    numpy.save(path, (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy())


def export(module, inputs, archive):
    torch.export.save(torch.export.export(module, tuple(inputs)), archive)


def check_numbers(archive, module, inputs, dtype):
    """With PyTorch in f64, and kernel by kernel and as a whole with the interpreter."""
    folder, files = archive.parent, []
    for i, tensor in enumerate(inputs):
        save(tensor, folder / f"input_{i}.npy")
        files.append(f"--input={folder}/input_{i}.npy")
    expected = module(*(x.double() if x.is_floating_point() else x for x in inputs))
    save(expected.to(dtype if module.is_narrow else torch.float32), folder / "expected.npy")
    run("luminal-compile", archive, "-o", folder / "model.lum", "--check-kernels")
    run("luminal-run", folder / "model.lum", *files, f"--expect={folder}/expected.npy", f"--atol={TOLERANCE[dtype]}",
        "--rtol=0")


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    count = run_count = 0
    for order, is_narrow, dtype in forms():
        module, archive = Attention(order, is_narrow), folder / "large.pt2"
        export(module, make_inputs(order, dtype, *LARGE), archive)
        for target, options in TARGETS.items():
            text = run("luminal-compile", archive, *options, "--emit=fused", "-o", "-").stdout
            kernels = text.count("llir.kernel(")
            if kernels != 1:
                print(*order, "narrow" if is_narrow else "wide", dtype, target, kernels, "kernels")
        if count % NUMBERS == 0:
            inputs, archive = make_inputs(order, dtype, *SMALL), folder / "small.pt2"
            export(module, inputs, archive)
            check_numbers(archive, module, inputs, dtype)
            run_count += 1
        count += 1
    print(f"{count} orders, {run_count} run")


if __name__ == "__main__":
    main()
