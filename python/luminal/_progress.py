# ===- _progress.py - A line that says that a compile goes on --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows how long a compile has taken, where somebody looks: in a terminal, or in a notebook."""
from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

# Most compiles end before a line would be read.
_QUIET_SECONDS = 1.0
_STEP_SECONDS = 0.25
_WIDTH = 24


def is_watched(stream: TextIO | None) -> bool:
    if stream is None:
        return False
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return stream.isatty() or hasattr(shell, "kernel")


def line(seconds: float, budget: float) -> str:
    """With a budget for the search a bar of it, which the rest of a compile may exceed."""
    if not budget:
        return f"luminal: compiling, {seconds:.0f} s"
    done = min(_WIDTH, int(_WIDTH * seconds / budget))
    return f"luminal: searching [{'#' * done}{'.' * (_WIDTH - done)}] {seconds:.0f} of {budget:.0f} s"


@contextlib.contextmanager
def shown(budget: float = 0.0) -> Iterator[None]:
    """Shows progress while its body runs, and leaves nothing behind. ``budget``: seconds of the search, 0 without one."""
    stream = sys.stderr
    if not is_watched(stream):
        yield
        return
    ended, begin, widest = threading.Event(), time.perf_counter(), 0

    def show() -> None:
        nonlocal widest
        wait = _QUIET_SECONDS
        while not ended.wait(wait):
            text = line(time.perf_counter() - begin, budget)
            widest = max(widest, len(text))
            stream.write("\r" + text)
            stream.flush()
            wait = _STEP_SECONDS

    thread = threading.Thread(target=show, name="luminal-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if widest:
            stream.write("\r" + " " * widest + "\r")
            stream.flush()
