# ===- _devices.py - Devices of torch, and what runs programs there -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The devices by name (``devices.py`` says what one is), and which one a program runs on."""
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
    """What the devices of this package have in common."""

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
    """Memory of torch's: of the pool of the capture, which other work of the capture then uses in turn."""
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
    """Where a program runs."""

    device: Device
    at: torch.device

    def texts(self, options: Options) -> list[str]:
        """The options of a compile for it, as the C interface takes them."""
        return options.texts(self.device.target, self.device.arch(self.at))


CPU = Place(_OWN["cpu"], HOST)


@functools.cache
def registered() -> dict[str, Device]:
    """All devices by name, those of this package first. Other packages are imported at the first call."""
    found = dict(_OWN)
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        try:
            device = entry.load()
        except Exception as error:  # whatever another package raises
            raise _errors.DeviceError(f"device '{entry.name}' ({entry.value}) cannot be imported: {error}") from error
        if isinstance(device, type) or not isinstance(device, Device):
            raise _errors.DeviceError(f"device '{entry.name}' ({entry.value}) is not a luminal.devices.Device")
        if entry.name in found:
            raise _errors.DeviceError(f"two devices are named '{entry.name}'; one is {entry.value}")
        found[entry.name] = device
    return found


def named(name: str) -> Device:
    """Raises DeviceError where no device has the name."""
    device = _OWN.get(name) or registered().get(name)
    if device is None:
        raise _errors.DeviceError(f"there is no device '{name}': there are {', '.join(registered())}")
    return device


def of_type(kind: str) -> Device | None:
    """The device that runs tensors of a type: this package's, or the first that is registered for it."""
    return _OWN.get(kind) or next((device for device in registered().values() if device.type == kind), None)


def find(devices: Iterable[torch.device], name: str = "") -> Place:
    """Where a program with tensors on these devices runs: not on the host, where one of them is elsewhere.

    Tensors of the host are copied there. ``name``: the device that is asked for, or empty. Raises DeviceError where
    tensors are on two devices, or on one that is not asked for, or that nothing runs.
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
    """With its index."""
    runs = of_type(device.type)
    return runs.locate(device) if runs is not None else device


_ranges.watch()
