# ===- float64.py - A PyTorch model evaluated in float64 throughout -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference of every numeric test: `call(copy_of(model), widened(args))`."""
import copy

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

NARROW = (torch.float16, torch.bfloat16, torch.float32)
# Ops that PyTorch has for no float64: float32 is their reference.
WITHOUT_FLOAT64 = {torch.ops.aten._grouped_mm.default}


class Float64(TorchDispatchMode):
    """Inside, every request for a narrower float type gets float64: the model's casts do not round the reference."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        def widen(x):
            return torch.float64 if isinstance(x, torch.dtype) and x in NARROW else x

        if func in WITHOUT_FLOAT64:
            return widened(func(*pytree.tree_map_only(torch.Tensor, lambda t: t.float() if t.is_floating_point() else t, args), **(kwargs or {})))
        # Bits are those of the type that is asked for.
        if func is torch.ops.aten.view.dtype:
            return func(*args, **(kwargs or {}))
        return func(*pytree.tree_map(widen, args), **pytree.tree_map(widen, kwargs or {}))


def widened(value):
    """The value with every float tensor in it as float64."""
    return pytree.tree_map(
        lambda t: t.double() if isinstance(t, torch.Tensor) and t.dtype in NARROW else t, value)


def copy_of(model):
    model = copy.deepcopy(model).double()
    for module in model.modules():
        # Tensors that are neither parameters nor buffers.
        module.__dict__.update({k: widened(v) for k, v in vars(module).items() if isinstance(v, torch.Tensor)})
    return model


def call(model, args):
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with Float64():
            return model(*args)
    finally:
        torch.set_default_dtype(default)
