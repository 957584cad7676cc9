# ===- timing.py - Forms of one computation timed in turn -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fastest call of several forms, which take turns, so that what disturbs the machine disturbs all of them."""
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
