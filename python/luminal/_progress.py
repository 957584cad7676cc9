# ===- _progress.py - A line that says that a compile goes on --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows the elapsed time of a compilation in a terminal or a notebook."""
from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

# Most compilations end before anyone could read a progress line.
_QUIET_SECONDS = 1.0
_STEP_SECONDS = 0.25
_WIDTH = 24


def is_watched(stream: TextIO | None) -> bool:
    if stream is None:
        return False
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return stream.isatty() or hasattr(shell, "kernel")


def line(seconds: float, budget: float) -> str:
    """The line to show; with a budget, a progress bar of the search, which the rest of the compilation may exceed."""
    if not budget:
        return f"luminal: compiling, {seconds:.0f} s"
    done = min(_WIDTH, int(_WIDTH * seconds / budget))
    return f"luminal: searching [{'#' * done}{'.' * (_WIDTH - done)}] {seconds:.0f} of {budget:.0f} s"


@contextlib.contextmanager
def shown(budget: float = 0.0) -> Iterator[None]:
    """Shows progress during the ``with`` block, and clears it afterwards. ``budget``: seconds of the search; 0: none."""
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
