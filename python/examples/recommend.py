# ===- recommend.py - Embedding bags and small layers ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recommendation model: compiled, saved with its weights, and run without PyTorch's part in it."""
import pathlib
import tempfile

import luminal
import numpy
import torch
from torch import nn


class Recommend(nn.Module):
    def __init__(self, tables=3, width=8):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        self.tables = nn.ModuleList(nn.EmbeddingBag(1000, width, mode="sum") for _ in range(tables))
        self.top = nn.Sequential(nn.Linear(width + tables * (tables + 1) // 2, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, dense, items):
        first = self.bottom(dense)
        rows = torch.stack([first] + [table(items[:, i]) for i, table in enumerate(self.tables)], 1)
        pairs = rows @ rows.transpose(1, 2)
        i, j = torch.tril_indices(rows.shape[1], rows.shape[1], -1)
        return torch.sigmoid(self.top(torch.cat([first, pairs[:, i, j]], 1))).squeeze(1)


model = Recommend().eval()
batch = torch.export.Dim("batch", max=4096)
dense, items = torch.randn(8, 13), torch.randint(0, 1000, (8, 3, 5))
compiled = luminal.compile(model, (dense, items), dynamic_shapes=({0: batch}, {0: batch}))
print(compiled.report)

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "recommend.lum"
    compiled.save(path)
    served = luminal.load(path)  # needs no torch
    scores, = served(dense.numpy(), items.numpy())
with torch.no_grad():
    numpy.testing.assert_allclose(scores, model(dense, items).numpy(), rtol=1e-4, atol=1e-5)
print("scores", scores.round(3).tolist())
