# ===- make-gpu-models.py - The shapes of the models' outputs --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the models of utils/gpu-models.py once on the host."""
import importlib.util
import pathlib
import sys

import torch

utils = pathlib.Path(__file__).resolve().parents[3] / "utils"
sys.path.insert(0, str(utils))
spec = importlib.util.spec_from_file_location("gpu_models", utils / "gpu-models.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
torch.nn.Module.cuda = torch.Tensor.cuda = lambda self: self
with torch.no_grad():
    for name in module.MODELS:
        model, x = module.make(name, 1, torch.float32)
        print(name, list(model(x).shape))
