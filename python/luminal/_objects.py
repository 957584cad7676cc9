# ===- _objects.py - Tensors whose addresses the library reads ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own C functions for the address and properties of a tensor.

Asking each tensor from Python takes most of the time of a call with many weights, and an address may change between any
two calls (``p.data = q``). The C functions take the C++ tensor, to which each Python tensor holds one pointer.
"""
from __future__ import annotations

import ctypes
import functools
import pathlib

import torch
from torch.utils._python_dispatch import _disable_current_modes

from collections.abc import Callable, Sequence
from typing import Any

from . import _capi
from ._artifact import NativeWatch, Reader

# The number of the host in the device types of the functions below.
_HOST = 0
# Offset of a list's length and of the address of its items (a luminal_objects); below it, offset of an object's class.
LIST = object.__basicsize__
CLASS = LIST - ctypes.sizeof(ctypes.c_void_p)
# Classes whose memory PyTorch's C functions can read; other subclasses may have no memory of their own.
PLAIN = (torch.Tensor, torch.nn.Parameter)
_PLAIN_IDS = (ctypes.c_void_p * len(PLAIN))(*map(id, PLAIN))


_LIBRARIES = pathlib.Path(torch.__file__).parent / "lib"


def library() -> ctypes.CDLL:
    return ctypes.CDLL(str(_LIBRARIES / "libtorch_cpu.so"))


def address_of(function: object) -> int:
    """The address of a ctypes function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def _lists_are_known() -> bool:
    probe = [object(), object(), object()]
    found = _capi.Objects.from_address(id(probe) + LIST)
    return found.count == 3 and found.data[2] == id(probe[2])


@functools.cache
def reader() -> Reader | None:
    """Reads addresses only. None if this version of PyTorch or Python lays out tensors or lists differently; Python must
    then ask for addresses."""
    if not _lists_are_known():
        return None
    try:
        function = library().aoti_torch_get_data_ptr
    except (OSError, AttributeError):
        return None
    # In objects of all tensor classes, the pointer directly follows the object's head.
    offset = object.__basicsize__
    function.restype, function.argtypes = ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p]
    with _disable_current_modes():  # tracing may be active, whose tensors have no memory
        probes = (torch.empty(3)[1:], torch.nn.Parameter(torch.empty(2), requires_grad=False))
    for probe in probes:
        place, found = id(probe) + offset, ctypes.c_void_p()
        if ctypes.c_void_p.from_address(place).value != probe._cdata:
            return None
        if function(place, ctypes.byref(found)) or found.value != probe.data_ptr():
            return None
    return Reader(address_of(function), offset, None)


@functools.cache
def tensor_reader(on_host: bool, only_plain: bool = False) -> _capi.TensorReader | None:
    """PyTorch's own C functions for the properties of a tensor; None if this version lacks one of them, or ``reader`` is
    None.

    ``on_host``: whether tensors must be on the host. ``only_plain``: whether their class must be one of ``PLAIN``.
    """
    if (found := reader()) is None:
        return None
    try:
        exports = library()
        rank, sizes, strides, dtype, device = (getattr(exports, f"aoti_torch_get_{name}")
                                               for name in ("dim", "sizes", "strides", "dtype", "device_type"))
    except (OSError, AttributeError):
        return None
    made = _capi.TensorReader(ctypes.sizeof(_capi.TensorReader), *map(address_of, (rank, sizes, strides, dtype, device)),
                              device_kind=_HOST if on_host else -1)
    dtype.restype, dtype.argtypes = ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p]
    for index, name in enumerate(_capi.DTYPES):
        with _disable_current_modes():
            probe, number = torch.empty(1, dtype=getattr(torch, name)), ctypes.c_int32()
        if dtype(id(probe) + found.offset, ctypes.byref(number)):
            return None
        made.dtypes[index] = number.value
    if only_plain:
        if ctypes.c_void_p.from_address(id(probe) + CLASS).value != id(torch.Tensor):
            return None
        made.class_offset, made.classes, made.num_classes = CLASS, _PLAIN_IDS, len(_PLAIN_IDS)
    return made


@functools.cache
def _counters() -> tuple[int, int] | None:
    """PyTorch's C++ functions for the write count of a tensor, and whether it has none; None if this version's functions
    differ."""
    try:
        exports = library()
        version, is_inference = exports._ZNK2at10TensorBase8_versionEv, exports._ZN2at6native12is_inferenceERKNS_6TensorE
    except (OSError, AttributeError):
        return None
    version.restype, is_inference.restype = ctypes.c_int64, ctypes.c_bool
    version.argtypes = is_inference.argtypes = [ctypes.c_void_p]
    with _disable_current_modes():
        written, parameter = torch.zeros(2), torch.nn.Parameter(torch.empty(2), requires_grad=False)
        written.add_(1)
        with torch.inference_mode():
            uncounted = torch.empty(2)
    for probe in (written, parameter, uncounted):
        if is_inference(id(probe) + LIST) != probe.is_inference():
            return None
        if probe is not uncounted and version(id(probe) + LIST) != probe._version:
            return None
    return address_of(version), address_of(is_inference)


@functools.cache
def write_counter() -> tuple[int, int] | None:
    """PyTorch's C++ functions that count a write to a tensor and that say whether it has a count; None if Python must do
    both."""
    counters = _counters()
    if counters is None:
        return None
    try:
        count = library()._ZN5torch8autograd4impl12bump_versionERKN2at6TensorE
    except (OSError, AttributeError):
        return None
    count.restype, count.argtypes = None, [ctypes.c_void_p]
    with _disable_current_modes():
        for probe in (torch.zeros(2), torch.nn.Parameter(torch.zeros(2), requires_grad=False)):
            view, before = probe[1:], probe._version
            count(id(probe) + LIST)
            count(id(view) + LIST)
            if not probe._version == view._version == before + 2:
                return None
    return address_of(count), counters[1]


@functools.cache
def thread_counter() -> Any:
    """PyTorch's C++ function for its number of threads, or a Python function that asks for it."""
    asks = _capi.NUM_THREADS(lambda: torch.get_num_threads())
    try:
        function = library()._ZN2at15get_num_threadsEv
    except (OSError, AttributeError):
        return asks
    function.restype, function.argtypes = ctypes.c_int32, []
    return function if function() == torch.get_num_threads() else asks


def stream_reader(current: Callable[[], int], place: torch.device) -> Any:
    """A function that returns the same stream of ``place`` as ``current``: PyTorch's C function for GPUs, or one that
    asks in Python."""
    def ask(_: int, found: Any) -> int:
        found[0] = current() or None
        return 0

    asks = _capi.CURRENT_STREAM(ask)
    if place.type != "cuda":
        return asks
    try:
        function = ctypes.CDLL(str(_LIBRARIES / "libtorch_cuda.so")).aoti_torch_get_current_cuda_stream
    except (OSError, AttributeError):
        return asks
    function.restype, function.argtypes = ctypes.c_int32, [ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)]
    found = ctypes.c_void_p()
    return asks if function(place.index, ctypes.byref(found)) or (found.value or 0) != current() else function


def watch(positions: Sequence[int], trusts_uncounted: bool) -> NativeWatch | None:
    """Watches the tensors at ``positions`` among those of an artifact; None if Python must check them.
    ``trusts_uncounted``: assume that tensors without a write count never change."""
    found, counters = reader(), _counters()
    if found is None or counters is None:
        return None
    options = _capi.WatchOptions(ctypes.sizeof(_capi.WatchOptions), found.function, found.offset, *counters, trusts_uncounted,
                                 (ctypes.c_uint32 * len(positions))(*positions), len(positions))
    return NativeWatch(options)
