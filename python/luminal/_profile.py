# ===- _profile.py - How long the steps of a call take --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls in which each step is timed: a table for readers, and a trace for Perfetto."""
from __future__ import annotations

import ctypes
import html
import os
import pathlib
from collections.abc import Callable
from typing import NamedTuple

from . import _cache, _capi, _errors, _tables
from ._artifact import Artifact
from .devices import Executable


class Step(NamedTuple):
    """A step of a call, which runs one kernel or library call. All numbers are means over the calls."""

    name: str
    """The ops of the program that it computes."""
    kernel: str
    """The kernel or library that runs it: a name in the report's ``kernels``."""
    ms: float
    bytes: float
    """Bytes read and written."""
    flops: float
    """Scalar operations. A multiply-add counts as one, a function such as exp as several."""
    share: float
    """Share of the time of all steps."""
    threads: int


class Profile:
    """The steps of a call in execution order. ``print`` and notebooks show them as a table."""

    def __init__(self, steps: list[Step], calls: int) -> None:
        self.steps, self.calls = steps, calls
        self.ms = sum(step.ms for step in steps)
        """Total of all steps. Steps are timed one by one, so a call without profiling takes less than this plus its own
        overhead."""

    def __str__(self) -> str:
        width = max([4, *(len(step.name) for step in self.steps)])
        lines = [self._head(), f"  {'step':<{width}}{'ms':>10}{'share':>8}{'MB':>10}{'MFLOP':>10}{'threads':>9}  kernel"]
        lines += [f"  {s.name:<{width}}{s.ms:>10.4f}{100 * s.share:>7.1f}%{s.bytes / 1e6:>10.3f}{s.flops / 1e6:>10.3f}"
                  f"{s.threads:>9}  {s.kernel}" for s in self.steps]
        return "\n".join(lines)

    __repr__ = __str__

    def _head(self) -> str:
        return f"{_tables.count(len(self.steps), 'step')}, {self.ms:.4f} ms (mean of {_tables.count(self.calls, 'call')})"

    def _repr_html_(self) -> str:
        """The steps as a table with bars for their times, for notebooks."""
        rows = "".join(
            f"<tr><td>{html.escape(s.name)}</td><td>{s.ms:.4f}</td><td>{s.bytes / 1e6:.3f}</td><td>{s.flops / 1e6:.3f}</td>"
            f"<td><div style='background:#4c9ed9;height:0.8em;width:{100 * s.share:.0f}px'></div></td>"
            f"<td>{100 * s.share:.1f} %</td><td>{html.escape(s.kernel)}</td></tr>" for s in self.steps)
        names = "".join(f"<th>{name}</th>" for name in ("step", "ms", "MB", "MFLOP", "", "share", "kernel"))
        return f"<p>{html.escape(self._head())}</p><table><tr>{names}</tr>{rows}</table>"


def steps(artifact: Artifact) -> list[Step]:
    """The steps of a call before one was made: no step has a time."""
    lib, found = _capi.library(), []
    with artifact.profiled() as handle:
        for index in range(lib.luminal_profile_count(handle)):
            info = _capi.StepInfo(struct_size=ctypes.sizeof(_capi.StepInfo))
            _capi.check(lib.luminal_profile_step(handle, index, ctypes.byref(info)))
            found.append(Step(info.name.decode(), info.kernel.decode(), 0.0, 0.0, 0.0, 0.0, 0))
    return found


def profile(artifact: Executable, call: Callable[[], object], calls: int,
            trace: str | os.PathLike[str] | None) -> Profile:
    """Makes ``calls`` calls of ``call``, which calls ``artifact`` once on this thread."""
    if not isinstance(artifact, Artifact):
        raise _errors.DeviceError("the device that runs the program does not report the times of its steps")
    if calls < 1:
        raise _errors.ArgumentError(f"calls is {calls}: expected 1 or more")
    lib = _capi.library()
    with artifact.profiled() as handle:
        for _ in range(calls):
            call()
        infos = []
        for index in range(lib.luminal_profile_count(handle)):
            info = _capi.StepInfo(struct_size=ctypes.sizeof(_capi.StepInfo))
            _capi.check(lib.luminal_profile_step(handle, index, ctypes.byref(info)))
            if info.calls:  # the steps of a variant only run in calls for which it is chosen
                infos.append(info)
        total = sum(info.microseconds for info in infos)
        steps = [Step(info.name.decode(), info.kernel.decode(), info.microseconds / 1e3 / calls, info.bytes / calls,
                      info.flops / calls, info.microseconds / total if total else 0.0, info.threads) for info in infos]
        if trace is not None:
            text = ctypes.c_void_p()
            _capi.check(lib.luminal_profile_trace(handle, ctypes.byref(text)))
            _cache.write_atomically(pathlib.Path(trace), _capi.take_buffer(text))
    return Profile(steps, calls)
