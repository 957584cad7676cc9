# ===- rounds.py - How many rounds a random test runs ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same as test/unit/Rounds.h: LUMINAL_ROUNDS=N multiplies the rounds of every random test."""
import os


def count(usual):
    return max(1, int(usual * float(os.environ.get("LUMINAL_ROUNDS", "1"))))
