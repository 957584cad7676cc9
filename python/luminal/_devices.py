# ===- _devices.py - Devices of torch, and what runs programs there -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The devices by name (see ``devices.py``), and the choice of the device on which a program runs."""
from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch

from . import _capi, _errors, _ranges
from ._artifact import Allocator, Artifact
from ._options import Options
from .devices import Device, Executable

GROUP = "luminal.devices"
HOST = torch.device("cpu")


class _Own:
    """Common to the devices of this package."""

    address = staticmethod(torch.Tensor.data_ptr)

    def arch(self, place: torch.device) -> str:
        return "native"


class _CPU(_Own):
    type = target = "cpu"

    def describe(self, place: torch.device) -> str:
        return ""

    def locate(self, device: torch.device) -> torch.device:
        return HOST

    def load(self, artifact: bytes, place: torch.device) -> Executable:
        return Artifact.from_bytes(artifact)

    def stream(self, place: torch.device) -> Callable[[], int] | None:
        return None

    def synchronize(self, place: torch.device) -> None:
        pass


@functools.cache
def _allocator(place: torch.device) -> Allocator:
    """Allocates memory with torch: during a capture, from the capture's pool, which other work of the capture then
    reuses."""
    held: dict[int, torch.Tensor] = {}

    def allocate(_: Any, size: int) -> int | None:
        try:
            memory = torch.empty(size, dtype=torch.uint8, device=place)
        except torch.OutOfMemoryError:
            return None
        address = memory.data_ptr()
        held[address] = memory
        return address

    def release(_: Any, address: int) -> None:
        del held[address]

    return Allocator(_capi.ALLOCATE(allocate), _capi.RELEASE(release))


class _CUDA(_Own):
    type = target = "cuda"

    def describe(self, place: torch.device) -> str:
        return f"{torch.cuda.get_device_name(place)} {torch.cuda.get_device_capability(place)}"

    def locate(self, device: torch.device) -> torch.device:
        if device.index is not None:
            return device
        if not torch.cuda.is_available():
            raise _errors.DeviceError("device 'cuda': PyTorch finds no NVIDIA GPU here" + (
                "" if torch.version.cuda else ", and was built without CUDA"))
        return torch.device("cuda", torch.cuda.current_device())

    def load(self, artifact: bytes, place: torch.device) -> Executable:
        return Artifact.from_bytes(artifact, place.index, _allocator(place))

    def stream(self, place: torch.device) -> Callable[[], int] | None:
        index, current = place.index, torch._C._cuda_getCurrentRawStream
        return lambda: current(index)

    def synchronize(self, place: torch.device) -> None:
        torch.cuda.synchronize(place)


_OWN: dict[str, Device] = {"cpu": _CPU(), "cuda": _CUDA()}


class Place(NamedTuple):
    """Where a program runs: a device and its ``torch.device``."""

    device: Device
    at: torch.device

    def texts(self, options: Options) -> list[str]:
        """The options for compiling for this place, as the C interface takes them."""
        return options.texts(self.device.target, self.device.arch(self.at))


CPU = Place(_OWN["cpu"], HOST)


@functools.cache
def registered() -> dict[str, Device]:
    """All devices by name, this package's first. The first call imports the packages of the others."""
    found = dict(_OWN)
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        try:
            device = entry.load()
        except Exception as error:  # any exception of another package
            raise _errors.DeviceError(f"device '{entry.name}' ({entry.value}) cannot be imported: {error}") from error
        if isinstance(device, type) or not isinstance(device, Device):
            raise _errors.DeviceError(f"device '{entry.name}' ({entry.value}) is not a luminal.devices.Device")
        if entry.name in found:
            raise _errors.DeviceError(f"two devices are named '{entry.name}'; one is {entry.value}")
        found[entry.name] = device
    return found


def named(name: str) -> Device:
    """The device of this name. Raises DeviceError if there is none."""
    device = _OWN.get(name) or registered().get(name)
    if device is None:
        raise _errors.DeviceError(f"there is no device '{name}': known are {', '.join(registered())}")
    return device


def of_type(kind: str) -> Device | None:
    """The device for tensors of a type: one of this package, or the first that is registered for it."""
    return _OWN.get(kind) or next((device for device in registered().values() if device.type == kind), None)


def find(devices: Iterable[torch.device], name: str = "") -> Place:
    """Where a program with tensors on these devices runs: on the host only if all tensors are there.

    Tensors on the host are copied to the device. ``name``: the requested device, or empty. Raises DeviceError if tensors
    are on two devices, on a device other than the requested one, or on one that no registered device runs.
    """
    wanted = named(name) if name else None
    found = HOST
    for device in devices:
        if device.type == "cpu":
            continue
        runs = of_type(device.type) if wanted is None else wanted
        if runs is None:
            raise _errors.DeviceError(f"a tensor is on {device}: programs run on {', '.join(registered())}")
        if device.type != runs.type:
            raise _errors.DeviceError(f"a tensor is on {device}: device '{name}' runs tensors on {runs.type}")
        device = runs.locate(device)
        if found not in (HOST, device):
            raise _errors.DeviceError(f"tensors are on {found} and {device}: a program runs on one of them")
        found = device
    if wanted is None:
        wanted = of_type(found.type)
        assert wanted is not None
    return Place(wanted, found if found.type == wanted.type else wanted.locate(torch.device(wanted.type)))


def locate(device: torch.device) -> torch.device:
    """The same device with its index."""
    runs = of_type(device.type)
    return runs.locate(device) if runs is not None else device


_ranges.watch()
