# ===- _sampling.py - The next token ------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the next token is drawn from logits, on the device that has them."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import torch

from .. import _errors


@dataclasses.dataclass(frozen=True)
class Sampling:
    """As in transformers: what is left by ``top_k``, then by ``top_p``, at a ``temperature``."""

    temperature: float = 0.0
    """0: the likeliest token."""
    top_k: int = 0
    """So many likeliest tokens are left; 0: all."""
    top_p: float = 1.0
    """The fewest likeliest tokens are left whose probabilities sum up to this."""
    repetition_penalty: float = 1.0
    """Logits of tokens that the sequence has are divided by this where positive, else multiplied."""
    seed: int | None = None
    """The same seed draws the same tokens; None: another text each time."""

    def __post_init__(self) -> None:
        if not (self.temperature >= 0 and math.isfinite(self.temperature)):
            raise _errors.ArgumentError(f"temperature is {self.temperature!r}: expected 0 or more")
        if self.top_k < 0:
            raise _errors.ArgumentError(f"top_k is {self.top_k!r}: expected 0 or more")
        if not 0 < self.top_p <= 1:
            raise _errors.ArgumentError(f"top_p is {self.top_p!r}: expected more than 0, at most 1")
        if not (self.repetition_penalty > 0 and math.isfinite(self.repetition_penalty)):
            raise _errors.ArgumentError(f"repetition_penalty is {self.repetition_penalty!r}: expected more than 0")

    @property
    def is_likeliest(self) -> bool:
        """Whether nothing is drawn, and logits are taken as they are."""
        return self.temperature == 0 and self.repetition_penalty == 1

    def generator(self, device: torch.device) -> torch.Generator:
        made = torch.Generator(device)
        if self.seed is None:
            made.seed()
        else:
            made.manual_seed(self.seed)
        return made

    def draw(self, logits: torch.Tensor, seen: Sequence[int], generator: torch.Generator) -> torch.Tensor:
        """The next token [] after ``logits`` [vocabulary]. ``seen``: the tokens of the sequence."""
        if self.repetition_penalty != 1:
            at = torch.tensor(seen, device=logits.device)
            old = logits[at]
            penalised = torch.where(old > 0, old / self.repetition_penalty, old * self.repetition_penalty)
            logits = logits.index_put((at,), penalised)
        if self.temperature == 0:
            return logits.argmax(-1)
        logits = logits / self.temperature
        values, tokens = logits.sort(descending=True, stable=True)
        if self.top_k:
            values, tokens = values[:self.top_k], tokens[:self.top_k]
        probabilities = values.softmax(-1)
        if self.top_p < 1:
            # A token is left where those before it do not reach the sum.
            probabilities = probabilities.masked_fill(probabilities.cumsum(-1) - probabilities >= self.top_p, 0.0)
        return tokens[torch.multinomial(probabilities, 1, generator=generator)[0]]
