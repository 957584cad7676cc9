#!/usr/bin/env python3
# ===- summarize-tests.py - One closing line for several lit runs -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads result files of `lit --output` and prints `N passed, N failed, N skipped`.

A test that one build skips and another passes is not skipped. Exit code 1 where a test failed, a file is missing, or
nothing ran.
"""
import json
import pathlib
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    passed, skipped, failed = [], [], []
    for file in map(pathlib.Path, sys.argv[1:]):
        if not file.exists():
            failed.append(f"{file}: lit wrote no results")
            continue
        for test in json.loads(file.read_text())["tests"]:
            if test["code"] in PASSED:
                passed.append(test["name"])
            elif test["code"] in SKIPPED:
                skipped.append(test["name"])
            else:
                failed.append(f"{test['code'].lower()}: {test['name']} ({file.parent.name})")
    skipped = sorted(set(skipped) - set(passed))
    for name in skipped:
        print(f"skipped: {name}")
    print("\n".join(failed), end="\n" if failed else "")
    print(f"{len(passed)} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
