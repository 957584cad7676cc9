# ===- _integers.py - Ints that a call takes beside its tensors ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ints that a call takes in addition to its tensors: their names, checks, and the shapes of a call with them."""
from __future__ import annotations

from typing import Any

from . import _errors
from ._artifact import Shapes
from .devices import Executable


def integers_of(artifact: Executable) -> list[str]:
    """Names of the ints that a call takes in addition to its tensors."""
    return getattr(artifact, "integers", [])


def shapes_of(artifact: Executable, extents: tuple[int, ...], integers: tuple[int, ...]) -> Shapes:
    if not integers:
        return artifact.shapes(extents)
    return artifact.shapes(extents, integers)  # type: ignore[call-arg]


def check_integer(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _errors.ArgumentError(f"'{name}' is a {type(value).__name__}: expected an int")
    return value
