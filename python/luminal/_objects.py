# ===- _objects.py - Tensors whose addresses the library reads ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own C function for the address of a tensor.

Asking each tensor in Python is most of the time of a call with many weights, and addresses may change between any two
calls (``p.data = q``). The C function takes the tensor of C++, to which each Python tensor holds one pointer.
"""
from __future__ import annotations

import ctypes
import functools
import pathlib

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ._artifact import Reader


@functools.cache
def reader() -> Reader | None:
    """None where this version of PyTorch keeps tensors in another way: then Python asks for addresses."""
    try:
        library = ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        function = library.aoti_torch_get_data_ptr
    except (OSError, AttributeError):
        return None
    # The pointer is the first thing behind the head of an object, in an object of any class of tensors.
    offset = object.__basicsize__
    function.restype, function.argtypes = ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p]
    with _disable_current_modes():  # a graph may be traced now, with tensors that have no memory
        probes = (torch.empty(3)[1:], torch.nn.Parameter(torch.empty(2), requires_grad=False))
    for probe in probes:
        place, found = id(probe) + offset, ctypes.c_void_p()
        if ctypes.c_void_p.from_address(place).value != probe._cdata:
            return None
        if function(place, ctypes.byref(found)) or found.value != probe.data_ptr():
            return None
    address = ctypes.cast(function, ctypes.c_void_p).value
    return Reader(address, offset) if address is not None else None
