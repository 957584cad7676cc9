# ===- _engine.py - Texts that are written together --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the steps of a model for all texts that are being generated. There is no background thread: the caller that waits for a
token of its text runs the next step, which serves all texts.

On a GPU, the tokens of a step stay on the device for the next step, which is started before the host reads them, so the
host waits for a step only while the next one runs. A text that has ended therefore takes part in one more step, whose
token for it is discarded.
"""
from __future__ import annotations

import dataclasses
import random
import threading
import time
from collections import deque
from typing import Any, NamedTuple

import torch

from .. import _errors
from ._pages import Steps
from ._sampling import Sampling, draw
from ._scheduler import Scheduler, Sequence, Work
from ._transfers import upload

_UNREAD = -1
"""Stands for a token that is only on the device."""


@dataclasses.dataclass(eq=False)
class Text(Sequence):
    """A sequence with its sampling, and with the tokens that have not been taken yet."""

    sampling: Sampling = dataclasses.field(default_factory=Sampling)
    generator: random.Random | None = None
    written: deque[tuple[int, float]] = dataclasses.field(default_factory=deque)
    """Tokens, each with the time at which it was available."""
    is_done: bool = False
    slot: int | None = None
    """The row of its last token, and of the set of its tokens, on the device."""
    is_seen: bool = False
    """Whether the set of its tokens on the device is up to date."""


class _Written(NamedTuple):
    """The tokens of a step that the host has not read."""

    texts: list[Text]
    places: list[int]
    """The index of each token in its text."""
    tokens: torch.Tensor
    event: Any
    """Event after which the tokens are available; None if they are."""


class Engine:
    """One model, its pages, and the texts that are being generated."""

    def __init__(self, steps: Steps, scheduler: Scheduler, ends: frozenset[int]) -> None:
        self.steps, self.scheduler, self.ends, self.device = steps, scheduler, ends, steps.device
        self.lag = int(self.device.type == "cuda")
        """Number of steps that may be unread when the next one is started."""
        self._unread: deque[_Written] = deque()
        self._slots: list[Text | None] = [None] * scheduler.batch
        self._last = torch.zeros(scheduler.batch, dtype=torch.int64, device=self.device)
        self._seen: torch.Tensor | None = None  # [slots, vocabulary]
        self._lock = threading.Lock()

    def add(self, text: Text) -> None:
        """Adds a text. Raises ArgumentError if the pages cannot hold it."""
        if text.generator is None:
            text.generator = text.sampling.generator()
        try:
            with self._lock:
                self.scheduler.add(text)
        except ValueError as error:
            raise _errors.ArgumentError(str(error)) from None

    def drop(self, text: Text) -> None:
        """Stops generating a text."""
        with self._lock:
            self._end(text)

    def take(self, text: Text) -> tuple[int, float] | None:
        """The next token of a text with its time; None at the end of the text. Runs steps until there is one."""
        while not text.written and not text.is_done:
            with self._lock:
                # Another thread may have run the step in the meantime.
                if not text.written and not text.is_done:
                    work = self.scheduler.next()
                    if work is not None:
                        self._start(work)
                    self._read(self.lag if work is not None else 0)
        return text.written.popleft() if text.written else None

    def _start(self, work: Work) -> None:
        texts: list[Any] = work.sequences
        if work.end and _UNREAD in texts[0].tokens[-self.lag - 1:]:
            # The sequence was evicted in the middle of a text, so its tokens must be read first.
            self._read(0)
            if texts[0].is_done:
                return
        ids, begins = ([texts[0].tokens[work.begin:work.end]], [work.begin]) if work.end else (
            [t.tokens[-1:] for t in texts], [len(t.tokens) - 1 for t in texts])
        inputs = [ids, *self.steps.rows(begins, len(ids[0]), [t.pages for t in texts])]
        if work.is_complete:
            inputs.append([self._slot_of(text) for text in texts])
        tokens, positions, table, *of_texts = upload(inputs, self.device)
        if any(row[-1] == _UNREAD for row in ids):
            tokens = torch.where(tokens < 0, self._last[of_texts[0]][:, None], tokens)
        logits, likeliest = self.steps.run(tokens, positions, table)
        for text, begin, row in zip(texts, begins, ids):
            text.cached = begin + len(row)
        if work.is_complete:
            self._write(texts, self._choose(texts, logits, likeliest, of_texts[0]), of_texts[0])

    def _slot_of(self, text: Text) -> int:
        if text.slot is None or self._slots[text.slot] is not text:
            running = self.scheduler.running
            text.slot = next(i for i, owner in enumerate(self._slots) if owner not in running)
            self._slots[text.slot] = text
            text.is_seen = False
        return text.slot

    def _choose(self, texts: list[Text], logits: torch.Tensor, likeliest: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        if all(text.sampling.is_likeliest for text in texts):
            return likeliest
        seen = None
        if any(text.sampling.repetition_penalty != 1 for text in texts):
            seen = self._find_seen(texts, logits.shape[-1])
        numbers = [text.generator.random() if text.sampling.temperature and text.generator else 0.0 for text in texts]
        tokens = draw(logits, [text.sampling for text in texts], numbers, seen[slots] if seen is not None else None)
        if seen is not None:
            seen[slots, tokens] = True
        return tokens

    def _find_seen(self, texts: list[Text], vocabulary: int) -> torch.Tensor:
        """The set of tokens that each slot's text contains."""
        if self._seen is None:
            self._seen = torch.zeros((len(self._slots), vocabulary), dtype=torch.bool, device=self.device)
        for text in texts:
            if text.sampling.repetition_penalty != 1 and not text.is_seen:
                tokens, = upload([text.tokens], self.device)
                self._seen[text.slot] = False
                self._seen[text.slot, tokens] = True
                text.is_seen = True
        return self._seen

    def _write(self, texts: list[Text], tokens: torch.Tensor, slots: torch.Tensor) -> None:
        event = None
        if self.lag:
            self._last[slots] = tokens
            tokens = tokens.to("cpu", non_blocking=True)
            if self.device.type == "cuda":
                event = torch.cuda.Event()  # type: ignore[no-untyped-call]
                event.record()
        self._unread.append(_Written(texts, [len(text.tokens) for text in texts], tokens, event))
        for text in texts:
            text.tokens.append(_UNREAD)
            if len(text.tokens) == text.limit:
                self.scheduler.finish(text)  # it needs no further step

    def _read(self, left: int) -> None:
        """Reads the tokens of all steps except for the last ``left``."""
        while len(self._unread) > left:
            written = self._unread.popleft()
            if written.event is not None:
                written.event.synchronize()
            now = time.perf_counter()
            for text, place, token in zip(written.texts, written.places, written.tokens.tolist()):
                if text.is_done:
                    continue
                text.tokens[place] = token
                text.written.append((token, now))
                if token in self.ends or place + 1 == text.limit:
                    self._end(text)

    def _end(self, text: Text) -> None:
        text.is_done = True
        self.scheduler.finish(text)
