# ===- _transfers.py - From the host to a device -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights by chunks of pinned memory, and the small tensors of a step by one copy that the host does not wait for."""
from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

CHUNK = 128 << 20
"""Bytes of each of two chunks."""
_ALIGNMENT = 64
_MADV_PAGEOUT = 21


def move(model: nn.Module, device: torch.device, chunk: int = CHUNK) -> None:
    """Parameters and buffers of a model on the host, which may be mapped from files: each goes through two chunks in turn, so
    that one is filled while the other is copied, and its pages on the host are given back. Parameters stay the same objects,
    whose memory is the device's."""
    is_gpu = device.type == "cuda"
    chunks = [torch.empty(chunk, dtype=torch.uint8, pin_memory=is_gpu) for _ in range(2)]
    copied: list[Any] = [torch.cuda.Event() if is_gpu else None for _ in chunks]  # type: ignore[no-untyped-call]
    turn, moved = 0, {}
    for tensor in [*model.parameters(), *model.buffers()]:
        # What two names have is moved once.
        key = tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()
        if tensor.numel() == 0 or key not in moved:
            source = tensor.detach().contiguous()
            target = torch.empty_like(source, device=device)
            whole, rest = _bytes(target), _bytes(source)
            for begin in range(0, len(rest), chunk):
                size = min(chunk, len(rest) - begin)
                if copied[turn] is not None:
                    copied[turn].synchronize()
                chunks[turn][:size].copy_(rest[begin:begin + size])
                whole[begin:begin + size].copy_(chunks[turn][:size], non_blocking=True)
                if copied[turn] is not None:
                    copied[turn].record()
                turn = 1 - turn
            _give_back(source)
            moved[key] = target
        tensor.data = moved[key]
    for event in copied:
        if event is not None:
            event.synchronize()


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.reshape(-1).view(torch.uint8)


def _give_back(tensor: torch.Tensor) -> None:
    """Pages of a file that were read need not stay in memory. This is advice: where the system does not take it, they stay."""
    begin = -(-tensor.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (tensor.data_ptr() + tensor.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if end > begin:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), _MADV_PAGEOUT)


def upload(parts: Sequence[Any], device: torch.device, dtype: torch.dtype = torch.int64) -> list[torch.Tensor]:
    """A tensor of each of ``parts``, which are lists of numbers or of such lists; on a GPU by one copy."""
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
