# ===- _steps.py - The steps of a call as they run --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observes a call step by step: the next step, its operands and its results."""
from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from . import _capi, _errors
from ._artifact import Artifact
from .devices import Executable


class Buffer(NamedTuple):
    """Memory that a step reads or writes. It can be read while the callback for the step runs."""

    address: int
    """Its address on the device."""
    bytes: int
    read: Callable[[], bytes]
    """Returns its present bytes, copied to the host."""

    def tensor(self, dtype: torch.dtype = torch.uint8) -> torch.Tensor:
        """The bytes as a one-dimensional tensor of ``dtype``: the memory of a program has no types."""
        return torch.frombuffer(bytearray(self.read()), dtype=dtype) if self.bytes else torch.empty(0, dtype=dtype)


class StepCall(NamedTuple):
    """A step of a call that runs next, or has just run."""

    index: int
    """Its number among the steps of the profile: those of the program, then those of its variants."""
    name: str
    """The ops of the program that it computes."""
    kernel: str
    """The kernel or library that runs it."""
    is_done: bool
    operands: list[Buffer]
    results: list[Buffer]


def tell(step: StepCall) -> None:
    """Prints a step before it runs, which identifies a step that hangs, and afterwards the checksums of its results."""
    if not step.is_done:
        print(f"step {step.index}: {step.name} (kernel {step.kernel})", flush=True)
        for what, buffers in (("reads", step.operands), ("writes", step.results)):
            for buffer in buffers:
                print(f"  {what} {buffer.bytes} bytes at {buffer.address:#x}", flush=True)
    else:
        print("  done, checksums " + " ".join(f"{zlib.crc32(buffer.read()):08x}" for buffer in step.results), flush=True)


def watch(artifact: Executable, call: Callable[[], Any], on_step: Callable[[StepCall], object]) -> Any:
    """Returns the result of ``call``, which calls ``artifact`` on this thread. An exception of ``on_step`` ends the call
    after the step."""
    if not isinstance(artifact, Artifact):
        raise _errors.DeviceError("the device that runs the program does not report its steps")
    lib, raised = _capi.library(), list[BaseException]()
    with artifact.profiled() as profile:
        def buffer_of(event: Any, index: int) -> Buffer:
            memory = event.contents.buffers[index]

            def read() -> bytes:
                data = ctypes.create_string_buffer(memory.bytes)
                _capi.check(lib.luminal_step_read(event, index, data))
                return data.raw

            return Buffer(memory.data or 0, memory.bytes, read)

        def told(_: Any, event: Any) -> int:
            try:
                if raised:  # raised before the step, which runs nevertheless
                    return 1
                info = _capi.StepInfo(struct_size=ctypes.sizeof(_capi.StepInfo))
                _capi.check(lib.luminal_profile_step(profile, event.contents.index, ctypes.byref(info)))
                numbers = range(event.contents.num_buffers)
                results = [i for i in numbers if event.contents.buffers[i].is_result]
                on_step(StepCall(event.contents.index, info.name.decode(), info.kernel.decode(), bool(event.contents.is_done),
                                 [buffer_of(event, i) for i in numbers if i not in results],
                                 [buffer_of(event, i) for i in results]))
            except BaseException as error:  # no exception may pass through C
                raised.append(error)
                return 1
            return 0

        function = _capi.STEP(told)
        _capi.check(lib.luminal_profile_watch(profile, function, None))
        try:
            result = call()
        except _errors.CallError:
            if not raised:
                raise
            result = None
    if raised:
        raise raised[0]
    return result
