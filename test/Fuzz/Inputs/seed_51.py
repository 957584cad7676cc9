# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        g = torch.Generator().manual_seed(0)
        self.p0 = nn.Parameter(torch.randn((16, 5), generator=g) * 0.447214)
        g = torch.Generator().manual_seed(1)
        self.p1 = nn.Parameter(torch.randn((16, 16), generator=g) * 0.250000)

    def forward(self, x0, x1, x2):
        v0 = x2.sum([-2], keepdim=True)
        v1 = v0 * x0
        v2 = v0 * v0
        v3 = torch.einsum('...k,kn->...n', x1, self.p0.to(torch.float64))
        v4 = torch.einsum('...k,kn->...n', x1, self.p1.to(torch.float64))
        v5 = torch.erf(v3)
        v6 = 2.0 / (torch.abs(v0) + 1.0)
        return v2, v4, v5, v6,


INPUTS = ['torch.randn((17, 1,), generator=g).to(torch.float32)', 'torch.randn((2, 5, 16,), generator=g).to(torch.float64)', 'torch.randn((8, 3,), generator=g).to(torch.float16)']
BATCHES = (3, 3, 3)
DYNAMIC = []
