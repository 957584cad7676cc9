# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x0):
        v0 = x0 / (torch.abs(x0) + 0.5)
        v1 = v0[:]
        v2 = torch.erf(x0)
        v3 = v2 * v1
        v4 = torch.add(v3, v3, alpha=2)
        return v4,


INPUTS = ['torch.randn((batch, 17,), generator=g).to(torch.float64)']
BATCHES = (3, 1, 2, 7, 3, 3)
DYNAMIC = ['x0']
