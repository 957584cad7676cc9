# ===- test_scheduler.py - Continuous batching, without a model ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random

import pytest
from luminal.llm._scheduler import Scheduler, Sequence


def run(scheduler, arrivals, steps=100_000):
    """Runs until nothing is left. ``arrivals``: (step, sequence). Returns the order of first tokens, of ends, and all
    steps; checks invariants after each step."""
    first, ended, log = [], [], []
    for step in range(steps):
        for at, sequence in arrivals:
            if at == step:
                scheduler.add(sequence)
        work = scheduler.next()
        if work is None:
            if all(at <= step for at, _ in arrivals):
                return first, ended, log
            continue
        log.append(work)
        assert 1 <= len(work.sequences) <= scheduler.batch
        used = [page for s in scheduler.running for page in s.pages]
        assert sorted(used + scheduler.free) == list(range(scheduler.num_pages)), "a page has one owner"
        for sequence in work.sequences:
            end = work.end or len(sequence.tokens)
            assert sequence.cached == (work.begin if work.end else len(sequence.tokens) - 1)
            assert end - sequence.cached <= scheduler.chunk and len(sequence.pages) * scheduler.page >= end
            sequence.cached = end
            if work.is_complete:
                if not hasattr(sequence, "first"):
                    sequence.first = step
                    first.append(sequence)
                sequence.tokens.append(0)
                if len(sequence.tokens) == sequence.limit:
                    scheduler.finish(sequence)
                    ended.append(sequence)
    raise AssertionError("it does not end")


def test_prompts_go_in_chunks_and_take_turns_with_texts():
    scheduler = Scheduler(pages=100, page=4, batch=4, chunk=8)
    short, long = Sequence([1] * 3, 30), Sequence([1] * 40, 44)
    first, _, log = run(scheduler, [(0, short), (2, long)])
    assert first == [short, long]
    kinds = ["prompt" if work.end else "text" for work in log]
    assert kinds[:2] == ["prompt", "text"]
    # Five chunks, with a token of the short text between any two.
    assert kinds[2:12] == ["prompt", "text"] * 5
    assert [(w.begin, w.end) for w in log if w.end and w.sequences == [long]] == [(0, 8), (8, 16), (16, 24), (24, 32), (32, 40)]


def test_first_come_first_served():
    scheduler = Scheduler(pages=12, page=4, batch=8, chunk=64)
    big, small = Sequence([1] * 40, 44), [Sequence([1] * 4, 12) for _ in range(6)]
    first, _, _ = run(scheduler, [(0, small[0]), (1, big), *((2, s) for s in small[1:])])
    # Small sequences do not overtake the big one, which has to wait for pages.
    assert first == [small[0], big, *small[1:]]


def test_the_youngest_gives_its_pages():
    scheduler = Scheduler(pages=6, page=4, batch=4, chunk=64)
    old, young = Sequence([1] * 8, 20), Sequence([1] * 8, 16)
    first, ended, log = run(scheduler, [(0, old), (0, young)])
    assert scheduler.evictions >= 1 and ended == [old, young] and len(young.tokens) == 16
    assert any(w.sequences == [young] and w.begin == 0 and w.end > 8 for w in log), "computed again, with its own tokens"


def test_nobody_starves():
    """A waiting text is admitted although others arrive at each step."""
    scheduler = Scheduler(pages=16, page=4, batch=2, chunk=16)
    waits = Sequence([1] * 30, 40)
    arrivals = [(i, Sequence([1] * 4, 12)) for i in range(200)]
    run(scheduler, [(5, waits), *arrivals])
    assert waits.first < 60


def test_what_does_not_fit_is_refused():
    scheduler = Scheduler(pages=4, page=4, batch=2, chunk=16)
    with pytest.raises(ValueError, match="17 tokens need 5 pages of 4"):
        scheduler.add(Sequence([1], 17))
    run(scheduler, [(0, Sequence([1], 16))])


def test_finished_before_the_end():
    scheduler = Scheduler(pages=8, page=4, batch=2, chunk=4)
    running, waiting = Sequence([1] * 8, 20), Sequence([1] * 30, 32)
    scheduler.add(running)
    scheduler.add(waiting)
    scheduler.next()
    for sequence in (waiting, running, running):
        scheduler.finish(sequence)
    assert scheduler.next() is None and len(scheduler.free) == 8


@pytest.mark.parametrize("seed", range(30))
def test_any_arrivals_end(seed):
    draw = random.Random(seed)
    page, pages = draw.choice([1, 3, 16]), draw.randint(4, 20)
    scheduler = Scheduler(pages, page, draw.randint(1, 6), draw.choice([1, 7, 64]))
    most = page * pages
    sequences = [Sequence([1] * draw.randint(1, most - 1), most) for _ in range(25)]
    for sequence in sequences:
        sequence.limit = draw.randint(len(sequence.tokens) + 1, most)
    _, ended, _ = run(scheduler, [(draw.randint(0, 60), s) for s in sequences])
    assert len(ended) == 25 and all(len(s.tokens) == s.limit for s in sequences)
