# ===- joined-weights.py - Products of the same rows with several weights ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: joined-weights.py FOLDER

Writes there model.pt2 and x.npy: queries, keys and values with biases, without some, with none, in several types; and matrices
that are stored along their columns.
"""
import pathlib
import sys

import numpy as np
import torch
from torch import nn

FOLDER = pathlib.Path(sys.argv[1])


class Heads(nn.Module):
    def __init__(self, biases, dtype):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(96, columns, bias=bias, dtype=dtype) for columns, bias in zip((32, 32, 48), biases))

    def forward(self, x):
        q, k, v = (part(x) for part in self.parts)
        return (q @ k.T).softmax(-1) @ v


class Across(nn.Module):
    """As GPT-2 has its matrices."""

    def __init__(self, dtype):
        super().__init__()
        self.weight = nn.Parameter(0.1 * torch.randn(96, 256, dtype=dtype))
        self.bias = nn.Parameter(torch.randn(256, dtype=dtype))

    def forward(self, x):
        return nn.functional.gelu(torch.addmm(self.bias, x, self.weight))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(
            Heads(biases, dtype) for dtype in (torch.float32, torch.float16, torch.bfloat16)
            for biases in ((True, True, True), (True, False, True), (False, False, False)))
        self.across = nn.ModuleList(Across(dtype) for dtype in (torch.float16, torch.bfloat16))

    def forward(self, x):
        parts = (*self.heads, *self.across)
        return [part((x + i).sin().to(next(part.parameters()).dtype)).float() for i, part in enumerate(parts)]


torch.manual_seed(0)
model, x = Model().eval(), torch.randn(64, 96)
torch.export.save(torch.export.export(model, (x,)), FOLDER / "model.pt2")
np.save(FOLDER / "x.npy", x.numpy())
