# ===- _repeats.py - Calls that come again --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls of one size have in common, made once."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _errors, _prepared, _stored
from ._artifact import Repeat, Shapes
from ._python import Repeated


class Repeats(dict[int, Repeat]):
    """Of one size, by the version of the weights; 0: they may change unseen."""

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
    """What the calls of one size have in common."""

    shapes: Shapes
    make: Callable[..., torch.Tensor]
    """Makes an output."""
    outputs: list[tuple[Any, ...]]
    """The arguments of ``make`` for each of them."""
    repeat: Repeat | None
    """Calls in which the library sees whether weights changed, or nothing depends on that."""
    repeats: Repeats
    """Other calls."""
    repeated: Repeated | None = None
    """Those of ``repeat``, with new outputs, as one function; None where ctypes calls it."""


def make_by(make: Callable[..., torch.Tensor], *given: Any) -> torch.Tensor:
    return make(*given)


def at_once(run: Callable[..., Sequence[Any]], sizes: Size | Callable[[list[Any], Any], Size], stored: _stored.Stored,
            watch: _prepared.Watch | None) -> Callable[[list[Any]], Sequence[Any]]:
    """Calls by ``Size.repeated``. ``run``: makes those that it did not, and raises its errors. ``sizes``: that of all calls, or
    what tells it by their arguments and the stored tensors."""
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
        held = stored.last  # other threads may drop it
        if watch is not None and not watch.known:
            return run(args)
        results = call(args, held.address)
        return results if type(results) is list else run(args, results)

    return of_one_size
