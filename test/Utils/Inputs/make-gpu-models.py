# ===- make-gpu-models.py - The shapes of the models' outputs --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the models of utils/bench/gpu_models.py once on the host."""
import pathlib
import sys

import torch

utils = pathlib.Path(__file__).resolve().parents[3] / "utils"
sys.path[:0] = [str(utils / "bench"), str(utils / "testing")]
import gpu_models

torch.nn.Module.cuda = torch.Tensor.cuda = lambda self: self
with torch.no_grad():
    for name in gpu_models.MODELS:
        model, x = gpu_models.make(name, 1, torch.float32)
        print(name, list(model(x).shape))
