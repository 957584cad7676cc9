# ===- _ranges.py - Steps as ranges of PyTorch's profiler -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""While ``torch.profiler`` runs, each step of a call is a range with its name from reports. Inside
``torch.autograd.profiler.emit_nvtx`` it is thus an NVTX range."""
from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

from torch.autograd import profiler

from . import _capi, _errors

_open = threading.local()


def _begin(_: Any, name: bytes) -> None:
    opened = profiler.record_function(name.decode())
    opened.__enter__()  # type: ignore[no-untyped-call]
    _open.__dict__.setdefault("ranges", []).append(opened)


def _end(_: Any) -> None:
    _open.ranges.pop().__exit__(None, None, None)


# The library keeps the addresses of these callbacks.
_RANGES = _capi.StepRanges(ctypes.sizeof(_capi.StepRanges), None, _capi.BEGIN_RANGE(_begin), _capi.END_RANGE(_end))


def _set(is_on: bool) -> None:
    try:
        lib = _capi.library()
    except _errors.LibraryError:  # without a library there are no steps
        return
    _capi.check(lib.luminal_set_step_ranges(ctypes.byref(_RANGES) if is_on else None))


@functools.cache
def watch() -> None:
    """From now on, the library reports steps while a profiler of PyTorch runs. The profiler calls these hooks when it
    starts and stops, so calls need not check for it."""
    start, stop = profiler._run_on_profiler_start, profiler._run_on_profiler_stop

    def started() -> None:
        start()  # type: ignore[no-untyped-call]
        _set(True)

    def stopped() -> None:
        stop()  # type: ignore[no-untyped-call]
        _set(False)

    profiler._run_on_profiler_start, profiler._run_on_profiler_stop = started, stopped
    if profiler._is_profiler_enabled:
        _set(True)
