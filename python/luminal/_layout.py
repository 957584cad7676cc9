# ===- _layout.py - Where a tensor holds what it is -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds where a tensor object of PyTorch stores its properties.

Asking PyTorch for the properties of each tensor takes most of the time of a call with many weights, although hardly one
changes between calls. So the library compares the memory of the C++ object with its earlier contents, and only asks again
after a change.

PyTorch does not document the layout of that object. It is determined here by comparing tensors that differ in one
property at a time. If a property is not found at exactly one place, every tensor is asked at each call.
"""
from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable, Sequence

import torch
from torch.utils._python_dispatch import _disable_current_modes

from . import _capi, _objects

_WORD = ctypes.sizeof(ctypes.c_uint64)
# Number of words examined of a C++ tensor and of its storage; both are at least that large.
_OF_TENSOR, _OF_STORAGE = 22, 8
# Tensors up to this rank store extents and strides in the object itself.
_MOST_RANK = 5
# The first two words are the C++ class and the reference count.
_HEAD = 2


def _read(address: int, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(address))


def _description(tensor: torch.Tensor, offset: int) -> int:
    return ctypes.c_uint64.from_address(id(tensor) + offset).value


def _only(places: Iterable[int]) -> int | None:
    found = list(places)
    return found[0] * _WORD if len(found) == 1 else None


def _place_of(values: Sequence[int], words: Sequence[Sequence[int]]) -> int | None:
    """The only place at which each object has its value; None if there is not exactly one."""
    return _only(i for i in range(_HEAD, len(words[0])) if all(w[i] == value for w, value in zip(words, values)))


def _dims(tensors: Sequence[torch.Tensor], offset: int, name: str) -> int | None:
    """The offset of the extents or strides in the description."""
    function = getattr(_objects.library(), f"aoti_torch_get_{name}")
    function.restype, function.argtypes = ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p]
    found = set()
    for tensor in tensors:
        data = ctypes.c_void_p()
        if function(id(tensor) + offset, ctypes.byref(data)) or data.value is None:
            return None
        found.add(data.value - _description(tensor, offset))
    place = found.pop()
    return place if not found and 0 < place <= (_OF_TENSOR - _MOST_RANK) * _WORD else None


def _type(offset: int) -> int | None:
    """The offset of the word with element type and device: found by giving one tensor each type over the same memory."""
    memory, tensor = torch.zeros(16), torch.zeros(16).view(torch.uint8)
    seen = []
    for name in _capi.DTYPES:
        tensor.data = memory.view(torch.uint8)[:2 * getattr(torch, name).itemsize].view(getattr(torch, name))
        seen.append(_read(_description(tensor, offset), _OF_TENSOR))
    place = _only(i for i in range(_HEAD, _OF_TENSOR) if len({words[i] for words in seen}) == len(seen))
    if place is None:
        return None
    here, elsewhere = torch.empty(2), torch.empty(2, device="meta")
    kinds = [_read(_description(t, offset) + place, 1) for t in (here, torch.empty(2), elsewhere)]
    return place if kinds[0] == kinds[1] != kinds[2] else None


def _owner() -> int | None:
    """The offset of the word that says that a storage's memory is shared and must be copied before a write."""
    tensor = torch.zeros(4)
    storage = tensor.untyped_storage()._cdata
    before = _read(storage, _OF_STORAGE)
    shared = torch._lazy_clone(tensor)
    after = _read(storage, _OF_STORAGE)
    changed = [i for i in range(_HEAD, _OF_STORAGE) if before[i] != after[i]]
    return changed[0] * _WORD if changed and shared is not None else None


def _look(offset: int) -> _capi.TensorLayout | None:
    base, other = torch.zeros(997), torch.frombuffer(bytearray(4 * 997), dtype=torch.float32)
    probes = [(base if i % 2 else other).as_strided((2,) * i, tuple(range(3, 3 + i)), 100 + 7 * i)
              for i in range(1, _MOST_RANK + 1)]
    probes.append(torch.nn.Parameter(base[90:], requires_grad=False))
    with torch.inference_mode():
        probes.append(torch.zeros(9, 9)[2:])
    words = [_read(_description(t, offset), _OF_TENSOR) for t in probes]
    storages = [t.untyped_storage() for t in probes]
    held = [_read(s._cdata, _OF_STORAGE) for s in storages]
    found = (_place_of([s._cdata for s in storages], words), _place_of([t.storage_offset() for t in probes], words), _type(offset),
             _place_of([t.dim() for t in probes], words), _dims(probes, offset, "sizes"), _dims(probes, offset, "strides"),
             _MOST_RANK, _place_of([s.data_ptr() for s in storages], held), _owner())
    if None in found:
        return None
    return _capi.TensorLayout(ctypes.sizeof(_capi.TensorLayout), *found)


@functools.cache
def find() -> _capi.TensorLayout | None:
    """The layout; None if this version of PyTorch stores these properties differently."""
    reader = _objects.reader()
    if reader is None or _objects.tensor_reader(False) is None:
        return None
    try:
        with _disable_current_modes(), torch.no_grad():  # tracing may be active, whose tensors have no memory
            return _look(reader.offset)
    except (AttributeError, RuntimeError):
        return None
