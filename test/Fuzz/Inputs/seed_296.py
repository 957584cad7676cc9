# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        g = torch.Generator().manual_seed(0)
        self.register_buffer("b0", torch.randint(-8, 8, (1,), generator=g))
        g = torch.Generator().manual_seed(1)
        self.register_buffer("b1", torch.randint(0, 8, (0, 1), generator=g))
        g = torch.Generator().manual_seed(2)
        self.p2 = nn.Parameter(torch.randn((8, 19), generator=g) * 0.229416)
        g = torch.Generator().manual_seed(3)
        self.register_buffer("b3", torch.randint(-19, 19, (2,), generator=g))

    def forward(self, x0, x1):
        v0 = x1[1:]
        v1 = torch.log1p(torch.abs(v0))
        v2 = v1 + v1
        v3 = torch.gather(v0, 1, self.b1)
        v4 = torch.einsum('...k,kn->...n', v1, self.p2.to(torch.float64))
        v5 = v0 + v0
        v6 = v4[:, self.b3]
        v7 = torch.minimum(v3, x1)
        v8 = torch.sigmoid(v1)
        return v5, v6, v7, v8,


INPUTS = ['torch.randn((2,), generator=g).to(torch.float32)', 'torch.randn((1, 8,), generator=g).to(torch.float64)']
BATCHES = (3, 3, 3)
DYNAMIC = []
