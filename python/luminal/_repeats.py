# ===- _repeats.py - Calls that come again --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls of one size have in common, made once."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from ._artifact import Repeat, Shapes


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


def make_by(make: Callable[..., torch.Tensor], *given: Any) -> torch.Tensor:
    return make(*given)
