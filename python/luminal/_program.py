# ===- _program.py - A program, and what its inputs and outputs are to a caller ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program, and the meaning of its inputs and outputs for the caller. ``_graph`` creates it, ``_runner`` calls it."""
from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch

from . import _devices, _errors, _strides


@dataclasses.dataclass(frozen=True)
class Argument:
    """An input of the program that is an argument of the graph."""

    position: int
    strided: bool
    """Whether it was not row-major when the graph was traced."""
    is_guarded: bool = True
    """Whether every call passes a tensor with these strides."""
    layout: _strides.Layout | None = None
    """The layout of the argument, if the program takes its storage instead."""
    is_counted: bool = False
    """Whether AOTAutograd counts the writes to it (``Tensor._version``)."""


@dataclasses.dataclass(frozen=True)
class Constant:
    """An input of the program that is a fixed tensor."""

    tensor: torch.Tensor


@dataclasses.dataclass(frozen=True)
class View:
    """A view of an output of the program. Sizes, strides and offset are sympy expressions."""

    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    offset: Any


@dataclasses.dataclass(frozen=True)
class InputView:
    """A view of an argument of the graph."""

    position: int
    """The number of the argument."""
    ops: tuple[tuple[Any, tuple[Any, ...], dict[str, Any]], ...]
    """Ops to apply in turn to the tensor, each with its other arguments; sizes are sympy expressions."""


@dataclasses.dataclass
class Output:
    """An output of the graph: output ``index`` of the program, otherwise a view of an argument, otherwise a number (a
    sympy expression of sizes), otherwise any object."""

    index: int | None = None
    input_view: InputView | None = None
    size: Any = None
    type: Callable[[Any], Any] = int
    """The type of the number."""
    value: Any = None
    permutation: tuple[int, ...] | None = None
    """A permutation of the dims of the program's output that gives the graph's output its strides."""
    strides: tuple[Any, ...] | None = None
    """Strides, as sympy expressions, of a copy of the program's output that becomes the graph's output."""
    view: View | None = None
    """A view of the permuted output that becomes the graph's output, because another output shares its memory."""


@dataclasses.dataclass
class Program:
    """A graph as an archive, and the meaning of its inputs and outputs for the caller of the graph."""

    archive: bytes
    inputs: dict[str, Argument | Constant]
    integers: dict[str, Any]
    """For each integer of the program, the number of an argument or a sympy expression of sizes."""
    outputs: list[Output]
    symbols: dict[Any, tuple[int, int | None]]
    """For each symbol, the argument and dim that determine it; the dim is None for an argument that is an int."""
    num_arguments: int
    """Number of arguments of the graph."""
    place: _devices.Place
    """The place where the program runs."""
    devices: list[torch.device]
    """The devices of the program's outputs."""
    names: dict[str, Any]
    """The expressions for which the program has symbols that the graph lacks."""
    modules: dict[str, str]
    """The module of each node."""

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Adds the expressions that symbols stand for to errors of the compiler."""
        try:
            yield
        except _errors.CompileError as error:
            if told := [f"{name} is {expr}" for name, expr in self.names.items() if re.search(rf"\b{name}\b", str(error))]:
                error.args = (f"{error}; where {', '.join(told)}", *error.args[1:])
            raise
