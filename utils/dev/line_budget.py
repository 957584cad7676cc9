#!/usr/bin/env python3
# ===- line_budget.py - Keeps files small -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails where a tracked file is longer than the limit of its kind; prints the fullest files with --report."""
import argparse
import fnmatch
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The first pattern that matches counts.
BUDGETS = [
    ("tools/luminal-run/*.cpp", 300),
    ("tools/luminal-compile/*.cpp", 300),
    ("tools/*/luminal-*.cpp", 50),
    ("CMakeLists.txt", 120),
    ("*.cpp", 800),
    ("*.c", 800),
    ("*.h", 800),
    ("*.td", 800),
    ("*.pdll", 300),
    ("test/*.mlir", 400),
    ("test/*.test", 400),
    ("utils/*.py", 600),
    ("python/*.py", 400),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="print the ten fullest files")
    args = parser.parse_args()
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.splitlines()
    rows = []
    for name in listed:
        budget = next((most for pattern, most in BUDGETS if fnmatch.fnmatch(name, pattern)), None)
        if budget is None or not (ROOT / name).is_file():
            continue
        lines = len((ROOT / name).read_bytes().splitlines())
        rows.append((lines / budget, lines, budget, name))
    rows.sort(key=lambda row: (-row[0], row[3]))
    if args.report:
        for _, lines, budget, name in rows[:10]:
            print(f"{lines:5d} of {budget:4d}  {name}")
    over = [row for row in rows if row[1] > row[2]]
    for _, lines, budget, name in over:
        print(f"{name}: {lines} lines, budget {budget}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
