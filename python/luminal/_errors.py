# ===- _errors.py - What can go wrong, as exceptions ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package. Under torch.compile, they are the ``.inner_exception`` of dynamo's exceptions."""
from __future__ import annotations

import dataclasses
import os
import re
import sysconfig
import traceback


class LuminalError(RuntimeError):
    """Base class of all errors of this package."""


class LuminalWarning(UserWarning):
    """Reports events that would otherwise go unnoticed: PyTorch runs a part of a model, or an option or a rule has no
    effect."""


class LibraryError(LuminalError):
    """The shared library is missing or has another version, or the version of torch is not supported."""


class ArgumentError(LuminalError, ValueError):
    """A function was called incorrectly, for example with an unknown option or a wrong number of inputs."""


class ArtifactError(LuminalError):
    """A file or bytes are not an artifact of this version or for this machine, or cannot be read."""


class CompileError(LuminalError):
    """A program cannot be compiled."""


@dataclasses.dataclass(frozen=True)
class UnsupportedOp:
    """An op of a program that is not supported, or not with these arguments."""

    op: str
    """The op and, if its arguments are the cause, the reason."""
    node: str
    """The name of the node in the graph."""
    file: str
    """The user's file; "" if unknown."""
    line: int
    module: str = ""
    """The path of the user's module that contains it; "" if unknown."""

    @property
    def is_costly(self) -> bool:
        """Whether the op is supported but slow for so many elements."""
        return ": its cost grows " in self.op

    def __str__(self) -> str:
        places = [text for text in (self.module, f"{self.file}:{self.line}" if self.file else "") if text]
        return f"{self.op} ({', '.join(places)})" if places else self.op


class UnsupportedOpError(CompileError):
    """Lists in ``ops`` every unsupported op of the program, with lines of the user's code."""

    def __init__(self, message: str, ops: list[UnsupportedOp]) -> None:
        super().__init__(message)
        self.ops = ops


class TrainingError(LuminalError):
    """A result that was compiled for inference was differentiated."""


class CallError(LuminalError):
    """A call failed, for example because of overlapping memory, a missing weight or an index out of range."""


class FailedAssertionError(CallError):
    """An assertion of the program about the values of its tensors is false. What the call wrote to inputs is not undone.
    """


class DTypeError(LuminalError, TypeError):
    """A tensor has an element type other than the program expects."""


class ShapeError(LuminalError, ValueError):
    """A tensor has a rank or extent other than the program expects, or an extent is out of range."""


class DeviceError(LuminalError, ValueError):
    """A tensor is on a device, or has a layout, that the program does not support."""


_ROOTS = tuple(os.path.join(folder, "") for folder in (os.path.dirname(os.path.abspath(__file__)), sysconfig.get_path("stdlib")))


def is_of_user(file: str) -> bool:
    """Whether the code of a frame belongs to neither this package, torch nor Python's standard library."""
    if file.startswith("<") or f"{os.sep}torch{os.sep}" in file:
        return False
    return "site-packages" in file or not file.startswith(_ROOTS)


def user_place(error: BaseException) -> str:
    """The innermost line of the user's code in the traceback of an exception, as ``file:line``; the callers of this
    package do not count. "" if there is none."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    inner = next((i for i, (file, _) in enumerate(frames) if not is_of_user(file)), len(frames))
    frames = frames[inner:] + [(frame.filename, frame.lineno) for frame in getattr(error, "real_stack", None) or ()]
    return next((f"{file}:{line}" for file, line in reversed(frames) if is_of_user(file)), "")


def sentence(error: BaseException) -> str:
    """The message of another package's exception in one line: its first paragraph without references to further reading.
    """
    return one_line(str(error)) or type(error).__name__


def one_line(text: str) -> str:
    """The first paragraph of a message as one line, without references to further reading."""
    text = text.strip().split("\n\n")[0]
    text = re.sub(r"\n\s*(Caused by:|Developer debug context:|Suggested fixes:|The error above occurred).*", "", text, flags=re.S)
    text = re.sub(r"\s*(For more information|For extended logs|If you're using).*", "", text)
    lines = [re.sub(r"^[-*] ", "", line.strip()) for line in text.splitlines() if line.strip()]
    return " ".join(line if line[-1:] in ".:;,!?" else line + ";" for line in lines).rstrip(";.! ")
