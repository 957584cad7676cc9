# ===- devices.py - What runs programs ---------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device is to this package. The CPU and CUDA are two; another package registers its own.

It names an object that is a ``Device`` as an entry point of the group ``luminal.devices``::

    [project.entry-points."luminal.devices"]
    mine = "my_package:device"

Graphs with tensors of the device's type then run there, and so does what is compiled or loaded with ``device="mine"``.
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
    """A program on a device. Any number of threads may call it at once. ``Artifact`` is that of this package."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    weights: list[Tensor]
    """Parameters, buffers and large constants, as named in the artifact."""
    states: list[Tensor]
    """What lies in the executable and is changed by calls. A graph of ``torch.compile`` has none."""

    def shapes(self, extents: tuple[int, ...]) -> Shapes:
        """The shapes of a call whose inputs have these extents, one input after another. Raises ShapeError.

        An executable of a program with integers has the list of their names, ``integers``, and takes a tuple of their
        values after ``extents``."""

    def call(self, tensors: Iterable[int], outputs: Iterable[int], shapes: Shapes, threads: int,
             stream: int | None = None, version: int = 0) -> None:
        """One call. ``tensors``: addresses (``Device.address``) of inputs, weights and states, in this order; 0 where the
        tensor has no elements, or is the executable's own. ``outputs``: addresses of memory for the results. All of it
        is row-major, of the signature's element types, and may go away after the call. ``threads``: of the host, 0 for
        all that the process may use. ``stream``: what ``Device.stream`` told. ``version``: stands for what the weights
        hold whose ``is_prepared`` is set; 0: not known. Raises CallError or ShapeError."""


@runtime_checkable
class Device(Protocol):
    """Runs programs on tensors of one type of ``torch.device``. A ``place`` is such a device, with its index."""

    type: str
    """The type of its tensors: "cpu", "cuda", "privateuseone", ..."""
    target: str
    """The compiler's kind of device (``--target`` of luminal-compile): "cpu" or "cuda"."""

    def arch(self, place: torch.device) -> str:
        """What code is compiled for where the option ``arch`` is not given; "native": the machine at hand."""

    def describe(self, place: torch.device) -> str:
        """What code depends on, besides the host's processor: artifacts are kept by this text too."""

    def locate(self, device: torch.device) -> torch.device:
        """The place that a device means, which may have no index."""

    def load(self, artifact: bytes, place: torch.device) -> Executable:
        """Weights are in the artifact, or calls bring them. Raises ArtifactError."""

    def address(self, tensor: torch.Tensor) -> int:
        """Where the memory of a tensor of the type begins, or of one of the host: at most as long as the tensor is."""

    def stream(self, place: torch.device) -> Callable[[], int] | None:
        """Tells the stream that the next call is work of; None where each call waits for its end."""

    def synchronize(self, place: torch.device) -> None:
        """Waits for all calls."""
