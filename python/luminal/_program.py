# ===- _program.py - A program, and what its inputs and outputs are to a caller ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ``_graph`` makes of a graph and ``_runner`` calls."""
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
    """An input of the program is this argument of the graph."""

    position: int
    strided: bool
    """Whether its memory was not row-major when the graph was traced."""
    is_guarded: bool = True
    """Whether all calls give a tensor of these strides."""
    layout: _strides.Layout | None = None
    """Where the program is given its storage."""
    is_counted: bool = False
    """Whether AOTAutograd counts the writes to it (``Tensor._version``)."""


@dataclasses.dataclass(frozen=True)
class Constant:
    """An input of the program is this tensor."""

    tensor: torch.Tensor


@dataclasses.dataclass(frozen=True)
class View:
    """A part of an output of the program, in memory: sizes, strides and offset are sympy expressions."""

    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    offset: Any


@dataclasses.dataclass(frozen=True)
class InputView:
    """A part of an argument of the graph, in memory."""

    position: int
    """Of the argument."""
    ops: tuple[tuple[Any, tuple[Any, ...], dict[str, Any]], ...]
    """Called in turn with the tensor, these arguments after it; sizes are sympy expressions."""


@dataclasses.dataclass
class Output:
    """An output of the graph: output ``index`` of the program, else a view of an argument, else a number (a sympy
    expression of sizes), else any object."""

    index: int | None = None
    input_view: InputView | None = None
    size: Any = None
    type: Callable[[Any], Any] = int
    """Of the number."""
    value: Any = None
    permutation: tuple[int, ...] | None = None
    """Of the dims of the program's output: the graph's has the strides that this gives."""
    strides: tuple[Any, ...] | None = None
    """Of a copy of the program's output, which is the graph's; sympy expressions."""
    view: View | None = None
    """Of the permuted output: the graph's is that, since another output shares its memory."""


@dataclasses.dataclass
class Program:
    """A graph as an archive, and what its inputs and outputs are to the graph's caller."""

    archive: bytes
    inputs: dict[str, Argument | Constant]
    integers: dict[str, Any]
    """What each integer of the program is: the position of an argument, or a sympy expression of sizes."""
    outputs: list[Output]
    symbols: dict[Any, tuple[int, int | None]]
    """Where each symbol's value is: an argument and a dim, or None for an argument that is an int."""
    num_arguments: int
    """Of the graph."""
    place: _devices.Place
    """Where it runs."""
    devices: list[torch.device]
    """Of the program's outputs."""
    names: dict[str, Any]
    """What symbols stand for that the graph does not have."""
    modules: dict[str, str]
    """The module that each node is of."""

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Says in errors of the compiler what symbols stand for."""
        try:
            yield
        except _errors.CompileError as error:
            if told := [f"{name} is {expr}" for name, expr in self.names.items() if re.search(rf"\b{name}\b", str(error))]:
                error.args = (f"{error}; where {', '.join(told)}", *error.args[1:])
            raise
