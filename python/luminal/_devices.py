# ===- _devices.py - Devices of torch, and the compiler's targets ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device of torch is to the compiler and the runtime."""
from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from . import _errors

CPU = torch.device("cpu")
# The types of devices that have a target; its name is the same.
TYPES = ("cpu", "cuda")


def find(devices: Iterable[torch.device]) -> torch.device:
    """Where a program with tensors on these devices runs: on the GPU, where there is one.

    Tensors of the host are copied to it. Raises DeviceError where there are two, or one without a target.
    """
    found = CPU
    for device in devices:
        if device.type not in TYPES:
            raise _errors.DeviceError(f"a tensor is on {device}: only the CPU and CUDA are supported")
        if device.type == "cpu":
            continue
        device = with_index(device)
        if found not in (CPU, device):
            raise _errors.DeviceError(f"tensors are on {found} and {device}: a program runs on one GPU")
        found = device
    return found


def with_index(device: torch.device) -> torch.device:
    if device.type == "cpu":
        return CPU
    return device if device.index is not None else torch.device(device.type, torch.cuda.current_device())


def stream_of(device: torch.device) -> Callable[[], int] | None:
    """Returns the handle of torch's current stream of a device; None where calls are not on streams."""
    if device.type == "cpu":
        return None
    index, current = device.index, torch._C._cuda_getCurrentRawStream
    return lambda: current(index)


def describe(device: torch.device) -> str:
    """What code for the device at hand depends on, besides the host's processor."""
    if device.type == "cpu":
        return ""
    return f"{torch.cuda.get_device_name(device)} {torch.cuda.get_device_capability(device)}"
