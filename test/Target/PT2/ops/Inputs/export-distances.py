# ===- export-distances.py - Distances of rows, by products and directly --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

import torch


class Distances(torch.nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def forward(self, x, y):
        return torch.cdist(x, y, compute_mode=self.mode)


MODE, ROWS = sys.argv[2], int(sys.argv[3])
torch.export.save(torch.export.export(Distances(MODE), (torch.randn(ROWS, 16), torch.randn(7, 16))), sys.argv[1])
