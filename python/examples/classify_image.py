# ===- classify_image.py - A convolution net, at any batch ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a convolution net once, with a dynamic batch, and classifies images with it. Weights are random: put your own
with ``load_state_dict``, and the next call uses them."""
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(),
                                    nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(x + self.layers(x))


net = nn.Sequential(nn.Conv2d(3, 16, 7, stride=2, padding=3), nn.ReLU(), nn.MaxPool2d(2), Residual(16), Residual(16),
                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).eval()
classify = torch.compile(net, backend="luminal", dynamic=True)

with torch.inference_mode():
    for batch in (4, 1, 7):
        images = torch.rand(batch, 3, 64, 64)
        scores = classify(images).softmax(-1)
        torch.testing.assert_close(scores, net(images).softmax(-1), rtol=1e-4, atol=1e-5)
        best = scores.max(-1)
        print(f"{batch} images:", [f"class {c} ({p:.2f})" for p, c in zip(best.values.tolist(), best.indices.tolist())])
