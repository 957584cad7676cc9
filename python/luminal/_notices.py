# ===- _notices.py - What would else happen in silence ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warns of frames that dynamo skips completely, which this backend never sees, and of PyTorch's modules that dynamo
cannot trace. With ``fullgraph=True``, dynamo raises instead."""
from __future__ import annotations

import contextlib
import logging
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import exc

from . import _errors

log = logging.getLogger("luminal")
# Exceptions for code that dynamo cannot trace; it raises another one for frames without anything to compile.
_FAILURES = (exc.Unsupported, exc.UserError)


def _is_ours(backend: Any, ours: Callable[..., Any]) -> bool:
    while backend is not ours:
        backend = getattr(backend, "_torchdynamo_orig_backend", None) or getattr(backend, "compiler_fn", None)
        if backend is None:
            return False
    return True


def _frame_of_compile() -> types.FrameType | None:
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and not (frame.f_code.co_name == "_compile" and "compiler_fn" in frame.f_locals):
        frame = frame.f_back
    return frame


def reason(text: str) -> str:
    """The explanation in a message of dynamo and its first hint, in one line."""
    parts = [re.sub(r"\s+", " ", found[1]).rstrip(". ") for pattern in (
        r"Explanation: (.*?)(?=\n\s*(?:Hint|Developer|\n)|$)", r"Hint: (.*?)(?=\n|$)") if (found := re.search(pattern, text, re.S))]
    return ". ".join(parts) or _errors.one_line(text)


def text_of(error: BaseException, code: types.CodeType | None = None) -> str:
    """Why dynamo cannot trace, and where."""
    place = _errors.user_place(error)
    if not place and code is not None and _errors.is_of_user(code.co_filename):
        place = f"{code.co_filename}:{code.co_firstlineno}"
    return reason(str(error)) + (f" ({place})" if place else "")


def break_text(found: Any) -> str:
    """Why and where dynamo ended a graph; in the user's code, if known."""
    frames = list(reversed(found.user_stack or ()))
    frame = next((frame for frame in frames if _errors.is_of_user(frame.filename)), frames[0] if frames else None)
    return reason(found.reason) + (f" ({frame.filename}:{frame.lineno})" if frame is not None else "")


def _subject(text: str) -> str:
    """The module or function that a message of dynamo is about, unless it is one of dynamo's own objects."""
    about = re.search(r"Developer debug context: (.{1,60})$", text, re.M)
    return about[1] if about is not None and "Variable" not in about[1] else "a module"


def _is_inside(found: Any) -> bool:
    """Whether a graph ends inside a module of PyTorch, so that no line of the user's code shows it."""
    return bool(found.user_stack) and not _errors.is_of_user(found.user_stack[-1].filename)


@contextlib.contextmanager
def heard() -> Iterator[list[str]]:
    """Collects the texts of this package's warnings without showing them, and drops all other warnings."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield texts
        finally:
            texts += dict.fromkeys(str(w.message) for w in caught if isinstance(w.message, _errors.LuminalWarning))


def watch(ours: Callable[..., Any]) -> None:
    """From now on, warns when dynamo skips a frame compiled by ``ours`` because it cannot trace it."""
    handler, known = torch._dynamo.callback_handler, 0

    # Without this, dynamo would compile this function too when it compiles a backward, while it holds a lock.
    @torch._dynamo.disable  # type: ignore[untyped-decorator]
    def tell(_: Any) -> None:
        nonlocal known
        error, frame = sys.exc_info()[1], _frame_of_compile()
        breaks = torch._dynamo.utils.graph_break_reasons
        if frame is not None and _is_ours(frame.f_locals["compiler_fn"], ours):
            for found in breaks[known if known < len(breaks) else 0:] if len(breaks) != known else ():
                log.info("PyTorch breaks a graph: %s", break_text(found))
                if found.graph_break and _is_inside(found) and not isinstance(error, _FAILURES):
                    warnings.warn(f"PyTorch runs {_subject(found.reason)} itself, between graphs that luminal compiles: "
                                  f"{break_text(found)}", _errors.LuminalWarning, stacklevel=2)
        known = len(breaks)
        if not isinstance(error, _FAILURES) or frame is None or frame.f_locals.get("one_graph"):
            return
        if _is_ours(frame.f_locals["compiler_fn"], ours):
            code = frame.f_locals.get("code")
            is_named = isinstance(code, types.CodeType) and _errors.is_of_user(code.co_filename)
            name = code.co_name if isinstance(code, types.CodeType) and is_named else _subject(str(error))
            warnings.warn(f"PyTorch runs {name} itself, and luminal compiles nothing of it: "
                          f"{text_of(error, code)}", _errors.LuminalWarning, stacklevel=2)

    forget = handler.clear

    def clear() -> None:  # called by torch._dynamo.reset
        nonlocal known
        forget()
        known = 0
        handler.register_end_callback(tell)

    handler.clear = clear  # type: ignore[method-assign]
    handler.register_end_callback(tell)
