# ===- _scheduler.py - Which sequences the next step takes ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Continuous batching: sequences join and leave between any two steps. Needs neither a model nor torch.

A step is a chunk of one prompt, or one token of each sequence that has processed its prompt. The two kinds alternate if
both are waiting, so that long prompts do not stall texts. Prompts are admitted in order of arrival, as soon as there are
pages for the whole prompt and room in the batch. If pages run out, the sequence admitted last is evicted: it releases its
pages and waits again, before sequences that have not been admitted, and its keys and values are recomputed from its
tokens. The oldest sequence always makes progress.
"""
from __future__ import annotations

import dataclasses
from collections import deque


@dataclasses.dataclass(eq=False)
class Sequence:
    """A sequence of tokens, and the pages with their keys and values."""

    tokens: list[int]
    limit: int
    """The maximum number of tokens."""
    pages: list[int] = dataclasses.field(default_factory=list)
    cached: int = 0
    """Number of tokens whose keys and values are stored in ``pages``."""


@dataclasses.dataclass
class Work:
    """The next step: tokens ``begin`` to ``end`` of one sequence, or the last token of each of several sequences."""

    sequences: list[Sequence]
    begin: int = 0
    end: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether the step produces a next token."""
        return not self.end or self.end == len(self.sequences[0].tokens)


class Scheduler:
    """Owns the pages. Sequences are added, and finished at their end or when they are no longer wanted."""

    def __init__(self, pages: int, page: int, batch: int, chunk: int) -> None:
        """``pages`` of ``page`` tokens each; at most ``batch`` sequences at a time; ``chunk`` prompt tokens per step."""
        self.page, self.batch, self.chunk = page, batch, chunk
        self.free = list(range(pages - 1, -1, -1))
        self.num_pages = pages
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        """Sequences in the order of admission; the last one may still be processing its prompt."""
        self.evictions = 0
        self._was_prompt = False

    def count_pages(self, tokens: int) -> int:
        return -(-tokens // self.page)

    def add(self, sequence: Sequence) -> None:
        """Adds a sequence. Raises ValueError if it would not fit even if it were alone."""
        if self.count_pages(sequence.limit) > self.num_pages:
            raise ValueError(f"{sequence.limit} tokens need {self.count_pages(sequence.limit)} pages of {self.num_pages}")
        self.waiting.append(sequence)

    def finish(self, sequence: Sequence) -> None:
        """Removes a sequence."""
        if sequence in self.waiting:
            self.waiting.remove(sequence)
        elif sequence in self.running:
            self._release(sequence)

    def next(self) -> Work | None:
        """The next step; None if there is nothing to do. The caller then updates ``cached`` and appends tokens."""
        filling = self._filling()
        ready = self.running[:-1] if filling else self.running
        if not (ready and self._was_prompt):
            if filling is None:
                filling = self._admit()
            if filling is not None:
                self._was_prompt = True
                begin = filling.cached
                return Work([filling], begin, min(begin + self.chunk, len(filling.tokens)))
        self._was_prompt = False
        for sequence in list(ready):
            # A sequence that was evicted is no longer in the list.
            while sequence in self.running and len(sequence.pages) < self.count_pages(len(sequence.tokens)):
                if self.free:
                    sequence.pages.append(self.free.pop())
                else:
                    self._evict()
        filling = self._filling()
        ready = self.running[:-1] if filling else list(self.running)
        return Work(ready) if ready else self.next() if self.waiting or filling else None

    def _filling(self) -> Sequence | None:
        """The sequence whose prompt is being processed, or None."""
        last = self.running[-1] if self.running else None
        return last if last is not None and last.cached < len(last.tokens) - 1 else None

    def _admit(self) -> Sequence | None:
        if not self.waiting or len(self.running) >= self.batch:
            return None
        first = self.waiting[0]
        # Reserve room for its next token too, otherwise it would be evicted first.
        count = self.count_pages(min(len(first.tokens) + 1, first.limit))
        if count > len(self.free):
            return None
        self.waiting.popleft()
        first.pages = [self.free.pop() for _ in range(count)]
        self.running.append(first)
        return first

    def _evict(self) -> None:
        youngest = self.running[-1]
        self._release(youngest)
        self.waiting.appendleft(youngest)
        self.evictions += 1

    def _release(self, sequence: Sequence) -> None:
        self.running.remove(sequence)
        self.free += reversed(sequence.pages)
        sequence.pages, sequence.cached = [], 0
