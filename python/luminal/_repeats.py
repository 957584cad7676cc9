# ===- _repeats.py - Calls that come again --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data that calls of one size share, created once."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _errors, _prepared, _stored
from ._artifact import Repeat, Shapes
from ._python import Repeated


class Repeats(dict[int, Repeat]):
    """The calls of one size, by the version of the weights; 0: they may change without being detected."""

    def __init__(self, make: Callable[[int], Repeat]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: int) -> Repeat:
        if len(self) >= 64:
            self.clear()
        self[key] = made = self._make(key)
        return made


@dataclasses.dataclass(slots=True)
class Size:
    """Data that the calls of one size share."""

    shapes: Shapes
    make: Callable[..., torch.Tensor]
    """Creates an output."""
    outputs: list[tuple[Any, ...]]
    """The arguments of ``make`` for each output."""
    repeat: Repeat | None
    """Calls in which the library checks whether weights changed, or for which that is irrelevant."""
    repeats: Repeats
    """All other calls, by the version of the weights."""
    repeated: Repeated | None = None
    """Makes the calls of ``repeat`` and creates outputs, as one function; None if ctypes makes the calls."""


def make_by(make: Callable[..., torch.Tensor], *given: Any) -> torch.Tensor:
    return make(*given)


def at_once(run: Callable[..., Sequence[Any]], sizes: Size | Callable[[list[Any], Any], Size], stored: _stored.Stored,
            watch: _prepared.Watch | None) -> Callable[[list[Any]], Sequence[Any]]:
    """Makes calls with ``Size.repeated``. ``run``: makes the remaining calls, and raises errors. ``sizes``: the size of
    all calls, or a function that determines it from the arguments and the stored tensors."""
    def of_any_size(args: list[Any]) -> Sequence[Any]:
        held = stored.last
        if watch is not None and not watch.known:
            return run(args)
        try:
            size = sizes(args, held)  # type: ignore[operator]
        except (_errors.ShapeError, _errors.DTypeError, _errors.ArgumentError):
            return run(args)
        results = size.repeated.call(args, held.address)
        return results if type(results) is list else run(args, results)

    if not isinstance(sizes, Size):
        return of_any_size
    assert sizes.repeated is not None
    call = sizes.repeated.call

    def of_one_size(args: list[Any]) -> Sequence[Any]:
        held = stored.last  # other threads may replace it
        if watch is not None and not watch.known:
            return run(args)
        results = call(args, held.address)
        return results if type(results) is list else run(args, results)

    return of_one_size
