# ===- timing.py - Forms of one computation timed in turn -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fastest call of several forms, which take turns, so that what disturbs the machine disturbs all of them; and calls that
a GPU does one after the other."""
import statistics
import time


def fastest(call, seconds):
    """The least time of a call, in seconds, of as many as fit into that time."""
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        started = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - started)
        if now > end:
            return best


def fastest_by_round(calls, rounds, seconds, settle=lambda: None):
    """For each form by name the fastest call of each round, in seconds; `seconds` is for all rounds of a form. `settle` is
    called before each round of a form, to wait for what the one before has started."""
    minima = {name: [] for name in calls}
    for call in calls.values():
        fastest(call, 0.05)
    for turn in range(rounds):
        # Each round begins with another form, so that no form always follows the same one.
        order = list(calls)[turn % len(calls):] + list(calls)[:turn % len(calls)]
        for name in order:
            settle()
            minima[name].append(fastest(calls[name], seconds / rounds))
    return minima


def of_captured(call, calls=10, replays=20, rounds=5):
    """Milliseconds of a call, of so many that are captured into one CUDA graph: the median of rounds of its replays."""
    import torch  # the rest needs none

    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(rounds + 1):
        begin.record()
        for _ in range(replays):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / replays / calls)
    return statistics.median(times[1:])
