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

from . import _capi
from ._artifact import Reader

# What the functions below call the kind of device that is the host.
_HOST = 0


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))


def _address(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


@functools.cache
def reader() -> Reader | None:
    """Of addresses alone; None where this version of PyTorch keeps tensors in another way: then Python asks for them."""
    try:
        function = _library().aoti_torch_get_data_ptr
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
    return Reader(_address(function), offset, None)


@functools.cache
def tensor_reader(on_host: bool) -> _capi.TensorReader | None:
    """PyTorch's own C functions for what a tensor is; None where this version has not all of them, or ``reader`` is None.

    ``on_host``: whether tensors must be there.
    """
    if (found := reader()) is None:
        return None
    try:
        library = _library()
        rank, sizes, strides, dtype, device = (getattr(library, f"aoti_torch_get_{name}")
                                               for name in ("dim", "sizes", "strides", "dtype", "device_type"))
    except (OSError, AttributeError):
        return None
    made = _capi.TensorReader(ctypes.sizeof(_capi.TensorReader), *map(_address, (rank, sizes, strides, dtype, device)),
                              device_kind=_HOST if on_host else -1)
    dtype.restype, dtype.argtypes = ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p]
    for index, name in enumerate(_capi.DTYPES):
        with _disable_current_modes():
            probe, number = torch.empty(1, dtype=getattr(torch, name)), ctypes.c_int32()
        if dtype(id(probe) + found.offset, ctypes.byref(number)):
            return None
        made.dtypes[index] = number.value
    return made
