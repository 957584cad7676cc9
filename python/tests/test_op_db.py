# ===- test_op_db.py - PyTorch's own samples of its ops --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every fourteenth op of PyTorch's op_db in float32; all of them with LUMINAL_ALL_OPS=1. (op_samples.py tests other
types, and GPUs.)"""
import os

import op_samples
import pytest
import torch

pytest.importorskip("expecttest")  # PyTorch's test utilities need it

OPS = op_samples.ops_of("cpu", torch.float32)
CHOSEN = list(OPS) if os.environ.get("LUMINAL_ALL_OPS") else list(OPS)[::14]


@pytest.mark.parametrize("name", CHOSEN)
def test_op(name, compiles):
    """The op is correct for samples of several sizes, and compiled unless a warning names it."""
    left = op_samples.check(OPS[name], "cpu", torch.float32, 3)
    assert compiles or left


def test_indices_of_equal_keys_are_equal():
    keys = torch.tensor([[3.0, 5.0, 5.0], [1.0, 1.0, 0.0]])
    assert op_samples.points_to_equal_keys(keys, torch.tensor([2, 1]), torch.tensor([1, 0]))
    assert not op_samples.points_to_equal_keys(keys, torch.tensor([0, 1]), torch.tensor([1, 0]))
    assert not op_samples.points_to_equal_keys(keys, torch.tensor([3, 1]), torch.tensor([1, 0]))
