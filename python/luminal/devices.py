# ===- devices.py - What runs programs ---------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface of devices. This package provides the CPU and CUDA; another package can register its own device.

It declares an object that implements ``Device`` as an entry point of the group ``luminal.devices``::

    [project.entry-points."luminal.devices"]
    mine = "my_package:device"

Graphs with tensors of the device's type then run there, as does everything compiled or loaded with ``device="mine"``.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ._artifact import Artifact, Shapes, Tensor

if TYPE_CHECKING:
    import torch

__all__ = ["Artifact", "Device", "Executable", "Shapes", "Tensor"]


@runtime_checkable
class Executable(Protocol):
    """A program on a device. Any number of threads may call it concurrently. This package's implementation is
    ``Artifact``."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    weights: list[Tensor]
    """Parameters, buffers and large constants, by their names in the artifact."""
    states: list[Tensor]
    """Tensors that are stored in the executable and that calls change. A graph of ``torch.compile`` has none."""

    def shapes(self, extents: tuple[int, ...]) -> Shapes:
        """The shapes of a call whose inputs have these extents, concatenated for all inputs. Raises ShapeError.

        An executable of a program with integers has their names in the list ``integers``, and takes a tuple of their
        values after ``extents``."""

    def call(self, tensors: Iterable[int], outputs: Iterable[int], shapes: Shapes, threads: int,
             stream: int | None = None, version: int = 0) -> None:
        """Makes one call. ``tensors``: addresses (``Device.address``) of inputs, weights and states, in this order; 0 for
        a tensor without elements or one of the executable's own. ``outputs``: addresses of memory for the results. All
        memory is row-major with the signature's element types, and may be freed after the call. ``threads``: number of
        host threads; 0: all that the process may use. ``stream``: the result of ``Device.stream``. ``version``: a number
        that identifies the values of the weights whose ``is_prepared`` is set; 0: unknown. Raises CallError or
        ShapeError."""


@runtime_checkable
class Device(Protocol):
    """Runs programs on tensors of one type of ``torch.device``. A ``place`` is such a device with its index."""

    type: str
    """The device type of its tensors: "cpu", "cuda", "privateuseone", ..."""
    target: str
    """The compiler's target (``--target`` of luminal-compile): "cpu" or "cuda"."""

    def arch(self, place: torch.device) -> str:
        """The architecture for code if the option ``arch`` is not given; "native": this machine."""

    def describe(self, place: torch.device) -> str:
        """The properties on which code depends, besides the host's processor. This text is part of the cache key of
        artifacts."""

    def locate(self, device: torch.device) -> torch.device:
        """The place of a device, which may have no index."""

    def load(self, artifact: bytes, place: torch.device) -> Executable:
        """Loads an artifact whose weights are in it or are passed by calls. Raises ArtifactError."""

    def address(self, tensor: torch.Tensor) -> int:
        """The address of the memory of a tensor of this type or of the host; valid as long as the tensor exists."""

    def stream(self, place: torch.device) -> Callable[[], int] | None:
        """A function that returns the stream on which the next call runs; None if each call waits for its end."""

    def synchronize(self, place: torch.device) -> None:
        """Waits for all calls."""
