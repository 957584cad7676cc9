# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x0):
        v0 = torch.log_softmax(x0, -1)
        v1 = v0.unsqueeze(1)
        v2 = v1.permute([2, 3, 1, 0])
        v3 = torch.pow(torch.abs(v1) + 0.5, 1.5)
        v4 = v2.to(torch.float64)
        v5 = v4 ** 3
        v6 = torch.sqrt(torch.abs(v4) + 0.125)
        return v3, v5, v6,


INPUTS = ['torch.randn((batch, 7, 0,), generator=g).to(torch.float32)']
BATCHES = (3, 1, 2, 7, 3, 3)
DYNAMIC = ['x0']
