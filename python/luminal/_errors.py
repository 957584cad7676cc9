# ===- _errors.py - What can go wrong, as exceptions ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package. Under torch.compile they arrive as ``.inner_exception`` of dynamo's own."""
from __future__ import annotations

import dataclasses
import os
import re
import sysconfig
import traceback


class LuminalError(RuntimeError):
    """Any failure of this package."""


class LuminalWarning(UserWarning):
    """What would else happen in silence: PyTorch runs a part of a model itself, an option or a rule is of no use."""


class LibraryError(LuminalError):
    """The shared library is missing or of another version, or torch is of a version that is not supported."""


class ArgumentError(LuminalError, ValueError):
    """A function was called wrongly: an unknown option, a wrong number of inputs."""


class ArtifactError(LuminalError):
    """A file or bytes are no artifact of this version or for this machine, or cannot be read."""


class CompileError(LuminalError):
    """A program cannot be compiled."""


@dataclasses.dataclass(frozen=True)
class UnsupportedOp:
    """One op of a program that has no meaning in Luminal, or not with these arguments."""

    op: str
    """The op and, where its arguments are the cause, the reason."""
    node: str
    """The node of the graph."""
    file: str
    """The user's file; "" if it is not known."""
    line: int
    module: str = ""
    """The user's module that it is of; "" if that is not known."""

    @property
    def is_costly(self) -> bool:
        """Whether it is supported, and slow for so many elements."""
        return ": its cost grows " in self.op

    def __str__(self) -> str:
        places = [text for text in (self.module, f"{self.file}:{self.line}" if self.file else "") if text]
        return f"{self.op} ({', '.join(places)})" if places else self.op


class UnsupportedOpError(CompileError):
    """``ops`` lists every unsupported op of the program, each with the line of the user's code."""

    def __init__(self, message: str, ops: list[UnsupportedOp]) -> None:
        super().__init__(message)
        self.ops = ops


class TrainingError(LuminalError):
    """Somebody differentiates what was compiled for inference."""


class CallError(LuminalError):
    """A call failed: memory that overlaps, a missing weight, an index out of range."""


class FailedAssertionError(CallError):
    """An assertion of the program about what its tensors hold is false. What the call wrote to inputs stays."""


class DTypeError(LuminalError, TypeError):
    """A tensor has another element type than the program."""


class ShapeError(LuminalError, ValueError):
    """A tensor has another rank or extent than the program, or an extent is out of range."""


class DeviceError(LuminalError, ValueError):
    """A tensor is on a device, or of a layout, that the program does not run on."""


_ROOTS = tuple(os.path.join(folder, "") for folder in (os.path.dirname(os.path.abspath(__file__)), sysconfig.get_path("stdlib")))


def is_of_user(file: str) -> bool:
    """Whether a frame's code is neither ours, nor torch's, nor Python's own."""
    if file.startswith("<") or f"{os.sep}torch{os.sep}" in file:
        return False
    return "site-packages" in file or not file.startswith(_ROOTS)


def user_place(error: BaseException) -> str:
    """The innermost line of the user's code that an exception passed, as ``file:line``; what called this package is none.
    "" where there is none."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    inner = next((i for i, (file, _) in enumerate(frames) if not is_of_user(file)), len(frames))
    frames = frames[inner:] + [(frame.filename, frame.lineno) for frame in getattr(error, "real_stack", None) or ()]
    return next((f"{file}:{line}" for file, line in reversed(frames) if is_of_user(file)), "")


def sentence(error: BaseException) -> str:
    """What an exception of another package says, as one line: its first paragraph without advice where to read on."""
    return one_line(str(error)) or type(error).__name__


def one_line(text: str) -> str:
    """The first paragraph of a message, without advice where to read on."""
    text = text.strip().split("\n\n")[0]
    text = re.sub(r"\n\s*(Caused by:|Developer debug context:|Suggested fixes:|The error above occurred).*", "", text, flags=re.S)
    text = re.sub(r"\s*(For more information|For extended logs|If you're using).*", "", text)
    lines = [re.sub(r"^[-*] ", "", line.strip()) for line in text.splitlines() if line.strip()]
    return " ".join(line if line[-1:] in ".:;,!?" else line + ";" for line in lines).rstrip(";.! ")
