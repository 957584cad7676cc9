# ===- convolutions.py - Convolutions between all that images pass through -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: convolutions.py FOLDER

Writes there model.pt2, input_I.npy, and PyTorch's output_I.npy.
"""
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Convolutions(nn.Module):
    """Convolutions of every kind between ops that images pass through: some of their values are returned, or read in two ways."""

    def __init__(self, n=32):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, n, 3, padding=1), nn.BatchNorm2d(n)
        self.grouped, self.strided = nn.Conv2d(n, n, 3, padding=2, dilation=2, groups=2), nn.Conv2d(n, n, 3, padding=1, stride=2)
        self.depthwise, self.pointwise = nn.Conv2d(n, n, 3, padding=1, groups=n), nn.Conv2d(n, n, 1)
        self.transposed, self.wide = nn.ConvTranspose2d(n, n // 2, 3, stride=2, padding=1), nn.Conv2d(n, n, (1, 5))
        self.columns, self.head = nn.Linear(20, 24), nn.Linear(n * 10 * 10, 5)
        self.signals = nn.Sequential(nn.Conv1d(n // 2, n, 3, padding=1), nn.GELU(), nn.Conv1d(n, n, 5, stride=2), nn.ReLU(),
                                     nn.Conv1d(n, n, 3), nn.ReLU(), nn.ConvTranspose1d(n, n // 2, 4, stride=2))
        self.volumes = nn.Sequential(nn.Conv3d(4, n // 2, 3, padding=1), nn.ReLU(), nn.Conv3d(n // 2, n // 2, 3, padding=1), nn.ReLU(),
                                     nn.ConvTranspose3d(n // 2, n // 2, 2, stride=2), nn.ReLU(), nn.Conv3d(n // 2, n // 2, 3))
        self.eval()

    def forward(self, image, signal, volume):
        x = F.relu(self.stem(image))
        y = self.norm(self.grouped(x)) + x
        z = F.relu(self.strided(y))
        w = F.max_pool2d(self.pointwise(z) + self.depthwise(z), 3, stride=1, padding=1)
        joined = torch.cat([y[:, :8], self.wide(F.pad(x, (2, 2)))], 1)
        return (y, self.columns(y), self.head(w.flatten(1)), self.transposed(w), F.avg_pool2d(w, 2), joined, w.mean((2, 3)),
                z.permute(0, 2, 3, 1).softmax(-1), self.signals(signal), self.volumes(volume))


def main():
    out = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    model, args = Convolutions(), (torch.randn(2, 3, 20, 20), torch.randn(2, 16, 200), torch.randn(2, 4, 8, 8, 8))
    with torch.no_grad():
        torch.export.save(torch.export.export(model, args), out / "model.pt2")
        for name, values in (("input", args), ("output", model(*args))):
            for i, value in enumerate(values):
                np.save(out / f"{name}_{i}.npy", value.contiguous().numpy())


main()
