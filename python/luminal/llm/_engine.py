# ===- _engine.py - Texts that are written together --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the steps of a model for all texts that are being written. There is no thread: whoever waits for a token of its text
runs the next step, which is of all texts."""
from __future__ import annotations

import dataclasses
import threading
import time
from collections import deque
from typing import Any

import torch

from .. import _errors
from ._pages import Steps
from ._sampling import Sampling
from ._scheduler import Scheduler, Sequence, Work


@dataclasses.dataclass(eq=False)
class Text(Sequence):
    """A sequence, how its next tokens are drawn, and those that nobody has taken."""

    sampling: Sampling = dataclasses.field(default_factory=Sampling)
    generator: torch.Generator | None = None
    written: deque[tuple[int, float]] = dataclasses.field(default_factory=deque)
    """Tokens, and when each was there."""
    is_done: bool = False


class Engine:
    """One model, its pages, and the texts."""

    def __init__(self, steps: Steps, scheduler: Scheduler, ends: frozenset[int], device: torch.device) -> None:
        self.steps, self.scheduler, self.ends, self.device = steps, scheduler, ends, device
        self._lock = threading.Lock()

    def add(self, text: Text) -> None:
        """Raises ArgumentError for a text that the pages cannot hold."""
        if text.generator is None:
            text.generator = text.sampling.generator(self.device)
        try:
            with self._lock:
                self.scheduler.add(text)
        except ValueError as error:
            raise _errors.ArgumentError(str(error)) from None

    def drop(self, text: Text) -> None:
        """Nobody wants more of it."""
        with self._lock:
            text.is_done = True
            self.scheduler.finish(text)

    def take(self, text: Text) -> tuple[int, float] | None:
        """The next token of a text, and when it was there; None at its end. Runs steps until there is one."""
        while not text.written and not text.is_done:
            with self._lock:
                # Meanwhile another thread may have run it.
                if not text.written and not text.is_done and (work := self.scheduler.next()) is not None:
                    self._run(work)
        return text.written.popleft() if text.written else None

    def _run(self, work: Work) -> None:
        texts: list[Any] = work.sequences
        if work.end:
            ids, begins = [texts[0].tokens[work.begin:work.end]], [work.begin]
        else:
            ids, begins = [t.tokens[-1:] for t in texts], [len(t.tokens) - 1 for t in texts]
        logits, likeliest = self.steps.run(ids, begins, [t.pages for t in texts])
        for text, begin, row in zip(texts, begins, ids):
            text.cached = begin + len(row)
        if not work.is_complete:
            return
        tokens = likeliest.tolist() if all(t.sampling.is_likeliest for t in texts) else [
            int(likeliest[i] if t.sampling.is_likeliest else t.sampling.draw(logits[i], t.tokens, t.generator)) for i, t in enumerate(texts)]
        now = time.perf_counter()
        for text, token in zip(texts, tokens):
            text.tokens.append(token)
            text.written.append((token, now))
            if token in self.ends or len(text.tokens) == text.limit:
                text.is_done = True
                self.scheduler.finish(text)
