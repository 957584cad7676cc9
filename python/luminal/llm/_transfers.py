# ===- _transfers.py - From the host to a device -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transfers to a device: weights through chunks of pinned memory, and the small tensors of a step in one asynchronous
copy."""
from __future__ import annotations

import ctypes
import math
import mmap
import threading
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

CHUNK = 128 << 20
"""Size in bytes of each of the two chunks."""
_ALIGNMENT = 64
_MADV_PAGEOUT = 21


class Uploader:
    """Copies through two chunks alternately: one is filled while the other is copied. Tensors may be mapped from a file;
    their host pages are released. Any thread may use it."""

    def __init__(self, device: torch.device, chunk: int = CHUNK) -> None:
        is_gpu = device.type == "cuda"
        self.device, self._chunk, self._turn, self._lock = device, chunk, 0, threading.Lock()
        self._chunks = [torch.empty(chunk, dtype=torch.uint8, pin_memory=is_gpu) for _ in range(2)]
        self._copied: list[Any] = [torch.cuda.Event() if is_gpu else None for _ in self._chunks]  # type: ignore[no-untyped-call]

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor with the same elements on the device, available to work started on this thread's stream."""
        source = tensor.detach().contiguous()
        target = torch.empty_like(source, device=self.device)
        whole, rest = _bytes(target), _bytes(source)
        with self._lock:
            for begin in range(0, len(rest), self._chunk):
                size, turn = min(self._chunk, len(rest) - begin), self._turn
                if self._copied[turn] is not None:
                    self._copied[turn].synchronize()
                self._chunks[turn][:size].copy_(rest[begin:begin + size])
                whole[begin:begin + size].copy_(self._chunks[turn][:size], non_blocking=True)
                if self._copied[turn] is not None:
                    self._copied[turn].record(torch.cuda.current_stream(self.device))
                self._turn = 1 - turn
        _give_back(source)
        return target

    def wait(self) -> None:
        """Waits until everything is copied."""
        for event in self._copied:
            if event is not None:
                event.synchronize()


class Source:
    """A tensor of a ``.safetensors`` file for transformers' loader, which calls ``source[...].to(device, dtype)`` when it
    needs the tensor. This puts it on the uploader's device, where transformers then converts it."""

    def __init__(self, piece: Any, uploader: Uploader) -> None:
        self._piece, self._uploader = piece, uploader

    @property
    def shape(self) -> torch.Size:
        return torch.Size(self._piece.get_shape())

    @property
    def dtype(self) -> torch.dtype:
        return self._piece[:0].dtype if self._piece.get_shape() else self._piece[...].dtype  # type: ignore[no-any-return]

    def __getitem__(self, whole: Any) -> Source:
        return self

    def to(self, device: Any = None, dtype: torch.dtype | None = None) -> torch.Tensor:
        return self._uploader.upload(self._piece[...]).to(dtype)


def move(model: nn.Module, uploader: Uploader) -> None:
    """Moves parameters and buffers that are not on the device yet. Parameters remain the same objects."""
    moved: dict[Any, torch.Tensor] = {}
    for tensor in [*model.parameters(), *model.buffers()]:
        if tensor.device.type == uploader.device.type != "cpu":
            continue
        # Memory that two tensors share is moved once.
        key = tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()
        if tensor.numel() == 0 or key not in moved:
            moved[key] = uploader.upload(tensor)
        tensor.data = moved[key]
    uploader.wait()


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.reshape(-1).view(torch.uint8)


def _give_back(tensor: torch.Tensor) -> None:
    """Releases the pages of a file that were read. This is advice, which the system may ignore."""
    begin = -(-tensor.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (tensor.data_ptr() + tensor.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if end > begin:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), _MADV_PAGEOUT)


def upload(parts: Sequence[Any], device: torch.device, dtype: torch.dtype = torch.int64) -> list[torch.Tensor]:
    """Makes a tensor of each of ``parts``, which are lists of numbers or lists of such lists; on a GPU with a single
    copy."""
    each = _ALIGNMENT // dtype.itemsize
    shapes = [(len(part), *((len(part[0]),) if part and isinstance(part[0], list) else ())) for part in parts]
    flat: list[Any] = []
    begins = []
    for part, shape in zip(parts, shapes):
        begins.append(len(flat))
        for row in part if len(shape) == 2 else [part]:
            flat += row
        flat += [0] * (-len(flat) % each)
    whole = torch.tensor(flat, dtype=dtype, pin_memory=device.type == "cuda").to(device, non_blocking=True)
    return [whole[begin:begin + math.prod(shape)].view(shape) for begin, shape in zip(begins, shapes)]
