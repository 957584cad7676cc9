# ===- row_programs.py - Random programs over rows ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a model whose outputs follow row by row from its inputs: bags of table rows, small dense layers, products of a
row's features with each other, norms, softmax, concatenations and sums of what is there, in any order.
"""
import random

import torch
import torch.nn.functional as F
from torch import nn

import models

ACTIVATIONS = (F.relu, torch.sigmoid, torch.tanh, F.gelu, F.silu, lambda x: x * 0.5, lambda x: x)


class RowProgram(nn.Module):
    """Steps on a list of values [batch, width]; each adds one."""

    def __init__(self, seed, dtype):
        super().__init__()
        self.dtype = dtype
        draw = self.draw = random.Random(seed)
        self.tables = draw.choice((0, 1, 2, 3, 5, 8))
        self.width = draw.choice((3, 4, 7, 8, 12, 16, 17))
        self.dense = draw.choice((1, 5, 13, 16, 31))
        self.rows = draw.choice((7, 50, 300))
        modes = [draw.choice(("sum", "sum", "mean")) for _ in range(self.tables)]
        self.bags = nn.ModuleList(nn.EmbeddingBag(self.rows, self.width, mode=mode) for mode in modes)
        self.modules_of = nn.ModuleList()
        self.steps = []
        widths = [self.dense] + [self.width] * self.tables
        used = set()

        def take():
            i = draw.randrange(len(widths))
            used.add(i)
            return i

        def linear(i, width):
            self.modules_of.append(nn.Linear(widths[i], width, bias=draw.random() < 0.8))
            self.steps.append(("linear", i, len(self.modules_of) - 1, draw.randrange(len(ACTIVATIONS))))
            widths.append(width)

        linear(0, self.width)
        used.add(0)
        for _ in range(draw.randrange(2, 7)):
            kind = draw.choice(("linear", "linear", "interact", "cat", "norm", "softmax", "gate"))
            same = [i for i, w in enumerate(widths) if w == self.width]
            if kind == "linear":
                linear(take(), draw.choice((1, 4, 10, self.width, 33, 64)))
            elif kind == "interact":
                some = draw.sample(same, min(len(same), draw.randrange(2, 10)))
                used.update(some)
                n, diagonal = len(some), draw.choice((0, -1))
                if n + diagonal < 1:
                    continue
                pairs = torch.tril_indices(n, n, offset=diagonal)
                self.register_buffer(f"pairs_{len(widths)}", pairs)
                self.steps.append(("interact", some, f"pairs_{len(widths)}"))
                widths.append(pairs.shape[1])
            elif kind == "cat":
                some = [take() for _ in range(draw.randrange(2, 4))]
                self.steps.append(("cat", some))
                widths.append(sum(widths[i] for i in some))
            elif kind == "gate":
                i, j = draw.choice(same), draw.choice(same)
                used.update((i, j))
                self.steps.append(("gate", i, j))
                widths.append(self.width)
            else:
                i = take()
                if widths[i] < 3:
                    continue
                if kind == "norm":
                    self.modules_of.append(nn.LayerNorm(widths[i]))
                self.steps.append((kind, i, len(self.modules_of) - 1))
                widths.append(widths[i])
        # All that nothing reads goes into the end.
        rest = [i for i in range(len(widths)) if i not in used]
        if len(rest) > 1:
            self.steps.append(("cat", rest))
            widths.append(sum(widths[i] for i in rest))
        linear(len(widths) - 1, draw.choice((1, 2, 9)))

    def forward(self, dense, indices, offsets):
        values = [dense.to(self.dtype)] + [bag(indices[t], offsets[t]) for t, bag in enumerate(self.bags)]
        for kind, *args in self.steps:
            if kind == "linear":
                i, module, activation = args
                values.append(ACTIVATIONS[activation](self.modules_of[module](values[i])))
            elif kind == "interact":
                features = torch.stack([values[i] for i in args[0]], 1)
                pairs = getattr(self, args[1])
                values.append((features @ features.mT)[:, pairs[0], pairs[1]])
            elif kind == "cat":
                values.append(torch.cat([values[i] for i in args[0]], 1))
            elif kind == "gate":
                values.append(values[args[0]] * torch.sigmoid(values[args[1]]))
            elif kind == "norm":
                values.append(self.modules_of[args[1]](values[args[0]]))
            else:
                values.append(torch.softmax(values[args[0]], -1))
        return values[-1].float()


def arguments(model, batch, most):
    """Bags of 0 to `most` indices."""
    tables = max(1, model.tables)
    sizes = torch.randint(0, most + 1, (tables, batch))
    count = int(sizes.sum(1).max()) + 1
    offsets = torch.cumsum(sizes, 1) - sizes
    return torch.randn(batch, model.dense), torch.randint(0, model.rows, (tables, count)), offsets


def make(seed, dtype=torch.float32):
    """The program of that seed as a case, of any batch."""
    torch.manual_seed(seed)
    model = RowProgram(seed, dtype).eval().to(dtype)
    batch, count = models.Dim("batch", min=1, max=4096), models.Dim("count", min=1, max=1 << 16)
    dims = {"dense": {0: batch}, "indices": {1: count}, "offsets": {1: batch}}
    if not model.tables:
        dims["indices"], dims["offsets"] = None, None
    sizes = [arguments(model, n, most) for n, most in ((1, 2), (19, 1), (300, 3))]
    if not model.tables:
        sizes = [(s[0], torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 1, dtype=torch.int64)) for s in sizes]
    first = arguments(model, 37, 3) if model.tables else (torch.randn(37, model.dense), *sizes[0][1:])
    return models.Case(model, first, dims, sizes)
