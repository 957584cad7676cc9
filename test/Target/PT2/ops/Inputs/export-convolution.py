# ===- export-convolution.py - A convolution in f16, with padding ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes it to the path given."""
import sys

import torch

model = torch.nn.Conv2d(64, 64, 3, padding=1).half()
torch.export.save(torch.export.export(model, (torch.zeros(1, 64, 14, 14, dtype=torch.float16),)), sys.argv[1])
