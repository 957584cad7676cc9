# ===- depthwise.py - Depthwise convolutions between products of channels ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: depthwise.py FOLDER

Writes there model.pt2, input_0.npy, and PyTorch's output_I.npy.
"""
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """More channels, a window of each by itself, fewer channels; with statistics that are not those of a new model."""

    def __init__(self, n, wide, window, stride=1, dilation=1, follows=F.silu):
        super().__init__()
        self.expand, self.reduce = nn.Conv2d(n, wide, 1, bias=False), nn.Conv2d(wide, n, 1, bias=False)
        self.window = nn.Conv2d(wide, wide, window, stride, dilation * (window // 2), dilation, groups=wide, bias=False)
        self.follows = follows
        self.norms = nn.ModuleList(nn.BatchNorm2d(count) for count in (wide, wide, n))
        for norm in self.norms:
            for values in (norm.running_mean, norm.bias.data):
                values.normal_()
            for values in (norm.running_var, norm.weight.data):
                values.uniform_(0.5, 2)

    def forward(self, x):
        x = F.relu6(self.norms[0](self.expand(x)))
        x = self.follows(self.norms[1](self.window(x)))
        return self.norms[2](self.reduce(x))


class Depthwise(nn.Module):
    """Windows of 3 to 7 elements, strides, a dilation; 88 channels are no whole vectors; what follows is long, or short."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(16, 96, 3), Block(16, 96, 3, stride=2), Block(16, 88, 5), Block(16, 96, 7),
                                     Block(16, 64, 3, dilation=2, follows=F.relu6)])

    def forward(self, x):
        results = []
        for block in self.blocks:
            y = block(x)
            x = y if y.shape != x.shape else x + y
            results.append(x)
        return results


def main():
    out = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    model, x = Depthwise().eval(), torch.randn(2, 16, 56, 57)
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (x,)), out / "model.pt2")
        np.save(out / "input_0.npy", x.numpy())
        for i, value in enumerate(model(x)):
            np.save(out / f"output_{i}.npy", value.numpy())


main()
