# ===- __init__.py - A device that counts ----------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two devices that run programs on the processor: one for tensors of the host, one for tensors of another type."""
import collections

import torch
from luminal.devices import Artifact


class Counting:
    """Wraps an executable and counts its calls."""

    def __init__(self, artifact, counts):
        self.artifact, self.counts = artifact, counts
        self.inputs, self.outputs = artifact.inputs, artifact.outputs
        self.weights, self.states = artifact.weights, artifact.states

    def shapes(self, extents):
        return self.artifact.shapes(extents)

    def call(self, tensors, outputs, shapes, threads, stream=None, version=0):
        self.counts["calls"] += 1
        self.counts["on stream"] += stream == 7
        self.artifact.call(tensors, outputs, shapes, threads, version=version)


class Device:
    target = "cpu"

    def __init__(self, type):
        self.type, self.counts = type, collections.Counter()

    def arch(self, place):
        return "x86-64-v3"

    def describe(self, place):
        return f"counting {place}"

    def locate(self, device):
        return torch.device(self.type, 0) if self.type != "cpu" else torch.device("cpu")

    def load(self, artifact, place):
        self.counts["loads"] += 1
        return Counting(Artifact.from_bytes(artifact), self.counts)

    def address(self, tensor):
        self.counts["addresses"] += 1
        return tensor.data_ptr()

    def stream(self, place):
        return lambda: 7

    def synchronize(self, place):
        self.counts["waits"] += 1


device = Device("cpu")
elsewhere = Device("mtia")
