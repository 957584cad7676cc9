#!/usr/bin/env python3
# ===- running-products.py - The program of running-products.test -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

import torch


class Product(torch.nn.Module):
    def forward(self, x):
        return torch.cumprod(x, 1)


torch.export.save(torch.export.export(Product(), (torch.rand(3, 40),)), sys.argv[1])
