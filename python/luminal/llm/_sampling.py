# ===- _sampling.py - The next token ------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the next token from logits, on the device where they are."""
from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence

import torch

from .. import _errors
from ._transfers import upload

_PARTS = 1 << 23


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Sampling as in transformers: ``top_k``, then ``top_p``, at a ``temperature``."""

    temperature: float = 0.0
    """0: always take the most likely token."""
    top_k: int = 0
    """Number of most likely tokens to draw from; 0: all."""
    top_p: float = 1.0
    """Draw from the smallest set of most likely tokens whose probabilities sum up to at least this."""
    repetition_penalty: float = 1.0
    """Logits of tokens that the sequence contains are divided by this if positive, otherwise multiplied."""
    seed: int | None = None
    """Equal seeds draw equal tokens; None: a different text each time."""

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
        """Whether the result is always the most likely token of the unchanged logits."""
        return self.temperature == 0 and self.repetition_penalty == 1

    def generator(self) -> random.Random:
        """The generator of a text's random numbers for ``draw``."""
        return random.Random(self.seed)


def draw(logits: torch.Tensor, samplings: Sequence[Sampling], numbers: Sequence[float], seen: torch.Tensor | None) -> torch.Tensor:
    """The next tokens [batch] for ``logits`` [batch, vocabulary], without waiting for the device. ``numbers``: a random
    number in [0, 1) for each token. ``seen`` [batch, vocabulary]: the tokens that each sequence contains, if repetition
    is penalised."""
    # Round the numbers down, so that the product with the sum of probabilities stays below the sum.
    rows = [[s.temperature or 1.0, float(s.temperature == 0), s.top_k or logits.shape[-1], s.top_p, s.repetition_penalty,
             math.floor(number * _PARTS) / _PARTS] for s, number in zip(samplings, numbers)]
    columns, = upload([rows], logits.device, torch.float32)
    temperature, is_likeliest, top_k, top_p, penalty, number = columns.split(1, 1)  # type: ignore[no-untyped-call]
    if seen is not None:
        logits = torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)
    likeliest = logits.argmax(-1, keepdim=True)
    if all(s.temperature == 0 for s in samplings):
        return likeliest[:, 0]
    values = logits / temperature
    if any(s.top_k or s.top_p < 1 for s in samplings):
        ordered, tokens = values.sort(descending=True, stable=True)
        is_out = torch.arange(ordered.shape[-1], device=ordered.device) >= top_k
        probabilities = ordered.masked_fill(is_out, float("-inf")).softmax(-1)
        # A token is kept if the tokens before it do not reach top_p.
        is_out = is_out | ((probabilities.cumsum(-1) - probabilities >= top_p) & (top_p < 1))
        values = values.masked_fill(torch.zeros_like(is_out).scatter(-1, tokens, is_out), float("-inf"))
    # Draw in the order of token ids, so that a text's token does not depend on the other rows.
    probabilities = values.softmax(-1)
    sums = probabilities.cumsum(-1)
    drawn = (sums <= number * sums[:, -1:]).sum(-1, keepdim=True).clamp(max=sums.shape[-1] - 1)
    # Because of rounded sums, the drawn token may be an excluded one.
    is_drawn = (is_likeliest == 0) & (probabilities.gather(-1, drawn) > 0)
    return torch.where(is_drawn, drawn, likeliest)[:, 0]
